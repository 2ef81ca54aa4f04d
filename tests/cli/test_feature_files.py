"""Features of the command line: scaling, missing values, Excel files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planted import CLOUDS, IDS, POINTS, write_csv

from partita._packages import is_installed
from partita.io import read_features, read_labels
from partita.metrics import adjusted_rand

TABLE = {  # a partition uses half of the features, which should show the clouds
    "x": POINTS[:, 0],
    "y": POINTS[:, 1],
    "sum": POINTS.sum(axis=1).round(4),
    "difference": (POINTS[:, 0] - POINTS[:, 1]).round(4),
}


def columns_of_table() -> dict[str, list[object]]:
    return {"sample": list(IDS), **{name: values.tolist() for name, values in TABLE.items()}}


@pytest.fixture
def incomplete(tmp_path: Path) -> Path:
    """The clouds, with two samples that lack a feature."""
    columns = columns_of_table()
    columns["x"][3], columns["y"][50] = "", "NA"
    return write_csv(tmp_path / "incomplete.csv", columns)


@pytest.fixture
def two_units(tmp_path: Path) -> Path:
    """The clouds beside a feature without clusters whose unit is a thousand times smaller."""
    noise = np.random.default_rng(1).normal(size=60) * 1e4
    return write_csv(tmp_path / "units.csv", columns_of_table() | {"noise": noise.tolist()})


def consensus(text: str) -> dict[str, str]:
    lines = [line.split(",") for line in text.splitlines()[1:]]
    return {line[0]: line[1] for line in lines}


def score(text: str) -> float:
    labels = consensus(text)
    kept = [i for i, name in enumerate(IDS) if labels[name]]
    return adjusted_rand(CLOUDS[kept], [labels[IDS[i]] for i in kept])


def test_missing_features_are_an_error_with_both_ways_out(partita, incomplete: Path) -> None:
    for command in ("generate", "scan-k --features", "fuse --features"):
        done = partita(*command.split(), str(incomplete), "-i", "sample", "-k", "3")
        assert done.exit_code == 2
        assert "--impute median or --drop-missing" in done.stderr


def test_fuse_imputes(partita, incomplete: Path) -> None:
    fuse = ("fuse", "--features", str(incomplete), "-i", "sample", "-k", "3")
    done = partita(*fuse, "--impute", "median")
    assert done.exit_code == 0, done.stderr
    assert "filled 2 missing values of 2 samples with the median" in done.stderr
    assert score(done.stdout) > 0.9
    assert all(consensus(done.stdout).values())


def test_imputed_values_are_the_medians(partita, incomplete: Path, tmp_path: Path) -> None:
    columns = columns_of_table()
    columns["x"][3] = float(np.median(np.delete(TABLE["x"], 3)))
    columns["y"][50] = float(np.median(np.delete(TABLE["y"], 50)))
    write_csv(tmp_path / "filled.csv", columns)
    options = ("-i", "sample", "-n", "5", "-k", "3")
    imputed = partita("generate", str(incomplete), *options, "--impute", "median")
    assert imputed.stdout == partita("generate", "filled.csv", *options).stdout


@pytest.mark.parametrize("ids", [True, False])
def test_fuse_leaves_samples_out(partita, incomplete: Path, ids: bool) -> None:
    options = ("-i", "sample") if ids else ("-c", "x", "-c", "y", "-c", "sum", "-c", "difference")
    done = partita("fuse", "--features", str(incomplete), *options, "-k", "3", "--drop-missing")
    assert done.exit_code == 0, done.stderr
    assert "2 samples with a missing feature get no labels" in done.stderr
    lines = [line.split(",") for line in done.stdout.splitlines()[1:]]
    column = 1 if ids else 0
    assert [i for i, line in enumerate(lines) if not line[column]] == [3, 50]
    assert len(lines) == 60
    if ids:
        assert score(done.stdout) > 0.9


def test_a_second_table_labels_samples_that_one_leaves_out(
    partita, incomplete: Path, features: Path
) -> None:
    files = (str(incomplete), str(features))
    done = partita("fuse", "--features", *files, "-i", "sample", "-k", "3", "--drop-missing")
    assert done.exit_code == 0, done.stderr
    assert all(consensus(done.stdout).values())


def test_fuse_scans_features_for_the_number(partita, features: Path, tmp_path: Path) -> None:
    done = partita("fuse", "--features", str(features), "-i", "sample", "-k", "2:4")
    assert done.exit_code == 0, done.stderr
    assert "3 clusters (chosen against the null) of 60 samples" in done.stderr
    assert score(done.stdout) == 1.0
    rng = np.random.default_rng(0)
    noise = {"sample": [*IDS], **{name: rng.random(60).tolist() for name in "ab"}}
    path = write_csv(tmp_path / "noise.csv", noise)
    done = partita("fuse", "--features", str(path), "-i", "sample", "-k", "2:4")
    assert done.exit_code == 3
    assert "No structure found: no number of clusters from 2 to 4" in done.stderr


def test_a_file_of_few_samples_limits_the_numbers(partita, features: Path, tmp_path: Path) -> None:
    lines = features.read_text().splitlines()
    few = tmp_path / "few.csv"
    few.write_text("\n".join([lines[0], *lines[1::7]]) + "\n")  # 9 samples, 7 per partition
    done = partita("fuse", "--features", str(features), str(few), "-i", "sample", "-k", "auto")
    assert "no number of clusters from 2 to 7 does better" in done.stderr


def test_partitions_of_several_files_are_known_as_generated(
    partita, features: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.csv"
    other.write_bytes(features.read_bytes())
    done = partita(
        "generate", str(features), str(other), "-i", "sample", "-k", "3", "-o", "all.csv"
    )
    assert done.exit_code == 0, done.stderr
    done = partita(
        "scan-k", "all.csv", "-i", "sample", "-k", "2:3", "--null", "2", "--resamples", "2"
    )
    assert "generated from features (several views, by their names)" in done.stderr


def test_units_are_standardized_and_the_user_is_told(partita, two_units: Path) -> None:
    fuse = ("fuse", "--features", str(two_units), "-i", "sample", "-k", "3", "-m", "lwgp")
    done = partita(*fuse)
    assert "standardized the features; --scale none uses them as they are" in done.stderr
    raw = partita(*fuse, "--scale", "none")
    assert "standardized" not in raw.stderr
    assert done.stdout == partita(*fuse, "--scale", "standard").stdout
    assert done.stdout != raw.stdout
    done = partita(*fuse, "--scale", "always")
    assert "scale must be one of auto, standard, none, got 'always'" in done.stderr


def test_options_of_features_exclude_others(partita, labels: Path, incomplete: Path) -> None:
    done = partita("fuse", str(labels), "-k", "3", "--impute", "mean")
    assert "are for features: add --features" in done.stderr
    both = ("--impute", "mean", "--drop-missing")
    done = partita("scan-k", "--features", str(incomplete), "-i", "sample", *both)
    assert "--impute and --drop-missing exclude each other" in done.stderr


def test_a_column_without_values_has_no_median(partita, tmp_path: Path) -> None:
    write_csv(tmp_path / "f.csv", {"a": [1, 2, 3], "b": ["", "", ""]})
    done = partita("generate", "f.csv", "--impute", "median")
    assert "column 'b' has no value, so that it has no median" in done.stderr
    done = partita("generate", "f.csv", "--drop-missing")
    assert "every sample has a missing feature" in done.stderr


@pytest.mark.parametrize("number", ["1,5", "-12,25", "1.234,5", "3,1e-3"])
def test_decimal_comma(partita, tmp_path: Path, number: str) -> None:
    (tmp_path / "f.csv").write_text(f"id;x;y\na;{number};2\nb;1;2\n", encoding="utf-8")
    done = partita("generate", "f.csv", "-i", "id")
    assert f"column 'x' has '{number}' in row 1" in done.stderr
    assert (
        "It has a decimal comma: pass decimal=',', on the command line --decimal ," in done.stderr
    )
    done = partita("generate", "f.csv", "-i", "id", "--decimal", ",", "-n", "2", "-g", "random-k")
    assert ("'1.234,5' in row 1" in done.stderr) == (number == "1.234,5")


def test_features_with_a_decimal_comma(partita, features: Path, tmp_path: Path) -> None:
    text = features.read_text(encoding="utf-8")
    Path("comma.csv").write_text(text.replace(",", ";").replace(".", ","), encoding="utf-8")
    options = ("-i", "sample", "-k", "3", "-n", "5")
    done = partita("generate", "comma.csv", *options, "--decimal", ",")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == partita("generate", str(features), *options).stdout
    lines = [",".join(f'"{c}"' for c in line.split(";")) for line in _lines("comma.csv")]
    Path("quoted.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert partita("generate", "quoted.csv", *options, "--decimal", ",").stdout == done.stdout
    refused = partita("generate", "comma.csv", *options, "--decimal", "x")
    assert "decimal must be '.' or ',', got 'x'" in refused.stderr


def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


# -- Excel -----------------------------------------------------------------------------------


def test_excel_needs_a_package(partita, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    done = partita("fuse", "x.xlsx", "-k", "3")
    assert done.exit_code == 2
    expected = "Excel files need the package openpyxl: pip install 'partita[excel]', or save it as"
    assert expected in done.stderr


def test_excel_is_only_read(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-i", "sample", "-k", "3", "-o", "out.xlsx")
    assert done.exit_code == 2
    assert ".xlsx" in done.stderr
    assert not Path("out.xlsx").exists()


@pytest.mark.skipif(not is_installed("openpyxl"), reason="the package openpyxl is not installed")
def test_excel_is_read_as_a_csv_file_is(partita, tmp_path: Path, labels: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    lines = [line.split(",") for line in labels.read_text(encoding="utf-8").splitlines()]
    for i, line in enumerate(lines):
        book.active.append([int(c) if c.isdigit() else c for c in line])
        if i == 4:
            book.active.append([])  # an empty line
    book.save(tmp_path / "labels.xlsx")
    options = ("-i", "sample", "-c", "run_*", "-k", "3")
    done = partita("fuse", "labels.xlsx", *options)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == partita("fuse", str(labels), *options).stdout
    table = read_labels(tmp_path / "labels.xlsx", id_column="sample")
    assert table.columns["run_0"].dtype.kind == "i"


@pytest.mark.skipif(not is_installed("openpyxl"), reason="the package openpyxl is not installed")
def test_features_and_gaps_of_excel(partita, tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["", "a", "b"], ["x", 1.5, 2], ["y", None, 3.0]):
        book.active.append(row)
    book.save(tmp_path / "f.xlsx")
    table = read_features(tmp_path / "f.xlsx", allow_missing=True)
    assert table.ids.tolist() == ["x", "y"]
    np.testing.assert_array_equal(table.matrix(), [[1.5, 2], [np.nan, 3]])
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    done = partita("fuse", "empty.xlsx", "-k", "2")
    assert "its first sheet has no cells" in done.stderr
