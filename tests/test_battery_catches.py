"""The battery must fail where a method is wrong: each class here breaks one promise."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from partita import EAC, LWGP, get_config
from partita.config import report_progress
from partita.consensus import Solution
from partita.registry import all_methods
from partita.testing import check_consensus, consensus_checks


def moved(solution, row):
    """The solution with one row in the next cluster."""
    labels = solution.labels.copy()
    labels[row] = (labels[row] + 1) % (labels.max() + 1)
    return replace(solution, labels=labels)


class DependsOnRowOrder(EAC):
    def _solve(self, ensemble, rng):
        return moved(super()._solve(ensemble, rng), ensemble.inverse[0])


class DependsOnNames(EAC):
    def _solve(self, ensemble, rng):
        names = ensemble.categories[0][ensemble.codes[:, 0]]
        return moved(super()._solve(ensemble, rng), int(np.argmax(names)))


class DependsOnColumnOrder(EAC):
    def _solve(self, ensemble, rng):
        first = int(np.argmin(ensemble.partition_order))
        return Solution(ensemble.codes[:, first].astype(np.int64) % self.n_clusters)


class IgnoresWeights(EAC):
    def _solve(self, ensemble, rng):
        return super()._solve(replace(ensemble, weights=np.ones(ensemble.n_rows)), rng)


class PartsEqualRows(EAC):
    def _reduce(self, ensemble):
        return ensemble

    def _solve(self, ensemble, rng):
        return Solution(np.arange(ensemble.n_rows) * self.n_clusters // ensemble.n_rows)


class InventsClusters(EAC):
    def _solve(self, ensemble, rng):
        labels = super()._solve(ensemble, rng).labels
        labels[np.argmax(ensemble.weights)] = labels.max() + 1
        return Solution(labels)


class IgnoresNumberOfClusters(EAC):
    def _solve(self, ensemble, rng):
        return EAC(3)._solve(ensemble, rng)


class ReturnsOneCluster(EAC):
    def _solve(self, ensemble, rng):
        return Solution(np.zeros(ensemble.n_rows, np.int64))


class MergesUnanimousClusters(EAC):
    def _solve_trivial(self, core):
        return Solution(np.zeros(core.n_rows, np.int64))


class ReturnsRandomLabels(LWGP):
    def _solve(self, ensemble, rng):
        return Solution(rng.integers(self.n_clusters, size=ensemble.n_rows))


class LeavesRowsUnlabeled(EAC):
    def _solve(self, ensemble, rng):
        labels = super()._solve(ensemble, rng).labels
        labels[~ensemble.observed.all(axis=1)] = -1
        return Solution(labels)


class DrawsFromGlobalState(EAC):
    def _solve(self, ensemble, rng):
        np.random.rand()  # noqa: NPY002
        return super()._solve(ensemble, rng)


class SeedsGlobalState(EAC):
    def _solve(self, ensemble, rng):
        np.random.seed(0)  # noqa: NPY002
        return super()._solve(ensemble, rng)


class IgnoresSeed(LWGP):
    calls = count()

    def _solve(self, ensemble, rng):
        # another row every time, whatever the seed
        return moved(super()._solve(ensemble, rng), next(self.calls) % ensemble.n_rows)


class HidesItsSeed(EAC):
    info = replace(EAC.info, deterministic=False)


class ClaimsToBeDeterministic(LWGP):
    info = replace(LWGP.info, deterministic=True)


class CountsThreads(EAC):
    def _solve(self, ensemble, rng):
        return moved(super()._solve(ensemble, rng), get_config().n_threads)


class RewritesParameter(EAC):
    def _solve(self, ensemble, rng):
        solution = super()._solve(ensemble, rng)
        self.n_clusters += 1
        return solution


class ChangesParameterInInit(EAC):
    def __init__(self, n_clusters=8, *, linkage="average"):
        super().__init__(n_clusters=max(2, n_clusters - 1), linkage=linkage)


class MissingLabelsAreACluster(EAC):
    def _solve(self, ensemble, rng):
        missing = (~ensemble.observed).sum(axis=1)
        solution = super()._solve(ensemble, rng)
        return replace(solution, labels=np.where(missing > 3, 0, solution.labels))


class RefusesMissingLabelsInItsOwnWords(EAC):
    def _solve(self, ensemble, rng):
        if ensemble.n_missing:
            raise RuntimeError("no missing labels, please")
        return super()._solve(ensemble, rng)


class CannotBePickled(EAC):
    def _solve(self, ensemble, rng):
        return replace(super()._solve(ensemble, rng), learned={"rule_": lambda x: x})


class RemembersAnEarlierFit(EAC):
    def _solve(self, ensemble, rng):
        solution = super()._solve(ensemble, rng)
        if hasattr(self, "_seen"):
            solution = moved(solution, 0)
        self._seen = True
        return solution


class ReadsWeightsOfSamples(EAC):
    """Labels of unlabeled samples leak into the others."""

    def _solve(self, ensemble, rng):
        solution = super()._solve(ensemble, rng)
        return moved(solution, 0) if np.any(ensemble.inverse < 0) else solution


class NeedsNoMemoryItSays(EAC):
    info = replace(EAC.info, bytes_needed=lambda size: 0)


class SwallowsInterruptions(EAC):
    def _solve(self, ensemble, rng):
        with suppress(KeyboardInterrupt):
            report_progress("linkage", 1, 2)
        return super()._solve(ensemble, rng)


class ReturnsPythonNumbersOfAnotherKind(EAC):
    def _set_result(self, core, solution):
        super()._set_result(core, solution)
        self.converged_ = "yes"


CHECKS = {check.__name__: check for check in consensus_checks()}
CAUGHT_BY = {
    DependsOnRowOrder: "check_shuffled_rows",
    DependsOnNames: "check_renamed_labels",
    DependsOnColumnOrder: "check_permuted_columns",
    IgnoresWeights: "check_reduction_is_exact",
    PartsEqualRows: "check_equal_rows_stay_together",
    InventsClusters: "check_result_attributes",
    IgnoresNumberOfClusters: "check_n_clusters_bounds",
    ReturnsOneCluster: "check_planted_partition",
    MergesUnanimousClusters: "check_unanimity",
    ReturnsRandomLabels: "check_planted_partition",
    LeavesRowsUnlabeled: "check_missing_labels",
    DrawsFromGlobalState: "check_no_side_effects",
    SeedsGlobalState: "check_no_side_effects",
    IgnoresSeed: "check_same_seed_same_labels",
    HidesItsSeed: "check_random_state_parameter",
    ClaimsToBeDeterministic: "check_random_state_parameter",
    CountsThreads: "check_same_seed_same_labels",
    RewritesParameter: "check_no_side_effects",
    ChangesParameterInInit: "check_pickle_clone_refit",
    MissingLabelsAreACluster: "check_missing_labels",
    RefusesMissingLabelsInItsOwnWords: "check_missing_labels",
    CannotBePickled: "check_pickle_clone_refit",
    RemembersAnEarlierFit: "check_pickle_clone_refit",
    ReadsWeightsOfSamples: "check_unlabeled_samples",
    NeedsNoMemoryItSays: "check_memory_budget",
    SwallowsInterruptions: "check_interruption",
    ReturnsPythonNumbersOfAnotherKind: "check_result_attributes",
}


@pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
@pytest.mark.parametrize("wrong", CAUGHT_BY, ids=lambda c: c.__name__)
def test_the_check_for_it_catches(wrong):
    check = CHECKS[CAUGHT_BY[wrong]]
    check(EAC() if issubclass(wrong, EAC) else LWGP())
    with pytest.raises((AssertionError, TypeError, RuntimeError, AttributeError)):
        check(wrong())


@pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
@pytest.mark.parametrize("wrong", CAUGHT_BY, ids=lambda c: c.__name__)
def test_check_consensus_does_not_let_it_pass(wrong):
    with pytest.raises((AssertionError, TypeError, RuntimeError, AttributeError)) as failure:
        check_consensus(wrong())
    assert failure.value.__notes__[0].split(":")[0] in CHECKS


def test_check_consensus_lets_a_right_method_pass():
    check_consensus(EAC())


def test_every_check_catches_something():
    never = set(CHECKS) - set(CAUGHT_BY.values())
    # no method can fail these: the base class implements what they check
    assert never == {"check_repeated_rows_are_weights", "check_containers_agree"}


def test_wrong_methods_do_not_reach_the_registry():
    assert not set(all_methods()) & set(CAUGHT_BY)
