"""Learned matrices beside the co-association matrix and the true classes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

import partita
from partita.datasets import make_partitions
from partita.plotting import MatrixDisplay


@pytest.fixture(scope="module")
def ensemble() -> tuple[np.ndarray, np.ndarray]:
    return make_partitions(60, 8, 3, noise=0.2)


def test_images_are_the_matrices_in_the_order_of_classes_and_clusters(ensemble) -> None:
    partitions, y = ensemble
    method = partita.ECCMS(3).fit(partitions)
    display = MatrixDisplay.from_estimator(method, partitions, y=y).plot()
    order = np.array(sorted(range(60), key=lambda x: (y[x], method.labels_[x], x)))
    expected = {
        "co-association": partita.coassociation(partitions),
        "ECCMS": method.consensus_matrix(),
        "true classes": (y[:, None] == y).astype(float),
    }
    assert list(display.images) == list(expected)
    for name, matrix in expected.items():
        np.testing.assert_allclose(display.images[name], matrix[np.ix_(order, order)], atol=1e-14)
    assert display.bounds.tolist() == [0, *np.cumsum(np.bincount(y))]
    titles = [ax.get_title(loc="left") for ax in display.axes_]
    assert titles == list(expected)


def test_large_matrices_become_block_means() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [7, 5])
    matrix = rng.random((12, 12))
    display = MatrixDisplay.from_matrices(
        {"m": matrix, "s": sp.csr_matrix(matrix)}, y, resolution=5
    )
    # 7 samples in 3 blocks, 5 samples in 2
    blocks = [[0, 1, 2], [3, 4], [5, 6], [7, 8, 9], [10, 11]]
    expected = [[matrix[np.ix_(a, b)].mean() for b in blocks] for a in blocks]
    np.testing.assert_allclose(display.images["m"], expected)
    np.testing.assert_allclose(display.images["s"], expected)
    assert display.bounds.tolist() == [0, 3, 5]
    assert (
        display.images["true classes"].tolist()
        == np.kron(np.eye(2), np.ones((3, 3)))[:5, :5].tolist()
    )


def test_without_truth_the_clusters_order_the_samples(ensemble) -> None:
    method = partita.ECCMS(3).fit(ensemble[0])
    methods = [method, partita.ECCMS(3, alpha=0.5).fit(ensemble[0])]
    display = MatrixDisplay.from_estimator(methods, ensemble[0])
    assert list(display.images) == ["co-association", "ECCMS", "ECCMS (2)", "clusters"]
    assert display.bounds.tolist() == [0, *np.cumsum(np.bincount(method.labels_))]


def test_samples_without_a_class_are_left_out_and_named() -> None:
    display = MatrixDisplay.from_matrices({"m": np.eye(4)}, [0, -1, 1, 1], ideal=None)
    ax = Figure().add_subplot()
    assert display.plot(ax).ax_ is ax
    assert display.images["m"].tolist() == np.eye(3).tolist()
    assert list(display.images) == ["m"]
    assert display.axes_[0].get_ylabel() == "1 samples without a class left out"


def test_colors_run_from_zero_to_the_largest_value_off_the_diagonal() -> None:
    matrix = np.array([[9.0, 0.5], [-0.2, 9.0]])
    (panel,) = MatrixDisplay.from_matrices({"m": matrix}, [0, 1], ideal=None).plot().axes_
    assert panel.images[0].get_clim() == (0.0, 0.5)
    assert panel.get_xlabel() == "0 (white) to 0.5 (navy)"


def test_wrong_input_is_named(ensemble) -> None:
    partitions, y = ensemble
    with pytest.raises(ValueError, match="EAC learns no matrix over samples"):
        MatrixDisplay.from_estimator(partita.EAC(3).fit(partitions), partitions, y=y)
    with pytest.raises(NotFittedError):
        MatrixDisplay.from_estimator(partita.ECCMS(3), partitions, y=y)
    with pytest.raises(ValueError, match=r"shape \(60, 60\) for 'm'.* got \(5, 5\)"):
        MatrixDisplay.from_matrices({"m": np.eye(5)}, y)
    with pytest.raises(ValueError, match="labels has 2 entries and y 60"):
        MatrixDisplay.from_matrices({"m": np.eye(60)}, y, labels=[0, 1])
    with pytest.raises(ValueError, match="labels no sample"):
        MatrixDisplay.from_matrices({"m": np.eye(2)}, [-1, -1])
