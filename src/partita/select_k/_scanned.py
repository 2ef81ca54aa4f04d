"""What a scan needs of features: partitions, reference data without clusters, other evidence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from partita.ensemble import Ensemble
from partita.generators.generation import cuts_a_graph, generate_for_each
from partita.select_k._evidence import Evidence

__all__ = ["ScannedFeatures", "ScannedTable"]


class ScannedFeatures(ABC):
    """Features whose number of clusters is scanned.

    Attributes
    ----------
    n_samples : int
        Number of samples.
    gap_is_tested : bool
        Whether a number needs a gap in the spectrum of the graph. Otherwise the gap only weighs.
    """

    n_samples: int
    gap_is_tested: ClassVar[bool] = True

    @abstractmethod
    def partitions(self, numbers: Sequence[int], random_state: int) -> Iterator[Ensemble]:
        """Yield partitions of the features into each of several numbers of clusters."""

    @property
    def is_made_at_once(self) -> bool:
        """Whether the partitions into all numbers share work, and depend on all numbers."""
        return False

    @abstractmethod
    def reference(self, rng: np.random.Generator) -> Self:
        """Return features without clusters, with as many samples."""

    @abstractmethod
    def subset(self, rows: NDArray[np.int64]) -> Self:
        """Return the features of some samples."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """Return what else is judged of clusters of these features."""

    def spectral_gaps(self, numbers: Sequence[int]) -> NDArray[np.float64] | None:
        """Return the gap in the spectrum of the graph of neighbors for each number of clusters.

        If it is not tested, no gap of shapes without clusters is subtracted from it. None if the
        features are no single graph that the partitions cut.
        """
        return None

    def has_valley(self, labels: NDArray[np.int64]) -> bool:
        """Return whether valleys of density separate clusters; True where this is not tested."""
        return True


class ScannedTable(ScannedFeatures):
    """One table of features and the generator of its partitions.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Features.
    generator : generator
        What makes the partitions.
    """

    def __init__(self, X: Any, generator: Any) -> None:
        self._X, self._generator = X, generator
        self.n_samples = X.shape[0]

    def partitions(self, numbers: Sequence[int], random_state: int) -> Iterator[Ensemble]:
        return generate_for_each(self._X, self._generator, numbers, random_state=random_state)

    @property
    def is_made_at_once(self) -> bool:
        return cuts_a_graph(self._generator)

    def subset(self, rows: NDArray[np.int64]) -> Self:
        return type(self)(self._X[rows], self._generator)

    def evidence(self) -> Evidence:
        return Evidence.of_features(self._X, is_graph=cuts_a_graph(self._generator))
