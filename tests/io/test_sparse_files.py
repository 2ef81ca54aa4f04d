"""Rows of sparse matrices in files: read one by one, and what is refused."""

from __future__ import annotations

import pickle
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from partita.io import npy
from partita.io.csr import CsrRows
from partita.io.feature_files import FeatureFiles


def matrix(n: int = 200, d: int = 30, seed: int = 0, dtype: type = np.float32) -> sp.csr_matrix:
    X = sp.random(n, d, 0.1, format="csr", random_state=np.random.default_rng(seed), dtype=dtype)
    X.data[X.indptr[5] : X.indptr[6]] = 0  # a row of stored zeros
    return sp.csr_matrix(X)


def save(path: Path, X: sp.csr_matrix) -> Path:
    sp.save_npz(path, X, compressed=False)
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("wrap", [sp.csr_matrix, sp.csr_array])
def test_rows_are_those_of_the_matrix(tmp_path: Path, wrap: type, dtype: type) -> None:
    X = wrap(matrix(dtype=dtype))
    rows = CsrRows.of(save(tmp_path / "X.npz", X))
    assert (rows.shape, rows.dtype) == (X.shape, np.dtype(dtype))
    rng = np.random.default_rng(1)
    for size in (1, 7, 200):
        chosen = np.sort(rng.choice(200, size, replace=False))
        taken = pickle.loads(pickle.dumps(rows)).take(chosen)
        np.testing.assert_array_equal(taken.toarray(), X[chosen].toarray())
        assert taken.has_canonical_format
        assert taken.indices.dtype == taken.indptr.dtype == np.int32
    assert rows.take(np.array([5])).nnz == 0


def test_only_the_rows_near_those_asked_for_are_read(tmp_path: Path, monkeypatch) -> None:
    X = sp.csr_matrix(np.random.default_rng(0).random((3000, 100)))  # 2.4 MB of values
    rows = CsrRows.of(save(tmp_path / "X.npz", X))
    amounts = []
    read = npy.NpyRows._read_entries

    def counted(self, first: int, count: int) -> np.ndarray:
        amounts.append(count * self.dtype.itemsize)
        return read(self, first, count)

    monkeypatch.setattr(npy.NpyRows, "_read_entries", counted)
    chosen = np.array([10, 1500, 2990])
    np.testing.assert_array_equal(rows.take(chosen).toarray(), X[chosen].toarray())
    assert sum(amounts) < 60_000


def test_several_files_follow_each_other_and_have_one_checksum(tmp_path: Path) -> None:
    X = matrix()
    whole = FeatureFiles.of(save(tmp_path / "X.npz", X))
    ends = [0, 50, 52, 200]
    parts = [save(tmp_path / f"{a}.npz", X[a:b]) for a, b in pairwise(ends)]
    several = FeatureFiles.of(parts)
    assert several.is_sparse
    assert several.shape == (200, 30)
    chosen = np.array([0, 49, 50, 51, 199])
    np.testing.assert_array_equal(several.take(chosen).toarray(), X[chosen].toarray())
    assert several.fingerprint() == whole.fingerprint()
    other = X.copy()
    other.data[:20] += 1
    assert FeatureFiles.of(save(tmp_path / "Y.npz", other)).fingerprint() != whole.fingerprint()
    counts = sp.csr_matrix(np.eye(3, dtype=np.int64))
    assert FeatureFiles.of(save(tmp_path / "C.npz", counts)).take(np.arange(3)).dtype == np.float32


def test_repeated_entries_are_added(tmp_path: Path) -> None:
    X = sp.csr_matrix(
        (np.ones(3, np.float32), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    assert CsrRows.of(save(tmp_path / "X.npz", X)).take(np.arange(2)).toarray().tolist() == [
        [0.0, 2.0],
        [1.0, 0.0],
    ]


def test_files_that_cannot_be_read_by_rows_are_refused(tmp_path: Path) -> None:
    X = matrix()
    sp.save_npz(tmp_path / "compressed.npz", X)
    save(tmp_path / "columns.npz", X.tocsc())
    np.savez(tmp_path / "dense.npz", X=X.toarray())
    (tmp_path / "none.npz").write_bytes(b"hello")
    save(tmp_path / "zeros.npz", sp.csr_matrix((3, 2)))
    np.savez(
        tmp_path / "damaged.npz",
        format=np.array(b"csr"),
        shape=np.array([3, 2]),
        indptr=np.array([0, 1, 2, 3]),
        indices=np.array([0, 1]),
        data=np.ones(2),
    )
    for name, message in (
        ("compressed", r"is compressed.*compressed=False"),
        ("columns", r"in the format 'csc', expected 'csr'"),
        ("dense", r"does not hold a sparse matrix: indptr.npy"),
        ("none", "is not a .npz file"),
        ("zeros", r"got shape \(0, 1\)"),
        ("damaged", "is damaged: its vectors have 4, 2 and 2 entries, expected 4, 3 and 3"),
    ):
        with pytest.raises(ValueError, match=message):
            CsrRows.of(tmp_path / f"{name}.npz")
    path = save(tmp_path / "X.npz", X)
    np.save(tmp_path / "X.npy", X.toarray())
    with pytest.raises(ValueError, match="all dense"):
        FeatureFiles.of([path, tmp_path / "X.npy"])
    with pytest.raises(TypeError, match=r"got csr_matrix.*save_npz"):
        FeatureFiles.of(X)


def test_wrong_columns_are_found_when_they_are_read(tmp_path: Path) -> None:
    members = {
        "format": np.array(b"csr"),
        "shape": np.array([2, 2]),
        "indptr": np.array([0, 1, 2]),
        "indices": np.array([0, 7]),
        "data": np.ones(2),
    }
    np.savez(tmp_path / "X.npz", **members)
    rows = CsrRows.of(tmp_path / "X.npz")
    with pytest.raises(ValueError, match="a column index is not between 0 and 1"):
        rows.take(np.arange(2))
    np.savez(tmp_path / "Y.npz", **{**members, "indptr": np.array([3, 1, 2])})
    with pytest.raises(ValueError, match="indptr descends"):
        CsrRows.of(tmp_path / "Y.npz").take(np.arange(2))
    with zipfile.ZipFile(tmp_path / "X.npz") as archive:
        assert archive.testzip() is None
