"""Counts of terms with and without topics, and real texts, for `choosing_k`."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

__all__ = ["NOISE_TEXTS", "TEXTS", "TOPICS", "one_topic", "topics"]

TOPICS = (4, 8, 15)
NOISE_TEXTS = (
    "equal lengths",
    "varied lengths",
    "bursty",
    "bursty, varied lengths",
    "presence of terms",
    "random weights",
    "bursty, tf-idf",
    "few terms",
)
# Counts of terms with classes; those of `benchmarks.generators`.
TEXTS = ("tr11", "tr12", "tr23", "tr41", "tr45", "re0", "re1", "wap", "k1b", "hitech", "fbis")

Points = NDArray[np.float64]


def topics(n_topics: int, seed: int) -> tuple[sp.csr_matrix, int]:
    """Return counts of texts that are each about one topic, and the number of topics.

    30 to 70 % of the terms of a text come from its topic, which prefers some of the terms. The
    others are common to all. Half of the sets are bursty, half have topics of unequal sizes.
    """
    rng = np.random.default_rng([8200 + n_topics, seed])
    n = max(30 * n_topics, int(rng.choice([300, 600, 1000])))
    n_terms = int(rng.choice([1000, 4000, 12000]))
    sizes = np.ones(n_topics) if rng.random() < 0.5 else rng.dirichlet(np.full(n_topics, 3.0))
    sizes = np.maximum(sizes / sizes.sum(), 0.4 / n_topics)
    topic = rng.choice(n_topics, n, p=sizes / sizes.sum())
    common, share = _zipf(n_terms, rng), rng.uniform(0.3, 0.7)
    special = common * rng.gamma(0.1, 1.0, (n_topics, n_terms))
    terms = (1 - share) * common + share * special / special.sum(axis=1, keepdims=True)
    burst = rng.uniform(50, 200) if rng.random() < 0.5 else None
    lengths = _lengths(n, rng, varied=True, mean=int(rng.choice([80, 150, 300])))
    return _texts(terms, topic, lengths, burst, rng), n_topics


def one_topic(kind: str, seed: int) -> sp.csr_matrix:
    """Return texts without topics: 150 to 1000 of them, with 300 to 12000 terms."""
    rng = np.random.default_rng([8100 + NOISE_TEXTS.index(kind), seed])
    n, n_terms = int(rng.choice([150, 300, 600, 1000])), int(rng.choice([300, 1000, 4000, 12000]))
    if kind == "random weights":
        density = float(rng.choice([0.01, 0.05]))
        X = sp.random(
            n, n_terms, density, "csr", random_state=rng, data_rvs=rng.standard_exponential
        )
        return X[np.diff(X.indptr) > 0]
    varied = kind in ("varied lengths", "bursty, varied lengths", "bursty, tf-idf")
    mean = 12 if kind == "few terms" else int(rng.choice([40, 80, 150, 300]))
    burst = rng.uniform(20, 200) if kind.startswith("bursty") else None
    lengths = _lengths(n, rng, varied=varied, mean=mean)
    X = _texts(_zipf(n_terms, rng)[None], np.zeros(n, np.int64), lengths, burst, rng)
    if kind == "presence of terms":
        X.data[:] = 1.0
    return TfidfTransformer().fit_transform(X) if kind == "bursty, tf-idf" else X


def _zipf(n_terms: int, rng: np.random.Generator) -> Points:
    """Return the frequencies of terms by Zipf's law."""
    frequencies = 1.0 / np.arange(3, n_terms + 3) ** rng.uniform(0.8, 1.3)
    return frequencies / frequencies.sum()


def _lengths(n: int, rng: np.random.Generator, *, varied: bool, mean: int) -> NDArray[np.int64]:
    drawn = rng.lognormal(np.log(mean), 0.9, n) if varied else rng.poisson(mean, n)
    return np.maximum(5, drawn).astype(np.int64)


def _texts(
    frequencies: Points,
    topic: NDArray[np.int64],
    lengths: NDArray[np.int64],
    burst: float | None,
    rng: np.random.Generator,
) -> sp.csr_matrix:
    """Return counts of terms that are drawn with the frequencies of the topic of each text.

    In bursty texts a term is, with the chance i / (burst + i), one of the i terms before it (an urn
    of Polya): a term that a text has once it has often.
    """
    sums = np.cumsum(frequencies, axis=1)
    rows: list[Any] = []
    for own, length in zip(topic, lengths, strict=True):
        terms = np.searchsorted(sums[own], rng.random(length) * sums[own, -1])
        if burst is not None:
            before = np.arange(length)
            is_again = rng.random(length) < before / (burst + before)
            copied = (rng.random(length) * before).astype(np.int64)
            for i in np.flatnonzero(is_again):
                terms[i] = terms[copied[i]]
        rows.append(terms)
    places = np.repeat(np.arange(len(rows)), lengths)
    columns = np.concatenate(rows)
    shape = (len(rows), frequencies.shape[1])
    return sp.csr_matrix((np.ones(len(columns)), (places, columns)), shape=shape)
