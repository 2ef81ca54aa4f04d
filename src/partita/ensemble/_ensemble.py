"""`Ensemble`: many partitions of the same samples, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._input.checks import check_weights
from partita.ensemble._archive import read_archive, write_archive
from partita.ensemble._construction import (
    check_sample_ids,
    check_unlabeled,
    code_partitions,
    index_names,
    select_columns,
)
from partita.ensemble._reduction import compress
from partita.ensemble._table import CodedTable
from partita.ensemble.layout import MAX_UNUSED, LabelLayout, dense_codes
from partita.exceptions import InvalidEnsembleError

__all__ = ["Ensemble", "as_ensemble"]


class Ensemble(CodedTable):
    """Partitions of the same samples.

    Make one with `from_partitions`, `from_frame`, `from_anndata` or `from_codes`. Every consensus
    method works on `compress()`, the distinct rows of the table: no consensus method can
    distinguish samples with the same row of labels.

    Attributes
    ----------
    codes : array of shape (n_rows, n_partitions), unsigned
        Code of each row's cluster in each partition, 0..K_i-1, or `missing_code`.
    layout : LabelLayout
        How to read the codes: integer type, categories and names of the partitions.
    weights : array of shape (n_rows,)
        Number (or weight) of the samples that a row stands for.
    inverse : array of shape (n_samples,) or None
        Row of each sample once compressed, -1 for a sample without any label. None: a row is a
        sample.
    partition_order : array of shape (n_partitions,)
        Position each column had in the user's table.
    sample_ids : array of shape (n_samples,) or None
        Names of the samples.
    provenance : mapping
        Where the labels come from, as text and numbers.
    """

    # -- construction ------------------------------------------------------------------------

    @classmethod
    def from_partitions(
        cls,
        partitions: Any,
        *,
        weights: Any = None,
        noise: str = "missing",
        unlabeled: str = "error",
        sample_ids: Any = None,
        partition_names: Sequence[str] | None = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Ensemble:
        """Read a table of labels, a data frame, or a list of label vectors.

        Parameters
        ----------
        partitions : array of shape (n_samples, n_partitions), data frame, or list of label vectors
            Integers, floats or strings; None and NaN are missing, and so is -1 (or "-1") unless
            `noise` says otherwise. Labels are equal where Python says so: 1 and 1.0 are one
            cluster, 1 and "1" are two. Other text is a label as it is written, even "nan".
        weights : array of shape (n_samples,), optional
            Positive weights of the samples. By default every sample has weight 1.
        noise : {"missing", "cluster", "singletons"}, default="missing"
            What a label of -1 means: no label, one cluster, or a cluster of its own per sample.
        unlabeled : {"error", "keep"}, default="error"
            What to do with a sample without any label: raise an error, or keep it and label it -1
            in every result.
        sample_ids : sequence of length n_samples, optional
            Names of the samples. By default the index of a pandas data frame unless it only counts
            the rows, otherwise none.
        partition_names : sequence of str, optional
            Names of the partitions. By default the column names of a data frame, otherwise none.
        provenance : mapping, optional
            Where the labels come from, as text and numbers.

        Examples
        --------
        >>> from partita import Ensemble
        >>> Ensemble.from_partitions([["a", "a", "b"], [1, 1, None]])
        Ensemble(3 samples, 2 partitions, 1 to 2 clusters each, 1 label missing)
        """
        codes, layout = code_partitions(partitions, partition_names, noise)
        return cls._checked(
            codes,
            layout,
            weights=weights,
            unlabeled=unlabeled,
            sample_ids=index_names(partitions) if sample_ids is None else sample_ids,
            provenance=provenance,
        )

    @classmethod
    def from_codes(
        cls,
        codes: NDArray[Any],
        layout: LabelLayout | None = None,
        *,
        weights: Any = None,
        unlabeled: str = "error",
        sample_ids: Any = None,
        provenance: Mapping[str, Any] | None = None,
    ) -> Ensemble:
        """Take a table that is already coded; nothing is read or sorted again.

        Parameters
        ----------
        codes : array of shape (n_samples, n_partitions)
            With a layout: unsigned codes of its type. Without one: integers from 0 on, negative
            ones are missing, and the codes themselves become the categories.
        layout : LabelLayout, optional
            Clusters without samples are dropped from it.
        weights, unlabeled, sample_ids, provenance
            As in `from_partitions`.
        """
        if layout is None:
            sizes = np.maximum(codes.max(axis=0, initial=-1) + 1, 0).tolist()
            if max(sizes) > len(codes) + MAX_UNUSED:
                codes, categories = dense_codes(np.maximum(codes.astype(np.int64), -1), -1)
                layout = LabelLayout.of(categories)
            else:
                layout = LabelLayout.of([np.arange(size) for size in sizes])
                codes = np.where(codes < 0, layout.missing_code, codes).astype(layout.dtype)
        codes, layout = layout.drop_unused(codes)
        return cls._checked(
            codes,
            layout,
            weights=weights,
            unlabeled=unlabeled,
            sample_ids=sample_ids,
            provenance=provenance,
        )

    @classmethod
    def _checked(
        cls,
        codes: NDArray[Any],
        layout: LabelLayout,
        *,
        weights: Any,
        unlabeled: str,
        sample_ids: Any,
        provenance: Mapping[str, Any] | None,
    ) -> Ensemble:
        check_unlabeled(codes, unlabeled)
        return cls(
            codes=codes,
            layout=layout,
            weights=check_weights(weights, len(codes), "weights").copy(),
            sample_ids=check_sample_ids(sample_ids, len(codes)),
            provenance=provenance or {},
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Sequence[str] | str | None = None,
        id_column: str | None = None,
        **options: Any,
    ) -> Ensemble:
        """Read a data frame of any library, one partition per column.

        Parameters
        ----------
        frame : data frame
            Of pandas, polars, pyarrow or any library that narwhals reads.
        columns : list of names or a pattern such as "leiden_*", optional
            Which columns are partitions. By default all but `id_column`.
        id_column : str, optional
            Column with the names of the samples. By default the index of a pandas data frame.
        **options
            As in `from_partitions`.
        """
        series, ids = select_columns(frame, columns, id_column)
        if options.get("sample_ids") is None:
            options["sample_ids"] = ids
        options.setdefault("partition_names", [str(name) for name in series])
        return cls.from_partitions(list(series.values()), **options)

    @classmethod
    def from_anndata(cls, adata: Any, columns: Sequence[str] | str, **options: Any) -> Ensemble:
        """Read columns of `adata.obs`.

        Parameters
        ----------
        adata : AnnData
            Observations are the samples; their names become the sample ids.
        columns : list of names or a pattern such as "leiden_*"
            Which columns are partitions. A pattern leaves out the results of `add_consensus`.
        **options
            As in `from_partitions`.
        """
        return cls.from_frame(adata.obs, columns=columns, **options)

    # -- reduction ---------------------------------------------------------------------------

    def compress(self) -> Ensemble:
        """Reduce to distinct rows with weights, in a canonical order.

        The order of rows, clusters and columns depends only on which samples share clusters, and
        on weights up to a factor. Shuffled rows, renamed labels and permuted columns therefore
        give the same table, and so does everything computed from it, ties and random starts
        included. First appearance decides only between rows that no such property distinguishes.
        The cost is O(n m) unless many rows tie. The result is computed once and kept.
        """
        return self if self.is_compressed else self._compressed

    @cached_property
    def _compressed(self) -> Ensemble:
        return compress(self)

    def expand(self, values: NDArray[Any], fill_value: Any = -1) -> NDArray[Any]:
        """Expand values per row to values per sample.

        Parameters
        ----------
        values : array of shape (n_rows, ...)
            One value per row.
        fill_value : scalar, default=-1
            Value for samples without any label.

        Returns
        -------
        array of shape (n_samples, ...)
        """
        values = np.asarray(values)
        if len(values) != self.n_rows:
            raise ValueError(f"Expected a value for each of {self.n_rows} rows, got {len(values)}.")
        if self.inverse is None:
            return values
        is_unlabeled = self.inverse < 0
        if is_unlabeled.any():
            values = values.astype(np.result_type(values, np.min_scalar_type(fill_value)))
        expanded = values[self.inverse]
        expanded[is_unlabeled] = fill_value
        return expanded

    def subset(self, *, samples: Any = None, partitions: Any = None) -> Ensemble:
        """Select some samples and some partitions.

        Parameters
        ----------
        samples, partitions : slice, array of indices or boolean mask, optional
            What to keep. By default everything. Clusters that no longer have a sample are dropped.
        """
        if self.is_compressed:
            raise InvalidEnsembleError("Take the subset before compressing.")
        rows = np.arange(self.n_rows)[slice(None) if samples is None else samples].reshape(-1)
        columns = np.arange(self.n_partitions)[slice(None) if partitions is None else partitions]
        columns = columns.reshape(-1)
        if not len(rows) or not len(columns):
            raise InvalidEnsembleError(
                f"Expected at least one partition of at least one sample, got {len(columns)} "
                f"partitions of {len(rows)} samples."
            )
        return Ensemble.from_codes(
            self.codes[np.ix_(rows, columns)],
            self.layout.select(columns),
            weights=self.weights[rows],
            unlabeled="keep",
            sample_ids=None if self.sample_ids is None else self.sample_ids[rows],
            provenance=self.provenance,
        )

    def encode(self, partitions: Any, noise: str = "missing") -> tuple[NDArray[Any], int]:
        """Code new rows by the categories of this ensemble.

        Parameters
        ----------
        partitions : table of labels
            With the columns of the table this ensemble was made from, in the same order.
        noise : {"missing", "cluster", "singletons"}, default="missing"
            What a label of -1 means.

        Returns
        -------
        codes : array of shape (n_samples, n_partitions)
            A label that the ensemble does not have is coded as missing.
        n_unknown : int
            The number of such labels.
        """
        columns = self.layout.select(np.argsort(self.partition_order)).check_columns(partitions)
        return self.layout.encode([columns[i] for i in self.partition_order], noise)

    # -- disk --------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write one `.npz` file without pickles.

        Sample ids and provenance that are neither numbers nor text are stored as text.
        """
        names = self.partition_names
        write_archive(
            path,
            {
                "codes": self.codes,
                "weights": self.weights,
                "inverse": self.inverse,
                "partition_order": self.partition_order,
            },
            {
                "categories": [labels.tolist() for labels in self.categories],
                "sample_ids": None if self.sample_ids is None else self.sample_ids.tolist(),
                "partition_names": None if names is None else names.tolist(),
                "provenance": dict(self.provenance),
            },
        )

    @classmethod
    def load(cls, path: str | Path) -> Ensemble:
        """Read a file that `save` wrote."""
        arrays, header = read_archive(path)
        codes = arrays["codes"]
        return cls(
            codes=codes,
            layout=LabelLayout(codes.dtype, header["categories"], header["partition_names"]),
            weights=arrays["weights"],
            inverse=arrays.get("inverse"),
            partition_order=arrays["partition_order"],
            sample_ids=header["sample_ids"],
            provenance=header["provenance"],
        )


def as_ensemble(partitions: Any, noise: str = "missing") -> Ensemble:
    """Return an `Ensemble` as it is, and read anything else.

    A `LabelStore` is read into memory, within the memory budget; other input goes through
    `Ensemble.from_partitions`.
    """
    if isinstance(partitions, Ensemble):
        return partitions
    if hasattr(partitions, "to_ensemble"):
        ensemble: Ensemble = partitions.to_ensemble()
        return ensemble
    return Ensemble.from_partitions(partitions, noise=noise)
