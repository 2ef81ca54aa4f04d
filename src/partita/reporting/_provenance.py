"""How a result was made: versions, seeds, parameters. No folders of the machine."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from partita._packages import is_installed
from partita.reporting._content import Content
from partita.reporting._values import drop_folders, to_json

__all__ = ["provenance"]

_LIBRARIES = ("partita", "numpy", "scipy", "scikit-learn")
_OPTIONAL = ("numba",)


def provenance(content: Content, random_state: Any) -> dict[str, Any]:
    """Return what is needed to repeat the computation."""
    e = content.ensemble
    return to_json(
        {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {"python": platform.python_version()}
            | {name: version(name) for name in (*_LIBRARIES, *filter(is_installed, _OPTIONAL))},
            "random_state": _parameter(random_state),
            "method": _method(content.method),
            "ensemble": {
                "n_samples": e.n_samples,
                "n_partitions": e.n_partitions,
                "n_clusters": [int(e.n_clusters.min()), int(e.n_clusters.max())],
                "n_missing": e.n_missing,
                "weighted": content.is_weighted,
            },
            "source": drop_folders(dict(e.provenance)),
        }
    )


def _method(method: Any) -> dict[str, Any] | None:
    if method is None:
        return None
    if isinstance(method, str):
        return {"class": method}
    results = ("objective_", "n_iter_", "converged_")
    return {
        "class": type(method).__name__,
        "parameters": {k: _parameter(v) for k, v in method.get_params(deep=False).items()},
        "result": {
            name.rstrip("_"): getattr(method, name) for name in results if hasattr(method, name)
        },
    }


def _parameter(value: Any) -> Any:
    """Return a parameter as a reader can type it; arrays, generators and functions by name."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return f"{type(value).__name__}, state not recorded"
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return value
