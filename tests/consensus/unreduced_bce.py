"""BCE on all samples, one at a time, with all memberships φ, in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, polygamma, psi

SMOOTHING = 1e-6


@dataclass
class Unreduced:
    """Parameters, variational parameters and the bound after every E-step."""

    alpha: Any
    beta: Any  # per partition: (K, K_i)
    gamma: Any
    bound: Any


def sample_bound(x: Any, alpha: Any, beta: Any, gamma: Any, phi: Any) -> float:
    """Return the bound of one sample: the expectations of the paper, term by term."""
    expected_log = psi(gamma) - psi(gamma.sum())
    value = gammaln(alpha.sum()) - gammaln(alpha).sum() + ((alpha - 1) * expected_log).sum()
    value -= gammaln(gamma.sum()) - gammaln(gamma).sum() + ((gamma - 1) * expected_log).sum()
    for j, q in enumerate(x):
        if q >= 0:
            some = phi[:, j] > 0
            p, log_beta = phi[some, j], np.log(beta[j][some, q])
            value += (p * (expected_log[some] + log_beta - np.log(p))).sum()
    return float(value)


def newton(alpha: Any, gamma: Any) -> Any:
    """Return the α at which the gradient of the bound is 0, with the full matrix of derivatives."""
    mean = (psi(gamma) - psi(gamma.sum(axis=1))[:, None]).mean(axis=0)
    for _ in range(200):
        gradient = psi(alpha.sum()) - psi(alpha) + mean
        hessian = polygamma(1, alpha.sum()) - np.diag(polygamma(1, alpha))
        step = np.linalg.solve(hessian, gradient)
        while (alpha <= step).any():
            step = step / 2
        alpha = alpha - step
        if np.abs(step).max() <= 1e-12 * alpha.max():
            break
    return alpha


def variational_em(labels: Any, alpha: Any, beta: Any, n_iter: int) -> Unreduced:
    """Run E- and M-steps in turn, from α and one table of probabilities per partition."""
    n, m = labels.shape
    K = len(alpha)
    gamma = np.array([alpha + (x >= 0).sum() / K for x in labels])
    bounds = []
    for iteration in range(n_iter):
        phi = np.zeros((n, K, m))
        bound = SMOOTHING * sum(np.log(table).sum() for table in beta)
        for i, x in enumerate(labels):
            for _ in range(20):
                for j, q in enumerate(x):
                    if q >= 0:
                        weight = np.exp(psi(gamma[i]) - psi(gamma[i].sum())) * beta[j][:, q]
                        phi[i, :, j] = weight / weight.sum()
                old, gamma[i] = gamma[i].copy(), alpha + phi[i].sum(axis=1)
                if np.abs(gamma[i] - old).sum() <= 0.01 * old.sum():
                    break
            bound += sample_bound(x, alpha, beta, gamma[i], phi[i])
        bounds.append(bound)
        if iteration == n_iter - 1:
            break
        tables = []
        for j in range(m):
            counts = np.full_like(beta[j], SMOOTHING)
            for i in range(n):
                if labels[i, j] >= 0:
                    counts[:, labels[i, j]] += phi[i, :, j]
            tables.append(counts / counts.sum(axis=1, keepdims=True))
        beta = tables
        alpha = newton(alpha, gamma)
    return Unreduced(alpha, beta, gamma, np.array(bounds))
