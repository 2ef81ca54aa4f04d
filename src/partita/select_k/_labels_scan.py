"""`scan_k`: the number of clusters of base partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from partita._input.checks import random_generator
from partita.ensemble import as_ensemble
from partita.generators.generation import warn_if_generated
from partita.select_k._choice import scan_numbers
from partita.select_k._engine import Scan, check_n_partitions
from partita.select_k._null import copies, permuted
from partita.select_k._request import Request, checked_range
from partita.select_k._result import KScan
from partita.select_k._steps import Pilot
from partita.structure import hidden_groups

__all__ = ["scan_k"]


def scan_k(
    partitions: Any,
    k_range: Iterable[int] | None = None,
    *,
    method: Any = None,
    n_resamples: int = 10,
    n_null: int = 10,
    early_stop: bool = True,
    random_state: Any = None,
) -> KScan:
    """Scan the number of clusters of base partitions.

    The null ensembles have the same partitions with their labels in random order, each partition
    in its own: cluster sizes stay, the agreement is that of chance. Up to a quarter of the
    partitions that are nearly copies of each other are shuffled alike, because copies of noise are
    no structure; if more of them agree, this is common structure. This null is too weak for
    partitions that one algorithm made from features: it cuts data without clusters into similar
    pieces every time. Use `scan_k_features` for these. A warning says so if the names of the
    partitions show that `partita.generate` made them.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions, at least four.
    k_range : iterable of int, optional
        Numbers of clusters to try, each at least 2 and less than the number of samples. By default
        2 to 10, or 2 to 30 if the suggestion is 10, no more than the samples allow.
    method : str, class or estimator, optional
        Consensus method: its key, class or estimator; `n_clusters` is set. `CCGP()` by default.
    n_resamples : int, default=10
        Number of pairs of disjoint halves of the partitions, at least 2.
    n_null : int, default=10
        Number of null ensembles, at least 2.
    early_stop : bool, default=True
        Whether to compute fewer null ensembles (`KScan.n_null`, at least 4) if more would not
        change the answer. Noise is not taken for structure more often than without. False computes
        all, for smoother curves of the null.
    random_state : int, Generator, RandomState or None, default=None
        Seed of halves, null ensembles, sampled pairs and of a method that has none.

    Returns
    -------
    KScan
        Cost: 1 + 2 n_resamples + 5 n_null reductions, and as many trees or embeddings for all K
        together; methods without these have as many fits per K.

    Examples
    --------
    >>> from partita import scan_k
    >>> from partita.datasets import make_partitions
    >>> partitions, y = make_partitions(90, 20, 3, noise=0.2)
    >>> scan_k(partitions, range(2, 6), n_resamples=5, n_null=5, random_state=0).best_k
    3
    """
    ensemble = as_ensemble(partitions)
    if ensemble.is_compressed:
        raise ValueError("Expected one row per sample, got a compressed ensemble.")
    request = Request.checked(method, n_resamples, n_null, early_stop)
    check_n_partitions(ensemble)
    warn_if_generated(ensemble, "this scan may find clusters where there are none")
    rng = random_generator(random_state)
    groups = copies(ensemble, rng)

    def scan(numbers: Iterable[int]) -> KScan:
        ks = checked_range(numbers, ensemble.n_samples)
        return Scan(
            lambda numbers: [(ensemble, numbers, None)],
            lambda child: [(permuted(ensemble, child, groups), ks, None)],
            ks,
            request,
            rng,
            Pilot(
                ensemble.n_samples,
                lambda rows, child: (
                    [(part := ensemble.subset(samples=rows), ks, None)],
                    [(permuted(part, child), ks, None)],
                ),
            ),
        ).decide()

    result = scan_numbers(scan, k_range, ensemble.n_samples)
    if result.best_k is None:
        return result
    return replace(result, hidden_groups=hidden_groups(ensemble, result.labels[result.best_k]))
