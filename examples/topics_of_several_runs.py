"""Topics of several runs, with -1 for no topic
============================================

Fuse topics that differ from run to run, as those of BERTopic do.

The texts are the descriptions of six data sets of scikit-learn, cut into passages of thirty words.
Every run reduces them with another seed and another number of dimensions, and clusters them with
HDBSCAN, which is what BERTopic does after the embedding. -1 is a passage without a topic.
"""

from __future__ import annotations

import numpy as np
from sklearn import datasets
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.preprocessing import normalize

from partita import Ensemble, adjusted_rand, fuse
from partita.diagnostics import cluster_keywords
from partita.plotting import ConfidenceDisplay

NAMES = ["breast_cancer", "diabetes", "digits", "iris", "linnerud", "wine"]
passages, y = [], []
for number, name in enumerate(NAMES):
    words = getattr(datasets, f"load_{name}")().DESCR.split()
    for start in range(0, len(words) - 15, 15):
        passages.append(" ".join(words[start : start + 30]))
        y.append(number)
y = np.array(y)

vectorizer = CountVectorizer(stop_words="english", token_pattern="[a-z]{3,}")
counts = vectorizer.fit_transform(passages)
weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts)

runs = []
for seed in range(15):
    rng = np.random.default_rng(seed)
    reduction = TruncatedSVD(int(rng.integers(8, 25)), random_state=seed)
    points = normalize(reduction.fit_transform(weights))
    size = int(rng.integers(4, 9))
    labels = HDBSCAN(min_cluster_size=size, copy=True).fit_predict(points)
    if labels.max() >= 0:  # a run without any topic is no partition
        runs.append(labels)

# A few passages have no topic in any run: they are kept, and get none.
ensemble = Ensemble.from_partitions(runs, unlabeled="keep")
fusion = fuse(ensemble, n_clusters=len(NAMES), random_state=0)
for name, labels in [("first run", runs[0]), ("last run", runs[-1]), ("consensus", fusion.labels)]:
    n_topics = len(set(labels.tolist()) - {-1})
    has_topic = labels >= 0
    print(
        f"{name:>10}: {n_topics:2} topics, {np.mean(~has_topic):4.0%} without one, "
        f"adjusted Rand index with the data sets {adjusted_rand(y, labels):.2f}"
    )

has_topic = np.flatnonzero(fusion.labels >= 0)
words = cluster_keywords(
    counts[has_topic], fusion.labels[has_topic], vectorizer.get_feature_names_out(), n_keywords=5
)
for topic, keywords in words.items():
    confidence = np.nanmean(fusion.confidence[fusion.labels == topic])
    print(f"topic {topic}, confidence {confidence:.2f}: {', '.join(keywords)}")

display = ConfidenceDisplay.from_diagnosis(fusion.diagnosis).plot()
