"""Documents that exceed memory
============================

Cluster documents that exceed memory: sparse files, row segmentation, keywords of clusters.

    python examples/text_documents.py [documents.npz]

The file has counts of terms as the vectors `data`, `indices`, `indptr` and `shape` of a sparse
matrix by rows, and optionally the true classes `y`. Without a file, the example makes documents
about five topics.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

import partita
from partita.diagnostics import cluster_keywords
from partita.metrics import evaluate

TOPICS = {
    "school": "term campus teacher school dormitory lesson exam student book class",
    "festival": "moon family parents home dinner gift holiday autumn visit cake",
    "history": "war victory treaty empire army border history nation flag battle",
    "travel": "flight hotel picture beach dream ticket island plan train city",
    "music": "singer concert song stage fan band guitar record voice album",
}
COMMON = ["today", "happy", "share", "life", "people", "time", "day", "good", "new", "see", "news"]


def make_documents(n_documents, rng):
    """Return counts of terms, the terms, and the topic of every document."""
    words = [text.split() for text in TOPICS.values()]
    terms = sorted({*COMMON, *(word for topic in words for word in topic)})
    place = {term: j for j, term in enumerate(terms)}
    y = rng.integers(0, len(words), n_documents)
    rows, columns = [], []
    for document, topic in enumerate(y):
        chosen = [*rng.choice(words[topic], 6), *rng.choice(COMMON, 6), rng.choice(terms)]
        rows += [document] * len(chosen)
        columns += [place[term] for term in chosen]
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), (n_documents, len(terms)))
    return counts, terms, y


def read_documents(path):
    """Return counts of terms, None for the terms, and the classes if the file has them."""
    file = np.load(path)
    parts = file["data"].astype(np.float32), file["indices"], file["indptr"]
    return sp.csr_matrix(parts, shape=tuple(file["shape"])), None, file.get("y")


def main():
    if len(sys.argv) > 1:
        counts, terms, y = read_documents(sys.argv[1])
    else:
        counts, terms, y = make_documents(3000, np.random.default_rng(0))
    n_documents = counts.shape[0]
    n_clusters = len(TOPICS) if y is None else len(np.unique(y))
    weights = TfidfTransformer(sublinear_tf=True).fit_transform(counts).astype(np.float32)

    with tempfile.TemporaryDirectory() as folder:
        # A corpus that exceeds memory is written in parts. Rows can be read one by one only from
        # files that are not compressed.
        files = []
        for start in range(0, n_documents, 1000):
            files.append(Path(folder) / f"part{start:07}.npz")
            sp.save_npz(files[-1], weights[start : start + 1000], compressed=False)

        # 40 partitions, each of a random third of the documents, by the angle between documents
        store = partita.segment(
            files,
            Path(folder) / "labels",
            n_partitions=40,
            ratio=0.33,
            n_clusters=n_clusters,
            metric="cosine",
            n_jobs=1,
            random_state=0,
        )
        labels = partita.SEC(n_clusters=n_clusters, random_state=0).fit(store).labels_
        keywords = cluster_keywords(files, labels, terms, n_keywords=6, idf=False)

    print(f"{n_documents} documents, {counts.shape[1]} terms, {n_clusters} clusters")
    if y is not None:
        scores = evaluate(y, labels)
        print(f"against the true classes: ARI {scores['ARI']:.3f}, NMI {scores['NMI']:.3f}")
    for cluster, words in keywords.items():
        print(f"cluster {cluster} ({np.count_nonzero(labels == cluster)}): {', '.join(words)}")


if __name__ == "__main__":
    main()
