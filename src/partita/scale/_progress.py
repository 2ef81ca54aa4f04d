"""How far a pass over rows has come, how fast it goes, and when it will be done."""

from __future__ import annotations

from time import perf_counter

from partita.config import report_progress

__all__ = ["report_rows"]


def report_rows(done: int, n_rows: int, began: float) -> None:
    """Report a pass that began at `began` (by `perf_counter`) and has seen `done` rows."""
    message = ""
    if done:
        rate = done / (perf_counter() - began)
        message = f"{rate:.3g} rows/s, {(n_rows - done) / rate:.0f} s left"
    report_progress("rows", done, n_rows, message)
