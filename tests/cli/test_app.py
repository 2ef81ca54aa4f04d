"""Data on stdout, talk on stderr, and no traceback for a user's mistake."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import partita
from partita import cli, config_context
from partita.datasets.demo import DEFAULT_METHODS
from partita.registry import all_methods, get_method


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command line as the console script does: exit code, stdout, stderr."""

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["partita", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return command


def test_version(run) -> None:
    assert run("--version") == (0, f"partita {partita.__version__}\n", "")


def test_help_names_the_commands(run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "demo" in out
    assert "methods" in out


def test_methods_prints_every_method(run) -> None:
    code, out, err = run("methods")
    assert (code, err) == (0, "")
    listed = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert {c.info.key for c in all_methods()} <= set(listed)
    assert all(c.info.name in out for c in all_methods())


def test_methods_as_json(run) -> None:
    code, out, err = run("methods", "--json", "--family", "linkage")
    assert (code, err) == (0, "")
    records = json.loads(out)
    assert [r["class"] for r in records] == [c.__name__ for c in all_methods(family="linkage")]
    assert records[0].keys() >= {"key", "name", "family", "cite", "missing", "deterministic"}


def test_demo_prints_scores_and_writes_a_picture(run, tmp_path: Path) -> None:
    picture = tmp_path / "demo.png"
    arguments = ["--partitions", "6", "--method", "eac", "--method", "lwgp"]
    code, out, err = run("demo", *arguments, "--output", str(picture))
    assert code == 0, err
    lines = [line.split() for line in out.splitlines() if line.strip()]
    assert lines[0] == ["method", "ARI", "NMI", "ACC", "seconds"]
    names = [" ".join(line[:-4]) for line in lines[2:]]
    assert names == ["EAC", "LWGP", "mean base partition", "best base partition"]
    assert 0.3 < float(lines[3][-4]) <= 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in err.replace("\n", "")
    assert "hint:" in err
    assert "\x1b" not in err  # no bar where nobody watches


def test_demo_methods_exist() -> None:
    assert [get_method(key).info.key for key in DEFAULT_METHODS] == list(DEFAULT_METHODS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--method", "nope"], "No consensus method 'nope'"),
        (["demo", "--output", "picture.xyz"], "must end in .png, .svg or .pdf, got 'picture.xyz'"),
        (["demo", "--output", "no-such-folder/demo.png"], "No folder"),
        (["methods", "--family", "nope"], "No method of family 'nope'"),
        (["demo", "--partitions", "one"], "--partitions"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_mistake_is_one_message(run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_hints_follow_an_error(run) -> None:
    _, _, err = run("demo", "--method", "nope")
    assert err.splitlines()[-1].startswith("hint: `partita methods`")


def test_debug_keeps_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    import logging

    monkeypatch.setattr(sys, "argv", ["partita", "--debug", "methods", "--family", "nope"])
    try:
        with pytest.raises(ValueError, match="No method of family"):
            cli.main()
    finally:
        logging.getLogger("partita").setLevel(logging.NOTSET)


def test_help_documents_the_exit_codes(run) -> None:
    from partita.cli._app import EXIT_CODES

    _, out, _ = run("--help")
    words = " ".join(out.split())  # older versions of typer wrap the lines
    for code, meaning in EXIT_CODES.items():
        assert f"{code} {meaning[:40]}" in words


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (MemoryError("too much"), 2), (OSError("disk full"), 2)],
)
def test_exit_codes(monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int) -> None:
    from typer.testing import CliRunner

    from partita import registry

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(registry, "all_methods", fail)
    result = CliRunner().invoke(cli.app, ["methods"])
    assert result.exit_code == code
    assert result.stdout == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows tells of a closed pipe differently")
def test_a_reader_may_go_away() -> None:
    command = [sys.executable, "-c", "from partita.cli import main; main()", "methods", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait(600) == 141
        assert process.stderr.read() == b""


def test_a_bug_keeps_its_traceback(run, monkeypatch: pytest.MonkeyPatch) -> None:
    from partita import registry

    def fail(**_: object) -> None:
        raise RuntimeError("impossible")

    monkeypatch.setattr(registry, "all_methods", fail)
    monkeypatch.setattr(sys, "argv", ["partita", "methods"])
    with pytest.raises(RuntimeError, match="impossible") as caught:
        cli.main()
    assert "bug in partita" in caught.value.__notes__[0]


@pytest.mark.parametrize("name", list(cli._COMMANDS))
def test_the_help_has_examples_with_options_that_exist(name: str) -> None:
    commands = typer.main.get_command(cli.app).commands
    options = {option for parameter in commands[name].params for option in parameter.opts}
    assert cli._EXAMPLES[name]
    for line in cli._EXAMPLES[name]:
        assert line.startswith(f"partita {name}")
        assert line in commands[name].epilog
        assert {word for word in shlex.split(line) if word.startswith("-")} <= options


def test_the_memory_may_be_limited(partita, labels) -> None:
    with config_context():
        done = partita("--memory", "1kB", "fuse", str(labels), "-k", "3", "-i", "sample")
        assert done.exit_code == 2
        assert "memory" in done.stderr
    assert partita("--memory", "much", "methods").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["fuze"], "No such command 'fuze'. Did you mean 'fuse'?"),
        (["fuse", "x.csv", "--id-colum", "a"], "No such option: --id-colum"),
        (["--memry", "1GB", "methods"], "No such option: --memry"),
        (["--memory", "much", "methods"], "expected a size such as 500MB or 8GB, got 'much'"),
        (["fuse"], "Missing argument 'PARTITIONS'"),
        (["methods", "--family", "grap"], "No method of family 'grap' (did you mean 'graph'?)"),
        (["generate", "x.csv", "-g", "random"], "'random' is not one of 'random-k'"),
    ],
)
def test_mistakes_of_any_kind_have_one_style(partita, arguments: list[str], error: str) -> None:
    done = partita(*arguments)
    assert done.exit_code == 2
    first = done.stderr.splitlines()[0]
    assert first.startswith("error: ")
    assert error in first
    assert "╭" not in done.stderr
    assert "Usage" not in done.stderr


def test_columns_that_are_almost_right(partita, labels) -> None:
    done = partita("fuse", str(labels), "-i", "sampel", "-k", "3")
    assert "has no column 'sampel' (did you mean 'sample'?)" in done.stderr
    done = partita("fuse", str(labels), "-c", "runs_*", "-i", "sample", "-k", "3")
    assert "has no column 'runs_*'" in done.stderr
    done = partita("evaluate", str(labels), "--truth-column", "trut")
    assert "has no column 'trut' (did you mean 'truth'?)" in done.stderr


def test_convert_refuses_repeated_ids(partita, tmp_path) -> None:
    (tmp_path / "x.csv").write_text("id,a\nx,1\nx,2\n", encoding="utf-8")
    done = partita("convert", "x.csv", "x.npz", "-i", "id")
    assert done.exit_code == 2
    assert "The id 'x' occurs more than once" in done.stderr
    assert not (tmp_path / "x.npz").exists()
