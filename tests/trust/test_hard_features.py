"""Every generator on hard features: partitions of the samples or a documented exception."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from outcomes import REFUSED, outcome
from sklearn.cluster import KMeans

from partita import EnsembleClustering
from partita._packages import is_installed
from partita.generators import (
    LandmarkSpectral,
    MixedEstimators,
    RandomFeatures,
    RandomK,
    RandomLeiden,
    RandomMetrics,
    RandomProjections,
    RandomRows,
    SpectralBandwidths,
)
from tried_cases import examples

pytestmark = [
    pytest.mark.properties,
    pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning"),
]
GENERATORS = [
    RandomK(2, random_state=0),
    RandomFeatures(2, ratio=0.5, random_state=0),
    RandomProjections(2, random_state=0),
    RandomRows(2, random_state=0),
    LandmarkSpectral(2, random_state=0),
    RandomMetrics(2, random_state=0),
    SpectralBandwidths(2, multipliers=[0.5, 5.0], n_init=1, random_state=0),
    MixedEstimators([KMeans(1, n_init=1)], random_state=0),
]
if is_installed("igraph") and is_installed("leidenalg"):
    GENERATORS.append(RandomLeiden(2, random_state=0))

every_generator = pytest.mark.parametrize("generator", GENERATORS, ids=lambda g: type(g).__name__)
HARD_FEATURES = {
    "one sample": np.ones((1, 2)),
    "one feature": np.arange(6.0)[:, None],
    "two samples": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "equal samples": np.ones((7, 3)),
    "two values": np.repeat([[0.0, 0.0], [1.0, 1.0]], 4, axis=0),
    "constant column": np.c_[np.ones(8), np.arange(8.0)],
    "columns of very different scale": np.c_[np.arange(8.0) * 1e-150, np.arange(8.0) * 1e149],
    "tiny numbers": np.arange(16.0).reshape(8, 2) * 1e-300,
    "large numbers": np.arange(16.0).reshape(8, 2) * 1e148,
    "one outlier": np.r_[np.zeros((7, 2)), [[1e150, 0.0]]],
    "integers": np.arange(16).reshape(8, 2),
    "big-endian": np.arange(16.0).reshape(8, 2).astype(">f8"),
    "every second row": np.arange(32.0).reshape(16, 2)[::2],
    "float32": np.arange(16, dtype=np.float32).reshape(8, 2),
    "large float32": np.arange(16, dtype=np.float32).reshape(8, 2) * np.float32(1e36),
    "wide": np.random.default_rng(0).normal(size=(5, 40)),
}
REFUSED_FEATURES = {
    "NaN": (np.array([[np.nan, 1.0], [0.0, 1.0]]), "NaN"),
    "infinity": (np.array([[np.inf, 1.0], [0.0, 1.0]]), "infinity"),
    "huge numbers": (np.arange(4.0).reshape(2, 2) * 1e307, r"absolute value of 3e\+307"),
    "an extreme outlier": (np.array([[0.0], [-1e200]]), r"absolute value of 1e\+200"),
    "no samples": (np.empty((0, 2)), "0 sample"),
    "no features": (np.empty((3, 0)), "0 feature"),
    "one dimension": (np.arange(3.0), "2D array"),
    "complex": (np.ones((3, 2), complex), "Complex"),
    "text": (np.array([["a", "b"], ["c", "d"]]), "could not convert|dtype='numeric'"),
}


def check_generator(generator, X):
    """Generate partitions and check their shape, values and that the features stay."""
    original = X.copy()
    labels = outcome(lambda: generator.fit_transform(X))
    np.testing.assert_array_equal(X, original)
    if labels is REFUSED:
        return
    assert labels.shape[0] == len(X)
    assert labels.dtype == np.int32
    assert labels.min() >= -1
    assert (labels >= 0).any(axis=0).all(), "a partition without any label"


@every_generator
@pytest.mark.parametrize("name", HARD_FEATURES)
def test_hard_features(generator, name):
    check_generator(generator, HARD_FEATURES[name])


@every_generator
@pytest.mark.parametrize("name", REFUSED_FEATURES)
def test_what_is_refused(generator, name):
    X, words = REFUSED_FEATURES[name]
    with pytest.raises(ValueError, match=words):
        generator.fit_transform(X)


SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 4))
TIED = hnp.arrays(np.float64, SHAPES, elements=st.integers(-2, 2).map(float))
WIDE = hnp.arrays(np.float64, SHAPES, elements=st.floats(-1e100, 1e100, allow_subnormal=True))


@examples(25)
@given(X=TIED | WIDE)
def test_drawn_features(X):
    for generator in GENERATORS:
        try:
            check_generator(generator, X)
        except BaseException as error:
            error.add_note(repr(generator))
            raise


@examples(12)
@given(X=TIED)
def test_features_to_labels(X):
    """A generator and a method together, also where all samples are equal."""
    clustering = EnsembleClustering(
        min(2, len(X)), generator=RandomK(3, random_state=0), random_state=0
    )
    labels = outcome(lambda: clustering.fit_predict(X))
    assert labels is REFUSED or (labels.shape == (len(X),) and labels.min() >= 0)
