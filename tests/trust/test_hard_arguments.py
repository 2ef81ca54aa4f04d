"""Public functions on hard tables and wrong arguments, and labels in every container."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hard_tables import CONTAINERS, hard_tables
from hypothesis import given
from hypothesis import strategies as st
from outcomes import REFUSED, outcome, same_partition

import partita
from partita import Ensemble, matrices, metrics
from partita.diagnostics import confidence_and_margin
from partita.exceptions import NoStructureError
from partita.solvers import agglomerate_affinity
from tried_cases import examples

pytestmark = [
    pytest.mark.properties,
    pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning"),
]

AFFINITIES = {
    "coassociation": partita.coassociation,
    "enhanced": partita.enhanced_coassociation,
    "locally weighted": partita.locally_weighted_coassociation,
    "crowd weighted": matrices.crowd_weighted_coassociation,
    "incomplete": matrices.incomplete_coassociation,
    "link similarity": matrices.link_similarity,
}
TABLE_FUNCTIONS = {
    "cluster_certainty": matrices.cluster_certainty,
    "corrected_certainty": matrices.corrected_certainty,
    "cluster_jaccard": matrices.cluster_jaccard,
    "cluster_sizes": matrices.cluster_sizes,
    "cluster_overlaps": matrices.cluster_overlaps,
    "cluster_links": matrices.cluster_links,
    "cluster_similarity": matrices.cluster_similarity,
    "crowd_agreement": matrices.crowd_agreement,
    "incidence": matrices.incidence,
    "refined_association": matrices.refined_association,
    "agreement_counts": matrices.agreement_counts,
    "diversity": metrics.diversity,
    "pairwise_agreement": metrics.pairwise_agreement,
}
MEASURES = {  # name: (function, lowest, highest, value of equal partitions)
    "accuracy": (metrics.accuracy, 0, 1, 1),
    "adjusted_rand": (metrics.adjusted_rand, -1, 1, 1),
    "nmi": (metrics.nmi, 0, 1, None),  # 0 for one cluster
    "pairwise_f_score": (metrics.pairwise_f_score, 0, 1, None),  # 0 without pairs
    "purity": (metrics.purity, 0, 1, 1),
    "binder_loss": (metrics.binder_loss, 0, np.inf, 0),
    "omari_loss": (metrics.omari_loss, -1, 2, 0),
    "variation_of_information": (metrics.variation_of_information, 0, np.inf, 0),
}
TOL = 1e-9


def finite(value):
    array = np.asarray(value.toarray() if hasattr(value, "toarray") else value)
    return np.isfinite(array).all()


def is_share_or_alone(confidence, labels):
    """Return whether values are in [0, 1]; NaN if no partition labels a sample and another one."""
    _, cluster, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    is_alone = sizes[cluster] == 1
    values = confidence[~np.isnan(confidence)]
    return np.isnan(confidence[is_alone]).all() and ((values >= 0) & (values <= 1 + TOL)).all()


@examples(60, soak=3)
@given(table=hard_tables())
def test_matrices(table):
    n, original = len(table), table.copy()
    ensemble = Ensemble.from_partitions(table)
    for name, function in AFFINITIES.items():
        matrix = outcome(lambda f=function: f(ensemble))
        assert matrix is not REFUSED, name
        assert matrix.shape == (n, n), name
        assert finite(matrix), name
        np.testing.assert_allclose(matrix, matrix.T, atol=TOL, err_msg=name)
        lowest = -1 if name == "incomplete" else 0  # there, disagreement counts as -1
        assert lowest - TOL <= matrix.min() <= matrix.max() <= 1 + TOL, name
    for name, function in TABLE_FUNCTIONS.items():
        result = outcome(lambda f=function: f(ensemble))
        assert result is REFUSED or finite(result), name
    outcome(lambda: partita.trajectory_similarity(ensemble))
    np.testing.assert_array_equal(table, original)


@examples(300, soak=8)
@given(
    pair=st.integers(1, 12).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, n), min_size=n, max_size=n)] * 2)
    )
)
def test_measures(pair):
    y, labels = (np.asarray(one) for one in pair)
    for name, (measure, low, high, perfect) in MEASURES.items():
        value = outcome(lambda f=measure: f(y, labels))
        assert low - TOL <= value <= high + TOL, (name, value)
        if perfect is not None:
            assert outcome(lambda f=measure: f(y, y + 7)) == pytest.approx(perfect, abs=TOL), name
    assert finite(list(outcome(lambda: metrics.evaluate(y, labels)).values()))
    aligned = outcome(lambda: partita.align_labels(y, labels))
    assert same_partition(aligned.labels, labels)


@examples(70, soak=4)
@given(table=hard_tables(), data=st.data())
def test_results_about_a_consensus(table, data):
    n = len(table)
    ensemble = Ensemble.from_partitions(table)
    labels = np.asarray(data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n), "labels"))
    shares = outcome(lambda: partita.membership(ensemble, labels))
    assert shares.shape == (n, len(np.unique(labels)))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=TOL)
    assert shares.min() >= 0
    confidence, _ = outcome(lambda: confidence_and_margin(ensemble, labels))
    assert is_share_or_alone(confidence, labels)
    diagnosis = outcome(lambda: partita.diagnose(ensemble, labels))
    assert diagnosis.n_clusters == len(np.unique(labels))
    np.testing.assert_array_equal(diagnosis.confidence, confidence)
    assert 0 <= outcome(lambda: metrics.anmi(ensemble, labels)) <= 1 + TOL
    for loss in ("vi", "binder", "omari"):
        assert finite(outcome(lambda name=loss: metrics.expected_loss(ensemble, labels, name)))
    outcome(lambda: partita.cluster_tree(ensemble))


@examples(25, soak=0.5)
@given(table=hard_tables())
def test_fusing_scanning_and_comparing(table):
    """The verbs that people call first, also where there is nothing to choose from."""
    ensemble = Ensemble.from_partitions(table)
    fusion = outcome(lambda: partita.fuse(ensemble, min(2, len(table)), random_state=0))
    assert len(fusion.labels) == len(table)
    assert is_share_or_alone(fusion.confidence, fusion.labels)
    scan = outcome(
        lambda: partita.scan_k(ensemble, range(2, 4), n_resamples=2, n_null=2, random_state=0)
    )
    assert scan is REFUSED or scan.best_k is None or 2 <= scan.best_k <= 3
    comparison = outcome(lambda: partita.compare(ensemble, ["eac", "ccgp", "voting"], 1))
    assert len(comparison.records) == 3


def test_choosing_k_without_structure_is_an_error_of_its_own():
    table = np.random.default_rng(0).integers(0, 3, (30, 6))
    with pytest.raises(NoStructureError):
        partita.fuse(table, k_range=range(2, 4), random_state=0)


@pytest.mark.parametrize("name", CONTAINERS)
@examples(12, soak=3)
@given(table=hard_tables())
def test_containers(name, table):
    """The same labels in another container are the same ensemble, and stay as they are."""
    container = CONTAINERS[name](table)
    before = [list(map(str, row)) for row in container]
    ensemble = outcome(lambda: Ensemble.from_partitions(container))
    assert before == [list(map(str, row)) for row in container]
    expected = Ensemble.from_partitions(table)
    assert ensemble.codes.dtype == expected.codes.dtype
    assert ensemble.n_missing == expected.n_missing
    for column, codes in zip(ensemble.codes.T, expected.codes.T, strict=True):
        assert same_partition(column, codes)


def test_memory_mapped_categorical_and_dates(tmp_path):
    table = np.random.default_rng(0).integers(0, 4, (20, 3))
    np.save(tmp_path / "table.npy", table)
    expected = partita.EAC(2).fit_predict(table)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    categories = pd.DataFrame(table).astype("category")
    for container in (mapped, categories, categories.astype(str).astype("category")):
        np.testing.assert_array_equal(partita.EAC(2).fit_predict(container), expected)
    dates = pd.DataFrame({"a": pd.to_datetime(["2024-01-01", "2024-01-02"]), "b": [0, 1]})
    with pytest.raises(TypeError, match=r"Partition 'a'.*'Timestamp'"):
        partita.EAC(1).fit(dates)


@pytest.mark.parametrize("k", [65_535, 65_536, 65_537])
def test_as_many_clusters_as_two_bytes_number(k):
    table = np.c_[np.arange(k), np.arange(k) % 2]
    ensemble = outcome(lambda: Ensemble.from_partitions(table))
    assert ensemble.n_clusters.tolist() == [k, 2]
    assert outcome(lambda: metrics.adjusted_rand(table[:, 0], table[:, 0])) == 1.0
    assert outcome(lambda: metrics.purity(table[:, 1], table[:, 0])) == 1.0
    labels = outcome(lambda: partita.SEC(2, n_init=1, random_state=0).fit_predict(ensemble))
    assert same_partition(labels, table[:, 1])


@examples(60, soak=4)
@given(
    n=st.integers(1, 8),
    exponents=st.lists(st.integers(-150, 150), min_size=64, max_size=64),
    linkage=st.sampled_from(["average", "single", "complete"]),
)
def test_affinities_over_hundreds_of_orders(n, exponents, linkage):
    values = 10.0 ** np.asarray(exponents[: n * n]).reshape(n, n)
    affinity = np.minimum(values, values.T)
    for n_clusters in {1, max(1, n // 2), n}:
        labels = outcome(lambda k=n_clusters: agglomerate_affinity(affinity, k, linkage=linkage))
        assert labels is REFUSED or len(np.unique(labels)) == n_clusters


WRONG = {  # a call and the value that its message must name
    "Got 0 instead": lambda: partita.EAC(0).fit([[0, 1]]),
    "n_clusters=3": lambda: partita.EAC(3).fit([[0, 1]]),
    "n_clusters=9": lambda: partita.fuse([[0, 1, 1]], 9),
    "'wrong'": lambda: partita.EAC(1, linkage="wrong").fit([[0, 1]]),
    "'magic'": lambda: partita.fuse([[0, 1, 1]], 2, method="magic"),
    "'harmonic'": lambda: partita.nmi([0, 1], [0, 1], "harmonic"),
    "-0.5": lambda: partita.LWGP(1, theta=-0.5).fit([[0, 1]]),
    "nan": lambda: partita.LWEA(1, theta=float("nan")).fit([[0, 1]]),
    "0 at index 1": lambda: Ensemble.from_partitions([[0, 1]], weights=[1, 0]),
    "nan at index 0": lambda: Ensemble.from_partitions([[0, 1]], weights=[np.nan, 1]),
    "inf at index 1": lambda: Ensemble.from_partitions([[0, 1]], weights=[1, np.inf]),
    "-3 at index 0": lambda: Ensemble.from_partitions([[0, 1]], weights=[-3, 1]),
    "1e-310 at index 0": lambda: Ensemble.from_partitions([[0, 1]], weights=[1e-310, 1]),
    "3": lambda: partita.membership([[0, 1, 1]], [0, 1, 1, 1, 0, 0][:2]),
    "2.5": lambda: partita.SEC(2.5).fit([[0, 1]]),
}


@pytest.mark.parametrize("value", WRONG)
def test_the_message_names_the_value(value):
    with pytest.raises(ValueError, match=re.escape(value)):
        WRONG[value]()
