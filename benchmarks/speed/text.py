"""Row segmentation of sparse documents out of core, as for the texts of the SEC paper.

    python -m benchmarks.speed.text [--documents 1000000] [--partitions 20] [--folder /some/disk]

Short documents (16 terms in the mean) about 100 planted topics over 10,000 terms are written to
sparse files in parts. Every partition draws 16 % of the documents (as 10 of 61 million in the
paper) with replacement and clusters them by angle. SEC fuses the store, and the keywords of
every cluster are read from the files. The time of a partition is compared with that of
MiniBatchKMeans on rows of the same number that are in memory already.

`python docs/write_pages.py` writes the records into docs/speed.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans
from sklearn.preprocessing import normalize

from benchmarks.json_lines import read, write
from benchmarks.speed._measure import Record
from partita import SEC, segment
from partita._memory import PeakMemory
from partita.diagnostics import cluster_keywords
from partita.exceptions import PartitaWarning
from partita.metrics import adjusted_rand

DOCUMENTS, TERMS, TOPICS, LENGTH = 1_000_000, 10_000, 100, 16
OWN = 20  # terms of every topic
PARTITIONS, SHARE, PART = 20, 10_000_000 / 61_212_950, 100_000
RECORDS = Path(__file__).with_suffix(".jsonl")
TARGET = 0.8  # of the speed of clustering rows in memory


@dataclass(frozen=True)
class Text:
    """Results of one run."""

    documents: int
    partitions: int
    seconds_to_write: float
    seconds_per_partition: float
    seconds_in_memory: float
    seconds_to_fuse: float
    seconds_for_keywords: float
    peak_mb: float
    file_mb: float
    ari: float
    ari_in_memory: float
    own_keywords: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.documents:,} documents ({self.file_mb:.0f} MB) written in "
                f"{self.seconds_to_write:.1f} s",
                f"{self.partitions} partitions, {self.seconds_per_partition:.2f} s each; rows in "
                f"memory take {self.seconds_in_memory:.2f} s",
                f"fused in {self.seconds_to_fuse:.1f} s, keywords in "
                f"{self.seconds_for_keywords:.1f} s, memory gained {self.peak_mb:.0f} MB",
                f"ARI to the planted topics {self.ari:.3f}, rows in memory "
                f"{self.ari_in_memory:.3f}; {self.own_keywords:.0%} of the keywords belong to the "
                "main topic of their cluster",
            ]
        )


def make(n_documents: int, first: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Return counts of terms and the topics; every topic has `OWN` terms of its own."""
    rng = np.random.default_rng([n_documents, first])
    topics = rng.integers(0, TOPICS, n_documents)
    lengths = rng.poisson(LENGTH - 2, n_documents) + 2
    document = np.repeat(np.arange(n_documents), lengths)
    own = topics[document] * OWN + rng.integers(0, OWN, len(document))
    # common terms are the last ones, frequent ones first
    common = TOPICS * OWN + (rng.random(len(document)) ** 3 * (TERMS - TOPICS * OWN)).astype(int)
    term = np.where(rng.random(len(document)) < 0.6, own, common)
    counts = sp.csr_matrix(
        (np.ones(len(term), np.float32), (document, term)), shape=(n_documents, TERMS)
    )
    return counts, topics


def measure(n_documents: int, folder: Path, n_partitions: int = PARTITIONS) -> Text:
    start = time.perf_counter()
    files, parts = [], []
    for first in range(0, n_documents, PART):
        counts, topics = make(min(PART, n_documents - first), first)
        files.append(folder / f"{first:09}.npz")
        sp.save_npz(files[-1], counts, compressed=False)
        parts.append(topics)
    written = time.perf_counter() - start
    y = np.concatenate(parts)

    n_rows = round(SHARE * n_documents)
    counts, topics = make(n_rows, 0)
    rows = normalize(counts)
    start = time.perf_counter()
    kmeans = MiniBatchKMeans(TOPICS, batch_size=4096, n_init=1, random_state=0)
    labels_in_memory = kmeans.fit_predict(rows)
    in_memory = time.perf_counter() - start
    ari_in_memory = adjusted_rand(topics, labels_in_memory)
    del counts, rows

    with PeakMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore", PartitaWarning)  # documents that no partition drew
        start = time.perf_counter()
        store = segment(
            files,
            folder / "labels",
            n_partitions=n_partitions,
            n_rows=n_rows,
            n_clusters=TOPICS,
            metric="cosine",
            replacement=True,
            n_jobs=1,
            random_state=0,
        )
        segmented = time.perf_counter() - start
        start = time.perf_counter()
        labels = SEC(TOPICS, n_init=1, random_state=0).fit(store).labels_
        fused = time.perf_counter() - start
        start = time.perf_counter()
        keywords = cluster_keywords(files, labels)
        described = time.perf_counter() - start
    labeled = labels >= 0
    return Text(
        documents=n_documents,
        partitions=n_partitions,
        seconds_to_write=written,
        seconds_per_partition=segmented / n_partitions,
        seconds_in_memory=in_memory,
        seconds_to_fuse=fused,
        seconds_for_keywords=described,
        peak_mb=memory.gained / 2**20,
        file_mb=sum(file.stat().st_size for file in files) / 2**20,
        ari=adjusted_rand(y[labeled], labels[labeled]),
        ari_in_memory=ari_in_memory,
        own_keywords=own_share(keywords, y, labels),
    )


def own_share(keywords: dict[int, dict[str, float]], y: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of the keywords that are terms of the main topic of their cluster."""
    hits = [
        int(term) // OWN == np.bincount(y[labels == cluster]).argmax()
        for cluster, terms in keywords.items()
        for term in terms
    ]
    return float(np.mean(hits))


def run() -> list[Record]:
    """Measure 100,000 documents, for the table of all speed records."""
    with tempfile.TemporaryDirectory() as folder:
        result = measure(100_000, Path(folder))
    return [
        Record(
            "segment, one partition of 16 % of 100,000 sparse documents, 10,000 terms, K = 100",
            result.seconds_per_partition,
            "MiniBatchKMeans on rows in memory",
            result.seconds_in_memory,
            TARGET,
            peak_mb=result.peak_mb,
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=lambda text: int(float(text)), default=DOCUMENTS)
    parser.add_argument("--partitions", type=int, default=PARTITIONS)
    parser.add_argument("--folder", type=Path, help="where to write the files; they are removed")
    parser.add_argument("--dry", action="store_true", help="write no record")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        result = measure(options.documents, Path(folder), options.partitions)
    print(result)
    if options.dry:
        return
    size = result.documents, result.partitions
    kept = [r for r in read(RECORDS) if (r["documents"], r["partitions"]) != size]
    kept.append(asdict(result))
    write(RECORDS, sorted(kept, key=lambda r: (r["documents"], r["partitions"])))


if __name__ == "__main__":
    main()
