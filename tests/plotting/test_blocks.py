"""Block means against the co-association matrix they represent."""

from __future__ import annotations

import numpy as np
import pytest

from partita import Ensemble, coassociation
from partita.plotting import BlockMeans, block_means


def table(n: int = 60, m: int = 7, missing: float = 0.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (n, m))
    labels[1:, 1:][rng.random((n - 1, m - 1)) < missing] = -1
    labels[0] = 0  # every partition labels something
    return labels


def order_and_confidence(
    labels: np.ndarray, consensus: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the samples and their confidence, from the definition."""
    there = labels >= 0
    both = (there[:, None] & there[None]).sum(axis=2)
    joined = ((labels[:, None] == labels[None]) & there[:, None] & there[None]).sum(axis=2)
    own = consensus[:, None] == consensus[None]
    confidence = (joined * own).sum(axis=1) / (both * own).sum(axis=1)
    sizes = np.bincount(consensus)
    largest_first = np.argsort(np.argsort(-sizes, kind="stable"))
    return np.lexsort((-confidence, largest_first[consensus])), confidence


def check_image(means: BlockMeans, labels: np.ndarray, order: np.ndarray) -> None:
    """With a block per sample the image is the ordered matrix; ties may swap equal neighbors."""
    full = coassociation(labels)[np.ix_(order, order)]
    assert means.image.shape == full.shape
    np.testing.assert_allclose(np.sort(means.image, axis=None), np.sort(full, axis=None))
    np.testing.assert_allclose(means.image.sum(), full.sum())


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_block_per_sample_is_the_ordered_matrix(missing: float) -> None:
    labels = table(missing=missing)
    consensus = np.random.default_rng(1).integers(0, 3, len(labels))
    order, confidence = order_and_confidence(labels, consensus)
    means = block_means(labels, consensus, resolution=10_000)
    check_image(means, labels, order)
    np.testing.assert_array_equal(means.sizes, np.bincount(consensus)[means.clusters])
    expected = [confidence[consensus == k].mean() for k in means.clusters]
    np.testing.assert_allclose(means.confidence, expected)
    np.testing.assert_array_equal(means.bounds, np.r_[0, np.cumsum(means.sizes)])


def test_one_block_per_cluster_is_the_mean_over_pairs_of_clusters() -> None:
    labels = table()
    consensus = np.arange(60) % 3
    means = block_means(labels, consensus, resolution=3)
    full = coassociation(labels)
    for a, first in enumerate(means.clusters):
        for b, second in enumerate(means.clusters):
            pairs = full[np.ix_(consensus == first, consensus == second)]
            assert means.image[a, b] == pytest.approx(pairs.mean())


def test_blocks_do_not_depend_on_the_order_of_rows() -> None:
    labels = table()
    consensus = np.arange(60) % 3
    shuffle = np.random.default_rng(2).permutation(60)
    one = block_means(labels, consensus, resolution=12)
    two = block_means(labels[shuffle], consensus[shuffle], resolution=12)
    np.testing.assert_array_equal(one.clusters, two.clusters)
    np.testing.assert_allclose(one.confidence, two.confidence)
    np.testing.assert_allclose(one.image.sum(), two.image.sum())


def test_repeated_rows_are_weighted_rows() -> None:
    labels, consensus = table(20), np.arange(20) % 2
    repeated = block_means(np.repeat(labels, 3, axis=0), np.repeat(consensus, 3), resolution=10)
    weighted = block_means(
        Ensemble.from_partitions(labels, weights=np.full(20, 3.0)), consensus, resolution=10
    )
    np.testing.assert_allclose(repeated.image, weighted.image)
    np.testing.assert_allclose(repeated.confidence, weighted.confidence)


def test_many_samples_make_a_small_image() -> None:
    labels = np.random.default_rng(0).integers(0, 5, (200_000, 6))
    means = block_means(labels, np.arange(200_000) % 4, resolution=50)
    assert means.image.shape[0] == pytest.approx(50, abs=4)
    assert means.image.min() >= 0
    assert means.image.max() <= 1


def test_more_clusters_than_rows_of_the_image() -> None:
    means = block_means(table(), np.arange(60), resolution=10)
    assert means.image.shape == (10, 10)
    assert means.bounds[-1] == pytest.approx(10)


def test_samples_without_a_label_are_left_out() -> None:
    labels = table()
    labels[5] = -1
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    consensus = np.arange(60) % 3
    consensus[7] = -1
    means = block_means(ensemble, consensus)
    assert means.n_unlabeled == 2
    assert means.sizes.sum() == 58


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(3, int), "labels has 3 entries, the ensemble 60 samples"),
        (np.zeros((60, 1), int), "one-dimensional"),
        (np.full(60, -1), "labels no sample"),
    ],
)
def test_a_wrong_consensus_is_refused(labels: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        block_means(table(), labels)


def test_a_wrong_resolution_is_refused() -> None:
    with pytest.raises(ValueError, match="resolution must be at least 1, got 0"):
        block_means(table(), np.zeros(60, int), resolution=0)
