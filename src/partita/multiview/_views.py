"""Read the views of the same samples, some of them partial, and match their samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._input.columns import name_array
from partita.multiview._containers import RawView, name_views, per_view, read_view
from partita.multiview._matching import match_samples, select_rows

__all__ = ["Views", "read_views"]


@dataclass(frozen=True)
class Views:
    """Views of the same samples, with the samples of every view in one order.

    Attributes
    ----------
    matrices : tuple of arrays and CSR arrays
        For each view the features of its present samples, in the order of the samples.
    present : bool array of shape (n_samples, n_views)
        Which samples each view has. Every sample is in at least one view.
    names : tuple of str
        Names of the views.
    sample_ids : array of shape (n_samples,) or None
        Ids of the samples, if the views have ids.
    """

    matrices: tuple[Any, ...]
    present: NDArray[np.bool_]
    names: tuple[str, ...]
    sample_ids: NDArray[Any] | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples in all views together."""
        return len(self.present)

    @property
    def n_views(self) -> int:
        """Number of views."""
        return len(self.matrices)

    @property
    def is_complete(self) -> bool:
        """Whether every sample is in every view."""
        return bool(self.present.all())

    def expand(self, view: int, values: NDArray[Any], fill_value: Any) -> NDArray[Any]:
        """Expand values of the present samples of one view to values of all samples.

        Parameters
        ----------
        view : int
            Index of the view.
        values : array of shape (n_present, ...)
            One value per row of `matrices[view]`.
        fill_value : scalar
            Value of samples that the view does not have.
        """
        expanded = np.full((self.n_samples, *values.shape[1:]), fill_value, values.dtype)
        expanded[self.present[:, view]] = values
        return expanded


def read_views(
    views: Any,
    *,
    present: Any = None,
    id_column: str | None = None,
    layer: Any = None,
    sample_ids: Any = None,
) -> Views:
    """Read views and match their samples.

    Parameters
    ----------
    views : list or dict of views, AnnData or MuData
        A view is an array or sparse matrix of shape (n_rows, n_features), a data frame of any
        library or an AnnData. An entry of a dict has the name of its view, entries of a list are
        "view1", "view2", ... A MuData has one view per modality, an AnnData one per `layer`. A
        row that is NaN in all features is a sample that the view does not have.
    present : list or dict by view, optional
        Samples that a view has: None (all of them), a boolean mask over all samples, or the
        positions or ids of the samples of its rows. With a mask the view has one row per sample,
        or only the rows of samples where the mask is true. By default rows are matched by the ids
        that the views have, otherwise by position.
    id_column : str, optional
        Column of the data frames with the ids of the samples. By default the index of a pandas
        data frame; other data frames have no ids.
    layer : str, or list or dict by view, optional
        Layer or obsm to read from an AnnData. By default its X.
    sample_ids : sequence, optional
        Ids of all samples, in the order of the results. By default the order in which the views
        name them, the first view first, and for a MuData that of its `obs_names`.

    Returns
    -------
    Views

    Examples
    --------
    >>> import numpy as np
    >>> from partita.multiview import read_views
    >>> first, second = np.eye(4, 3), np.ones((3, 2))
    >>> views = read_views([first, second], present=[None, [0, 1, 3]])
    >>> views.present[:, 1]
    array([ True,  True, False,  True])
    """
    names, containers, layers, order = name_views(views, layer)
    order = order if sample_ids is None else [*sample_ids]
    selections = [None] * len(names) if present is None else per_view(present, names, "present")
    raw = [
        select_rows(read_view(name, data, place, id_column), selection)
        for name, data, place, selection in zip(names, containers, layers, selections, strict=True)
    ]
    positions, order, n_samples = match_samples(raw, order)
    matrices, is_present = [], np.zeros((n_samples, len(raw)), np.bool_)
    for v, (view, rows) in enumerate(zip(raw, positions, strict=True)):
        keep = np.flatnonzero(~_missing_rows(view))
        if len(keep) == 0:
            raise ValueError(f"View {view.name!r} has no sample. Leave it out.")
        keep = keep[np.argsort(rows[keep])]
        is_present[rows[keep], v] = True
        is_whole = np.array_equal(keep, np.arange(view.matrix.shape[0]))
        matrices.append(view.matrix if is_whole else view.matrix[keep])
    if len(absent := np.flatnonzero(~is_present.any(axis=1))):
        names_of_absent = [repr(i if order is None else order[i]) for i in absent[:5].tolist()]
        raise ValueError(
            f"{len(absent)} sample(s) are in no view: {', '.join(names_of_absent)}"
            f"{', ...' if len(absent) > 5 else ''}. A sample must be in at least one view; drop it."
        )
    ids = None if order is None else name_array(order)
    return Views(tuple(matrices), is_present, tuple(names), ids)


def _missing_rows(view: RawView) -> NDArray[np.bool_]:
    """Return which rows the mask leaves out or are NaN in all features.

    A row that is NaN in some features only is an error.
    """
    matrix = view.matrix
    is_masked = np.zeros(matrix.shape[0], np.bool_) if view.mask is None else ~view.mask
    if sp.issparse(matrix):
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        n_nan = np.bincount(rows[np.isnan(matrix.data)], minlength=matrix.shape[0])
    else:
        n_nan = np.isnan(matrix).sum(axis=1)
    is_missing = is_masked | (n_nan == matrix.shape[1])
    if len(partly := np.flatnonzero((n_nan > 0) & ~is_missing)):
        raise ValueError(
            f"View {view.name!r}: {len(partly)} row(s) are NaN in some features and not in all, "
            f"first sample {view.ids[partly[0]]!r}. Impute the values, or set the whole row to NaN "
            "if the view does not have the sample."
        )
    return np.asarray(is_missing)
