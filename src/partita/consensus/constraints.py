"""Constraints of parameters, for the `_parameter_constraints` of a method.

`fit` checks every parameter against its constraint before anything is computed. The names in
capitals are the constraints of parameters that many methods have in common.
"""

from __future__ import annotations

from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np

from partita._sklearn_compat import Interval, StrOptions
from partita.scale.checkpoint import Checkpoint
from partita.solvers.linkage import LINKAGES

__all__ = [
    "CHECKPOINT",
    "LINKAGE",
    "MAX_ITER",
    "NON_NEGATIVE",
    "N_CLUSTERS",
    "N_INIT",
    "PARTITION_WEIGHTS",
    "POSITIVE",
    "POSITIVE_INT",
    "RANDOM_STATE",
    "TOL",
    "Interval",
    "StrOptions",
]

POSITIVE_INT: list[Any] = [Interval(Integral, 1, None, closed="left")]
POSITIVE: list[Any] = [Interval(Real, 0, None, closed="neither")]
NON_NEGATIVE: list[Any] = [Interval(Real, 0, None, closed="left")]

N_CLUSTERS = POSITIVE_INT
N_INIT = POSITIVE_INT
MAX_ITER = POSITIVE_INT
TOL = NON_NEGATIVE
RANDOM_STATE: list[Any] = ["random_state", np.random.Generator]
LINKAGE: list[Any] = [StrOptions(set(LINKAGES))]
PARTITION_WEIGHTS: list[Any] = ["array-like", None]
CHECKPOINT: list[Any] = [str, PathLike, Checkpoint, None]
