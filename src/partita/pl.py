"""Figures of a consensus in an AnnData or a MuData, named and shaped as those of scanpy.

Every function draws into `ax`, or into a new figure, and returns the display: a notebook shows it,
and `save` writes it. scanpy draws the clusters on an embedding: `sc.pl.umap(adata,
color=["consensus", "consensus_confidence"])`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partita.alignment import cluster_tree as _cluster_tree
from partita.ensemble import Ensemble
from partita.plotting import (
    AgreementDisplay,
    ClusterTreeDisplay,
    ConfidenceDisplay,
    ConsensusDisplay,
)
from partita.tl import partitions

__all__ = ["agreement", "cluster_tree", "confidence", "consensus"]


def consensus(data: Any, name: str = "consensus", *, ax: Any = None) -> ConsensusDisplay:
    """Draw how often pairs of cells are together, in the order of the clusters.

    Parameters
    ----------
    data : AnnData or MuData
        The cells, after `partita.tl.consensus`.
    name : str, default="consensus"
        Name of the consensus.
    ax : matplotlib Axes, optional
        Axes to draw into. By default those of a new figure.
    """
    return ConsensusDisplay.from_labels(partitions(data, name), data.obs[name]).plot(ax)


def confidence(data: Any, name: str = "consensus", *, ax: Any = None) -> ConfidenceDisplay:
    """Draw the confidence of the cells of every cluster.

    Parameters
    ----------
    data : AnnData or MuData
        The cells, after `partita.tl.consensus`.
    name : str, default="consensus"
        Name of the consensus.
    ax : matplotlib Axes, optional
        Axes to draw into. By default those of a new figure.
    """
    return ConfidenceDisplay.from_labels(partitions(data, name), data.obs[name]).plot(ax)


def agreement(data: Any, name: str = "consensus", *, ax: Any = None) -> AgreementDisplay:
    """Draw how well every partition agrees with the consensus.

    Parameters
    ----------
    data : AnnData or MuData
        The cells, after `partita.tl.consensus`.
    name : str, default="consensus"
        Name of the consensus.
    ax : matplotlib Axes, optional
        Axes to draw into. By default those of a new figure.
    """
    return AgreementDisplay.from_labels(partitions(data, name), data.obs[name]).plot(ax)


def cluster_tree(data: Any, columns: Sequence[str] | str, *, ax: Any = None) -> ClusterTreeDisplay:
    """Draw where the clusters of one resolution go in the next one, as clustree does.

    Parameters
    ----------
    data : AnnData or MuData
        The cells.
    columns : str or sequence of str
        Columns of `obs` from coarse to fine, by name or pattern such as "leiden_*"; a pattern takes
        them in their order in `obs`.
    ax : matplotlib Axes, optional
        Axes to draw into. By default those of a new figure.
    """
    ensemble = Ensemble.from_anndata(data, columns, unlabeled="keep")
    return ClusterTreeDisplay(_cluster_tree(ensemble)).plot(ax)
