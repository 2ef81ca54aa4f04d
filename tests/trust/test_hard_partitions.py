"""Every method on hard tables: correct labels or a documented exception, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hard_tables import HARD_TABLES, LARGE_TABLES, hard_tables, wide_weights
from hypothesis import given
from hypothesis import strategies as st
from outcomes import REFUSED, check_labels, outcome

from partita import Ensemble
from partita.registry import all_methods, prepare
from tried_cases import examples

pytestmark = [
    pytest.mark.properties,
    pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning"),
]
# A table is put in canonical order once for all methods of a group: that takes longer than most of
# the fits. Several groups let several processes work.
GROUPS = [all_methods()[i::3] for i in range(3)]
every_group = pytest.mark.parametrize("methods", GROUPS, ids=lambda g: f"{g[0].__name__}...")
# Enough for a table of ten samples, and quick. Convergence is not the subject here.
QUICK = {"n_init": 1, "max_iter": 10}
# One row per sample would take these minutes; the matrices that they decompose are the same as
# those of the quick methods of their families.
SLOW = {"cspa", "drec", "ecmc", "gcc", "hgpa", "mcla", "mec", "nmfc", "nrsec", "rmsc", "rsec"}


def quick(method, n_clusters):
    """Return an estimator with few restarts and iterations."""
    estimator = prepare(method, n_clusters, 0)
    names = estimator.get_params()
    return estimator.set_params(**{k: v for k, v in QUICK.items() if k in names})


def check_fit(method, table, ensemble, n_clusters):
    """Fit a method and check everything that does not depend on the method."""
    estimator = quick(method, n_clusters)
    codes, weights = ensemble.codes.copy(), ensemble.weights.copy()
    result = outcome(lambda: estimator.fit(ensemble))
    np.testing.assert_array_equal(ensemble.codes, codes, "the input was changed")
    np.testing.assert_array_equal(ensemble.weights, weights, "the weights were changed")
    if result is REFUSED:
        refuses_missing = method.info.missing == "refused" and (table < 0).any()
        assert refuses_missing, "only missing labels may be refused here"
        assert not hasattr(estimator, "labels_")
        return
    check_labels(estimator.labels_, table, n_clusters)
    assert estimator.n_clusters_ == estimator.labels_.max() + 1
    assert not np.isinf(estimator.objective_)
    n_rows = len(np.unique(table, axis=0))
    if n_clusters >= n_rows:
        assert estimator.n_clusters_ == n_rows


def check_methods(methods, table, numbers, weights=None):
    """Fit every method for several numbers of clusters, and name the one that fails."""
    ensemble = Ensemble.from_partitions(table, weights=weights)
    for method in methods:
        for n_clusters in numbers:
            try:
                check_fit(method, table, ensemble, n_clusters)
            except BaseException as error:
                error.add_note(f"{method.__name__}({n_clusters})")
                raise


@every_group
@examples(14, soak=2)
@given(table=hard_tables(), data=st.data())
def test_drawn_tables(methods, table, data):
    n = len(table)
    weights = data.draw(wide_weights(n), "weights")
    check_methods(methods, table, sorted({1, min(2, n), max(1, n - 1), n}), weights)


@every_group
@pytest.mark.parametrize("name", HARD_TABLES)
def test_every_hard_table(methods, name):
    table = HARD_TABLES[name]
    check_methods(methods, table, sorted({1, min(2, len(table)), max(1, len(table) - 1)}))


@every_group
@pytest.mark.parametrize("name", LARGE_TABLES)
def test_repeated_eigenvalues_and_wider_codes(methods, name):
    table = LARGE_TABLES[name]
    some = [m for m in methods if m.info.key not in SLOW or name == "an id column"]
    check_methods(some, table, [2])
