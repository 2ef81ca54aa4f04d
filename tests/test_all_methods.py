"""Both batteries over everything in the registry: ours and scikit-learn's."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from partita import BCE
from partita.registry import all_methods
from partita.testing import consensus_checks

METHODS = all_methods()

# The checks feed arbitrary data, on which methods rightly warn: of the number of clusters, of
# components, of labels that look like features. Iterations that do not converge stay errors.
pytestmark = [
    pytest.mark.filterwarnings(
        "ignore::partita.exceptions.PartitaWarning", "error::partita.exceptions.ConvergenceWarning"
    )
]

# Feeds blobs of real-valued features (and a list of rows) to a method that reads labels: every
# value is a cluster of its own, every row is distinct, and there is nothing to agree on.
_REAL_VALUED = {"check_clustering": "real-valued features are not labels"}


@pytest.mark.parametrize("check", list(consensus_checks()), ids=lambda c: c.__name__)
@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
def test_battery(method, check):
    # restarts of BCE on tables this small take some 300 iterations each and end much alike
    check(method(n_init=2) if method is BCE else method())


def quick(method):
    """Return an estimator with few restarts: these checks look at its interface."""
    has_restarts = "n_init" in method().get_params()
    return method(n_init=2) if has_restarts else method()


@parametrize_with_checks(
    [quick(method) for method in METHODS], expected_failed_checks=lambda _: _REAL_VALUED
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
