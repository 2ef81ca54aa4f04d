"""RSEC and NRSEC written down plainly: n x n matrices, no reduction, full decompositions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from sklearn.metrics import confusion_matrix

from partita.datasets import make_partitions


def pair_similarity(labels, similarity="auto"):
    """Agreements minus disagreements, or agreements and half of what is not labeled."""
    n, m = labels.shape
    if similarity == "auto":
        similarity = "signed" if (labels < 0).any() else "share"
    S = np.zeros((n, n))
    for column in labels.T:
        same = column[:, None] == column
        known = (column[:, None] >= 0) & (column >= 0)
        if similarity == "signed":
            S += np.where(known, np.where(same, 1.0, -1.0), 0.0)
        else:
            S += np.where(known, np.where(same, 1.0, 0.0), 0.5)
    return S / m


def post_process(G):
    """Affinity of a low-rank representation, literally."""
    U, sigma, _ = np.linalg.svd(G)
    kept = sigma > 1e-4 * sigma[0]
    rows = U[:, kept] * np.sqrt(sigma[kept])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows @ rows.T) ** 4


def partition(G, n_clusters, scaled=True):
    """H, degrees and eigenvalues of the normalized affinity."""
    A = post_process(G)
    degree = A.sum(axis=1)
    values, vectors = np.linalg.eigh(A / np.sqrt(np.outer(degree, degree)))
    H = vectors[:, ::-1][:, :n_clusters]
    if scaled:
        H = H / np.sqrt(degree)[:, None]
    return H, degree, values[::-1][:n_clusters]


def represent(
    labels,
    n_clusters,
    lambda1,
    lambda2,
    *,
    concave,
    gamma=(2.0, 2.0),
    norm=None,
    similarity="auto",
    rho=None,
    mu=None,
    scaled=True,
    n_outer=1,
    max_iter=500,
    tol=1e-7,
):
    """Algorithm 1, or Algorithm 2 where `concave`, with the two steps that the print lacks."""
    S = pair_similarity(labels, similarity)
    n = len(S)
    rho = rho or (1.3 if concave else 1.1)
    by_entry = norm == "l1" if norm else concave
    first_mu = mu or 1.5 / np.linalg.norm(S, 2)
    inverse = np.linalg.inv(S.T @ S + np.eye(n))
    Z, E, J, H, degree = (np.zeros((n, k)) for k in (n, n, n, n_clusters, 1))
    degree = np.ones(n)
    history, weights = [], []
    for _ in range(n_outer):
        Lambda = np.maximum(1 - np.linalg.svd(J, compute_uv=False) / gamma[0], 0)
        W = np.maximum(1 - error_sizes(E, by_entry) / gamma[1], 0)
        weights.append((Lambda, W))
        Y1, Y2 = np.zeros((n, n)), np.zeros((n, n))
        mu = first_mu
        for _ in range(max_iter):
            U, sigma, Vt = np.linalg.svd(Z + Y2 / mu)
            J = (U * np.maximum(sigma - lambda1 / mu * Lambda, 0)) @ Vt
            pull = H / np.sqrt(degree)[:, None]
            Z = inverse @ (S.T @ S + J - S.T @ E + (S.T @ Y1 - Y2 + pull @ pull.T) / mu)
            Q = S - S @ Z + Y1 / mu
            if by_entry:
                E = np.sign(Q) * np.maximum(np.abs(Q) - lambda2 / mu * W, 0)
            else:
                length = np.linalg.norm(Q, axis=0)
                E = Q * np.maximum(1 - lambda2 / mu * W / length, 0)
            H, degree, values = partition((Z + Z.T) / 2 + H @ H.T, n_clusters, scaled)
            residual = S - S @ Z - E
            Y1 = Y1 + mu * residual
            Y2 = Y2 + mu * (Z - J)
            history.append(np.linalg.norm(residual) / np.linalg.norm(S))
            if np.abs(residual).max() < tol and np.abs(Z - J).max() < tol:
                break
            mu = min(rho * mu, 1e10)
    sigma, sizes = np.linalg.svd(J, compute_uv=False), error_sizes(E, by_entry)
    if concave:
        sigma, sizes = mcp(sigma, gamma[0]), mcp(sizes, gamma[1])
    penalties = lambda1 * sigma.sum() + lambda2 * sizes.sum()
    return SimpleNamespace(
        Z=Z,
        H=H,
        history=history,
        weights=weights,
        objective=n_clusters - values.sum() + penalties,
    )


def error_sizes(E, by_entry):
    return np.abs(E) if by_entry else np.linalg.norm(E, axis=0)


def mcp(t, gamma):
    return np.where(t < gamma, t - t**2 / (2 * gamma), gamma / 2)


def repeated_rows(missing, seed):
    """70 samples, about half of them copies of others."""
    labels = make_partitions(50, 7, noise=0.15, missing_ratio=missing, random_state=seed)[0]
    return labels[np.random.default_rng(seed).integers(50, size=70)]


def assert_equals_unreduced(method, unreduced, atol=1e-8):
    """The learned matrix, the partition matrix up to rotation, the trace and the objective."""
    np.testing.assert_allclose(method.consensus_matrix(), unreduced.Z, rtol=0, atol=atol)
    H = method.embedding_
    np.testing.assert_allclose(H @ H.T, unreduced.H @ unreduced.H.T, rtol=0, atol=atol)
    assert method.n_iter_ == len(unreduced.history)
    np.testing.assert_allclose(method.history_, unreduced.history, rtol=0, atol=atol)
    np.testing.assert_allclose(method.objective_, unreduced.objective, rtol=atol)


def table(columns):
    """Label matrix from one string per partition, a letter of 0-9a-z per sample."""
    return np.array([[int(letter, 36) for letter in column] for column in columns]).T


def accuracy(truth, labels):
    """Share of samples in the right cluster under the best matching."""
    from scipy.optimize import linear_sum_assignment

    counts = confusion_matrix(truth, labels)
    return counts[linear_sum_assignment(-counts)].sum() / len(truth)
