"""Row segmentation of sparse texts, by direction, and draws with replacement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from partita import SEC, LabelStore, config_context
from partita.exceptions import InvalidStoreError, MemoryBudgetError
from partita.generators import segment
from partita.generators._estimators import clone_with_seed
from partita.io.feature_files import FeatureFiles

N, K = 400, 3
OPTIONS = {"n_partitions": 8, "ratio": 0.75, "n_clusters": K, "n_jobs": 1, "random_state": 7}


@pytest.fixture(scope="module")
def documents() -> tuple[sp.csr_matrix, np.ndarray]:
    """Documents of very different length about three topics of ten terms, and five common terms."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    lengths = rng.integers(5, 200, N)
    counts = np.zeros((N, 35))
    for x in range(N):
        own = y[x] * 10 + rng.integers(0, 10, lengths[x])
        np.add.at(counts[x], own, 1)
        np.add.at(counts[x], rng.integers(30, 35, lengths[x] // 5), 1)
    return sp.csr_matrix(counts.astype(np.float32)), y


@pytest.fixture
def file(tmp_path: Path, documents) -> Path:
    sp.save_npz(tmp_path / "X.npz", documents[0], compressed=False)
    return tmp_path / "X.npz"


def labels_of(store: LabelStore) -> np.ndarray:
    codes = store.read(0, store.n_samples).astype(np.int64)
    return np.where(codes == store.missing_code, -1, codes)


def test_a_partition_clusters_the_directions_of_the_rows_it_drew(
    file: Path, tmp_path: Path, documents
) -> None:
    X, y = documents
    store = segment(file, tmp_path / "s", metric="cosine", **OPTIONS)
    labels = labels_of(store)
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    unit = sp.csr_matrix(X / lengths, dtype=np.float32)
    for i in range(8):
        rows = np.flatnonzero(labels[:, i] >= 0)
        assert len(rows) == 300
        rng = np.random.default_rng(
            np.random.SeedSequence(store.provenance["entropy"], spawn_key=(i,))
        )
        drawn = _without_replacement(rng)
        np.testing.assert_array_equal(rows, drawn)
        model = clone_with_seed(MiniBatchKMeans(K, batch_size=4096, n_init=1), rng)
        assert adjusted_rand_score(model.fit_predict(unit[rows]), labels[rows, i]) == 1
    consensus = SEC(K, random_state=0).fit(store).labels_
    assert adjusted_rand_score(y[consensus >= 0], consensus[consensus >= 0]) > 0.95


def _without_replacement(rng: np.random.Generator) -> np.ndarray:
    from partita.generators._segmentation_task import sample_rows

    return sample_rows(N, 300, rng)


def test_dense_and_sparse_files_give_the_same_partitions(
    file: Path, tmp_path: Path, documents
) -> None:
    np.save(tmp_path / "X.npy", documents[0].toarray())
    sparse = segment(file, tmp_path / "s", metric="cosine", **OPTIONS)
    dense = segment(tmp_path / "X.npy", tmp_path / "d", metric="cosine", **OPTIONS)
    for one, other in zip(labels_of(sparse).T, labels_of(dense).T, strict=True):
        assert adjusted_rand_score(one, other) > 0.95  # roundings of sums differ


def test_rows_of_zeros_get_no_label_by_direction(tmp_path: Path, documents) -> None:
    X = sp.lil_matrix(documents[0])
    X[::4] = 0
    sp.save_npz(tmp_path / "X.npz", sp.csr_matrix(X), compressed=False)
    with pytest.warns(UserWarning, match="100 of 400 samples have no label"):
        store = segment(tmp_path / "X.npz", tmp_path / "s", metric="cosine", **OPTIONS)
    labels = labels_of(store)
    assert (labels[::4] == -1).all()
    assert (labels[1::4] >= 0).any(axis=1).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_rows_drawn_again_count_as_often(
    file: Path, tmp_path: Path, documents, metric: str
) -> None:
    seen = []

    class Recording(MiniBatchKMeans):
        def fit_predict(self, X, y=None, sample_weight=None):
            seen.append(X.shape[0])
            return super().fit_predict(X, y, sample_weight)

    options = {**OPTIONS, "ratio": 1.0}
    store = segment(
        file, tmp_path / "s", metric=metric, replacement=True, estimator=Recording(K, n_init=1),
        **options,
    )  # fmt: skip
    assert seen == [N] * 8
    shares = (labels_of(store) >= 0).mean(axis=0)
    # a sample is not drawn with probability (1 - 1/n)^n; five deviations of the mean
    expected = 1 - (1 - 1 / N) ** N
    assert abs(shares.mean() - expected) < 5 * np.sqrt(expected * (1 - expected) / N / 8)


def test_an_interrupted_call_needs_the_same_metric_and_draws(file: Path, tmp_path: Path) -> None:
    segment(file, tmp_path / "s", metric="cosine", **OPTIONS)
    with pytest.raises(InvalidStoreError, match="other arguments: metric"):
        segment(file, tmp_path / "s", **OPTIONS)
    with pytest.raises(InvalidStoreError, match="other arguments: replacement"):
        segment(file, tmp_path / "s", metric="cosine", replacement=True, **OPTIONS)
    with pytest.raises(ValueError, match='metric must be "euclidean" or "cosine", got \'l1\''):
        segment(file, tmp_path / "t", metric="l1", **OPTIONS)


def test_a_store_made_before_these_options_existed_is_continued(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = []
    create = LabelStore.create

    def create_without_options(*arguments, provenance, **options):
        created.append(provenance)
        earlier = {k: v for k, v in provenance.items() if k not in ("metric", "replacement")}
        return create(*arguments, provenance=earlier, **options)

    with monkeypatch.context() as patch:
        patch.setattr(LabelStore, "create", create_without_options)
        first = segment(file, tmp_path / "s", **OPTIONS)
    assert "metric" in created[0]
    again = segment(file, tmp_path / "s", **OPTIONS)
    np.testing.assert_array_equal(labels_of(again), labels_of(first))
    with pytest.raises(InvalidStoreError, match="other arguments: metric"):
        segment(file, tmp_path / "s", metric="cosine", **OPTIONS)


def test_memory_is_counted_by_values_not_by_columns(tmp_path: Path) -> None:
    wide = sp.csr_matrix((np.ones(100, np.float32), (range(100), range(100))), (100, 10**7))
    sp.save_npz(tmp_path / "X.npz", wide, compressed=False)
    assert FeatureFiles.of(tmp_path / "X.npz").row_bytes == 24
    with config_context(memory_budget=75 * 24 * 3 - 1), pytest.raises(MemoryBudgetError):
        segment(tmp_path / "X.npz", tmp_path / "s", **OPTIONS)
