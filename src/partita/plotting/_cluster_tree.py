"""`ClusterTreeDisplay`: clusters over resolutions as a tree."""

from __future__ import annotations

from typing import Any, Self

from partita.alignment import ClusterTree, cluster_tree
from partita.plotting._display import Display
from partita.plotting.style import INK, MUTED, blues, plain_text, text_on
from partita.select_k import KScan

__all__ = ["ClusterTreeDisplay"]

_LARGEST_NODE = 700  # area of a node with all samples, in square points
_NAMED_NODE = 90  # area from which a node has its name
_WIDEST_EDGE = 7.0  # of an edge with all samples, in points
_LEAST_SHARE = 0.05  # edges with a smaller share of the lower cluster are not drawn


class ClusterTreeDisplay(Display):
    """Clusters of several partitions as nodes, one row per partition from coarse to fine.

    A node's size is its number of samples, its color its stability (best Jaccard index in the
    other partitions, averaged): dark nodes persist. An edge's width is the number of samples that
    two clusters share, and it is the darker the more of the lower cluster comes from the upper one.
    A lower cluster with several edges mixes clusters: the resolution is too high there. Clusters
    are ordered such that few edges cross.

    Parameters
    ----------
    tree : ClusterTree
        The tree to draw.

    Examples
    --------
    >>> from partita.plotting import ClusterTreeDisplay
    >>> display = ClusterTreeDisplay.from_partitions({2: [0, 0, 1, 1], 3: [7, 7, 5, 6]})
    >>> display.tree.n_clusters
    array([2, 3])
    """

    def __init__(self, tree: ClusterTree) -> None:
        self.tree = tree

    @classmethod
    def from_scan(cls, scan: KScan) -> Self:
        """Use the consensus for each K of `scan_k` or `scan_k_features`.

        Parameters
        ----------
        scan : KScan
            Result of the scan.
        """
        return cls(cluster_tree(scan.labels))

    @classmethod
    def from_partitions(cls, partitions: Any) -> Self:
        """Use partitions of the same samples at several resolutions.

        Parameters
        ----------
        partitions : mapping of resolution to label vectors, list of label vectors, table, ...
            The partitions from coarse to fine, one per row.
        """
        return cls(cluster_tree(partitions))

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree; see `Display.plot`."""
        from matplotlib.colors import to_hex

        n_levels = len(self.tree.clusters)
        if ax is None:
            ax = self._new_figure(7.4, 1.2 + 0.62 * n_levels).add_subplot()
        self.ax_, self.figure_ = ax, ax.figure
        nodes, total = self.tree.node_records(), len(self.tree.labels)
        place = {
            (node["level"], node["cluster"]): self._place(node["level"], node["position"])
            for node in nodes
        }
        colors = blues()
        for edge in self.tree.edge_records():
            if edge["in_share"] < _LEAST_SHARE:
                continue
            (x0, y0), (x1, y1) = (
                place[edge["level"], edge["from_cluster"]],
                place[edge["level"] + 1, edge["to_cluster"]],
            )
            width = 0.5 + _WIDEST_EDGE * edge["n_samples"] / total
            ax.plot(
                [x0, x1],
                [y0, y1],
                color=INK,
                alpha=0.12 + 0.6 * edge["in_share"],
                lw=width,
                zorder=1,
            )
        for node in nodes:
            x, y = place[node["level"], node["cluster"]]
            area = max(_LARGEST_NODE * node["n_samples"] / total, 12.0)
            color = to_hex(colors(0.15 + 0.85 * node["stability"]))
            ax.scatter([x], [y], s=area, color=color, edgecolor=INK, lw=0.7, zorder=2)
            if area >= _NAMED_NODE:
                name = str(node["cluster"])
                ax.text(x, y, name, ha="center", va="center", fontsize=8, color=text_on(color))
        ax.set_xlim(-0.05, 1.05)
        ax.set_ylim(n_levels - 0.4, -0.6)
        ax.set_xticks([])
        names = self.tree.names or tuple(f"K = {k}" for k in self.tree.n_clusters)
        ax.set_yticks(range(n_levels), [plain_text(name) for name in names])
        ax.tick_params(length=0, labelsize=8, labelcolor=INK)
        for spine in ax.spines.values():
            spine.set_visible(False)
        ax.set_title("Clusters over resolutions", loc="left", fontsize=11, color=INK)
        caption = f"{total:,} samples; large nodes have many samples, dark nodes are stable"
        ax.set_xlabel(self._wrap(caption), fontsize=8, color=MUTED)
        return self

    def _place(self, level: int, position: int) -> tuple[float, float]:
        """Center a cluster above its share of the width."""
        return float((position + 0.5) / len(self.tree.clusters[level])), float(level)
