"""Findings about the number of clusters, the methods and the true classes."""

from __future__ import annotations

import numpy as np

from partita.reporting._content import Content
from partita.reporting._finding import Finding, count, make_finding

__all__ = ["structure_findings"]


def structure_findings(content: Content) -> list[Finding | None]:
    """Return one finding per question; None where the report has no answer."""
    return [
        _number_of_clusters(content),
        _hidden_group(content),
        _one_story(content),
        _agreement_of_methods(content),
        _true_classes(content),
    ]


def _hidden_group(content: Content) -> Finding:
    question, groups = "Does a cluster hide a group?", content.hidden_groups
    if not groups:
        return make_finding(question, "No cluster has a part that most partitions split off.", True)
    first = groups[0]
    name = content.clusters[first["cluster"]]
    more = f" {count(len(groups) - 1, 'other cluster')} too." if len(groups) > 1 else ""
    return make_finding(
        question,
        f"Cluster {name}: {first['n_partitions']:,} of {content.ensemble.n_partitions:,} "
        f"partitions split {count(first['n_samples'], 'sample')} ({first['share']:.0%} of it) "
        f"off.{more}",
        False,
        f"Fuse with {content.diagnosis.n_clusters + len(groups)} clusters, or look at the group: "
        "`partita.structure.hidden_groups` returns its samples.",
    )


def _one_story(content: Content) -> Finding | None:
    if content.ensemble.n_partitions < 2:
        return None
    question, modes = "Do the partitions tell one story?", content.diagnosis.modes
    consistency = content.diagnosis.mean_element_consistency
    measure = (
        f" The element-centric consistency of the samples is {consistency:.2f} on average (1: all "
        "partitions are the same)."
        if np.isfinite(consistency)
        else ""
    )
    if modes.n_modes == 1:
        return make_finding(question, f"Yes: they do not disagree in groups.{measure}", True)
    sizes = np.bincount(modes.mode_of[modes.mode_of >= 0])
    first = modes.differences[0]
    return make_finding(
        question,
        f"No: {modes.n_modes} groups of {', '.join(f'{n:,}' for n in sizes)} partitions disagree "
        f"with each other. Between the consensus of the first and the second group, "
        f"{count(first['n_moved'], 'sample')} ({first['share_moved']:.0%}) change the cluster."
        f"{measure}",
        False,
        "Look at the table of modes and find out what the partitions of a group have in common. "
        "Report one consensus per group (`partita.structure.modes`); a single one mixes them.",
    )


def _number_of_clusters(content: Content) -> Finding | None:
    if content.scan is None:
        return None
    question, best_k = "Is this number of clusters supported?", content.scan.best_k
    low, high = int(content.scan.k[0]), int(content.scan.k[-1])
    if best_k is None and content.scan.rejected_k is not None:
        return make_finding(
            question,
            f"No structure was found from K = {low} to {high}: {content.scan.reason}.",
            False,
            "Do not interpret the clusters: they are pieces of one thin shape.",
        )
    if best_k is None:
        return make_finding(
            question,
            f"No structure was found from K = {low} to {high}: no number of clusters scores better "
            "than for partitions that have nothing in common.",
            False,
            "Do not interpret the clusters. Check the features and their scale, or scan with "
            "`scan_k_features`, whose null knows the features.",
        )
    k = content.diagnosis.n_clusters
    ties = [str(tied) for tied in content.scan.tied_k if tied != best_k]
    note = f" Within one standard error of the best are also K = {', '.join(ties)}." if ties else ""
    if k in content.scan.tied_k:
        text = f"Yes: the scan from {low} to {high} suggests K = {best_k}.{note}"
        return make_finding(question, text, True)
    return make_finding(
        question,
        f"No: the scan from {low} to {high} suggests K = {best_k}, this consensus has K = {k}."
        f"{note}",
        False,
        f"Fuse with K = {best_k} and compare the two reports. Keep K = {k} only for a reason that "
        "is not in these data.",
    )


def _agreement_of_methods(content: Content) -> Finding | None:
    if content.comparison is None:
        return None
    question = "Does the result depend on the method?"
    finished = [r for r in content.comparison if r["method"] in content.comparison.labels]
    n_failed = sum(r["failure"] is not None for r in content.comparison)
    failures = f" {count(n_failed, 'method')} failed." if n_failed else ""
    agreement = [r["agreement"] for r in finished if r["agreement"] is not None]
    if not agreement:
        return make_finding(question, f"Unknown: too few methods finished.{failures}")
    return make_finding(
        question,
        f"The results of {len(finished):,} methods have a mean ARI of {np.mean(agreement):.2f} "
        f"with each other (from {min(agreement):.2f} to {max(agreement):.2f}; 1 is the same "
        f"result).{failures}",
    )


def _true_classes(content: Content) -> Finding | None:
    if content.scores is None:
        return None
    scores = ", ".join(f"{name} {value:.3f}" for name, value in content.scores.items())
    return make_finding("How close is it to the true classes?", f"{scores}. 1 is the same result.")
