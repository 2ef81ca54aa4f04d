"""`Comparison`: the result of `compare`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._pictures import draw_bars
from partita.comparison._text_table import text_table

__all__ = ["MEASURES", "Comparison"]

MEASURES = ("ACC", "NMI", "ARI")  # scores against the true classes
_MOST_NAMED = 10  # bars with a name in a picture


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Results of several methods on one ensemble. Returned by `compare`.

    Iterating gives the records; `to_frame` makes a table of them.

    Attributes
    ----------
    records : list of dict
        One per method, in the order of `methods`, all with the same keys:

        - ``method``: key of the method and its parameters that differ from the defaults;
        - ``name``: full name of the method;
        - ``n_clusters``: number of clusters in the result;
        - ``seconds``: time of the fit on distinct rows, without compilation;
        - ``peak_bytes``: resident memory gained during the fit, measured, to a few megabytes;
        - ``bytes_needed``: size of the dense arrays by the method's own formula, before the fit;
        - ``anmi``: mean NMI with the base partitions;
        - ``agreement``: mean ARI with the results of the other methods;
        - ``ACC``, ``NMI``, ``ARI``: scores against `y`, if there is one;
        - ``warnings``, ``failure``: text of the warnings, and of the error that ended the fit.

        A value that a failed or a single method cannot have is None. With `include_partitions`
        two records about the base partitions follow: ``anmi`` is then the mean NMI with the other
        partitions, ``agreement`` the mean ARI with the results of the methods, and the values of
        a fit are None.
    labels : dict of str to array of shape (n_samples,)
        The result of every method that finished.
    agreement : array of shape (n_finished, n_finished)
        ARI between the results, in the order of `labels`.
    frame_library : str or None
        Library of the data frame that the partitions came in; None if they came in none.
    """

    records: list[dict[str, Any]]
    labels: dict[str, NDArray[np.int64]]
    agreement: NDArray[np.float64]
    frame_library: str | None = None

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)

    def to_frame(self) -> Any:
        """Return the records as a data frame of the library that the partitions came in.

        If the partitions came in no data frame, use the first of pandas, polars and pyarrow that is
        installed. If none is, return the list of records.
        """
        return frame_of_records(self.records, self.frame_library)

    def _repr_html_(self) -> str:
        columns = [c for c in self.records[0] if c not in ("name", "bytes_needed", "warnings")]
        scores = [np.nan if r["anmi"] is None else r["anmi"] for r in self.records]
        names = [str(r["method"]) for r in self.records] if len(self) <= _MOST_NAMED else ()
        picture = draw_bars(scores, "average NMI with the partitions", names=names)
        return html_of_records(self.records, columns, f"Comparison of {len(self)} results", picture)

    def __repr__(self) -> str:
        measures = [m for m in ("anmi", "agreement", *MEASURES) if m in self.records[0]]
        table = [["method", "clusters", "seconds", "peak MB", *measures]]
        for record in self.records:
            if record["failure"] is not None:
                table.append([record["method"], f"failed, {record['failure'].split('. ')[0]}"])
                continue
            cells = ["", "", ""]  # no fit made a row about the partitions
            if record["seconds"] is not None:
                cells = [f"{record['n_clusters']}", f"{record['seconds']:.3g}"]
                cells.append(f"{record['peak_bytes'] / 2**20:.0f}")
            scores = ("" if record[m] is None else f"{record[m]:.3f}" for m in measures)
            table.append([record["method"], *cells, *scores])
        return text_table(table)
