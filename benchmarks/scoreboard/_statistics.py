"""Means, ranks, wins and losses over sets, with the tests of Friedman and Nemenyi."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from benchmarks.json_lines import Record
from benchmarks.scoreboard._sources import DEFAULT, SCIKIT
from partita.generators import GENERATORS
from partita.registry import all_methods

__all__ = ["Board", "boards", "full_name"]

_DEFAULTS = ("ensemble_clustering + ccgp", "ccgp")  # what a user gets without choosing
_TIE = 0.005  # a smaller difference of mean ARI on a set is no win


@dataclass(frozen=True, eq=False)
class Board:
    """Scores of contenders on the sets that all of them have records for.

    Attributes
    ----------
    title : str
        What the contenders are.
    contenders, sets : list of str
        Contenders by descending mean score, and sets.
    scores : array of shape (n_sets, n_contenders)
        Mean ARI over the seeds.
    seconds : array of shape (n_contenders,)
        Mean seconds of computing; NaN for an algorithm that was not run here.
    n_failed : array of shape (n_contenders,)
        Numbers of fits without an answer; these have the score 0.
    """

    title: str
    contenders: list[str]
    sets: list[str]
    scores: NDArray[np.float64]
    seconds: NDArray[np.float64]
    n_failed: NDArray[np.int64]

    @property
    def means(self) -> NDArray[np.float64]:
        return self.scores.mean(axis=0)

    @property
    def ranks(self) -> NDArray[np.float64]:
        """Mean rank over the sets; 1 is the best, ties share their mean rank."""
        return np.asarray([rankdata(-row) for row in np.round(self.scores, 3)]).mean(axis=0)

    @property
    def reference(self) -> int:
        """The contender to compare with: the default of partita, or the best one."""
        defaults = [j for j, name in enumerate(self.contenders) if name in _DEFAULTS]
        return defaults[0] if defaults else 0

    def difference(self, j: int, reference: int) -> tuple[float, float]:
        """Return the mean difference to another contender, and its standard error over sets."""
        differences = self.scores[:, j] - self.scores[:, reference]
        n = len(differences)
        error = float(np.std(differences, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        return float(differences.mean()), error

    def wins_and_losses(self, j: int, reference: int) -> tuple[int, int]:
        """Count the sets on which a contender is better, and those on which it is worse."""
        differences = self.scores[:, j] - self.scores[:, reference]
        return int(np.sum(differences > _TIE)), int(np.sum(differences < -_TIE))

    @property
    def friedman_p(self) -> float:
        """Probability of ranks as different as these if all contenders were equal."""
        if len(self.contenders) < 3 or len(self.sets) < 2:
            return float("nan")
        return float(friedmanchisquare(*np.round(self.scores, 3).T).pvalue)

    @property
    def critical_difference(self) -> float:
        """Difference of mean ranks above which two contenders differ at the 5 % level (Nemenyi)."""
        k, n = len(self.contenders), len(self.sets)
        quantile = studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
        return float(quantile * np.sqrt(k * (k + 1) / (6 * n)))


def boards(records: Iterable[Record]) -> list[Board]:
    """Return a board for generators and one for tables, for each choice of the number."""
    groups: dict[tuple[bool, str], list[Record]] = defaultdict(list)
    for record in records:
        groups[record["source"] == "table", record["k_rule"]].append(record)
    names = {"true": "at the true K", "scan": "at the K that a scan suggests"}
    return [
        _board(("tables" if is_table else "features") + f", {names[k_rule]}", group)
        for (is_table, k_rule), group in sorted(groups.items())
    ]


def full_name(contender: str) -> str:
    """Return "LandmarkSpectral + CCGP" for "landmark_spectral + ccgp"; other names as they are."""
    source, _, method = contender.rpartition(" + ")
    if source == DEFAULT:
        return "EnsembleClustering"
    if source == SCIKIT:
        return f"{SCIKIT}: {method}"
    name = {each.info.key: each.__name__ for each in all_methods()}.get(method, method)
    return f"{GENERATORS[source].__name__} + {name}" if source else name


def _board(title: str, records: list[Record]) -> Board:
    cells: dict[tuple[tuple[str, str], str], list[Record]] = defaultdict(list)
    for record in records:
        source = record["source"]
        contender = record["method"] if source == "table" else f"{source} + {record['method']}"
        cells[(record["set"], record["data"]), contender].append(record)
    n_sets: dict[str, int] = defaultdict(int)
    for _, contender in cells:
        n_sets[contender] += 1
    # An algorithm that is in the tables of few sets would leave few sets to compare on.
    most = max(n_sets.values())
    contenders = sorted(c for c, n in n_sets.items() if n > most / 2)
    candidates = sorted({each for each, _ in cells}, key=lambda each: (each[0].lower(), each[1]))
    sets = [s for s in candidates if all((s, c) in cells for c in contenders)]
    table = np.asarray(
        [[np.mean([r["ARI"] for r in cells[s, c]]) for c in contenders] for s in sets]
    ).reshape(len(sets), len(contenders))
    order = np.argsort(-table.mean(axis=0), kind="stable") if sets else np.arange(len(contenders))
    ordered = [contenders[j] for j in order]
    by_contender = [[r for s in sets for r in cells[s, c]] for c in ordered]
    return Board(
        title=title,
        contenders=ordered,
        sets=[name for name, _ in sets],
        scores=table[:, order],
        seconds=np.asarray([_mean_seconds(each) for each in by_contender]),
        n_failed=np.asarray([sum("failed" in r for r in each) for each in by_contender]),
    )


def _mean_seconds(records: list[Record]) -> float:
    seconds = [r["seconds"] for r in records if r["seconds"] is not None]
    return float(np.mean(seconds)) if seconds else float("nan")
