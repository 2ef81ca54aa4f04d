"""All consensus methods, by name. Derived from `partita.consensus.__all__`, nothing else."""

from __future__ import annotations

from inspect import isabstract

from partita import consensus
from partita.consensus import BaseConsensus

__all__ = ["all_methods", "get_method"]


def all_methods(
    *,
    family: str | None = None,
    deterministic: bool | None = None,
    missing: str | None = None,
) -> list[type[BaseConsensus]]:
    """The estimator classes, ordered by key, filtered by what their `info` says.

    Examples
    --------
    >>> from partita.registry import all_methods
    >>> [method.__name__ for method in all_methods(family="linkage", deterministic=True)][:2]
    ['EAC', 'LWEA']
    """
    exported = (getattr(consensus, name) for name in consensus.__all__)
    methods = [
        c
        for c in exported
        if isinstance(c, type) and issubclass(c, BaseConsensus) and not isabstract(c)
    ]
    asked = {"family": family, "deterministic": deterministic, "missing": missing}
    for attribute, value in asked.items():
        if value is not None:
            methods = [c for c in methods if getattr(c.info, attribute) == value]
    return sorted(methods, key=lambda c: c.info.key)


def get_method(key: str) -> type[BaseConsensus]:
    """The estimator class with this key, in any case."""
    methods = {c.info.key: c for c in all_methods()}
    try:
        return methods[key.lower()]
    except KeyError:
        known = ", ".join(methods)
        raise ValueError(f"No consensus method {key!r}. Known: {known}.") from None
