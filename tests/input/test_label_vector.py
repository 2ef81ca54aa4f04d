"""One label vector is coded as the columns of a table are."""

from __future__ import annotations

import numpy as np
import pytest

from partita import EAC
from partita._input.coding import encode
from partita._input.label_vector import code_labels


@pytest.mark.parametrize("noise", ["missing", "cluster"])
@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1, 2, 1]),
        np.array([0, -1, 1, 1]),
        np.array([3, 3, 5, 3]),
        np.array([-2, 0, 1, 0]),
        np.array([0, 2, 2, 0], np.uint8),
        np.array([True, False, True, True]),
        np.array([0.0, 1.0, np.nan, 1.0]),
        ["b", None, "a", "b"],
    ],
)
def test_codes_are_those_of_a_table(labels, noise):
    codes, categories = code_labels(labels, noise=noise)
    column = labels if isinstance(labels, np.ndarray) else np.array(labels, object)
    table, expected = encode([column], None, noise)
    missing = np.iinfo(table.dtype).max
    np.testing.assert_array_equal(
        codes, np.where(table[:, 0] == missing, -1, table[:, 0].astype(np.int64))
    )
    assert categories.tolist() == expected[0].tolist()


def test_codes_are_not_coded_again():
    labels = np.array([2, 0, -1, 1])
    assert code_labels(labels)[0] is labels


def test_a_fitted_method_has_labels():
    method = EAC(2).fit([[0, 0, 1, 1]])
    np.testing.assert_array_equal(code_labels(method)[0], method.labels_)


def test_a_wrong_length_is_refused():
    with pytest.raises(ValueError, match=r"y has 2 entries, the ensemble 3 samples"):
        code_labels([0, 1], 3, name="y")
