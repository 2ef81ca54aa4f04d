"""The figures of a report: their data, a description in words, and the call that draws them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from partita.alignment import ClusterTree, cluster_tree
from partita.plotting import (
    AgreementDisplay,
    BlockMeans,
    ClusterTreeDisplay,
    ComparisonDisplay,
    ConfidenceDisplay,
    ConsensusDisplay,
    ConvergenceDisplay,
    Display,
    EmbeddingDisplay,
    ScanDisplay,
    ScoresDisplay,
    TrackingDisplay,
    block_means,
)
from partita.reporting._content import Content
from partita.reporting._values import shorten, to_json

__all__ = ["FigureEntry", "figures", "to_display"]

_DISPLAYS: dict[str, type[Display]] = {
    display.__name__: display
    for display in (
        AgreementDisplay,
        ClusterTreeDisplay,
        ComparisonDisplay,
        ConfidenceDisplay,
        ConsensusDisplay,
        ConvergenceDisplay,
        EmbeddingDisplay,
        ScanDisplay,
        ScoresDisplay,
        TrackingDisplay,
    )
}
_CONSENSUS_ROWS = 240
_TRACKING_COLUMNS = 600
_MOST_PARTITIONS = 150
_TREE_SAMPLES = 2000
_LEAST_POINTS = 3

FigureEntry = dict[str, Any]


def figures(content: Content) -> list[FigureEntry]:
    """Return one entry per figure, in the order of the page."""
    return [
        *_figures_of_clusters(content),
        *_embedding(content),
        *_figures_of_scan(content),
        *_figures_of_partitions(content),
        *_figures_of_methods(content),
    ]


def to_display(figure: FigureEntry) -> Display:
    """Return the display that an entry describes; the entry may have been read from JSON."""
    data = dict(figure["data"])
    if figure["display"] == "ConsensusDisplay":
        blocks = {key: _as_array(value) for key, value in data["blocks"].items()}
        data["blocks"] = BlockMeans(**blocks)
    if figure["display"] == "ClusterTreeDisplay":
        tree = {key: _as_array(value) for key, value in data["tree"].items()}
        data["tree"] = ClusterTree(**tree | {"names": tuple(data["tree"]["names"])})
    return _DISPLAYS[figure["display"]](**data)


def _figure(display: Display, title: str, text: str, call: str) -> FigureEntry:
    data = {
        key: asdict(value) if isinstance(value, BlockMeans | ClusterTree) else value
        for key, value in vars(display).items()
    }
    name = type(display).__name__
    return {
        "key": name.removesuffix("Display").lower(),
        "display": name,
        "title": title,
        "text": text,
        "call": f"from partita.plotting import {name}\n{name}.{call}.plot()",
        "data": to_json(data),
    }


def _as_array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, list) else value


def _figures_of_clusters(content: Content) -> Iterator[FigureEntry]:
    d = content.diagnosis
    blocks = block_means(d.partitions, d.labels, resolution=_CONSENSUS_ROWS)
    names = np.asarray([content.clusters[k] for k in blocks.clusters], object)
    between = d.cluster_consensus[~np.eye(d.n_clusters, dtype=bool)]
    between = between[~np.isnan(between)]  # no partition labels samples of both clusters
    apart = (
        f" For samples of two different clusters it is at most {between.max():.2f} on average."
        if between.size
        else ""
    )
    yield _figure(
        ConsensusDisplay(replace(blocks, clusters=names), name=content.method_name),
        "Consensus matrix",
        f"Heat map of {int(blocks.sizes.sum()):,} samples, ordered by cluster and confidence. The "
        "color is the share of partitions that put two samples together: on average "
        f"{blocks.confidence.min():.2f} to {blocks.confidence.max():.2f} inside the {len(names)} "
        f"clusters.{apart}",
        "from_labels(partitions, labels)",
    )
    confidence = ConfidenceDisplay.from_diagnosis(d, clusters=content.clusters)
    median = confidence.quantiles[:, 2]
    if np.isfinite(median).any():
        low, high = int(np.nanargmin(median)), int(np.nanargmax(median))
        yield _figure(
            confidence,
            "Confidence per cluster",
            "Distribution of the confidence of the samples in each cluster. The median is highest "
            f"in cluster {content.clusters[high]} ({median[high]:.2f}) and lowest in cluster "
            f"{content.clusters[low]} ({median[low]:.2f}).",
            "from_labels(partitions, labels)",
        )


def _embedding(content: Content) -> Iterator[FigureEntry]:
    d = content.diagnosis
    if len(d.labels) < _LEAST_POINTS:
        return
    display = EmbeddingDisplay.from_diagnosis(
        d, features=content.features, coordinates=content.coordinates, clusters=content.clusters
    )
    options = ""
    if content.coordinates is not None:
        options = ", coordinates=coordinates"
    elif content.features is not None:
        options = ", features=features"
    shown = len(display.labels)
    thinned = "" if shown == display.n_samples else f" {shown:,} of them are drawn."
    yield _figure(
        display,
        "Samples in the plane",
        f"{display.n_samples:,} samples as points ({display.source}), once colored by cluster and "
        f"once by confidence.{thinned} Clusters that overlap in two coordinates may be separate in "
        "all of them.",
        f"from_labels(partitions, labels{options})",
    )


def _figures_of_scan(content: Content) -> Iterator[FigureEntry]:
    scan = content.scan
    if scan is None:
        return
    suggestion = (
        f"No structure found: {scan.reason}."
        if scan.best_k is None
        else f"The suggested number of clusters is K = {scan.best_k}."
    )
    yield _figure(
        ScanDisplay.from_scan(scan),
        "Curves over K",
        f"Curves from K = {scan.k[0]} to {scan.k[-1]}, with a band for ensembles without structure "
        "(the null), and the distribution of the consensus values. "
        f"The separation exceeds the null most at K = {scan.k[np.argmax(scan.gain)]}, "
        f"by {scan.gain.max():.2f}. {suggestion}",
        "from_scan(scan)",
    )
    yield _figure(
        TrackingDisplay.from_scan(scan, resolution=_TRACKING_COLUMNS),
        "Clusters over K",
        f"One row for each K from {scan.k[0]} to {scan.k[-1]}, colored by cluster: how the "
        "clusters split as their number grows. A cluster keeps its number from row to row. The "
        "numbers are not those of the consensus above.",
        f"from_scan(scan, resolution={_TRACKING_COLUMNS})",
    )
    n = len(next(iter(scan.labels.values())))
    step = -(-n // _TREE_SAMPLES)
    drawn = "" if step == 1 else f" Every {step}th sample is drawn."
    yield _figure(
        ClusterTreeDisplay(cluster_tree({k: v[::step] for k, v in scan.labels.items()})),
        "Tree of clusters",
        f"One row of nodes for each K from {scan.k[0]} to {scan.k[-1]}. Large nodes have many "
        "samples, dark nodes persist over K, and an edge is a flow of samples. A node with several "
        f"edges from above mixes clusters: K is too large there.{drawn}",
        "from_scan(scan)",
    )


def _figures_of_partitions(content: Content) -> Iterator[FigureEntry]:
    d = content.diagnosis
    m = len(d.agreement)
    others = d.pairwise[~np.eye(m, dtype=bool)]
    n_groups = int(np.count_nonzero(np.bincount(d.redundancy) > 1))
    median = f"The median NMI of two partitions is {np.median(others):.2f}. " if m > 1 else ""
    yield _figure(
        AgreementDisplay.from_diagnosis(d, names=content.partitions, limit=_MOST_PARTITIONS),
        "Agreement of the partitions",
        f"Heat map of the agreement between {m:,} partitions, similar ones side by side. {median}"
        f"Groups of equal partitions: {n_groups}. Bad partitions: {int(d.bad_partitions.sum())}.",
        "from_labels(partitions, labels)",
    )
    if content.y is not None:
        name = shorten(content.method_name or "consensus")
        display = ScoresDisplay.from_labels(d.partitions, d.labels, content.y, name=name)
        yield _figure(
            display,
            "Against the true classes",
            f"The ARI of the consensus is {display.methods[name]:.2f}. The partitions have an ARI "
            f"of {display.base.mean():.2f} on average and {display.base.max():.2f} at best.",
            f"from_labels(partitions, labels, y, name={name!r})",
        )


def _figures_of_methods(content: Content) -> Iterator[FigureEntry]:
    if content.comparison is not None:
        display = ComparisonDisplay.from_comparison(content.comparison)
        if display.methods:
            score, values = next(iter(display.scores.items()))
            best = int(np.nanargmax(values))
            yield _figure(
                display,
                "Comparison of methods",
                f"Scores of {len(display.methods)} methods. {shorten(display.methods[best])} has "
                f"the highest {score} ({values[best]:.2f}). {len(display.failed)} methods failed.",
                "from_comparison(comparison)",
            )
    history = getattr(content.method, "history_", None)
    if history is not None and len(history):
        end = "converged" if content.method.converged_ else "stopped before it converged"
        yield _figure(
            ConvergenceDisplay.from_estimator(content.method),
            "Convergence",
            f"Values that {content.method_name} recorded (iterations: {len(history)}), from "
            f"{_values(history[0])} to {_values(history[-1])}. The method {end}.",
            "from_estimator(method)",
        )


def _values(step: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(step))
