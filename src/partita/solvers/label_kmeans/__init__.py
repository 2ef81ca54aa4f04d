"""k-means on rows of labels, with rows in memory, in a store or on a Dask cluster.

`label_kmeans` runs the restarts; a `Geometry` defines the cost of a row in a group;
`initializations` makes the groups that each restart begins with.
"""

from __future__ import annotations

from partita.solvers.label_kmeans._geometry import Geometry, RowTerms, row_terms_of
from partita.solvers.label_kmeans._initialization import initializations
from partita.solvers.label_kmeans._iteration import LabelKMeansResult, label_kmeans
from partita.solvers.label_kmeans._merging import max_initial_groups
from partita.solvers.label_kmeans._seeds import (
    RowSample,
    draw_seeds,
    is_sampled,
    seed_statistics,
)
from partita.solvers.label_kmeans._single_run import single_run
from partita.solvers.label_kmeans._statistics import (
    GroupStatistics,
    RowFormat,
    group_statistics,
    kmeans_work,
    move_rows,
    overall_statistics,
    row_costs,
)
from partita.solvers.label_kmeans._tables import Tables, table_work
from partita.solvers.label_kmeans._utilities import UTILITIES, UtilityGeometry

__all__ = [
    "UTILITIES",
    "Geometry",
    "GroupStatistics",
    "LabelKMeansResult",
    "RowFormat",
    "RowSample",
    "RowTerms",
    "Tables",
    "UtilityGeometry",
    "draw_seeds",
    "group_statistics",
    "initializations",
    "is_sampled",
    "kmeans_work",
    "label_kmeans",
    "max_initial_groups",
    "move_rows",
    "overall_statistics",
    "row_costs",
    "row_terms_of",
    "seed_statistics",
    "single_run",
    "table_work",
]
