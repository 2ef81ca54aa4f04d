"""DREC against its published program, a Sylvester solver, and a hand-made example."""

from __future__ import annotations

import numpy as np
import pytest
from published import their_rows, within_sum_of_squares
from scipy.linalg import solve_sylvester
from sklearn.metrics import adjusted_rand_score

from partita import DREC, Ensemble, config_context
from partita.datasets import make_partitions
from partita.exceptions import MemoryBudgetError
from partita.solvers.low_rank import low_rank_affinity
from partita.solvers.spectral import normalize_rows, spectral_embedding


def represent_slowly(labels, lam, rounds):
    """Z over distinct rows in lexicographic order, the sample's row, and the objective."""
    rows, inverse = np.unique(labels, axis=0, return_inverse=True)
    X = np.vstack([(column == np.unique(column[column >= 0])[:, None]) for column in rows.T]) * 1.0
    G = X.T @ X
    e, history = np.ones(len(rows)), []
    for _ in range(rounds):
        Z = solve_sylvester(G, lam * np.diag(e), G)
        length = np.linalg.norm(X - X @ Z, axis=0)
        history.append(length.sum() + lam * np.linalg.norm(Z) ** 2)
        e = 2 * length
    return Z, inverse.reshape(-1), np.array(history)


@pytest.mark.shared
@pytest.mark.parametrize("lam", [1, 100])
def test_published_representation_and_labels(oracle, lam):
    published = oracle(f"drec_lambda{lam}")
    core = Ensemble.from_partitions(oracle.labels).compress()
    rows = their_rows(core, published["mc_of_object"] - 1)
    both = np.ix_(rows, rows)
    method = DREC(oracle.n_clusters, lam=lam, random_state=0).fit(oracle.labels)
    Z = method.core_matrix_
    np.testing.assert_allclose(Z, published["Z"][both], rtol=0, atol=1e-10)
    np.testing.assert_allclose(method.history_, published["objective"], rtol=1e-10)
    singular = np.linalg.svd(Z, compute_uv=False)
    assert np.count_nonzero(singular > 1e-4 * singular[0]) == published["rank_kept"]
    A = low_rank_affinity(Z)
    np.testing.assert_allclose(A, published["L"][both], rtol=0, atol=1e-9)
    _, vectors = spectral_embedding(A, np.ones(len(A)), oracle.n_clusters)
    ours = normalize_rows(vectors)
    theirs = published["embedding"][rows]
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, rtol=0, atol=1e-8)
    assert adjusted_rand_score(method.labels_, published["labels"]) >= 0.99
    # k-means ends elsewhere in places, but never in a poorer optimum than the published run
    inertia = within_sum_of_squares(theirs, their_rows(core, method.labels_))
    published_inertia = within_sum_of_squares(theirs, their_rows(core, published["labels"]))
    assert inertia <= published_inertia * (1 + 1e-9)


@pytest.mark.parametrize("lam", [0.5, 20.0])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_sylvester_equations(lam, missing):
    """Repeated samples are one micro-cluster of weight 1, gaps are rows of X without a 1."""
    once = make_partitions(40, 6, 3, noise=0.3, missing_ratio=missing, random_state=4)[0]
    labels = np.repeat(once, 1 + np.arange(40) % 3, axis=0)
    Z, row, history = represent_slowly(labels, lam, 4)
    method = DREC(3, lam=lam, max_iter=4, random_state=0).fit(labels)
    np.testing.assert_allclose(method.consensus_matrix(), Z[np.ix_(row, row)], rtol=0, atol=1e-10)
    np.testing.assert_allclose(method.history_, history, rtol=1e-12)
    assert method.objective_ == method.history_[-1]
    assert method.n_iter_ == 4


def test_three_micro_clusters_by_hand():
    """One partition of singletons: XᵀX = I, and Z is diagonal.

    Round one: z = 1/(1 + lam) = 1/2 at lam = 1, the residual is 1/2, the objective of a sample
    1/2 + 1/4. Round two: e = 1, the same again.
    """
    method = DREC(2, lam=1.0, max_iter=2, random_state=0).fit([[0, 1, 2]])
    np.testing.assert_allclose(method.core_matrix_, np.eye(3) / 2, rtol=0, atol=1e-15)
    np.testing.assert_allclose(method.history_, [2.25, 2.25], rtol=1e-15)
    # at lam = 1/4: z = 4/5, e = 2/5; then z = 1/(1 + 1/10) = 10/11
    method = DREC(2, lam=0.25, max_iter=2, random_state=0).fit([[0, 1, 2]])
    np.testing.assert_allclose(method.core_matrix_, np.eye(3) * 10 / 11, rtol=0, atol=1e-15)
    expected = [3 * (0.2 + 0.25 * 0.64), 3 * (1 / 11 + 0.25 * 100 / 121)]
    np.testing.assert_allclose(method.history_, expected, rtol=1e-14)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_objective_never_rises(lam):
    labels = make_partitions(60, 7, 4, noise=0.3, missing_ratio=0.1)[0]
    history = DREC(4, lam=lam, max_iter=12, random_state=0).fit(labels).history_
    assert np.all(np.diff(history) <= 1e-12 * history[0])
    assert history[-1] < history[0]


@pytest.mark.parametrize(("lam", "found"), [(1.0, False), (10.0, True), (1000.0, True)])
def test_small_lam_is_not_robust(lam, found):
    """What the docstring says of the default."""
    labels, truth = make_partitions(noise=0.05)
    agreement = adjusted_rand_score(truth, DREC(3, lam=lam, random_state=0).fit_predict(labels))
    assert (agreement > 0.9) == found


def test_sizes_do_not_count():
    labels = np.unique(make_partitions(60, 6, 3, noise=0.2)[0], axis=0)
    repeated = np.repeat(labels, 1 + np.arange(len(labels)) % 4, axis=0)
    once, many = (DREC(3, random_state=0).fit(x).history_ for x in (labels, repeated))
    np.testing.assert_allclose(once, many, rtol=1e-13)


def test_refusals():
    labels = make_partitions()[0]
    with pytest.raises(ValueError, match="lam"):
        DREC(3, lam=0).fit(labels)
    n = len(np.unique(labels, axis=0))
    with config_context(memory_budget=16 * n * n), pytest.raises(MemoryBudgetError, match="DREC"):
        DREC(3).fit(labels)


@pytest.mark.parametrize("shape", [(90, 4), (25, 12)])
def test_both_sides_of_the_incidence(shape):
    """Fewer base clusters than rows, and more: XᵀX has the same eigenvectors from either side."""
    labels = make_partitions(*shape, 3, noise=0.4, random_state=7)[0]
    core = Ensemble.from_partitions(labels).compress()
    assert (core.n_base_clusters < core.n_rows) == (shape[0] == 90)
    Z, row, history = represent_slowly(labels, 10.0, 5)
    method = DREC(3, random_state=0).fit(labels)
    np.testing.assert_allclose(method.consensus_matrix(), Z[np.ix_(row, row)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(method.history_, history, rtol=1e-12)
