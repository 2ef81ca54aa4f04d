"""`partita segment`: a store from a feature file, and the same command goes on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from planted import POINTS

from partita.generators import segment
from partita.io.store import LabelStore

OPTIONS = ("-o", "S", "-n", "6", "-k", "2:4", "--rows", "40", "--jobs", "1", "--seed", "3")


def test_segment_makes_the_librarys_store_and_makes_it_once(partita, tmp_path: Path) -> None:
    np.save("X.npy", POINTS)
    done = partita("segment", "X.npy", *OPTIONS)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert "wrote S: 6 partitions of 60 samples, each from 40 rows" in done.stderr
    expected = segment(
        "X.npy", "T", n_partitions=6, n_clusters=(2, 4), n_rows=40, n_jobs=1, random_state=3
    )
    store = LabelStore.open(tmp_path / "S")
    np.testing.assert_array_equal(store.read(0, 60), expected.read(0, 60))

    again = partita("segment", "X.npy", *OPTIONS, "--json", "--quiet")
    assert (again.exit_code, again.stderr) == (0, "")
    told = json.loads(again.stdout)
    assert (told["n_samples"], told["n_rows"], told["output"]) == (60, 40, "S")
    assert told["n_clusters"] == store.n_clusters.tolist()


def test_files_follow_each_other(partita, tmp_path: Path) -> None:
    np.save("a.npy", POINTS[:25])
    np.save("b.npy", POINTS[25:])
    done = partita("segment", "a.npy", "b.npy", *OPTIONS)
    assert done.exit_code == 0, done.stderr
    assert LabelStore.open(tmp_path / "S").n_samples == 60


def test_sparse_rows_by_direction_with_replacement(partita, tmp_path: Path) -> None:
    sp.save_npz("X.npz", sp.csr_matrix(np.abs(POINTS)), compressed=False)
    options = (*OPTIONS, "-n", "30", "--metric", "cosine", "--replacement")
    done = partita("segment", "X.npz", *options)
    assert done.exit_code == 0, done.stderr
    expected = segment(
        "X.npz", "T", n_partitions=30, n_clusters=(2, 4), n_rows=40, metric="cosine",
        replacement=True, n_jobs=1, random_state=3,
    )  # fmt: skip
    store = LabelStore.open(tmp_path / "S")
    np.testing.assert_array_equal(store.read(0, 60), expected.read(0, 60))


def test_mistakes_are_one_line(partita, features: Path) -> None:
    np.save("X.npy", POINTS)
    for arguments, message in (
        (("X.npy", "-o", "S", "-k", "70"), "n_clusters=(70, 70) must be between 1 and the 30 rows"),
        (("X.npy", "-o", "S", "-k", "many"), "-k must be a positive number"),
        (("X.npy", "-o", "no/S", "-k", "2"), "Cannot write"),
        ((str(features), "-o", "S", "-k", "2"), "is not a .npy file"),
        (("Y.npy", "-o", "S", "-k", "2"), "Y.npy"),
    ):
        done = partita("segment", *arguments)
        assert done.exit_code == 2
        assert message in done.stderr.replace("\n", " ")
        assert "Traceback" not in done.stderr
    assert not Path("S").exists()
