"""Records that describe a consensus method, its problem and its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble

__all__ = ["MethodInfo", "RowsSolution", "Size", "Solution"]


@dataclass(frozen=True)
class Size:
    """The numbers on which the cost of a method depends.

    Attributes
    ----------
    n_rows : int
        Distinct rows n'.
    n_partitions : int
        Partitions m.
    n_base_clusters : int
        Clusters of all partitions together, L.
    n_clusters : int
        Clusters of the consensus, K.
    """

    n_rows: int
    n_partitions: int
    n_base_clusters: int
    n_clusters: int

    @classmethod
    def of(cls, core: Ensemble, n_clusters: int | None) -> Size:
        """Return the size of a compressed ensemble; K counts as 1 if it is None."""
        return cls(core.n_rows, core.n_partitions, core.n_base_clusters, n_clusters or 1)


@dataclass(frozen=True)
class MethodInfo:
    """Description of a method, read by the registry, the command line, the docs and the tests.

    Attributes
    ----------
    key : str
        Short name in lower case, as in `get_method(key)`.
    name : str
        Full name.
    family : str
        "linkage", "graph", "k-means", "learned matrix", ...
    cite : str
        Key of the entry in the bibliography.
    missing : {"native", "pairwise", "disagree", "refused"}
        Treatment of missing labels: part of the model of the method; averaged over the partitions
        that label both samples; counted as disagreement; or refused with an error.
    deterministic : bool
        Whether the labels depend on no random number.
    time, memory : str
        Cost in terms of n' (distinct rows), m (partitions), L (base clusters) and K.
    bytes_needed : callable
        Takes a `Size` and returns the bytes of the dense arrays.
    weighted : bool, default=True
        Whether a row of weight r counts as r samples. False if the method of the paper counts
        samples with equal labels as one.
    balanced : bool, default=False
        Whether the method makes clusters of about equal size by definition.
    out_of_core : bool, default=False
        Whether the method can fit rows that are not all in memory. It then defines `_solve_rows`.
    soft : bool, default=False
        Whether the method takes degrees of membership. It then defines `_solve_soft`.
    cited_part : str, default=""
        What a method of partita's own takes from `cite`, such as its cut. By default `cite` defines
        the whole method.
    """

    key: str
    name: str
    family: str
    cite: str
    missing: Literal["native", "pairwise", "disagree", "refused"]
    deterministic: bool
    time: str
    memory: str
    bytes_needed: Callable[[Size], int] = field(repr=False)
    weighted: bool = True
    balanced: bool = False
    out_of_core: bool = False
    soft: bool = False
    cited_part: str = ""


@dataclass(frozen=True)
class Solution:
    """The result of `_solve`.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        Cluster of every row, integers from 0 on.
    objective : float, default=nan
        Value of the objective function; becomes `objective_`.
    n_iter : int, default=1
        Number of iterations; becomes `n_iter_`.
    converged : bool, default=True
        Whether the iteration reached its tolerance; becomes `converged_`.
    history : array, optional
        One entry per iteration; becomes `history_`.
    matrix : array of shape (n_rows, n_rows), optional
        Learned matrix of a `LearnedMatrixConsensus`.
    diagonal : array of shape (n_rows,), optional
        Value to add to the diagonal of that matrix when it is expanded to samples.
    learned : mapping, optional
        Further fitted attributes by name.
    """

    labels: NDArray[np.int64]
    objective: float = float("nan")
    n_iter: int = 1
    converged: bool = True
    history: NDArray[np.float64] | None = None
    matrix: NDArray[np.float64] | None = None
    diagonal: NDArray[np.float64] | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RowsSolution:
    """The result of `_solve_rows`.

    Attributes
    ----------
    groups : callable
        Returns an iterator over the chunks of rows. Each item holds the cluster of every row of
        the chunk, -1 for a row without any label.
    objective, n_iter, converged, history, learned
        As in `Solution`.
    """

    groups: Callable[[], Iterator[NDArray[np.int32]]]
    objective: float = float("nan")
    n_iter: int = 1
    converged: bool = True
    history: NDArray[np.float64] | None = None
    learned: Mapping[str, Any] = field(default_factory=dict)
