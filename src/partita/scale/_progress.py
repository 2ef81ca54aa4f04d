"""Progress of a pass over rows: share, speed and remaining time."""

from __future__ import annotations

from time import perf_counter

from partita.config import report_progress

__all__ = ["report_rows"]


def report_rows(n_done: int, n_rows: int, started: float) -> None:
    """Report a pass that started at `started` (by `perf_counter`) and has read `n_done` rows."""
    message = ""
    if n_done:
        rate = n_done / (perf_counter() - started)
        message = f"{rate:.3g} rows/s, {(n_rows - n_done) / rate:.0f} s left"
    report_progress("rows", n_done, n_rows, message)
