"""`SoftEnsemble`: partitions with degrees of membership."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import check_weights
from partita.ensemble._ensemble import Ensemble
from partita.ensemble.layout import read_only
from partita.exceptions import InvalidEnsembleError

__all__ = ["SoftEnsemble", "as_soft"]

_TOL = 1e-6  # largest difference between 1 and the sum of a row of memberships


@dataclass(frozen=True, eq=False, repr=False)
class SoftEnsemble:
    """Soft partitions of the same samples: degrees of membership instead of labels.

    Make one with `from_memberships`. Methods with `info.soft` take it where others take labels:
    their equations use the table of memberships in place of the 0/1 table of base clusters, so that
    two samples share a cluster with the probability Σ_k p_k q_k.

    Attributes
    ----------
    memberships : array of shape (n_rows, n_base_clusters)
        Degrees of membership, columns grouped by partition. The columns of a partition have sum 1,
        or 0 for a row without memberships in it.
    offsets : array of shape (n_partitions + 1,)
        First column of every partition.
    weights : array of shape (n_rows,)
        Number (or weight) of the samples that a row stands for.
    inverse : array of shape (n_samples,) or None
        Row of each sample once compressed. None: a row is a sample.
    """

    memberships: NDArray[np.float64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    inverse: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        for name in ("memberships", "offsets", "weights", "inverse"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @classmethod
    def from_memberships(cls, partitions: Any, *, weights: Any = None) -> SoftEnsemble:
        """Read a list of membership matrices.

        Parameters
        ----------
        partitions : list of arrays of shape (n_samples, K_i)
            Degrees of membership, such as those of `predict_proba`: not negative, every row with
            sum 1. A row of NaN is missing; every sample needs memberships in one partition at
            least. Columns without any membership are left out.
        weights : array of shape (n_samples,), optional
            Positive weights of the samples. By default every sample has weight 1.

        Examples
        --------
        >>> from partita.ensemble import SoftEnsemble
        >>> SoftEnsemble.from_memberships([[[0.9, 0.1], [0.2, 0.8]], [[1.0], [1.0]]])
        SoftEnsemble(2 samples, 2 soft partitions, 3 base clusters)
        """
        if not isinstance(partitions, list | tuple) or not partitions:
            raise InvalidEnsembleError(
                "Expected a list of membership matrices of shape (n_samples, K_i), got "
                f"{type(partitions).__name__}."
            )
        tables = [_used_columns(_check_table(table, i)) for i, table in enumerate(partitions)]
        lengths = [len(table) for table in tables]
        if len(set(lengths)) > 1:
            raise InvalidEnsembleError(
                f"Expected membership matrices of the same samples, got {lengths} rows."
            )
        memberships = np.hstack(tables)
        without = np.flatnonzero(~memberships.any(axis=1))
        if len(without):
            raise InvalidEnsembleError(
                f"{len(without)} sample(s) have no memberships in any partition (first: row "
                f"{without[0]}). Drop them."
            )
        return cls(
            memberships,
            np.concatenate([[0], np.cumsum([table.shape[1] for table in tables])]),
            check_weights(weights, len(memberships), "weights").copy(),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows of `memberships`."""
        return len(self.memberships)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.n_rows if self.inverse is None else len(self.inverse)

    @property
    def n_partitions(self) -> int:
        """Number of partitions."""
        return len(self.offsets) - 1

    @property
    def n_base_clusters(self) -> int:
        """Number of base clusters of all partitions together."""
        return int(self.offsets[-1])

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """Which rows have memberships in each partition, shape (n_rows, n_partitions)."""
        blocks = [self.memberships[:, start:stop].any(axis=1) for start, stop in self._bounds]
        return np.column_stack(blocks)

    @property
    def n_missing(self) -> int:
        """Number of rows without memberships, summed over the partitions."""
        return int(np.count_nonzero(~self.observed))

    @property
    def is_hard(self) -> bool:
        """Whether every membership is 0 or 1, so that labels say the same."""
        return bool(np.all((self.memberships == 0) | (self.memberships == 1)))

    @property
    def _bounds(self) -> list[tuple[int, int]]:
        return [(int(start), int(stop)) for start, stop in pairwise(self.offsets)]

    def compress(self) -> SoftEnsemble:
        """Reduce to distinct rows with weights, sorted by their memberships."""
        if self.inverse is not None:
            return self
        rows, inverse = np.unique(self.memberships, axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        weights = np.zeros(len(rows))
        np.add.at(weights, inverse, self.weights)
        return SoftEnsemble(rows, self.offsets, weights, inverse)

    def expand(self, values: NDArray[Any], fill_value: Any = -1) -> NDArray[Any]:
        """Expand values per row to values per sample.

        Parameters
        ----------
        values : array of shape (n_rows, ...)
            One value per row.
        fill_value : ignored, default=-1
            Present for compatibility with `Ensemble`: every sample has a row.
        """
        return values if self.inverse is None else values[self.inverse]

    def to_ensemble(self) -> Ensemble:
        """Return the labels of the largest memberships, the first of equal ones."""
        blocks = [self.memberships[:, start:stop].argmax(axis=1) for start, stop in self._bounds]
        codes = np.where(self.observed, np.column_stack(blocks), -1)
        if self.inverse is None:
            return Ensemble.from_codes(codes, weights=self.weights)
        weights = (self.weights / np.bincount(self.inverse))[self.inverse]
        return Ensemble.from_codes(codes[self.inverse], weights=weights)

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        return (
            f"SoftEnsemble({self.n_samples} samples, {self.n_partitions} soft partitions, "
            f"{self.n_base_clusters} base clusters)"
        )


def as_soft(partitions: Any) -> SoftEnsemble | None:
    """Return soft partitions, or None if the input holds labels.

    Soft partitions are a `SoftEnsemble`, or a list of arrays with two dimensions.
    """
    if isinstance(partitions, SoftEnsemble):
        return partitions
    is_list = isinstance(partitions, list | tuple) and len(partitions) > 0
    if is_list and all(getattr(table, "ndim", 1) == 2 for table in partitions):
        return SoftEnsemble.from_memberships(partitions)
    return None


def _used_columns(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns that have memberships; all of them if none has."""
    is_used = table.any(axis=0)
    return table if is_used.all() or not is_used.any() else table[:, is_used]


def _check_table(table: Any, position: int) -> NDArray[np.float64]:
    """Return a copy of a membership matrix with zeros in place of rows of NaN."""
    try:
        array = np.array(table, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidEnsembleError(
            f"Expected numbers in membership matrix {position}, got {type(table).__name__}: {error}"
        ) from error
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidEnsembleError(
            f"Expected membership matrices of shape (n_samples, K_i), got {array.shape} for matrix "
            f"{position}."
        )
    is_missing = np.isnan(array).all(axis=1)
    array[is_missing] = 0.0
    sums = array.sum(axis=1)
    is_wrong = ~is_missing & ~((array >= 0).all(axis=1) & (np.abs(sums - 1) <= _TOL))
    if is_wrong.any():
        row = int(np.flatnonzero(is_wrong)[0])
        raise InvalidEnsembleError(
            f"Expected memberships of 0 or more with sum 1, or a row of NaN, got "
            f"{array[row].tolist()} in row {row} of matrix {position}. A table of labels is "
            "passed as one array, or as a list of label vectors."
        )
    return array
