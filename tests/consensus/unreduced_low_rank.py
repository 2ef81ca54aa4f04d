"""ECMC, RMSC and MEC written down plainly: n x n matrices, no reduction, all variables stored."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from unreduced_representation import post_process

LARGEST_MU = 1e10


def shrink(X, t):
    """Lower singular values by t; also return what is left of them."""
    U, sigma, Vt = np.linalg.svd(X)
    kept = np.maximum(sigma - t, 0)
    return (U * kept) @ Vt, kept


def soft(X, t):
    return np.sign(X) * np.maximum(np.abs(X) - t, 0)


def connections(column):
    """1 where a partition joins a pair, 0 where it separates it, NaN where it has no opinion."""
    known = (column[:, None] >= 0) & (column >= 0)
    return np.where(known, (column[:, None] == column) * 1.0, np.nan)


def mean_of_known(matrices):
    """Mean over the matrices that have an entry, 0 where none has."""
    stack = np.array(matrices)
    known = ~np.isnan(stack)
    return np.where(known, stack, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), known


def complete(labels, low=0.2, high=0.8, lam=None, growth=1.5, max_iter=1000, tol=1e-7):
    """ECMC: the completed matrix of certain pairs."""
    n = len(labels)
    lam = 1 / np.sqrt(n) if lam is None else lam
    share, known = mean_of_known([connections(c) for c in labels.T])
    known = known.any(axis=0)
    D = (known & (share >= high)) * 1.0
    observed = known & ((share >= high) | (share <= low))
    size = np.linalg.norm(D)
    first = mu = 1.25 / np.linalg.norm(D, 2)
    E, Y = np.zeros((n, n)), np.zeros((n, n))
    history = []
    for _ in range(max_iter):
        X, sigma = shrink(D - E + Y / mu, 1 / mu)
        R = D - X + Y / mu
        E = np.where(observed, soft(R, lam / mu), R)
        Y = Y + mu * (D - X - E)
        history.append(np.linalg.norm(D - X - E) / size)
        if history[-1] < tol:
            break
        mu = min(growth * mu, 1e7 * first)
    objective = sigma.sum() + lam * np.abs((D - X)[observed]).sum()
    return SimpleNamespace(X=X, history=history, objective=objective, observed=observed, D=D)


def project_rows(B):
    """Nearest points of the simplex, by bisection on the shift of every row."""
    low, high = B.min(axis=1) - 1, B.max(axis=1)
    for _ in range(100):
        middle = (low + high) / 2
        is_low = np.maximum(B - middle[:, None], 0).sum(axis=1) > 1
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.maximum(B - high[:, None], 0)


def transitions_of(labels):
    """Row-normalized connections; a row or column of a sample without a label is NaN."""
    matrices = [connections(c) for c in labels.T]
    with np.errstate(invalid="ignore"):
        return [M / np.nansum(M, axis=1, keepdims=True) for M in matrices]


def share_transitions(matrices, lam=0.005, mu=1e-3, growth=1.9, max_iter=300, tol=1e-6):
    """RMSC: the common transition matrix P."""
    m, n = len(matrices), len(matrices[0])
    start, known = mean_of_known(matrices)
    T = [np.where(k, M, start) for M, k in zip(matrices, known, strict=True)]
    Q, Z = np.zeros((n, n)), np.zeros((n, n))
    E, Y = np.zeros((m, n, n)), np.zeros((m, n, n))
    history = []
    for _ in range(max_iter):
        B = (Q - Z / mu + sum(T[i] - E[i] - Y[i] / mu for i in range(m))) / (m + 1)
        P = project_rows(B)
        Q, sigma = shrink(P + Z / mu, 1 / mu)
        for i in range(m):
            R = T[i] - P - Y[i] / mu
            E[i] = np.where(known[i], soft(R, lam / mu), R)
            Y[i] = Y[i] + mu * (P + E[i] - T[i])
        Z = Z + mu * (P - Q)
        residual = max(np.abs(P + E[i] - T[i]).sum(axis=1).max() for i in range(m))
        history.append(max(residual, np.abs(P - Q).sum(axis=1).max()))
        if history[-1] < tol:
            break
        mu = min(growth * mu, LARGEST_MU)
    objective = sigma.sum() + lam * sum(np.abs((T[i] - P)[known[i]]).sum() for i in range(m))
    return SimpleNamespace(P=P, history=history, objective=objective)


def walk_embedding(P, n_clusters):
    """Rows of unit length of the leading eigenvectors of the symmetrized walk."""
    values, vectors = np.linalg.eig(P.T)
    pi = np.real(vectors[:, np.argmax(np.real(values))])
    pi = pi / pi.sum()
    A = np.sqrt(pi)[:, None] * P / np.sqrt(pi)
    _, vectors = np.linalg.eigh((A + A.T) / 2)
    H = vectors[:, -n_clusters:]
    return H / np.linalg.norm(H, axis=1, keepdims=True)


def share_low_rank(
    labels,
    n_clusters,
    groups=None,
    lam=0.1,
    norm="l21",
    beta=0.0,
    mu=1e-3,
    growth=1.5,
    max_iter=300,
    tol=1e-6,
):
    """MEC: the common low-rank matrix Z of the co-association matrices of groups."""
    groups = np.arange(labels.shape[1]) if groups is None else np.asarray(groups)
    views = []
    for g in np.unique(groups):
        share, known = mean_of_known([connections(c) for c in labels.T[groups == g]])
        views.append(np.where(known.any(axis=0), share, np.nan))
    V, n = len(views), len(labels)
    Z, known = mean_of_known(views)
    S = [np.where(k, M, Z) for M, k in zip(views, known, strict=True)]
    E, Y = np.zeros((V, n, n)), np.zeros((V, n, n))
    pull = np.zeros((n, n))
    history = []
    for _ in range(max_iter):
        B = sum(S[v] - E[v] - Y[v] / mu for v in range(V)) / V
        Z, sigma = shrink(B - beta * pull / (2 * V * mu), 1 / (V * mu))
        for v in range(V):
            R = S[v] - Z - Y[v] / mu
            inside = np.where(known[v], R, 0)
            if norm == "l1":
                inside = soft(inside, lam / mu)
            else:
                length = np.linalg.norm(inside, axis=0)
                inside = inside * np.maximum(1 - lam / mu / np.maximum(length, 1e-300), 0)
            E[v] = np.where(known[v], inside, R)
            Y[v] = Y[v] + mu * (Z + E[v] - S[v])
        pull = np.zeros((n, n))
        if beta and np.count_nonzero(sigma) >= n_clusters:
            A = (np.abs(Z) + np.abs(Z.T)) / 2
            degree = A.sum(axis=1)
            _, vectors = np.linalg.eigh(A / np.sqrt(np.outer(degree, degree)))
            H = vectors[:, -n_clusters:]
            pull = ((H[:, None] - H) ** 2).sum(axis=2)
        history.append(max(np.abs(Z + E[v] - S[v]).max() for v in range(V)))
        if history[-1] < tol:
            break
        mu = min(growth * mu, LARGEST_MU)
    errors = [np.where(known[v], S[v] - Z, 0) for v in range(V)]
    if norm == "l1":
        penalty = sum(np.abs(e).sum() for e in errors)
    else:
        penalty = sum(np.linalg.norm(e, axis=0).sum() for e in errors)
    objective = sigma.sum() + lam * penalty + beta * (pull * Z).sum() / 2
    return SimpleNamespace(Z=Z, history=history, objective=objective)


def scaled_embedding(Z, n_clusters):
    """D^-1/2 times the leading eigenvectors of the normalized affinity of a representation."""
    A = post_process(Z)
    degree = A.sum(axis=1)
    _, vectors = np.linalg.eigh(A / np.sqrt(np.outer(degree, degree)))
    return vectors[:, -n_clusters:] / np.sqrt(degree)[:, None]
