"""Checks that any consensus method must pass, usable for methods defined elsewhere."""

from partita.testing._battery import check_consensus, consensus_checks
from partita.testing._ensembles import noisy_ensemble

__all__ = ["check_consensus", "consensus_checks", "noisy_ensemble"]
