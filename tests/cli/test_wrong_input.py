"""A wrong file or option: the message says what is wrong, and its advice is right."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from rich.cells import cell_len

from partita import cli, config_context, scan_k

IDS = [f"s{i}" for i in range(40)]


def write_table(path: str, lines: list[str], encoding: str = "utf-8") -> str:
    Path(path).write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def test_features_with_a_decimal_comma_are_not_fused(partita) -> None:
    lines = [f"{name};{i},25;{i + 1},5" for i, name in enumerate(IDS)]
    done = partita("fuse", write_table("x.csv", ["id;a;b", *lines]), "-i", "id", "-k", "3")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "features and not labels" in done.stderr


def test_labels_with_a_comma_are_fused(partita) -> None:
    lines = [f"{name};{i % 2},{i % 3};Bonn, {i % 2}" for i, name in enumerate(IDS)]
    done = partita("fuse", write_table("x.csv", ["id;a;b", *lines]), "-i", "id", "-k", "2")
    assert done.exit_code == 0


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_named(partita, encoding: str) -> None:
    path = write_table("x.csv", ["id,a,b", "x,1,1", "y,2,2", "z,1,2"], encoding)
    refused = partita("fuse", path, "-i", "id", "-k", "2")
    assert refused.exit_code == 2
    assert f"for example {encoding}" in refused.stderr
    assert partita("fuse", path, "-i", "id", "-k", "2", "--encoding", encoding).exit_code == 0


def test_an_unknown_encoding_does_not_blame_the_file(partita, labels: Path) -> None:
    refused = partita("fuse", str(labels), "-k", "3", "--encoding", "klingon")
    assert refused.exit_code == 2
    assert "No encoding 'klingon'" in refused.stderr
    assert "damaged" not in refused.stderr


def test_a_column_in_other_letters_is_recognized(partita, labels: Path) -> None:
    refused = partita("fuse", str(labels), "-c", "RUN_1", "-k", "3")
    assert "did you mean 'run_1'?" in refused.stderr


def test_cells_that_the_default_would_leave_out_are_hinted_at(partita) -> None:
    lines = [f"{name},a{i % 2},{'?' if i < 3 else f'b{i % 2}'}" for i, name in enumerate(IDS)]
    lines[7] = "s7,,b1"
    path = write_table("x.csv", ["id,p,q", *lines])
    done = partita("fuse", path, "-i", "id", "-k", "2", "--missing-values", "?")
    assert "hint: '' is a cluster of p" in done.stderr
    more = ("--missing-values", "?", "--missing-values", "")
    assert "hint" not in partita("fuse", path, "-i", "id", "-k", "2", *more).stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "labels.csv", "-i", "sample", "-k", "500", "-m", "ccgp"),
        ("plan", "--samples", "10", "--partitions", "5", "--clusters", "30"),
    ],
)
def test_the_hint_at_the_methods_is_for_unknown_methods(partita, labels: Path, arguments) -> None:
    refused = partita(*arguments)
    assert refused.exit_code == 2
    assert "must be between 1 and the number of samples" in refused.stderr
    assert "hint" not in refused.stderr
    refused = partita(*arguments, "-m", "ccpg")
    assert "Did you mean 'ccgp'?" in refused.stderr
    assert "hint: `partita methods` lists the keys" in refused.stderr


def test_the_advice_on_features_fits_the_error(partita, features: Path) -> None:
    Path("latin.csv").write_text("id,x,y\ncafé,1,2\nb,3,4\n", encoding="latin-1")
    refused = partita("generate", "latin.csv", "-i", "id")
    assert "--encoding" in refused.stderr
    assert "--columns" not in refused.stderr
    refused = partita("generate", str(features))
    assert '--columns "x*" and --id-column NAME' in refused.stderr


def test_a_range_of_k_is_described_in_short(partita, labels: Path) -> None:
    refused = partita("scan-k", str(labels), "-i", "sample", "-k", "2:500")
    assert "got 499 numbers from 2 to 500." in refused.stderr


def test_one_k_is_no_range() -> None:
    with pytest.raises(TypeError, match=r"such as range\(2, 11\), got 3"):
        scan_k([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 1]], 3)


@pytest.mark.parametrize("option", [["--memory", "1kB"], ["--memory=1kB"]])
def test_memory_stands_before_or_after_the_command(partita, labels: Path, option) -> None:
    command = ["fuse", str(labels), "-k", "3", "-i", "sample"]
    with config_context():
        for arguments in ([*option, *command], [*command, *option]):
            refused = partita(*arguments)
            assert refused.exit_code == 2
            assert "the memory budget is 1.0 kB" in refused.stderr
            assert "partita --memory 8GB" in refused.stderr


def test_memory_needs_a_size(partita, labels: Path) -> None:
    refused = partita("fuse", str(labels), "--memory")
    assert refused.exit_code == 2
    assert "--memory needs a size, for example 8GB." in refused.stderr


@pytest.mark.parametrize("name", list(cli._COMMANDS))
def test_the_help_fits_80_columns(name: str) -> None:
    command = typer.main.get_command(cli.app).commands[name]
    paragraphs = command.help.split("\n\n")
    assert not any("\n" in paragraph for paragraph in paragraphs)  # the terminal breaks the lines
    written = inspect.cleandoc(cli._COMMANDS[name].__doc__ or "")
    assert " ".join(command.help.split()) == " ".join(written.split())
    assert all(cell_len(f"   {line}") <= 80 for line in cli._EXAMPLES[name])


def test_the_module_is_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "partita", "--version"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.startswith("partita ")


def test_an_unknown_node_is_named_with_the_right_advice(partita, labels: Path) -> None:
    path = write_table("edges.csv", ["a,b", "s0,nowhere"])
    refused = partita("graph-consensus", str(labels), path, "-i", "sample")
    assert refused.exit_code == 2
    assert "The ids of the samples are" in refused.stderr
    assert "--id-column" not in refused.stderr
    assert "--id-column" in partita("graph-consensus", str(labels), path).stderr


def test_one_of_a_thing_is_in_the_singular(partita, labels: Path) -> None:
    done = partita("fuse", str(labels), "-i", "sample", "-c", "run_*", "-k", "1")
    assert "1 cluster of 60 samples from 10 partitions" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["fuse", "labels.csv", "-k", "3"],
        ["compare", "labels.csv", "-k", "3", "-m", "eac"],
        ["modes", "labels.csv"],
        ["hierarchical-consensus", "labels.csv"],
        ["update", "labels.csv", "other.csv", "labels.csv"],
        ["graph-consensus", "other.csv", "labels.csv"],
        ["generate", "labels.csv", "-k", "3"],
        ["fuse", "--features", "other.csv", "labels.csv", "-k", "3"],
        ["predict", "labels.csv", "other.csv", "-k", "3"],
        ["predict", "other.csv", "labels.csv", "-k", "3"],
    ],
    ids=lambda command: " ".join(command),
)
def test_no_command_replaces_the_table_that_it_reads(
    partita, labels: Path, command: list[str]
) -> None:
    before = labels.read_bytes()
    Path("other.csv").write_bytes(before)
    done = partita(*command, "--id-column", "sample", "--output", str(labels))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "is a file that the command reads: it would be lost" in done.stderr
    assert labels.read_bytes() == before


def test_an_update_may_replace_the_consensus_that_it_reads(partita, labels: Path) -> None:
    select = ["--id-column", "sample", "--columns"]
    partita("fuse", str(labels), "-k", "3", *select, "run_[0-4]", "-o", "consensus.csv")
    more = write_table("more.csv", labels.read_text(encoding="utf-8").splitlines())
    done = partita(
        *["update", str(labels), "consensus.csv", more, *select, "run_*", "-o", "consensus.csv"]
    )
    assert done.exit_code == 0, done.stderr


def test_convert_warns_of_ids_that_are_read_as_labels(partita, labels: Path) -> None:
    done = partita("convert", str(labels), "labels.store")
    assert done.exit_code == 0
    assert "Partition 'sample': all 60 samples have different labels" in done.stderr
    named = partita("convert", str(labels), "named.store", "--id-column", "sample")
    assert "warning" not in named.stderr


def test_infinite_features_are_not_to_be_scaled(partita) -> None:
    lines = [f"{name},{i}" for i, name in enumerate(IDS)]
    table = write_table("x.csv", ["id,a", *lines[:-1], "s39,inf"])
    done = partita("generate", table, "--id-column", "id", "-k", "2")
    assert done.exit_code == 2
    assert "Features must be finite, got infinity" in done.stderr
