"""Flows, stability, branches and drawing of a cluster tree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from partita import Ensemble, cluster_tree, scan_k
from partita.alignment._ordering import count_crossings, order_layers
from partita.datasets import make_partitions
from partita.plotting import ClusterTreeDisplay


def levels(n=60, seed=0):
    rng = np.random.default_rng(seed)
    fine = np.repeat(np.arange(6), n // 6)
    return {0.1: fine // 3, 0.5: fine // 2, 1.0: np.where(rng.random(n) < 0.1, 0, fine)}


def test_flows_are_counts_of_shared_samples():
    partitions = levels()
    tree = cluster_tree(partitions)
    records = tree.edge_records()
    assert len(records) == len(tree.edges)
    for record, edge in zip(records, tree.edges, strict=True):
        level = record["level"]
        upper = tree.labels[:, level] == record["from_cluster"]
        lower = tree.labels[:, level + 1] == record["to_cluster"]
        assert record["n_samples"] == np.sum(upper & lower) == edge[3]
        assert record["in_share"] == np.sum(upper & lower) / np.sum(lower)
        assert record["out_share"] == np.sum(upper & lower) / np.sum(upper)
    assert list(tree.to_frame()["in_share"]) == [record["in_share"] for record in records]
    assert tree.names == (0.1, 0.5, 1.0)


def test_stability_is_the_mean_of_the_best_jaccard_indices():
    table = make_partitions(50, 4, 3, noise=0.3, missing_ratio=0.2, random_state=1)[0]
    tree = cluster_tree(table)
    for node in tree.node_records():
        own, i = tree.labels[:, node["level"]], node["level"]
        best = []
        for j in range(4):
            if j == i:
                continue
            other = tree.labels[:, j]
            both = (own >= 0) & (other >= 0)
            inside = both & (own == node["cluster"])
            best.append(
                max(
                    np.sum(inside & (other == c)) / np.sum(inside | (both & (other == c)))
                    for c in np.unique(other[both])
                )
            )
        assert node["stability"] == pytest.approx(np.mean(best), abs=1e-12)
        assert node["n_samples"] == np.sum(own == node["cluster"])


def test_branches_name_their_stable_partition():
    fine = np.repeat(np.arange(4), 15)
    rng = np.random.default_rng(0)
    halves = np.array([0, 0, 1, 2])[fine]  # the second branch divides, the first does not
    cut = np.where(fine < 2, 3 + rng.integers(2, size=60), halves)  # at random in the first
    tree = cluster_tree({"a": fine // 2, "b": halves, "c": halves, "d": cut})
    first, second = tree.branch_records()
    assert (first["n_clusters"], first["stability"]) == (1, pytest.approx(5 / 6, abs=0.1))
    assert first["level"] < 3
    assert second["partition"] in ("b", "c", "d")
    assert (second["n_clusters"], second["n_samples"]) == (2, 30)


def crossings_slowly(table, upper, lower):
    edges = [(upper[a], lower[b]) for a, b in zip(*np.nonzero(table), strict=True)]
    return sum((p - q) * (r - s) < 0 for (p, r), (q, s) in itertools.combinations(edges, 2))


def test_order_has_no_more_crossings_than_any_other():
    rng = np.random.default_rng(0)
    for _ in range(10):
        tables = [rng.integers(0, 2, size=(3, 4)) * 1.0, rng.integers(0, 2, size=(4, 3)) * 1.0]
        positions = order_layers(tables)
        number = sum(
            count_crossings(t, positions[i], positions[i + 1]) for i, t in enumerate(tables)
        )
        assert number == sum(
            crossings_slowly(t, positions[i], positions[i + 1]) for i, t in enumerate(tables)
        )
        start = [np.arange(3), np.arange(4), np.arange(3)]
        unsorted = sum(crossings_slowly(t, start[i], start[i + 1]) for i, t in enumerate(tables))
        assert number <= unsorted


def test_a_true_tree_is_drawn_without_crossings():
    rng = np.random.default_rng(3)
    fine = rng.permutation(12)[np.repeat(np.arange(12), 5)]
    middle = rng.permutation(6)[fine // 2]
    tree = cluster_tree([rng.permutation(3)[fine // 4], middle, fine])
    for level in range(2):
        table = tree._table(level, level + 1)
        assert count_crossings(table, tree.positions[level], tree.positions[level + 1]) == 0
    for positions, names in zip(tree.positions, tree.clusters, strict=True):
        assert sorted(positions) == list(range(len(names)))


def test_names_of_an_ensemble_and_one_partition():
    ensemble = Ensemble.from_partitions([[0, 0, 1], [0, 1, 2]], partition_names=["p", "q"])
    assert cluster_tree(ensemble).names == ("p", "q")
    tree = cluster_tree([[0, 0, 1]])
    assert tree.edge_records() == []
    assert [node["position"] for node in tree.node_records()] == [0, 1]


def test_display(tmp_path):
    display = ClusterTreeDisplay.from_partitions(levels())
    display.save(tmp_path / "tree.png")
    ax = display.ax_
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0.1", "0.5", "1.0"]
    assert len(ax.collections) == len(display.tree.node_records())
    drawn = [e for e in display.tree.edge_records() if e["in_share"] >= 0.05]
    assert len(ax.lines) == len(drawn)
    widths = {line.get_linewidth() for line in ax.lines}
    assert max(widths) > min(widths)


def test_display_of_a_scan():
    partitions = make_partitions(40, 8, 3, noise=0.1)[0]
    scan = scan_k(partitions, range(2, 5), n_resamples=2, n_null=2, random_state=0)
    display = ClusterTreeDisplay.from_scan(scan).plot()
    assert display.tree.names == (2, 3, 4)
