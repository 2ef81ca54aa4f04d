"""New partitions for a fitted consensus: `Fusion.update`, and initial labels of k-means methods."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from partita import CCC, KC, KCC, SEC, Ensemble, adjusted_rand, fuse
from partita.datasets import make_partitions
from partita.exceptions import InvalidEnsembleError, NotSupportedError
from partita.fusion import update_consensus
from partita.io import LabelStore
from partita.reporting import summarize

LABELS, Y = make_partitions(120, 30, 4, noise=0.4, missing_ratio=0.1)


@pytest.mark.parametrize("method", [SEC, KCC, CCC, KC], ids=lambda m: m.__name__)
def test_an_update_is_a_fit_from_the_old_labels(method) -> None:
    fusion = fuse(LABELS[:, :20], 4, method=method, random_state=0)
    updated = fusion.update(LABELS[:, 20:])
    direct = method(4, init=fusion.labels, random_state=0).fit(LABELS)
    assert_array_equal(updated.labels, direct.labels_)
    assert updated.partitions.n_partitions == 30
    assert fusion.partitions.n_partitions == 20  # not changed
    assert adjusted_rand(Y, updated.labels) > 0.8


@pytest.mark.parametrize("method", [SEC, KCC], ids=lambda m: m.__name__)
def test_initial_labels_are_the_start(method) -> None:
    best = method(4, random_state=0).fit(LABELS)
    again = method(4, init=best.labels_).fit(LABELS)
    assert adjusted_rand(best.labels_, again.labels_) == 1  # a fixed point stays
    assert again.n_iter_ <= 2
    assert again.objective_ == pytest.approx(best.objective_, rel=1e-12)


def test_initial_labels_may_have_any_numbering_and_order_of_rows() -> None:
    start = fuse(LABELS[:, :20], 4, method="sec", random_state=0).labels
    expected = SEC(4, init=start).fit(LABELS).labels_
    renamed = SEC(4, init=np.array([2, 0, 3, 1])[start]).fit(LABELS).labels_
    assert_array_equal(renamed, expected)
    order = np.random.default_rng(0).permutation(120)
    shuffled = SEC(4, init=start[order]).fit(LABELS[order]).labels_
    assert adjusted_rand(shuffled, expected[order]) == 1


def test_initial_labels_of_a_store(tmp_path) -> None:
    start = fuse(LABELS[:, :20], 4, method="sec", random_state=0).labels
    store = LabelStore.from_partitions(LABELS, tmp_path / "labels.store")
    expected = SEC(4, init=start).fit(LABELS).labels_
    assert adjusted_rand(SEC(4, init=start).fit(store).labels_, expected) == 1


def test_initial_labels_are_checked() -> None:
    with pytest.raises(ValueError, match="must have the labels 0 to 3, each at least once"):
        SEC(4, init=np.zeros(120, int)).fit(LABELS)
    with pytest.raises(ValueError, match="init must hold the numbers of 4 samples"):
        SEC(4, init=np.zeros(7, int)).fit(LABELS)


def test_other_methods_keep_their_number_of_clusters() -> None:
    fusion = fuse(LABELS[:, :20], k_range=range(3, 6), method="lwgp", random_state=0)
    updated = fusion.update(LABELS[:, 20:])
    direct = fuse(LABELS, fusion.n_clusters, method="lwgp", random_state=0)
    assert_array_equal(updated.labels, direct.labels)
    assert updated.scan is None
    assert updated.diagnosis.anmi == direct.diagnosis.anmi


def test_names_and_missing_labels_stay() -> None:
    ids = [f"s{i}" for i in range(120)]
    first = Ensemble.from_partitions(
        LABELS[:, :20], partition_names=[f"a{i}" for i in range(20)], sample_ids=ids
    )
    second = Ensemble.from_partitions(LABELS[:, 20:], partition_names=[f"b{i}" for i in range(10)])
    joined = fuse(first, 4, method="sec", random_state=0).update(second).partitions
    assert joined.sample_ids.tolist() == ids
    assert joined.partition_names.tolist()[19:21] == ["a19", "b0"]
    assert joined.n_missing == np.count_nonzero(LABELS == -1)


def test_what_cannot_be_updated(tmp_path) -> None:
    fusion = fuse(LABELS, 4, method="sec", random_state=0)
    with pytest.raises(InvalidEnsembleError, match="new partitions of 120 samples, got 50"):
        fusion.update(LABELS[:50])
    from dataclasses import replace

    store = LabelStore.from_partitions(LABELS, tmp_path / "labels.store")
    with pytest.raises(NotSupportedError, match="out of core cannot be updated"):
        replace(fusion, partitions=store).update(LABELS)


def test_weights_stay_and_partitions_keep_the_order_of_the_tables() -> None:
    weights = np.linspace(1.0, 5.0, len(LABELS))
    names = [f"run {i}" for i in range(LABELS.shape[1])]
    first = Ensemble.from_partitions(LABELS[:, :20], weights=weights, partition_names=names[:20])
    second = Ensemble.from_partitions(LABELS[:, 20:], partition_names=names[20:]).compress()
    assert not np.array_equal(second.partition_order, np.sort(second.partition_order))
    joined = fuse(first, 4, method="sec", random_state=0).update(second).partitions
    assert_array_equal(joined.weights, weights)
    assert_array_equal(joined.partition_names, names)
    for column, labels, observed in zip(LABELS.T, joined.codes.T, joined.observed.T, strict=True):
        assert_array_equal(observed, column >= 0)
        assert adjusted_rand(column[observed], labels[observed]) == 1.0


def test_changed_samples_are_those_in_another_cluster() -> None:
    _, y = make_partitions(60, 10, 3)
    start = np.where(np.arange(60) == 7, (y[7] + 1) % 3, y)  # one sample in a wrong cluster
    updated = update_consensus([y] * 3, start, [y] * 4, random_state=0)
    assert_array_equal(updated.previous, start)
    assert updated.changed.tolist() == [7]
    assert updated.partitions.n_partitions == 7
    assert fuse([y] * 3, 3, random_state=0).changed is None
    text = next(f for f in summarize([y], updated)["findings"] if "update" in f["question"])
    assert "1 of 60 samples (1.7%) are in another cluster" in text["answer"]
    assert text["mark"] == "fine"


def test_samples_are_matched_by_id() -> None:
    ids = [f"s{i}" for i in range(120)]
    first = Ensemble.from_partitions(LABELS[:, :20], sample_ids=ids)
    order = np.random.default_rng(0).permutation(120)[:100]
    some = Ensemble.from_partitions(LABELS[order, 20:], sample_ids=[ids[i] for i in order])
    joined = fuse(first, 4, method="sec", random_state=0).update(some).partitions
    assert joined.sample_ids.tolist() == ids
    expected = np.full((120, 10), -1)
    expected[order] = LABELS[order, 20:]
    for column, labels, observed in zip(
        expected.T, joined.codes.T[20:], joined.observed.T[20:], strict=True
    ):
        assert_array_equal(observed, column >= 0)
        assert adjusted_rand(column[observed], labels[observed]) == 1.0
    other = Ensemble.from_partitions(LABELS[:, 20:], sample_ids=[f"t{i}" for i in range(120)])
    with pytest.raises(InvalidEnsembleError, match="120 samples of the new partitions are not in"):
        fuse(first, 4, method="sec", random_state=0).update(other)
