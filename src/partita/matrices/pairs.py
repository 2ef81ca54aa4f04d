"""Pairs of rows that at least one partition joins: the non-zero entries of co-association."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._threads import run_blocks
from partita.ensemble import Ensemble

__all__ = ["JoinedPairs", "PackedVotes", "joined_pairs"]

_ROWS = 32  # per block of comparisons
_PAIRS = 1 << 14  # per block of an iteration
_N_BYTES = 256
_BITS = np.unpackbits(np.arange(_N_BYTES, dtype=np.uint8)[:, None], axis=1).astype(np.float64)


@dataclass(frozen=True)
class PackedVotes:
    """What every partition says of pairs of rows, one bit per partition.

    Eight partitions share a byte. Sums over partitions are look-ups in tables of 256 entries, and
    sums over pairs are counts of 256 values: an eighth of the work that one vote at a time takes.

    Attributes
    ----------
    n_partitions : int
        Number of partitions, m.
    joins : array of shape (ceil(m / 8), n_pairs)
        Whether each partition joins a pair, the first of eight partitions in the highest bit.
    sees : array of shape (ceil(m / 8), n_pairs) or None
        Whether each partition labels both rows; None if no label is missing.
    """

    n_partitions: int
    joins: NDArray[np.uint8]
    sees: NDArray[np.uint8] | None

    def sums(
        self, strength: NDArray[np.float64], pairs: slice
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return the strength of partitions that join pairs, that of all, and if all join them.

        Sums over the partitions that label a pair are extrapolated to all partitions.
        """
        tables = self._tables(strength)
        joining = _look_up(tables, self.joins[:, pairs])
        if self.sees is None:
            total = np.broadcast_to(strength.sum(), joining.shape)
            return joining, total, self.unanimous[pairs]
        sees = self.sees[:, pairs]
        factor = self.n_partitions / _look_up(self._tables(np.ones(self.n_partitions)), sees)
        total = _look_up(tables, sees)
        return joining * factor, total * factor, self.unanimous[pairs]

    @cached_property
    def unanimous(self) -> NDArray[np.bool_]:
        """Whether all partitions that label the rows of a pair join it, for every pair."""
        everything = np.packbits(np.ones(self.n_partitions, np.bool_))[:, None]
        result = np.ones(self.joins.shape[1], np.bool_)
        for joins, sees in zip(
            self.joins, everything if self.sees is None else self.sees, strict=True
        ):
            result &= joins == sees
        return result

    def costs(
        self,
        parted: NDArray[np.float64],
        change: NDArray[np.float64],
        pairs: slice | NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return for every partition Σ parted over the pairs it labels + Σ change over joined ones.

        A pair costs `parted` if a partition parts it, and parted + change if it joins it.
        """
        out = self._sums_of_bits(self.joins[:, pairs], change)
        if self.sees is None:
            out += parted.sum()
        else:
            out += self._sums_of_bits(self.sees[:, pairs], parted)
        return out

    def _sums_of_bits(
        self, votes: NDArray[np.uint8], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return for every partition the sum of values over the pairs whose bit is set."""
        by_byte = np.stack([np.bincount(byte, values, _N_BYTES) for byte in votes])
        return (by_byte @ _BITS).reshape(-1)[: self.n_partitions]

    def _tables(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the values of the set bits, for all values of all bytes."""
        padded = np.zeros((len(self.joins), 8))
        padded.reshape(-1)[: self.n_partitions] = values
        return padded @ _BITS.T


def _look_up(tables: NDArray[np.float64], votes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the sum of the entries of all bytes, for every pair."""
    total = np.zeros(votes.shape[1])
    for table, byte in zip(tables, votes, strict=True):
        total += table[byte]
    return total


@dataclass(frozen=True)
class JoinedPairs:
    """Pairs of rows a < b.

    Attributes
    ----------
    start_of : array of shape (n_rows + 1,)
        The partners of row a are `partner[start_of[a]:start_of[a + 1]]`, ascending.
    partner : array of shape (n_pairs,)
        Row b of every pair.
    votes : PackedVotes
        Which partitions join and which label the rows of every pair.
    """

    start_of: NDArray[np.int64]
    partner: NDArray[np.int32]
    votes: PackedVotes

    @property
    def n_rows(self) -> int:
        return len(self.start_of) - 1

    def __len__(self) -> int:
        return len(self.partner)

    def blocks(self) -> list[slice]:
        """Return slices of pairs, whose arrays stay in the cache."""
        return [slice(a, min(a + _PAIRS, len(self))) for a in range(0, len(self), _PAIRS)]

    def rows(self, pairs: slice) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the rows a and b of pairs."""
        first, last = np.searchsorted(self.start_of, [pairs.start, pairs.stop - 1], side="right")
        bounds = np.clip(self.start_of[first - 1 : last + 1], pairs.start, pairs.stop)
        return np.repeat(np.arange(first - 1, last), np.diff(bounds)), self.partner[pairs]

    def upper(self, values: NDArray[np.float64]) -> sp.csr_matrix:
        """Return one value per pair as a sparse upper triangle, which shares the memory."""
        shape = (self.n_rows, self.n_rows)
        return sp.csr_matrix((values, self.partner, self.start_of), shape=shape)

    def total(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
        """Return Σ r_a r_b value over ordered pairs, that is, over both triangles."""
        return 2.0 * float(weights @ (self.upper(values) @ weights))

    def dense(
        self, values: NDArray[np.float64], *, diagonal: float, elsewhere: float
    ) -> NDArray[np.float64]:
        """Return the symmetric full matrix, with `elsewhere` for all other pairs."""
        n = self.n_rows
        require_memory(8 * n * n, f"The {n} x {n} matrix")
        matrix = np.full((n, n), elsewhere)
        for a in range(n):
            pairs = slice(self.start_of[a], self.start_of[a + 1])
            matrix[a, self.partner[pairs]] = values[pairs]
            matrix[self.partner[pairs], a] = values[pairs]
        np.fill_diagonal(matrix, diagonal)
        return matrix


def joined_pairs(ensemble: Ensemble) -> JoinedPairs:
    """Return the pairs of rows with co-association above 0, and what every partition says of them.

    Cost O(n'² m) comparisons, 4 + m / 8 bytes per pair, and m / 8 more if labels are missing.
    """
    codes, n = ensemble.codes, ensemble.n_rows
    observed = ensemble.observed if ensemble.n_missing else None
    by_start: dict[int, _Block] = {}

    def fill(start: int, stop: int) -> None:
        by_start[start] = _list_block(codes, observed, start, stop)

    run_blocks(fill, n, _ROWS)
    blocks = [by_start[start] for start in sorted(by_start)]
    counts = np.concatenate([block.counts for block in blocks])
    return JoinedPairs(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([block.partner for block in blocks]),
        PackedVotes(
            codes.shape[1],
            np.concatenate([block.joins for block in blocks], axis=1),
            None if observed is None else np.concatenate([block.sees for block in blocks], axis=1),
        ),
    )


class _Block(NamedTuple):
    """The pairs a < b with a in some rows: partners per row, rows b, and packed votes."""

    counts: NDArray[np.int64]
    partner: NDArray[np.int32]
    joins: NDArray[np.uint8]
    sees: NDArray[np.uint8]


def _list_block(
    codes: NDArray[Any], observed: NDArray[np.bool_] | None, start: int, stop: int
) -> _Block:
    later = codes[start:]
    equal = codes[start:stop, None] == later
    if observed is not None:
        sees = observed[start:stop, None] & observed[start:]
        equal &= sees
    joins = np.packbits(equal, axis=2)
    is_joined = np.triu(joins.any(axis=2), 1)
    votes = np.ascontiguousarray(joins[is_joined].T)
    return _Block(
        is_joined.sum(axis=1),
        (np.nonzero(is_joined)[1] + start).astype(np.int32),
        votes,
        votes if observed is None else np.ascontiguousarray(np.packbits(sees, axis=2)[is_joined].T),
    )
