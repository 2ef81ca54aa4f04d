"""Coding of the labels of a Dask array, block by block on the workers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.coding import encode_with
from partita._input.columns import distinct_labels
from partita.ensemble import LabelLayout
from partita.exceptions import InvalidEnsembleError, NotSupportedError
from partita.scale._dask_workers import Workers

__all__ = ["CodedBlocks", "tree"]

_FAN_IN = 4  # results that one task of a tree merges


@dataclass(frozen=True)
class CodedBlocks:
    """Blocks of rows, coded as in an `Ensemble` and kept on the workers.

    Attributes
    ----------
    blocks : tuple of delayed arrays of shape (length, n_partitions)
    lengths : tuple of int
    layout : LabelLayout
    """

    blocks: tuple[Any, ...]
    lengths: tuple[int, ...]
    layout: LabelLayout

    @classmethod
    def of(cls, array: Any, noise: str, workers: Workers) -> CodedBlocks:
        """Collect the distinct labels in a first pass, and code the blocks in a second one."""
        import dask

        blocks = _row_blocks(_checked(array, noise))
        contents = [dask.delayed(_BlockContent.of, pure=False)(block) for block in blocks]
        content = workers.run(tree(_BlockContent.merged, contents))
        categories = tuple(_categories(i, s, noise) for i, s in enumerate(content.labels))
        layout = LabelLayout.of(categories)
        filled = [i for i, length in enumerate(content.lengths) if length]
        names = dask.delayed(categories, pure=False, traverse=False)
        coded = [
            dask.delayed(_coded, pure=False)(blocks[i], names, noise, layout.dtype) for i in filled
        ]
        lengths = tuple(content.lengths[i] for i in filled)
        return cls(tuple(workers.keep(coded)), lengths, layout)


def tree(merge: Any, tasks: list[Any]) -> Any:
    """Return a task that merges the results of all tasks, a few at a time, in a fixed order."""
    import dask

    task = dask.delayed(merge, pure=False)
    while len(tasks) > 1:
        tasks = [task(tasks[i : i + _FAN_IN]) for i in range(0, len(tasks), _FAN_IN)]
    return tasks[0]


def _checked(array: Any, noise: str) -> Any:
    if array.ndim != 2 or np.isnan(array.shape[1]) or 0 in array.shape:
        raise InvalidEnsembleError(
            "Expected a Dask array of labels of shape (n_samples, n_partitions), got shape "
            f"{array.shape}."
        )
    if array.dtype.kind not in "iubf":
        raise InvalidEnsembleError(
            f"Expected a Dask array of numbers, got labels of type {array.dtype}. Number the "
            "labels of each partition first; NaN and -1 are missing."
        )
    if noise == "singletons":
        raise NotSupportedError(
            'noise="singletons" makes a cluster of every -1, and a Dask array may hold any number '
            'of them. Pass "missing" or "cluster", or the array in memory: X.compute().'
        )
    return array


def _row_blocks(array: Any) -> list[Any]:
    """Return delayed blocks of rows with all columns."""
    if array.numblocks[1] > 1:
        is_unknown = np.isnan(array.shape[0])
        array = array.rechunk({1: -1} if is_unknown else {0: "auto", 1: -1})
    return list(array.to_delayed().ravel())


@dataclass(frozen=True)
class _BlockContent:
    """Lengths of some blocks, and the distinct labels of every column in them."""

    lengths: list[int]
    labels: list[set[Any]]

    @classmethod
    def of(cls, block: NDArray[Any]) -> _BlockContent:
        columns = enumerate(np.asarray(block).T)
        return cls([len(block)], [set(distinct_labels(c, str(i))) for i, c in columns])

    @classmethod
    def merged(cls, parts: list[_BlockContent]) -> _BlockContent:
        return reduce(
            lambda a, b: cls(
                a.lengths + b.lengths,
                [x | y for x, y in zip(a.labels, b.labels, strict=True)],
            ),
            parts,
        )


def _categories(i: int, labels: set[Any], noise: str) -> NDArray[Any]:
    """Return the sorted labels of a column, equal to those that `encode` finds in all of it."""
    names = sorted(labels - ({-1} if noise == "missing" else set()))
    if not names:
        raise InvalidEnsembleError(
            f"Partition {i} labels no sample (all its entries are missing). Drop it."
        )
    return np.asarray(names)


def _coded(
    block: NDArray[Any], categories: tuple[NDArray[Any], ...], noise: str, dtype: Any
) -> NDArray[Any]:
    codes, _ = encode_with(list(np.asarray(block).T), categories, noise)
    return codes.astype(dtype)  # -1 becomes the largest value of the type: the missing code
