"""`MatrixDisplay`: matrices over samples side by side, with the true classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from partita._input.label_vector import code_labels
from partita.ensemble import as_ensemble
from partita.matrices import coassociation
from partita.plotting._display import Display
from partita.plotting.style import INK, MUTED, ON_IMAGE, blues, new_figure, plain_text

__all__ = ["MatrixDisplay"]

_PANEL = 3.1  # inches per image


class MatrixDisplay(Display):
    """Matrices over samples side by side: co-association, learned matrices, true classes.

    All images have the same order of samples: by class, inside a class by consensus cluster. A
    matrix with a clear structure has dark squares on the diagonal and white elsewhere, like the
    last image. The figure shows what a method changed in the co-association matrix: noise that it
    removed outside the squares, and links that it lost inside them.

    Parameters
    ----------
    images : mapping of str to array of shape (n_blocks, n_blocks)
        Block means of the ordered matrices. `from_estimator` and `from_matrices` compute them.
    bounds : array of shape (n_classes + 1,)
        First block of each class, and the end of the last.
    n_unlabeled : int, default=0
        Number of samples without a class, which are left out.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The axes of the images, after `plot`.

    Notes
    -----
    White is 0 and below, navy the largest value off the diagonal of each image, which is written
    below it. With more samples than `resolution` an image holds block means.

    References
    ----------
    Figure 2 of Tao, Liu, Li, Ding, Fu. Robust Spectral Ensemble Clustering via Rank Minimization.
    ACM TKDD, 2019. Figure 4 of Jia, Tao, Wang, Wang. Ensemble Clustering via Co-association Matrix
    Self-enhancement. IEEE TNNLS, 2023.

    Examples
    --------
    >>> from partita import ECCMS
    >>> from partita.plotting import MatrixDisplay
    >>> from partita.datasets import make_partitions
    >>> partitions, y = make_partitions(60, 8, 3)
    >>> method = ECCMS(n_clusters=3).fit(partitions)
    >>> list(MatrixDisplay.from_estimator(method, partitions, y=y).images)
    ['co-association', 'ECCMS', 'true classes']
    """

    axes_: list[Any]

    def __init__(
        self,
        images: Mapping[str, NDArray[np.float64]],
        bounds: NDArray[np.int64],
        *,
        n_unlabeled: int = 0,
    ) -> None:
        self.images = dict(images)
        self.bounds = bounds
        self.n_unlabeled = n_unlabeled

    @classmethod
    def from_estimator(
        cls, method: Any, partitions: Any, *, y: Any = None, resolution: int = 480
    ) -> Self:
        """Use the learned matrix of a fitted method beside the co-association matrix.

        Parameters
        ----------
        method : fitted estimator with `consensus_matrix`, or sequence of them
            The consensus methods, which must have learned a matrix over samples.
        partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
            The base partitions that they were fitted to.
        y : array-like of shape (n_samples,), optional
            True classes, which order the samples. By default the clusters of the first method do.
        resolution : int, default=480
            Largest number of rows of an image, if there are fewer classes than that.
        """
        methods = list(method) if isinstance(method, Sequence) else [method]
        matrices: dict[str, Any] = {"co-association": coassociation(as_ensemble(partitions))}
        for fitted in methods:
            check_is_fitted(fitted, "labels_")
            name = type(fitted).__name__
            if not hasattr(fitted, "consensus_matrix"):
                raise ValueError(
                    f"{name} learns no matrix over samples. Use `ConsensusDisplay` for its labels, "
                    "or `MatrixDisplay.from_matrices` for any matrix."
                )
            repeats = sum(key.split(" (")[0] == name for key in matrices)
            matrices[f"{name} ({repeats + 1})" if repeats else name] = fitted.consensus_matrix()
        labels = methods[0].labels_
        classes, ideal = (labels, "clusters") if y is None else (y, "true classes")
        return cls.from_matrices(
            matrices, classes, labels=labels, ideal=ideal, resolution=resolution
        )

    @classmethod
    def from_matrices(
        cls,
        matrices: Mapping[str, Any],
        y: Any,
        *,
        labels: Any = None,
        ideal: str | None = "true classes",
        resolution: int = 480,
    ) -> Self:
        """Use any matrices over samples.

        Parameters
        ----------
        matrices : mapping of str to array or sparse matrix of shape (n_samples, n_samples)
            The matrices by name.
        y : array-like of shape (n_samples,)
            Classes, which order the samples. Samples with -1, None or NaN are left out.
        labels : array-like of shape (n_samples,), optional
            Clusters, which order the samples inside a class. By default samples keep their order.
        ideal : str or None, default="true classes"
            Name of the last image: 1 inside the classes, 0 elsewhere. None leaves it out.
        resolution : int, default=480
            Largest number of rows of an image, if there are fewer classes than that.
        """
        codes, names = code_labels(y, name="y")
        inner = np.zeros(len(codes), np.int64) if labels is None else code_labels(labels)[0]
        if len(inner) != len(codes):
            raise ValueError(f"labels has {len(inner)} entries and y {len(codes)}.")
        order = np.lexsort((inner, codes))
        order = order[codes[order] >= 0]
        sizes = np.bincount(codes[order], minlength=len(names))
        n_blocks = np.clip(np.rint(resolution * sizes / len(order)).astype(np.int64), 1, sizes)
        means = _block_averages(order, sizes, n_blocks, len(codes))
        images = {}
        for name, matrix in matrices.items():
            if np.shape(matrix) != (len(codes), len(codes)):
                raise ValueError(
                    f"Expected a matrix of shape {(len(codes), len(codes))} for {name!r}, one row "
                    f"per entry of y, got {np.shape(matrix)}."
                )
            values = matrix if sp.issparse(matrix) else np.asarray(matrix, np.float64)
            image = (means @ (means @ values).T).T
            images[name] = np.asarray(image.toarray() if sp.issparse(image) else image)
        if ideal is not None:
            own = np.repeat(np.arange(len(sizes)), n_blocks)
            images[ideal] = (own[:, None] == own).astype(np.float64)
        bounds = np.concatenate([[0], np.cumsum(n_blocks)])
        return cls(images, bounds, n_unlabeled=len(codes) - len(order))

    def plot(self, ax: Any = None, *, cmap: Any = None) -> Self:
        """Draw the images in one row.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes whose place the images take. By default a new figure.
        cmap : str or matplotlib Colormap, optional
            Color map. By default white to navy.
        """
        n = len(self.images)
        if ax is None:
            figure = new_figure(_PANEL * n, _PANEL + 0.6)
            self.axes_ = list(figure.subplots(1, n, squeeze=False)[0])
            ax = self.axes_[0]
        else:
            ax.set_axis_off()
            self.axes_ = [ax.inset_axes((i / n, 0.0, 0.94 / n, 1.0)) for i in range(n)]
        self.ax_, self.figure_ = ax, ax.figure
        for panel, (name, image) in zip(self.axes_, self.images.items(), strict=True):
            self._draw(panel, name, image, blues() if cmap is None else cmap)
        if self.n_unlabeled:
            caption = f"{self.n_unlabeled:,} samples without a class left out"
            self.axes_[0].set_ylabel(caption, color=MUTED, fontsize=8)
        return self

    def _draw(self, ax: Any, name: str, image: NDArray[np.float64], cmap: Any) -> None:
        n = len(image)
        off_diagonal = image[~np.eye(n, dtype=bool)] if n > 1 else image.ravel()
        largest = max(float(off_diagonal.max()), 0.0)
        ax.imshow(
            image,
            cmap=cmap,
            vmin=0.0,
            vmax=largest or 1.0,
            interpolation="nearest",
            extent=(0, n, n, 0),
            aspect="equal",
        )
        for bound in self.bounds[1:-1]:
            ax.axhline(bound, color=ON_IMAGE, lw=0.4, alpha=0.45)
            ax.axvline(bound, color=ON_IMAGE, lw=0.4, alpha=0.45)
        ax.set_xticks([])
        ax.set_yticks([])
        for spine in ax.spines.values():
            spine.set(color=INK, linewidth=0.8)
        ax.set_title(plain_text(name), loc="left", fontsize=10, color=INK)
        ax.set_xlabel(f"0 (white) to {largest:.3g} (navy)", color=MUTED, fontsize=8)


def _block_averages(
    order: NDArray[np.int64], sizes: NDArray[np.int64], n_blocks: NDArray[np.int64], n_samples: int
) -> Any:
    """Return a sparse matrix whose row averages the samples of one block.

    Each class is cut into blocks of almost equal size.
    """
    first_block = np.cumsum(n_blocks) - n_blocks
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    block = np.repeat(first_block, sizes) + place * np.repeat(n_blocks, sizes) // np.repeat(
        sizes, sizes
    )
    total = int(n_blocks.sum())
    shares = 1.0 / np.bincount(block, minlength=total)
    return sp.csr_matrix((shares[block], (block, order)), shape=(total, n_samples))
