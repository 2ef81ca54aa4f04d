"""`scan_k` compared with SciPy's linkages and with the loop of ConsensusClusterPlus."""

from __future__ import annotations

import time

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from benchmarks.speed._measure import Record, in_turn, peak_mb
from partita import scan_k
from partita.datasets import make_partitions

KS = range(2, 13)
N_PARTITIONS, N_CLUSTERS, NOISE = 50, 5, 0.3
N_LINKAGES = 20  # the unit of the target: average linkages of 1000 points
N_RESAMPLES = 1000  # of ConsensusClusterPlus, as published
N_MEASURED = 4  # resamples that are measured, and twice as many
TARGETS = {1000: 1 / 25, 10_000: 1 / 42}  # by number of samples
SHARE = 0.8  # of the samples, in every resample


def distances(n: int) -> np.ndarray:
    matrix = np.random.default_rng(0).random((n, n))
    return squareform(np.triu(matrix, 1) + np.triu(matrix, 1).T, checks=False)


def linkages(condensed: np.ndarray) -> None:
    for _ in range(N_LINKAGES):
        linkage(condensed, "average")


def consensus_cluster_plus(condensed: np.ndarray, n: int, n_resamples: int) -> list[np.ndarray]:
    """For each resample a linkage, for each K a cut that is added to the consensus matrix.

    The loop of Wilkerson and Hayes (2010). Their program links each resample once for all K.
    """
    rng = np.random.default_rng(0)
    matrix = squareform(condensed)
    joined = [np.zeros((n, n), np.float32) for _ in KS]
    both = np.zeros((n, n), np.float32)
    for _ in range(n_resamples):
        chosen = np.sort(rng.choice(n, int(SHARE * n), replace=False))
        square = np.ix_(chosen, chosen)
        tree = linkage(squareform(matrix[square], checks=False), "average")
        both[square] += 1
        for j, k in enumerate(KS):
            labels = fcluster(tree, k, "maxclust")
            joined[j][square] += labels[:, None] == labels
    consensus = [table / np.maximum(both, 1) for table in joined]
    return [
        fcluster(linkage(squareform(1 - table, checks=False), "average"), k, "maxclust")
        for k, table in zip(KS, consensus, strict=True)
    ]


def run() -> list[Record]:
    records = []
    condensed = distances(1000)
    for n, repeats in ((1000, 3), (10_000, 1)):
        labels, _ = make_partitions(n, N_PARTITIONS, N_CLUSTERS, noise=NOISE)
        ours = lambda labels=labels: scan_k(labels, KS, random_state=0)  # noqa: E731
        our_seconds, its_seconds = in_turn(ours, lambda: linkages(condensed), repeats=repeats)
        records.append(
            Record(
                f"scan_k, n = {n}, m = {N_PARTITIONS}, K = 2..12, all criteria and nulls",
                our_seconds,
                f"{N_LINKAGES} SciPy average linkages of 1000 points",
                its_seconds,
                TARGETS[n],
                peak_mb(ours, lambda labels=labels: scan_k(labels[:200], KS, random_state=0)),
                note="target at n = 10000: 20 times the scan that fitted every K by itself",
            )
        )
        if n == 1000:
            records.append(published_loop(our_seconds, condensed, n))
    return records


def published_loop(our_seconds: float, condensed: np.ndarray, n: int) -> Record:
    """Measure few resamples and twice as many; each further resample costs the difference."""
    seconds = []
    for n_resamples in (N_MEASURED, 2 * N_MEASURED):
        start = time.perf_counter()
        consensus_cluster_plus(condensed, n, n_resamples)
        seconds.append(time.perf_counter() - start)
    per_resample = (seconds[1] - seconds[0]) / N_MEASURED
    return Record(
        f"scan_k, n = {n}, K = 2..12, against the published loop",
        our_seconds,
        f"ConsensusClusterPlus' loop in NumPy and SciPy, {N_RESAMPLES} resamples",
        seconds[0] + (N_RESAMPLES - N_MEASURED) * per_resample,
        1,
        note=f"extrapolated from {2 * N_MEASURED} resamples; the loop has no null",
    )
