"""Numerical procedures on matrices and weights, shared by the consensus methods."""

from partita.solvers.affinity_linkage import agglomerate_affinity
from partita.solvers.components import connected_components
from partita.solvers.discretization import discretize
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.linkage import Tree, agglomerate, spanning_tree
from partita.solvers.spectral import spectral_clustering, spectral_embedding, top_eigenvectors
from partita.solvers.transfer_cuts import transfer_cut, transfer_cut_embedding

__all__ = [
    "Tree",
    "agglomerate",
    "agglomerate_affinity",
    "connected_components",
    "discretize",
    "spanning_tree",
    "spectral_clustering",
    "spectral_embedding",
    "top_eigenvectors",
    "transfer_cut",
    "transfer_cut_embedding",
    "weighted_kmeans",
]
