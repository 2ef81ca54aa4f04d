"""The list of all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from partita.consensus import BaseConsensus
from partita.testing._contract_checks import (
    check_interruption,
    check_memory_budget,
    check_n_clusters_bounds,
    check_no_side_effects,
    check_pickle_clone_refit,
    check_random_state_parameter,
    check_result_attributes,
    check_same_seed_same_labels,
)
from partita.testing._label_checks import (
    check_containers_agree,
    check_equal_rows_stay_together,
    check_missing_labels,
    check_permuted_columns,
    check_planted_partition,
    check_reduction_is_exact,
    check_renamed_labels,
    check_repeated_rows_are_weights,
    check_shuffled_rows,
    check_unanimity,
    check_unlabeled_samples,
)

__all__ = ["check_consensus", "consensus_checks"]


def check_consensus(estimator: BaseConsensus) -> None:
    """Run all checks on a consensus method and raise the first failure.

    Parameters
    ----------
    estimator : BaseConsensus
        Object of the method to check, with any parameters. It is cloned, never fitted itself. The
        checks set `n_clusters` and `random_state` where it has them.

    Raises
    ------
    AssertionError
        If a check fails. Errors that the method itself raises are not changed. A note on the error
        names the check and says what it requires.

    Examples
    --------
    >>> from partita import EAC
    >>> from partita.testing import check_consensus
    >>> check_consensus(EAC())
    """
    for check in consensus_checks():
        try:
            check(estimator)
        except Exception as error:
            requirement = (check.__doc__ or "").strip().split("\n")[0]
            error.add_note(f"{check.__name__}: {requirement}")
            raise


def consensus_checks() -> Iterator[Callable[[BaseConsensus], None]]:
    """Yield the checks, for parametrized tests.

    Every check takes an object of the method, returns nothing and raises an error if the method
    does not meet the requirement.

    Examples
    --------
    >>> import pytest
    >>> from partita import EAC
    >>> from partita.testing import consensus_checks
    >>> @pytest.mark.parametrize("check", consensus_checks(), ids=lambda check: check.__name__)
    ... def test_method(check):
    ...     check(EAC(linkage="single"))
    """
    yield from (
        check_unanimity,
        check_planted_partition,
        check_shuffled_rows,
        check_renamed_labels,
        check_permuted_columns,
        check_repeated_rows_are_weights,
        check_reduction_is_exact,
        check_equal_rows_stay_together,
        check_same_seed_same_labels,
        check_random_state_parameter,
        check_no_side_effects,
        check_missing_labels,
        check_unlabeled_samples,
        check_pickle_clone_refit,
        check_containers_agree,
        check_result_attributes,
        check_n_clusters_bounds,
        check_memory_budget,
        check_interruption,
    )
