"""`Ranking`: the result of `rank_methods`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records
from partita.comparison._text_table import text_table

__all__ = ["Ranking"]

_COLUMNS = {
    "mean": "mean",
    "score": "score",
    "rank": "rank",
    "difference": "difference",
    "t_test_holm": "t-test",
    "wilcoxon_holm": "Wilcoxon",
}


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Methods over several data sets, best first. Returned by `rank_methods`.

    Iterating gives the records; `to_frame` makes a table of them. The text form shows the
    corrected p-values.

    Attributes
    ----------
    records : list of dict
        One per method, highest score first, all with the same keys:

        - ``method``: name of the method;
        - ``n_datasets``: number of data sets that it has a value on;
        - ``mean``: mean value over these;
        - ``score``: sum over data sets of its value divided by the best;
        - ``rank``: mean rank over all data sets, 1 for the best;
        - ``difference``: mean of its value minus that of the reference;
        - ``wins``, ``ties``, ``losses``: number of data sets with a value above, equal to and
          below that of the reference;
        - ``t_test``, ``wilcoxon``: p-values of the two tests against the reference;
        - ``t_test_holm``, ``wilcoxon_holm``: the same after Holm's correction.

        A value that does not exist is None, as all comparisons of the reference with itself.
    methods : list of str
        Names of the methods, in the same order.
    datasets : list of str
        Names of the data sets.
    values : array of shape (n_datasets, n_methods)
        Value of every method on every data set; NaN if there is none.
    measure : str
        Name of the measure.
    reference : str
        Method that the others are compared with.
    """

    records: list[dict[str, Any]]
    methods: list[str]
    datasets: list[str]
    values: NDArray[np.float64]
    measure: str
    reference: str

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.records)

    def to_frame(self) -> Any:
        """Return the records as a data frame of pandas, polars or pyarrow, the first installed.

        If none is, return the list of records.
        """
        return frame_of_records(self.records)

    def __repr__(self) -> str:
        table = [["method", *_COLUMNS.values()]]
        for record in self.records:
            cells = ("" if record[key] is None else f"{record[key]:.3g}" for key in _COLUMNS)
            table.append([record["method"], *cells])
        head = (
            f"{self.measure} on {len(self.datasets)} data sets; differences and corrected "
            f"p-values against {self.reference}"
        )
        return f"{head}\n{text_table(table)}"
