"""RSEC and NRSEC compared with the same iterations on all samples in plain NumPy.

Both run the same small number of iterations and the final k-means on one thread, because on a busy
machine the threads of the linear algebra wait for each other. In so few iterations no singular
value exceeds its threshold. Ours detects that by a bound and NumPy decomposes the matrix, so the
ratio is that of the first iterations and not of a whole fit. A second pair of records repeats every
sample: the distinct rows stay the same, and so should the time. A third group measures single
iterations of ensembles whose rows are all distinct, from the difference of two runs; the seconds of
plain NumPy at 5000 rows are those at 1000 rows times 5³.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks.speed._measure import Record, in_turn, seconds
from partita import NRSEC, RSEC
from partita.datasets import make_mixed_partitions
from partita.exceptions import ConvergenceWarning

N_CLUSTERS, N_PARTITIONS, N_INIT = 10, 20, 20
ITERATIONS = 3  # what plain NumPy does in half a minute
GROWTH_ITERATIONS = 20
FEW, MORE = 2, 5  # iterations of the two runs whose difference is measured
SIZES = {1000: 2.0, 5000: 15.0}  # distinct rows, and the ratio to reach
SETTINGS: dict[type[Any], dict[str, Any]] = {
    RSEC: {"lambda1": 0.1, "lambda2": 0.01, "rho": 1.1, "by_entry": False},
    NRSEC: {"lambda1": 1.0, "lambda2": 0.01, "rho": 1.3, "by_entry": True},
}


def run() -> list[Record]:
    """20 k-means of the digits at K = 10, then every sample twice."""
    X = load_digits().data
    labels = np.column_stack(
        [KMeans(N_CLUSTERS, n_init=1, random_state=i).fit_predict(X) for i in range(N_PARTITIONS)]
    )
    with threadpool_limits(1):
        return _against_plain_numpy(labels) + _growth(labels) + _distinct_rows()


def _against_plain_numpy(labels: NDArray[Any]) -> list[Record]:
    n, n_distinct = len(labels), len(np.unique(labels, axis=0))
    records = []
    for method, settings in SETTINGS.items():
        fit = _fitter(method, labels, ITERATIONS)
        start = time.perf_counter()
        matrix = plain_numpy(labels, ITERATIONS, **settings)
        reference_seconds = time.perf_counter() - start
        difference = np.abs(fit().consensus_matrix() - matrix).max()
        records.append(
            Record(
                name=f"{method.__name__}, digits, {ITERATIONS} iterations",
                seconds=seconds(fit),
                reference=f"plain NumPy, n={n}, no reduction",
                reference_seconds=reference_seconds,
                target=20.0,
                note=f"{n_distinct} distinct rows; matrices differ by {difference:.0e}",
            )
        )
    return records


def _growth(labels: NDArray[Any]) -> list[Record]:
    n_distinct = len(np.unique(labels, axis=0))
    records = []
    for method in SETTINGS:
        once = _fitter(method, labels, GROWTH_ITERATIONS)
        twice = _fitter(method, np.tile(labels, (2, 1)), GROWTH_ITERATIONS)
        once_seconds, twice_seconds = in_turn(once, twice, repeats=5)
        records.append(
            Record(
                name=f"{method.__name__}, every sample twice, {GROWTH_ITERATIONS} iterations",
                seconds=twice_seconds,
                reference="every sample once",
                reference_seconds=once_seconds,
                target=0.7,
                note=f"{n_distinct} distinct rows both times; 1 is no growth",
            )
        )
    return records


def _distinct_rows() -> list[Record]:
    smallest = min(SIZES)
    records = []
    for method, settings in SETTINGS.items():
        reference = _iteration(lambda k, s=settings: plain_numpy(_mixed(smallest), k, **s))
        for n, target in SIZES.items():
            labels = _mixed(n)
            records.append(
                Record(
                    name=f"{method.__name__}, an iteration, n' = {n}, m = {N_PARTITIONS}",
                    seconds=_iteration(lambda k, m=method, x=labels: _fitter(m, x, k)()),
                    reference=f"plain NumPy at n' = {smallest}, times {(n // smallest) ** 3}",
                    reference_seconds=reference * (n / smallest) ** 3,
                    target=target,
                    note=f"iterations {FEW + 1} to {MORE}",
                )
            )
    return records


def _mixed(n: int) -> NDArray[Any]:
    """Return partitions of n samples that are all distinct."""
    return make_mixed_partitions(
        n, N_PARTITIONS, N_CLUSTERS, n_pieces=4, noise=0.3, k_min=N_CLUSTERS, k_max=40
    )[0]


def _iteration(run: Callable[[int], Any]) -> float:
    """Return the seconds of one iteration, from two runs of a few iterations."""
    elapsed = []
    for n_iterations in (FEW, MORE):
        start = time.perf_counter()
        run(n_iterations)
        elapsed.append(time.perf_counter() - start)
    return (elapsed[1] - elapsed[0]) / (MORE - FEW)


def _fitter(method: type[Any], labels: NDArray[Any], max_iter: int) -> Callable[[], Any]:
    def fit() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the cap is the point
            return method(N_CLUSTERS, max_iter=max_iter, n_init=N_INIT, random_state=0).fit(labels)

    return fit


def plain_numpy(
    labels: NDArray[Any],
    n_iterations: int,
    *,
    lambda1: float,
    lambda2: float,
    rho: float,
    by_entry: bool,
) -> NDArray[np.float64]:
    """The iterations as they stand in the paper, with the two steps it lacks; returns Z."""
    n = len(labels)
    S = np.mean([column[:, None] == column for column in labels.T], axis=0)
    inverse = np.linalg.inv(S @ S + np.eye(n))
    Z, E, Y1, Y2 = (np.zeros((n, n)) for _ in range(4))
    H, degree = np.zeros((n, N_CLUSTERS)), np.ones(n)
    mu = 1.5 / np.abs(np.linalg.eigvalsh(S)).max()
    for _ in range(n_iterations):
        U, sigma, Vt = np.linalg.svd(Z + Y2 / mu)
        J = (U * np.maximum(sigma - lambda1 / mu, 0)) @ Vt
        pull = H / np.sqrt(degree)[:, None]
        Z = inverse @ (S @ S + J - S @ E + (S @ Y1 - Y2 + pull @ pull.T) / mu)
        Q = S - S @ Z + Y1 / mu
        if by_entry:
            E = np.sign(Q) * np.maximum(np.abs(Q) - lambda2 / mu, 0)
        else:
            E = Q * np.maximum(1 - lambda2 / mu / np.linalg.norm(Q, axis=0), 0)
        U, sigma, _ = np.linalg.svd((Z + Z.T) / 2 + H @ H.T)
        kept = sigma > 1e-4 * sigma[0]
        rows = U[:, kept] * np.sqrt(sigma[kept])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        affinity = (rows @ rows.T) ** 4
        degree = affinity.sum(axis=1)
        _, vectors = np.linalg.eigh(affinity / np.sqrt(np.outer(degree, degree)))
        H = vectors[:, -N_CLUSTERS:] / np.sqrt(degree)[:, None]
        Y1 += mu * (S - S @ Z - E)
        Y2 += mu * (Z - J)
        mu *= rho
    unit = H / np.linalg.norm(H, axis=1, keepdims=True)
    KMeans(N_CLUSTERS, n_init=N_INIT, random_state=0).fit(unit)
    return np.asarray(Z)
