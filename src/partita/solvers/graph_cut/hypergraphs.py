"""Balanced cut of a hypergraph into parts of about equal weight that cut few nets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita._packages import require_package
from partita.solvers.graph_cut._adjacency import NETS, Adjacency
from partita.solvers.graph_cut._balanced import (
    Cut,
    Initialization,
    balanced_cut,
    kmeans_groups,
)
from partita.solvers.graph_cut._part_limits import PartLimits
from partita.solvers.transfer_cuts import transfer_cut_embedding

__all__ = ["KAHYPAR_PINS", "cut_hypergraph"]

KAHYPAR_PINS = 10_000  # "auto" uses KaHyPar up to this size
_VERTEX_TOTAL = 1e6
# Recursive bisection with a two-way local search. The package of KaHyPar contains no settings.
_KAHYPAR_SETTINGS = {
    "mode": "recursive",
    "objective": "cut",
    "cmaxnet": -1,
    "vcycles": 0,
    "c-type": "heavy_lazy",
    "c-s": 3.25,
    "c-t": 160,
    "c-rating-score": "heavy_edge",
    "c-rating-use-communities": "false",
    "c-rating-heavy_node_penalty": "multiplicative",
    "c-rating-acceptance-criterion": "best",
    "c-fixed-vertex-acceptance-criterion": "free_vertex_only",
    "i-mode": "direct",
    "i-technique": "flat",
    "i-algo": "pool",
    "i-runs": 5,
    "i-bp-algorithm": "worst_fit",
    "i-r-type": "twoway_fm",
    "i-r-runs": -1,
    "i-r-fm-stop": "simple",
    "i-r-fm-stop-i": 50,
    "r-type": "twoway_fm",
    "r-runs": -1,
    "r-fm-stop": "adaptive_opt",
    "r-fm-stop-alpha": 1,
    "r-fm-stop-i": 350,
}


def cut_hypergraph(
    incidence: Any,
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
    *,
    balance: float,
    n_init: int,
    partitioner: str,
    task: str,
) -> Cut:
    """Divide a hypergraph into parts of about equal weight so that few nets are cut.

    A net is cut if it has pins in more than one part.

    Parameters
    ----------
    incidence : sparse matrix of shape (n, p), 0/1
        Vertices and the nets they are pins of.
    weights : array of shape (n,)
        Weights of the vertices, which are balanced between the parts.
    n_parts : int
        Number of parts.
    rng : Generator
        Source of random numbers.
    balance : float
        A part may hold (1 + balance) times its share.
    n_init : int
        Number of initial partitions; the smallest cut is kept.
    partitioner : {"auto", "kahypar", "builtin"}
        What makes the initial partitions. The built-in ones come from the normalized cut of the
        clique expansion of the hypergraph, in which a net of size s weighs 1/s. One of them is
        added to those of KaHyPar.
    task : str
        Name for the progress callback.
    """
    adjacency = Adjacency.of_nets(incidence, np.ones(incidence.shape[0]), NETS)

    def spectral(n_init: int) -> Iterator[NDArray[np.int64]]:
        size = np.maximum(incidence.T @ weights, 1e-300)
        _, embedding = transfer_cut_embedding(incidence @ sp.diags(1 / size), weights, n_parts)
        return kmeans_groups(embedding, weights, n_parts, rng, n_init)

    def kahypar_and_spectral(limits: PartLimits) -> Iterator[NDArray[np.int64]]:
        """Use both: neither finds the smaller cut every time."""
        kahypar = _kahypar_groups(adjacency, weights, limits, balance, rng, n_init)
        return chain(spectral(1), kahypar)

    return balanced_cut(
        adjacency,
        weights,
        n_parts,
        rng,
        external=Initialization("kahypar", n_init + 1, kahypar_and_spectral),
        builtin=Initialization("builtin", n_init, lambda limits: spectral(n_init)),
        fits_external=incidence.nnz <= KAHYPAR_PINS,
        balance=balance,
        partitioner=partitioner,
        task=task,
    )


def _kahypar_groups(
    adjacency: Adjacency,
    weights: NDArray[np.float64],
    limits: PartLimits,
    balance: float,
    rng: np.random.Generator,
    n_init: int,
) -> Iterator[NDArray[np.int64]]:
    """Yield multilevel recursive bisections by KaHyPar, one per seed."""
    kahypar = require_package("kahypar", 'Methods with partitioner="kahypar"', "partita[graph]")
    n, n_parts = adjacency.n_vertices, len(limits.share)
    pins = np.diff(adjacency.pin_start)
    is_divisible = pins > 1  # KaHyPar crashes on nets of one pin, which cannot be cut
    n_nets = int(is_divisible.sum())
    if n_nets == 0:
        yield from (limits.packing for _ in range(n_init))
        return
    pin_start = np.concatenate([[0], np.cumsum(pins[is_divisible])]).tolist()
    pin = adjacency.pin[np.repeat(is_divisible, pins)].tolist()
    unit = _VERTEX_TOTAL / weights.sum()
    vertices = np.maximum(1, np.rint(weights * unit)).astype(int).tolist()
    capacities = np.ceil(limits.capacity * unit + n).astype(int).tolist()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "settings.ini"
        lines = (f"{name}={value}\n" for name, value in _KAHYPAR_SETTINGS.items())
        settings.write_text("".join(lines), encoding="utf-8")
        for _ in range(n_init):
            context = kahypar.Context()
            context.loadINIconfiguration(str(settings))
            context.suppressOutput(True)
            context.setK(n_parts)
            context.setEpsilon(balance)
            context.setCustomTargetBlockWeights(capacities)
            context.setSeed(int(rng.integers(2**31)))
            graph = kahypar.Hypergraph(n, n_nets, pin_start, pin, n_parts, [1] * n_nets, vertices)
            kahypar.partition(graph, context)
            yield np.asarray([graph.blockID(v) for v in range(n)], np.int64)
