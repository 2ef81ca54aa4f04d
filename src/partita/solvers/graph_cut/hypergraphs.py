"""Balanced cut of a hypergraph: parts of about equal weight that leave many nets whole."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partita.solvers.graph_cut.capacities import Seats
from partita.solvers.graph_cut.links import Links
from partita.solvers.graph_cut.refinement import Cut, Starts, balanced_cut, kmeans_starts
from partita.solvers.transfer_cut import transfer_cut_embedding

__all__ = ["KAHYPAR_PINS", "cut_hypergraph"]

KAHYPAR_PINS = 10_000  # "auto" leaves larger hypergraphs to the built-in procedure
_VERTEX_TOTAL = 1e6
# recursive bisection with a two-way local search; KaHyPar's package brings no settings of its own
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
    """Parts of about equal weight such that few nets have pins in more than one of them.

    Parameters
    ----------
    incidence : sparse matrix of shape (n, p), 0/1
        Vertices and the nets they are pins of.
    weights : array of shape (n,)
        Weights of the vertices, which are shared evenly.
    n_parts : int
    rng : Generator
    balance : float
        A part may hold (1 + balance) times its share.
    n_init : int
        Starts, of which the smallest cut is kept.
    partitioner : {"auto", "kahypar", "builtin"}
        Who makes the starts; the built-in ones come from the normalized cut of the hypergraph's
        clique expansion, a net of size s weighing 1/s, and one of them joins KaHyPar's.
    task : str
        Name for the progress callback.
    """
    links = Links.of_nets(incidence, np.ones(incidence.shape[0]), whole=True)

    def spectral(number: int) -> Iterator[NDArray[np.int64]]:
        size = np.maximum(incidence.T @ weights, 1e-300)
        _, embedding = transfer_cut_embedding(incidence @ sp.diags(1 / size), weights, n_parts)
        return kmeans_starts(embedding, weights, n_parts, rng, number)

    def kahypar_and_spectral(seats: Seats) -> Iterator[NDArray[np.int64]]:
        """Neither finds the smaller cut every time."""
        return chain(spectral(1), _kahypar_starts(links, weights, seats, balance, rng, n_init))

    return balanced_cut(
        links,
        weights,
        n_parts,
        rng,
        outside=Starts("kahypar", n_init + 1, kahypar_and_spectral),
        builtin=Starts("builtin", n_init, lambda seats: spectral(n_init)),
        fits=incidence.nnz <= KAHYPAR_PINS,
        balance=balance,
        partitioner=partitioner,
        task=task,
    )


def _kahypar_starts(
    links: Links,
    weights: NDArray[np.float64],
    seats: Seats,
    balance: float,
    rng: np.random.Generator,
    n_init: int,
) -> Iterator[NDArray[np.int64]]:
    """Multilevel recursive bisection by KaHyPar, from different seeds."""
    import kahypar

    n, n_parts = links.n_vertices, len(seats.share)
    pins = np.diff(links.pin_start)
    divisible = pins > 1  # KaHyPar crashes on nets of one pin, which nothing can cut
    n_nets = int(divisible.sum())
    if n_nets == 0:
        yield from (seats.packing for _ in range(n_init))
        return
    pin_start = np.concatenate([[0], np.cumsum(pins[divisible])]).tolist()
    pin = links.pin[np.repeat(divisible, pins)].tolist()
    unit = _VERTEX_TOTAL / weights.sum()
    vertices = np.maximum(1, np.rint(weights * unit)).astype(int).tolist()
    limits = np.ceil(seats.capacity * unit + n).astype(int).tolist()
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
            context.setCustomTargetBlockWeights(limits)
            context.setSeed(int(rng.integers(2**31)))
            graph = kahypar.Hypergraph(n, n_nets, pin_start, pin, n_parts, [1] * n_nets, vertices)
            kahypar.partition(graph, context)
            yield np.asarray([graph.blockID(v) for v in range(n)], np.int64)
