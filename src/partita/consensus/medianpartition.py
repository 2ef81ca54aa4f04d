"""MedianPartition: the clustering with the least expected loss; the number of clusters is free."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from partita._memory import require_memory
from partita._warn import warn_not_converged, warn_user
from partita.config import report_progress
from partita.consensus.base import BaseConsensus, MethodInfo, Size, Solution
from partita.consensus.constraints import (
    MAX_ITER,
    N_CLUSTERS,
    N_INIT,
    POSITIVE_INT,
    RANDOM_STATE,
    Interval,
    StrOptions,
)
from partita.ensemble import Ensemble
from partita.solvers.partition_search import PartitionSearch

__all__ = ["MedianPartition"]

_BASE_PARTITIONS = 4  # the best partitions of the ensemble from which the search starts
_DIGITS = 12  # of the loss; smaller differences are rounding


class MedianPartition(BaseConsensus):
    """Median partition by search algorithms and loss functions.

    The partitions are a sample of possible clusterings. The median partition minimizes the mean
    loss against them,

        min_ρ Σ_i N_i L(π_i, ρ) / Σ_i N_i,

    over all partitions ρ with any number of clusters, where N_i samples have a label in π_i. With
    sizes n_c, n_k and n_ck of base clusters, consensus clusters and their intersections, in N
    samples,

    - "vi": the variation of information, f(x) = x log2 x and
      L = [ a Σ_c f(n_c) + (2 - a) Σ_k f(n_k) - 2 Σ_ck f(n_ck) ] / N;
    - "binder": the same with f(x) = x² and N², the share of pairs of samples on which π_i and ρ
      disagree (a = 1);
    - "omari": one minus the adjusted Rand index.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Number of clusters. None leaves it to the loss. A number restricts the search to partitions
        with exactly so many clusters.
    loss : {"vi", "binder", "omari"}, default="vi"
        The loss. "binder" tends to many small clusters, "vi" to few.
    a : float, default=1.0
        Cost of separating a pair that a partition joins, between 0 and 2; joining a pair that it
        separates costs 2 - a. A larger value gives fewer clusters. For "vi" and "binder".
    max_clusters : int or None, default=None
        Largest number of clusters of the search if `n_clusters` is None. None takes the largest
        number of clusters in a partition.
    n_init : int, default=8
        Number of restarts that allocate the samples one by one in random order. The search also
        starts from the four partitions with the least expected loss and from one cluster. The
        least loss wins.
    max_iter : int, default=100
        Largest number of sweeps of a restart.
    random_state : int, Generator, RandomState or None, default=None
        Random order of the samples. An int gives the same result in every call.

    Attributes
    ----------
    objective_ : float
        The expected loss; `partita.metrics.expected_loss` of the labels.
    history_ : array
        The expected loss at the start and after every sweep of the best restart; it never
        increases.

    Notes
    -----
    A sweep moves every distinct row to the cluster, existing or new, with the least loss. When no
    row moves, the rows of each cluster in turn are allocated anew; the result stays if it is
    better, and the sweeps continue. The search finds a local minimum, so restarts matter.

    Cost O(n' m K) per sweep for n' distinct rows, O(n' m + L K) memory. Samples with equal labels
    stay together.

    The variation of information of noisy partitions may be least for one cluster, which is then
    the median: on `make_partitions(500, 20, 5, noise=0.3)` one cluster has 2.24 bits and the
    planted clusters 2.41. A warning says so. There a = 0.8 and "omari" give the planted clusters;
    n_clusters=5 gives four small clusters and the rest.

    Missing labels: the loss against a partition is that over the samples it labels, and partitions
    count by the number of these samples.

    Deviations from the paper: the order of rows is fixed within a restart; starts from partitions
    of the ensemble; a cluster is dissolved only after the sweeps have converged; `n_clusters`. For
    "omari" the lightest sample counts as one if its weight is less.

    References
    ----------
    D. B. Dahl, D. J. Johnson, P. Müller. Search algorithms and loss functions for Bayesian
    clustering. Journal of Computational and Graphical Statistics 31(4), 2022.
    https://doi.org/10.1080/10618600.2022.2069779

    S. Wade, Z. Ghahramani. Bayesian cluster analysis: point estimation and credible balls. Bayesian
    Analysis 13(2), 2018. https://doi.org/10.1214/17-BA1073

    R. Rastelli, N. Friel. Optimal Bayesian estimators for latent variable cluster models.
    Statistics and Computing 28, 2018. https://doi.org/10.1007/s11222-017-9786-y

    Examples
    --------
    >>> from partita import MedianPartition
    >>> partitions = [[0, 0, 1, 1, 2], [0, 0, 1, 1, 2], [0, 0, 0, 1, 2]]
    >>> MedianPartition(random_state=0).fit_predict(partitions)
    array([0, 0, 1, 1, 2])
    """

    info: ClassVar[MethodInfo] = MethodInfo(
        key="medianpartition",
        name="Median partition",
        family="median",
        cite="dahl2022",
        missing="native",
        deterministic=False,
        time="n' m K per sweep",
        memory="n' m + L K",
        bytes_needed=lambda s: _bytes(
            s, max(s.n_clusters, -(-s.n_base_clusters // s.n_partitions))
        ),
    )
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [*N_CLUSTERS, None],
        "loss": [StrOptions({"vi", "binder", "omari"})],
        "a": [Interval(Real, 0, 2, closed="neither")],
        "max_clusters": [*POSITIVE_INT, None],
        "n_init": N_INIT,
        "max_iter": MAX_ITER,
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        loss: str = "vi",
        a: float = 1.0,
        max_clusters: int | None = None,
        n_init: int = 8,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.loss = loss
        self.a = a
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(self, ensemble: Ensemble, rng: np.random.Generator) -> Solution:
        n, largest = ensemble.n_rows, int(ensemble.n_clusters.max())
        max_groups = min(self.n_clusters or self.max_clusters or largest, n)
        size = Size.of(ensemble, max_groups)
        require_memory(_bytes(size, max_groups), f"The counts of {max_groups} clusters")
        search = PartitionSearch(
            ensemble, self.loss, self.a, max_groups, exact=self.n_clusters is not None
        )
        starts = [*_partitions(ensemble, search), np.zeros(n, np.int64)]
        starts += [np.full(n, -1)] * self.n_init
        best_value, best_labels, best_history, converged = np.inf, starts[0], [np.inf], False
        for t, start in enumerate(starts):
            report_progress("MedianPartition", t, len(starts))
            history, has_converged = search.descend(start, rng.permutation(n), self.max_iter)
            value = round(search.value, _DIGITS)
            if value < best_value:
                best_value, best_labels = value, search.groups.copy()
                best_history, converged = history, has_converged
        report_progress("MedianPartition", len(starts), len(starts))
        if not converged:
            warn_not_converged("MedianPartition", self.max_iter, "of sweeps. Raise max_iter.")
        if self.n_clusters is None and largest > 1 and not best_labels.any():
            warn_user(
                f"One cluster has the least expected loss (loss={self.loss!r}, a={self.a:g}): the "
                "partitions disagree too much. Lower a or try another loss."
            )
        return Solution(
            np.unique(best_labels, return_inverse=True)[1].reshape(-1),
            objective=best_history[-1],
            n_iter=len(best_history) - 1,
            converged=converged,
            history=np.asarray(best_history),
        )


def _partitions(ensemble: Ensemble, search: PartitionSearch) -> list[NDArray[np.int64]]:
    """Return the partitions with the least expected loss, as groups of rows.

    Of a partition with too many clusters the largest are kept. Rows of the others, and rows without
    a label, are in no group: the search allocates them.
    """
    starts = []
    for i, first in enumerate(ensemble.offsets[:-1]):
        labels = np.where(ensemble.observed[:, i], ensemble.codes[:, i].astype(np.int64), -1)
        sizes = search.sizes.clusters[first : ensemble.offsets[i + 1]]
        number = np.full(len(sizes) + 1, -1)  # the last entry is for -1
        largest = np.argsort(-sizes, kind="stable")[: search.max_groups]
        number[largest] = np.arange(len(largest))
        search.set_groups(number[labels])
        starts.append((round(search.value, _DIGITS), i, number[labels]))
    return [groups for *_, groups in sorted(starts, key=lambda s: s[:2])[:_BASE_PARTITIONS]]


def _bytes(size: Size, n_groups: int) -> int:
    """Return the bytes of labels, of the counts, and of one block of rows."""
    rows = 40 * size.n_rows * size.n_partitions
    counts = 16 * (size.n_base_clusters + size.n_partitions) * n_groups
    return rows + counts + 48 * min(size.n_rows * size.n_partitions * n_groups, 1 << 17)
