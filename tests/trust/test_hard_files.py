"""Files that claim to be huge or lie behind links, and signals."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from outcomes import REFUSED, outcome
from test_hard_commands import run

from partita import LabelStore, config_context
from partita.datasets import make_partitions
from partita.exceptions import InvalidFileError
from partita.io import convert, read_labels

TABLE = make_partitions(40, 6, noise=0.2)[0]


def bomb(shape: tuple[int, ...]) -> bytes:
    """Return a file in NumPy's format whose header promises far more than the file has."""
    file = io.BytesIO()
    header = {"descr": "<i8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + bytes(64)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("shape", [(10**9, 10**3), (10**15, 2), (2**62, 4)])
def test_files_that_promise_more_than_they_have(suffix, shape, tmp_path):
    path = tmp_path / f"bomb{suffix}"
    if suffix == ".npy":
        path.write_bytes(bomb(shape))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("labels.npy", bomb(shape))
    result = outcome(lambda: read_labels(path), errors=(ValueError, MemoryError))
    assert result is REFUSED
    assert run("fuse", path, "-k", 2, "-q") in (1, 2)


def test_a_zip_that_unpacks_to_more_than_the_budget(tmp_path):
    """60 MB of zeros are 60 kB as a zip."""
    np.savez_compressed(tmp_path / "bomb.npz", labels=np.zeros((1_500_000, 5), np.int64))
    assert (tmp_path / "bomb.npz").stat().st_size < 1_000_000
    with config_context(memory_budget=1_000_000):
        assert outcome(lambda: read_labels(tmp_path / "bomb.npz")) is REFUSED


# Names were searched in a list for every column, which took minutes. Excel has 16,384 columns.
@pytest.mark.parametrize(("suffix", "n"), [(".csv", 100_000), (".npy", 100_000), (".xlsx", 16_384)])
def test_very_many_columns(suffix, n, tmp_path):
    path = tmp_path / f"wide{suffix}"
    names = [f"partition_{i}" for i in range(n)]
    if suffix == ".csv":
        rows = [",".join(names), *(",".join(["1"] * n) for _ in range(2))]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    elif suffix == ".npy":
        np.save(path, np.ones((2, n), np.int8))
    else:
        book = pytest.importorskip("openpyxl").Workbook(write_only=True)
        sheet = book.create_sheet()
        for row in (names, [1] * n, [1] * n):
            sheet.append(row)
        book.save(path)
    assert list(read_labels(path, columns=["partition_*"]).columns) == names


def test_a_store_of_very_many_columns(tmp_path):
    n = 5_000
    store = LabelStore.from_partitions(np.ones((2, n), np.int8), tmp_path / "store")
    assert store.n_partitions == n
    convert(tmp_path / "store", tmp_path / "wide.npy")
    assert np.load(tmp_path / "wide.npy").shape == (2, n)


def test_names_with_a_path_inside_an_archive_lead_nowhere(tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    with zipfile.ZipFile(folder / "labels.npz", "w") as archive:
        for name in ("../above.npy", f"{tmp_path}/absolute.npy", "a.npy"):
            file = io.BytesIO()
            np.save(file, np.array([0, 1, 1]))
            archive.writestr(name, file.getvalue())
    outcome(lambda: read_labels(folder / "labels.npz"))
    assert [path.name for path in tmp_path.rglob("*")] == ["inner", "labels.npz"]


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv"])
def test_output_on_a_full_disk_is_an_error_and_no_file(suffix, tmp_path):
    """A map of a file on a full disk ends the process; the limit acts like a full disk."""
    np.save(tmp_path / "labels.npy", np.random.default_rng(0).integers(0, 4, (20_000, 5)))
    script = """
import resource, signal, sys
from partita.io import convert
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
try:
    convert(sys.argv[1], sys.argv[2])
except OSError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, tmp_path / "labels.npy", tmp_path / f"out{suffix}"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert f"out{suffix}" in result.stdout
    assert "File too large" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["labels.npy"]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_output_replaces_a_link_and_not_the_file_behind_it(tmp_path):
    (tmp_path / "labels.csv").write_text("a,b\n0,0\n1,1\n", encoding="utf-8")
    (tmp_path / "precious.csv").write_text("precious", encoding="utf-8")
    (tmp_path / "out.csv").symlink_to(tmp_path / "precious.csv")
    assert run("fuse", tmp_path / "labels.csv", "-k", 2, "-o", tmp_path / "out.csv", "-q") == 0
    assert (tmp_path / "precious.csv").read_text(encoding="utf-8") == "precious"
    assert not (tmp_path / "out.csv").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_link_in_a_circle(tmp_path):
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    with pytest.raises((InvalidFileError, OSError), match=r"a\.csv"):
        read_labels(tmp_path / "a.csv")
    assert run("fuse", tmp_path / "a.csv", "-k", 2, "-q") in (1, 2)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interruption_stops_a_fit_between_two_steps():
    """Not seconds but steps are counted: after the signal no further step is reported."""
    script = """
import os, signal
import numpy as np
import partita
table = np.random.default_rng(0).integers(0, 5, (400, 12))
steps = []
def interrupt(step):
    steps.append(step)
    if len(steps) == 5:
        os.kill(os.getpid(), signal.SIGINT)
try:
    with partita.config_context(progress=interrupt, n_threads=2):
        partita.SEC(5, n_init=50, random_state=0).fit(table)
except KeyboardInterrupt:
    print(len(steps))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout.strip() in ("5", "6"), result.stderr
    assert signal.SIGINT.name not in result.stderr
    assert not list(Path().glob("*.partial"))
