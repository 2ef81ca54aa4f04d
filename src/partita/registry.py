"""Look up consensus methods by key, and prepare them for a fit.

The methods are the classes that `partita.consensus` exports; there is no second list.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from inspect import isabstract, signature
from numbers import Integral
from typing import Any

from sklearn.base import clone

from partita import consensus
from partita._input.checks import random_generator
from partita._seeding import clone_with_seeds
from partita.consensus import BaseConsensus

__all__ = ["all_methods", "get_method", "growth_exponent", "has_default_number", "prepare"]

_EXPONENTS = {"": 1, "²": 2, "³": 3}


def all_methods(
    *,
    family: str | None = None,
    deterministic: bool | None = None,
    missing: str | None = None,
) -> list[type[BaseConsensus]]:
    """Return the classes of the consensus methods, ordered by key.

    Parameters
    ----------
    family : str, optional
        Only methods of this family, such as "linkage". By default all families.
    deterministic : bool, optional
        Only methods that use no random numbers (True), or only those that do (False). By default
        both.
    missing : {"native", "pairwise", "disagree", "refused"}, optional
        Only methods that treat missing labels this way. By default all.

    Examples
    --------
    >>> from partita.registry import all_methods
    >>> [method.__name__ for method in all_methods(family="linkage", deterministic=True)][:2]
    ['EAC', 'GWCA']
    """
    exported = (getattr(consensus, name) for name in consensus.__all__)
    methods = [
        c
        for c in exported
        if isinstance(c, type) and issubclass(c, BaseConsensus) and not isabstract(c)
    ]
    filters = {"family": family, "deterministic": deterministic, "missing": missing}
    for attribute, value in filters.items():
        if value is not None:
            methods = [c for c in methods if getattr(c.info, attribute) == value]
    return sorted(methods, key=lambda c: c.info.key)


def get_method(key: str) -> type[BaseConsensus]:
    """Return the class of a consensus method.

    Parameters
    ----------
    key : str
        Key of the method, such as "sec", in upper or lower case.
    """
    methods = {c.info.key: c for c in all_methods()}
    try:
        return methods[key.lower()]
    except KeyError:
        close = get_close_matches(key.lower(), methods, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"No consensus method {key!r}.{guess} Available: {', '.join(methods)}."
        ) from None


def growth_exponent(time: str) -> int:
    """Return the highest power of n or n' in a cost such as "n m² + n'² m".

    Parameters
    ----------
    time : str
        Cost of a method, as in its `info.time`.
    """
    return max(_EXPONENTS[power] for power in re.findall(r"\bn'?([²³]?)", time))


def prepare(
    method: Any,
    n_clusters: int | None = None,
    random_state: Any = None,
    *,
    keep_n_clusters: bool = False,
) -> Any:
    """Return a new estimator of a method, ready to fit.

    Parameters
    ----------
    method : str, class or estimator
        Key of a consensus method, or the class or an object of any estimator. An object is cloned
        and keeps its other parameters.
    n_clusters : int, optional
        Number of clusters, set where the estimator has this parameter. By default the estimator's
        own number stays.
    random_state : int, Generator, RandomState or None, default=None
        Seed, set wherever a `random_state` is None, in nested estimators too; one that is set
        stays. An integer is used as it is, a generator draws a seed for each. None sets none.
    keep_n_clusters : bool, default=False
        Let an estimator whose `n_clusters` differs from that parameter's default keep it.

    Returns
    -------
    estimator

    Examples
    --------
    >>> from partita.registry import prepare
    >>> prepare("sec", 3, 0)
    SEC(n_clusters=3, random_state=0)
    """
    if isinstance(method, str):
        method = get_method(method)
    estimator = method() if isinstance(method, type) else method
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        keys = ", ".join(c.info.key for c in all_methods())
        raise TypeError(
            "Expected the key, class or estimator of a consensus method, got "
            f"{method!r}. Keys: {keys}."
        )
    if random_state is None:
        estimator = clone(estimator)
    elif isinstance(random_state, Integral):
        estimator = clone_with_seeds(estimator, lambda: int(random_state))
    else:
        rng = random_generator(random_state)
        estimator = clone_with_seeds(estimator, lambda: int(rng.integers(2**31)))
    if (
        n_clusters is not None
        and "n_clusters" in estimator.get_params(deep=False)
        and (not keep_n_clusters or has_default_number(estimator))
    ):
        estimator.set_params(n_clusters=n_clusters)
    return estimator


def has_default_number(estimator: Any) -> bool:
    """Return whether an estimator has the parameter `n_clusters` and leaves it at its default.

    Parameters
    ----------
    estimator : estimator
        A consensus method, a generator or any estimator of scikit-learn.
    """
    if "n_clusters" not in estimator.get_params(deep=False):
        return False
    default = signature(type(estimator)).parameters["n_clusters"].default
    return bool(estimator.n_clusters == default)
