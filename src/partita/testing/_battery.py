"""The battery: relations that hold for every consensus method, whatever it computes."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from partita.config import Progress, config_context
from partita.consensus import BaseConsensus
from partita.datasets import make_partitions
from partita.ensemble import Ensemble
from partita.exceptions import MemoryBudgetError, NotSupportedError
from partita.registry import prepare
from partita.testing._ensembles import contested_ensemble, renamed

__all__ = ["check_consensus", "consensus_checks"]


def check_consensus(estimator: BaseConsensus) -> None:
    """Run every check of the battery on a consensus method; the first failure raises.

    Examples
    --------
    >>> from partita import EAC
    >>> from partita.testing import check_consensus
    >>> check_consensus(EAC())
    """
    for check in consensus_checks():
        check(estimator)


def consensus_checks() -> Iterator[Callable[[BaseConsensus], None]]:
    """The checks, one by one, for parametrised tests."""
    yield from (
        check_unanimity,
        check_planted_partition,
        check_shuffled_rows,
        check_renamed_labels,
        check_permuted_columns,
        check_repeated_rows_are_weights,
        check_reduction_is_exact,
        check_equal_rows_stay_together,
        check_same_seed_any_threads,
        check_random_state_where_random,
        check_leaves_everything_untouched,
        check_missing_labels,
        check_unlabeled_samples,
        check_pickle_clone_refit,
        check_containers_agree,
        check_result_attributes,
        check_n_clusters_bounds,
        check_memory_budget,
        check_interruption,
    )


def _seeded(estimator: BaseConsensus, n_clusters: int = 3) -> Any:
    return prepare(estimator, n_clusters, 7)


def _same_partition(a: NDArray[Any], b: NDArray[Any], what: str, *, exact: bool = True) -> None:
    agreement = adjusted_rand_score(a, b)
    threshold = 1.0 - 1e-12 if exact else 0.99
    assert agreement >= threshold, f"{what} changed the partition (ARI {agreement:.4f})"


def _ensembles(estimator: BaseConsensus) -> list[NDArray[np.int64]]:
    """One easy and one hard table; stochastic methods answer for the easy one only."""
    easy = make_partitions(noise=0.05)[0]
    hard = make_partitions(40, 7, 4, noise=0.4, random_state=3)[0]
    return [easy, hard] if estimator.info.deterministic else [easy]


def check_unanimity(estimator: BaseConsensus) -> None:
    """Partitions that agree are returned as they are."""
    truth = np.repeat([0, 1, 2], [5, 9, 16])
    labels = renamed(np.tile(truth[:, None], 6), np.random.default_rng(0))
    found = _seeded(estimator).fit_predict(labels)
    _same_partition(found, truth, "Unanimous partitions")


def check_planted_partition(estimator: BaseConsensus) -> None:
    """A partition seen through a little noise is found; of equal clusters if the method's are."""
    labels, truth = make_partitions(noise=0.05, balanced=estimator.info.balanced)
    found = _seeded(estimator).fit_predict(labels)
    agreement = adjusted_rand_score(truth, found)
    assert agreement > 0.9, f"planted partition missed: ARI {agreement:.3f}"


def check_shuffled_rows(estimator: BaseConsensus) -> None:
    """Shuffling the rows shuffles the labels."""
    rng = np.random.default_rng(1)
    for labels in _ensembles(estimator):
        order = rng.permutation(len(labels))
        before = _seeded(estimator).fit_predict(labels)
        after = _seeded(estimator).fit_predict(labels[order])
        _same_partition(before[order], after, "Shuffling rows")


def check_renamed_labels(estimator: BaseConsensus) -> None:
    """The names of clusters do not matter."""
    rng = np.random.default_rng(2)
    for labels in _ensembles(estimator):
        before = _seeded(estimator).fit_predict(labels)
        for other in (renamed(labels, rng), labels.max() - labels):
            after = _seeded(estimator).fit_predict(other)
            _same_partition(before, after, "Renaming labels")


def check_permuted_columns(estimator: BaseConsensus) -> None:
    """The order of partitions does not matter."""
    rng = np.random.default_rng(3)
    for labels in _ensembles(estimator):
        before = _seeded(estimator).fit_predict(labels)
        after = _seeded(estimator).fit_predict(labels[:, rng.permutation(labels.shape[1])])
        _same_partition(before, after, "Permuting columns")


def check_repeated_rows_are_weights(estimator: BaseConsensus) -> None:
    """A row that stands three times is a row of weight three."""
    labels, _ = make_partitions(30, 8, noise=0.1)
    times = np.random.default_rng(4).integers(1, 4, size=len(labels))
    repeated = _seeded(estimator).fit_predict(np.repeat(labels, times, axis=0))
    weighted = _seeded(estimator).fit_predict(Ensemble.from_partitions(labels, weights=times))
    _same_partition(repeated, np.repeat(weighted, times), "Writing repeats as weights")


def check_reduction_is_exact(estimator: BaseConsensus) -> None:
    """Distinct rows with weights have the solution of the table that repeats them.

    On a table in which the weights decide: without them the group in the middle joins the other
    side.
    """
    if not estimator.info.weighted:
        return
    labels, weights = contested_ensemble()
    core = Ensemble.from_partitions(labels, weights=weights).compress()
    times = core.weights.astype(np.int64)
    repeated = replace(
        core,
        codes=np.repeat(core.codes, times, axis=0),
        weights=np.ones(times.sum()),
        inverse=np.arange(times.sum()),
    )
    small, large = (
        _seeded(estimator, 2)._solve(ensemble, np.random.default_rng(7)).labels
        for ensemble in (core, repeated)
    )
    _same_partition(np.repeat(small, times), large, "Reducing to distinct rows")


def check_equal_rows_stay_together(estimator: BaseConsensus) -> None:
    """Samples with the same labels get the same cluster."""
    labels, _ = make_partitions(90, 4, noise=0.3)
    found = _seeded(estimator).fit_predict(labels)
    _, inverse = np.unique(labels, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    for row in range(inverse.max() + 1):
        clusters = np.unique(found[inverse == row])
        assert len(clusters) == 1, f"equal rows were put into clusters {clusters}"


def check_same_seed_any_threads(estimator: BaseConsensus) -> None:
    """The same seed gives the same labels, on one thread or two."""
    labels, _ = make_partitions(300, 10, noise=0.3)
    with config_context(n_threads=1):
        one = _seeded(estimator).fit_predict(labels)
    with config_context(n_threads=2):
        two = _seeded(estimator).fit_predict(labels)
    np.testing.assert_array_equal(one, two)


def check_random_state_where_random(estimator: BaseConsensus) -> None:
    """`random_state` is there exactly where labels may depend on a random number."""
    takes_seed = "random_state" in estimator.get_params()
    assert takes_seed != estimator.info.deterministic, (
        f"info.deterministic={estimator.info.deterministic}, and there is "
        f"{'a' if takes_seed else 'no'} random_state"
    )


def check_leaves_everything_untouched(estimator: BaseConsensus) -> None:
    """Input, parameters and NumPy's global random state are as they were."""
    labels, _ = make_partitions()
    kept = labels.copy()
    method = _seeded(estimator)
    parameters = copy.deepcopy(method.get_params())
    at_hand = np.random.get_state()  # noqa: NPY002
    np.random.seed(20240229)  # noqa: NPY002  (one that no method would choose to set)
    try:
        state = np.random.get_state()  # noqa: NPY002
        method.fit(labels)
        after = np.random.get_state()  # noqa: NPY002
    finally:
        np.random.set_state(at_hand)  # noqa: NPY002
    np.testing.assert_array_equal(labels, kept)
    assert all(np.array_equal(a, b) for a, b in zip(state, after, strict=True)), (
        "the global random state was used"
    )
    assert str(method.get_params()) == str(parameters), "a parameter was rewritten"


def check_missing_labels(estimator: BaseConsensus) -> None:
    """Missing labels are fused, or refused in words."""
    equal = estimator.info.balanced
    labels, truth = make_partitions(80, 15, noise=0.03, missing_ratio=0.2, balanced=equal)
    if estimator.info.missing == "refused":
        try:
            _seeded(estimator).fit(labels)
        except NotSupportedError:
            return
        raise AssertionError("missing labels should have been refused with NotSupportedError")
    found = _seeded(estimator).fit_predict(labels)
    assert found.min() >= 0, "a labeled sample came back unlabeled"
    agreement = adjusted_rand_score(truth, found)
    assert agreement > 0.8, f"planted partition with missing labels missed: ARI {agreement:.3f}"
    as_nan = np.where(labels < 0, np.nan, labels.astype(float))
    _same_partition(found, _seeded(estimator).fit_predict(as_nan), "Writing -1 as NaN")
    order = np.random.default_rng(5).permutation(len(labels))
    _same_partition(
        found[order], _seeded(estimator).fit_predict(labels[order]), "Shuffling with missing labels"
    )


def check_unlabeled_samples(estimator: BaseConsensus) -> None:
    """A sample without any label, kept on request, is -1 and changes nothing else."""
    labels, _ = make_partitions(noise=0.05)
    with_gaps = np.insert(labels, [0, 7, 7, len(labels)], -1, axis=0)
    unlabeled = (with_gaps < 0).all(axis=1)
    found = _seeded(estimator).fit_predict(Ensemble.from_partitions(with_gaps, unlabeled="keep"))
    assert np.all(found[unlabeled] == -1), "a sample without any label got one"
    expected = _seeded(estimator).fit_predict(labels)
    np.testing.assert_array_equal(found[~unlabeled], expected)


def check_pickle_clone_refit(estimator: BaseConsensus) -> None:
    """A method survives pickling and cloning, and forgets an earlier fit."""
    first, _ = make_partitions(random_state=1)
    second, _ = make_partitions(50, 9, random_state=2)
    method = _seeded(estimator).fit(first)
    restored = pickle.loads(pickle.dumps(method))
    np.testing.assert_array_equal(restored.labels_, method.labels_)
    fresh = clone(method).fit_predict(second)
    np.testing.assert_array_equal(method.fit_predict(second), fresh)


def check_containers_agree(estimator: BaseConsensus) -> None:
    """An array, a list of vectors, strings and an Ensemble are the same ensemble."""
    labels, _ = make_partitions()
    reference = _seeded(estimator).fit_predict(labels)
    forms = {
        "a list of vectors": list(labels.T),
        "strings": labels.astype(str),
        "floats": labels.astype(float),
        "an Ensemble": Ensemble.from_partitions(labels),
        "a compressed Ensemble": Ensemble.from_partitions(labels).compress(),
    }
    for name, form in forms.items():
        found = _seeded(estimator).fit_predict(form)
        np.testing.assert_array_equal(reference, found, err_msg=f"passing {name}")


def check_result_attributes(estimator: BaseConsensus) -> None:
    """Labels are numbered by first appearance, and exactly n_clusters come back."""
    labels, _ = make_partitions(noise=0.2)
    method = _seeded(estimator).fit(labels)
    found = method.labels_
    assert found.shape == (len(labels),)
    assert found.dtype.kind == "i"
    _, first = np.unique(found, return_index=True)
    assert np.all(np.diff(first) > 0), "clusters are not numbered by first appearance"
    assert method.n_clusters_ == len(first)
    if getattr(method, "n_clusters", None) is not None:
        assert method.n_clusters_ == 3, f"{method.n_clusters_} clusters instead of 3"
    assert isinstance(method.n_iter_, int)
    assert isinstance(method.converged_, bool)
    assert isinstance(method.objective_, float)


def check_n_clusters_bounds(estimator: BaseConsensus) -> None:
    """n_clusters is honoured from 1 to n, and refused beyond."""
    if "n_clusters" not in estimator.get_params():
        return
    labels, _ = make_partitions(20, 5)
    assert _seeded(estimator, 1).fit(labels).n_clusters_ == 1
    for wrong in (0, -1, len(labels) + 1):
        try:
            _seeded(estimator, wrong).fit(labels)
        except ValueError:
            continue
        raise AssertionError(f"n_clusters={wrong} was accepted for {len(labels)} samples")
    distinct = len(np.unique(labels, axis=0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = _seeded(estimator, len(labels)).fit(labels)
    assert found.n_clusters_ == distinct
    if distinct < len(labels):
        assert any("distinct rows" in str(w.message) for w in caught), "no warning says why"


def check_memory_budget(estimator: BaseConsensus) -> None:
    """Beyond the budget nothing is computed, and the error names the bytes and what would fit."""
    labels, _ = make_partitions()
    with config_context(memory_budget=1):
        try:
            _seeded(estimator).fit(labels)
        except MemoryBudgetError as error:
            message = str(error)
        else:
            raise AssertionError("a budget of one byte was not exceeded")
    assert " bytes)" in message, "the error does not say how much is needed"
    assert "Methods that would fit: " in message, "the error does not say what would fit"


def check_interruption(estimator: BaseConsensus) -> None:
    """An interruption while progress is reported reaches the caller."""
    labels, _ = make_partitions()
    reported = []

    def interrupt(step: Progress) -> None:
        reported.append(step)
        raise KeyboardInterrupt

    with config_context(progress=interrupt):
        try:
            _seeded(estimator).fit(labels)
        except KeyboardInterrupt:
            return
    assert not reported, "an interruption was swallowed"
