"""TRCE on all samples, with the n x n matrix of every partition, in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

EPS = np.finfo(float).eps


@dataclass
class Unreduced:
    """What the program keeps, and how far its embedding was determined."""

    S: Any
    B: Any
    w: Any
    alpha: Any
    rho: float
    lam: float
    trace: Any  # per round: rho, lambda, sums of the K and K + 1 smallest eigenvalues
    objective: Any  # per round
    gap: float  # smallest gap, over the rounds, between the K-th and the next eigenvalue
    parts_equal_samples: bool  # whether an eigenvector in use differs between equal samples


def divergences(P: Any, B: Any) -> Any:
    """Return d1_ik = Σ_j P⁽ᵏ⁾_ij ln(P⁽ᵏ⁾_ij / B_ij), with 0 ln 0 = 0."""
    logs = [p * (np.log(np.where(p > 0, p, 1)) - np.log(np.maximum(B, EPS))) for p in P]
    return np.array([term.sum(axis=1) for term in logs]).T


def project(b: Any) -> Any:
    """Return the nearest point of the simplex."""
    ordered = np.sort(b)[::-1]
    shift = (np.cumsum(ordered) - 1) / np.arange(1, len(b) + 1)
    return np.maximum(b - shift[np.flatnonzero(ordered > shift)[-1]], 0)


def tri_level(
    labels: Any, n_clusters: int, gamma: float, *, stale: bool = False, max_iter: int = 10
) -> Unreduced:
    """Run the program; `stale` repeats the index that it forgets to update in step 1."""
    n, m = labels.shape
    P = []
    for column in labels.T:
        joins = (column[:, None] == column) & (column >= 0)
        P.append(joins / np.maximum(joins.sum(axis=1, keepdims=True), 1))
    is_labeled = labels >= 0
    _, group = np.unique(labels, axis=0, return_inverse=True)
    group = group.reshape(-1)
    gaps, parted = [], []

    def smallest(S: Any) -> tuple[Any, Any]:
        values, vectors = np.linalg.eigh(np.diag(S.sum(axis=1)) - S)
        F = vectors[:, :n_clusters]
        if values[:n_clusters].sum() > 1e-9:  # else the vectors are constant where it matters
            gaps.append(values[n_clusters] - values[n_clusters - 1])
        parted.append(any(np.ptp(F[group == g], axis=0).max() > 1e-6 for g in np.unique(group)))
        return values, F

    alpha, rho, lam = np.full(m, 1 / m), 1.0, 0.0
    S = sum(P) / np.maximum(is_labeled.sum(axis=1), 1)[:, None]
    S = (S + S.T) / 2
    B = S
    _, F = smallest(S)
    d1 = divergences(P, B)
    trace, objective = [], []
    for iteration in range(max_iter):
        d2 = m * d1[:, -1] / alpha[-1] if stale else (is_labeled * d1 / alpha).sum(axis=1)
        lam = 1.1 * lam if iteration else 2 * np.sort(d2)[n // 10 - 1]
        w = np.minimum(lam / (2 * d2), 1)
        distance = ((F[:, None] - F) ** 2).sum(axis=2)
        C = (w**2)[:, None] * sum(p / a for p, a in zip(P, alpha, strict=True))
        B = np.zeros((n, n))
        for i in range(n):
            on = C[i] > 0

            def excess(theta: float, c: Any = C[i, on], d: Any = rho * distance[i, on]) -> float:
                return float((c / (d + theta)).sum() - 1)

            theta = brentq(excess, C[i, i] * (1 - 1e-9), C[i].sum() * (1 + 1e-9), xtol=1e-14)
            B[i, on] = C[i, on] / (rho * distance[i, on] + theta)
        S = np.array([project(row) for row in B - rho / (2 * gamma) * distance])
        d1 = divergences(P, B)
        S = (S + S.T) / 2
        old = F
        values, F = smallest(S)
        alpha = np.sqrt(((w**2)[:, None] * d1).sum(axis=0))
        alpha = alpha / alpha.sum()
        low, with_next = values[:n_clusters].sum(), values[: n_clusters + 1].sum()
        trace.append((rho, lam, low, with_next))
        fit = ((w**2)[:, None] * d1 / alpha).sum() - lam * w.sum()
        objective.append(fit + gamma * ((S - B) ** 2).sum() + 2 * rho * low)
        if low > 1e-9:
            rho *= 2
        elif with_next < 1e-11:
            rho /= 2
            F = old
        elif iteration > 0:
            break
    gap = min(gaps, default=1.0)
    rounds = np.array(trace), np.array(objective)
    return Unreduced(S, B, w, alpha, rho, lam, *rounds, gap, any(parted))
