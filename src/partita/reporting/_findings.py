"""The summary of a report: questions about the consensus, and answers in sentences."""

from __future__ import annotations

import numpy as np

from partita.reporting._content import Content
from partita.reporting._finding import Finding, count, make_finding
from partita.reporting._structure_findings import structure_findings
from partita.reporting._values import join_names, shorten

__all__ = ["findings"]

_MANY_CHANGED = 0.1  # share of samples in another cluster from which the answer is marked "look"
_MANY_DOUBTFUL = 0.1  # share of doubtful samples from which the answer is marked "look"


def findings(content: Content) -> list[Finding]:
    """Return questions with an answer, a mark ("fine", "look" or "plain") and advice."""
    answers = [
        _cluster_sizes(content),
        _changes(content),
        _mean_confidence(content),
        _doubtful_samples(content),
        _best_partition(content),
        _bad_partitions(content),
        _equal_partitions(content),
        _views(content),
        _weakest_cluster(content),
        *structure_findings(content),
    ]
    return [finding for finding in answers if finding is not None]


def _cluster_sizes(content: Content) -> Finding:
    d = content.diagnosis
    subject = shorten(content.method_name) if content.method_name else "The consensus"
    n_labeled = int(np.count_nonzero(d.labels >= 0))
    text = f"{subject} divides {count(n_labeled, 'sample')} into {count(d.n_clusters, 'cluster')}."
    if d.n_clusters > 1:
        low, high, total = float(d.sizes.min()), float(d.sizes.max()), d.sizes.sum()
        weight = " by weight" if content.is_weighted else ""
        text += (
            f" The smallest has {low:,.6g} ({low / total:.1%}), the largest {high:,.6g} "
            f"({high / total:.1%}){weight}."
        )
    n_unlabeled = len(d.labels) - n_labeled
    if n_unlabeled:
        verb = "is" if n_unlabeled == 1 else "are"
        text += f" {count(n_unlabeled, 'sample')} without a label {verb} left out."
    return make_finding("How many clusters are there?", text)


def _changes(content: Content) -> Finding | None:
    if content.changed is None:
        return None
    d, n_changed = content.diagnosis, len(content.changed)
    n_labeled = int(np.count_nonzero(d.labels >= 0))
    text = f"{n_changed:,} of {n_labeled:,} samples ({n_changed / n_labeled:.1%}) are in another "
    text += "cluster than before the new partitions."
    names = d.partitions.sample_ids
    if n_changed and names is not None:
        text += f" They are {join_names([names[i] for i in content.changed.tolist()])}."
    return make_finding(
        "What did the update change?",
        text,
        n_changed / n_labeled < _MANY_CHANGED,
        "Compare the new partitions with the old ones in the table of partitions: many changes "
        "mean that they tell something else, or that the consensus was not settled.",
    )


def _mean_confidence(content: Content) -> Finding:
    question, mean = "How much do the partitions agree?", content.diagnosis.mean_confidence
    if not np.isfinite(mean):
        return make_finding(question, "Unknown: each cluster has only one sample.")
    return make_finding(
        question,
        f"On average, {mean:.0%} of the {content.ensemble.n_partitions:,} partitions put a sample "
        f"together with another sample of its cluster (mean confidence {mean:.2f}).",
    )


def _doubtful_samples(content: Content) -> Finding:
    question = "Which samples are doubtful?"
    n_labeled = int(np.count_nonzero(content.diagnosis.labels >= 0))
    n_doubtful = len(content.doubtful)
    if not n_doubtful:
        return make_finding(
            question,
            "None: the partitions put each sample together with its own cluster more often than "
            "with any other.",
            True,
        )
    return make_finding(
        question,
        f"{n_doubtful:,} of {n_labeled:,} samples ({n_doubtful / n_labeled:.1%}): the partitions "
        "put them together with another cluster at least as often as with their own.",
        n_doubtful / n_labeled < _MANY_DOUBTFUL,
        "Look at the table of samples. If most of them are between the same two clusters, these "
        "may be one cluster: fuse with fewer clusters. Otherwise treat these samples as "
        "unassigned.",
    )


def _best_partition(content: Content) -> Finding:
    d = content.diagnosis
    question = "Is the consensus as good as the best partition?"
    if d.best_partition is None:
        return make_finding(
            question,
            f"Unknown: no partition has about {count(d.n_clusters, 'cluster')}, and agreement "
            "with the others grows with the number of clusters.",
        )
    best = content.partitions[d.best_partition]
    if d.harmless:
        answer = (
            f"Yes: its agreement with the partitions is an ANMI of {d.anmi:.3f}. That of the best "
            f"of them, {best}, with the others is {d.best_partition_anmi:.3f}. Only partitions "
            "with about as many clusters are compared, and a lead of up to 0.01 does not count."
        )
    else:
        answer = (
            f"Perhaps not: partition {best} agrees better with the others (ANMI "
            f"{d.best_partition_anmi:.3f}) than the consensus does ({d.anmi:.3f})."
        )
    return make_finding(
        question,
        answer,
        d.harmless,
        f"Fuse again without the bad partitions, or with other methods (`compare`). If partition "
        f"{best} still agrees better, use it instead of a consensus.",
    )


def _bad_partitions(content: Content) -> Finding:
    question = "Are there bad partitions?"
    names = [content.partitions[i] for i in np.flatnonzero(content.diagnosis.bad_partitions)]
    if not names:
        return make_finding(question, "No partition differs much from all others.", True)
    return make_finding(
        question,
        f"{len(names):,} of {content.ensemble.n_partitions:,} partitions: {join_names(names)}. A "
        "bad partition cuts across the clusters of the consensus much more than the others, or has "
        "only one cluster.",
        False,
        "Find out how they were made. Leave them out and fuse again; if the clusters change, "
        "do not trust those that do.",
    )


def _equal_partitions(content: Content) -> Finding:
    question = "Are there equal partitions?"
    redundancy = content.diagnosis.redundancy
    sizes = np.bincount(redundancy)
    n_repeated = int((sizes[sizes > 1] - 1).sum())
    if not n_repeated:
        return make_finding(question, "No two partitions are the same.", True)
    names = [content.partitions[i] for i in np.flatnonzero(redundancy == np.argmax(sizes))]
    verb = "repeats" if n_repeated == 1 else "repeat"
    return make_finding(
        question,
        f"{count(n_repeated, 'partition')} {verb} another one, so that the same evidence counts "
        f"more than once. The largest group of equal partitions: {join_names(names)}.",
        False,
        "If they are copies, keep one of each. If they are results of different settings, their "
        "agreement is evidence, and there is nothing to do.",
    )


def _views(content: Content) -> Finding | None:
    records = content.diagnosis.view_records()
    if not records:
        return None
    question = "Do the views agree?"
    scores = [record["adjusted_rand"] for record in records]
    names = [record["view"] for record in records if record["disagrees"]]
    if not names:
        return make_finding(
            question,
            f"Yes: the partitions of each of {len(records):,} views have a mean ARI of at least "
            f"{min(scores):.2f} with the consensus, the best view {max(scores):.2f}.",
            True,
        )
    verb = "disagrees" if len(names) == 1 else "disagree"
    return make_finding(
        question,
        f"{join_names(names)} {verb}: the mean ARI with the consensus is less than half of that of "
        f"the best view ({max(scores):.2f}).",
        False,
        "Look at the table of views. Fuse the other views alone, and report what this view shows "
        "beside the consensus.",
    )


def _weakest_cluster(content: Content) -> Finding | None:
    d = content.diagnosis
    if d.n_clusters < 2:
        return None
    k = int(np.argmin(d.stability))
    cohesion = f", cohesion {d.cohesion[k]:.2f}" if np.isfinite(d.cohesion[k]) else ""
    return make_finding(
        "Which cluster is weakest?",
        f"Cluster {content.clusters[k]}: the clusters of the partitions resemble it least "
        f"(stability {d.stability[k]:.2f}{cohesion}). The highest stability is "
        f"{d.stability.max():.2f}.",
    )
