"""The source runs no code of users' files, starts no server, and writes cells as they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import partita
from partita.io import read_labels

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(Path(partita.__file__).parent.rglob("*.py"))
FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "__import__",
    "os.system", "os.popen", "subprocess.run", "subprocess.Popen", "subprocess.call",
    "pickle.load", "pickle.loads", "joblib.load", "marshal.loads", "shelve.open", "yaml.load",
    "socket.socket", "LocalCluster", "distributed.LocalCluster", "Client", "distributed.Client",
    "urlopen", "urllib.request.urlopen", "requests.get",
}  # fmt: skip
# The battery pickles the estimator that it checks, no file.
EXCEPTIONS = {("_contract_checks.py", "pickle.loads")}


def forbidden_calls(source: str) -> list[str]:
    """Return calls that run code, load pickles, open connections or pass a line to a shell."""
    calls = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        options = {k.arg: ast.unparse(k.value) for k in node.keywords}
        if name in FORBIDDEN_CALLS or options.get("shell") == "True":
            calls.append(name)
        if options.get("allow_pickle", "False") != "False":
            calls.append(f"{name}(allow_pickle)")
    return calls


def test_no_code_is_run_and_no_connection_opened() -> None:
    """A Dask cluster is always the user's own: partita starts none, hence binds to no address."""
    calls = {
        (path.name, call)
        for path in MODULES
        for call in forbidden_calls(path.read_text(encoding="utf-8"))
    }
    assert calls - EXCEPTIONS == set()


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "import os\nos.system('ls')",
        "run('ls', shell=True)",
        "np.load(path, allow_pickle=True)",
        "pickle.load(file)",
        "Client(LocalCluster())",
    ],
)
def test_what_is_forbidden_is_recognized(source: str) -> None:
    assert forbidden_calls(source)


def test_arrays_are_loaded_without_pickles() -> None:
    """NumPy refuses pickles by default; here every call says so."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("np.load", "numpy.load"):
                names = {k.arg for k in node.keywords}
                assert names & {"allow_pickle", "mmap_mode"}, f"{path.name}:{node.lineno}"


FORMULAS = ["=1+1", "+1", "-1+2", "@SUM(A1)", "=cmd|' /C calc'!A0", "\tx", 'a"b', "a,b", "é"]


def test_cells_that_look_like_formulas_are_not_changed(tmp_path) -> None:
    """Ids must come back as they went in; docs/promises.md tells how to open such files."""
    import csv

    from typer.testing import CliRunner

    from partita.cli import app

    with (tmp_path / "in.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "=p0", "p1"], *([name, "0", "x"] for name in FORMULAS)])
    target = tmp_path / "out.csv"
    arguments = ["fuse", str(tmp_path / "in.csv"), "-k", "1", "--id-column", "id", "-q"]
    result = CliRunner().invoke(app, [*arguments, "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert read_labels(target, id_column="id").ids.tolist() == FORMULAS


def test_workflows_have_no_permissions_by_default() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        assert re.search(r"^permissions: \{\}$", text, re.MULTILINE), path.name
        # a release proves who built it, the site is published; nothing else is granted
        granted = set(re.findall(r"^\s+([a-z-]+): write", text, re.MULTILINE))
        assert granted <= {"id-token", "attestations", "pages"}, path.name
        assert text.count("persist-credentials: false") == text.count("actions/checkout@")


def test_actions_are_pinned_to_commits() -> None:
    """A tag can be moved to other code; a commit hash cannot."""
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in re.findall(r"^.*\buses:.*$", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_the_security_policy_is_there() -> None:
    assert "private vulnerability reporting" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
