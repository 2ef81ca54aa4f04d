"""Match the rows of the views: which sample is each row?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.multiview._containers import RawView

__all__ = ["match_samples", "select_rows"]

Positions = NDArray[np.int64]


def select_rows(view: RawView, selection: Any) -> RawView:
    """Return a view with the samples that a mask, positions or ids give to its rows."""
    if selection is None:
        return view
    entries = np.asarray(selection)
    n_rows = view.matrix.shape[0]
    if entries.ndim != 1:
        raise ValueError(
            f"present of view {view.name!r} must be a vector, got shape {entries.shape}."
        )
    if entries.dtype == np.bool_:
        return _apply_mask(view, entries)
    if len(entries) != n_rows:
        raise ValueError(
            f"present of view {view.name!r} must name the sample of each of its {n_rows} rows, got "
            f"{len(entries)} entries."
        )
    ids = entries.tolist()
    if entries.dtype.kind not in "iu":
        return replace(view, ids=ids, are_positions=False, n_samples=None)
    if len(ids) and min(ids) < 0:
        raise ValueError(
            f"present of view {view.name!r} has the position {min(ids)}; positions start at 0."
        )
    return replace(view, ids=ids, are_positions=True, n_samples=None)


def _apply_mask(view: RawView, mask: NDArray[np.bool_]) -> RawView:
    """Use the rows of samples where the mask is true; they may be the only rows there are."""
    n_rows, positions = view.matrix.shape[0], np.flatnonzero(mask)
    if len(mask) == n_rows:
        return replace(view, mask=mask)
    if view.are_positions and len(positions) == n_rows:
        return replace(view, ids=positions.tolist(), n_samples=len(mask))
    raise ValueError(
        f"The mask of view {view.name!r} has {len(mask)} entries, {len(positions)} of them true, "
        f"and the view has {n_rows} rows: expected one row per entry"
        f"{', or one per entry that is true' if view.are_positions else ''}."
    )


def match_samples(
    views: list[RawView], order: list[Any] | None
) -> tuple[list[Positions], list[Any] | None, int]:
    """Return the positions of the rows of every view, the ids in order, and n_samples.

    Parameters
    ----------
    views : list of RawView
        Views after `select_rows`.
    order : list or None
        Ids of all samples, if the user has named them.
    """
    for view in views:
        _check_distinct(view.ids, f"View {view.name!r}")
    if order is not None:
        _check_distinct(order, "sample_ids")
    views = _with_common_ids(views)
    if views[0].are_positions:
        n_samples = _count_samples(views, order)
        return [_as_array(view.ids) for view in views], order, n_samples
    if order is None:
        order = list(dict.fromkeys(chain.from_iterable(view.ids for view in views)))
    position_of = {sample: i for i, sample in enumerate(order)}
    for view in views:
        if unknown := [sample for sample in view.ids if sample not in position_of]:
            raise ValueError(
                f"View {view.name!r} has {len(unknown)} sample(s) that sample_ids does not have, "
                f"first {unknown[0]!r}."
            )
    positions = [np.asarray([position_of[s] for s in view.ids], np.int64) for view in views]
    return positions, order, len(order)


def _check_distinct(ids: Sequence[Any], where: str) -> None:
    if isinstance(ids, range):
        return
    without = [row for row, sample in enumerate(ids) if sample is None or sample != sample]
    if without:
        raise ValueError(f"{where} has no id in row {without[0]}. Every row needs one.")
    repeated = [sample for sample, count in Counter(ids).items() if count > 1]
    if repeated:
        raise ValueError(f"{where} has the sample {repeated[0]!r} twice. Ids must differ.")


def _with_common_ids(views: list[RawView]) -> list[RawView]:
    """Return the views with ids in all of them, or with positions in all of them."""
    with_ids = [view for view in views if not view.are_positions]
    without = [view for view in views if view.are_positions]
    if not with_ids:
        return views
    if not without:
        _check_overlap(views)
        return views
    counts = {view.n_samples for view in without}
    n_samples = counts.pop() if len(counts) == 1 else None
    if n_samples is not None:
        # a data frame 0..n-1 beside some of its rows
        if all(_are_positions(view.ids, n_samples) for view in with_ids):
            return [replace(view, are_positions=True, n_samples=n_samples) for view in views]
        common = with_ids[0].ids
        if n_samples == len(common) and all(view.ids == common for view in with_ids):
            return [
                replace(view, ids=[common[i] for i in view.ids], are_positions=False)
                if view.are_positions
                else view
                for view in views
            ]
    raise ValueError(
        f"View {with_ids[0].name!r} has ids and view {without[0].name!r} has none, so their rows "
        "cannot be matched. Pass the ids of its rows as present, or take the ids away from all "
        "views if their rows are in the same order."
    )


def _are_positions(ids: Sequence[Any], n_samples: int) -> bool:
    return all(isinstance(i, Integral) and 0 <= int(i) < n_samples for i in ids)


def _as_array(positions: Sequence[int]) -> Positions:
    if isinstance(positions, range):
        return np.arange(positions.start, positions.stop)
    return np.asarray(positions, np.int64)


def _check_overlap(views: list[RawView]) -> None:
    """Raise if a view has no sample in common with the others: probably ids of other types."""
    sets = [set(view.ids) for view in views]
    for i, view in enumerate(views):
        others = set().union(*sets[:i], *sets[i + 1 :])
        if others and view.ids and not sets[i] & others:
            raise ValueError(
                f"View {view.name!r} has no sample in common with the other views: its first id "
                f"is {view.ids[0]!r}, another view has {next(iter(views[i - 1].ids))!r}. Ids are "
                "equal where Python says so: 1 and '1' differ."
            )


def _count_samples(views: list[RawView], order: list[Any] | None) -> int:
    """Return the number of samples, which all views must agree on."""
    counts = {view.name: view.n_samples for view in views if view.n_samples is not None}
    if order is not None:
        counts["sample_ids"] = len(order)
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"Views have different numbers of rows ({counts}) and no ids. Pass as present the "
            "samples that a view has: a mask, positions or ids."
        )
    largest = max(int(_as_array(view.ids).max(initial=-1)) for view in views)
    n_samples = next(iter(counts.values()), largest + 1)
    if largest >= n_samples:
        raise ValueError(f"present has the position {largest}, but there are {n_samples} samples.")
    return n_samples
