"""Choose the number of clusters against a null.

The consensus is computed for every K on the ensemble, on random halves of its partitions, and on
null ensembles: reference ensembles without common structure. A curve over K alone is not
evidence, because consensus matrices look clean for noise too. The gain over the null is.
"""

from __future__ import annotations

from partita.select_k._result import KScan
from partita.select_k._scanning import scan_k, scan_k_features

__all__ = ["KScan", "scan_k", "scan_k_features"]
