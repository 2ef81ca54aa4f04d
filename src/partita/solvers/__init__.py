"""Numerical procedures that know matrices and weights, not papers."""

from partita.solvers.affinity import agglomerate_affinity
from partita.solvers.agglomerate import Tree, agglomerate, spanning_tree
from partita.solvers.components import connected_components
from partita.solvers.discretise import discretise
from partita.solvers.kmeans import weighted_kmeans
from partita.solvers.spectral import spectral_clustering, spectral_embedding, top_eigenvectors
from partita.solvers.transfer_cut import transfer_cut, transfer_cut_embedding

__all__ = [
    "Tree",
    "agglomerate",
    "agglomerate_affinity",
    "connected_components",
    "discretise",
    "spanning_tree",
    "spectral_clustering",
    "spectral_embedding",
    "top_eigenvectors",
    "transfer_cut",
    "transfer_cut_embedding",
    "weighted_kmeans",
]
