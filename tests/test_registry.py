"""The registry lists the methods that `partita.consensus` exports; `prepare` has one rule."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import partita
from partita import EAC, SEC, RandomK, consensus, registry
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
    records = {"MethodInfo", "RowsSolution", "Size", "Solution"}
    assert helpers == {"BaseConsensus", "LearnedMatrixConsensus", *records}


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
    with pytest.raises(ValueError, match=r"No consensus method 'kmeans'. Available: .*eac, .*sec"):
        registry.get_method("kmeans")


# -- prepare ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sec", "SEC", SEC, SEC(8)], ids=repr)
def test_prepare_takes_key_class_and_estimator(method):
    assert registry.prepare(method, 3, 0).get_params() == SEC(3, random_state=0).get_params()


def test_prepare_clones_and_keeps_what_is_set():
    method = SEC(5, random_state=1, n_init=2)
    prepared = registry.prepare(method, random_state=7)
    assert prepared is not method
    assert prepared.get_params() == method.get_params()
    assert registry.prepare(method, 3).n_clusters == 3
    assert method.n_clusters == 5


@pytest.mark.parametrize(("own", "expected"), [(5, 5), (SEC().n_clusters, 3)])
def test_prepare_keeps_a_number_of_clusters_other_than_the_default(own, expected):
    assert registry.prepare(SEC(own), 3, keep_n_clusters=True).n_clusters == expected


def test_prepare_seeds_nested_estimators():
    pipeline = make_pipeline(RandomK(), SEC(random_state=9))
    seeds = registry.prepare(pipeline, random_state=4).get_params()
    assert seeds["randomk__random_state"] == 4
    assert seeds["sec__random_state"] == 9
    drawn = [
        registry.prepare(make_pipeline(RandomK(), SEC()), random_state=np.random.default_rng(0))
        for _ in range(2)
    ]
    first, second = (p.get_params() for p in drawn)
    assert first["randomk__random_state"] == second["randomk__random_state"]
    assert first["randomk__random_state"] != first["sec__random_state"]


def test_prepare_passes_by_parameters_that_a_method_does_not_have():
    assert registry.prepare("eac", 3, 0).get_params() == EAC(3).get_params()
    assert registry.prepare(StandardScaler(), 3, 0).get_params() == StandardScaler().get_params()


@pytest.mark.parametrize("method", [3, None, object])
def test_prepare_names_the_keys(method):
    with pytest.raises(TypeError, match=r"Expected the key, .* Keys: bce, .*sec"):
        registry.prepare(method)
