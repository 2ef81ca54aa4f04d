"""Labels in a Dask array: their categories found block by block, then coded where they lie."""

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

_FAN_IN = 4


@dataclass(frozen=True)
class CodedBlocks:
    """Blocks of rows, coded as in an `Ensemble` and kept on the workers.

    Attributes
    ----------
    blocks : delayed arrays of shape (rows, n_partitions)
    lengths : rows of each
    layout : LabelLayout
    """

    blocks: tuple[Any, ...]
    lengths: tuple[int, ...]
    layout: LabelLayout

    @classmethod
    def of(cls, array: Any, noise: str, workers: Workers) -> CodedBlocks:
        """One pass for the labels there are, and one that codes the blocks by them."""
        import dask

        blocks = _row_blocks(_checked(array, noise))
        found = [dask.delayed(_Found.of, pure=False)(block) for block in blocks]
        all_found = workers.run(tree(_Found.merged, found))
        categories = tuple(_categories(i, s, noise) for i, s in enumerate(all_found.labels))
        layout = LabelLayout.of(categories)
        filled = [i for i, length in enumerate(all_found.lengths) if length]
        names = dask.delayed(categories, pure=False, traverse=False)
        coded = [
            dask.delayed(_coded, pure=False)(blocks[i], names, noise, layout.dtype) for i in filled
        ]
        lengths = tuple(all_found.lengths[i] for i in filled)
        return cls(tuple(workers.keep(coded)), lengths, layout)


def tree(merge: Any, tasks: list[Any]) -> Any:
    """One task that merges the results of all, few at a time and always in the same order."""
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
    """Delayed blocks that hold all columns each."""
    if array.numblocks[1] > 1:
        unknown = np.isnan(array.shape[0])
        array = array.rechunk({1: -1} if unknown else {0: "auto", 1: -1})
    return list(array.to_delayed().ravel())


@dataclass(frozen=True)
class _Found:
    """Numbers of rows of some blocks, and the labels of every column in them."""

    lengths: list[int]
    labels: list[set[Any]]

    @classmethod
    def of(cls, block: NDArray[Any]) -> _Found:
        columns = enumerate(np.asarray(block).T)
        return cls([len(block)], [set(distinct_labels(c, str(i))) for i, c in columns])

    @classmethod
    def merged(cls, parts: list[_Found]) -> _Found:
        return reduce(
            lambda a, b: cls(
                a.lengths + b.lengths,
                [x | y for x, y in zip(a.labels, b.labels, strict=True)],
            ),
            parts,
        )


def _categories(i: int, labels: set[Any], noise: str) -> NDArray[Any]:
    """The sorted labels of a column, as `encode` would find them in all of it."""
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
    return codes.astype(dtype)  # -1 becomes the largest value of its type, that is, "missing"
