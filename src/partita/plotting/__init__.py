"""Figures as Display objects, as in scikit-learn: computed once, drawn into any axes.

matplotlib is imported when a figure is drawn.
"""

from partita.plotting._agreement import AgreementDisplay
from partita.plotting._blocks import BlockMeans, block_means
from partita.plotting._cluster_colors import cluster_colors
from partita.plotting._cluster_tree import ClusterTreeDisplay
from partita.plotting._comparison import ComparisonDisplay
from partita.plotting._confidence import ConfidenceDisplay
from partita.plotting._consensus import ConsensusDisplay
from partita.plotting._convergence import ConvergenceDisplay
from partita.plotting._display import Display
from partita.plotting._embedding import EmbeddingDisplay
from partita.plotting._matrix import MatrixDisplay
from partita.plotting._overview import draw_overview
from partita.plotting._scan import ScanDisplay
from partita.plotting._scan_matrices import ScanMatricesDisplay
from partita.plotting._scores import ScoresDisplay
from partita.plotting._tracking import TrackingDisplay
from partita.plotting.style import PALETTE, save_figure

__all__ = [
    "PALETTE",
    "AgreementDisplay",
    "BlockMeans",
    "ClusterTreeDisplay",
    "ComparisonDisplay",
    "ConfidenceDisplay",
    "ConsensusDisplay",
    "ConvergenceDisplay",
    "Display",
    "EmbeddingDisplay",
    "MatrixDisplay",
    "ScanDisplay",
    "ScanMatricesDisplay",
    "ScoresDisplay",
    "TrackingDisplay",
    "block_means",
    "cluster_colors",
    "draw_overview",
    "save_figure",
]
