"""WEAC against its published program, a computation without reduction, and a hand-made example."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from unreduced_crowd import crowd_agreement_slowly, incidence_slowly, repeated

from partita import EAC, WEAC, Ensemble, coassociation
from partita.datasets import make_partitions
from partita.matrices import crowd_agreement, crowd_weighted_coassociation
from partita.testing import consensus_checks


@pytest.mark.shared
def test_published_matrix_and_labels(oracle):
    published = oracle("weac_gpmgla")
    found = crowd_agreement(Ensemble.from_partitions(oracle.labels))
    np.testing.assert_allclose(found, published["NCAI"], rtol=0, atol=1e-13)
    WCA = crowd_weighted_coassociation(oracle.labels)
    np.testing.assert_allclose(WCA, published["WCA"], rtol=0, atol=1e-13)
    labels = WEAC(oracle.n_clusters).fit_predict(oracle.labels)
    assert adjusted_rand_score(labels, published["labels_WEAC_AL"]) == 1.0


@pytest.mark.parametrize("name", ["average", "complete", "single"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_reduced_equals_unreduced(name, missing):
    once = make_partitions(40, 14, 4, noise=0.4, missing_ratio=missing, random_state=8)[0]
    labels = repeated(once)
    agreement = crowd_agreement_slowly(labels)
    np.testing.assert_allclose(
        crowd_agreement(Ensemble.from_partitions(labels)), agreement, rtol=0, atol=1e-12
    )
    B, partition = incidence_slowly(labels)
    weight, known = agreement**1.5, (labels >= 0).astype(float)
    expected = (B * weight[partition]) @ B.T / ((known * weight) @ known.T)
    found = crowd_weighted_coassociation(labels, beta=1.5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)

    method = WEAC(4, linkage=name, beta=1.5).fit(labels)
    tree = linkage(squareform(1 - expected, checks=False), name)
    # equal samples, and only they, are at distance 0: with gaps others may be, then order decides
    assert np.count_nonzero(expected > 1 - 1e-9) == np.sum((1 + np.arange(40) % 3) ** 2)
    heights = tree[len(labels) - len(once) :, 2]
    np.testing.assert_allclose(method.tree_.height, heights, rtol=0, atol=1e-12)
    assert adjusted_rand_score(method.labels_, cut_tree(tree, 4).ravel()) == 1.0


def test_four_samples_by_hand():
    """Two equal partitions and one independent of both: NMI 1, 0 and 0.

    The means are 1/2, 1/2 and 0, so that the third partition has no weight at all.
    """
    labels = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    found = crowd_agreement(Ensemble.from_partitions(labels))
    np.testing.assert_allclose(found, [1.0, 1.0, 0.0], rtol=0, atol=1e-15)
    expected = np.kron(np.eye(2), np.ones((2, 2)))
    np.testing.assert_allclose(crowd_weighted_coassociation(labels), expected, rtol=0, atol=1e-15)


def test_partitions_without_information():
    """One cluster agrees with nothing; where nothing agrees, all count the same."""
    labels = make_partitions(30, 4, 3, noise=0.1)[0]
    agreement = crowd_agreement(
        Ensemble.from_partitions(np.column_stack([labels, np.zeros(30, int)]))
    )
    assert agreement[4] == 0.0
    assert agreement.max() == 1.0
    alone = Ensemble.from_partitions(labels[:, :1])
    np.testing.assert_array_equal(crowd_agreement(alone), [1.0])
    independent = Ensemble.from_partitions(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    np.testing.assert_array_equal(crowd_agreement(independent), [1.0, 1.0])


def test_beta_zero_is_plain_evidence_accumulation():
    labels = make_partitions(60, 9, 3, noise=0.3, missing_ratio=0.1)[0]
    np.testing.assert_allclose(
        crowd_weighted_coassociation(labels, beta=0.0), coassociation(labels), rtol=0, atol=1e-14
    )
    np.testing.assert_allclose(
        crowd_weighted_coassociation(labels, beta=0.0, missing="disagree"),
        coassociation(labels, missing="disagree"),
        rtol=0,
        atol=1e-14,
    )
    np.testing.assert_allclose(
        WEAC(3, beta=0, linkage="single").fit(labels).tree_.height,
        EAC(3, linkage="single").fit(labels).tree_.height,
        rtol=0,
        atol=1e-14,
    )


@pytest.mark.parametrize("name", ["complete", "single"])
@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
def test_battery_with_the_other_linkages(check, name):
    check(WEAC(linkage=name))


def test_refusals():
    labels = make_partitions()[0]
    with pytest.raises(ValueError, match="beta"):
        WEAC(3, beta=-1).fit(labels)
    with pytest.raises(ValueError, match="missing must be"):
        crowd_weighted_coassociation(labels, missing="ignore")
