"""The base class of all estimators on views."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from partita._sklearn_compat import fitting
from partita.multiview._views import Views, read_views

__all__ = ["BaseMultiView"]


class BaseMultiView(ClusterMixin, BaseEstimator, metaclass=ABCMeta):
    """Base class of estimators that cluster views: it reads the views, a subclass fits them.

    A subclass stores its parameters and defines `_fit_views`, which sets `labels_` and
    `n_clusters_`.
    """

    labels_: NDArray[Any]
    n_clusters_: int
    view_names_: list[str]
    sample_ids_: NDArray[Any] | None

    @abstractmethod
    def _fit_views(self, views: Views) -> None:
        """Cluster the samples of the views and set the fitted attributes."""

    def fit(
        self,
        views: Any,
        y: Any = None,
        *,
        present: Any = None,
        id_column: str | None = None,
        layer: Any = None,
        sample_ids: Any = None,
    ) -> Self:
        """Cluster the samples of several views.

        Parameters
        ----------
        views : list or dict of views, AnnData or MuData
            A view is an array or sparse matrix of shape (n_rows, n_features), a data frame of any
            library or an AnnData. A row that is NaN in all features is a sample that the view does
            not have. See `read_views`.
        y : ignored, default=None
            Present for compatibility with scikit-learn.
        present : list or dict by view, optional
            Samples that a view has: None (all of them), a boolean mask over all samples, or the
            positions or ids of the samples of its rows. By default rows are matched by the ids
            that the views have, otherwise by position.
        id_column : str, optional
            Column of the data frames with the ids of the samples. By default the index of a pandas
            data frame; other data frames have no ids.
        layer : str, or list or dict by view, optional
            Layer or obsm to read from an AnnData. By default its X.
        sample_ids : sequence, optional
            Ids of all samples, in the order of `labels_`. By default the order in which the views
            name them.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        with fitting(self):
            data = read_views(
                views, present=present, id_column=id_column, layer=layer, sample_ids=sample_ids
            )
            self.view_names_ = list(data.names)
            self.sample_ids_ = data.sample_ids
            self._fit_views(data)
        return self
