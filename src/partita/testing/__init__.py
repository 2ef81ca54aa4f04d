"""Checks that every consensus method must pass, also methods defined elsewhere.

Use `check_consensus` to run all checks on a method, or `consensus_checks` to run them one by one in
a parametrized test. `partita.datasets.make_partitions` makes data with planted clusters.
"""

from partita.testing._battery import check_consensus, consensus_checks

__all__ = ["check_consensus", "consensus_checks"]
