"""Summaries that the tests of the report share."""

from __future__ import annotations

from typing import Any

import numpy as np

import partita
from partita.datasets import make_partitions
from partita.reporting import summarize

# Names of columns, samples, clusters and titles that try to break the page.
HOSTILE = (
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload="window.hacked=1">',
    "' onmouseover='window.hacked=1",
    "<!-- --> --!> <!--<script>",
    "{{ 7 * 7 }} {% raw %}",
    "$\\nosuch{$ & &lt; \u2028 \u202e",
)


def hostile_case() -> dict[str, Any]:
    """Return arguments of `summarize` in which every name is hostile."""
    labels, truth = make_partitions(80, 9, 3, noise=0.25, random_state=1)
    ensemble = partita.Ensemble.from_partitions(
        labels,
        partition_names=[*HOSTILE, "plain"],
        sample_ids=[f"{HOSTILE[i % len(HOSTILE)]} {i}" for i in range(80)],
        provenance={HOSTILE[0]: HOSTILE[1]},
    )
    clusters = np.asarray(HOSTILE[:3], object)[truth]
    return {"partitions": ensemble, "labels": clusters, "title": HOSTILE[1], "method": HOSTILE[0]}


def full_case() -> dict[str, Any]:
    """Return arguments of `summarize` for a report with all sections."""
    labels, truth = make_partitions(120, 12, 3, noise=0.2, random_state=5)
    junk = np.random.default_rng(0).integers(0, 3, 120)
    labels = np.column_stack([labels, labels[:, 1], junk])
    method = partita.SEC(3, random_state=0).fit(labels)
    return {
        "partitions": labels,
        "labels": method.labels_,
        "method": method,
        "scan": partita.scan_k(labels, range(2, 5), n_resamples=2, n_null=2, random_state=0),
        "comparison": partita.compare(labels, ["eac", "sec"], 3, y=truth),
        "y": truth,
        "features": {
            "size": truth + np.random.default_rng(1).normal(size=120),
            "kind": np.asarray(["a", "b"], object)[(truth == 1).astype(int)],
        },
        "hierarchy": partita.structure.hierarchical_consensus(labels, random_state=0),
        "title": "Planted clusters",
        "random_state": 0,
    }


def summary_of(case: dict[str, Any]) -> dict[str, Any]:
    return summarize(**case)
