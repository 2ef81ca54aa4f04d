"""HBGF: the embedding of both sides against a dense computation, balanced cuts, METIS missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from partita import HBGF, Ensemble, matrices
from partita.datasets import make_partitions
from partita.solvers.bipartite import bipartite_embedding
from partita.testing import consensus_checks
from references import load_cases

WHY = "METIS is optional: pip install partita[graph]"
# Seven objects of Strehl & Ghosh 2002, one partition without labels for three of them
TOY = np.array(
    [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, -1, 1, 2, -1, -1]]
).T


def embedding_slowly(labels, k):
    """Dense SVD of the normalized incidence matrix of all samples."""
    B = np.hstack([(c[:, None] == np.unique(c[c >= 0])).astype(float) for c in labels.T])
    W = B / np.sqrt(B.sum(axis=1, keepdims=True)) / np.sqrt(B.sum(axis=0))
    U, s, Vt = np.linalg.svd(W)
    assert s[k - 1] - s[k] > 1e-3, "the embedding is not determined"
    unit = [M / np.linalg.norm(M, axis=1, keepdims=True) for M in (U[:, :k], Vt[:k].T)]
    return np.vstack(unit)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(30, 12), (60, 4)], ids=["few rows", "many rows"])
def test_equals_the_unreduced_computation(shape, missing):
    """Gram matrices, which no sign or rotation changes, of samples and clusters together."""
    n, m = shape
    labels = make_partitions(n, m, 3, noise=0.2, missing_ratio=missing, random_state=3)[0]
    labels = np.repeat(labels, np.random.default_rng(0).integers(1, 5, n), axis=0)
    expected = embedding_slowly(labels, 3)
    core = Ensemble.from_partitions(labels).compress()
    rows, columns = bipartite_embedding(matrices.incidence(core), core.weights, 3)
    found = core.expand(rows)
    count = len(labels)
    np.testing.assert_allclose(
        found @ found.T, expected[:count] @ expected[:count].T, rtol=0, atol=1e-8
    )
    # clusters in the user's order: the dense computation has partitions and labels sorted
    order = [
        core.offsets[i] + np.flatnonzero(core.categories[i] == name)[0]
        for i in np.argsort(core.partition_order)
        for name in np.sort(core.categories[i])
    ]
    np.testing.assert_allclose(
        found @ columns[order].T, expected[:count] @ expected[count:].T, rtol=0, atol=1e-8
    )


def test_by_hand():
    """Two groups that share no cluster: two components, in orthogonal directions."""
    ensemble = Ensemble.from_partitions(np.array([[0, 0], [0, 1], [1, 2], [1, 3]]))
    rows, columns = bipartite_embedding(matrices.incidence(ensemble), ensemble.weights, 2)
    side = np.array([0, 0, 1, 1, 0, 1, 0, 0, 1, 1])  # rows, then clusters 0 1 and 0 1 2 3
    vertices = np.vstack([rows, columns])
    np.testing.assert_allclose(vertices @ vertices.T, side[:, None] == side, rtol=0, atol=1e-12)


def test_fewer_directions_than_clusters():
    """Rank below n_clusters: what rounding left of the other directions must not count."""
    ensemble = Ensemble.from_partitions(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    rows, _ = bipartite_embedding(matrices.incidence(ensemble), ensemble.weights, 4)
    assert rows.shape == (4, 3)


def test_toy_of_strehl_and_ghosh():
    expected = [0, 0, 0, 1, 1, 2, 2]
    np.testing.assert_array_equal(HBGF(3, random_state=0).fit_predict(TOY), expected)


@pytest.mark.shared
def test_published_ensembles(oracle):
    """The embedding of the unreduced matrix, and exactly as many clusters as asked for."""
    expected = embedding_slowly(oracle.labels, oracle.n_clusters)[: len(oracle.labels)]
    core = Ensemble.from_partitions(oracle.labels).compress()
    rows, _ = bipartite_embedding(matrices.incidence(core), core.weights, oracle.n_clusters)
    found = core.expand(rows)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, rtol=0, atol=1e-8)
    method = HBGF(oracle.n_clusters, random_state=0).fit(oracle.labels)
    assert method.n_clusters_ == oracle.n_clusters


def test_embedding_equals_the_dense_one():
    """Intermediate values of the reference file."""
    (case,) = load_cases("hbgf")
    expected = case.intermediate
    core = Ensemble.from_partitions(case.partitions).compress()
    rows, columns = bipartite_embedding(
        matrices.incidence(core), core.weights, case.parameters["n_clusters"]
    )
    gram = core.expand(rows) @ core.expand(rows).T
    np.testing.assert_allclose(
        gram.sum(axis=1)[:: expected["every"]], expected["gram_row_sums"], rtol=0, atol=1e-8
    )
    assert np.linalg.norm(rows.T @ np.diag(core.weights) @ rows) == pytest.approx(
        expected["norm_rows"], rel=1e-9
    )
    assert np.linalg.norm(columns.T @ columns) == pytest.approx(expected["norm_columns"], rel=1e-9)


def test_every_group_has_samples():
    """k-means may spend a group on base clusters alone; such starts come last."""
    labels = make_partitions(80, 4, 3, noise=0.6, random_state=2)[0]
    assert HBGF(12, random_state=0).fit(labels).n_clusters_ == 12


def unequal_blobs(seed):
    X, truth = make_blobs(
        [300, 200, 100], centers=[[0, 0], [5, 0], [0, 5]], cluster_std=1.2, random_state=seed
    )
    counts = np.random.default_rng(seed).integers(2, 20, 20)
    labels = [KMeans(int(k), n_init=1, random_state=i).fit_predict(X) for i, k in enumerate(counts)]
    return truth, np.column_stack(labels)


def test_balanced_cuts_lose_on_unequal_clusters():
    """What the docstring says: about 0.60 against 0.92."""
    pytest.importorskip("pymetis", reason=WHY)
    scores = {"spectral": [], "metis": []}
    for seed in range(3):
        truth, labels = unequal_blobs(seed)
        for partitioner, values in scores.items():
            method = HBGF(3, partitioner=partitioner, random_state=0).fit(labels)
            values.append(adjusted_rand_score(truth, method.labels_))
    assert np.mean(scores["spectral"]) > 0.85
    assert np.mean(scores["metis"]) < 0.7


def test_metis():
    pytest.importorskip("pymetis", reason=WHY)
    labels = make_partitions(300, 10, 4, noise=0.3, missing_ratio=0.1)[0]
    method = HBGF(4, partitioner="metis", random_state=0).fit(labels)
    assert method.partitioner_.startswith("metis (pymetis ")
    sizes = np.bincount(method.labels_)
    assert sizes.max() <= 1.1 * len(labels) / 4
    again = HBGF(4, partitioner="metis", random_state=0).fit(labels[::-1])
    assert adjusted_rand_score(method.labels_, again.labels_[::-1]) == 1.0


def test_metis_cut_is_what_it_says_and_near_the_best():
    """The weight of cut edges given the samples' labels, against all balanced cuts in two."""
    pytest.importorskip("pymetis", reason=WHY)
    labels = make_partitions(10, 5, 2, noise=0.15, random_state=6)[0]
    truth = np.repeat([0, 1], 5)
    labels = np.where(np.random.default_rng(1).random((10, 5)) < 0.2, labels, truth[:, None])
    method = HBGF(2, partitioner="metis", random_state=0).fit(labels)

    def cut(groups):
        """Every base cluster on the side of most of its members."""
        total = 0
        for column in labels.T:
            for c in np.unique(column):
                inside = np.bincount(groups[column == c], minlength=2)
                total += inside.sum() - inside.max()
        return total

    assert method.objective_ >= cut(method.labels_)
    halves = [np.array([code >> x & 1 for x in range(10)]) for code in range(1, 2**9)]
    best = min(cut(groups) for groups in halves if groups.sum() == 5)
    assert method.objective_ <= best + 1


@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
@pytest.mark.filterwarnings("ignore:.*instead of n_clusters")
def test_battery_with_metis(check):
    """All but what balance forbids: planted clusters of unequal size, and rows kept whole."""
    pytest.importorskip("pymetis", reason=WHY)
    method = HBGF(partitioner="metis")
    if check.__name__ in ("check_planted_partition", "check_missing_labels"):
        with pytest.raises(AssertionError, match="not recovered"):
            check(method)
    elif check.__name__ == "check_reduction_is_exact":
        with pytest.raises(AssertionError, match="distinct rows"):  # the full graph parts equals
            check(method)
    else:
        check(method)


def test_metis_reads_any_weights():
    """Fractions are scaled to integers; a common factor changes nothing."""
    pytest.importorskip("pymetis", reason=WHY)
    labels = make_partitions(60, 8, 3, noise=0.2)[0]
    weights = np.random.default_rng(0).random(60) + 0.1
    one, other = (
        HBGF(3, partitioner="metis", random_state=0).fit(
            Ensemble.from_partitions(labels, weights=weights * factor)
        )
        for factor in (1.0, 2.0**30)
    )
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_without_metis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    labels = make_partitions()[0]
    with pytest.raises(ImportError, match=r"pip install 'partita\[graph\]'"):
        HBGF(3, partitioner="metis").fit(labels)
    method = HBGF(3, random_state=0).fit(labels)
    assert method.partitioner_ == "spectral"


def test_bad_parameters():
    with pytest.raises(ValueError, match="partitioner"):
        HBGF(3, partitioner="hmetis").fit(make_partitions()[0])
