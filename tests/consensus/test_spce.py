"""SPCE against its authors' program, their published table, and a computation on all samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import partita
from partita import SPCE, Ensemble
from partita.consensus.base import Size
from partita.consensus.spce import _Model
from partita.datasets import make_partitions
from partita.exceptions import ConvergenceWarning, PartitaWarning
from partita.matrices.pairs import joined_pairs
from partita.metrics import anmi, pairwise_agreement
from references import load_cases

# Here the K-th smallest eigenvalue is multiple on the way, and the program takes arbitrary vectors
# of its eigenspace, which part equal samples: what it does from there on depends on the order of
# rows (`test_where_the_program_depends_on_the_order_of_rows`). On ecoli_a every choice ends in the
# same matrix, on umist_p not; there the number of non-zero entries agrees until a choice matters.
ARBITRARY = {("ecoli_a", 0.1): 19, ("umist_p", 0.1): 5}


def fit(labels, n_clusters, **options) -> SPCE:
    """Fit, and take the warnings about components and collapse for granted."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The (matrix learned|clusters)", PartitaWarning)
        return SPCE(n_clusters, **options).fit(labels)


def easiness(method: SPCE) -> np.ndarray:
    return method.core_easiness_[np.ix_(method.core_index_, method.core_index_)]


def components(method: SPCE) -> np.ndarray:
    return connected_components(method.core_matrix_)[1][method.core_index_]


# -- plain computation: every sample, the matrix of every partition --------------------------------


@dataclass
class Unreduced:
    S: np.ndarray
    W: np.ndarray
    alpha: np.ndarray
    rho: float
    objective: np.ndarray
    gap: float  # the smallest gap, over the iterations, between the K-th and the next eigenvalue
    parts_equal_samples: bool


def unreduced(
    labels: np.ndarray, c: int, theta: float, pacing: str = "self", rotation_seed: int | None = None
) -> Unreduced:
    """Run the plain program; with a seed, rotate the vectors of the K-th eigenvalue at random."""
    n, m = labels.shape
    rotations = None if rotation_seed is None else np.random.default_rng(rotation_seed)
    known = labels >= 0
    both = np.array([np.outer(known[:, i], known[:, i]) for i in range(m)])
    joins = np.array([labels[:, i, None] == labels[:, i] for i in range(m)]) & both
    votes, voters = joins.sum(axis=0), both.sum(axis=0)
    blow_up = m / np.maximum(voters, 1)
    coverage = known.mean(axis=0) ** 2
    together, apart = (votes == voters) & (voters > 0), votes == 0
    _, group = np.unique(labels, axis=0, return_inverse=True)
    group = group.reshape(-1)

    gaps, parted = [], []

    def smallest(S):
        values, vectors = eigh(np.diag(S.sum(axis=1)) - S)
        gap = values[c] - values[c - 1]
        if values[:c].sum() > 1e-9:  # otherwise the eigenvectors of 0 are constant where it matters
            gaps.append(gap)
        if rotations is not None:
            equal = np.abs(values - values[c - 1]) < 1e-9
            rotation, _ = np.linalg.qr(rotations.normal(size=(equal.sum(), equal.sum())))
            vectors[:, equal] = vectors[:, equal] @ rotation
        Y = vectors[:, :c]
        parted.append(max(np.ptp(Y[group == g], axis=0).max() for g in np.unique(group)) > 1e-6)
        return values[:c].sum(), values[: c + 1].sum(), Y

    def over_partitions(values):
        return blow_up * (both * values).sum(axis=0)

    S = votes / np.maximum(voters, 1)
    _, _, Y = smallest(S)
    W = np.ones((n, n))
    alpha, rho, gamma = np.full(m, 1 / m), 1.0, (m * theta) ** 2
    objective = []
    for tenth in (9, 8, 7, 6, 5):
        r = tenth / 10
        age = 2 * ((r - 1) ** 2 * r + r**2 * (1 - r)) * m**2
        if pacing == "self" or (pacing == "fixed" and tenth == 9):
            B = over_partitions((S - joins) ** 2 / alpha[:, None, None])
            W = np.where(B > 0, np.minimum(age / (2 * np.where(B > 0, B, 1)), 1), 1)
        for iteration in range(20 if tenth == 5 else 5):
            a = over_partitions(np.ones((m, n, n)) / alpha[:, None, None])
            a[voters == 0] = 1.0
            D = ((Y[:, None] - Y) ** 2).sum(axis=2)
            C = (over_partitions(joins / alpha[:, None, None]) - rho * D / (2 * W**2)) / a
            S = np.where(np.sqrt(gamma / (a * W**2)) > C, 0, np.minimum(C, 1))
            S[together], S[apart] = 1, 0
            S = (S + S.T) / 2
            low, with_next, new_Y = smallest(S)
            d = (both * ((S - joins) * W) ** 2).sum(axis=(1, 2)) / coverage
            alpha = np.sqrt(d) / np.sqrt(d).sum()
            objective.append(
                (d / alpha).sum() - age * W.sum() + gamma * np.count_nonzero(S) + rho * low
            )
            if low > 1e-9:
                rho *= 2
            elif with_next < 1e-11:
                rho /= 2
                continue
            Y = new_Y
            if low <= 1e-9 and iteration > 0:
                break
    return Unreduced(S, W, alpha, rho, np.array(objective), min(gaps, default=1.0), any(parted))


def repeated(n_rows, n_partitions, n_clusters, seed, missing=0.0, noise=0.3):
    labels, _ = make_partitions(
        n_rows, n_partitions, n_clusters, noise=noise, missing_ratio=missing, random_state=seed
    )
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.repeat(np.arange(n_rows), rng.integers(1, 5, n_rows)))
    return labels[order]


def assert_equals_unreduced(method: SPCE, expected: Unreduced) -> None:
    np.testing.assert_allclose(method.consensus_matrix(), expected.S, rtol=0, atol=1e-8)
    np.testing.assert_allclose(easiness(method), expected.W, rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.alpha_, expected.alpha, rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.history_, expected.objective, rtol=1e-8)
    assert method.rho_ == expected.rho
    assert method.n_iter_ == len(expected.objective)
    assert method.n_components_ == connected_components(expected.S)[0]


@pytest.mark.parametrize(
    ("n_clusters", "theta", "seed", "missing", "pacing"),
    [
        (3, 0.05, 1, 0.0, "self"),
        (3, 0.27, 4, 0.0, "self"),
        (6, 0.05, 9, 0.0, "self"),
        (6, 0.27, 7, 0.0, "self"),
        (6, 0.27, 11, 0.0, "fixed"),
        (6, 0.05, 8, 0.0, "none"),
        (3, 0.05, 0, 0.2, "self"),
        (6, 0.05, 11, 0.2, "self"),
        (6, 0.27, 2, 0.2, "fixed"),
        (6, 0.27, 7, 0.2, "none"),
    ],
)
def test_equals_the_plain_program_on_all_samples(n_clusters, theta, seed, missing, pacing):
    labels = repeated(16, 9, 3, seed, missing)
    expected = unreduced(labels, n_clusters, theta, pacing)
    assert expected.gap > 1e-3, "choose a seed where the embedding is unique"
    method = fit(labels, n_clusters, theta=theta, pacing=pacing)
    assert_equals_unreduced(method, expected)


def test_vectors_that_part_equal_samples_take_part():
    """Eigenvectors outside the space of distinct rows are among the K smallest."""
    labels = repeated(16, 9, 3, seed=9)
    expected = unreduced(labels, 6, 0.05)
    assert expected.parts_equal_samples
    assert expected.gap > 1e-3
    assert_equals_unreduced(fit(labels, 6, theta=0.05), expected)


def test_where_the_program_depends_on_the_order_of_rows():
    """A multiple K-th eigenvalue: the plain program's S is arbitrary, ours is not.

    Any basis of the eigenvalue's space is a correct answer of LAPACK, and which one it gives
    changes with the order of the rows.
    """
    labels = repeated(16, 9, 3, seed=10)
    reference = unreduced(labels, 6, 0.05)
    assert reference.gap < 1e-12
    rotated = [unreduced(labels, 6, 0.05, rotation_seed=seed).S for seed in range(50)]
    assert np.ptp(rotated, axis=0).max() > 0.1
    ours = fit(labels, 6, theta=0.05)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(labels))
        again = fit(labels[order], 6, theta=0.05)
        shuffled = ours.consensus_matrix()[np.ix_(order, order)]
        np.testing.assert_array_equal(again.consensus_matrix(), shuffled)


# -- the authors' program ------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.parametrize("theta", [0.1, 0.3, 0.5])
def test_equals_the_authors_program(oracle, theta):
    expected = oracle(f"spce_theta{theta}".replace(".", "p"))
    method = fit(oracle.labels, oracle.n_clusters, theta=theta)
    trace = expected["trace_r_iter_rho_fn1_fn2_sumS_nnzS"].T
    assert method.n_iter_ == trace.shape[1]
    np.testing.assert_allclose(method.trace_["r"], trace[0], rtol=1e-15)
    np.testing.assert_array_equal(method.trace_["rho"], trace[2])
    assert method.rho_ == expected["rho_final"]
    assert method.n_components_ == expected["n_components"]
    same = ARBITRARY.get((oracle.name, theta), method.n_iter_)
    np.testing.assert_array_equal(method.trace_["n_nonzero"][:same], trace[6, :same])
    if (oracle.name, theta) not in ARBITRARY:
        np.testing.assert_allclose(method.trace_["sum_smallest"], trace[3], rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(method.trace_["sum_with_next"], trace[4], rtol=1e-8, atol=1e-11)
        np.testing.assert_allclose(method.trace_["total"], trace[5], rtol=1e-8)
    if (oracle.name, theta) == ("umist_p", 0.1):
        assert adjusted_rand_score(components(method), expected["labels"]) > 0.95
        return
    np.testing.assert_allclose(method.consensus_matrix(), expected["S"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(easiness(method), expected["W"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(method.alpha_, expected["alpha_weights"], rtol=0, atol=1e-8)
    assert adjusted_rand_score(components(method), expected["labels"]) == 1.0


def accuracy(truth, found):
    table = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(table, (truth, found), 1)
    return table[linear_sum_assignment(-table)].sum() / len(truth)


@pytest.mark.shared
def test_the_authors_table_cell_by_cell(shared):
    table = np.load(shared / "oracles" / "lung" / "spce_author_table.npz")
    truth = table["gt"] - 1
    for subset in range(10):
        labels = table["base_200"][:, 20 * subset : 20 * subset + 20]
        for t, theta in enumerate(table["thetas"]):
            method = fit(labels, int(table["k"]), theta=float(theta))
            found, cell = components(method), f"subset {subset}, theta {theta}"
            assert method.n_components_ == table["n_components"][subset, t], cell
            assert adjusted_rand_score(found, table["labels"][:, subset, t]) == 1.0, cell
            printed = table["acc_authors_matlab"][subset, t]
            assert accuracy(truth, found) == pytest.approx(printed, abs=1e-12), cell
            nmi = normalized_mutual_info_score(truth, found, average_method="max")
            assert nmi == pytest.approx(table["nmi_authors_matlab"][subset, t], abs=1e-12), cell


@pytest.mark.parametrize("case", load_cases("spce"), ids=attrgetter("name"))
def test_easiness_of_the_program(case):
    """Intermediate values of the reference file."""
    method = fit(case.partitions, **case.parameters)
    sums = easiness(method).sum(axis=1)[:: case.intermediate["every"]]
    expected = case.intermediate["easiness_row_sums"]
    np.testing.assert_allclose(sums, expected, rtol=0, atol=1e-8)


# -- what is ours --------------------------------------------------------------------------------


def unions(coarse, fine):
    """Whether every cluster of `fine` lies in one cluster of `coarse`."""
    return all(len(np.unique(coarse[fine == k])) == 1 for k in np.unique(fine))


def test_too_many_components_are_merged_whole():
    labels, _ = make_partitions(40, 7, 4, noise=0.4, random_state=3)
    with pytest.warns(
        PartitaWarning, match="connected components instead of n_clusters=3"
    ) as caught:
        method = SPCE(3).fit(labels)
    assert not any(issubclass(w.category, ConvergenceWarning) for w in caught)
    assert caught[0].filename == __file__
    assert method.n_components_ > method.n_clusters_ == 3
    assert not method.converged_
    assert unions(method.labels_, components(method))


def test_too_few_components_are_split_inside():
    labels = repeated(16, 9, 3, seed=1)
    with pytest.warns(PartitaWarning, match="split"):
        method = SPCE(6, theta=0.05).fit(labels)
    assert method.n_components_ < method.n_clusters_ == 6
    assert unions(components(method), method.labels_)
    again = fit(labels[::-1], 6, theta=0.05)
    assert adjusted_rand_score(again.labels_[::-1], method.labels_) == 1.0


def test_the_right_number_of_components_says_nothing():
    labels, truth = make_partitions(noise=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method = SPCE(3).fit(labels)
    assert method.converged_
    assert method.n_components_ == 3
    assert adjusted_rand_score(truth, method.labels_) == 1.0
    np.testing.assert_array_equal(method.labels_, SPCE(3).fit_predict(labels))


# -- theta without the truth -----------------------------------------------------------------------

THETAS = (0.2, 0.3, 0.4, 0.5)


def random_cells(most=10, seed=0):
    """Partitions of one cloud of points into the cells of some of them: no clear clusters."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(120, 2))
    centers = (points[rng.choice(120, rng.integers(3, most + 1), replace=False)] for _ in range(20))
    return np.column_stack(
        [np.square(points[:, None] - c).sum(axis=2).argmin(axis=1) for c in centers]
    )


@pytest.mark.parametrize("case", ["cells", "noisy", "missing"])
def test_auto_is_the_smallest_theta_that_agrees_enough(case):
    labels = {
        "cells": random_cells,
        "noisy": lambda: make_partitions(60, 12, 4, noise=0.3)[0],
        "missing": lambda: make_partitions(60, 12, 4, noise=0.2, missing_ratio=0.1)[0],
    }[case]()
    single = {theta: fit(labels, 4, theta=theta) for theta in THETAS}
    score = {theta: anmi(labels, single[theta].labels_) for theta in THETAS}
    enough = [theta for theta in THETAS if score[theta] >= 0.9 * max(score.values())]
    auto = fit(labels, 4, theta="auto")
    assert auto.theta_ == min(enough)
    assert auto.theta_scores_ == pytest.approx(score, abs=1e-10)
    chosen = single[auto.theta_]
    np.testing.assert_array_equal(auto.labels_, chosen.labels_)
    np.testing.assert_array_equal(auto.core_matrix_, chosen.core_matrix_)
    np.testing.assert_array_equal(auto.history_, chosen.history_)
    assert auto.converged_ == chosen.converged_
    assert chosen.theta_ == auto.theta_
    assert not hasattr(chosen, "theta_scores_")


def test_auto_leaves_a_theta_that_agrees_less():
    auto = fit(random_cells(most=19, seed=6), 6, theta="auto")
    assert auto.theta_scores_[0.2] < 0.9 * max(auto.theta_scores_.values())
    assert auto.theta_ > 0.2


def test_collapse_is_reported():
    """Isolated samples and one giant cluster: the partitions agree on much more."""
    labels = random_cells()
    with pytest.warns(
        PartitaWarning, match=r'has collapsed\. Raise theta \(now 0\), or use theta="a'
    ):
        method = SPCE(6, theta=0.0).fit(labels)
    between = pairwise_agreement(labels)[np.triu_indices(20, 1)].mean()
    assert anmi(labels, method.labels_) < between / 2
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The clusters of SPCE", PartitaWarning)
        warnings.filterwarnings("ignore", "The matrix learned by SPCE", PartitaWarning)
        SPCE(6, theta="auto").fit(labels)


def test_auto_reports_progress_of_all_candidates():
    seen = []
    with partita.config_context(progress=seen.append):
        fit(make_partitions(noise=0.05)[0], 3, theta="auto")
    assert {p.total for p in seen} == {160}
    assert all(first.done < second.done for first, second in pairwise(seen))


def test_bytes_of_auto():
    size = Size(n_rows=1000, n_partitions=20, n_base_clusters=100, n_clusters=4)
    assert SPCE(4).bytes_needed(size) == SPCE.info.bytes_needed(size)
    assert SPCE(4, theta="auto").bytes_needed(size) == SPCE(4).bytes_needed(size) + 8 * 1000**2


# -- special cases ---------------------------------------------------------------------------------


def test_unanimous_partitions_and_fewer_clusters():
    """Nothing to learn: every α keeps its start, components are merged."""
    labels = np.repeat([[0, 0, 5], [1, 2, 6], [2, 1, 7], [3, 3, 8]], 3, axis=0)
    method = fit(labels, 2)
    np.testing.assert_allclose(method.alpha_, 1 / 3)
    np.testing.assert_array_equal(method.core_matrix_, np.eye(4))
    assert method.n_components_ == 4
    assert method.n_clusters_ == 2


def test_a_partition_that_is_reproduced_exactly_keeps_a_weight():
    """S becomes the majority's partition, whose distance is then 0."""
    truth = np.repeat([0, 1], 6)
    other = np.repeat([0, 1, 0, 1], 3)
    method = fit(np.column_stack([truth] * 9 + [other]), 2, theta=0.6)
    assert np.isfinite(method.history_).all()
    assert np.isfinite(method.core_matrix_).all()
    assert (method.alpha_ > 0).all()
    assert adjusted_rand_score(truth, method.labels_) == 1.0


def test_one_partition_with_hardly_any_label():
    labels, truth = make_partitions(40, 10, noise=0.05)
    poor = np.full(len(labels), -1)
    poor[3] = 0
    method = fit(np.column_stack([labels, poor]), 3)
    assert np.isfinite(method.core_matrix_).all()
    assert adjusted_rand_score(truth, method.labels_) > 0.9


def test_alpha_follows_the_columns():
    labels, _ = make_partitions(40, 8, noise=0.1)
    labels[:, 5] = np.random.default_rng(0).integers(3, size=len(labels))
    method = fit(labels, 3)
    assert np.argmax(method.alpha_) == 5
    order = np.random.default_rng(1).permutation(8)
    np.testing.assert_allclose(fit(labels[:, order], 3).alpha_, method.alpha_[order], rtol=1e-12)


def test_pacing_changes_only_the_weights():
    labels, _ = make_partitions(60, 12, noise=0.25)
    learned, fixed, none = (fit(labels, 3, pacing=p) for p in ("self", "fixed", "none"))
    share = partita.coassociation(labels, expand=False)
    hard = (share > 0.1) & (share < 0.9)  # (13) with (22) and (23) at r = 0.9
    first = np.where(hard, 0.09 / np.where(hard, share * (1 - share), 1), 1)
    np.testing.assert_allclose(fixed.core_easiness_, first, rtol=1e-12)
    assert fixed.core_easiness_.mean() < learned.core_easiness_.mean() < 1
    assert (none.core_easiness_ == 1).all()
    assert all(set(m.trace_["r"]) == {0.9, 0.8, 0.7, 0.6, 0.5} for m in (learned, fixed, none))


def test_progress_and_interruption():
    labels, _ = make_partitions(noise=0.05)
    seen = []
    with partita.config_context(progress=seen.append):
        method = SPCE(3).fit(labels)
    assert [p.done for p in seen] == list(range(1, method.n_iter_ + 1))
    assert {(p.task, p.total) for p in seen} == {("SPCE", 40)}

    def stop(progress):
        raise KeyboardInterrupt

    with partita.config_context(progress=stop), pytest.raises(KeyboardInterrupt):
        SPCE(3).fit(labels)


@pytest.mark.parametrize("theta", [-0.1, 1.01, "0.3", None])
def test_theta_outside_0_to_1(theta):
    with pytest.raises(ValueError, match=r"'theta' parameter of SPCE must be .* \[0.*, 1.*\]"):
        SPCE(3, theta=theta).fit(make_partitions()[0])


@pytest.mark.parametrize("theta", [0, 1])
def test_theta_at_its_bounds(theta):
    method = fit(make_partitions(noise=0.05)[0], 3, theta=theta)
    assert method.n_clusters_ == 3


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_a_pair_on_the_threshold_stays(order):
    """14 of 20 votes at theta 0.3, r 0.9: S and threshold are equal, whatever the rounding."""
    labels = np.array([[0] * 20, [0] * 14 + [1] * 6])[:, order]
    ensemble = Ensemble.from_partitions(labels)
    model = _Model(ensemble, joined_pairs(ensemble), 1, 0.3)
    model.set_age(0.9)
    model.update_weights()
    model.Y, model.lift = np.zeros((2, 1)), np.zeros(2)
    model._complete(1.0, model.gamma)
    assert pytest.approx([0.7]) == model.S
