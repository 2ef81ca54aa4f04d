"""Matrices of single partitions, or of groups of them, computed when they are read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble, SoftEnsemble

__all__ = [
    "GroupCoassociations",
    "PartitionTransitions",
    "SoftGroupCoassociations",
    "SoftTransitions",
]

Matrix = NDArray[np.float64]


class _Views(Sequence[Matrix]):
    """A sequence of matrices over the rows of an ensemble, none of which is stored.

    Attributes
    ----------
    columns : list of arrays
        Partitions that each matrix describes.
    """

    columns: Sequence[NDArray[np.intp]]

    def __len__(self) -> int:
        return len(self.columns)

    @overload
    def __getitem__(self, index: int) -> Matrix: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Matrix]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._matrix(columns) for columns in self.columns[index]]
        return self._matrix(self.columns[index])

    @abstractmethod
    def _matrix(self, columns: NDArray[np.intp]) -> Matrix:
        """Return the matrix of some partitions."""


class _PartitionViews(_Views):
    def __init__(self, ensemble: Ensemble, columns: Sequence[NDArray[np.intp]]) -> None:
        self.ensemble = ensemble
        self.columns = columns


class _SoftViews(_Views):
    def __init__(self, soft: SoftEnsemble, columns: Sequence[NDArray[np.intp]]) -> None:
        self.soft = soft
        self.columns = columns

    def _memberships(self, partition: int) -> Matrix:
        start, stop = self.soft.offsets[partition : partition + 2]
        return self.soft.memberships[:, start:stop]


class PartitionTransitions(_PartitionViews):
    """Transition matrices of all partitions.

    From a sample of cluster c the walk goes to any sample of c with probability 1/|c|, where |c| is
    the weight of the labeled samples. Pairs that a partition does not label are NaN.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        super().__init__(ensemble, list(np.arange(ensemble.n_partitions)[:, None]))

    def _matrix(self, columns: NDArray[np.intp]) -> Matrix:
        labels, is_labeled = (
            self.ensemble.codes[:, columns[0]],
            self.ensemble.observed[:, columns[0]],
        )
        sizes = np.bincount(labels[is_labeled], self.ensemble.weights[is_labeled])
        step = np.full(len(labels), np.nan)
        step[is_labeled] = 1.0 / sizes[labels[is_labeled]]
        matrix = np.where(labels[:, None] == labels, step[:, None], 0.0)
        if not is_labeled.all():
            matrix[~is_labeled] = np.nan
            matrix[:, ~is_labeled] = np.nan
        return matrix


class GroupCoassociations(_PartitionViews):
    """Co-association matrices of groups of partitions, in the order of the sorted groups.

    Pairs that no partition of a group labels are NaN. `groups` has a number per column of
    `ensemble.codes`.
    """

    def __init__(self, ensemble: Ensemble, groups: NDArray[Any]) -> None:
        super().__init__(ensemble, [np.flatnonzero(groups == group) for group in np.unique(groups)])

    def _matrix(self, columns: NDArray[np.intp]) -> Matrix:
        n = self.ensemble.n_rows
        matrix = np.zeros((n, n))
        for labels, is_labeled in zip(
            self.ensemble.codes.T[columns], self.ensemble.observed.T[columns], strict=True
        ):
            matrix += (labels[:, None] == labels) & is_labeled
        seen = self.ensemble.observed[:, columns].astype(np.float64)
        if seen.all():
            matrix /= len(columns)
            return matrix
        count = seen @ seen.T
        count[count == 0] = np.nan  # 0 / NaN
        matrix /= count
        return matrix


class SoftTransitions(_SoftViews):
    """Transition matrices of all soft partitions.

    From sample a the walk chooses cluster c with probability p_c(a), and then a sample b of c with
    probability p_c(b)/|c|. Pairs without memberships are NaN.
    """

    def __init__(self, soft: SoftEnsemble) -> None:
        super().__init__(soft, list(np.arange(soft.n_partitions)[:, None]))

    def _matrix(self, columns: NDArray[np.intp]) -> Matrix:
        P = self._memberships(int(columns[0]))
        sizes = self.soft.weights @ P
        matrix = (P / np.where(sizes > 0, sizes, 1.0)) @ P.T
        is_missing = ~self.soft.observed[:, columns[0]]
        matrix[is_missing] = np.nan
        matrix[:, is_missing] = np.nan
        return matrix


class SoftGroupCoassociations(_SoftViews):
    """Expected co-association matrices of groups of soft partitions; `groups` as above."""

    def __init__(self, soft: SoftEnsemble, groups: NDArray[Any]) -> None:
        super().__init__(soft, [np.flatnonzero(groups == group) for group in np.unique(groups)])

    def _matrix(self, columns: NDArray[np.intp]) -> Matrix:
        P = np.hstack([self._memberships(int(column)) for column in columns])
        matrix = P @ P.T
        seen = self.soft.observed[:, columns].astype(np.float64)
        count = seen @ seen.T
        count[count == 0] = np.nan  # 0 / NaN
        matrix /= count
        return matrix
