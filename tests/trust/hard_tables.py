"""Tables of labels on which programs break: ties, singletons, crossings, copies, gaps."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from strategies import label_tables, symmetric_tables

__all__ = ["CONTAINERS", "HARD_TABLES", "LARGE_TABLES", "hard_tables", "wide_weights"]


def crossed(first: int, second: int) -> np.ndarray:
    """Return two partitions of which every pair of clusters shares exactly one sample."""
    return np.array([(i, j) for i in range(first) for j in range(second)])


def with_gaps(n: int, m: int, gaps: tuple[slice, slice]) -> np.ndarray:
    """Return a table of random labels with a block of missing labels."""
    table = np.random.default_rng(n * m).integers(0, 3, (n, m))
    table[gaps] = -1
    return table


def diagonal(n: int) -> np.ndarray:
    """Return partitions that label one sample each."""
    table = np.full((n, n), -1)
    np.fill_diagonal(table, 0)
    return table


HARD_TABLES = {
    "one sample": np.zeros((1, 1), int),
    "one sample, three partitions": np.zeros((1, 3), int),
    "two samples apart": np.array([[0], [1]]),
    "two equal samples": np.array([[0, 1], [0, 1]]),
    "constant columns": np.zeros((6, 3), int),
    "one constant column": np.c_[np.zeros(8, int), np.arange(8) % 2],
    "singletons": np.arange(8)[:, None],
    "an id column": np.c_[np.arange(16), np.arange(16) % 2],
    "copies of one partition": np.tile((np.arange(9) % 3)[:, None], (1, 4)),
    "crossed 2 x 3": crossed(2, 3),
    "crossed 4 x 4": crossed(4, 4),
    "one giant cluster": np.c_[np.r_[np.zeros(15, int), 1:6], np.r_[np.zeros(14, int), 1:7]],
    "no common labels": np.array([[0, -1], [1, -1], [-1, 0], [-1, 1], [-1, 1]]),
    "a block without labels": with_gaps(12, 4, np.s_[:5, :2]),
    "one label per partition": diagonal(5),
    "partitions with one label": np.c_[np.zeros(6, int), np.r_[0, np.full(5, -1)]],
    "unanimous": np.repeat(np.arange(3), [1, 4, 7])[:, None].repeat(5, axis=1),
}
# The codes change their type at 256 and 65536 clusters; crossed partitions and identifiers have
# eigenvalues that repeat many times.
LARGE_TABLES = {
    "an id column": np.c_[np.arange(96), np.arange(96) % 2],
    "crossed 2 x 48": crossed(2, 48),
    "crossed 3 x 60": crossed(3, 60),
    "crossed 8 x 40": crossed(8, 40),
    **{
        f"{k} clusters": np.c_[np.arange(k), np.arange(k) % 3, np.arange(k) // 5]
        for k in (255, 256, 257)
    },
}


def hard_tables() -> st.SearchStrategy[np.ndarray]:
    """Draw tables with few samples; -1 is a missing label."""
    return st.one_of(
        st.sampled_from(list(HARD_TABLES.values())),
        label_tables(max_samples=10, max_clusters=5),
        symmetric_tables(),
    )


def wide_weights(n: int) -> st.SearchStrategy[list[float] | None]:
    """Draw None or weights over the 24 orders of magnitude that are accepted."""
    exponents = st.lists(st.integers(-12, 12), min_size=n, max_size=n)
    return st.none() | exponents.map(lambda powers: [10.0**p for p in powers])


def _read_only(table: np.ndarray) -> np.ndarray:
    copy = table.copy()
    copy.flags.writeable = False
    return copy


# Containers and types of the same labels. A missing label is -1 in all of them.
CONTAINERS = {
    "read-only": _read_only,
    "big-endian": lambda table: table.astype(">i8"),
    "16-bit big-endian": lambda table: table.astype(">i2"),
    "fortran order": np.asfortranarray,
    "every second column": lambda table: np.repeat(table, 2, axis=1)[:, ::2],
    "reversed twice": lambda table: table[::-1, ::-1].copy()[::-1, ::-1],
    "floats": lambda table: table.astype(float),
    "NaN": lambda table: np.where(table < 0, np.nan, table),
    "float32": lambda table: table.astype(np.float32),
    "masked": lambda table: np.ma.masked_array(np.abs(table), table < 0),
    "text": lambda table: table.astype(str),
    "bytes": lambda table: table.astype("S"),
    "unicode": lambda table: np.where(table < 0, None, np.char.add("簇é\u202e", table.astype(str))),
    "objects": lambda table: table.astype(object),
    "mixed": lambda table: np.where(
        table < 0, None, np.where(table % 2 == 0, table, table.astype(str).astype(object))
    ),
    "None": lambda table: np.where(table < 0, None, table),
    "list of vectors": lambda table: [column.tolist() for column in table.T],
}
