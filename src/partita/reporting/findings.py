"""The summary of a report: questions an analyst asks, answered in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.reporting._json import in_words, short
from partita.reporting.inputs import Case

__all__ = ["findings"]

_MANY_DOUBTFUL = 0.1  # share of the samples from which on the reader should look

Finding = dict[str, str]


def findings(case: Case) -> list[Finding]:
    """Question, answer, and whether it is fine, needs a look, or just is so."""
    asked = [
        _sizes(case),
        _confidence(case),
        _doubtful(case),
        _harm(case),
        _bad_runs(case),
        _repeats(case),
        _weakest(case),
        _number(case),
        _methods(case),
        _classes(case),
    ]
    return [finding for finding in asked if finding is not None]


def _finding(question: str, answer: str, fine: bool | None = None) -> Finding:
    mark = "plain" if fine is None else "fine" if fine else "look"
    return {"question": question, "answer": answer, "mark": mark}


def _sizes(case: Case) -> Finding:
    d = case.diagnosis
    named = case.method_name
    by = f"{short(named)} sorts" if named else "The consensus sorts"
    n = int(np.count_nonzero(d.labels >= 0))
    total = d.sizes.sum()
    low, high = float(d.sizes.min()), float(d.sizes.max())
    text = f"{by} {_many(n, 'sample')} into {_many(d.n_clusters, 'cluster')}"
    if d.n_clusters > 1:
        weight = " by weight" if case.is_weighted else ""
        text += (
            f"; the smallest holds {low:,.6g} ({low / total:.1%}), the largest {high:,.6g} "
            f"({high / total:.1%}){weight}"
        )
    left_out = len(d.labels) - n
    if left_out:
        text += f". {_many(left_out, 'sample')} without a label {_are(left_out)} left out"
    return _finding("How many clusters are there?", f"{text}.")


def _confidence(case: Case) -> Finding:
    mean = case.mean_confidence
    if not np.isfinite(mean):
        return _finding("How sure are the partitions?", "Every cluster holds one sample only.")
    return _finding(
        "How sure are the partitions?",
        f"On average {mean:.0%} of the {case.ensemble.n_partitions:,} partitions join a sample "
        f"with another member of its cluster (mean confidence {mean:.2f}).",
    )


def _doubtful(case: Case) -> Finding:
    n, doubtful = int(np.count_nonzero(case.diagnosis.labels >= 0)), len(case.doubtful)
    question = "Which samples are doubtful?"
    if not doubtful:
        return _finding(question, "None: each is joined with its cluster by at least half.", True)
    return _finding(
        question,
        f"{doubtful:,} of {n:,} samples ({doubtful / n:.1%}) are joined with their cluster by "
        "fewer than half of the partitions, or lie closer to another cluster.",
        doubtful / n < _MANY_DOUBTFUL,
    )


def _harm(case: Case) -> Finding:
    d = case.diagnosis
    best = short(case.partitions[d.best_member])
    if d.harmless:
        answer = (
            f"No: the consensus agrees with the partitions (ANMI {d.anmi:.3f}) at least as well "
            f"as the best of them, partition {best}, does with the others "
            f"({d.best_member_anmi:.3f})."
        )
    else:
        answer = (
            f"Perhaps: the partition {best} agrees with the others (ANMI {d.best_member_anmi:.3f}) "
            f"better than the consensus does with all ({d.anmi:.3f})."
        )
    return _finding("Did fusing do harm?", answer, d.harmless)


def _bad_runs(case: Case) -> Finding:
    bad = [case.partitions[i] for i in np.flatnonzero(case.diagnosis.bad_runs)]
    if not bad:
        return _finding("Are there bad runs?", "None of the partitions stands far apart.", True)
    return _finding(
        "Are there bad runs?",
        f"{len(bad):,} of {case.ensemble.n_partitions:,} partitions: {in_words(bad)}. A bad run "
        "agrees with the consensus far less than the others, or divides nothing.",
        False,
    )


def _repeats(case: Case) -> Finding:
    groups = np.bincount(case.diagnosis.redundancy)
    spare = int((groups[groups > 1] - 1).sum())
    if not spare:
        return _finding("Is evidence counted twice?", "No two partitions are the same.", True)
    largest = int(np.argmax(groups))
    same = [case.partitions[i] for i in np.flatnonzero(case.diagnosis.redundancy == largest)]
    return _finding(
        "Is evidence counted twice?",
        f"{_many(spare, 'partition')} {_are(spare)} the same as another; the largest group of "
        f"equal ones is {in_words(same)}.",
        False,
    )


def _weakest(case: Case) -> Finding | None:
    d = case.diagnosis
    if d.n_clusters < 2:
        return None
    k = int(np.argmin(d.stability))
    cohesion = f", cohesion {d.cohesion[k]:.2f}" if np.isfinite(d.cohesion[k]) else ""
    return _finding(
        "Which cluster is weakest?",
        f"Cluster {short(case.clusters[k])}: the partitions contain it least closely (stability "
        f"{d.stability[k]:.2f}{cohesion}); the steadiest has {d.stability.max():.2f}.",
    )


def _number(case: Case) -> Finding | None:
    if case.scan is None:
        return None
    question, best = "Is this number of clusters supported?", case.scan.best_k
    low, high = int(case.scan.k[0]), int(case.scan.k[-1])
    if best is None:
        return _finding(
            question,
            f"No structure was found between K = {low} and {high}: no number of clusters does "
            "better than partitions that have nothing in common.",
            False,
        )
    used = case.diagnosis.n_clusters
    if used == best:
        return _finding(question, f"Yes: the scan from {low} to {high} suggests K = {best}.", True)
    return _finding(
        question, f"The scan from {low} to {high} suggests K = {best}; this is K = {used}.", False
    )


def _methods(case: Case) -> Finding | None:
    if case.comparison is None:
        return None
    done = [r for r in case.comparison if r["failure"] is None]
    failed = len(case.comparison) - len(done)
    tail = f" {_many(failed, 'method')} failed." if failed else ""
    agreeing = [r["agreement"] for r in done if r["agreement"] is not None]
    if not agreeing:
        return _finding("Does the answer hang on the method?", f"Too few methods ran to say.{tail}")
    return _finding(
        "Does the answer hang on the method?",
        f"{len(done):,} methods agree with each other by a mean ARI of {np.mean(agreeing):.2f} "
        f"(from {min(agreeing):.2f} to {max(agreeing):.2f}; 1 is the same result).{tail}",
    )


def _classes(case: Case) -> Finding | None:
    if case.scores is None:
        return None
    measures = ", ".join(f"{name} {value:.3f}" for name, value in case.scores.items())
    return _finding("How close is it to the known classes?", f"{measures}.")


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _are(n: int) -> Any:
    return "is" if n == 1 else "are"
