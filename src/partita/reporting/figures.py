"""The pictures of a report: their data, what they show in words, and the call that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from partita.plotting import (
    AgreementDisplay,
    BlockMeans,
    ComparisonDisplay,
    ConfidenceDisplay,
    ConsensusDisplay,
    ConvergenceDisplay,
    Display,
    ScanDisplay,
    ScoresDisplay,
    TrackingDisplay,
    block_means,
)
from partita.reporting._json import plain, short
from partita.reporting.inputs import Case

__all__ = ["display_of", "figures"]

_DISPLAYS: dict[str, type[Display]] = {
    display.__name__: display
    for display in (
        AgreementDisplay,
        ComparisonDisplay,
        ConfidenceDisplay,
        ConsensusDisplay,
        ConvergenceDisplay,
        ScanDisplay,
        ScoresDisplay,
        TrackingDisplay,
    )
}
_RESOLUTION = 240
_COLUMNS = 600
_PARTITIONS = 150

Figure = dict[str, Any]


def figures(case: Case) -> list[Figure]:
    """One entry per picture, in the order of the page."""
    return [*_of_samples(case), *_of_partitions(case), *_of_methods(case)]


def display_of(figure: Figure) -> Display:
    """The display that an entry of a summary describes, also after a journey through JSON."""
    data = dict(figure["data"])
    if figure["display"] == "ConsensusDisplay":
        blocks = {key: _array(value) for key, value in data["blocks"].items()}
        data["blocks"] = BlockMeans(**blocks)
    return _DISPLAYS[figure["display"]](**data)


def _figure(display: Display, title: str, text: str, call: str) -> Figure:
    data = {k: asdict(v) if isinstance(v, BlockMeans) else v for k, v in vars(display).items()}
    name = type(display).__name__
    return {
        "key": name.removesuffix("Display").lower(),
        "display": name,
        "title": title,
        "text": text,
        "call": f"from partita.plotting import {name}\n{call}",
        "data": plain(data),
    }


def _array(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, list) else value


# -- samples and clusters ----------------------------------------------------------------------


def _of_samples(case: Case) -> Iterator[Figure]:
    d = case.diagnosis
    blocks = block_means(case.ensemble, d.labels, resolution=_RESOLUTION)
    names = np.asarray([short(case.clusters[k]) for k in blocks.clusters], object)
    between = d.cluster_consensus[~np.eye(d.n_clusters, dtype=bool)]
    apart = f" Between clusters it is at most {np.nanmax(between):.2f}." if between.size else ""
    numbered = case.clusters == list(range(d.n_clusters))
    codes = "consensus" if numbered else "partita.diagnose(labels, consensus).labels"
    yield _figure(
        ConsensusDisplay(replace(blocks, clusters=names), name=case.method_name),
        "Consensus matrix",
        f"Heat map of {int(blocks.sizes.sum()):,} samples ordered by cluster and confidence. The "
        f"share of partitions that join two samples is {blocks.confidence.min():.2f} to "
        f"{blocks.confidence.max():.2f} inside the {len(names)} clusters.{apart}",
        ("" if numbered else "import partita\n")
        + f"ConsensusDisplay.from_partitions(labels, {codes}).plot()",
    )
    confidence = ConfidenceDisplay.from_diagnosis(d, clusters=[short(c) for c in case.clusters])
    middle = confidence.quantiles[:, 2]
    if np.isfinite(middle).any():
        low, high = int(np.nanargmin(middle)), int(np.nanargmax(middle))
        yield _figure(
            confidence,
            "Confidence per cluster",
            f"Spread of the confidence inside each cluster. The median is highest in cluster "
            f"{short(case.clusters[high])} ({middle[high]:.2f}) and lowest in cluster "
            f"{short(case.clusters[low])} ({middle[low]:.2f}).",
            "ConfidenceDisplay.from_partitions(labels, consensus).plot()",
        )
    if case.scan is not None:
        yield from _of_scan(case)


def _of_scan(case: Case) -> Iterator[Figure]:
    scan = case.scan
    assert scan is not None
    found = (
        "No K stands out: no structure found."
        if scan.best_k is None
        else f"K = {scan.best_k} is suggested."
    )
    yield _figure(
        ScanDisplay.from_scan(scan),
        "Number of clusters",
        f"Four curves over K = {scan.k[0]} to {scan.k[-1]}, each with a band for ensembles without "
        f"structure. The gain in separation is largest at K = {scan.k[np.argmax(scan.gain)]}, "
        f"{scan.gain.max():.2f} above the null. {found}",
        "ScanDisplay.from_scan(scan).plot()",
    )
    yield _figure(
        TrackingDisplay.from_scan(scan, resolution=_COLUMNS),
        "Clusters over K",
        f"One row for each K from {scan.k[0]} to {scan.k[-1]}, colored by cluster: where the "
        "samples of each cluster go as the number of clusters grows. Numbers are kept from row to "
        "row and are not those of the consensus above.",
        f"TrackingDisplay.from_scan(scan, resolution={_COLUMNS}).plot()",
    )


# -- partitions --------------------------------------------------------------------------------


def _of_partitions(case: Case) -> Iterator[Figure]:
    d = case.diagnosis
    m = len(d.agreement)
    others = d.pairwise[~np.eye(m, dtype=bool)]
    groups = int(np.count_nonzero(np.bincount(d.redundancy) > 1))
    spread = (
        f"The NMI of two partitions is {np.median(others):.2f} in the median. " if m > 1 else ""
    )
    yield _figure(
        AgreementDisplay.from_diagnosis(
            d, names=[short(name) for name in case.partitions], limit=_PARTITIONS
        ),
        "Agreement of the partitions",
        f"Heat map of the agreement between {m:,} partitions, similar ones side by side. {spread}"
        f"Groups of equal partitions: {groups}; bad runs: {int(d.bad_runs.sum())}.",
        "AgreementDisplay.from_partitions(labels, consensus).plot()",
    )
    if case.y is not None:
        name = short(case.method_name or "consensus")
        display = ScoresDisplay.from_partitions(case.ensemble, d.labels, case.y, name=name)
        yield _figure(
            display,
            "Against the known classes",
            f"The consensus reaches an ARI of {display.methods[name]:.2f}; the partitions reach "
            f"{display.base.mean():.2f} on average and {display.base.max():.2f} at best.",
            f"ScoresDisplay.from_partitions(labels, consensus, y, name={name!r}).plot()",
        )


# -- methods -----------------------------------------------------------------------------------


def _of_methods(case: Case) -> Iterator[Figure]:
    if case.comparison is not None:
        display = ComparisonDisplay.from_comparison(case.comparison)
        if display.methods:
            first, values = next(iter(display.scores.items()))
            best = int(np.nanargmax(values))
            yield _figure(
                display,
                "Methods side by side",
                f"Scores of {len(display.methods)} methods; {short(display.methods[best])} has the "
                f"highest {first} ({values[best]:.2f}). {len(display.failed)} failed.",
                "ComparisonDisplay.from_comparison(comparison).plot()",
            )
    history = getattr(case.method, "history_", None)
    if history is not None and len(history):
        yield _figure(
            ConvergenceDisplay.from_estimator(case.method),
            "Convergence",
            f"What {case.method_name} recorded over {len(history)} iterations, from "
            f"{_values(history[0])} at the first to {_values(history[-1])} at the last; it "
            + ("converged." if case.method.converged_ else "stopped before it converged."),
            "ConvergenceDisplay.from_estimator(method).plot()",
        )


def _values(step: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in np.atleast_1d(step))
