"""The table of numbers of clusters that a scan tried."""

from __future__ import annotations

from partita.reporting._content import Content
from partita.reporting._table import ReportTable, make_table

__all__ = ["scan_table"]

_HEADINGS = {
    "k": "K",
    "gain": "Gain",
    "standard_error": "S.E.",
    "separation": "Separation",
    "null_separation": "Null",
    "stability": "Stability",
    "pac": "PAC",
    "remark": "Remark",
}


def scan_table(content: Content) -> ReportTable | None:
    """Return one row per number of clusters; None without a scan."""
    scan = content.scan
    if scan is None:
        return None
    rows = [record | {"remark": _remark(content, int(record["k"]))} for record in scan.records()]
    columns = {key: heading for key, heading in _HEADINGS.items() if key in rows[0]}
    return make_table(
        columns,
        rows,
        0,
        "numbers are left out.",
        "Gain: separation minus its mean over ensembles without structure (the null), as a share "
        "of the largest possible difference. S.E.: standard error of the gain. Separation: how "
        "much more often the samples are with their own cluster than with the next one. "
        "Stability: agreement (ARI) of the consensus of two "
        "halves of the partitions. PAC: share of the pairs of samples on which they disagree; low "
        "is good. As good: the gain is within one standard error of the best one, so that other "
        "reasons may decide between these numbers.",
    )


def _remark(content: Content, k: int) -> str:
    scan = content.scan
    remarks = []
    if scan is not None and k == scan.best_k:
        remarks.append("suggested")
    elif scan is not None and k in scan.tied_k:
        remarks.append("as good")
    if k == content.diagnosis.n_clusters:
        remarks.append("this consensus")
    return ", ".join(remarks)
