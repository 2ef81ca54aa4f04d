"""Checks that any consensus method must pass, also methods defined elsewhere."""

from partita.testing._battery import check_consensus, consensus_checks

__all__ = ["check_consensus", "consensus_checks"]
