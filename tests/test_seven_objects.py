"""All methods on the example of seven objects of Strehl and Ghosh (2002)."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import partita
from partita.exceptions import NotSupportedError, PartitaWarning

# Labels of the objects in four partitions, one of them without labels for three objects.
PARTITIONS = [
    [1, 1, 1, 2, 2, 3, 3],
    [2, 2, 2, 3, 3, 1, 1],
    [1, 1, 2, 2, 3, 3, 3],
    [1, 2, -1, 1, 2, -1, -1],
]
ANSWER = [1, 1, 1, 2, 2, 3, 3]
# Objects 4, 6 and 7 are neighbors of object 5 and of few others. Walks that start at them step to
# the same places, and walks from object 5 are never where those from object 4 are.
WALKS = {"pta", "ptgp"}
# ECMC completes a matrix from certain pairs, of which seven objects have too few. It warns.
TOO_FEW_PAIRS = {"ecmc"}


def solve(method, seed):
    settings = {"random_state": seed} if "random_state" in method().get_params() else {}
    return method(n_clusters=3, **settings).fit_predict(PARTITIONS)


@pytest.mark.parametrize("method", partita.all_methods(), ids=lambda method: method.info.key)
@pytest.mark.parametrize("seed", [0, 1])
def test_answer_of_the_paper(method, seed):
    if method.info.missing == "refused":
        with pytest.raises(NotSupportedError, match="missing"):
            solve(method, seed)
    elif method.info.key in TOO_FEW_PAIRS:
        with pytest.warns(PartitaWarning, match="do not determine"):
            solve(method, seed)
    elif method.info.key in WALKS:
        labels = solve(method, seed)
        np.testing.assert_array_equal(labels, [0, 0, 0, 1, 2, 1, 1])
        similarity = partita.trajectory_similarity(PARTITIONS)
        assert similarity[3, 4] == 0.0
        assert similarity[3, 5] > 0.99
    else:
        assert adjusted_rand_score(ANSWER, solve(method, seed)) == 1.0
