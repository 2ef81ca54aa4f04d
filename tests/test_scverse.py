"""`partita.tl` and `partita.pl`: AnnData and MuData as scanpy treats them."""

from __future__ import annotations

import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph

import partita
from partita import adjusted_rand
from partita._packages import is_installed
from partita.diagnostics import cluster_profiles
from partita.exceptions import InvalidEnsembleError, NoStructureError
from partita.multiview import scan_k_views
from partita.plotting import cluster_colors

anndata = pytest.importorskip("anndata")
pandas = pytest.importorskip("pandas")
needs_leiden = pytest.mark.skipif(
    not is_installed("leidenalg"), reason="the package leidenalg is not installed"
)
X, Y = make_blobs([60, 40, 20], 5, centers=None, cluster_std=1.0, random_state=2)


@pytest.fixture
def adata():
    rng = np.random.default_rng(0)
    obs = pandas.DataFrame(index=[f"cell{i}" for i in range(len(Y))])
    for i, resolution in enumerate((0.5, 1.0, 2.0)):
        labels = np.where(rng.random(len(Y)) < 0.05, rng.permutation(Y), Y * 2 + (X[:, i] > 0))
        obs[f"leiden_{resolution}"] = pandas.Categorical(labels.astype(str))
    cells = anndata.AnnData(X.copy(), obs, obsm={"X_pca": X.copy()})
    graph = kneighbors_graph(X, 10)
    cells.obsp["connectivities"] = graph.maximum(graph.T)
    return cells


def test_consensus_of_columns(adata) -> None:
    assert partita.tl.consensus(adata, "leiden_*", 3) is None
    assert adjusted_rand(Y, adata.obs["consensus"]) > 0.9
    assert [*adata.obs["consensus"].value_counts()[["0", "1", "2"]]] == sorted(
        adata.obs["consensus"].value_counts(), reverse=True
    )
    assert {"consensus_confidence", "consensus_margin", "consensus_runner_up"} <= {*adata.obs}
    assert adata.uns["consensus"]["params"]["columns"].tolist() == [
        "leiden_0.5", "leiden_1.0", "leiden_2.0",
    ]  # fmt: skip
    colors = adata.uns["consensus_colors"]
    assert len(colors) == 3
    assert all(re.fullmatch("#[0-9a-f]{6}", color) for color in colors)
    assert partita.tl.partitions(adata).sample_ids.tolist() == adata.obs_names.tolist()


def test_consensus_of_features(adata) -> None:
    partita.tl.consensus(adata, n_clusters=3, use="X_pca", n_partitions=12, name="fused")
    assert adjusted_rand(Y, adata.obs["fused"]) > 0.95
    assert adata.obsm["fused_partitions"].shape == (120, 12)
    params = adata.uns["fused"]["params"]
    assert (params["use"], params["partitions"]) == ("X_pca", "fused_partitions")
    again = partita.fuse(partita.tl.partitions(adata, "fused"), 3, random_state=0)
    assert adjusted_rand(again.labels, adata.obs["fused"]) == 1


def test_features_are_not_scanned_if_the_method_was_given_a_number(adata) -> None:
    method = partita.KCC(n_clusters=4, random_state=0)
    partita.tl.consensus(adata, use="X_pca", method=method, n_partitions=12)
    assert len(adata.obs["consensus"].cat.categories) == 4


def test_number_of_clusters_of_features_comes_with_a_sound_null(adata) -> None:
    generator = partita.RandomK(10)
    partita.tl.consensus(adata, use="X_pca", k_range=range(2, 5), generator=generator)
    scan = partita.scan_k_features(
        X, range(2, 5), generator=generator, method="ccgp", random_state=0
    )
    assert adata.uns["consensus"]["params"]["n_clusters"] == scan.best_k
    np.testing.assert_array_equal(adata.uns["consensus"]["scan"]["k"], range(2, 5))
    noise = anndata.AnnData(np.random.default_rng(0).random((60, 3)))
    with pytest.raises(NoStructureError, match="better than data without clusters"):
        partita.tl.consensus(noise, use="X", k_range=range(2, 4), generator=generator)


@needs_leiden
def test_consensus_of_leiden_on_the_graph_of_neighbors(adata) -> None:
    partita.tl.consensus(adata, n_clusters=3, n_partitions=20)
    assert adata.uns["consensus"]["params"]["use"] == "connectivities"
    assert adjusted_rand(Y, adata.obs["consensus"]) > 0.95
    n_clusters = partita.tl.partitions(adata).n_clusters
    assert min(n_clusters) < max(n_clusters)  # resolutions differ
    generator = partita.RandomLeiden(4, resolution=(0.1, 0.1))
    partita.tl.consensus(adata, n_clusters=3, generator=generator, name="coarse")
    assert adata.obsm["coarse_partitions"].shape == (120, 4)


def test_a_graph_needs_leiden(adata) -> None:
    with pytest.raises(ValueError, match="must be a RandomLeiden for the graph 'connectivities'"):
        partita.tl.consensus(adata, n_clusters=3, generator="random_k")


def test_without_anything_to_start_from() -> None:
    cells = anndata.AnnData(np.ones((4, 2)))
    with pytest.raises(InvalidEnsembleError, match=r"'connectivities' or 'X_pca'.*with X"):
        partita.tl.consensus(cells, n_clusters=2)
    with pytest.raises(KeyError, match=r"Call `partita\.tl\.consensus` first"):
        partita.tl.partitions(cells)


@pytest.mark.parametrize(
    "call",
    [
        lambda adata: partita.EnsembleClustering(3).fit(adata),
        lambda adata: partita.RandomK(5).fit_transform(adata),
        lambda adata: partita.generate(adata, n_partitions=5),
        lambda adata: partita.scan_k_features(adata),
        lambda adata: cluster_profiles(adata, adata.obs["leiden_1.0"]),
    ],
    ids=["EnsembleClustering", "RandomK", "generate", "scan_k_features", "cluster_profiles"],
)
def test_an_anndata_in_place_of_features_is_refused_at_once(adata, call) -> None:
    with pytest.raises(ValueError, match=r'Expected a matrix of features.*adata.obsm\["X_pca"\]'):
        call(adata)


def test_a_table_is_no_anndata() -> None:
    with pytest.raises(TypeError, match=r"Expected an AnnData or a MuData.*partita\.fuse"):
        partita.tl.consensus(X, n_clusters=3)


def test_copy_and_file(adata, tmp_path) -> None:
    changed = partita.tl.consensus(adata, n_clusters=3, use="X_pca", n_partitions=5, copy=True)
    assert "consensus" not in adata.obs
    changed.write_h5ad(tmp_path / "cells.h5ad")
    back = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert back.obs["consensus"].tolist() == changed.obs["consensus"].tolist()
    assert list(back.uns["consensus_colors"]) == list(changed.uns["consensus_colors"])
    assert partita.tl.partitions(back).n_partitions == 5


def test_figures(adata) -> None:
    partita.tl.consensus(adata, "leiden_*", 3)
    for draw in (partita.pl.consensus, partita.pl.confidence, partita.pl.agreement):
        assert draw(adata).figure_ is not None
    tree = partita.pl.cluster_tree(adata, "leiden_*")
    ax = tree.figure_.add_subplot()
    assert partita.pl.confidence(adata, ax=ax).ax_ is ax


def test_every_display_takes_the_column_of_labels(adata) -> None:
    from partita import plotting

    adata.obs.loc["cell4", ["leiden_0.5", "leiden_1.0", "leiden_2.0"]] = np.nan
    partita.tl.consensus(adata, "leiden_*", 3)
    ensemble, column = partita.tl.partitions(adata), adata.obs["consensus"]
    assert column.isna().sum() == 1
    drawn = []
    for name in plotting.__all__:
        display = getattr(plotting, name)
        if hasattr(display, "from_labels"):
            truth = (Y,) if name == "ScoresDisplay" else ()
            display.from_labels(ensemble, column, *truth).plot()
            drawn.append(name)
    assert {"AgreementDisplay", "ConfidenceDisplay", "ConsensusDisplay"} <= {*drawn}


def test_colors_are_different() -> None:
    assert len(set(cluster_colors(60))) == 60
    assert cluster_colors(60)[:5] == cluster_colors(5)


class _Cells:
    """The parts of a MuData that are used, where mudata is not installed."""

    def __init__(self, mod):
        self.mod = mod
        names = sorted({name for cells in mod.values() for name in cells.obs_names})
        self.obs_names = pandas.Index(names)
        self.obs = pandas.DataFrame(index=self.obs_names)
        self.obsm, self.uns = {}, {}


def _modalities():
    names = np.array([f"cell{i:03}" for i in range(120)])
    obs = pandas.DataFrame(index=names)
    rna = anndata.AnnData(X, obs, obsm={"X_pca": X})[:100].copy()
    protein = anndata.AnnData(X[:, :2], obs, obsm={"X_pca": X[:, :2]})[20:].copy()
    return {"rna": rna, "protein": protein}


def _check_modalities(data) -> None:
    partita.tl.consensus(data, n_clusters=3, n_partitions=10)
    assert adjusted_rand(Y, data.obs["consensus"]) > 0.8
    assert data.obs["consensus"].notna().all()
    labels = np.asarray(data.obsm["consensus_partitions"])
    assert (labels[100:, :10] == -1).all()
    assert (labels[:20, 10:] == -1).all()
    diagnosis = partita.diagnose(partita.tl.partitions(data), data.obs["consensus"])
    assert [view["view"] for view in diagnosis.view_records()] == ["rna", "protein"]
    partita.tl.consensus(data, n_partitions=10, k_range=range(2, 5), name="chosen")
    scan = scan_k_views(
        {part: cells.obsm["X_pca"] for part, cells in data.mod.items()},
        range(2, 5),
        present={part: cells.obs_names for part, cells in data.mod.items()},
        sample_ids=list(data.obs_names),
        random_state=0,
    )
    assert data.uns["chosen"]["params"]["n_clusters"] == scan.best_k
    assert 3 in scan.tied_k
    assert data.uns["chosen"]["scan"]["k"].tolist() == [2, 3, 4]


def test_modalities_of_any_object_with_the_parts_of_a_mudata() -> None:
    _check_modalities(_Cells(_modalities()))


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of mudata
@pytest.mark.filterwarnings("ignore::UserWarning:mudata")
def test_modalities_of_a_mudata() -> None:
    mudata = pytest.importorskip("mudata")
    _check_modalities(mudata.MuData(_modalities()))


def test_the_notebook_has_the_code_of_the_tutorial() -> None:
    root = Path(__file__).resolve().parents[1]
    page = (root / "docs" / "pbmc.md").read_text(encoding="utf-8")
    cells = json.loads((root / "examples" / "pbmc.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert code == [block.strip("\n") for block in blocks]
    assert [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"] == [
        *range(1, len(code) + 1)
    ]


@needs_leiden
def test_the_code_of_the_tutorial_runs(adata, monkeypatch, tmp_path) -> None:
    """Without scanpy and its download: a stand-in has small data and the Leiden of this library."""
    cells = adata[:, :].copy()
    cells.obs = cells.obs[[]]
    cells.obs["bulk_labels"] = pandas.Categorical([f"type {y}" for y in Y])
    cells.obs["louvain"] = pandas.Categorical(Y.astype(str))
    drawn = []

    def leiden(data, resolution, key_added, **_) -> None:
        generator = partita.RandomLeiden(
            n_partitions=1,
            resolution=(resolution, resolution),
            metric="precomputed",
            random_state=0,
        )
        labels = generator.fit_transform(data.obsp["connectivities"])
        data.obs[key_added] = pandas.Categorical(labels[:, 0].astype(str))

    def umap(data, color, show) -> None:
        drawn.extend(data.obs[name] for name in color)

    scanpy = types.ModuleType("scanpy")
    scanpy.datasets = types.SimpleNamespace(pbmc68k_reduced=lambda: cells)
    scanpy.tl = types.SimpleNamespace(leiden=leiden)
    scanpy.pl = types.SimpleNamespace(umap=umap)
    monkeypatch.setitem(sys.modules, "scanpy", scanpy)
    monkeypatch.chdir(tmp_path)
    notebook = Path(__file__).resolve().parents[1] / "examples" / "pbmc.ipynb"
    names: dict[str, object] = {}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert len(drawn) == 2
    assert (tmp_path / "pbmc.html").is_file()
    assert cells.obs["consensus"].nunique() == 8
    assert adjusted_rand(Y, cells.obs["consensus"]) > 0.2  # eight clusters of three clouds
