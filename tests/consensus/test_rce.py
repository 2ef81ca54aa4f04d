"""RCE: the authors' output, an unreduced computation, soft matrices, stopping and refusals."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from partita import RCE, Ensemble, config_context
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, MemoryBudgetError, NotSupportedError
from partita.matrices.agreement import agreement_counts
from partita.solvers.evidence import Votes, error_band
from references import load_cases

NAME = attrgetter("name")
RUNS = {"rce_l1_1": 1.0, "rce_l0p1_0p1": 0.1}
EPS = np.finfo(float).eps


def connective(labels):
    """One 0/1 matrix per partition, and one that says which pairs it labels."""
    known = labels.T >= 0
    seen = known[:, :, None] & known[:, None, :]
    return (labels.T[:, :, None] == labels.T[:, None, :]) & seen, seen


def rce_slowly(stack, seen, lam1, lam2, mu, passes, tol=0.0):
    """Algorithm 1 on all samples and with m error matrices, as printed but for the order of steps,
    the frozen pairs and the factor of Lemma 1."""
    stack, m = stack.astype(float), seen.sum(axis=0)
    A = (stack * seen).sum(axis=0) / np.maximum(m, 1)
    free = (A > 0) & (A < 1) & ~np.eye(len(A), dtype=bool)
    D, rank_cost = np.zeros_like(A), 0.0
    history, n_updates = [], 0

    def log(x):
        return np.log(np.maximum(x, EPS))

    for _ in range(passes):
        s = A + A.T
        root1 = np.sqrt(np.maximum((lam1 + 1) ** 2 - 2 * lam1 * s, 0))
        root2 = np.sqrt((1 - lam1) ** 2 + 2 * lam1 * s)
        x1 = np.minimum((2 * lam1 * stack - lam1 - 1 + root1) / (2 * lam1), 0)
        x2 = np.maximum((lam1 - 2 * lam1 * stack - 1 + root2) / (-2 * lam1), 0)
        costs = [
            -s * log(stack - x) - (2 - s) * log(1 - stack + x) + 2 * lam1 * np.abs(x)
            for x in (x1, x2)
        ]
        E = np.where(costs[0] <= costs[1], x1, x2)
        Y = stack - E
        C = (seen * (log(1 - Y) - log(Y))).sum(axis=0)

        def fit(A, Y=Y, E=E):
            kl = A * (log(A) - log(Y)) + (1 - A) * (log(1 - A) - log(1 - Y))
            return (free * seen * (kl + lam1 * np.abs(E))).sum()

        before = np.inf
        for _ in range(20):
            plus, minus = np.maximum(D, 0) @ A, np.maximum(-D, 0) @ A
            now = fit(A) + (A * (D @ A)).sum() + rank_cost
            low, high = np.maximum(A, EPS), np.maximum(1 - A, EPS)
            G = 2 * m / low + 2 * m / high + np.maximum(C, 0) / low + 2 * plus / low
            B = m * np.log(low) - 2 * m / high - m * np.log(high)
            H = np.maximum(-C, 0) * A + 2 * minus * A
            new = np.minimum((-B + np.sqrt(B**2 + 4 * G * H)) / np.maximum(2 * G, EPS), 1)
            A = np.where(free, new, A)
            n_updates += 1
            if tol and before - now <= tol * abs(now):
                break
            before = now
        values, V = np.linalg.eigh(A @ A.T)
        root = np.sqrt(np.maximum(values, 0) + mu)
        D = lam2 * (V / root) @ V.T
        rank_cost = lam2 * (root.sum() + mu * (1 / root).sum())
        history.append(fit(A) + 2 * lam2 * root.sum())
        if tol and len(history) > 1 and history[-2] - history[-1] <= tol * abs(history[-1]):
            break
    return A, history, (seen * np.abs(E)).sum(axis=(1, 2)), n_updates


def learn(method, labels):
    """The matrix before it is made symmetric, a row per sample."""
    core = Ensemble.from_partitions(labels).compress()
    votes = Votes.of(agreement_counts(core), None, core.n_partitions, core.weights)
    A, _, _ = method._learn(votes)
    return A[np.ix_(core.inverse, core.inverse)]


# -- values ----------------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize("run", RUNS)
def test_authors_output(oracle, run):
    expected, lam = oracle(run), RUNS[run]
    method = RCE(oracle.n_clusters, lambda1=lam, lambda2=lam, tol=0, random_state=0)
    np.testing.assert_allclose(learn(method, oracle.labels), expected["A_star"], rtol=0, atol=1e-10)
    method.fit(oracle.labels)
    np.testing.assert_allclose(method.consensus_matrix(), expected["W"], rtol=0, atol=1e-10)
    assert adjusted_rand_score(method.labels_, expected["labels"]) > 0.99
    assert method.n_iter_ == 20

    # the last errors answer the matrix of the pass before
    before = RCE(oracle.n_clusters, lambda1=lam, lambda2=lam, tol=0, max_iter=19, random_state=0)
    W = before.fit(oracle.labels).consensus_matrix()
    low, _, _, not_high = error_band(2 * W, lam)
    joined = oracle.labels[:, :1] == oracle.labels[:, 0]
    np.testing.assert_allclose(
        np.where(joined, not_high, -low), expected["E_first"], rtol=0, atol=1e-10
    )
    np.testing.assert_allclose(before.partition_errors_, expected["E_l1_per_base"], rtol=1e-10)
    np.testing.assert_allclose(before.error_matrix(0), expected["E_first"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", [c for c in load_cases("rce") if c.intermediate], ids=NAME)
def test_entries_of_the_program_before_symmetry(case):
    """Intermediate values of the reference file: A, of which (A + Aᵀ) / 2 is the result."""
    A = learn(RCE(**case.parameters), case.partitions)
    for p, q, forward, backward in case.intermediate["entries"]:
        assert A[p, q] == pytest.approx(forward, abs=1e-10)
        assert A[q, p] == pytest.approx(backward, abs=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize(("lam1", "lam2", "mu"), [(1, 1, 1e-3), (0.3, 4, 0.1), (20, 0.05, 1e-3)])
def test_equals_the_unreduced_computation(missing, lam1, lam2, mu):
    labels = make_partitions(25, 7, noise=0.3, missing_ratio=missing, random_state=1)[0]
    labels = np.repeat(labels, np.random.default_rng(0).integers(1, 4, 25), axis=0)
    method = RCE(3, lambda1=lam1, lambda2=lam2, mu=mu, max_iter=6, tol=0, random_state=0)
    method.fit(labels)
    stack, seen = connective(labels)
    A, history, _, _ = rce_slowly(stack, seen, lam1, lam2, mu, 6)
    assert len(method.core_matrix_) < len(labels)
    np.testing.assert_allclose(method.consensus_matrix(), (A + A.T) / 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, history, rtol=1e-8)
    assert method.objective_ == method.history_[-1]
    _, _, errors, _ = rce_slowly(stack, seen, lam1, lam2, mu, 7)
    np.testing.assert_allclose(method.partition_errors_, errors, rtol=1e-8)


def test_early_stop_gives_the_same_result_and_saves_most_updates():
    labels = np.repeat(make_partitions(30, 8, noise=0.3, random_state=2)[0], 2, axis=0)
    done = []
    with config_context(progress=done.append):
        method = RCE(3, random_state=0).fit(labels)
    A, history, _, n_updates = rce_slowly(*connective(labels), 1, 1, 1e-3, 20, tol=1e-3)
    np.testing.assert_allclose(method.consensus_matrix(), (A + A.T) / 2, rtol=0, atol=1e-8)
    assert method.converged_
    assert method.n_iter_ == len(history) < 20
    assert len(done) == n_updates < 100
    assert {p.total for p in done} == {400}
    everything = RCE(3, tol=0, random_state=0).fit(labels)
    assert everything.n_iter_ == 20
    assert not everything.converged_
    assert everything.objective_ <= method.objective_ <= 1.02 * everything.objective_
    assert adjusted_rand_score(everything.labels_, method.labels_) == 1


@pytest.mark.parametrize("lam1", [1e-4, 1, 1e4])
@pytest.mark.parametrize("lam2", [1e-4, 1, 1e4])
def test_objective_never_rises_over_the_papers_range(lam1, lam2):
    labels = make_partitions(40, 9, noise=0.4, missing_ratio=0.1, random_state=3)[0]
    method = RCE(3, lambda1=lam1, lambda2=lam2, tol=0, max_iter=8, random_state=0).fit(labels)
    assert np.diff(method.history_).max() <= 1e-9 * abs(method.objective_)
    assert 0 <= method.core_matrix_.min() <= method.core_matrix_.max() <= 1


def test_unanimous_pairs_stay_and_the_worst_partition_has_the_largest_error():
    labels, truth = make_partitions(60, 12, noise=0.15, random_state=4)
    labels[:, 5] = np.random.default_rng(0).permutation(labels[:, 5])
    method = RCE(3, random_state=0).fit(labels)
    share = connective(labels)[0].mean(axis=0)
    agreed = (share == 0) | (share == 1)
    np.testing.assert_array_equal(method.consensus_matrix()[agreed], share[agreed])
    assert np.argmax(method.partition_errors_) == 5
    assert adjusted_rand_score(truth, method.labels_) > 0.9


def test_pairs_that_no_partition_labels_stay_at_zero():
    labels = make_partitions(30, 6, noise=0.2, random_state=5)[0]
    labels[:10, :3], labels[20:, 3:] = -1, -1
    method = RCE(3, random_state=0).fit(labels)
    W = method.consensus_matrix()
    assert not W[:10, 20:].any()
    assert W[10:20].any(axis=0).all()


def test_one_partition_is_returned():
    labels = np.repeat([0, 1, 2, 3], [4, 1, 2, 3])
    method = RCE(4, random_state=0).fit(labels[:, None])
    assert adjusted_rand_score(labels, method.labels_) == 1
    unanimous = RCE(2, random_state=0).fit(np.repeat(labels[:, None], 3, axis=1))
    assert unanimous.n_clusters_ == 2
    assert unanimous.n_iter_ == 2


def test_more_partitions_than_a_byte_counts():
    labels = make_partitions(25, 300, noise=0.4, random_state=6)[0]
    few = RCE(3, max_iter=2, tol=0, random_state=0).fit(labels)
    A, *_ = rce_slowly(*connective(labels), 1, 1, 1e-3, 2)
    np.testing.assert_allclose(few.consensus_matrix(), (A + A.T) / 2, rtol=0, atol=1e-8)


def test_fractional_weights():
    labels = make_partitions(30, 8, noise=0.2, random_state=7)[0]
    weights = np.random.default_rng(1).uniform(0.05, 2, 30)
    method = RCE(3, tol=0, max_iter=5, random_state=0)
    method.fit(Ensemble.from_partitions(labels, weights=weights))
    assert np.isfinite(method.core_matrix_).all()
    assert np.diff(method.history_).max() <= 0


# -- soft matrices ---------------------------------------------------------------------------


def soft_stack(n=40, m=6, seed=0):
    labels, truth = make_partitions(n, m, noise=0.25, random_state=seed)
    rng = np.random.default_rng(seed)
    stack = connective(labels)[0] * 0.8 + 0.1 + rng.normal(0, 0.05, (m, n, n))
    stack = np.clip((stack + stack.transpose(0, 2, 1)) / 2, 0, 1)
    stack[:, np.arange(n), np.arange(n)] = 1
    return truth, stack


def test_soft_matrices_equal_the_unreduced_computation():
    truth, stack = soft_stack()
    method = RCE(3, lambda1=0.8, lambda2=1.5, max_iter=4, tol=0, random_state=0)
    method.fit_matrices(stack)
    everywhere = np.ones(stack.shape, bool)
    A, history, _, _ = rce_slowly(stack, everywhere, 0.8, 1.5, 1e-3, 4)
    np.testing.assert_allclose(method.consensus_matrix(), (A + A.T) / 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, history, rtol=1e-8)
    _, _, errors, _ = rce_slowly(stack, everywhere, 0.8, 1.5, 1e-3, 5)
    np.testing.assert_allclose(method.partition_errors_, errors, rtol=1e-8)
    assert adjusted_rand_score(truth, method.labels_) > 0.9


def test_hard_matrices_equal_their_partitions():
    labels = np.repeat(make_partitions(30, 8, noise=0.3, random_state=8)[0], 2, axis=0)
    from_partitions = RCE(3, random_state=0).fit(labels)
    from_matrices = RCE(3, random_state=0).fit_matrices(list(connective(labels)[0]))
    np.testing.assert_allclose(
        from_matrices.consensus_matrix(), from_partitions.consensus_matrix(), rtol=0, atol=1e-8
    )
    assert from_matrices.objective_ == pytest.approx(from_partitions.objective_, rel=1e-10)
    assert adjusted_rand_score(from_matrices.labels_, from_partitions.labels_) == 1
    np.testing.assert_allclose(
        from_matrices.partition_errors_, from_partitions.partition_errors_, rtol=1e-8
    )


def test_soft_matrices_are_not_changed_in_any_container_and_order(tmp_path):
    _, stack = soft_stack(seed=1)
    kept = stack.copy()
    reference = RCE(3, random_state=0).fit_matrices(stack)
    np.testing.assert_array_equal(stack, kept)
    np.save(tmp_path / "stack.npy", stack)
    mapped = RCE(3, random_state=0).fit_matrices(np.load(tmp_path / "stack.npy", mmap_mode="r"))
    np.testing.assert_array_equal(mapped.labels_, reference.labels_)
    order = np.random.default_rng(0).permutation(40)
    shuffled = RCE(3, random_state=0).fit_matrices(stack[::-1][:, order][:, :, order])
    assert adjusted_rand_score(shuffled.labels_, reference.labels_[order]) == 1
    single = RCE(3, random_state=0).fit_matrices(stack.astype(np.float32))
    assert adjusted_rand_score(single.labels_, reference.labels_) == 1
    assert RCE(40).fit_matrices(stack).n_clusters_ == 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: np.where(s == s.min(), np.inf, s), r"matrices\[\d\] contains infinity"),
        (lambda s: np.where(np.arange(40) == 3, np.nan, s), "must be symmetric"),
        (lambda s: np.where(isolate(s, [3, 7]), np.nan, s), "for 2 of 40 .* sample 3"),
        (
            lambda s: s * 1.5,
            r"matrices\[0\] must hold probabilities between 0 and 1, got .* to 1.5",
        ),
        (lambda s: s - 0.2, "probabilities"),
        (lambda s: np.tril(s), "must be symmetric"),
        (lambda s: s[:, :, :5], r"must have shape \(40, 40\)"),
        (lambda s: s[0], r"stack of shape \(n_matrices, n_samples, n_samples\)"),
        (lambda s: [s[0], s[1][:30, :30]], r"matrices\[1\] must have shape \(40, 40\)"),
        (lambda s: s[:0], "stack of shape"),
        (lambda s: None, "stack of shape"),
    ],
)
def test_bad_soft_matrices_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        RCE(3).fit_matrices(change(soft_stack()[1]))


def isolate(stack, samples):
    """Say which entries belong to rows or columns of some samples."""
    inside = np.isin(np.arange(stack.shape[1]), samples)
    return np.broadcast_to(inside[:, None] | inside, stack.shape)


def test_nan_in_soft_matrices_is_a_missing_entry():
    """Against the plain algorithm, whose sums run over the entries that are present."""
    truth, stack = soft_stack(m=8)
    rng = np.random.default_rng(3)
    for matrix in stack:  # some samples that a matrix does not have, and some single pairs
        matrix[isolate(stack[:1], rng.choice(40, 8, replace=False))[0]] = np.nan
        p, q = rng.integers(0, 40, (2, 30))
        matrix[p, q] = matrix[q, p] = np.nan
    stack[:, 5, 9] = stack[:, 9, 5] = np.nan
    seen = ~np.isnan(stack)
    method = RCE(3, lambda1=0.8, lambda2=1.5, max_iter=4, tol=0, random_state=0)
    method.fit_matrices(stack)
    A, history, _, _ = rce_slowly(np.nan_to_num(stack), seen, 0.8, 1.5, 1e-3, 4)
    np.testing.assert_allclose(method.consensus_matrix(), (A + A.T) / 2, rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, history, rtol=1e-8)
    _, _, errors, _ = rce_slowly(np.nan_to_num(stack), seen, 0.8, 1.5, 1e-3, 5)
    np.testing.assert_allclose(method.partition_errors_, errors, rtol=1e-8)
    assert method.consensus_matrix()[5, 9] == 0
    assert adjusted_rand_score(truth, method.labels_) > 0.9


def test_matrices_with_nan_equal_partitions_with_missing_labels():
    labels = make_partitions(30, 8, noise=0.3, missing_ratio=0.25, random_state=8)[0]
    joined, seen = connective(labels)
    from_partitions = RCE(3, random_state=0).fit(labels)
    from_matrices = RCE(3, random_state=0).fit_matrices(np.where(seen, joined, np.nan))
    np.testing.assert_allclose(
        from_matrices.consensus_matrix(), from_partitions.consensus_matrix(), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(
        from_matrices.partition_errors_, from_partitions.partition_errors_, rtol=1e-8
    )
    np.testing.assert_array_equal(from_matrices.labels_, from_partitions.labels_)


# -- error matrices --------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_error_matrices_are_the_best_errors_of_the_final_consensus(missing):
    """Each entry minimizes its terms of (2): checked on a fine grid of errors."""
    labels = make_partitions(15, 5, noise=0.4, missing_ratio=missing, random_state=9)[0]
    labels = np.repeat(labels, np.random.default_rng(1).integers(1, 3, 15), axis=0)
    method = RCE(3, lambda1=0.4, max_iter=4, tol=0, random_state=0).fit(labels)
    stack, seen = connective(labels)
    W = method.consensus_matrix()
    sizes = np.linspace(0.0, 1.0, 4001)[1:-1]
    for i in range(5):
        E = method.error_matrix(i)
        assert np.abs(E).sum() == pytest.approx(method.partition_errors_[i], rel=1e-12)
        assert not E[~seen[i]].any()
        disputed = seen[i] & (W > 0) & (W < 1)
        for p, q in np.argwhere(disputed)[::29]:
            cleaned = 1 - sizes if stack[i, p, q] else sizes
            cost = -W[p, q] * np.log(cleaned) - (1 - W[p, q]) * np.log(1 - cleaned) + 0.4 * sizes
            best = sizes[np.argmin(cost)]
            assert E[p, q] == pytest.approx(best if stack[i, p, q] else -best, abs=5e-4)


def test_error_matrix_of_a_soft_matrix():
    _, stack = soft_stack(n=20, m=5)
    stack[2][isolate(stack[:1], [4])[0]] = np.nan
    method = RCE(3, lambda1=0.6, max_iter=4, tol=0, random_state=0).fit_matrices(stack)
    for i, matrix in enumerate(stack):
        E = method.error_matrix(matrix)
        assert np.abs(E).sum() == pytest.approx(method.partition_errors_[i], rel=1e-12)
    assert not method.error_matrix(stack[2])[4].any()


def test_error_matrix_refuses_what_it_cannot_answer():
    labels = make_partitions(30, 4, noise=0.3)[0]
    method = RCE(3, random_state=0).fit(labels)
    for wrong in (4, -1, 0.5, connective(labels)[0][0]):
        with pytest.raises(ValueError, match="number of a partition, 0 to 3"):
            method.error_matrix(wrong)
    with config_context(memory_budget=1000), pytest.raises(MemoryBudgetError, match="of errors"):
        method.error_matrix(0)
    soft = RCE(3, random_state=0).fit_matrices(connective(labels)[0])
    with pytest.raises(TypeError, match="connective matrix itself after fit_matrices"):
        soft.error_matrix(0)
    with pytest.raises(ValueError, match=r"shape \(30, 30\)"):
        soft.error_matrix(np.eye(3))
    with pytest.raises(NotSupportedError, match="cluster of its own"):
        RCE(3).fit(np.array([[0, 1], [1, 0], [2, 2]])).error_matrix(0)


def test_matrices_of_words_are_refused():
    with pytest.raises(TypeError, match=r"matrices\[0\] must hold numbers"):
        RCE(1).fit_matrices([np.array([["a"]])])


# -- refusals and stops ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lambda1", "lambda2", "mu"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "1"])
def test_weights_of_the_terms_must_be_positive(name, value):
    method = RCE(3, **{name: value})
    labels = make_partitions()[0]
    with pytest.raises(ValueError, match=f"The '{name}' parameter of RCE must be"):
        method.fit(labels)
    with pytest.raises(ValueError, match=f"The '{name}' parameter of RCE must be"):
        method.fit_matrices(connective(labels)[0])


def test_too_many_clusters_for_the_matrices():
    with pytest.raises(ValueError, match="n_clusters=41"):
        RCE(41).fit_matrices(soft_stack()[1])


def test_max_iter_is_reported():
    labels = make_partitions(noise=0.3)[0]
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        method = RCE(3, max_iter=2, random_state=0).fit(labels)
    assert not method.converged_
    assert method.n_iter_ == 2


def test_memory_is_checked_before_it_is_used():
    with config_context(memory_budget=10_000):
        with pytest.raises(MemoryBudgetError, match="RCE on 60 distinct rows"):
            RCE(3).fit(make_partitions(noise=0.5)[0])
        with pytest.raises(MemoryBudgetError, match="RCE on 40 samples"):
            RCE(3).fit_matrices(soft_stack()[1])


def test_an_interrupt_is_not_swallowed():
    def stop(_):
        raise KeyboardInterrupt

    method = RCE(3)
    with config_context(progress=stop), pytest.raises(KeyboardInterrupt):
        method.fit(make_partitions(noise=0.3)[0])
    assert not hasattr(method, "labels_")
