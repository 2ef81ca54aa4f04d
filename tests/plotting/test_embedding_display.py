"""Coordinates of a picture against plain decompositions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from sklearn.decomposition import PCA

from partita import diagnose
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.plotting import EmbeddingDisplay
from partita.plotting._coordinates import _GAP, _ring


@pytest.fixture(scope="module")
def case() -> tuple[np.ndarray, np.ndarray]:
    return make_partitions(120, 10, 3, noise=0.2, random_state=0)


def same_up_to_sign(one: np.ndarray, other: np.ndarray) -> bool:
    return all(
        np.allclose(a, b, atol=1e-6) or np.allclose(a, -b, atol=1e-6)
        for a, b in zip(one.T, other.T, strict=True)
    )


def test_features_give_their_principal_components(case) -> None:
    labels, truth = case
    X = np.random.default_rng(0).normal(size=(120, 5)) * [5, 3, 1, 1, 1]
    expected = PCA(2).fit_transform(X)
    display = EmbeddingDisplay.from_labels(labels, truth, features=X)
    assert same_up_to_sign(display.coordinates, expected)
    assert display.source == "PCA of the features"
    sparse = EmbeddingDisplay.from_labels(labels, truth, features=sp.csr_matrix(X))
    assert same_up_to_sign(sparse.coordinates, expected)
    wide = np.random.default_rng(1).normal(size=(120, 200))
    display = EmbeddingDisplay.from_labels(labels, truth, features=wide)
    assert same_up_to_sign(display.coordinates, PCA(2).fit_transform(wide))


def test_a_missing_number_takes_the_mean_and_texts_are_no_coordinates(case) -> None:
    labels, truth = case
    X = np.random.default_rng(0).normal(size=(120, 3))
    holes = X.copy()
    holes[4, 1] = np.nan
    X[4, 1] = np.nanmean(holes[:, 1])
    one, other = (EmbeddingDisplay.from_labels(labels, truth, features=f) for f in (X, holes))
    np.testing.assert_allclose(one.coordinates, other.coordinates, atol=1e-9)
    texts = {"kind": np.asarray(["a", "b"] * 60, object)}
    display = EmbeddingDisplay.from_labels(labels, truth, features=texts)
    assert display.source == "spectral embedding of the partitions"


def test_partitions_alone_separate_the_clusters(case) -> None:
    labels, truth = case
    places = EmbeddingDisplay.from_labels(labels, truth).coordinates
    centers = np.stack([places[truth == k].mean(axis=0) for k in range(3)])
    nearest = np.argmin(((places[:, None] - centers) ** 2).sum(axis=2), axis=1)
    assert np.mean(nearest == truth) > 0.95


def test_parts_without_a_common_base_cluster_are_disks_side_by_side() -> None:
    sizes = [60, 30, 9, 1]
    parts = np.repeat(np.arange(4), sizes)
    rng = np.random.default_rng(0)
    fine = np.column_stack([2 * parts + rng.integers(2, size=100) for _ in range(12)])
    for partitions in (np.column_stack([parts] * 5), fine):  # equal labels, different labels
        display = EmbeddingDisplay.from_labels(partitions, parts)
        assert display.source == "spectral embedding, 4 separate parts"
        places = display.coordinates
        assert len(np.unique(places.round(9), axis=0)) == 100  # no sample hides another
        centers = np.stack([places[parts == k].mean(axis=0) for k in range(4)])
        nearest = np.argmin(((places[:, None] - centers) ** 2).sum(axis=2), axis=1)
        assert np.mean(nearest == parts) > 0.9
        radius = [
            np.sqrt(((places[parts == k] - centers[k]) ** 2).sum(axis=1).max()) for k in (0, 1)
        ]
        assert radius[0] > radius[1]


def test_a_sample_of_its_own_leaves_the_others_their_size() -> None:
    parts = np.repeat([0, 1], [400, 1])
    rng = np.random.default_rng(0)
    partitions = np.column_stack([3 * parts + rng.integers(2, size=401) for _ in range(12)])
    places = EmbeddingDisplay.from_labels(partitions, parts).coordinates
    width = np.ptp(places[:400], axis=0).max() / np.ptp(places, axis=0).max()
    assert width > 0.5


@pytest.mark.parametrize("sizes", [(1, 1), (9, 1), (5, 5, 5), (100, 1, 1), (8, 7, 3, 2, 1, 1, 1)])
def test_disks_on_a_circle_do_not_touch(sizes) -> None:
    radii = np.sqrt(sizes)
    distance = pdist(_ring(radii))
    apart = distance / pdist(radii[:, None], lambda a, b: (a + b).item())
    assert apart.min() == pytest.approx(_GAP)


def test_samples_without_labels_have_a_place() -> None:
    partitions = np.repeat([[0], [1]], 5, axis=0) * np.ones((1, 3), int)
    partitions[4:6] = -1
    ensemble = Ensemble.from_partitions(partitions, unlabeled="keep")
    display = EmbeddingDisplay.from_labels(ensemble, np.repeat([0, 1], 5))
    assert display.source.endswith("3 separate parts")
    assert np.isfinite(display.coordinates).all()


def test_panels_have_names_colors_and_a_caption(case) -> None:
    labels, truth = case
    display = EmbeddingDisplay.from_labels(labels, truth, coordinates=np.eye(120)[:, :2]).plot()
    clusters, confidence = display.axes_
    assert [text.get_text() for text in clusters.texts] == ["2", "1", "0"]  # by size
    assert "given coordinates" in clusters.get_xlabel()
    np.testing.assert_allclose(
        np.sort(confidence.collections[0].get_array()), np.sort(diagnose(labels, truth).confidence)
    )
    assert display.width is None
    display.width = 3.5
    assert display.plot().figure_.get_size_inches()[0] == 3.5


def test_many_samples_are_thinned_and_the_caption_says_so(case) -> None:
    display = EmbeddingDisplay.from_labels(*case, n_points=50).plot()
    assert len(display.labels) == 50
    assert "50 of them drawn" in display.ax_.get_xlabel()


def test_wrong_coordinates_are_refused(case) -> None:
    with pytest.raises(ValueError, match=r"shape \(120, 2\)"):
        EmbeddingDisplay.from_labels(*case, coordinates=np.zeros((5, 2)))
    display = EmbeddingDisplay.from_labels(*case).plot()
    with pytest.raises(ValueError, match="one Axes for each"):
        display.plot(display.ax_)
