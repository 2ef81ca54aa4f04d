"""Consensus where the labels already are: AnnData and data frames of any library."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from partita import (
    CCGP,
    EAC,
    KCC,
    SEC,
    Ensemble,
    LabelStore,
    add_consensus,
    config_context,
    diagnose,
    report,
    scan_k,
)
from partita.datasets import make_partitions
from partita.ensemble import _ensemble
from partita.exceptions import (
    InvalidEnsembleError,
    MemoryBudgetError,
    NoStructureError,
    PartitaWarning,
)
from partita.fusion import fits_in_memory, fuse
from partita.metrics import adjusted_rand

LABELS, TRUTH = make_partitions(90, 12, 3, noise=0.15)


def columns() -> dict[str, np.ndarray]:
    return {f"leiden_{i}": column for i, column in enumerate(LABELS.T)}


def expected() -> np.ndarray:
    return CCGP(n_clusters=3, random_state=0).fit_predict(LABELS)


# -- fuse ------------------------------------------------------------------------------------


def test_fuse_is_the_method_and_its_diagnosis() -> None:
    fusion = fuse(LABELS, 3, random_state=0)
    np.testing.assert_array_equal(fusion.labels, expected())
    np.testing.assert_array_equal(fusion.confidence, diagnose(LABELS, fusion.labels).confidence)
    assert fusion.scan is None


@pytest.mark.parametrize("method", ["EAC", CCGP, CCGP(random_state=5)])
def test_methods_by_key_class_and_estimator(method) -> None:
    fusion = fuse(LABELS, 3, method=method, random_state=1)
    assert fusion.n_clusters == 3
    if isinstance(method, CCGP):
        assert fusion.method.random_state == 5
        assert method.n_clusters != 3  # the user's estimator is not touched


def test_the_number_of_clusters_is_chosen() -> None:
    fusion = fuse(LABELS, k_range=range(2, 5), random_state=0)
    assert fusion.scan.best_k == fusion.n_clusters == 3


def test_a_number_is_chosen_for_fewer_samples_than_the_default_range_needs() -> None:
    rng = np.random.default_rng(0)
    partitions = (np.arange(7) > 3)[:, None] ^ (rng.random((7, 12)) < 0.1)
    fusion = fuse(partitions, random_state=0)
    assert fusion.n_clusters == 2
    assert list(fusion.scan.k) == [2, 3, 4, 5, 6]
    with pytest.raises(ValueError, match=r"at least 3 samples .* got 2\. Pass n_clusters"):
        fuse([[0, 1]] * 4)


def test_more_clusters_than_are_tried_are_warned_of() -> None:
    partitions = np.repeat(np.arange(40), 5)[:, None].repeat(8, axis=1)
    with pytest.warns(PartitaWarning, match=r"30 clusters, the largest number .* may be more"):
        assert fuse(partitions, random_state=0).n_clusters == 30


def test_the_range_may_be_an_array_and_is_never_ignored() -> None:
    assert fuse(LABELS, k_range=np.arange(2, 5), random_state=0).n_clusters == 3
    with pytest.raises(ValueError, match="k_range must hold"):
        fuse(LABELS, k_range=[])
    with pytest.raises(TypeError, match=r"k_range must be several whole numbers, .* got 5"):
        fuse(LABELS, k_range=5)


def test_no_structure_is_an_answer() -> None:
    noise = np.random.default_rng(0).integers(0, 3, (80, 8))
    with pytest.raises(NoStructureError, match="from 2 to 4 does better"):
        fuse(noise, k_range=range(2, 5), random_state=0)


def test_results_are_computed_once(monkeypatch) -> None:
    """The scan, the method and the report use one reduction and one diagnosis."""
    reduced = []
    compress = _ensemble.compress
    monkeypatch.setattr(_ensemble, "compress", lambda e: reduced.append(e) or compress(e))
    fusion = fuse(LABELS, k_range=[2, 3], random_state=0)
    assert sum(e is fusion.partitions for e in reduced) == 1


# -- stores ----------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    """A store with a sample that no partition labels."""
    labels = np.vstack([LABELS, np.full(LABELS.shape[1], -1)])
    ensemble = Ensemble.from_partitions(labels, unlabeled="keep")
    return LabelStore.from_partitions(ensemble, tmp_path / "store")


def test_a_store_that_fits_is_read_into_memory(store: LabelStore) -> None:
    fusion = fuse(store, 3, random_state=0)
    np.testing.assert_array_equal(fusion.labels, [*expected(), -1])
    assert isinstance(fusion.partitions, Ensemble)
    assert fusion.diagnosis is not None


def test_the_number_that_a_method_was_given_is_used() -> None:
    fusion = fuse(LABELS, method=KCC(n_clusters=4, random_state=0))
    assert (fusion.n_clusters, fusion.scan) == (4, None)
    assert fuse(LABELS, 2, method=KCC(n_clusters=4, random_state=0)).n_clusters == 2
    scanned = fuse(LABELS, method=KCC(n_clusters=4, random_state=0), k_range=[2, 3], random_state=0)
    assert scanned.scan is not None
    assert scanned.n_clusters == 3


def test_a_store_that_does_not_fit_is_fitted_out_of_core(store: LabelStore) -> None:
    with config_context(memory_budget=5_000):
        assert not fits_in_memory(store, 3)
        fusion = fuse(store, 3, method="sec", random_state=0)
        given = fuse(store, method=SEC(3, random_state=0))
        fitted = SEC(3, random_state=0).fit(store)
    np.testing.assert_array_equal(given.labels, fitted.labels_)
    np.testing.assert_array_equal(fusion.labels, fitted.labels_)
    assert fusion.n_clusters == 3
    assert fusion.partitions is store
    assert (fusion.confidence, fusion.diagnosis, fusion.scan) == (None, None, None)


def test_no_report_without_a_diagnosis(store: LabelStore, tmp_path: Path) -> None:
    with config_context(memory_budget=5_000):
        fusion = fuse(store, 3, method="sec", random_state=0)
    with pytest.raises(ValueError, match="fitted out of core"):
        report(store, fusion, tmp_path / "page.html")


def test_what_needs_the_labels_in_memory_says_so(store: LabelStore) -> None:
    with config_context(memory_budget=5_000):
        with pytest.raises(MemoryBudgetError, match="Pass the number of clusters"):
            fuse(store, method="sec")
        with pytest.raises(MemoryBudgetError, match=r"as EAC needs\..*: ccgp, kcc, .*sec"):
            fuse(store, 3, method="eac")


# -- AnnData ---------------------------------------------------------------------------------


@pytest.fixture
def adata():
    anndata = pytest.importorskip("anndata")
    import pandas

    names = [f"cell{i}" for i in range(len(LABELS))]
    as_text = {name: pandas.Categorical(c.astype(str)) for name, c in columns().items()}
    obs = pandas.DataFrame(as_text, index=names)
    obs["total"] = 1.0
    return anndata.AnnData(X=np.ones((len(LABELS), 2)), obs=obs)


def test_anndata_gets_consensus_confidence_and_record(adata) -> None:
    assert add_consensus(adata, "leiden_*", 3, random_state=0) is None
    column = adata.obs["consensus"]
    assert column.dtype == "category"
    assert column.cat.categories.tolist() == ["0", "1", "2"]
    assert adjusted_rand(column.astype(int), expected()) == 1
    assert (np.diff(column.value_counts()[["0", "1", "2"]]) <= 0).all()  # the largest is "0"
    assert adata.obs["consensus_confidence"].between(0, 1).all()
    record = adata.uns["consensus"]
    params = record["params"]
    assert params["method"] == "ccgp"
    assert params["n_clusters"] == 3
    assert params["theta"] == 0.4
    assert params["columns"].tolist() == list(columns())
    assert params["random_state"] == 0
    assert set(record["versions"]) == {"partita", "numpy", "scipy", "scikit-learn"}


def test_anndata_gets_margin_and_runner_up(adata) -> None:
    add_consensus(adata, "leiden_*", 3, random_state=0)
    obs = adata.obs
    diagnosis = diagnose(Ensemble.from_anndata(adata, "leiden_*"), obs["consensus"])
    np.testing.assert_allclose(obs["consensus_margin"], diagnosis.margin, rtol=0, atol=1e-12)
    runner_up = obs["consensus_runner_up"].astype(int)  # of two that are equal, either one
    assert (runner_up != obs["consensus"].astype(int)).all()
    np.testing.assert_allclose(
        diagnosis.item_consensus[np.arange(90), runner_up],
        diagnosis.confidence - diagnosis.margin,
        rtol=0,
        atol=1e-12,
    )


def test_a_pattern_does_not_take_an_earlier_consensus(adata) -> None:
    add_consensus(adata, "leiden_*", 3, random_state=0, name="leiden_consensus")
    add_consensus(adata, "leiden_*", 3, random_state=0, name="leiden_again")
    assert adata.uns["leiden_again"]["params"]["columns"].tolist() == list(columns())
    ensemble = Ensemble.from_anndata(adata, "leiden_*")
    assert ensemble.partition_names.tolist() == list(columns())
    both = Ensemble.from_anndata(adata, ["leiden_0", "leiden_consensus"])
    assert both.n_partitions == 2  # named in full, it is taken


@pytest.mark.parametrize("call", [EAC(3).fit, scan_k, partial(fuse, n_clusters=3)])
def test_an_anndata_is_not_a_table_of_labels(adata, call) -> None:
    with pytest.raises(InvalidEnsembleError, match=r"from_anndata.*leiden_0"):
        call(adata)


def test_the_index_of_a_frame_names_the_samples(adata) -> None:
    frame = adata.obs[list(columns())]
    ensemble = Ensemble.from_partitions(frame)
    assert ensemble.sample_ids.tolist() == adata.obs_names.tolist()
    assert Ensemble.from_partitions(frame.reset_index(drop=True)).sample_ids is None


def test_h5ad_holds_everything(adata, tmp_path: Path) -> None:
    import anndata

    add_consensus(adata, "leiden_*", k_range=range(2, 5), random_state=0, name="fused")
    adata.write_h5ad(tmp_path / "x.h5ad")
    back = anndata.read_h5ad(tmp_path / "x.h5ad")
    assert back.obs["fused"].tolist() == adata.obs["fused"].tolist()
    assert back.obs["fused_confidence"].tolist() == adata.obs["fused_confidence"].tolist()
    assert back.uns["fused"]["params"]["n_clusters"] == 3
    np.testing.assert_array_equal(back.uns["fused"]["scan"]["k"], range(2, 5))
    assert back.uns["fused"]["versions"] == adata.uns["fused"]["versions"]


def test_copy_leaves_the_original_alone(adata) -> None:
    changed = add_consensus(adata, "leiden_*", 3, random_state=0, copy=True)
    assert "consensus" in changed.obs
    assert "consensus" not in adata.obs
    assert "consensus" not in adata.uns


def test_a_second_call_does_not_fuse_its_own_result(adata) -> None:
    for _ in range(2):
        add_consensus(adata, "leiden_*", 3, random_state=0, name="leiden_consensus")
    assert adata.uns["leiden_consensus"]["params"]["columns"].tolist() == list(columns())


def test_a_cell_without_any_label_has_none(adata) -> None:
    adata.obs.iloc[4, : LABELS.shape[1]] = np.nan
    add_consensus(adata, "leiden_*", 3, random_state=0)
    assert adata.obs["consensus"].isna().to_numpy().nonzero()[0].tolist() == [4]


def test_columns_must_be_there(adata) -> None:
    with pytest.raises(InvalidEnsembleError, match=r"no column 'louvain_\*'; it has 'leiden_0'"):
        add_consensus(adata, "louvain_*", 3)
    with pytest.raises(InvalidEnsembleError, match="columns of obs that are partitions"):
        add_consensus(adata, n_clusters=3)


# -- data frames -----------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_comes_back_in_its_library(library: str) -> None:
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    data = {"name": [f"s{i}" for i in range(len(LABELS))], **columns()}
    frame = make(data)
    result = add_consensus(frame, ["leiden_*"], 3, random_state=0)
    assert type(result) is type(frame)
    names = result.column_names if library == "pyarrow" else list(result.columns)
    assert names == [*data, "consensus", "consensus_confidence"]
    np.testing.assert_array_equal(np.asarray(result["consensus"]), expected())
    assert "consensus" not in (frame.column_names if library == "pyarrow" else frame.columns)


def test_a_pandas_index_stays() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns(), index=np.arange(len(LABELS))[::-1] * 2)
    result = add_consensus(frame, n_clusters=3, random_state=0)
    assert result.index.equals(frame.index)
    np.testing.assert_array_equal(result["consensus"], expected())


def test_noise_means_what_is_said() -> None:
    polars = pytest.importorskip("polars")
    labels = LABELS.copy()
    labels[:30, :6] = -1
    frame = polars.DataFrame({f"run{i}": column for i, column in enumerate(labels.T)})
    result = add_consensus(frame, n_clusters=3, noise="cluster", random_state=0)
    ensemble = Ensemble.from_partitions(labels, noise="cluster")
    same = CCGP(n_clusters=3, random_state=0).fit_predict(ensemble)
    assert adjusted_rand(result["consensus"].to_numpy(), same) == 1.0


def test_something_else_is_refused() -> None:
    with pytest.raises(InvalidEnsembleError, match="got ndarray"):
        add_consensus(LABELS, n_clusters=3)
