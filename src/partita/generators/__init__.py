"""Generators of base partitions: scikit-learn transformers from features to labels."""

from __future__ import annotations

from partita.generators.generation import GENERATORS, generate, make_generator
from partita.generators.landmark_spectral import LandmarkSpectral
from partita.generators.mixed_estimators import MixedEstimators
from partita.generators.random_features import RandomFeatures
from partita.generators.random_k import RandomK
from partita.generators.random_leiden import RandomLeiden
from partita.generators.random_metrics import RandomMetrics
from partita.generators.random_projections import RandomProjections
from partita.generators.random_rows import RandomRows
from partita.generators.scaling import SCALES, make_scaler
from partita.generators.segmentation import segment
from partita.generators.spectral_bandwidths import SpectralBandwidths

__all__ = [
    "GENERATORS",
    "SCALES",
    "LandmarkSpectral",
    "MixedEstimators",
    "RandomFeatures",
    "RandomK",
    "RandomLeiden",
    "RandomMetrics",
    "RandomProjections",
    "RandomRows",
    "SpectralBandwidths",
    "generate",
    "make_generator",
    "make_scaler",
    "segment",
]
