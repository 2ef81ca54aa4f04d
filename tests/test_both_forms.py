"""Results do not depend on the form of the kernels: definitions and compiled forms agree."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import partita
from partita._kernels import _dispatch
from partita.ensemble import Ensemble

METHODS = partita.all_methods()


def planted(seed: int, n: int, m: int, k: int, missing: float = 0.0) -> Any:
    rng = np.random.default_rng(seed)
    truth = rng.integers(k, size=n)
    labels = (truth[:, None] + (rng.random((n, m)) < 0.2)) % (k + 1)
    if missing:
        is_missing = rng.random((n, m)) < missing
        is_missing[np.arange(n), rng.integers(m, size=n)] = False
        labels = np.where(is_missing, -1, labels)
    return labels


def ensembles() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    ties = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[np.arange(16) // 4]
    return {
        "complete": planted(1, 60, 8, 3),
        "missing": planted(2, 60, 8, 3, missing=0.2),
        "weights": Ensemble.from_partitions(planted(3, 50, 6, 3), weights=rng.uniform(0.5, 2, 50)),
        "ties": np.hstack([ties, ties[:, ::-1]]),
    }


def fit(method: Any, labels: Any) -> dict[str, Any]:
    # every restart calls the same kernels
    few = {"random_state": 0, "n_init": 2}
    settings = {name: few[name] for name in few if name in method().get_params()}
    try:
        fitted = method(n_clusters=3, **settings).fit(labels)
    except partita.exceptions.NotSupportedError as error:
        return {"error": str(error)}
    return {"labels": fitted.labels_.tolist(), "objective": getattr(fitted, "objective_", None)}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.info.key)
def test_compiled_and_plain_kernels_give_the_same_result(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="numba is not installed")
    for name, labels in ensembles().items():
        results = []
        for threshold in (0.0, np.inf):
            monkeypatch.setattr(_dispatch, "COMPILED_FROM", threshold)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of convergence, on tables this small
                results.append(fit(method, labels))
        assert results[0] == results[1], name
