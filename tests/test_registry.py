"""The list of methods comes from what `partita.consensus` exports, and says what `info` says."""

from __future__ import annotations

import inspect

import pytest

import partita
from partita import consensus, registry
from partita.consensus import BaseConsensus, Size


def test_methods_are_the_exported_classes():
    methods = registry.all_methods()
    assert len(methods) >= 4
    assert {m.__name__ for m in methods} <= set(consensus.__all__)
    for method in methods:
        assert inspect.isclass(method)
        assert issubclass(method, BaseConsensus)
        assert not inspect.isabstract(method)
        assert getattr(partita, method.__name__) is method
    helpers = set(consensus.__all__) - {m.__name__ for m in methods}
    assert helpers == {"BaseConsensus", "LearnedMatrixConsensus", "MethodInfo", "Size", "Solution"}


def test_ordered_by_key_and_no_key_twice():
    keys = [m.info.key for m in registry.all_methods()]
    assert keys == sorted(set(keys))


@pytest.mark.parametrize("method", registry.all_methods(), ids=lambda m: m.__name__)
def test_info(method):
    info = method.info
    assert info.key == info.key.lower()
    assert registry.get_method(info.key) is method
    assert registry.get_method(info.key.upper()) is method
    assert info.missing in ("native", "pairwise", "disagree", "refused")
    for words in (info.name, info.family, info.cite, info.time, info.memory):
        assert words
    assert isinstance(info.deterministic, bool)
    small, large = Size(10, 5, 15, 2), Size(10_000, 5, 15, 2)
    assert 0 < info.bytes_needed(small) <= info.bytes_needed(large)


@pytest.mark.parametrize("method", registry.all_methods(), ids=lambda m: m.__name__)
def test_signature(method):
    """n_clusters first, everything else by name; parameters have constraints and a place to be."""
    parameters = list(inspect.signature(method).parameters.values())
    assert parameters[0].name == "n_clusters"
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters[1:])
    names = {p.name for p in parameters}
    assert names == set(method._parameter_constraints)
    assert vars(method()) == {p.name: p.default for p in parameters}, "__init__ only stores"


def test_filters():
    everything = registry.all_methods()
    for attribute in ("family", "deterministic", "missing"):
        for value in {getattr(m.info, attribute) for m in everything}:
            chosen = registry.all_methods(**{attribute: value})
            assert chosen == [m for m in everything if getattr(m.info, attribute) == value]
    assert registry.all_methods(family="linkage", deterministic=True, missing="refused") == []


def test_unknown_method():
    with pytest.raises(ValueError, match=r"No consensus method 'kmeans'. Known: .*eac, .*sec"):
        registry.get_method("kmeans")
