"""A label store is accepted wherever partitions are."""

from __future__ import annotations

import numpy as np

import partita
from partita.datasets import make_partitions
from partita.plotting import ConsensusDisplay


def test_every_function_of_partitions_takes_a_store(tmp_path):
    partitions, _ = make_partitions(40, 8, 3, random_state=1)
    labels = partita.EAC(3).fit_predict(partitions)
    store = partita.LabelStore.from_partitions(partitions, tmp_path / "labels.store")
    functions = {
        "coassociation": partita.coassociation,
        "compare": lambda p: partita.compare(p, ["eac"], 3).labels["eac"],
        "diagnose": lambda p: partita.diagnose(p, labels).confidence,
        "enhanced_coassociation": partita.enhanced_coassociation,
        "fuse": lambda p: partita.fuse(p, 3, method="eac").labels,
        "locally_weighted_coassociation": partita.locally_weighted_coassociation,
        "membership": lambda p: partita.membership(p, labels),
        "scan_k": lambda p: partita.scan_k(p, (2, 3), method="eac", random_state=0).gain,
        "trajectory_similarity": partita.trajectory_similarity,
        "cluster_tree": lambda p: partita.cluster_tree(p).labels,
        "anmi": lambda p: partita.metrics.anmi(p, labels),
        "diversity": partita.metrics.diversity,
        "pairwise_agreement": partita.metrics.pairwise_agreement,
        "ConsensusDisplay": lambda p: ConsensusDisplay.from_labels(p, labels).blocks.image,
    }
    for name, function in functions.items():
        np.testing.assert_array_equal(function(store), function(partitions), err_msg=name)
