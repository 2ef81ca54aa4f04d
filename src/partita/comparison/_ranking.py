"""`rank_methods`: several methods over several data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from partita.comparison._paired_tests import holm, t_test, wilcoxon_test
from partita.comparison._ranking_result import Ranking

__all__ = ["rank_methods"]

_DATASET, _METHOD = "dataset", "method"


def rank_methods(results: Any, measure: str = "ARI", *, reference: str | None = None) -> Ranking:
    """Rank methods by their results on several data sets, with paired tests.

    The score of method A is that of the ensemble clustering papers,

        score(A) = Σ_D value(A, D) / max_B value(B, D),

    the sum over data sets D of its value, divided by the best value on that data set. A method
    that is best everywhere has as its score the number of data sets.

    Every method is compared with the reference by two tests of the paired differences over data
    sets: Student's t-test and Wilcoxon's signed-rank test, both two-sided. Both p-values are also
    corrected for the number of methods compared, by Holm's procedure.

    Parameters
    ----------
    results : mapping of str to Comparison, data frame, or sequence of mappings
        Results of `compare` by data set, or a table with the columns "dataset", "method" and the
        measure. Repeated entries for a data set and a method are averaged.
    measure : str, default="ARI"
        Column to rank by. Larger values must be better.
    reference : str, optional
        Method that the others are compared with. By default the one with the highest score. The
        p-values are then too small, since the reference was chosen by the same values.

    Returns
    -------
    Ranking

    Notes
    -----
    A method without a value on a data set (a failure, None or NaN) gets nothing from it in its
    score, shares the last rank there, and is compared over the other data sets. If the best value
    on a data set is not positive, no method gets anything from it.

    The tests treat data sets as independent. With fewer than six data sets the Wilcoxon test
    cannot reach p < 0.05. To compare repeated runs on one data set as some papers do, pass the
    number of the run as "dataset"; such runs share their data, and the p-values say nothing about
    other data sets.

    References
    ----------
    Section 7.1 of Liu, Wu, Liu, Tao, Fu. Spectral Ensemble Clustering via Weighted K-Means:
    Theoretical and Practical Evidence. IEEE TKDE 29(5), 2017 (score).
    Demšar. Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.
    Holm. A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> from partita.comparison import rank_methods
    >>> rows = [("iris", "sec", 0.8), ("iris", "eac", 0.4), ("wine", "sec", 0.3),
    ...         ("wine", "eac", 0.4)]
    >>> ranking = rank_methods([dict(zip(("dataset", "method", "ARI"), row)) for row in rows])
    >>> [(record["method"], round(record["score"], 2)) for record in ranking]
    [('sec', 1.75), ('eac', 1.5)]
    """
    datasets, methods, values = _value_table(results, measure)
    score = _scores(values)
    if reference is None:
        reference = methods[int(np.argmax(score))]
    if reference not in methods:
        raise ValueError(f"reference must be one of {methods}, got {reference!r}.")
    ranks = _mean_ranks(values)
    own = values[:, methods.index(reference)]
    records = []
    for j, method in enumerate(methods):
        has_value = ~np.isnan(values[:, j])
        record: dict[str, Any] = {
            "method": method,
            "n_datasets": int(has_value.sum()),
            "mean": float(values[has_value, j].mean()) if has_value.any() else None,
            "score": float(score[j]),
            "rank": float(ranks[j]),
        }
        difference = (values[:, j] - own)[has_value & ~np.isnan(own)]
        is_other = method != reference and len(difference) > 0
        record |= {
            "difference": float(difference.mean()) if is_other else None,
            "wins": int((difference > 0).sum()) if is_other else None,
            "ties": int((difference == 0).sum()) if is_other else None,
            "losses": int((difference < 0).sum()) if is_other else None,
            "t_test": t_test(difference) if is_other else None,
            "wilcoxon": wilcoxon_test(difference) if is_other else None,
        }
        records.append(record)
    for test in ("t_test", "wilcoxon"):
        for record, p in zip(records, holm([r[test] for r in records]), strict=True):
            record[f"{test}_holm"] = p
    order = np.argsort(-score, kind="stable")
    return Ranking(
        [records[j] for j in order],
        [methods[j] for j in order],
        datasets,
        values[:, order],
        measure,
        reference,
    )


def _value_table(results: Any, measure: str) -> tuple[list[str], list[str], NDArray[np.float64]]:
    """Return data sets, methods and their mean values, NaN where there is none."""
    datasets: dict[str, int] = {}
    methods: dict[str, int] = {}
    entries = []
    for dataset, method, value in _entries(results, measure):
        place = (
            datasets.setdefault(str(dataset), len(datasets)),
            methods.setdefault(str(method), len(methods)),
        )
        entries.append((place, np.nan if value is None else float(value)))
    if not entries:
        raise ValueError("results is empty; expected at least one data set and one method.")
    sums, counts = (np.zeros((len(datasets), len(methods))) for _ in range(2))
    for place, number in entries:
        if not np.isnan(number):
            sums[place] += number
            counts[place] += 1
    values = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return list(datasets), list(methods), values


def _entries(results: Any, measure: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield data set, method and value of all results."""
    if isinstance(results, Mapping):
        for dataset, records in results.items():
            yield from _entries([{**r, _DATASET: dataset} for r in records], measure)
        return
    frame = nw.from_native(results, pass_through=True, eager_only=True)
    records = list(frame.iter_rows(named=True) if isinstance(frame, nw.DataFrame) else results)
    for record in records:
        missing = [key for key in (_DATASET, _METHOD, measure) if key not in record]
        if missing:
            raise ValueError(
                f"Expected the columns {_DATASET!r}, {_METHOD!r} and {measure!r} in results, got "
                f"{list(record)}. Results of `compare` have scores only if y was passed to it."
            )
        yield record[_DATASET], record[_METHOD], record[measure]


def _scores(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over data sets of each value divided by the best."""
    best = np.where(np.isnan(values), -np.inf, values).max(axis=1)
    usable = best > 0
    scores: NDArray[np.float64] = np.nansum(values[usable] / best[usable, None], axis=0)
    return scores


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank over data sets, 1 for the best; ties share their mean rank."""
    from scipy.stats import rankdata  # takes long, so only when needed

    ranks = rankdata(-np.where(np.isnan(values), -np.inf, values), axis=1)
    means: NDArray[np.float64] = ranks.mean(axis=0)
    return means
