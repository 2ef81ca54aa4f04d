"""The tables of "Which method?", read from the records of benchmarks/scoreboard."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.json_lines import Record, read  # noqa: E402
from benchmarks.scoreboard import against_lwgp, calibration, choosing_k, shapes  # noqa: E402
from benchmarks.scoreboard._records import RECORDS  # noqa: E402
from benchmarks.scoreboard._sources import DEFAULT, SCIKIT  # noqa: E402
from benchmarks.scoreboard._statistics import Board, boards, full_name  # noqa: E402
from benchmarks.scoreboard._tables import (  # noqa: E402
    alarm_words,
    by_kind,
    false_alarms,
    numbers_table,
    shuffled_table,
    table,
    thin_table,
    together,
)

KINDS = {
    "faces": ("jaffe", "orl", "umist", "warpar10p", "yale"),
    "gene expression": ("glioma", "tox171"),
    "text": ("medical", "tr11", "tr12", "tr23", "tr41", "tr45"),
}
OTHER = "measurements"  # and points in the plane
CLEAR = 2.0  # standard errors
LARGE = 3000  # samples


def features_table() -> str:
    return _board_table(_board("features, at the true K"))


def scanned_table() -> str:
    return _board_table(_board("features, at the K that a scan suggests"))


def scanned_words() -> str:
    """Return how much ARI a scanned number costs, on the sets with both, one seed each."""
    means: dict[str, dict[str, list[float]]] = {}
    for record in _records():
        if record["source"] == DEFAULT:
            by_rule = means.setdefault(record["set"], {"true": [], "scan": []})
            by_rule[record["k_rule"]].append(record["ARI"])
    both = [by_rule for by_rule in means.values() if by_rule["true"] and by_rule["scan"]]
    true, scanned = (np.mean([np.mean(r[rule]) for r in both]) for rule in ("true", "scan"))
    return (
        f"On these {len(both)} sets `EnsembleClustering` has a mean ARI of {true:.2f} at the "
        f"true K and of {scanned:.2f} at the K of the scan."
    )


def shapes_table() -> str:
    """Return the mean ARI on made-up shapes, of partita and of algorithms of scikit-learn."""
    scores: dict[str, dict[str, list[float]]] = {}
    for record in read(shapes.RECORDS):
        is_table = record["source"] == "table"
        if is_table and record["method"] == "ccgp":
            continue  # the consensus of four algorithms, of which three know only round clusters
        contender = record["method"] if is_table else f"{record['source']} + {record['method']}"
        shape = record["set"].rpartition("-")[0]
        scores.setdefault(contender, {}).setdefault(shape, []).append(record["ARI"])
    means = {
        name: np.asarray([np.mean(values) for values in by_shape.values()])
        for name, by_shape in scores.items()
    }
    lines = _head(["", "mean ARI", "shapes with ARI above 0.9", "worst shape"])
    for name, each in sorted(means.items(), key=lambda item: -item[1].mean()):
        title = full_name(name) if " + " in name else f"scikit-learn: {name}"
        lines.append(
            _row([title, f"{each.mean():.3f}", str(np.sum(each > 0.9)), f"{each.min():.2f}"])
        )
    return "\n".join(lines)


def large_table() -> str:
    """Return the mean ARI on every set with features and more than 3,000 samples."""
    cells: dict[tuple[str, str], list[float]] = {}
    samples: dict[str, int] = {}
    for record in _records():
        contender = f"{record['source']} + {record['method']}"
        is_cheap = record["source"] in (DEFAULT, SCIKIT) or record["method"] == "ccgp"
        if record["source"] == "table" or record["k_rule"] == "scan" or not is_cheap:
            continue
        if record["n_samples"] > LARGE:
            cells.setdefault((record["set"], contender), []).append(record["ARI"])
            samples[record["set"]] = record["n_samples"]
    contenders = sorted(
        dict.fromkeys(contender for _, contender in cells),
        key=lambda contender: not contender.startswith(DEFAULT),
    )
    lines = _head(["set", "n", *(full_name(contender) for contender in contenders)])
    for name in sorted(samples, key=lambda name: samples[name]):
        means = [np.mean(cells.get((name, contender), np.nan)) for contender in contenders]
        texts = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
        best = max(texts)
        bold = [f"**{text}**" if text == best else text for text in texts]
        lines.append(_row([name, str(samples[name]), *bold]))
    return "\n".join(lines)


def pools_table() -> str:
    return _board_table(_board("tables, at the true K"))


def against_lwgp_words() -> str:
    return against_lwgp.words(read(against_lwgp.RECORDS))


def words() -> str:
    """Return what the records say about features, in sentences."""
    board = _board("features, at the true K")
    default = board.contenders[board.reference]
    parts: dict[str, list[str]] = {"better": [], "equal": [], "worse": []}
    for j, name in enumerate(board.contenders):
        if j != board.reference:
            difference, error = board.difference(j, board.reference)
            is_clear = abs(difference) > CLEAR * error
            sign = "better" if difference > 0 else "worse"
            parts[sign if is_clear else "equal"].append(full_name(name))
    lines = [
        f"- On {len(board.sets)} sets with features, the default, {full_name(default)}, has the "
        f"mean ARI {board.means[board.reference]:.3f}.",
    ]
    if parts["better"]:
        lines.append(f"- Better by more than two standard errors: {', '.join(parts['better'])}.")
    else:
        lines.append("- No other combination is better by more than two standard errors.")
    lines.append(f"- Not told apart from it: {', '.join(parts['equal']) or 'none'}.")
    lines.append(
        f"- Worse by more than two standard errors: {', '.join(parts['worse']) or 'none'}."
    )
    lines.append(
        f"- All ranks equal has the probability {board.friedman_p:.2g} (Friedman). Two mean ranks "
        f"differ at the 5 % level if they are {board.critical_difference:.1f} apart (Nemenyi, "
        f"{len(board.contenders)} combinations)."
    )
    return "\n".join(lines)


def kinds_table() -> str:
    """Return mean ARI and standard error over the sets of every kind."""
    board = _board("features, at the true K")
    by_kind: dict[str, list[int]] = {}
    for i, name in enumerate(board.sets):
        kind = next((kind for kind, names in KINDS.items() if name in names), OTHER)
        by_kind.setdefault(kind, []).append(i)
    kinds = sorted(by_kind)
    lines = _head(["combination", *(f"{kind} ({len(by_kind[kind])} sets)" for kind in kinds)])
    best = {kind: board.scores[by_kind[kind]].mean(axis=0).max() for kind in kinds}
    for j, name in enumerate(board.contenders):
        cells = [_cell(board.scores[by_kind[kind], j], best[kind]) for kind in kinds]
        lines.append(_row([full_name(name), *cells]))
    return "\n".join(lines)


def together_table() -> str:
    """Return the share of right answers of each rule, with and without clusters."""
    return together(read(choosing_k.RECORDS))


def rules_table() -> str:
    """Return how often each rule finds the number of clusters of tables of labels."""
    return table(read(choosing_k.RECORDS), "labels")


def feature_rules_table() -> str:
    """Return how often each rule finds the number of round clusters of features."""
    return table(read(choosing_k.RECORDS), "features")


def default_rules_table() -> str:
    """Return how often `EnsembleClustering()` finds the number of clusters."""
    return by_kind(read(choosing_k.RECORDS), "default")


def default_noise_table() -> str:
    """Return in how many sets of noise `EnsembleClustering()` finds structure."""
    return false_alarms(read(choosing_k.RECORDS), "default")


def text_rules_table() -> str:
    """Return how often `EnsembleClustering()` finds the number of topics of texts."""
    return by_kind(read(choosing_k.RECORDS), "texts")


def real_texts_table() -> str:
    """Return the number of clusters that `EnsembleClustering()` chooses for real texts."""
    return numbers_table(read(choosing_k.RECORDS), "real texts")


def text_noise_table() -> str:
    """Return in how many sets of texts about one topic `EnsembleClustering()` finds structure."""
    return false_alarms(read(choosing_k.RECORDS), "texts")


def shape_rules_table() -> str:
    """Return how often each rule finds the number of clusters that are not round."""
    return table(read(choosing_k.RECORDS), "shapes")


def partition_rules_table() -> str:
    """Return how often each rule finds the number of classes from partitions of real sets."""
    return table(read(choosing_k.RECORDS), "partitions")


def set_rules_table() -> str:
    """Return how often each rule finds the number of classes of real sets."""
    return table(read(choosing_k.RECORDS), "sets")


def label_noise_table() -> str:
    return false_alarms(read(choosing_k.RECORDS), "labels")


def feature_noise_table() -> str:
    return false_alarms(read(choosing_k.RECORDS), "features")


def shape_noise_table() -> str:
    return false_alarms(read(choosing_k.RECORDS), "shapes")


def noise_words() -> str:
    """Return how often scans take noise for structure, for the page of promises."""
    return alarm_words(read(choosing_k.RECORDS))


def shuffled_noise_table() -> str:
    """Return how often scans find structure in shuffled columns of real sets."""
    return shuffled_table(read(choosing_k.RECORDS))


def thin_noise_table() -> str:
    """Return how often scans find structure in thin shapes."""
    return thin_table(read(choosing_k.RECORDS))


def calibration_table() -> str:
    """Return how many samples keep their cluster, by repeatability and confidence."""
    return calibration.table_of(read(calibration.RECORDS))


def calibration_words() -> str:
    return calibration.words(read(calibration.RECORDS))


def _board(title: str) -> Board:
    return next(board for board in boards(_records()) if board.title == title)


def _records() -> list[Record]:
    return read(RECORDS)


def _board_table(board: Board) -> str:
    heading = ["combination", "mean ARI", "difference ± s.e.", "mean rank", "wins", "losses", "s"]
    lines = _head(heading)
    for j, name in enumerate(board.contenders):
        difference, error = board.difference(j, board.reference)
        wins, losses = board.wins_and_losses(j, board.reference)
        cells = [f"{board.means[j]:.3f}", f"{difference:+.3f} ± {error:.3f}"]
        if j == board.reference:
            cells, counts = [cells[0], "the default"], ["", ""]
        else:
            counts = [str(wins), str(losses)]
        cells += [f"{board.ranks[j]:.1f}", *counts, f"{board.seconds[j]:.2f}"]
        lines.append(_row([full_name(name), *cells]))
    return "\n".join(lines)


def _cell(scores: np.ndarray, best: float) -> str:
    mean, error = scores.mean(), scores.std(ddof=1) / np.sqrt(len(scores))
    text = f"{mean:.2f}"
    return f"**{text}** ± {error:.2f}" if text == f"{best:.2f}" else f"{text} ± {error:.2f}"


def _head(names: list[str]) -> list[str]:
    return [_row(names), _row(["---"] * len(names))]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("| --- ", "|---").replace("|--- |", "|---|")
