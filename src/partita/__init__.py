"""partita: many clusterings, played as one.

Ensemble (consensus) clustering: take many clusterings of the same samples, however made and
however incomplete, and return one that is better, with an account of how far to trust it.

>>> import partita
>>> labels = [[0, 0, 1, 1], [0, 0, 1, 2], ["a", "a", "a", "b"]]
>>> partita.LWGP(n_clusters=2, random_state=0).fit_predict(labels)
array([0, 0, 1, 1])
"""

from partita import consensus, generate, matrices, metrics, registry
from partita.clustering import EnsembleClustering
from partita.config import config_context, get_config, set_config
from partita.consensus import *  # noqa: F403
from partita.ensemble import Ensemble
from partita.generate import *  # noqa: F403
from partita.matrices import (
    coassociation,
    locally_weighted_coassociation,
    trajectory_similarity,
)
from partita.metrics import evaluate
from partita.registry import all_methods, get_method

__version__ = "0.1.0"

__all__ = [
    *consensus.__all__,
    *generate.__all__,
    "Ensemble",
    "EnsembleClustering",
    "all_methods",
    "coassociation",
    "config_context",
    "consensus",
    "evaluate",
    "generate",
    "get_config",
    "get_method",
    "locally_weighted_coassociation",
    "matrices",
    "metrics",
    "registry",
    "set_config",
    "trajectory_similarity",
]
