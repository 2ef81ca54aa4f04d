"""`CodedTable`: partitions as frozen arrays, and their sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._pictures import draw_bars
from partita.ensemble._records import records_of_partitions, records_of_samples
from partita.ensemble.layout import HasLayout, LabelLayout, read_only

__all__ = ["CodedTable"]

_MOST_SHOWN = 30  # partitions in the table of a notebook
_ARRAYS = ("codes", "weights", "inverse", "partition_order", "sample_ids")


@dataclass(frozen=True, eq=False, repr=False)
class CodedTable(HasLayout):
    """The data of an `Ensemble`, which documents the attributes."""

    codes: NDArray[Any]
    layout: LabelLayout
    weights: NDArray[np.float64]
    inverse: NDArray[np.int64] | None = None
    partition_order: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    sample_ids: NDArray[Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.partition_order) == 0:
            object.__setattr__(self, "partition_order", np.arange(self.n_partitions))
        object.__setattr__(self, "provenance", dict(self.provenance))
        for name in _ARRAYS:
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickle through the constructor, which makes the arrays read-only again.
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    @property
    def n_rows(self) -> int:
        """Number of rows of `codes`."""
        return int(self.codes.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.n_rows if self.inverse is None else len(self.inverse)

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """Which labels are present, shape (n_rows, n_partitions)."""
        return self.codes != self.missing_code

    @cached_property
    def n_missing(self) -> int:
        """Number of missing entries of `codes`."""
        return int(np.count_nonzero(self.codes == self.missing_code))

    @property
    def is_compressed(self) -> bool:
        """Whether the rows are distinct rows, as `compress` returns them."""
        return self.inverse is not None

    def to_frame(self) -> Any:
        """Return the labels as a data frame: a row per sample, a column per partition.

        Of the first of pandas, polars and pyarrow that is installed; if none is, a list of
        dictionaries. The column "sample" has the ids, or numbers.
        """
        return frame_of_records(records_of_samples(self))

    def _repr_html_(self) -> str:
        records = records_of_partitions(self)
        n_more = len(records) - _MOST_SHOWN
        more = f"; {n_more} partitions are not shown" if n_more > 0 else ""
        picture = draw_bars([r["n_clusters"] for r in records], "clusters of each partition")
        return html_of_records(records[:_MOST_SHOWN], caption=f"{self!r}{more}", picture=picture)

    def __len__(self) -> int:
        return self.n_samples

    def __repr__(self) -> str:
        low, high = int(self.n_clusters.min()), int(self.n_clusters.max())
        clusters = f"{low}" if low == high else f"{low} to {high}"
        parts = [
            f"{self.n_samples} samples",
            f"{self.n_partitions} partition{'s' * (self.n_partitions != 1)}",
            f"{clusters} clusters each",
        ]
        if self.is_compressed:
            parts.append(f"{self.n_rows} distinct rows")
        if self.n_missing:
            parts.append(f"{self.n_missing} label{'s' * (self.n_missing != 1)} missing")
        return f"{type(self).__name__}({', '.join(parts)})"
