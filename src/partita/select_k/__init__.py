"""Choose the number of clusters against a null.

The consensus is computed for every K on the ensemble, on random halves of its partitions, and on
null ensembles: reference ensembles without common structure. A curve over K alone is not
evidence, because consensus matrices look clean for noise too. The gain over the null is.
"""

from __future__ import annotations

from partita.select_k._choice import (
    choose_number,
    needs_number,
    scan_numbers,
    suggested_number,
)
from partita.select_k._estimator_scan import NUMBER_ONLY, confirmed_scan, scan_for_number
from partita.select_k._evidence import Evidence
from partita.select_k._features_scan import scan_generated, scan_k_features
from partita.select_k._labels_scan import scan_k
from partita.select_k._null import uniform_reference
from partita.select_k._result import KScan
from partita.select_k._scanned import ScannedFeatures

__all__ = [
    "NUMBER_ONLY",
    "Evidence",
    "KScan",
    "ScannedFeatures",
    "choose_number",
    "confirmed_scan",
    "needs_number",
    "scan_for_number",
    "scan_generated",
    "scan_k",
    "scan_k_features",
    "scan_numbers",
    "suggested_number",
    "uniform_reference",
]
