"""The installed program in processes of its own: interruption, pipes, terminals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = (sys.executable, "-c", "from partita.cli import main; main()")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="named pipes and ptys are POSIX")


@POSIX
def test_an_interrupted_run_leaves_files_as_they_were(tmp_path: Path) -> None:
    source, target = tmp_path / "labels.csv", tmp_path / "out.csv"
    os.mkfifo(source)
    target.write_text("precious")
    with subprocess.Popen(
        [*PROGRAM, "fuse", str(source), "-k", "2", "-o", str(target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        with open(source, "w") as pipe:  # returns once the program reads
            pipe.write("a,b\n1,2\n")
            pipe.flush()
            process.send_signal(signal.SIGINT)
            assert process.wait(600) == 130
        assert process.stdout.read() == ""
        assert process.stderr.read() == "interrupted\n"
    assert target.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["labels.csv", "out.csv"]


def test_stdout_holds_data_only_and_stderr_no_control_characters(labels: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "fuse", str(labels), "-k", "3", "-i", "sample", "-c", "run_*"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 61
    assert {line.count(",") for line in lines} == {2}
    assert "\x1b" not in done.stdout + done.stderr


def test_square_brackets_and_markup_in_names_stay_text(tmp_path: Path) -> None:
    path = tmp_path / "[bold]labels[/nope].csv"
    done = subprocess.run([*PROGRAM, "fuse", str(path), "-k", "3"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "[bold]labels[/nope].csv" in done.stderr


def test_csv_needs_no_other_package(labels: Path) -> None:
    """Optional packages are made to look as if they were not installed."""
    script = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "pyarrow", "anndata", "dask"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
from partita.cli import main
main()
"""
    arguments = ("fuse", str(labels), "-k", "3", "-i", "sample", "-c", "run_*", "-q")
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 61


@POSIX
def test_a_terminal_sees_color_and_no_traceback() -> None:
    import pty

    leader, follower = pty.openpty()
    colorful = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    command = [*PROGRAM, "methods", "--family", "nope"]
    with subprocess.Popen(command, stderr=follower, env=colorful) as process:
        assert process.wait(600) == 2
    os.close(follower)
    shown = os.read(leader, 10_000).decode()
    os.close(leader)
    assert "\x1b[1;31merror:" in shown
    assert "Traceback" not in shown


def test_completion_is_offered() -> None:
    environment = os.environ | {
        "_PARTITA_COMPLETE": "complete_bash",
        "COMP_WORDS": "partita fuse labels.csv --method lw",
        "COMP_CWORD": "4",
    }
    script = "from partita.cli import app; app(prog_name='partita')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["lwea", "lwgp"]
