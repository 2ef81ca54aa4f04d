"""CCGP: the certainty against exact expectations, and what makes it the default."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.metrics import adjusted_rand_score
from unreduced_certainty import certainty_slowly

from partita import CCGP, LWGP, Ensemble, matrices
from partita.datasets import make_mixed_partitions, make_partitions
from partita.matrices._locally_weighted import cluster_entropy
from partita.matrices.chance import expected_entropy
from partita.matrices.overlaps import overlaps_of_rows
from partita.scale import EnsembleRows
from partita.solvers import transfer_cut_embedding
from references import load_cases


def entropy_of_random_cluster(drawn: int, sizes: list[int]) -> float:
    """Return the exact expected entropy in bits, from the hypergeometric distribution."""
    total, bits = sum(sizes), float(np.log2(drawn))
    for size in sizes:
        x = np.arange(min(drawn, size) + 1)
        bits -= hypergeom.pmf(x, total, size, drawn) @ (x * np.log2(np.maximum(x, 1))) / drawn
    return bits


@pytest.mark.parametrize("seed", range(40))
def test_expected_entropy_is_accurate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, (3, 30, 300)[seed % 3], rng.integers(1, 40)).tolist()
    total = sum(sizes)
    drawn = sorted(
        {1, 2, 3, total, *rng.integers(1, total + 1, 5).tolist()} & set(range(1, total + 1))
    )
    # two partitions: one with clusters of the drawn sizes, one with `sizes`
    offsets = np.array([0, len(drawn), len(drawn) + len(sizes)])
    both = np.array([*drawn, *sizes], float)
    expected = expected_entropy(both, None, offsets)[: len(drawn)]
    exact = [entropy_of_random_cluster(s, sizes) for s in drawn]
    np.testing.assert_allclose(expected, exact, rtol=0, atol=0.03)
    ends = [0, -1]  # one sample, and all samples
    np.testing.assert_allclose(expected[ends], np.array(exact)[ends], rtol=0, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("theta", [0.3, 0.5])
def test_certainty_equals_its_definition(missing: float, theta: float) -> None:
    partitions = make_partitions(80, 5, 4, noise=0.3, missing_ratio=missing)[0]
    np.testing.assert_allclose(
        matrices.corrected_certainty(partitions, theta),
        certainty_slowly(np.asarray(partitions), theta),
        rtol=1e-9,
    )


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_overlaps_give_the_same_certainty(missing: float) -> None:
    ensemble = Ensemble.from_partitions(
        make_partitions(80, 5, 4, noise=0.3, missing_ratio=missing)[0]
    )
    overlaps = overlaps_of_rows(EnsembleRows(ensemble))
    certainty = CCGP()._certainty_by_overlaps(overlaps, ensemble.offsets)
    np.testing.assert_allclose(certainty, CCGP()._certainty(ensemble), rtol=1e-10)


def test_small_random_clusters_are_no_more_certain_than_chance() -> None:
    """The certainty of LWGP is many times higher for them than for large random clusters."""
    rng = np.random.default_rng(0)
    sizes = [5] * 100 + [500]
    random_column = rng.permutation(np.repeat(np.arange(101), sizes))
    columns = [random_column, *(rng.integers(0, 10, 1000) for _ in range(9))]
    ensemble = Ensemble.from_partitions(np.column_stack(columns))
    entropy = cluster_entropy(ensemble)
    chance = expected_entropy(matrices.cluster_sizes(ensemble), None, ensemble.offsets)
    for clusters in (slice(100), slice(100, 101)):
        assert entropy[clusters].sum() == pytest.approx(chance[clusters].sum(), rel=0.03)
    published = matrices.cluster_certainty(ensemble)
    assert published[:100].mean() > 10 * published[100]


@pytest.mark.parametrize(("n", "m"), [(1000, 20), (1000, 100), (5000, 20)])
def test_random_labels_do_not_mislead_it(n: int, m: int) -> None:
    """The noisy ensembles of benchmarks/compare: 30 % of the labels are random."""
    partitions, y = make_mixed_partitions(n, m, 10, n_pieces=4, noise=0.3, k_min=10, k_max=40)
    assert adjusted_rand_score(y, CCGP(10, random_state=0).fit_predict(partitions)) >= 0.98


def test_lwgp_is_misled_by_random_labels() -> None:
    partitions, y = make_mixed_partitions(1000, 20, 10, n_pieces=4, noise=0.3, k_min=10, k_max=40)
    assert adjusted_rand_score(y, LWGP(10, random_state=0).fit_predict(partitions)) < 0.5


def test_clusters_far_from_random_keep_the_certainty_of_lwgp() -> None:
    partitions = make_partitions(200, 8, 4, noise=0.02)[0]
    corrected = matrices.corrected_certainty(partitions, 0.4)
    plain = matrices.cluster_certainty(partitions, 0.4)
    np.testing.assert_allclose(corrected, plain / plain.max(), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.1])
def test_small_weights_are_rescaled(scale: float) -> None:
    """Equal weights below 1 count as one sample each."""
    partitions = make_partitions(60, 5, 3, noise=0.2)[0]
    plain = matrices.corrected_certainty(Ensemble.from_partitions(partitions))
    weights = np.full(60, scale)
    weighted = matrices.corrected_certainty(Ensemble.from_partitions(partitions, weights=weights))
    np.testing.assert_allclose(weighted, plain, rtol=1e-9)


def test_single_samples_are_as_good_as_chance() -> None:
    single = np.maximum(np.arange(12) - 1, 0)  # the first two samples share a cluster
    partitions = np.column_stack([single, np.arange(12) % 2, np.arange(12) % 2])
    certainty = matrices.corrected_certainty(partitions)
    assert np.isfinite(certainty).all()
    assert certainty[1:11].max() < certainty[11:].min()


@pytest.mark.parametrize("theta", [0.0, -1.0, np.nan])
def test_bad_theta(theta: float) -> None:
    with pytest.raises(ValueError, match="theta must be positive"):
        matrices.corrected_certainty([[0, 1], [0, 1]], theta)


@pytest.mark.parametrize("case", load_cases("ccgp"), ids=attrgetter("name"))
def test_embedding_of_the_reference(case) -> None:
    core = Ensemble.from_partitions(case.partitions).compress()
    graph = matrices.incidence(core, matrices.corrected_certainty(core))
    values, _ = transfer_cut_embedding(graph, core.weights, case.parameters["n_clusters"])
    np.testing.assert_allclose(values, case.intermediate["eigenvalues"], rtol=0, atol=1e-10)
