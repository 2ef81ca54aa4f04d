"""`partita.datasets.load`: files with checksums, scikit-learn, OpenML."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse

from partita.datasets import list_names, load, loading
from partita.exceptions import InvalidFileError


@pytest.fixture(autouse=True)
def no_folder(monkeypatch) -> None:
    monkeypatch.delenv("PARTITA_DATA", raising=False)


@pytest.mark.parametrize(
    ("name", "shape", "k"), [("iris", (150, 4), 3), ("digits", (1797, 64), 10)]
)
def test_sets_of_scikit_learn_need_no_file(name, shape, k) -> None:
    data = load(name)
    assert data.X.shape == shape
    assert (data.n_samples, data.n_classes) == (shape[0], k)
    assert data.source == "scikit-learn"


def test_an_absent_set_is_described() -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder is set.*fetch=False"):
        load("glass")
    with pytest.raises(ValueError, match="'glas' is not a data set"):
        load("glas")


def test_a_file_with_another_checksum_is_refused(tmp_path, monkeypatch) -> None:
    np.savez(tmp_path / "glass.npz", X=np.zeros((214, 9)), y=np.zeros(214, int))
    with pytest.raises(InvalidFileError, match="has the SHA-256 checksum"):
        load("glass", folder=tmp_path)
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    with pytest.raises(InvalidFileError, match=r"glass\.npz"):
        load("glass")


@pytest.mark.shared
@pytest.mark.parametrize("name", ["ecoli", "tr12", "pool_ecoli", "3sources_mv", "digit_mv"])
def test_files_have_the_shape_of_the_list(shared, name) -> None:
    data, facts = load(name, folder=shared / "data"), loading._SETS[name]
    assert (data.n_samples, data.n_classes) == (facts["n_samples"], facts["n_classes"])
    if data.partitions is not None:
        assert data.partitions.shape[1] == facts["n_partitions"]
    elif data.views:
        assert [view.shape[1] for view in data.views] == facts["n_features"]
    else:
        assert data.X.shape[1] == facts["n_features"]
    assert sparse.issparse(data.X) == (name == "tr12")


@pytest.mark.shared
def test_a_file_of_authors_keeps_its_name_and_its_names_of_arrays(shared) -> None:
    data, facts = load("pool_lung_spce", folder=shared / "oracles" / "lung"), loading._SETS
    assert data.partitions.shape == (203, facts["pool_lung_spce"]["n_partitions"])
    assert (data.y.min(), data.n_classes) == (0, facts["pool_lung_spce"]["n_classes"])
    with pytest.raises(FileNotFoundError, match=r"no spce_author_table\.npz"):
        load("pool_lung_spce", folder=shared / "data")


def test_a_file_of_authors_with_another_checksum_is_refused(tmp_path) -> None:
    np.savez(tmp_path / "spce_author_table.npz", gt=np.ones((203, 1)), base_200=np.ones((203, 200)))
    with pytest.raises(InvalidFileError, match=r"spce_author_table\.npz has the SHA-256"):
        load("pool_lung_spce", folder=tmp_path)


def test_openml_is_asked_only_if_allowed_and_checked(monkeypatch) -> None:
    answers = {"n": 214}

    def fetch_openml(*, name, version, as_frame):
        assert (name, version, as_frame) == ("glass", 1, False)
        n = answers["n"]
        return SimpleNamespace(
            data=np.ones((n, 9)), target=np.array(list("abcdef"))[np.arange(n) % 6]
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    data = load("glass", fetch=True)
    assert (data.source, data.n_classes, data.y.max()) == ("OpenML", 6, 5)
    answers["n"] = 200
    with pytest.raises(InvalidFileError, match="of OpenML has"):
        load("glass", fetch=True)

    def no_network(**_):
        raise OSError("no route")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", no_network)
    with pytest.raises(FileNotFoundError, match="cannot be reached"):
        load("glass", fetch=True)


def test_names_are_listed() -> None:
    assert {"iris", "tr11", "pool_usps", "4areas_mv"} <= set(list_names())
