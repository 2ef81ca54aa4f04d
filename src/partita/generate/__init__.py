"""Generators of base partitions: scikit-learn transformers from features to a label matrix."""

from __future__ import annotations

from partita.generate.mixed_estimators import MixedEstimators
from partita.generate.random_features import RandomFeatures
from partita.generate.random_k import RandomK
from partita.generate.random_projections import RandomProjections
from partita.generate.random_rows import RandomRows
from partita.generate.segmentation import segment_rows
from partita.generate.spectral_bandwidths import SpectralBandwidths

__all__ = [
    "MixedEstimators",
    "RandomFeatures",
    "RandomK",
    "RandomProjections",
    "RandomRows",
    "SpectralBandwidths",
    "segment_rows",
]
