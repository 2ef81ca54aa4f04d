"""Forked processes are like new interpreters: their modules, arguments, streams and exits."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warm_process import Programs


def run(
    python: Programs, folder: Path, *arguments: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        python.command(*arguments), input=text, capture_output=True, text=True, cwd=folder
    )


def test_modules_arguments_streams_and_folder(python: Programs, tmp_path: Path) -> None:
    script = """
import os, sys
assert "partita" not in sys.modules, "it is imported anew"
print(__name__, sys.argv[1:], os.getcwd(), input().upper())
"""
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    for given in ([str(tmp_path / "script.py")], ["-c", script]):
        done = run(python, tmp_path, *given, "a", "-b", text="typed")
        assert done.stderr == ""
        assert done.stdout == f"__main__ ['a', '-b'] {tmp_path} TYPED\n"
        assert done.returncode == 0


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import warnings; warnings.warn('no')", 1, "UserWarning: no"),
        ("import os; os.abort()", -6, ""),
        ("import no_such_package", 1, "ModuleNotFoundError"),
        ("names of the server: serve", 1, "SyntaxError"),
        ("serve", 1, "NameError"),
    ],
)
def test_failures_are_seen(
    python: Programs, tmp_path: Path, code: str, status: int, message: str
) -> None:
    done = run(python, tmp_path, "-W", "error::UserWarning", "-c", code)
    assert done.returncode == status % 256 or done.returncode == status
    assert message in done.stderr
    assert run(python, tmp_path, "-c", "import warnings; warnings.warn('no')").returncode == 0
