"""Pictures, in scikit-learn's Display manner: computed once, drawn where you like.

matplotlib is imported when something is drawn.
"""

from partita.plotting._display import Display
from partita.plotting._style import PALETTE, save_figure
from partita.plotting.agreement import AgreementDisplay
from partita.plotting.blocks import BlockMeans, block_means
from partita.plotting.comparison import ComparisonDisplay
from partita.plotting.confidence import ConfidenceDisplay
from partita.plotting.consensus import ConsensusDisplay
from partita.plotting.convergence import ConvergenceDisplay
from partita.plotting.overview import draw_overview
from partita.plotting.scan import ScanDisplay
from partita.plotting.scores import ScoresDisplay
from partita.plotting.tracking import TrackingDisplay

__all__ = [
    "PALETTE",
    "AgreementDisplay",
    "BlockMeans",
    "ComparisonDisplay",
    "ConfidenceDisplay",
    "ConsensusDisplay",
    "ConvergenceDisplay",
    "Display",
    "ScanDisplay",
    "ScoresDisplay",
    "TrackingDisplay",
    "block_means",
    "draw_overview",
    "save_figure",
]
