"""partita: many clusterings, played as one."""

from partita import consensus, matrices, registry
from partita.config import config_context, get_config, set_config
from partita.consensus import *  # noqa: F403
from partita.ensemble import Ensemble
from partita.matrices import (
    coassociation,
    locally_weighted_coassociation,
    trajectory_similarity,
)

__version__ = "0.1.0"
