"""The comparison with other libraries runs, and is honest about what did not."""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from partita import MedianPartition, Voting
from partita.metrics import adjusted_rand
from partita.registry import all_methods

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the benchmarks are no part of the package

from benchmarks.compare.__main__ import N_CLUSTERS, main, planted  # noqa: E402
from benchmarks.compare._records import RECORDS  # noqa: E402
from benchmarks.json_lines import read as read_lines  # noqa: E402


def compare(file: Path, *options: str) -> dict[tuple[str, int], dict[str, object]]:
    """Return the records of a file after the command, which runs every contender in a process."""
    main(["--m", "6", "--methods", "eac", "--records", str(file), *options])
    return read(file)


def read(file: Path) -> dict[tuple[str, int], dict[str, object]]:
    return {(r["library"], r["n"]): r for r in read_lines(file)[1:]}


@pytest.fixture(scope="module")
def first_run(tmp_path_factory) -> Path:
    """Return the file of a run at n = 200, which tests copy before they go on with it."""
    file = tmp_path_factory.mktemp("compare") / "records.jsonl"
    compare(file, "--n", "200")
    return file


def test_methods_and_their_peers_are_measured_and_absent_ones_skipped(first_run) -> None:
    records = read(first_run)
    for library in ("partita", "scikit-learn"):
        record = records[library, 200]
        assert record["did_not_finish_because"] is None
        assert record["seconds"] > 0
        assert record["cpu_seconds"] > 0
        assert record["ari"] > 0.2
    peer = records["consensusclustering", 200]
    if find_spec("consensusclustering") is None:
        assert peer["skipped"] == "ModuleNotFoundError: No module named 'consensusclustering'"
        assert peer["seconds"] is None
    else:
        assert peer["ari"] > 0.2


def test_limits_are_reasons_and_spare_the_larger_sizes(tmp_path) -> None:
    records = compare(tmp_path / "records.jsonl", "--n", "300", "200", "--gigabytes", "0.001")
    for library in ("partita", "scikit-learn"):
        why = records[library, 200]["did_not_finish_because"]
        assert why == "more than 0.001 GB, importing and warming up"
        assert records[library, 200]["ari"] is None
        assert records[library, 300]["did_not_finish_because"] == (
            "not run: passed a limit at n = 200, m = 6"
        )


@pytest.mark.first
def test_records_are_kept_and_measured_again_only_if_asked(first_run, tmp_path) -> None:
    file = Path(shutil.copy(first_run, tmp_path))
    first = read(file)["partita", 200]
    both = compare(file, "--n", "200", "300", "--resume")
    assert both["partita", 200] == first
    assert both["partita", 300]["seconds"] > 0
    again = compare(file, "--n", "200")
    assert again["partita", 200]["seconds"] != first["seconds"]
    assert again["partita", 300] == both["partita", 300]


@pytest.mark.filterwarnings("ignore:.*instead of n_clusters")
def test_the_page_is_right_on_methods_that_join_all_samples() -> None:
    """What the page says about two methods and a loss."""
    labels, y = planted(400, 20)
    omari = MedianPartition(N_CLUSTERS, loss="omari", n_init=2, random_state=0)
    by_information = MedianPartition(N_CLUSTERS, n_init=2, random_state=0)
    assert adjusted_rand(y, omari.fit_predict(labels)) > 0.9
    assert abs(adjusted_rand(y, by_information.fit_predict(labels))) < 0.05
    assert abs(adjusted_rand(y, Voting(N_CLUSTERS).fit_predict(labels))) < 0.05


def test_the_kept_records_have_whole_lines_each_with_figures_or_a_reason() -> None:
    kept = read_lines(RECORDS)[1:]
    sizes = {(n, m) for n in (1_000, 5_000, 20_000) for m in (20, 100)}
    lines: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for record in kept:
        lines.setdefault((record["library"], record["what"]), set()).add((record["n"], record["m"]))
        finished = record["seconds"] is not None
        assert finished == (record["ari"] is not None)
        assert finished != bool(record.get("did_not_finish_because") or record.get("skipped"))
    assert all(found == sizes for found in lines.values())
    assert {r["method"] for r in kept} == {c.info.key for c in all_methods()}
