"""Commands: the library's result on stdout or in a file, ids kept, mistakes in one line."""

from __future__ import annotations

import csv
import gzip
import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from planted import CLOUDS, IDS, LABELS, POINTS, TRUTH, write_csv
from scipy.sparse import csr_matrix

import partita.generators
from partita import CCGP, compare, scan_k, scan_k_features
from partita._packages import is_installed
from partita.cli.generate import Generator
from partita.generators import LandmarkSpectral
from partita.io import LabelStore, read_labels
from partita.metrics import adjusted_rand, element_centric_similarity, evaluate

RUNS = ("--id-column", "sample", "--columns", "run_*")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


# -- fuse ------------------------------------------------------------------------------------


def test_fuse_writes_the_librarys_labels_with_ids_to_stdout(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3", *RUNS)
    assert done.exit_code == 0, done.stderr
    found = rows(done.stdout)  # nothing but data
    assert list(found[0]) == ["sample", "consensus", "consensus_confidence"]
    assert [r["sample"] for r in found] == IDS
    expected = CCGP(n_clusters=3, random_state=0).fit_predict(LABELS)
    assert [int(r["consensus"]) for r in found] == expected.tolist()
    assert all(0 <= float(r["consensus_confidence"]) <= 1 for r in found)
    assert "3 clusters of 60 samples from 10 partitions by CCGP" in done.stderr
    assert "cohesion" in done.stderr


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".npz"])
def test_fuse_writes_files(partita, labels: Path, suffix: str, tmp_path: Path) -> None:
    target = tmp_path / f"out{suffix}"
    done = partita("fuse", str(labels), "-k", "3", *RUNS, "-o", str(target), "--name", "group")
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert f"wrote {target}" in done.stderr
    back = read_labels(target, id_column="sample")
    assert back.ids.tolist() == IDS
    assert adjusted_rand(TRUTH, back.columns["group"].tolist()) > 0.9


def test_fuse_to_npy_is_the_labels_alone(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3", "-c", "run_*", "-o", "out.npy")
    assert done.exit_code == 0, done.stderr
    assert np.load("out.npy", allow_pickle=False).shape == (60,)


def test_fuse_as_json(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3", *RUNS, "-m", "sec", "--seed", "4", "--json")
    record = json.loads(done.stdout)
    assert record["n_clusters"] == 3
    assert record["method"] == "sec"
    assert record["seed"] == record["parameters"]["random_state"] == 4
    assert sum(record["sizes"]) == 60
    assert record["ids"] == IDS
    assert adjusted_rand(TRUTH, record["labels"]) > 0.9

    done = partita("fuse", str(labels), "-k", "3", *RUNS, "--json", "-o", "out.csv")
    assert "labels" not in json.loads(done.stdout)
    assert Path("out.csv").exists()


def test_fuse_keeps_its_state_where_it_is_told(partita, labels: Path) -> None:
    options = ("-k", "3", *RUNS, "-m", "sec", "--json", "--checkpoint", "state")
    first, again = (partita("fuse", str(labels), *options) for _ in range(2))
    assert first.exit_code == again.exit_code == 0, first.stderr
    assert json.loads(first.stdout) == json.loads(again.stdout)
    assert json.loads(first.stdout)["parameters"]["checkpoint"] == "state"


def test_quiet_says_nothing(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3", *RUNS, "--quiet")
    assert done.stderr == ""
    assert len(rows(done.stdout)) == 60


def test_pipes(partita, labels: Path) -> None:
    text = labels.read_text(encoding="utf-8")
    done = partita("fuse", "-", "-k", "3", *RUNS, "-o", "-", stdin=text)
    assert [r["sample"] for r in rows(done.stdout)] == IDS
    scored = partita("evaluate", "-", str(labels), "-i", "sample", "--truth-column", "truth",
                     "--json", stdin=done.stdout)  # fmt: skip
    assert list(json.loads(scored.stdout)) == ["consensus"]


def test_fuse_chooses_k_or_finds_no_structure(partita, labels: Path, tmp_path: Path) -> None:
    done = partita("fuse", str(labels), "-k", "2:4", *RUNS, "--json")
    assert json.loads(done.stdout)["n_clusters"] == 3
    assert "chosen against the null" in done.stderr

    noise = np.random.default_rng(0).integers(0, 3, (60, 8))
    np.save(tmp_path / "noise.npy", noise)
    done = partita("fuse", "noise.npy", "-k", "2:3")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "No structure found" in done.stderr


def test_samples_without_labels_have_none(partita) -> None:
    text = (
        "id,a,b,c\n" + "".join(f"s{i},{i // 3},{i // 3},{i // 3}\n" for i in range(6)) + "s6,,,\n"
    )
    done = partita("fuse", "-", "-k", "2", "-i", "id", stdin=text)
    assert rows(done.stdout)[-1] == {"id": "s6", "consensus": "", "consensus_confidence": ""}
    assert "1 of 7 samples have no label" in done.stderr


def test_missing_tokens_and_noise(partita) -> None:
    text = "a,b,c\n" + "0,0,?\n0,0,0\n0,-1,0\n1,1,1\n1,1,1\n1,?,-1\n"
    done = partita("fuse", "-", "-k", "2", "--missing-values", "?", "--json", stdin=text)
    assert json.loads(done.stdout)["labels"] == [0, 0, 0, 1, 1, 1]
    done = partita("fuse", "-", "-k", "2", "--missing-values", "?", "--noise", "cluster", "--json",
                   stdin=text)  # fmt: skip
    assert json.loads(done.stdout)["labels"] == [0, 0, 0, 1, 1, 1]


def test_forgotten_ids_are_pointed_out(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3")
    words = " ".join(done.stderr.split())
    assert "warning: Partition 'sample': all 60 samples have different labels" in words
    assert "--id-column" in words


def test_a_store_is_read_too(partita, tmp_path: Path) -> None:
    from partita.ensemble import Ensemble
    from partita.io import LabelStore

    LabelStore.from_partitions(Ensemble.from_partitions(LABELS, sample_ids=IDS), tmp_path / "store")
    done = partita("fuse", "store", "-k", "3")
    assert done.exit_code == 0, done.stderr
    assert [r["id"] for r in rows(done.stdout)] == IDS
    done = partita("fuse", "store", "-k", "3", "-i", "sample")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a store" in done.stderr


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A store that is larger than the memory budget of the tests below."""
    from partita.datasets import make_partitions
    from partita.ensemble import Ensemble
    from partita.io import LabelStore

    labels, _ = make_partitions(20_000, 6, 3, noise=0.1)
    ids = [f"s{i}" for i in range(20_000)]
    ensemble = Ensemble.from_partitions(labels, sample_ids=ids)
    LabelStore.from_partitions(ensemble, tmp_path / "large")
    return tmp_path / "large"


def test_a_store_larger_than_memory_is_fused_from_disk(partita, large: Path) -> None:
    from partita import SEC
    from partita.config import config_context

    with config_context(memory_budget=1_000_000):
        done = partita("fuse", "large", "-k", "3", "-m", "sec", "-o", "out.npy", "--json")
    assert done.exit_code == 0, done.stderr
    found = np.load("out.npy", allow_pickle=False)
    expected = SEC(n_clusters=3, random_state=0).fit_predict(LabelStore.open(large).to_ensemble())
    assert adjusted_rand(found, expected) == 1.0
    record = json.loads(done.stdout)
    assert record["sizes"] == np.bincount(found).tolist()

    with config_context(memory_budget=1_000_000):
        done = partita("fuse", "large", "-k", "3", "-m", "sec", "-o", "out.parquet")
    assert done.exit_code == 0, done.stderr
    assert "3 clusters of 20000 samples from 6 partitions by SEC" in done.stderr
    table = read_labels("out.parquet", id_column="id")
    np.testing.assert_array_equal(table.columns["consensus"], found)
    assert table.ids[:2].tolist() == ["s0", "s1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "3", "-m", "eac", "-o", "out.npy"], "as EAC needs. Methods that work out of core:"),
        (["-k", "3", "-m", "sec"], "Name a file with --output"),
        (["-k", "3", "-m", "sec", "-o", "out.npy", "-r", "page.html"], "as a report needs"),
        (["-k", "2:4", "-m", "sec", "-o", "out.npy"], "Pass the number of clusters"),
    ],
)
def test_what_a_large_store_cannot_do(
    partita, large: Path, arguments: list[str], message: str
) -> None:
    from partita.config import config_context

    with config_context(memory_budget=1_000_000):
        done = partita("fuse", "large", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_h5ad_in_and_out(partita, tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    import pandas

    columns = {f"leiden_{i}": pandas.Categorical(c.astype(str)) for i, c in enumerate(LABELS.T)}
    obs = pandas.DataFrame(columns, index=IDS)
    anndata.AnnData(X=np.ones((60, 2)), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    done = partita("fuse", "cells.h5ad", "-c", "leiden_*", "-k", "3", "-o", "fused.h5ad")
    assert done.exit_code == 0, done.stderr
    fused = anndata.read_h5ad(tmp_path / "fused.h5ad")
    assert adjusted_rand(TRUTH, fused.obs["consensus"].tolist()) > 0.9
    assert fused.obs_names.tolist() == IDS
    assert "leiden_0" in fused.obs


def test_a_number_that_is_omitted_is_chosen(partita, labels: Path) -> None:
    omitted = partita("fuse", str(labels), *RUNS, "--json")
    assert omitted.exit_code == 0, omitted.stderr
    record = json.loads(omitted.stdout)
    assert record["n_clusters"] == 3
    assert record == json.loads(partita("fuse", str(labels), "-k", "auto", *RUNS, "--json").stdout)


def test_text_of_other_kinds(partita) -> None:
    text = "name|a|b\nJosé|1|x\nB|1|x\nC|2|y\nD|2|y\n"
    Path("utf16.csv").write_text(text, encoding="utf-16")
    Path("latin.csv").write_text(text, encoding="latin-1")
    Path("packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    options = ("-i", "name", "-k", "2", "-q")
    for name, more in (("utf16", ()), ("latin", ("--encoding", "latin-1")), ("packed", ())):
        path = next(Path().glob(f"{name}.*"))
        done = partita("fuse", str(path), *options, *more)
        assert done.exit_code == 0, done.stderr
        assert [r["name"] for r in rows(done.stdout)] == ["José", "B", "C", "D"]
        assert [r["consensus"] for r in rows(done.stdout)] == ["0", "0", "1", "1"]
    refused = partita("fuse", "latin.csv", *options)
    assert refused.exit_code == 2
    assert "--encoding" in refused.stderr
    refused = partita("fuse", "latin.csv", *options, "--encoding", "klingon")
    assert refused.exit_code == 2
    assert "No encoding 'klingon'" in refused.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("fuse", "-k", "2"),
        ("scan-k", "-k", "2"),
        ("compare", "-k", "2"),
        ("diagnose", "twice.csv"),
        ("report", "twice.csv"),
        ("evaluate", "--truth-column", "a"),
        ("modes",),
        ("cluster-tree",),
        ("hierarchical-consensus",),
        ("graph-consensus", "twice.csv"),
        ("generate",),
        ("predict", "twice.csv", "-k", "2"),
        ("convert", "x.store"),
    ],
    ids=lambda command: command[0],
)
def test_repeated_ids_are_named(partita, command: tuple[str, ...]) -> None:
    write_csv(Path("twice.csv"), {"s": ["x", "y", "x", "z"], "a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    done = partita(command[0], "twice.csv", *command[1:], "-i", "s")
    assert done.exit_code == 2
    assert "the id 'x' occurs" in done.stderr.lower()
    assert "An id names one sample: make the ids different" in done.stderr


def test_text_that_may_be_missing_is_hinted_at(partita) -> None:
    columns = {"a": [0, 0, 1, 1], "b": ["x", "?", "y", "y"], "c": ["n/a", "u", "v", "v"]}
    write_csv(Path("tokens.csv"), columns)
    done = partita("fuse", "tokens.csv", "-k", "2")
    assert done.exit_code == 0
    assert "'?' is a cluster of b; if it means a missing label" in done.stderr
    assert "--missing-values 'n/a'" in done.stderr
    done = partita("fuse", "tokens.csv", "-k", "2", "--missing-values", "?")
    assert "'?'" not in done.stderr


@pytest.mark.parametrize("form", ["{:.17g}", "{:.3e}", "{:.3f}"])
def test_features_are_not_fused_however_their_numbers_are_written(
    partita, tmp_path: Path, form: str
) -> None:
    rng = np.random.default_rng(0)
    columns = {name: [form.format(v) for v in rng.normal(size=60)] for name in "xy"}
    columns["x"][1] = columns["x"][0]  # not all values differ, so that these are no ids
    path = write_csv(tmp_path / "features.csv", columns)
    done = partita("fuse", str(path), "-k", "3")
    assert done.exit_code == 2
    assert "holds features and not labels" in " ".join(done.stderr.split())


def test_features_are_not_fused(partita, features: Path) -> None:
    done = partita("fuse", str(features), "-k", "3", "-i", "sample")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "holds features and not labels" in " ".join(done.stderr.split())


def test_json_has_the_confidence(partita, labels: Path) -> None:
    record = json.loads(partita("fuse", str(labels), "-k", "3", *RUNS, "--json").stdout)
    assert len(record["confidence"]) == len(record["labels"]) == 60
    assert max(record["confidence"]) <= 1


def test_a_method_with_a_typing_error(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-m", "ccpg", "-k", "3")
    assert "Did you mean 'ccgp'?" in done.stderr


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    """An AnnData file as scanpy writes it, with raw counts and an embedding."""
    anndata = pytest.importorskip("anndata")
    import pandas

    columns = {f"leiden_{i}": pandas.Categorical(c.astype(str)) for i, c in enumerate(LABELS.T)}
    obs = pandas.DataFrame({**columns, "type": [f"t{k}" for k in TRUTH], "depth": 0.5}, index=IDS)
    adata = anndata.AnnData(X=csr_matrix(np.eye(60)), obs=obs, obsm={"X_pca": POINTS})
    adata.raw = adata.copy()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


def test_h5ad_with_raw_counts(partita, cells: Path) -> None:
    import anndata

    fuse = ("fuse", str(cells), "-c", "leiden_*", "-k", "3", "-o", "fused.h5ad")
    for _ in range(2):  # the second call does not fuse the first consensus
        done = partita(*fuse, "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["n_partitions"] == LABELS.shape[1]
    fused = anndata.read_h5ad("fused.h5ad")
    assert fused.raw.X.sum() == 60
    assert adjusted_rand(TRUTH, fused.obs["consensus"].tolist()) > 0.9


def test_h5ad_output_is_that_of_the_library(partita, cells: Path) -> None:
    import anndata

    import partita as library

    fuse = ("fuse", str(cells), "-c", "leiden_*", "-k", "3", "-o", "fused.h5ad", "--json")
    done = partita(*fuse)
    fused = anndata.read_h5ad("fused.h5ad")
    expected = anndata.read_h5ad(cells)
    library.tl.consensus(expected, "leiden_*", 3)
    for column in ("consensus", "consensus_runner_up"):
        assert fused.obs[column].tolist() == expected.obs[column].tolist()
    for column in ("consensus_confidence", "consensus_margin"):
        np.testing.assert_allclose(fused.obs[column], expected.obs[column], rtol=0, atol=1e-12)
    assert fused.uns["consensus"]["params"]["columns"].tolist() == [*map(str, expected.obs)][:10]
    assert [*fused.uns["consensus_colors"]] == [*expected.uns["consensus_colors"]]
    sizes = json.loads(done.stdout)["sizes"]  # numbered as in the file
    assert sizes == [(fused.obs["consensus"] == str(k)).sum() for k in range(3)]


def test_leiden_of_the_graph_in_an_h5ad_file(partita, cells: Path) -> None:
    import anndata
    from sklearn.neighbors import kneighbors_graph

    adata = anndata.read_h5ad(cells)
    adata.obsp["connectivities"] = kneighbors_graph(POINTS, 8, mode="connectivity")
    adata.write_h5ad("graph.h5ad")
    generate = ("generate", "graph.h5ad", "--use", "connectivities", "-n", "4")
    done = partita(*generate, "-g", "random-k")
    assert done.exit_code == 2
    assert "--use connectivities is a graph, which only random-leiden clusters" in done.stderr
    done = partita(*generate, "--resolution", "fine")
    assert "--resolution must be a number or LOW:HIGH, got 'fine'" in done.stderr
    done = partita("generate", "graph.h5ad", "--use", "conectivities")
    assert "and the graphs connectivities" in done.stderr
    done = partita(*generate, "--resolution", "0.1:0.1", "-o", "out.h5ad")
    if not is_installed("leidenalg"):
        assert "pip install 'partita[leiden]'" in done.stderr
        return
    labels = anndata.read_h5ad("out.h5ad").obs["random_leiden_3"]
    assert adjusted_rand(CLOUDS, labels.astype(int)) == 1


def test_evaluate_and_report_read_h5ad(partita, cells: Path) -> None:
    partita("fuse", str(cells), "-c", "leiden_*", "-k", "3", "-o", "fused.h5ad")
    options = ("-c", "consensus", "--truth-column", "type", "--json")
    done = partita("evaluate", "fused.h5ad", *options)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["consensus"]["ARI"] > 0.9
    done = partita("report", "fused.h5ad", "fused.h5ad", "-c", "leiden_*", "-o", "report.json")
    assert done.exit_code == 0, done.stderr
    samples = json.loads(Path("report.json").read_text())["samples"]["rows"]
    assert {row["sample"] for row in samples} <= set(IDS)


def test_generate_from_h5ad(partita, cells: Path) -> None:
    made = partita("generate", str(cells), "-n", "4", "-k", "3", "-q")
    assert made.exit_code == 0, made.stderr
    assert [r["cell"] for r in rows(made.stdout)] == IDS
    named = partita("generate", str(cells), "-n", "4", "-k", "3", "-q", "--use", "X_pca")
    assert named.stdout == made.stdout
    other = partita("generate", str(cells), "-n", "4", "-k", "3", "-q", "--use", "X")
    assert other.exit_code == 0, other.stderr
    assert other.stdout != made.stdout
    absent = partita("generate", str(cells), "--use", "X_umap")
    assert absent.exit_code != 0
    assert "it has X_pca, X" in absent.stderr


# -- generate --------------------------------------------------------------------------------


def test_generate_keeps_ids(partita, features: Path) -> None:
    done = partita("generate", str(features), "-i", "sample", "-n", "7", "-k", "3", "--k-max", "5")
    assert done.exit_code == 0, done.stderr
    found = rows(done.stdout)
    assert list(found[0]) == ["sample", *(f"landmark_spectral_{i}" for i in range(7))]
    assert [r["sample"] for r in found] == IDS
    expected = LandmarkSpectral(7, n_clusters=3, k_max=5, random_state=0).fit_transform(POINTS)
    assert [int(r["landmark_spectral_3"]) for r in found] == expected[:, 3].tolist()


def write_points(path: str, cells: dict[int, str]) -> None:
    """Write the features with other text in column x of some rows."""
    lines = [f"{IDS[i]},{cells.get(i, x)},{y}" for i, (x, y) in enumerate(POINTS)]
    Path(path).write_text("\n".join(["sample,x,y", *lines]))


def test_generate_leaves_samples_with_missing_features_out(partita) -> None:
    write_points("gaps.csv", {1: "", 4: "NA"})
    command = ("generate", "gaps.csv", "-i", "sample", "-n", "4", "-k", "3")
    refused = partita(*command)
    assert refused.exit_code == 2
    assert "'x' has no value in row 2 (2 missing" in " ".join(refused.stderr.split())
    assert "--drop-missing" in refused.stderr
    done = partita(*command, "--drop-missing")
    assert done.exit_code == 0, done.stderr
    assert "2 samples with a missing feature get no labels" in done.stderr
    found = rows(done.stdout)
    assert [r["sample"] for r in found] == IDS
    assert [i for i, r in enumerate(found) if not r["landmark_spectral_0"]] == [1, 4]


@pytest.mark.parametrize(
    ("cell", "advice"), [('"1,5"', "decimal comma"), ("?", "--missing-values '?'"), ("n/a", "n/a")]
)
def test_advice_on_cells_that_are_no_numbers(partita, cell: str, advice: str) -> None:
    write_points("odd.csv", {2: cell})
    done = partita("generate", "odd.csv", "-i", "sample")
    assert done.exit_code == 2
    assert advice in " ".join(done.stderr.split())


def test_generate_then_fuse_through_a_pipe(partita, features: Path) -> None:
    made = partita("generate", str(features), "-i", "sample", "-n", "20", "-k", "3", "-q")
    done = partita("fuse", "-", "-k", "3", "-i", "sample", "--json", stdin=made.stdout)
    assert adjusted_rand(CLOUDS, json.loads(done.stdout)["labels"]) == 1.0


def test_generate_leaves_cells_empty_where_a_partition_says_nothing(
    partita, features: Path
) -> None:
    done = partita("generate", str(features), "-i", "sample", "-g", "random-rows", "-n", "3",
                   "--ratio", "0.5")  # fmt: skip
    assert any(r["random_rows_0"] == "" for r in rows(done.stdout))


def test_generate_as_json(partita, features: Path) -> None:
    done = partita("generate", str(features), "-i", "sample", "-n", "3", "--json")
    record = json.loads(done.stdout)
    assert np.shape(record["labels"]) == (60, 3)
    assert record["parameters"]["n_partitions"] == 3


def test_generate_standardizes_features_in_different_units(partita, tmp_path: Path) -> None:
    mixed = POINTS * ([1.0] * (POINTS.shape[1] - 1) + [1000.0])
    np.save(tmp_path / "mixed.npy", mixed)
    options = (str(tmp_path / "mixed.npy"), "-n", "3", "-k", "3", "--json")
    scaled = (mixed - mixed.mean(axis=0)) / mixed.std(axis=0)
    for scale, X in (("auto", scaled), ("none", mixed)):
        done = partita("generate", *options, "--scale", scale)
        expected = LandmarkSpectral(3, n_clusters=3, random_state=0).fit_transform(X)
        assert json.loads(done.stdout)["labels"] == expected.tolist()
        assert ("standardized the features" in done.stderr) == (scale == "auto")


def test_every_generator_has_a_name() -> None:
    names = {"".join(p.capitalize() for p in g.value.split("-")) for g in Generator}
    public = (getattr(partita.generators, name) for name in partita.generators.__all__)
    classes = {made.__name__ for made in public if isinstance(made, type)}
    assert names == classes - {"MixedEstimators"}  # which takes objects


# -- scan-k, compare, evaluate ---------------------------------------------------------------


def test_scan_is_scan_k(partita, labels: Path) -> None:
    options = ("-k", "2:4", "--resamples", "3", "--null", "3")
    done = partita("scan-k", str(labels), *RUNS, *options, "--json")
    record = json.loads(done.stdout)
    found = scan_k(LABELS, range(2, 5), n_resamples=3, n_null=3, random_state=0)
    assert record["best_k"] == found.best_k == 3
    assert [r["gain"] for r in record["curves"]] == found.gain.tolist()
    done = partita("scan-k", str(labels), *RUNS, *options)
    assert done.stdout.splitlines()[-1] == "suggested: K = 3"
    assert "separation (null)" in done.stdout


def test_scan_is_another_name_of_scan_k(partita, labels: Path) -> None:
    options = (*RUNS, "-k", "2:3", "--resamples", "2", "--null", "2", "--json")
    short, full = (partita(name, str(labels), *options) for name in ("scan", "scan-k"))
    assert short.exit_code == 0, short.stderr
    assert short.stdout == full.stdout
    listed = [line.split()[1] for line in partita("--help").stdout.splitlines() if "│ " in line]
    assert "scan-k" in listed
    assert "scan" not in listed


def test_scan_may_find_nothing(partita, tmp_path: Path) -> None:
    np.save(tmp_path / "noise.npy", np.random.default_rng(0).integers(0, 3, (60, 8)))
    done = partita("scan-k", "noise.npy", "-k", "2:3", "--resamples", "2", "--null", "4")
    assert done.exit_code == 0
    assert "no structure found" in done.stdout


def test_scan_names_a_number_without_a_valley(partita, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    angle = rng.uniform(0, 4, 120)
    arc = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.03 * rng.normal(size=(120, 2))
    np.savetxt(tmp_path / "arc.csv", arc, delimiter=",", header="x,y", comments="")
    options = ("arc.csv", "--features", "-k", "3:5", "--resamples", "2", "--null", "4")
    done = partita("scan-k", *options)
    assert done.exit_code == 0, done.stderr
    assert "does better than the null, but no valley of density separates" in done.stdout
    assert "clusters that meet without a valley of density" in done.stderr
    made = json.loads(partita("scan-k", *options, "--json").stdout)
    assert made["best_k"] is None
    assert f"K = {made['rejected_k']} does better" in done.stdout


def test_scan_and_fuse_warn_about_generated_partitions(partita, features: Path) -> None:
    options = ("-i", "sample", "-n", "8", "-k", "3", "-q")
    made = partita("generate", str(features), *options).stdout
    scan = ("scan-k", "-", "-i", "sample", "-k", "2:3", "--resamples", "2", "--null", "2")
    for command in (scan, ("fuse", "-", "-i", "sample", "-k", "2:4")):
        done = partita(*command, stdin=made)
        message = " ".join(done.stderr.split())
        assert "warning: The partitions were generated from features" in message
        assert "scan-k FEATURES --features" in message


def test_scan_of_features(partita, features: Path) -> None:
    options = ("-k", "2:4", "--resamples", "2", "--null", "3", "--json")
    done = partita("scan-k", str(features), "--features", "-i", "sample", *options)
    found = scan_k_features(POINTS, range(2, 5), n_resamples=2, n_null=3, random_state=0)
    assert [r["gain"] for r in json.loads(done.stdout)["curves"]] == found.gain.tolist()
    table = partita("scan-k", str(features), "--features", "-i", "sample", *options[:-1]).stdout
    tightness = found.curves["tightness"][0], found.null_mean["tightness"][0]
    assert "tightness (null)" in table  # it decides too
    assert "{:.3f} ({:.3f})".format(*tightness) in table


def test_the_page_on_the_command_line_says_what_the_scan_of_iris_suggests(partita) -> None:
    root = Path(__file__).parents[2]
    options = ("--features", "--id-column", "flower", "--columns", "*_cm", "-k", "2:4")
    done = partita("scan-k", str(root / "examples" / "iris.csv"), *options)
    assert done.stdout.splitlines()[-2:] == [
        "suggested: K = 4", "gain at most one standard error less: K = 2, 3"
    ]  # fmt: skip
    words = " ".join((root / "docs" / "command-line.md").read_text("utf-8").split())
    assert "the scan suggests 4 clusters, and says that the partitions agree on 2 and 3" in words


def test_compare(partita, labels: Path) -> None:
    done = partita("compare", str(labels), "-k", "3", *RUNS, "-m", "eac", "-m", "lwgp",
                   "--truth-column", "truth", "-o", "all.csv", "--json")  # fmt: skip
    records = json.loads(done.stdout)
    expected = compare(LABELS, ["eac", "lwgp"], 3, y=TRUTH)
    assert [r["ARI"] for r in records] == [r["ARI"] for r in expected]
    back = read_labels("all.csv", id_column="sample")
    assert list(back.columns) == ["eac", "lwgp"]
    assert back.ids.tolist() == IDS


def test_compare_adds_the_partitions(partita, labels: Path) -> None:
    options = ("-k", "3", *RUNS, "-m", "eac", "--truth-column", "truth", "--include-partitions")
    records = json.loads(partita("compare", str(labels), *options, "--json").stdout)
    expected = compare(LABELS, ["eac"], 3, y=TRUTH, include_partitions=True)
    assert [r["ARI"] for r in records] == pytest.approx([r["ARI"] for r in expected])
    done = partita("compare", str(labels), *options)
    assert done.exit_code == 0, done.stderr
    assert "partitions (best)" in done.stdout


def test_compare_shows_what_failed(partita, labels: Path) -> None:
    from partita.config import config_context

    with config_context(memory_budget=2_000):
        done = partita("compare", str(labels), "-k", "3", *RUNS, "-m", "eac", "-m", "lwgp")
    assert done.exit_code == 0, done.stderr
    assert "MemoryBudgetError" in done.stdout
    assert "lwgp" in done.stdout


def test_evaluate_matches_by_id(partita, labels: Path, tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(60)
    lines = ["sample,class", *(f"{IDS[i]},{'abc'[TRUTH[i]]}" for i in order)]
    (tmp_path / "truth.csv").write_text("\n".join(lines), encoding="utf-8")
    done = partita("evaluate", str(labels), "truth.csv", *RUNS, "--json")
    scores = json.loads(done.stdout)
    assert list(scores) == [f"run_{i}" for i in range(10)]
    similarity = element_centric_similarity(TRUTH, LABELS[:, 4])
    assert scores["run_4"] == {**evaluate(TRUTH, LABELS[:, 4]), "ECS": similarity}
    table = partita("evaluate", str(labels), "truth.csv", *RUNS)
    assert f"{scores['run_4']['ARI']:.3f}" in table.stdout


def test_evaluate_in_one_table_leaves_out_what_is_missing(partita) -> None:
    text = "truth,found,found_confidence\na,1,.5\na,1,.5\nb,2,.5\nb,,\n,2,.5\n"
    done = partita("evaluate", "-", "--truth-column", "truth", "--json", stdin=text)
    assert json.loads(done.stdout) == {
        "found": {**evaluate(["a", "a", "b"], [1, 1, 2]), "ECS": 1.0}
    }
    assert "found: 2 samples without class or label left out" in done.stderr


# -- mistakes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fuse", "nothing.csv", "-k", "3"], "No file 'nothing.csv'"),
        (["fuse", "labels.csv", "-k", "three"], "-k must be a positive number"),
        (["fuse", "labels.csv", "-k", "0"], "-k must be a positive number"),
        (["fuse", "labels.csv", "-k", "61", *RUNS], "n_clusters=61 must be between 1 and"),
        (["fuse", "labels.csv", "-k", "3", "-i", "cell"], "no column 'cell'; it has 'sample'"),
        (["fuse", "labels.csv", "-k", "3", "-c", "leiden_*"], "no column 'leiden_*'"),
        (["fuse", "labels.csv", "-k", "3", "-m", "nope"], "No consensus method 'nope'"),
        (["fuse", "labels.csv", "-k", "3", "-o", "no/out.csv"], "No folder"),
        (["fuse", "labels.csv", "-k", "3", "-o", "out.docx"], "must end in one of .csv"),
        (["fuse", "labels.csv", "-k", "3", "-o", "-", "--json"], "both want stdout"),
        (["fuse", "labels.csv", "-k", "3", "-m", "eac", "--checkpoint", "x"], "has no checkpoints"),
        (["fuse", "garbage.npy", "-k", "3"], "not a .npy file"),
        (["generate", "labels.csv"], "column 'sample' has 'sample 0' in row 1"),
        (
            ["generate", "labels.csv", *RUNS, "--ratio", "0.5"],
            "LandmarkSpectral has no parameter 'ratio'",
        ),
        (["generate", "labels.csv", *RUNS, "-n", "0"], "n_partitions"),
        (["scan-k", "labels.csv", *RUNS, "-k", "5:2"], "-k must be a positive number"),
        (["scan-k", "labels.csv", *RUNS, "-k", "1:3"], "k_range must hold"),
        (["compare", "labels.csv", "-k", "3", "-o", "-"], "--output must be a file"),
        (["compare", "labels.csv", "-k", "3", "--truth-column", "y"], "no column 'y'"),
        (["evaluate", "labels.csv"], "true classes"),
        (["evaluate", "labels.csv", "--truth-column", "y"], "no column 'y'"),
        (["evaluate", "labels.csv", "labels.csv"], "several columns"),
    ],
)
def test_a_mistake_is_one_line(partita, labels: Path, arguments: list[str], message: str) -> None:
    Path("garbage.npy").write_bytes(b"\x93NUMPY garbage")
    done = partita(*arguments)
    assert done.exit_code == 2, done.exception
    assert done.stdout == ""
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
