"""`hierarchical_consensus`: a tree of clusters without a number of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita._data_frames import frame_of_records, html_of_records
from partita._input.checks import random_generator
from partita._numbering import number_by_appearance
from partita.ensemble import as_ensemble
from partita.generators.generation import warn_if_generated
from partita.structure._levels import arrange
from partita.structure._splitting import grow

__all__ = ["Hierarchy", "hierarchical_consensus"]


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """A tree of clusters. Made by `hierarchical_consensus`.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The finest level: one cluster per leaf of the tree; -1 for a sample without any label.
    levels : list of arrays of shape (n_samples,)
        All levels from coarse to fine. The first is one cluster, the last is `labels`. A cluster
        that is not divided further stays the same.
    tree : list of dict
        One dictionary per cluster of the tree, parents first:

        - ``node``, ``parent``: number of the cluster and of the one that contains it, -1 for none;
        - ``level``: the first level that has the cluster;
        - ``cluster``: its label in that level;
        - ``n_samples``: its size;
        - ``n_parts``: number of parts it is divided into, 0 for a leaf;
        - ``similarity``: mean co-association of samples in different parts, NaN for a leaf;
        - ``p_value``: of dividing it, the largest one if there are more than two parts; NaN if
          there was nothing to divide.
    alpha : float
        Level of the tests.
    """

    labels: NDArray[np.int64]
    levels: list[NDArray[np.int64]]
    tree: list[dict[str, Any]]
    alpha: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the finest level."""
        return int(self.labels.max()) + 1

    def to_frame(self) -> Any:
        """Return the tree as a data frame, one row per cluster.

        Of the first of pandas, polars and pyarrow that is installed; if none is, the list of
        dictionaries.
        """
        return frame_of_records(self.tree)

    def _repr_html_(self) -> str:
        return html_of_records(self.tree, caption=repr(self).splitlines()[0])

    def __repr__(self) -> str:
        if len(self.levels) == 1:
            return f"Hierarchy: no division is significant (alpha {self.alpha:g})"
        sizes = ", ".join(str(int(level.max()) + 1) for level in self.levels)
        lines = [f"Hierarchy: levels of {sizes} clusters (alpha {self.alpha:g})"]
        lines += self._lines(0)
        return "\n".join(lines)

    def _lines(self, node: int) -> list[str]:
        record = self.tree[node]
        text = f"{'  ' * (record['level'] + 1)}{record['n_samples']} samples"
        if record["n_parts"]:
            text += f": {record['n_parts']} parts, similarity {record['similarity']:.2f}"
        if not np.isnan(record["p_value"]):
            text += f", p = {record['p_value']:.2g}"
        parts = [r["node"] for r in self.tree if r["parent"] == node]
        return [text, *(line for part in parts for line in self._lines(part))]


def hierarchical_consensus(
    partitions: Any, alpha: float = 0.05, *, n_null: int | None = None, random_state: Any = None
) -> Hierarchy:
    """Find a hierarchy of clusters in which every division beats a permutation null.

    A cluster is divided in two such that the parts explain as much as possible of the disagreement
    of its labels (2-means on rows of incidence). The division is kept if it explains more than that
    of permuted labels does: in every partition, the labels of the samples of this cluster are
    permuted, so that the sizes stay and the agreement is that of chance. Kept parts are divided
    further. A division starts a new level if the similarity of its parts exceeds that of the
    division above by more than 0.1; otherwise both are one division into three or more parts.

    Parameters
    ----------
    partitions : table of labels, data frame, list of label vectors, Ensemble or LabelStore
        The base partitions, best with different numbers of clusters. All samples count alike.
    alpha : float, default=0.05
        Probability that labels without any agreement are divided. A cluster of s of n samples is
        tested at the level alpha (s - 1) / (n - 1).
    n_null : int, optional
        Number of permutations per test, at least 2. By default 1 / alpha - 1, but not fewer
        than 19.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    Hierarchy
        The finest level as `labels`, every level, and the tree with similarities and p-values.

    Notes
    -----
    Cost O(n m) per level for the divisions; a test uses at most 1,000 samples of a cluster. There
    is no n x n matrix. A missing label takes no part. Partitions that cut data without clusters at
    the same places, as k-means does, agree more than by chance: labels alone cannot tell such cuts
    from clusters, and `scan_k_features` can. A warning says so if the names of the partitions show
    that `partita.generate` made them. The paper's null, which also permutes labels, has the same
    limit.

    Deviations from the paper: it compares every pair of samples with the permutation null, which
    needs n x n numbers, and divides by modularity; here one test decides on a whole division. The
    adjustment of the level to the size is that of Kimes et al.

    References
    ----------
    L. G. S. Jeub, O. Sporns, S. Fortunato. Multiresolution consensus clustering in networks.
    Scientific Reports 8, 2018. https://doi.org/10.1038/s41598-018-21352-7

    P. K. Kimes, Y. Liu, D. N. Hayes, J. S. Marron. Statistical significance for hierarchical
    clustering. Biometrics 73(3), 2017. https://doi.org/10.1111/biom.12647

    Examples
    --------
    >>> import numpy as np
    >>> from partita.structure import hierarchical_consensus
    >>> fine = np.repeat([0, 1, 2, 3], 10)
    >>> hierarchy = hierarchical_consensus([fine // 2, fine, fine // 2, fine], random_state=0)
    >>> [int(level.max()) + 1 for level in hierarchy.levels]
    [1, 2, 4]
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be a level between 0 and 1 (both excluded), got {alpha!r}.")
    if n_null is None:
        n_null = max(19, int(np.ceil(1 / alpha - 1e-9)) - 1)
    elif n_null < 2:
        raise ValueError(f"n_null must be at least 2 permutations, got {n_null!r}.")
    ensemble = as_ensemble(partitions)
    warn_if_generated(ensemble, "this tree may divide clusters that are one")
    ensemble = ensemble.compress()
    inverse = np.asarray(ensemble.inverse)
    counts = np.bincount(inverse[inverse >= 0], minlength=ensemble.n_rows)
    root = grow(ensemble, counts, alpha, n_null, random_generator(random_state))
    tree, rows = arrange(root)
    levels = [number_by_appearance(ensemble.expand(level))[0] for level in rows]
    first = np.full(ensemble.n_rows, len(inverse))
    np.minimum.at(first, inverse[inverse >= 0], np.flatnonzero(inverse >= 0))
    records = [
        {
            "node": node.number,
            "parent": node.parent,
            "level": node.level,
            "cluster": int(levels[node.level][first[node.rows[0]]]),
            "n_samples": node.n_samples,
            "n_parts": node.n_parts,
            "similarity": node.similarity,
            "p_value": node.p_value,
        }
        for node in tree
    ]
    return Hierarchy(levels[-1], levels, records, alpha)
