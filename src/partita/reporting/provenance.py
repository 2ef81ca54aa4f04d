"""Where a result comes from: versions, seeds, parameters. No paths of a machine."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from partita.reporting._json import plain, without_folders
from partita.reporting.inputs import Case

__all__ = ["provenance"]

_LIBRARIES = ("partita", "numpy", "scipy", "scikit-learn", "numba")


def provenance(case: Case, random_state: Any) -> dict[str, Any]:
    """What is needed to make the result again."""
    e = case.ensemble
    return plain(
        {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version()}
            | {name: version(name) for name in _LIBRARIES},
            "random_state": _setting(random_state),
            "method": _method(case.method),
            "ensemble": {
                "samples": e.n_samples,
                "partitions": e.n_partitions,
                "clusters_per_partition": [int(e.n_clusters.min()), int(e.n_clusters.max())],
                "missing_labels": e.n_missing,
                "weighted": case.is_weighted,
            },
            "source": without_folders(dict(e.provenance)),
        }
    )


def _method(method: Any) -> dict[str, Any] | None:
    if method is None:
        return None
    if isinstance(method, str):
        return {"class": method}
    learned = ("objective_", "n_iter_", "converged_")
    return {
        "class": type(method).__name__,
        "parameters": {k: _setting(v) for k, v in method.get_params(deep=False).items()},
        "result": {
            name.rstrip("_"): getattr(method, name) for name in learned if hasattr(method, name)
        },
    }


def _setting(value: Any) -> Any:
    """A parameter as a reader can type it; large or living things by their kind."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return f"{type(value).__name__}, state not recorded"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return value
