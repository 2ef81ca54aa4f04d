"""The tables of `choosing_k`: how often each rule is right, and noise that passes for structure."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from benchmarks.json_lines import Record
from benchmarks.scoreboard._rules import RULES

__all__ = [
    "alarm_words",
    "by_kind",
    "exact_interval",
    "false_alarms",
    "numbers_table",
    "shuffled_table",
    "table",
    "thin_table",
    "together",
]

_WITH_NOISE = ("labels", "features", "shapes")  # parts that also have data without clusters


def table(records: list[Record], part: str) -> str:
    """Return how often each rule is right, and finds structure in noise, if there is noise."""
    records = [r for r in records if r["part"] == part]
    true = [r for r in records if r["true_k"] is not None]
    false = [r for r in records if r["true_k"] is None]
    if not true:
        return "no records"
    things = {
        "labels": "planted tables",
        "features": "sets of round clusters",
        "shapes": "sets of other shapes",
        "partitions": "tables of real sets",
        "sets": "real sets",
    }
    head = [
        "rule",
        f"right K, {len(true)} {things[part]}",
        "difference ± s.e.",
        "mean distance from the right K",
    ]
    if false:
        head.append("structure in noise")
    lines = [_row(head), "|---" * len(head) + "|"]
    truth = np.asarray([r["true_k"] for r in true])
    answers = {rule: np.asarray([r[rule] or 1 for r in true]) for rule in RULES}
    for rule in RULES:
        name = {"scan": "scan_k" if part in ("labels", "partitions") else "scan_k_features"}.get(
            rule, rule
        )
        right = answers[rule] == truth
        difference = right.astype(float) - (answers["scan"] == truth)
        error = difference.std() / np.sqrt(len(true))
        cells = [
            name,
            f"{right.mean():.0%}",
            "" if rule == "scan" else f"{difference.mean():+.0%} ± {error:.0%}",
            f"{np.abs(answers[rule] - truth).mean():.2f}",
        ]
        if false:
            alarms = [r[rule] is not None for r in false if rule in r]
            cells.append(f"{sum(alarms)} of {len(alarms)}")
        lines.append(_row(cells))
    return "\n".join(lines)


def together(records: list[Record]) -> str:
    """Return the share of right answers with clusters and without; parts have equal weights."""
    head = ["rule", "right K where there are clusters", "no structure where there are none", "mean"]
    lines = [_row(head), "|---" * len(head) + "|"]
    for rule in RULES:
        shares = [_share_right(records, rule, is_noise) for is_noise in (False, True)]
        lines.append(_row([rule, *(f"{share:.1%}" for share in (*shares, np.mean(shares)))]))
    return "\n".join(lines)


def _share_right(records: list[Record], rule: str, is_noise: bool) -> float:
    """Return the share of right answers with or without clusters, the mean of the parts."""
    right: dict[str, list[bool]] = {part: [] for part in _WITH_NOISE}
    for record in records:
        if record["part"] in right and rule in record and (record["true_k"] is None) == is_noise:
            right[record["part"]].append(record[rule] == record["true_k"])
    return float(np.mean([np.mean(answers) for answers in right.values()]))


def by_kind(records: list[Record], part: str) -> str:
    """Return how often the scan is right on every kind of data with clusters."""
    true = [r for r in records if r["part"] == part and r["true_k"] is not None]
    head = ["data", "sets", "right K", "no structure", "mean distance from the right K"]
    lines = [_row(head), "|---" * len(head) + "|"]
    groups = {
        kind.partition(": ")[2]: [r for r in true if r["kind"] == kind]
        for kind in dict.fromkeys(r["kind"] for r in true)
    }
    for name, group in [*groups.items(), ("all", true)]:
        right = sum(r["scan"] == r["true_k"] for r in group)
        none = sum(r["scan"] is None for r in group)
        distance = np.mean([abs((r["scan"] or 1) - r["true_k"]) for r in group])
        lines.append(_row([name, str(len(group)), str(right), str(none), f"{distance:.2f}"]))
    return "\n".join(lines)


def false_alarms(records: list[Record], part: str) -> str:
    """Return in how many tables of noise the scan finds structure, for every shape."""
    false = [r for r in records if r["part"] == part and r["true_k"] is None]
    lines = [_row(["shape", "tables", "structure found"]), "|---|---|---|"]
    for kind in dict.fromkeys(r["kind"] for r in false):
        alarms = [r["scan"] is not None for r in false if r["kind"] == kind]
        lines.append(_row([kind.partition(": ")[2], str(len(alarms)), str(sum(alarms))]))
    n_alarms = sum(r["scan"] is not None for r in false)
    lines.append(_row(["all", str(len(false)), _rate(n_alarms, len(false))]))
    return "\n".join(lines)


def numbers_table(records: list[Record], part: str) -> str:
    """Return the number of clusters of each real set beside that of its classes."""
    lines = [_row(["set", "n", "d", "classes", "K of the scan"]), "|---|---|---|---|---|"]
    for record in [r for r in records if r["part"] == part]:
        sizes = [str(record[key]) for key in ("n_samples", "n_features", "true_k")]
        lines.append(_row([record["kind"], *sizes, str(record["scan"] or "no structure")]))
    return "\n".join(lines)


def alarm_words(records: list[Record]) -> str:
    """Return in how many tables of noise each scan finds structure, and how often it is right."""
    scans = {
        "labels": "`scan_k`",
        "features": "`scan_k_features` with k-means",
        "shapes": "`scan_k_features` with graph cuts",
        "default": "`EnsembleClustering()`",
    }
    alarms = []
    for part, name in scans.items():
        noise = [r for r in records if r["part"] == part and r["true_k"] is None]
        count = sum(r["scan"] is not None for r in noise)
        high = exact_interval(count, len(noise))[1]
        alarms.append(f"{name} in {count} of {len(noise)} (95 % interval up to {high:.1%})")
    planted = [r for r in records if r["part"] == "labels" and r["true_k"] is not None]
    right = sum(r["scan"] == r["true_k"] for r in planted)
    return (
        f"Structure was found where there are no clusters by {'; '.join(alarms)}. `scan_k` found "
        f"the number of clusters in {right} of {len(planted)} tables with planted clusters."
    )


def shuffled_table(records: list[Record]) -> str:
    """Return how often each scan finds structure in shuffled columns of real sets, and in which."""
    false = [r for r in records if r["part"] == "shuffled"]
    lines = [_row(["scan", "shuffled sets", "structure found", "in"]), "|---|---|---|---|"]
    for scan in dict.fromkeys(r["kind"].partition(": ")[0] for r in false):
        group = [r for r in false if r["kind"].partition(": ")[0] == scan]
        alarms = [r["kind"].partition(": ")[2] for r in group if r["scan"] is not None]
        places = ", ".join(f"{name} ({alarms.count(name)})" for name in dict.fromkeys(alarms))
        lines.append(_row([scan, str(len(group)), _rate(len(alarms), len(group)), places]))
    return "\n".join(lines)


def thin_table(records: list[Record]) -> str:
    """Return how often scans find structure in thin shapes, and k-means without its valleys."""
    thin = [r for r in records if r["part"] == "thin"]
    head = ["shape", "sets", "k-means, no test of valleys", "k-means", "`EnsembleClustering()`"]
    lines = [_row(head), "|---" * len(head) + "|"]
    for kind in dict.fromkeys(r["kind"] for r in thin):
        group = [r for r in thin if r["kind"] == kind]
        counts = _thin_counts(group)
        lines.append(_row([kind.partition(": ")[2], str(len(group)), *map(str, counts)]))
    rates = [_rate(count, len(thin)) for count in _thin_counts(thin)]
    lines.append(_row(["all", str(len(thin)), *rates]))
    return "\n".join(lines)


def _thin_counts(group: list[Record]) -> list[int]:
    """Return in how many sets k-means finds structure without and with valleys, and the default."""
    with_valley = [r["scan"] is not None for r in group]
    without = [r["scan"] is not None or r["rejected"] is not None for r in group]
    return [sum(without), sum(with_valley), sum(r["default"] is not None for r in group)]


def _rate(count: int, n: int) -> str:
    low, high = exact_interval(count, n)
    return f"{count} ({count / max(n, 1):.1%}, 95 % interval {low:.1%} to {high:.1%})"


def exact_interval(count: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Clopper and Pearson."""
    low = beta.ppf(0.025, count, n - count + 1) if count else 0.0
    high = beta.ppf(0.975, count + 1, n - count) if count < n else 1.0
    return float(low), float(high)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
