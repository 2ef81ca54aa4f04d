"""Seeds for the random parts of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import clone

__all__ = ["clone_with_seeds"]


def clone_with_seeds(estimator: Any, next_seed: Callable[[], int]) -> Any:
    """Return a clone in which every `random_state` that is None has a seed.

    Parameters of nested estimators are included, such as those of a pipeline's steps. `next_seed`
    is called once per parameter, in the alphabetical order of their names.
    """
    copy = clone(estimator)
    parameters = copy.get_params(deep=True)
    names = [
        name
        for name in sorted(parameters)
        if name.rpartition("__")[2] == "random_state" and parameters[name] is None
    ]
    return copy.set_params(**{name: next_seed() for name in names})
