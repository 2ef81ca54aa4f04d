"""Decompositions: subsets, degenerate spectra, drivers that fail, and no way around them."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import partita
from partita import _linalg
from partita._linalg import eigh, svd, symmetric_operator


def symmetric(n: int, seed: int = 0) -> np.ndarray:
    matrix = np.random.default_rng(seed).normal(size=(n, n))
    return matrix + matrix.T


def test_the_default_is_scipy_to_the_bit() -> None:
    matrix = symmetric(30)
    for options in ({}, {"subset_by_index": (20, 29)}, {"subset_by_value": (0.0, np.inf)}):
        expected = scipy.linalg.eigh(matrix, **options)
        for ours, theirs in zip(eigh(matrix, **options), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("options", [{}, {"subset_by_index": (3, 8)}, {"subset_by_value": (0, 5)}])
@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("n_failures", [1, 2])
def test_the_next_driver_takes_over(monkeypatch, options, overwrite, n_failures) -> None:
    matrix = symmetric(12)
    values, vectors = scipy.linalg.eigh(matrix, **options)
    real, calls = scipy.linalg.eigh, []

    def failing(a, **given):
        calls.append(given["driver"])
        if len(calls) <= n_failures:
            if given["overwrite_a"]:
                a[np.tril_indices_from(a)] = np.nan  # what LAPACK may leave behind
            raise np.linalg.LinAlgError("Internal Error.")
        return real(a, **given)

    monkeypatch.setattr(_linalg.scipy.linalg, "eigh", failing)
    ours, our_vectors = eigh(matrix.copy(), overwrite=overwrite, **options)
    assert calls == ["evr", "evd", "ev"][: n_failures + 1]
    np.testing.assert_allclose(ours, values, atol=1e-12)
    np.testing.assert_allclose(np.abs((our_vectors * vectors).sum(axis=0)), 1.0, atol=1e-9)


def test_fewer_eigenpairs_than_requested_are_not_returned(monkeypatch) -> None:
    matrix, real = np.eye(6), scipy.linalg.eigh

    def short(a, **given):
        values, vectors = real(a, **given)
        if given["driver"] == "evr":
            return values[:-1], vectors[:, :-1]
        return values, vectors

    monkeypatch.setattr(_linalg.scipy.linalg, "eigh", short)
    values, vectors = eigh(matrix, subset_by_index=(3, 5))
    assert values.tolist() == [1, 1, 1]
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)


def test_a_matrix_that_no_driver_takes_is_an_error(monkeypatch) -> None:
    def failing(a, **given):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr(_linalg.scipy.linalg, "eigh", failing)
    monkeypatch.setattr(_linalg.scipy.linalg, "svd", failing)
    for decompose in (eigh, svd):
        with pytest.raises(np.linalg.LinAlgError, match="Internal"):
            decompose(np.eye(3))


def test_singular_values() -> None:
    matrix = np.random.default_rng(0).normal(size=(7, 4))
    U, sigma, Vt = svd(matrix, full_matrices=False)
    np.testing.assert_allclose(U * sigma @ Vt, matrix, atol=1e-12)
    np.testing.assert_allclose(svd(matrix, compute_uv=False), sigma, atol=1e-12)


DENSE_DECOMPOSITIONS = {"eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals"}


def uses_of_other_decompositions(source: str) -> list[int]:
    """Return the lines that reach a dense decomposition of NumPy or SciPy."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("numpy.linalg", "scipy.linalg"):
            if DENSE_DECOMPOSITIONS & {alias.name for alias in node.names}:
                lines.append(node.lineno)
        elif isinstance(node, ast.Attribute) and node.attr in DENSE_DECOMPOSITIONS:
            owner = ast.unparse(node.value)
            if owner == "linalg" or owner.endswith(".linalg"):
                lines.append(node.lineno)
    return lines


def test_every_decomposition_goes_through_linalg() -> None:
    root = Path(partita.__file__).parent
    uses = {
        str(path.relative_to(root)): lines
        for path in sorted(root.rglob("*.py"))
        if path.name != "_linalg.py"
        and (lines := uses_of_other_decompositions(path.read_text(encoding="utf-8")))
    }
    assert uses == {}, "call partita._linalg instead: it tries the next driver when one fails"


@pytest.mark.parametrize(
    "source",
    ["import numpy as np\nnp.linalg.svd(X)", "from scipy.linalg import eigh", "linalg.eigvalsh(X)"],
)
def test_other_decompositions_are_recognized(source: str) -> None:
    assert len(uses_of_other_decompositions(source)) == 1
    assert uses_of_other_decompositions("from partita._linalg import eigh\neigh(X)") == []


@pytest.mark.parametrize("order", ["C", "F"])
def test_symmetric_operator_multiplies_without_a_copy(order):
    matrix = np.random.default_rng(0).random((30, 30))
    matrix = np.array(matrix + matrix.T, order=order)
    operator = symmetric_operator(matrix)
    vector = np.random.default_rng(1).random(30)
    np.testing.assert_allclose(operator @ vector, matrix @ vector, rtol=1e-13)
    np.testing.assert_allclose(operator @ np.eye(30), matrix, rtol=1e-13)
    matrix[:] = 1.0
    np.testing.assert_allclose(operator @ vector, vector.sum(), rtol=1e-13)
