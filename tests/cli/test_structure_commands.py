"""Commands for levels, trees and graphs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from planted import CLOUDS, POINTS, write_csv

from partita import EnsembleClustering, cluster_tree
from partita.fusion import update_consensus
from partita.metrics import adjusted_rand
from partita.structure import graph_consensus, hierarchical_consensus, modes

FINE = np.repeat(np.arange(4), 15)
COARSE = FINE // 2
IDS = [f"s{i}" for i in range(60)]


@pytest.fixture
def levels(tmp_path: Path) -> Path:
    """Partitions of two resolutions, with some noise."""
    rng = np.random.default_rng(0)
    columns: dict[str, list[object]] = {"name": [*IDS]}
    for i, labels in enumerate([COARSE] * 8 + [FINE] * 8):
        noisy = np.where(rng.random(60) < 0.1, rng.permutation(labels), labels)
        columns[f"run_{i}"] = noisy.tolist()
    return write_csv(tmp_path / "levels.csv", columns)


def table(path: Path) -> np.ndarray:
    return np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:].astype(int)


def test_cluster_tree(partita, levels: Path, tmp_path: Path) -> None:
    options = (str(levels), "-i", "name", "-c", "run_7", "-c", "run_8")
    done = partita("cluster-tree", *options, "-o", "tree.svg")
    assert done.exit_code == 0, done.stderr
    assert "most stable in" in done.stdout
    assert (tmp_path / "tree.svg").stat().st_size > 1000
    record = json.loads(partita("cluster-tree", *options, "--json").stdout)
    expected = cluster_tree(table(levels)[:, 7:9])
    assert len(record["clusters"]) == len(expected.node_records()) == 6
    assert len(record["flows"]) == len(expected.edge_records())
    done = partita("cluster-tree", *options, "-o", "tree.csv")
    assert done.exit_code == 2
    assert ".png, .svg, .pdf" in done.stderr


def test_hierarchical_consensus(partita, levels: Path, tmp_path: Path) -> None:
    command = ("hierarchical-consensus", str(levels), "-i", "name")
    done = partita(*command, "-o", "out.csv")
    assert done.exit_code == 0, done.stderr
    assert "similarity" in done.stdout
    labels = table(tmp_path / "out.csv")
    expected = hierarchical_consensus(table(levels), random_state=0)
    np.testing.assert_array_equal(labels, np.column_stack(expected.levels[1:]))
    assert adjusted_rand(FINE, labels[:, -1]) > 0.9
    record = json.loads(partita(*command, "--json").stdout)
    assert record["n_clusters"] == [1, 2, 4]
    assert len(record["levels"]) == 3
    assert record["ids"] == IDS
    assert partita(*command, "-o", "-").exit_code == 2


def test_modes(partita, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    stories = [np.repeat(np.arange(3), 20)] * 5 + [np.tile(np.arange(3), 20)] * 4
    columns = [np.where(rng.random(60) < 0.1, rng.permutation(s), s) for s in stories]
    path = write_csv(
        tmp_path / "stories.csv",
        {"name": [*IDS], **{f"run_{i}": column.tolist() for i, column in enumerate(columns)}},
    )
    command = ("modes", str(path), "-i", "name")
    done = partita(*command, "-o", "out.csv")
    assert done.exit_code == 0, done.stderr
    assert "2 modes of 5, 4 partitions" in done.stdout
    expected = modes(table(path), random_state=0)
    np.testing.assert_array_equal(table(tmp_path / "out.csv"), np.column_stack(expected.labels))
    record = json.loads(partita(*command, "--json").stdout)
    assert [each["mode"] for each in record["partitions"]] == [0] * 5 + [1] * 4
    assert record["differences"] == expected.differences
    assert record["ids"] == IDS
    assert partita(*command, "-o", "-").exit_code == 2


def test_graph_consensus(partita, levels: Path, tmp_path: Path) -> None:
    first, second = [], []
    for i in range(60):
        for j in range(i + 1, min(i + 4, 60)):
            first.append(IDS[i])
            second.append(IDS[j])
    write_csv(tmp_path / "edges.csv", {"from": first, "to": second})
    fine = ("-i", "name", *(x for i in range(8, 16) for x in ("-c", f"run_{i}")))
    done = partita("graph-consensus", str(levels), "edges.csv", *fine)
    assert done.exit_code == 0, done.stderr
    labels = [int(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
    import scipy.sparse as sp

    band = sp.diags([1.0] * 3, [1, 2, 3], shape=(60, 60))
    expected = graph_consensus(table(levels)[:, 8:], band)
    assert labels == expected.labels.tolist()
    record = json.loads(
        partita("graph-consensus", str(levels), "edges.csv", *fine, "--json").stdout
    )
    assert record["n_edges"] == len(first)
    write_csv(tmp_path / "wrong.csv", {"from": ["s0"], "to": ["nobody"]})
    done = partita("graph-consensus", str(levels), "wrong.csv", *fine)
    assert "wrong.csv has the node 'nobody', which is no sample" in done.stderr


def test_graph_of_an_h5ad_file(partita, tmp_path: Path, levels: Path) -> None:
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    import scipy.sparse as sp

    obs = pandas.read_csv(levels, index_col="name").astype(str)
    adata = anndata.AnnData(np.ones((60, 1)), obs)
    adata.obsp["connectivities"] = sp.csr_matrix(sp.diags([1.0] * 3, [1, 2, 3], shape=(60, 60)))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    command = ("graph-consensus", "cells.h5ad", "connectivities", "-c", "run_*")
    done = partita(*command, "-o", "out.h5ad", "--name", "community")
    assert done.exit_code == 0, done.stderr
    expected = graph_consensus(table(levels), adata.obsp["connectivities"]).labels
    found = anndata.read_h5ad(tmp_path / "out.h5ad").obs["community"].astype(int)
    assert found.tolist() == expected.tolist()


def test_predict(partita, features: Path, tmp_path: Path) -> None:
    lines = features.read_text(encoding="utf-8").splitlines()
    for name, rows in (("old.csv", lines[1::2]), ("new.csv", lines[2::2])):
        Path(name).write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")
    command = ("predict", "old.csv", "new.csv", "-i", "sample", "-k", "3")
    done = partita(*command, "-o", "out.csv")
    assert done.exit_code == 0, done.stderr
    assert "30 new samples in 3 clusters of 30 samples" in done.stderr
    record = json.loads(partita(*command, "--json").stdout)
    model = EnsembleClustering(3, random_state=0).fit(POINTS[::2])
    assert record["labels"] == model.predict(POINTS[1::2]).tolist()
    np.testing.assert_allclose(record["confidence"], model.predict_confidence(POINTS[1::2]))
    assert adjusted_rand(CLOUDS[1::2], record["labels"]) == 1.0
    assert record["ids"] == [line.split(",")[0] for line in lines[2::2]]
    written = [line.split(",")[1] for line in _lines("out.csv")[1:]]
    assert [int(label) for label in written] == record["labels"]
    Path("new.csv").write_text("sample,x\na,1\n", encoding="utf-8")
    assert "new.csv has no column 'y', which old.csv has" in partita(*command).stderr


def test_update(partita, levels: Path, tmp_path: Path) -> None:
    lines = [line.split(",") for line in _lines(str(levels))]
    for name, columns in (("old.csv", range(9)), ("more.csv", [0, *range(9, 17)])):
        rows = [",".join(line[c] for c in columns) for line in lines]
        Path(name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert partita("fuse", "old.csv", "-i", "name", "-k", "4", "-o", "first.csv").exit_code == 0
    command = ("update", "old.csv", "first.csv", "more.csv", "-i", "name")
    done = partita(*command, "-o", "second.csv", "-r", "report.html")
    assert done.exit_code == 0, done.stderr
    assert "4 clusters of 60 samples from 16 partitions by CCGP" in done.stderr
    assert "of 60 samples are in another cluster than before" in done.stderr
    assert "What did the update change?" in Path("report.html").read_text(encoding="utf-8")
    record = json.loads(partita(*command, "--json").stdout)
    labels = table(tmp_path / "first.csv")[:, 0]
    expected = update_consensus(table(levels)[:, :8], labels, table(levels)[:, 8:], random_state=0)
    assert record["labels"] == expected.labels.tolist()
    assert record["n_changed"] == len(expected.changed) > 0
    assert adjusted_rand(FINE, record["labels"]) > 0.9
    done = partita(*command[:3], "first.csv", "-i", "nobody")
    assert done.exit_code == 2


def test_predict_chooses_the_number(partita, features: Path) -> None:
    command = ("predict", str(features), str(features), "-i", "sample", "-g", "random-rows")
    done = partita(*command)
    assert done.exit_code == 0, done.stderr
    assert "in 3 clusters (chosen against the null) of 60 samples" in done.stderr
    for wrong in ("2:5", "0", "many"):
        done = partita(*command, "-k", wrong)
        assert done.exit_code == 2
        assert f"-k must be a positive number or auto, got '{wrong}'" in done.stderr


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def test_a_scan_prints_values_per_resample(partita, levels: Path) -> None:
    options = ("-i", "name", "-k", "2:3", "--resamples", "2", "--null", "2", "--json")
    record = json.loads(partita("scan-k", str(levels), *options).stdout)
    assert len(record["resamples"]) == 2 * 2 * 2  # resamples, halves, numbers of clusters
    assert {each["k"] for each in record["nulls"]} == {2, 3}
