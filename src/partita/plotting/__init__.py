"""Pictures, in scikit-learn's Display manner: computed once, drawn where you like.

matplotlib is imported when something is drawn.
"""

from partita.plotting._style import save_figure
from partita.plotting.blocks import BlockMeans, block_means
from partita.plotting.consensus import ConsensusDisplay
from partita.plotting.overview import draw_overview
from partita.plotting.scores import ScoresDisplay

__all__ = [
    "BlockMeans",
    "ConsensusDisplay",
    "ScoresDisplay",
    "block_means",
    "draw_overview",
    "save_figure",
]
