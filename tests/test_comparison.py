"""Any set of methods on one ensemble: what is measured, and what becomes of those that fail."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import partita
from partita import EAC, KCC, LWGP, SEC, Ensemble, _data_frames, config_context
from partita.comparison import _comparing
from partita.consensus import BaseConsensus, MethodInfo, Solution
from partita.datasets import make_partitions
from partita.exceptions import InvalidEnsembleError, NoStructureError, PartitaWarning
from partita.metrics import anmi, evaluate

LABELS, TRUTH = make_partitions(120, 10, 3, noise=0.45, random_state=3)
COLUMNS = ["method", "name", "n_clusters", "seconds", "peak_bytes", "bytes_needed"]
SCORES, WORDS = ["anmi", "agreement"], ["warnings", "failure"]


def info(key: str, missing: str = "native") -> MethodInfo:
    return MethodInfo(
        key,
        key.title(),
        "test",
        "none",
        missing,
        True,
        "1",
        "1",
        bytes_needed=lambda s: 7 * s.n_rows,
    )


@pytest.fixture
def defined():
    """Methods defined here, out of sight of the other tests' registry of subclasses."""

    class Refusing(BaseConsensus):
        info = info("refusing", "refused")

        def _solve(self, ensemble, rng):
            return Solution(np.arange(ensemble.n_rows) % 2)

    class Singular(BaseConsensus):
        info = info("singular")

        def _solve(self, ensemble, rng):
            raise np.linalg.LinAlgError("Singular matrix")

    class Faulty(BaseConsensus):
        info = info("faulty")

        def _solve(self, ensemble, rng):
            raise ZeroDivisionError("a fault of the program")

    class Talking(BaseConsensus):
        info = info("talking")

        def _solve(self, ensemble, rng):
            warnings.warn("first", PartitaWarning, stacklevel=2)
            warnings.warn("second", RuntimeWarning, stacklevel=2)
            return Solution(np.zeros(ensemble.n_rows, np.int64))

    return {c.__name__: c for c in (Refusing, Singular, Faulty, Talking)}


# -- what is measured ------------------------------------------------------------------------


def test_records_say_what_the_methods_say_themselves() -> None:
    comparison = partita.compare(LABELS, ["eac", SEC, LWGP()], 3, y=TRUTH, random_state=5)
    alone = {
        "eac": EAC(3).fit(LABELS),
        "sec": SEC(3, random_state=5).fit(LABELS),
        "lwgp": LWGP(3, random_state=5).fit(LABELS),
    }
    assert list(comparison.labels) == [r["method"] for r in comparison] == list(alone)
    for record, fitted in zip(comparison, alone.values(), strict=True):
        labels = comparison.labels[record["method"]]
        np.testing.assert_array_equal(labels, fitted.labels_)
        scores = evaluate(TRUTH, labels)
        assert record["name"] == fitted.info.name
        assert record["n_clusters"] == 3
        assert record["anmi"] == anmi(LABELS, labels)
        assert {m: record[m] for m in ("ACC", "NMI", "ARI")} == {
            m: scores[m] for m in ("ACC", "NMI", "ARI")
        }
        assert record["seconds"] > 0
        assert record["peak_bytes"] >= 0
        assert record["failure"] is None
        assert list(record) == [*COLUMNS, *SCORES, "ACC", "NMI", "ARI", *WORDS]


def test_agreement_is_the_ari_between_results() -> None:
    comparison = partita.compare(LABELS, ["eac", "sec", "ccc"], 3)
    expected = [
        [adjusted_rand_score(a, b) for b in comparison.labels.values()]
        for a in comparison.labels.values()
    ]
    np.testing.assert_allclose(comparison.agreement, expected, rtol=0, atol=1e-12)
    assert comparison.agreement.min() < 1, "the methods should differ here, else this shows nothing"
    for i, record in enumerate(comparison):
        assert record["agreement"] == pytest.approx(np.delete(expected[i], i).mean())
        assert list(record) == [*COLUMNS, *SCORES, *WORDS]
    assert partita.compare(LABELS, "eac", 3).records[0]["agreement"] is None


def test_partitions_are_rows_with_their_mean_and_best() -> None:
    table = LABELS.copy()
    table[:30, 0] = -1
    comparison = partita.compare(table, ["eac", "sec"], 3, y=TRUTH, include_partitions=True)
    *methods, mean, best = comparison
    assert [r["method"] for r in methods] == list(comparison.labels) == ["eac", "sec"]
    assert [mean["method"], best["method"]] == ["partitions (mean)", "partitions (best)"]
    assert list(mean) == list(best) == list(methods[0])
    columns = [(column, column >= 0) for column in table.T]
    for measure in ("ACC", "NMI", "ARI"):
        scores = [evaluate(TRUTH[seen], column[seen])[measure] for column, seen in columns]
        assert mean[measure] == pytest.approx(np.mean(scores))
        assert best[measure] == pytest.approx(np.max(scores))
    others = [anmi(np.delete(table, i, axis=1), column) for i, (column, _) in enumerate(columns)]
    # anmi weighs the other partitions by what they label, also where this one has no label
    assert best["anmi"] == pytest.approx(np.max(others))
    assert mean["anmi"] == pytest.approx(np.mean(others))
    agreement = [
        np.mean([adjusted_rand_score(r[seen], column[seen]) for r in comparison.labels.values()])
        for column, seen in columns
    ]
    assert mean["agreement"] == pytest.approx(np.mean(agreement))
    assert best["agreement"] == pytest.approx(np.max(agreement))
    assert {mean[c] for c in COLUMNS[2:]} == {None}
    lines = repr(comparison).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[-1].startswith("partitions (best)")


def test_rows_of_partitions_without_truth_results_or_other_partitions() -> None:
    with config_context(memory_budget=30_000):
        comparison = partita.compare(LABELS, ["eac"], 3, include_partitions=True)
    assert comparison.records[1]["agreement"] is None
    assert 0 < comparison.records[1]["anmi"] < comparison.records[2]["anmi"]
    assert "ACC" not in comparison.records[1]
    single = partita.compare(LABELS[:, :1], ["eac"], 3, include_partitions=True)
    assert single.records[1]["anmi"] is None


def test_all_is_the_registry(monkeypatch) -> None:
    monkeypatch.setattr(_comparing, "all_methods", lambda: [EAC, SEC])
    assert [r["method"] for r in partita.compare(LABELS, n_clusters=3)] == ["eac", "sec"]


def test_the_ensemble_is_compressed_once(monkeypatch) -> None:
    sizes = []
    compress = Ensemble.compress

    def counted(self):
        if not self.is_compressed:
            sizes.append(self.n_samples)
        return compress(self)

    monkeypatch.setattr(Ensemble, "compress", counted)
    partita.compare(LABELS, ["eac", "sec", "ccc"], 3)
    assert sizes.count(len(LABELS)) == 1


def test_a_compressed_ensemble_scores_like_the_table() -> None:
    table = np.repeat(LABELS, 2, axis=0)
    plain = partita.compare(table, ["eac", "sec"], 3)
    compressed = partita.compare(Ensemble.from_partitions(table).compress(), ["eac", "sec"], 3)
    for first, second in zip(plain, compressed, strict=True):
        assert first["anmi"] == pytest.approx(second["anmi"], abs=1e-12)
    np.testing.assert_array_equal(plain.labels["sec"], compressed.labels["sec"])


def test_samples_without_a_label_do_not_count() -> None:
    table = np.vstack([LABELS, np.full((30, LABELS.shape[1]), -1)])
    ensemble = Ensemble.from_partitions(table, unlabeled="keep")
    y = np.concatenate([TRUTH, np.zeros(30, int)])
    comparison = partita.compare(ensemble, ["eac", "sec"], 3, y=y)
    eac, sec = (labels[:-30] for labels in comparison.labels.values())
    assert all((labels[-30:] == -1).all() for labels in comparison.labels.values())
    assert comparison.agreement[0, 1] == pytest.approx(adjusted_rand_score(eac, sec))
    for record, labels in zip(comparison, (eac, sec), strict=True):
        assert record["ARI"] == pytest.approx(adjusted_rand_score(TRUTH, labels))
        assert record["anmi"] == pytest.approx(anmi(LABELS, labels))


@pytest.mark.filterwarnings("ignore:.*samples have different labels")
def test_compiling_does_not_count(monkeypatch) -> None:
    """Before a method is timed, it has been fitted to labels of the same type."""
    fitted = []
    solve = SEC._solve

    def seen(self, ensemble, rng):
        labeled = ensemble.codes[ensemble.observed]
        assert labeled.max() < ensemble.n_clusters.max()
        fitted.append((ensemble.n_samples, ensemble.codes.dtype, bool(ensemble.n_missing)))
        return solve(self, ensemble, rng)

    monkeypatch.setattr(SEC, "_solve", seen)
    wide = np.column_stack([np.tile(LABELS, (3, 1)), np.arange(3 * len(LABELS))])
    wide[0, 0] = -1
    partita.compare(wide, SEC, 3)
    assert len(fitted) == 2
    assert fitted[0][0] < fitted[1][0] == len(wide)
    assert fitted[0][1:] == fitted[1][1:] == (np.dtype(np.uint16), True)


def test_progress_names_the_method_under_way() -> None:
    steps = []
    with config_context(progress=steps.append):
        partita.compare(LABELS, ["eac", "sec"], 3)
    own = [(s.done, s.total, s.message) for s in steps if s.task == "compare"]
    assert own == [(0, 2, "eac"), (1, 2, "sec"), (2, 2, "")]


# -- methods ---------------------------------------------------------------------------------


def test_estimators_keep_what_was_set_and_are_not_touched() -> None:
    single, five = EAC(linkage="single"), KCC(n_clusters=5, random_state=1)
    comparison = partita.compare(LABELS, ["eac", single, five], 3)
    names = ["eac", "eac(linkage='single')", "kcc(n_clusters=5, random_state=1)"]
    assert [r["method"] for r in comparison] == names
    assert [r["n_clusters"] for r in comparison] == [3, 3, 5]
    np.testing.assert_array_equal(
        comparison.labels[names[1]], EAC(3, linkage="single").fit(LABELS).labels_
    )
    np.testing.assert_array_equal(
        comparison.labels[names[2]], KCC(5, random_state=1).fit(LABELS).labels_
    )
    assert single.get_params() == EAC(linkage="single").get_params()
    assert not hasattr(single, "labels_")


@pytest.mark.parametrize(
    ("methods", "error", "words"),
    [
        ([], ValueError, "empty"),
        (["eac", EAC], ValueError, "twice"),
        ("average", ValueError, "No consensus method 'average'"),
        ([3], TypeError, "key, class or estimator of a consensus method, got 3"),
        (7, TypeError, "key, class or estimator of a consensus method, got 7"),
        (KMeans(3), TypeError, r"consensus methods of partita, got KMeans\(n_clusters=3\)"),
    ],
)
def test_methods_that_are_none(methods, error, words) -> None:
    with pytest.raises(error, match=words):
        partita.compare(LABELS, methods, 3)


def test_without_a_number_one_scan_chooses_it_for_all() -> None:
    comparison = partita.compare(LABELS, ["eac", "sec"], random_state=0)
    assert {r["n_clusters"] for r in comparison} == {partita.scan_k(LABELS, random_state=0).best_k}
    given = partita.compare(LABELS, [EAC(5), SEC(4)])
    assert [r["n_clusters"] for r in given] == [5, 4]
    noise = np.random.default_rng(0).integers(0, 4, (80, 10))
    with pytest.raises(NoStructureError, match="better than labels in random order"):
        partita.compare(noise, "eac")


def test_wrong_input_is_found_before_the_work(defined) -> None:
    faulty = defined["Faulty"]  # would raise something else if it ever ran
    with pytest.raises(ValueError, match="y has 3 entries"):
        partita.compare(LABELS, faulty, 3, y=[0, 1, 2])
    for wrong in (3.0, True, "3"):
        with pytest.raises(ValueError, match="n_clusters must be an integer, got"):
            partita.compare(LABELS, "eac", n_clusters=wrong)
    with pytest.raises(ValueError, match="n_clusters=121"):
        partita.compare(LABELS, faulty, 121)
    with pytest.raises(InvalidEnsembleError):
        partita.compare(LABELS[:, 0], faulty, 3)


# -- failures --------------------------------------------------------------------------------


def test_too_little_memory_is_a_record_with_its_reason() -> None:
    with config_context(memory_budget=30_000):
        comparison = partita.compare(LABELS, ["eac", "sec"], 3, y=TRUTH)
    eac, sec = comparison
    assert eac["failure"].startswith("MemoryBudgetError: EAC on")
    assert eac["bytes_needed"] > 30_000
    assert {
        eac[c] for c in ("n_clusters", "seconds", "peak_bytes", "anmi", "agreement", "ARI")
    } == {None}
    assert sec["failure"] is None
    assert list(comparison.labels) == ["sec"]
    assert comparison.agreement.tolist() == [[1.0]]
    assert "failed, MemoryBudgetError" in repr(comparison)
    assert list(eac) == list(sec)


def test_refused_labels_and_broken_numerics_are_records(defined) -> None:
    table = LABELS.copy()
    table[0, 0] = -1
    comparison = partita.compare(table, [defined["Refusing"], defined["Singular"], "eac"], 3)
    refused, singular, eac = (r["failure"] for r in comparison)
    assert refused.startswith("NotSupportedError: Refusing is not defined for missing labels")
    assert singular == "LinAlgError: Singular matrix"
    assert eac is None
    assert partita.compare(LABELS, defined["Refusing"], 3).records[0]["n_clusters"] == 2


def test_wrong_parameters_are_a_record() -> None:
    (record,) = partita.compare(LABELS, EAC(linkage="longest"), 3)
    assert record["failure"].startswith("InvalidParameterError: The 'linkage' parameter")


def test_a_fault_is_not_a_failure(defined) -> None:
    with pytest.raises(ZeroDivisionError):
        partita.compare(LABELS, ["eac", defined["Faulty"]], 3)


def test_an_interrupt_passes(monkeypatch) -> None:
    def interrupted(self, ensemble, rng):
        raise KeyboardInterrupt

    monkeypatch.setattr(SEC, "_solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        partita.compare(LABELS, ["sec", "eac"], 3)


def test_warnings_are_kept_as_text(defined, recwarn) -> None:
    (record,) = partita.compare(LABELS, defined["Talking"], 3)
    assert record["warnings"] == "PartitaWarning: first\nRuntimeWarning: second"
    assert len(recwarn) == 0


# -- tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("frame", "library"),
    [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (np.asarray, pd.DataFrame)],
)
def test_frames_in_frames_out(frame, library) -> None:
    comparison = partita.compare(frame(LABELS), ["eac", "sec"], 3, y=TRUTH)
    table = comparison.to_frame()
    assert isinstance(table, library)
    assert list(table.columns) == list(comparison.records[0])
    assert list(table["anmi"]) == [r["anmi"] for r in comparison]


def test_records_where_no_library_of_frames_is(monkeypatch) -> None:
    comparison = partita.compare(LABELS, ["eac"], 3)
    monkeypatch.setattr(_data_frames, "is_installed", lambda name: False)
    assert comparison.to_frame() is comparison.records
    monkeypatch.setattr(_data_frames, "is_installed", lambda name: name == "polars")
    assert isinstance(comparison.to_frame(), pl.DataFrame)


def test_text() -> None:
    comparison = partita.compare(LABELS, ["eac", EAC(linkage="single")], 3, y=TRUTH)
    head, *rows = repr(comparison).splitlines()
    assert head.split() == [
        "method",
        "clusters",
        "seconds",
        "peak",
        "MB",
        *SCORES,
        "ACC",
        "NMI",
        "ARI",
    ]
    assert [row.split()[0] for row in rows] == ["eac", "eac(linkage='single')"]
    assert len({len(line) for line in (head, *rows)}) == 1
    assert len(comparison) == 2
