"""The number of clusters of sparse features: counts of terms against texts without topics."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2

from partita import EnsembleClustering, scan_k_features
from partita.consensus import EAC
from partita.exceptions import PartitaWarning
from partita.generators import LandmarkSpectral, RandomK, RandomRows
from partita.metrics import adjusted_rand
from partita.select_k import _sparse_null, scan_numbers
from partita.select_k._evidence import Evidence, isolation, tightness
from partita.select_k._neighbors import distinct_points, nearest
from partita.select_k._sparse_null import exchanged_reference
from partita.select_k._sparse_table import rows_as_compared
from partita.select_k._spectral_gap import eigenvalue_ratios, spectral_gaps

FORMATS = ["csr_matrix", "csc_matrix", "coo_matrix", "lil_matrix", "csr_array", "dok_array"]
QUICK = {"n_resamples": 2, "n_null": 4, "method": EAC(), "random_state": 0}
COSINE = LandmarkSpectral(12, metric="cosine", n_jobs=1)


def texts(n_topics, n=160, n_terms=600, *, seed=0, share=0.6):
    """Return counts of terms in texts of different lengths, each about one topic, and the topics.

    The rest of a text is about nothing: frequent and rare terms that all topics share.
    """
    rng = np.random.default_rng(seed)
    common = 1.0 / np.arange(3, n_terms + 3)
    special = common * rng.gamma(0.1, 1.0, (n_topics, n_terms))
    mixed = (1 - share) * common / common.sum()
    mixed = mixed + share * special / special.sum(axis=1, keepdims=True)
    y = np.arange(n) % n_topics
    lengths = np.maximum(5, rng.lognormal(np.log(80), 0.8, n)).astype(int)
    counts = [
        rng.multinomial(length, mixed[topic]) for length, topic in zip(lengths, y, strict=True)
    ]
    return sp.csr_matrix(np.asarray(counts)), y


def one_topic(seed, **options):
    return texts(1, seed=seed, share=0.0, **options)[0]


@pytest.mark.parametrize("n_topics", [2, 4, 7])
def test_planted_topics_are_found(n_topics):
    X, y = texts(n_topics, n=40 * n_topics)
    model = EnsembleClustering(random_state=0).fit(X)
    assert model.n_clusters_ == model.scan_.best_k == n_topics, str(model.scan_)
    assert adjusted_rand(y, model.labels_) > 0.9
    assert {"isolation", "spectral_gap"} <= model.scan_.curves.keys()


def test_more_than_ten_topics_are_found():
    X, _ = texts(12, n=180, n_terms=1500, share=0.9)
    scan = scan_k_features(X, generator=COSINE, **QUICK)
    assert (scan.best_k, scan.k[-1]) == (12, 30), str(scan)


@pytest.mark.parametrize(
    ("isolation", "suggested", "largest"), [(2.0, None, 30), (1.1, None, 10), (2.0, 3, 10)]
)
def test_more_than_ten_topics_are_tried_if_isolated_clusters_have_no_number(
    isolation, suggested, largest
):
    X, _ = texts(2, n=160)
    scans = []

    def scan(numbers):
        scans.append(max(numbers))
        nulls = 1.0 + 0.1 * np.random.default_rng(0).normal(size=(4, len(numbers)))
        return SimpleNamespace(
            best_k=suggested,
            k=list(numbers),
            curves={"isolation": np.full(len(numbers), isolation)},
            nulls={"isolation": nulls},
        )

    scan_numbers(scan, None, 160, 160, [rows_as_compared(X.astype(float), COSINE)])
    assert scans[-1] == largest


@pytest.mark.parametrize("seed", range(4))
def test_one_topic_is_no_structure(seed):
    X = one_topic(seed)
    assert scan_k_features(X, range(2, 7), generator=COSINE, **QUICK).best_k is None
    kmeans = RandomRows(12, ratio=0.8, metric="cosine", n_jobs=1)
    assert scan_k_features(X, range(2, 5), generator=kmeans, **QUICK).best_k is None


def test_an_estimator_warns_of_one_topic():
    with pytest.warns(PartitaWarning, match="No structure found: no number of clusters from 2"):
        model = EnsembleClustering(random_state=0).fit(one_topic(0))
    assert set(model.labels_) == {0}


@pytest.mark.parametrize("form", FORMATS)
def test_the_form_of_the_matrix_does_not_matter(form):
    X, _ = texts(3, n=90)
    expected = scan_k_features(X, range(2, 5), generator=COSINE, **QUICK)
    whole = X.astype(np.int64)
    passed = getattr(sp, form)(whole)
    before = passed.copy()
    scan = scan_k_features(passed, range(2, 5), generator=COSINE, **QUICK)
    np.testing.assert_array_equal(scan.nulls["isolation"], expected.nulls["isolation"])
    assert scan.best_k == expected.best_k == 3
    assert passed.dtype == np.int64
    assert (before != passed).nnz == 0


def test_stored_zeros_and_repeated_entries_do_not_matter():
    X, _ = texts(3, n=90)
    entries = X.tocoo()
    halves = sp.coo_matrix(
        (
            np.concatenate([entries.data / 2, entries.data / 2, np.zeros(500)]),
            (
                np.concatenate([entries.row, entries.row, np.arange(500) % 90]),
                np.concatenate([entries.col, entries.col, np.arange(500)]),
            ),
        ),
        shape=X.shape,
    )
    one, other = (
        scan_k_features(data, range(2, 5), generator=COSINE, **QUICK) for data in (X, halves)
    )
    np.testing.assert_array_equal(one.nulls["separation"], other.nulls["separation"])


def test_lengths_of_rows_do_not_matter_by_the_cosine():
    X, _ = texts(3, n=90)
    scaled = sp.diags(2.0 ** np.random.default_rng(0).integers(-300, 300, 90)) @ X
    one, other = (
        scan_k_features(data, range(2, 5), generator=COSINE, **QUICK) for data in (X, scaled)
    )
    np.testing.assert_allclose(one.nulls["isolation"], other.nulls["isolation"], rtol=1e-6)
    assert one.best_k == other.best_k == 3


def test_entries_may_be_negative():
    X, y = texts(3, n=120)
    signs = X.copy()
    signs.data *= np.random.default_rng(0).choice([-1, 1], X.shape[1])[X.indices]
    model = EnsembleClustering(random_state=0).fit(signs)
    assert model.n_clusters_ == 3
    assert adjusted_rand(y, model.labels_) > 0.9


def test_an_empty_row_is_compared_by_the_distance():
    X, _ = texts(3, n=90)
    X = sp.vstack([X, sp.csr_matrix((1, X.shape[1]))]).tocsr()
    model = EnsembleClustering(random_state=0).fit(X)
    assert model.generator_.metric == "euclidean"
    assert model.labels_.min() == 0, "every row is labeled"
    scan = scan_k_features(X, range(2, 5), **QUICK)
    np.testing.assert_array_equal([scan.labels[k].min() for k in (2, 3, 4)], 0)
    with pytest.warns(PartitaWarning, match="1 of 91 rows are all zero"):
        scan = scan_k_features(X, range(2, 5), generator=COSINE, **QUICK)
    assert scan.best_k == 3
    assert scan.labels[3][90] == -1


def test_infinite_entries_are_refused():
    X = texts(2)[0].astype(float)
    X.data[3] = np.inf
    with pytest.raises(ValueError, match="must be a finite matrix of features, got shape"):
        scan_k_features(X)


def test_a_matrix_that_is_hardly_sparse_is_scanned_as_an_array():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) + 9 * np.eye(4)[np.arange(90) % 3]
    generator = RandomK(8, n_jobs=1)
    one, other = (
        scan_k_features(data, range(2, 6), generator=generator, **QUICK)
        for data in (X, sp.csr_matrix(X))
    )
    np.testing.assert_array_equal(one.nulls["tightness"], other.nulls["tightness"])
    assert one.best_k == 3


def test_many_samples_are_drawn_from():
    X, _ = texts(2, n=300)
    scan = scan_k_features(X, range(2, 4), generator=COSINE, max_samples=100, **QUICK)
    assert len(scan.labels[2]) == 100


@pytest.mark.parametrize("seed", range(5))
def test_the_null_keeps_terms_and_texts(seed):
    rng = np.random.default_rng(seed)
    X = one_topic(seed, n=int(rng.integers(1, 250))).astype(float)
    X.data *= rng.choice([-1, 1], X.nnz)
    X = sp.vstack([sp.csr_matrix((1, X.shape[1])), X]).tocsr()  # an empty row first
    reference = exchanged_reference(X, rng)
    assert reference.has_canonical_format
    np.testing.assert_array_equal(np.diff(reference.indptr), np.diff(X.indptr))
    occurrences = [np.bincount(Z.indices, minlength=X.shape[1]) for Z in (X, reference)]
    np.testing.assert_array_equal(*occurrences)
    kept = [[np.sort(np.abs(row.data)) for row in Z] for Z in (X, reference)]
    assert all(np.array_equal(*pair) for pair in zip(*kept, strict=True))
    signs = [np.bincount(Z.indices, np.sign(Z.data), X.shape[1]) for Z in (X, reference)]
    np.testing.assert_array_equal(*signs)


def test_large_values_stay_with_their_terms():
    """Terms 0 and 1 are in all texts, with 9/10 and 1/10 of their sum, whatever the lengths."""
    sizes = np.arange(1.0, 9.0)
    X = sp.csr_matrix(np.hstack([9 * sizes[:, None], sizes[:, None], 4 * np.diag(sizes)]))
    reference = exchanged_reference(X, np.random.default_rng(0)).toarray()
    np.testing.assert_allclose(reference[:, 0], 9 * sizes)
    np.testing.assert_allclose(reference[:, 1], sizes)
    np.testing.assert_allclose(reference[:, 2:].sum(axis=1), 4 * sizes)
    assert np.any(reference[:, 2:] != 4 * np.diag(sizes))


@pytest.mark.parametrize(
    ("rows", "columns"), [([1, 1, 1, 1], [1, 1, 1, 1]), ([2, 1, 1], [2, 1, 1])]
)
def test_every_table_with_these_margins_is_as_frequent(rows, columns, monkeypatch):
    """The tables are listed, and chi-squared compares how often each is drawn."""
    monkeypatch.setattr(_sparse_null, "_ROUNDS", 60)
    n, d = len(rows), len(columns)
    tables = [
        np.reshape(cells, (n, d))
        for cells in itertools.product([0, 1], repeat=n * d)
        if np.array_equal(np.reshape(cells, (n, d)).sum(axis=1), rows)
        and np.array_equal(np.reshape(cells, (n, d)).sum(axis=0), columns)
    ]
    place = {table.tobytes(): i for i, table in enumerate(tables)}
    rng = np.random.default_rng(0)
    n_draws = 40 * len(tables)
    drawn = [
        exchanged_reference(sp.csr_matrix(tables[0].astype(float)), rng).toarray()
        for _ in range(n_draws)
    ]
    counts = np.bincount([place[t.astype(tables[0].dtype).tobytes()] for t in drawn])
    assert len(counts) == len(tables)
    statistic = np.sum((counts - 40.0) ** 2 / 40.0)
    assert statistic < chi2.ppf(0.999, len(tables) - 1)


def test_sparse_and_dense_features_have_the_same_evidence():
    X, y = texts(3, n=90, n_terms=60)
    X = sp.vstack([X, X[:3]]).tocsr()  # equal points count once
    labels = np.concatenate([y, y[:3]])
    labels[5] = -1
    rows = rows_as_compared(X.astype(float), COSINE)
    np.testing.assert_allclose(np.sqrt(rows.multiply(rows).sum(axis=1)), 1.0)
    dense = rows.toarray()
    assert tightness(rows, labels) == pytest.approx(tightness(dense, labels), rel=1e-12)
    assert tightness(sp.csr_matrix((9, 4)), labels[:9]) == 0.0
    one, other = (Evidence.isolation(points).of(labels) for points in (rows, dense))
    assert one == pytest.approx(other, rel=1e-12)
    ks = range(2, 7)
    np.testing.assert_allclose(spectral_gaps(rows, ks), spectral_gaps(dense, ks), atol=1e-8)
    shapes = np.log([4.0, 4.0, 3.0, 8 / 3, 2.5])
    np.testing.assert_allclose(eigenvalue_ratios(rows, ks) - shapes, spectral_gaps(rows, ks))


def test_nearest_neighbors_of_sparse_points_are_those_of_all_distances():
    X, _ = texts(2, n=70, n_terms=40)
    points, first = distinct_points(X.astype(float))
    assert len(first) == len(np.unique(X.toarray(), axis=0))
    dense = points.toarray()
    all_distances = np.linalg.norm(dense[:, None] - dense, axis=2)
    rows = np.array([3, 0, 11])
    distances, neighbors = nearest(points, rows, 5)
    np.testing.assert_allclose(distances, np.sort(all_distances[rows], axis=1)[:, :5], atol=1e-6)
    np.testing.assert_allclose(
        np.take_along_axis(all_distances[rows], neighbors, axis=1), distances, atol=1e-6
    )
    assert isolation(rows, neighbors, np.zeros(len(first), np.int64)) == 0.0
