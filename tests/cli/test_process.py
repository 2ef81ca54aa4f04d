"""The installed program in processes of its own: interruption, pipes, terminals."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from warm_process import Programs

MAIN = ("-c", "from partita.cli import main; main()")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="named pipes and ptys are POSIX")


@POSIX
def test_an_interrupted_run_leaves_files_as_they_were(tmp_path: Path) -> None:
    source, target = tmp_path / "labels.csv", tmp_path / "out.csv"
    os.mkfifo(source)
    target.write_text("precious")
    with subprocess.Popen(
        # which gets the signal itself
        [sys.executable, *MAIN, "fuse", str(source), "-k", "2", "-o", str(target)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a program started in the background of a shell inherits that it ignores interruptions
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        with open(source, "w") as pipe:  # returns once the program reads
            pipe.write("a,b\n1,2\n")
            pipe.flush()
            _wait_until_it_reads_again(process.pid, pipe)
            process.send_signal(signal.SIGINT)
            assert process.wait(600) == 130
        assert process.stdout.read() == ""
        assert process.stderr.read() == "interrupted\n"
    assert target.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["labels.csv", "out.csv"]


def _wait_until_it_reads_again(pid: int, pipe: IO[str]) -> None:
    """Wait until a program has emptied a pipe and sleeps, so that it waits for more.

    A signal that arrives between two reads stays unseen until the second one returns.
    """
    import fcntl
    import termios

    status = Path(f"/proc/{pid}/stat")
    in_a_row = 0
    while in_a_row < 5:
        time.sleep(0.05)
        is_empty = fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)) == bytes(4)
        sleeps = not status.exists() or status.read_text().rpartition(") ")[2][0] == "S"
        in_a_row = in_a_row + 1 if is_empty and sleeps else 0


@POSIX
@pytest.mark.parametrize("compressed", [False, True])
def test_pipes_are_read_once_and_need_no_suffix(
    tmp_path: Path, compressed: bool, python: Programs
) -> None:
    rows = "a,b\n" + 3000 * "x,1\ny,2\n"
    source = tmp_path / ("labels.csv.gz" if compressed else "labels")
    os.mkfifo(source)
    with subprocess.Popen(
        python.command(*MAIN, "fuse", str(source), "-k", "2"), stdout=subprocess.PIPE, text=True
    ) as process:
        with open(source, "wb") as pipe:
            pipe.write(gzip.compress(rows.encode()) if compressed else rows.encode())
        assert len(process.stdout.read().splitlines()) == 6001
    assert process.returncode == 0


def test_stdout_holds_data_only_and_stderr_no_control_characters(
    labels: Path, python: Programs
) -> None:
    done = subprocess.run(
        python.command(*MAIN, "fuse", str(labels), "-k", "3", "-i", "sample", "-c", "run_*"),
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 61
    assert {line.count(",") for line in lines} == {2}
    assert "\x1b" not in done.stdout + done.stderr


def test_square_brackets_and_markup_in_names_stay_text(tmp_path: Path, python: Programs) -> None:
    path = tmp_path / "[bold]labels[/nope].csv"
    command = python.command(*MAIN, "fuse", str(path), "-k", "3")
    done = subprocess.run(command, capture_output=True, text=True)
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
def test_a_terminal_sees_color_and_no_traceback(python: Programs) -> None:
    import pty

    leader, follower = pty.openpty()
    colorful = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    command = python.command(*MAIN, "methods", "--family", "nope")
    with subprocess.Popen(command, stderr=follower, env=colorful) as process:
        assert process.wait(600) == 2
    os.close(follower)
    shown = os.read(leader, 10_000).decode()
    os.close(leader)
    assert "\x1b[1;31merror:" in shown
    assert "Traceback" not in shown


def test_completion_is_offered(python: Programs) -> None:
    environment = os.environ | {
        "_PARTITA_COMPLETE": "complete_bash",
        "COMP_WORDS": "partita fuse labels.csv --method lw",
        "COMP_CWORD": "4",
    }
    script = "from partita.cli import app; app(prog_name='partita')"
    done = subprocess.run(
        python.command("-c", script), capture_output=True, text=True, env=environment
    )
    assert done.stdout.split() == ["lwea", "lwgp"]
