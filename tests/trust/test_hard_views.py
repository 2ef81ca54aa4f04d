"""Several views, soft partitions, structure, reports and keywords on hard input."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import scipy.sparse as sp
from hard_tables import HARD_TABLES, hard_tables
from hypothesis import given
from hypothesis import strategies as st
from outcomes import REFUSED, outcome
from test_hard_commands import run

import partita
from partita import metrics, structure
from partita.diagnostics import cluster_keywords
from partita.ensemble import SoftEnsemble
from partita.multiview import (
    CRSC,
    PVC,
    RMSC,
    ColNMF,
    ConKM,
    ConNMF,
    MultiNMF,
    MultiViewClustering,
    generate_partitions,
)
from partita.registry import all_methods, prepare
from tried_cases import examples

pytestmark = [
    pytest.mark.properties,
    pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning"),
]
QUICK = {"n_init": 1, "max_iter": 5, "partitions_per_view": 2, "random_state": 0}
MULTIVIEW = [CRSC, PVC, RMSC, ColNMF, ConKM, ConNMF, MultiNMF, MultiViewClustering]
SOFT = [method for method in all_methods() if method.info.soft]


def quick(estimator):
    names = estimator.get_params()
    return estimator.set_params(**{k: v for k, v in QUICK.items() if k in names})


@st.composite
def hard_views(draw):
    """Draw one to three views of the same samples: ties, huge, tiny, constant; rows may lack."""
    n, n_views = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    views = []
    for _ in range(n_views):
        d = draw(st.integers(1, 3))
        values = draw(st.lists(st.integers(-2, 2), min_size=n * d, max_size=n * d))
        scale = draw(st.sampled_from([1.0, 0.0, 1e-300, 1e140, 1e-5]))
        view = np.asarray(values, float).reshape(n, d) * scale
        if draw(st.booleans()):
            view = np.abs(view)  # factorizations take nothing negative
        if draw(st.booleans()):
            missing = draw(st.lists(st.booleans(), min_size=n, max_size=n))
            view[np.asarray(missing)] = np.nan  # samples that the view does not have
        views.append(view)
    return views


@examples(12, soak=2)
@given(views=hard_views(), data=st.data())
def test_views(views, data):
    n = len(views[0])
    n_clusters = data.draw(st.sampled_from(sorted({1, min(2, n), n, n + 1})), "n_clusters")
    originals = [view.copy() for view in views]
    for method in MULTIVIEW:
        estimator = quick(method(n_clusters))
        try:
            labels = outcome(lambda e=estimator: e.fit(views).labels_)
            if labels is not REFUSED:
                assert labels.shape == (n,)
                assert labels.dtype.kind == "i"
                assert labels.max() < n_clusters
                assert np.isnan(np.hstack(views)[labels < 0]).any(axis=1).all()
        except BaseException as error:
            error.add_note(f"{method.__name__}({n_clusters})")
            raise
    for view, original in zip(views, originals, strict=True):
        np.testing.assert_array_equal(view, original)


WRONG_VIEWS = {
    "nothing": [],
    "one number": 3,
    "a table instead of a list": np.ones(4),
    "other lengths": [np.ones((3, 2)), np.ones((4, 2))],
    "infinity": [np.array([[np.inf], [1.0]])],
    "text": [np.array([["a"], ["b"]])],
    "no features": [np.ones((3, 0))],
    "no samples": [np.ones((0, 2))],
    "all missing": [np.full((3, 2), np.nan)],
    "complex": [np.ones((3, 2), complex)],
    "None": None,
}


@pytest.mark.parametrize("name", WRONG_VIEWS)
def test_wrong_views(name):
    views = WRONG_VIEWS[name]
    for method in MULTIVIEW:
        call = outcome(lambda m=method: quick(m(1)).fit(views), errors=(ValueError, TypeError))
        assert call is REFUSED, method.__name__
    call = outcome(lambda: generate_partitions(views), errors=(ValueError, TypeError))
    assert call is REFUSED


@st.composite
def memberships(draw):
    """Draw soft partitions: degrees over hundreds of orders, certain, equal or missing ones."""
    n = draw(st.integers(1, 7))
    tables = []
    for _ in range(draw(st.integers(1, 3))):
        k = draw(st.integers(1, 3))
        powers = draw(st.lists(st.integers(-300, 0), min_size=n * k, max_size=n * k))
        table = 10.0 ** np.asarray(powers, float).reshape(n, k)
        if draw(st.booleans()):
            table = np.eye(k)[table.argmax(axis=1)]
        table /= table.sum(axis=1, keepdims=True)
        if draw(st.booleans()) and tables:
            table[draw(st.integers(0, n - 1))] = np.nan
        tables.append(table)
    return tables


@examples(25)
@given(tables=memberships(), data=st.data())
def test_soft_partitions(tables, data):
    n = len(tables[0])
    powers = data.draw(st.lists(st.integers(-12, 12), min_size=n, max_size=n), "powers of weights")
    ensemble = SoftEnsemble.from_memberships(tables, weights=10.0 ** np.asarray(powers))
    for method in SOFT:
        for n_clusters in sorted({1, min(2, n), n}):
            estimator = quick(prepare(method, n_clusters, 0))
            try:
                labels = outcome(lambda e=estimator: e.fit(ensemble).labels_)
                assert labels is REFUSED or (labels.shape == (n,) and labels.min() >= 0)
                assert labels is REFUSED or labels.max() < n_clusters
            except BaseException as error:
                error.add_note(f"{method.__name__}({n_clusters})")
                raise


@pytest.mark.parametrize(
    "tables",
    [
        [[[0.5, 0.4], [1.0, 0.0]]],  # sums
        [[[-0.5, 1.5], [1.0, 0.0]]],
        [[[np.inf, 0.0], [1.0, 0.0]]],
        [[[np.nan, np.nan], [np.nan, np.nan]]],
        [[[1.0], [1.0]], [[1.0]]],
        [[]],
        [["a"]],
        [],
        None,
    ],
)
def test_wrong_memberships(tables):
    call = outcome(lambda: SoftEnsemble.from_memberships(tables), errors=(ValueError, TypeError))
    assert call is REFUSED


@examples(15)
@given(table=hard_tables(), data=st.data())
def test_structure(table, data):
    n = len(table)
    hierarchy = outcome(lambda: structure.hierarchical_consensus(table, n_null=3, random_state=0))
    assert hierarchy is REFUSED or hierarchy.labels.shape[0] == n
    modes = outcome(lambda: structure.modes(table, min(2, n), random_state=0))
    assert modes is REFUSED or len(modes.mode_of) == table.shape[1]
    bits = data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n), "edges")
    graph = np.asarray(bits, float).reshape(n, n)
    for matrix in (sp.csr_matrix(graph), sp.coo_array(graph + graph.T)):
        result = outcome(lambda g=matrix: structure.graph_consensus(table, g))
        assert result is REFUSED or len(result.labels) == n


@pytest.mark.parametrize(
    "graph",
    [np.ones((2, 3)), np.full((3, 3), np.nan), np.full((3, 3), "a"), -np.ones((3, 3)), 5, None],
)
def test_wrong_graphs(graph):
    call = outcome(
        lambda: structure.graph_consensus([[0, 1, 1]], graph), errors=(ValueError, TypeError)
    )
    assert call is REFUSED


@examples(15, soak=0.3)
@given(table=hard_tables(), data=st.data())
def test_reports_and_element_centric_measures(table, data, tmp_path_factory):
    n = len(table)
    labels = np.asarray(data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n), "labels"))
    path = tmp_path_factory.mktemp("report") / "report.json"
    outcome(lambda: partita.report(table, labels, path))
    assert path.exists()
    values = outcome(lambda: metrics.element_centric_consistency(table))
    if values is not REFUSED:
        values = values[~np.isnan(values)]  # of samples that no two partitions label
        assert ((values >= -1e-9) & (values <= 1 + 1e-9)).all()
    value = outcome(lambda: metrics.element_centric_similarity(labels, labels[::-1]))
    assert -1e-9 <= value <= 1 + 1e-9


@examples(40, soak=3)
@given(data=st.data())
def test_keywords(data):
    n, d = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    values = data.draw(st.lists(st.integers(0, 3), min_size=n * d, max_size=n * d), "counts")
    scale = data.draw(st.sampled_from([1.0, 1e-300, 1e300]), "scale")
    X = np.asarray(values, float).reshape(n, d) * scale
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n), "labels")
    for matrix in (X, sp.csr_matrix(X)):
        outcome(lambda m=matrix: cluster_keywords(m, labels))
        outcome(lambda m=matrix: cluster_keywords(m, labels, n_keywords=1, idf=False))


@pytest.mark.parametrize(
    ("X", "labels"),
    [
        (np.full((2, 2), np.nan), [0, 1]),
        (np.full((2, 2), np.inf), [0, 1]),
        (np.ones((2, 2)), [0, 1, 1]),
        (np.ones((0, 2)), []),
        (np.ones((2, 0)), [0, 1]),
        (np.array([["a"], ["b"]]), [0, 1]),
        (None, [0]),
    ],
)
def test_wrong_counts(X, labels):
    call = outcome(lambda: cluster_keywords(X, labels), errors=(ValueError, TypeError))
    assert call is REFUSED


SEGMENTED = {
    "one sample": np.ones((1, 2)),
    "equal samples": np.ones((6, 2)),
    "NaN": np.full((6, 2), np.nan),
    "infinity": np.full((6, 2), np.inf),
    "huge": np.arange(12.0).reshape(6, 2) * 1e307,
    "tiny": np.arange(12.0).reshape(6, 2) * 1e-300,
    "integers": np.arange(12).reshape(6, 2),
    "no rows": np.ones((0, 2)),
    "no features": np.ones((6, 0)),
    "one dimension": np.ones(6),
    "text": np.full((6, 2), "a"),
    "complex": np.ones((6, 2), complex),
}


@pytest.mark.parametrize("name", SEGMENTED)
def test_segment(name, tmp_path):
    np.save(tmp_path / "X.npy", SEGMENTED[name])
    for metric in ("euclidean", "cosine"):
        options = {"n_partitions": 2, "n_clusters": 2, "n_jobs": 1, "metric": metric}
        store = outcome(
            lambda o=options: partita.segment(
                tmp_path / "X.npy", tmp_path / f"store {o['metric']}", random_state=0, **o
            ),
            errors=(ValueError, TypeError),
        )
        assert store is REFUSED or store.is_complete


@examples(10)
@given(table=hard_tables())
def test_consensus_of_a_data_frame(table):
    import pandas as pd

    frame = pd.DataFrame(table, columns=[f"p{i}" for i in range(table.shape[1])]).astype("Int64")
    frame = frame.mask(frame < 0)
    result = outcome(
        lambda: partita.add_consensus(
            frame, list(frame.columns), min(2, len(table)), random_state=0, copy=True
        )
    )
    assert result is REFUSED or len(result) == len(table)


@pytest.mark.parametrize("name", HARD_TABLES)
def test_consensus_of_annotated_data(name):
    anndata = pytest.importorskip("anndata")
    import pandas as pd

    table = HARD_TABLES[name]
    ids = [f"s{i}" for i in range(len(table))]
    columns = {f"p{i}": pd.Categorical(np.where(c < 0, None, c)) for i, c in enumerate(table.T)}
    data = anndata.AnnData(np.ones((len(table), 2)), obs=pd.DataFrame(columns, index=ids))
    for k in (1, min(2, len(table)), len(table) + 1):
        copy = data.copy()
        result = outcome(lambda d=copy, k=k: partita.tl.consensus(d, list(columns), k))
        assert (result is REFUSED) == (k > len(table))
        assert result is REFUSED or copy.obs["consensus"].notna().all()
    outcome(lambda: partita.tl.consensus(data, ["absent"], 1), errors=(ValueError, KeyError))
    outcome(lambda: partita.tl.consensus(data, use="X", n_clusters=1, n_partitions=2))


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


NUMBERS = st.sampled_from(["0", "1", "-1.5", "1e300", "nan", "", "x", "1e-300", "inf", "=1"])


@examples(25, soak=0.3)
@given(data=st.data())
def test_commands_on_several_views(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    paths = []
    for name in ("first", "second"):
        ids = data.draw(st.lists(st.sampled_from(["a", "b", "c", "d", "../e", ""]), max_size=5))
        rows = [[i, data.draw(NUMBERS), data.draw(NUMBERS)] for i in ids]
        paths.append(write(folder / f"{name}.csv", [["id", "x", "y"], *rows]))
    for ids in (("--id-column", "id"), ()):
        run("generate", *paths, *ids, "-n", 2, "-o", folder / "labels.csv", "-q")
        run("fuse", "--features", *paths, *ids, "-k", 1, "-o", folder / "out.csv", "-q")


@pytest.mark.parametrize("name", HARD_TABLES)
def test_reports_of_hard_tables(name, tmp_path):
    table = HARD_TABLES[name]
    source = write(tmp_path / "p.csv", [[f"=p{i}" for i in range(table.shape[1])], *table.tolist()])
    target = tmp_path / "consensus.csv"
    assert run("fuse", source, "-k", 1, "-o", target, "-q") == 0
    assert run("report", source, target, "-o", tmp_path / "report.html", "-q") == 0
