"""Do samples keep their cluster as often as they are said to?

`python -m benchmarks.scoreboard.calibration` makes base partitions of real sets and of planted
tables, fits a consensus to one half of them and another consensus to the other half, and counts how
many samples keep their cluster, by repeatability, by confidence and by the sign of the margin. Only
the first half is used to compute these values. The records are JSON lines; the same call continues.
The picture is drawn from all records.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.data_folder import data_folder
from benchmarks.json_lines import Record, append, read
from partita import diagnose
from partita.alignment import align_labels
from partita.datasets import load, make_partitions
from partita.diagnostics import Diagnosis, repeatability
from partita.generators import LandmarkSpectral, RandomK
from partita.registry import get_method

RECORDS = Path(__file__).with_name("calibration.jsonl")
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "images" / "calibration.png"
SETS = ("iris", "wine", "breast_tissue", "glass", "ecoli", "jaffe", "ionosphere", "breast_w")
NOISE = (0.3, 0.5, 0.6)  # share of random labels of the planted tables
GENERATORS = {"RandomK": RandomK, "LandmarkSpectral": LandmarkSpectral}
METHODS = ("ccgp", "eac", "lwgp")
N_PARTITIONS = (20, 60)  # of each half
N_BINS = 10
LIMITS = (0.0, -0.05, -0.1, -0.2)  # of the margin; samples up to the first one are doubtful
KEY = ("source", "partitions", "size", "method", "seed")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1, help="repetitions")
    parser.add_argument("--records", type=Path, default=RECORDS, help="file of the records")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="file of the picture")
    options = parser.parse_args(arguments)
    done = {tuple(record[name] for name in KEY) for record in read(options.records)}
    for key in work(options.seeds):
        if key in done:
            continue
        try:
            table, k = ensemble(*key)
        except FileNotFoundError as error:
            print(f"{key[0]} is left out: {error}")
            continue
        record = dict(zip(KEY, key, strict=True)) | compare_halves(table, k, key[3], key[4])
        append(options.records, [record])
        print(*key)
    records = read(options.records)
    draw(records).savefig(options.picture, dpi=110)
    print(table_of(records))
    return 0


def work(n_seeds: int) -> Iterator[tuple[str, str, int, str, int]]:
    """Yield source, kind of partitions, their number, method and seed of all records."""
    sources = [(name, generator) for name in SETS for generator in GENERATORS]
    sources += [(f"planted, noise {share}", "labels") for share in NOISE]
    for seed in range(n_seeds):
        for source, partitions in sources:
            for size in N_PARTITIONS:
                for method in METHODS:
                    yield source, partitions, size, method, seed


def ensemble(
    source: str, partitions: str, size: int, _: str, seed: int
) -> tuple[NDArray[Any], int]:
    """Return two times `size` partitions and the number of clusters."""
    if partitions == "labels":
        noise = float(source.rpartition(" ")[2])
        return make_partitions(300, 2 * size, 4, noise=noise, random_state=seed)[0], 4
    data = load(source, folder=data_folder())
    generator = GENERATORS[partitions](n_partitions=2 * size, random_state=seed, n_jobs=1)
    generator.set_params(n_clusters=data.n_classes)
    X = (data.X - data.X.mean(axis=0)) / np.maximum(data.X.std(axis=0), 1e-12)
    return generator.fit_transform(X), data.n_classes


def compare_halves(table: NDArray[Any], k: int, method: str, seed: int) -> Record:
    """Return how many samples there are, and how many keep their cluster, by each value."""
    half = table.shape[1] // 2
    order = np.random.default_rng(seed).permutation(table.shape[1])
    own, fresh = (np.ascontiguousarray(table[:, part]) for part in (order[:half], order[half:]))
    fitted = make(method, k, seed).fit(own)
    labels = fitted.labels_
    other = make(method, k, seed).fit_predict(fresh)
    kept = align_labels(labels, other).labels == labels
    values = {
        "repeatability": repeatability(own, fitted, random_state=seed),
        "confidence": (diagnosis := diagnose(own, labels)).confidence,
    }
    record: Record = {name: count(value, kept) for name, value in values.items()}
    record["margin"] = doubt(diagnosis, kept, diagnose(fresh, labels))
    return record


def doubt(diagnosis: Diagnosis, kept: NDArray[np.bool_], fresh: Diagnosis) -> list[list[int]]:
    """Return three numbers of samples for each limit of the margin.

    The samples with a margin up to the limit; of these, those that keep their cluster, and those
    that the fresh half puts as close to another cluster, too.
    """
    counts = []
    for limit in LIMITS:
        doubtful = diagnosis.doubtful_samples(limit)
        again = np.isin(doubtful, fresh.doubtful_samples())
        counts.append([len(doubtful), int(kept[doubtful].sum()), int(again.sum())])
    return counts


def make(method: str, k: int, seed: int) -> Any:
    cls = get_method(method)
    return cls(n_clusters=k) if method == "eac" else cls(n_clusters=k, random_state=seed)


def count(values: NDArray[np.float64], kept: NDArray[np.bool_]) -> list[list[int]]:
    """Return the number of samples in each tenth of the values, and how many of them are kept.

    A sample that is a cluster of its own has no confidence and is left out.
    """
    has_value = ~np.isnan(values)
    tenth = np.clip((values[has_value] * N_BINS + 1e-9).astype(np.int64), 0, N_BINS - 1)
    samples, same = np.bincount(tenth, None, N_BINS), np.bincount(tenth, kept[has_value], N_BINS)
    return [samples.tolist(), same.astype(int).tolist()]


def total(records: list[Record], name: str) -> NDArray[np.float64]:
    """Return samples and kept samples over all records; every record weighs the same."""
    shares = [
        np.array(record[name]) / max(np.sum(record["repeatability"][0]), 1) for record in records
    ]
    return np.sum(shares, axis=0)


def table_of(records: list[Record]) -> str:
    """Return the table of the page on confidence."""
    lines = [
        "| value | share by repeatability | of these keep | share by confidence | of these keep |",
        "| --- " * 5 + "|",
    ]
    columns = [total(records, name) for name in ("repeatability", "confidence")]
    for tenth in range(N_BINS):
        cells = [f"{tenth / N_BINS:.1f} to {(tenth + 1) / N_BINS:.1f}"]
        for samples, kept in columns:
            share = samples[tenth] / samples.sum()
            cells += [f"{share:.0%}", f"{kept[tenth] / samples[tenth]:.0%}" if share else ""]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def words(records: list[Record]) -> str:
    """Return the sentences about doubtful samples."""
    samples, kept = total(records, "repeatability")
    change = 1 - kept[: N_BINS // 2].sum() / samples[: N_BINS // 2].sum()
    parts = {"the first four real sets": SETS[::2], "the other four": SETS[1::2]}
    again = [
        f"{_share([r for r in records if r['source'] in names], 2):.0%} on {text}"
        for text, names in parts.items()
    ]
    limits = ", ".join(f"{1 - _share(records, 1, i):.0%} ({x:g})" for i, x in enumerate(LIMITS))
    return (
        f"{len(records)} pairs of halves. Of the samples with a repeatability below 0.5, "
        f"{change:.0%} change their cluster if the method is fitted to the fresh half. Of the "
        f"doubtful samples, the fresh half puts {_share(records, 2):.0%} closer to another "
        f"cluster, too ({', '.join(again)}). If the method is fitted to the fresh half, fewer "
        f"of them change, and a lower limit of the margin matters little: {limits}."
    )


def _share(records: list[Record], count: int, limit: int = 0) -> float:
    """Return a count of `doubt` as a share of the samples up to a limit of the margin."""
    margin = total(records, "margin")[limit]
    return float(margin[count] / margin[0])


def draw(records: list[Record]) -> Figure:
    """Return the curve: how many samples keep their cluster, by repeatability and confidence."""
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, label="calibrated")
    middle = (np.arange(N_BINS) + 0.5) / N_BINS
    for name, color in (("repeatability", "#0072b2"), ("confidence", "#d55e00")):
        samples, kept = total(records, name)
        present = samples > 0.001 * samples.sum()
        axes.plot(
            middle[present],
            (kept / np.maximum(samples, 1e-300))[present],
            "o-",
            color=color,
            label=name,
        )
    axes.set(xlabel="value of a sample", ylabel="share that keeps its cluster", ylim=(0, 1.02))
    axes.legend(frameon=False)
    return figure


if __name__ == "__main__":
    sys.exit(main())
