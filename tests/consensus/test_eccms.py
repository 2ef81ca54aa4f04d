"""EC-CMS against its published program and a computation without reduction."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita import (
    ECCMS,
    LWEA,
    Ensemble,
    coassociation,
    config_context,
    locally_weighted_coassociation,
)
from partita.consensus.base import Size
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, MemoryBudgetError, NotSupportedError
from partita.matrices import trajectory_similarity

AFFINITIES = {
    "lwca": locally_weighted_coassociation,
    "ca": coassociation,
    "pts": trajectory_similarity,
}


def eccms_slowly(
    agreement, A, alpha, lam, *, keep_reliable=True, g1=1.0, g2=1.0, tol=1e-2, max_iter=100
):
    """Algorithm 1 on full matrices, with the published program's stopping rule."""
    n = len(A)
    omega = agreement >= alpha
    np.fill_diagonal(omega, False)
    H = np.where(omega, agreement, 0.0)
    Phi = np.diag(H.sum(axis=1)) - H
    M = np.linalg.inv(2 * Phi + (g1 + g2) * np.eye(n))
    C = E = F = np.zeros((n, n))
    Y1, Y2 = A - C - E, C - F
    norm = np.linalg.norm
    trace = []
    for _ in range(max_iter):
        C_new = M @ (g1 * (A - E + Y1 / g1) + g2 * (F - Y2 / g2))
        E_new = (g1 * (A - C_new) + Y1) / (lam + g1)
        if keep_reliable:
            E_new[omega] = 0.0
        P = C_new + Y2 / g2
        F_new = np.clip((P + P.T) / 2, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            trace.append(
                [
                    norm(C_new - C) / norm(C),
                    norm(E_new - E) / norm(E),
                    norm(F_new - F) / norm(F),
                    norm(A - C_new - E_new) / norm(Y1),
                    norm(C_new - F_new) / norm(Y2),
                ]
            )
        C, E, F = C_new, E_new, F_new
        Y1, Y2 = Y1 + g1 * (A - C - E), Y2 + g2 * (C - F)
        if max(trace[-1]) < tol:
            break
    objective = np.trace(C.T @ Phi @ C) + lam / 2 * norm(E) ** 2
    return C, np.asarray(trace), objective


def repeated(labels, seed=0):
    times = np.random.default_rng(seed).integers(1, 4, size=len(labels))
    return np.repeat(labels, times, axis=0)


def assert_equals_unreduced(method, labels, A, atol=1e-8):
    C, trace, objective = eccms_slowly(
        coassociation(labels),
        A,
        method.alpha,
        method.lam,
        keep_reliable=method.keep_reliable,
        g1=method.gamma1,
        g2=method.gamma2,
    )
    assert method.n_iter_ == len(trace)
    np.testing.assert_allclose(method.consensus_matrix(), C, rtol=0, atol=atol)
    np.testing.assert_allclose(method.history_, trace, rtol=1e-6)
    assert method.objective_ == pytest.approx(objective, rel=1e-8)


# -- the published program -------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize("settings", ["a0p8_l0p4", "a0p75_l0p01"])
def test_published_matrix_iterations_and_labels(oracle, settings):
    reference = oracle(f"eccms_{settings}")
    method = ECCMS(
        oracle.n_clusters, alpha=float(reference["alpha"]), lam=float(reference["lambda"])
    ).fit(oracle.labels)
    assert method.n_iter_ == int(reference["iterations"])
    np.testing.assert_allclose(method.consensus_matrix(), reference["C"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, reference["stop_trace"][:, 1:], rtol=1e-8)
    assert adjusted_rand_score(method.labels_, reference["labels"]) == 1.0
    assert method.converged_


@pytest.mark.shared
def test_published_figures_on_the_authors_draws(shared, compiled_kernels):
    # Table IV, Ecoli: 20 of 100 candidate partitions, 20 times, drawn as the authors drew them
    pool = np.load(shared / "data" / "pool_ecoli.npz")
    generator = np.random.RandomState(1)
    draws = [pool["members"][:, np.argsort(generator.random_sample(100))[:20]] for _ in range(20)]

    def scores(method):
        return [adjusted_rand_score(pool["y"], method.fit_predict(labels)) for labels in draws]

    baseline = scores(LWEA(8))  # no iteration, no ties: the draws are the same to the last digit
    assert round(np.mean(baseline), 3) == 0.430
    assert round(np.std(baseline, ddof=1), 3) == 0.030
    assert abs(np.mean(scores(ECCMS(8))) - 0.487) < 0.005
    assert abs(np.mean(scores(ECCMS(8, alpha=0.75, lam=0.01))) - 0.754) < 0.005


# -- against the unreduced computation --------------------------------------------------------


@pytest.mark.parametrize("affinity", ["lwca", "ca", "pts"])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(("alpha", "lam"), [(0.8, 0.4), (0.6, 0.01)])
def test_reduction_is_exact(affinity, missing, alpha, lam):
    labels = repeated(make_partitions(40, 10, noise=0.3, missing_ratio=missing)[0])
    method = ECCMS(3, alpha=alpha, lam=lam, affinity=affinity).fit(labels)
    assert len(method.core_matrix_) < len(labels)
    assert_equals_unreduced(method, labels, AFFINITIES[affinity](labels))


@pytest.mark.parametrize(
    "options",
    [
        {"keep_reliable": False},
        {"gamma1": 0.6},
        {"gamma2": 10.0},
        {"gamma1": 3.0, "gamma2": 0.1, "keep_reliable": False, "lam": 0.1},
        {"alpha": 0.0},
    ],
    ids=str,
)
def test_options_against_the_unreduced_computation(options):
    labels = repeated(make_partitions(40, 10, noise=0.3, missing_ratio=0.05)[0])
    method = ECCMS(3, **options).fit(labels)
    assert len(method.core_matrix_) < len(labels)
    assert_equals_unreduced(method, labels, locally_weighted_coassociation(labels))


def test_alpha_0_keeps_the_affinity_of_all_pairs():
    labels = repeated(make_partitions(40, 10, noise=0.3)[0])
    A = locally_weighted_coassociation(labels)
    assert (A == 0).any()  # pairs that no partition joins are kept as well
    method = ECCMS(3, alpha=0.0, tol=1e-5, max_iter=1000).fit(labels)
    others = ~np.eye(len(A), dtype=bool)
    np.testing.assert_allclose(method.consensus_matrix()[others], A[others], rtol=0, atol=1e-3)


def test_penalties_do_not_change_the_limit():
    labels = repeated(make_partitions(25, 10, noise=0.3)[0])
    options = {"tol": 1e-5, "max_iter": 2000}
    reference = ECCMS(3, **options).fit(labels).consensus_matrix()
    for gamma1, gamma2 in ((0.5, 1.0), (1.0, 3.0)):
        penalties = {"gamma1": gamma1, "gamma2": gamma2}
        method = ECCMS(3, **penalties, **options).fit(labels)
        np.testing.assert_allclose(method.consensus_matrix(), reference, rtol=0, atol=1e-3)
        early = ECCMS(3, **penalties).fit(labels).consensus_matrix()
        assert np.abs(early - reference).max() > 1e-3


def test_without_the_constraint_reliable_pairs_change():
    labels = repeated(make_partitions(40, 10, noise=0.3)[0])
    A, reliable = locally_weighted_coassociation(labels), coassociation(labels) >= 0.8
    np.fill_diagonal(reliable, False)
    kept, free = (
        ECCMS(3, keep_reliable=keep, tol=1e-4, max_iter=1000).fit(labels).consensus_matrix()
        for keep in (True, False)
    )
    np.testing.assert_allclose(kept[reliable], A[reliable], rtol=0, atol=1e-3)
    assert np.abs(free - A)[reliable].max() > 0.01


def test_weights_are_repeats():
    labels = make_partitions(40, 10, noise=0.3)[0]
    times = np.random.default_rng(1).integers(1, 5, size=40)
    weighted = ECCMS(3).fit(Ensemble.from_partitions(labels, weights=times))
    written_out = ECCMS(3).fit(np.repeat(labels, times, axis=0))
    assert weighted.n_iter_ == written_out.n_iter_
    np.testing.assert_allclose(weighted.core_matrix_, written_out.core_matrix_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, times), written_out.labels_)


def test_single_precision():
    partitions = make_partitions(80, 8, 4, noise=0.3)[0]
    double, single = (ECCMS(4, dtype=dtype).fit(partitions) for dtype in ("float64", "float32"))
    np.testing.assert_array_equal(single.labels_, double.labels_)
    assert single.n_iter_ == double.n_iter_
    np.testing.assert_allclose(
        single.consensus_matrix(), double.consensus_matrix(), rtol=0, atol=1e-5
    )
    size = Size(n_rows=1000, n_partitions=8, n_base_clusters=40, n_clusters=4)
    assert single.bytes_needed(size) < 0.7 * double.bytes_needed(size)


def test_weights_below_one():
    labels, truth = make_partitions(60, 12, noise=0.1)
    weights = np.random.default_rng(2).random(60) * 0.5 + 0.1
    method = ECCMS(3).fit(Ensemble.from_partitions(labels, weights=weights))
    assert np.isfinite(method.core_matrix_).all()
    assert adjusted_rand_score(truth, method.labels_) > 0.9


def test_threads_do_not_matter():
    labels = make_partitions(700, 20, 5, noise=0.5)[0]
    results = []
    for threads in (1, 2):
        with config_context(n_threads=threads):
            results.append(ECCMS(5, max_iter=3, tol=10.0).fit(labels))
    assert len(results[0].core_matrix_) > 512
    np.testing.assert_array_equal(results[0].core_matrix_, results[1].core_matrix_)
    np.testing.assert_array_equal(results[0].history_, results[1].history_)


# -- a given affinity ------------------------------------------------------------------------


def test_affinity_array_that_is_constant_on_rows_is_reduced():
    labels = repeated(make_partitions(40, 10, noise=0.3)[0])
    named = ECCMS(3).fit(labels)
    given = ECCMS(3, affinity=locally_weighted_coassociation(labels)).fit(labels)
    assert given.core_matrix_.shape == named.core_matrix_.shape
    np.testing.assert_allclose(
        given.consensus_matrix(), named.consensus_matrix(), rtol=0, atol=1e-12
    )
    np.testing.assert_array_equal(given.labels_, named.labels_)


def features_kernel(n, rng):
    points = rng.normal(size=(n, 2))
    return np.exp(-np.square(points[:, None] - points).sum(axis=2))


def test_affinity_array_that_differs_for_equal_labels():
    labels = repeated(make_partitions(40, 10, noise=0.3)[0])
    A = features_kernel(len(labels), np.random.default_rng(3))
    method = ECCMS(3, affinity=A).fit(labels)
    assert len(method.core_matrix_) == len(labels)
    assert_equals_unreduced(method, labels, A)
    order = np.random.default_rng(4).permutation(len(labels))
    shuffled = ECCMS(3, affinity=A[np.ix_(order, order)]).fit(labels[order])
    assert adjusted_rand_score(method.labels_[order], shuffled.labels_) == 1.0


def test_affinity_array_with_an_unlabeled_sample():
    labels = repeated(make_partitions(40, 10, noise=0.3)[0])
    A = features_kernel(len(labels), np.random.default_rng(5))
    labels[7] = -1
    known = np.delete(np.arange(len(labels)), 7)
    method = ECCMS(3, affinity=A).fit(Ensemble.from_partitions(labels, unlabeled="keep"))
    without = ECCMS(3, affinity=A[np.ix_(known, known)]).fit(labels[known])
    assert method.labels_[7] == -1
    np.testing.assert_allclose(
        method.consensus_matrix()[np.ix_(known, known)],
        without.consensus_matrix(),
        rtol=0,
        atol=1e-12,
    )


# -- reading clusters ------------------------------------------------------------------------


@pytest.mark.parametrize("assign_labels", ["average", "spectral"])
def test_assign_labels(assign_labels):
    labels, truth = make_partitions(90, 15, 4, noise=0.25)
    method = ECCMS(4, assign_labels=assign_labels).fit(labels)
    assert adjusted_rand_score(truth, method.labels_) > 0.9
    np.testing.assert_array_equal(
        method.labels_, ECCMS(4, assign_labels=assign_labels).fit_predict(labels)
    )
    assert hasattr(method, "tree_") == (assign_labels == "average")


def test_the_larger_lam_the_nearer_the_affinity():
    labels = repeated(make_partitions(40, 10, noise=0.3)[0])
    A = locally_weighted_coassociation(labels)
    distance = [
        np.linalg.norm(ECCMS(3, lam=lam).fit(labels).consensus_matrix() - A)
        for lam in (0.01, 0.4, 100.0)
    ]
    assert distance[0] > distance[1] > distance[2]


# -- convergence, progress, errors -----------------------------------------------------------


def test_max_iter_is_reported():
    labels = make_partitions(90, 15, 4, noise=0.25)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        method = ECCMS(4, max_iter=5).fit(labels)
    assert not method.converged_
    assert method.n_iter_ == len(method.history_) == 5


@pytest.mark.parametrize("vanishing", ["E", "Y2"])
def test_a_matrix_that_vanishes_does_not_keep_the_iteration_going(vanishing):
    if vanishing == "E":  # unanimous partitions: no noise
        labels = np.tile(np.repeat([0, 1, 2, 3], [5, 9, 16, 2])[:, None], (1, 6))
    else:  # C = F holds by itself
        labels = make_partitions(90, 4, noise=0.3)[0]
    method = ECCMS(2).fit(labels)
    assert method.converged_
    assert method.n_iter_ < 100
    assert method.history_[-1].max() > method.tol


def test_progress_and_interruption():
    labels = make_partitions(90, 15, 4, noise=0.25)[0]
    seen = []
    with config_context(progress=seen.append):
        method = ECCMS(4).fit(labels)
    assert [step.done for step in seen] == list(range(1, method.n_iter_ + 1))
    assert {(step.task, step.total) for step in seen} == {("EC-CMS", 100)}

    def stop(step):
        if step.done == 3:
            raise KeyboardInterrupt

    with config_context(progress=stop), pytest.raises(KeyboardInterrupt):
        ECCMS(4).fit(labels)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lam": 0.0}, "lam"),
        ({"lam": -1.0}, "lam"),
        ({"alpha": -0.1}, "alpha"),
        ({"alpha": 1.1}, "alpha"),
        ({"affinity": "cosine"}, "affinity"),
        ({"affinity": np.eye(5)}, r"affinity must have shape \(60, 60\).*got \(5, 5\)"),
        ({"affinity": np.triu(np.ones((60, 60)))}, "affinity must be symmetric"),
        ({"affinity": np.full((60, 60), np.nan)}, "affinity contains NaN"),
        ({"assign_labels": "kmeans"}, "assign_labels"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"gamma1": 0.0}, "gamma1"),
        ({"gamma2": -1.0}, "gamma2"),
        ({"keep_reliable": "yes"}, "keep_reliable"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ECCMS(3, **parameters).fit(make_partitions()[0])


def test_consensus_matrix_respects_the_budget_and_its_absence_is_explained():
    labels = repeated(make_partitions(300, 3, noise=0.3)[0])
    method = ECCMS(3).fit(labels)
    with config_context(memory_budget=8 * len(labels) ** 2 - 1), pytest.raises(MemoryBudgetError):
        method.consensus_matrix()
    alone = ECCMS(2).fit([[0, 0, 1, 1], [5, 5, 6, 6]])
    with pytest.raises(NotSupportedError, match="No matrix"):
        alone.consensus_matrix()
