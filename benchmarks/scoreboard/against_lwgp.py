"""Is the default method ever worse than LWGP?

`python -m benchmarks.scoreboard.against_lwgp` fuses the same draws of 20 partitions by CCGP and by
LWGP: draws from the published pools, and from 40 k-means partitions of every data set of at most
3000 samples under three protocols, K_i in 2..sqrt n, in K..sqrt n, and K_i = K. Text is clustered
as tf-idf by the cosine. These are the sets on which CCGP was designed. Where the difference is
within two standard errors of `MARGIN`, ten times the draws are made. The records are JSON lines;
the same call continues.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.data_folder import data_folder
from benchmarks.json_lines import Record, append, read
from partita import CCGP, LWGP
from partita.datasets import Dataset, list_names, load
from partita.generators import RandomK
from partita.metrics import adjusted_rand

RECORDS = Path(__file__).with_name("against_lwgp.jsonl")
PROTOCOLS = ("2..sqrt n", "K..sqrt n", "K")
POOL = "published"
LARGEST = 3000  # samples of a set whose partitions are made here
N_POOL, N_DRAWN = 40, 20
MARGIN = 0.02  # what the default may lose
MORE = 10  # times the draws, where these leave open whether it loses more


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=40, help="draws per ensemble")
    parser.add_argument("--sets", nargs="+", default=list_names(), help="only these sets")
    parser.add_argument("--records", type=Path, default=RECORDS, help="file of the records")
    options = parser.parse_args(arguments)
    done = {(r["set"], r["protocol"]): r for r in read(options.records)}
    for dataset in available(options.sets):
        for protocol in protocols(dataset):
            record = done.get((dataset.name, protocol))
            if record is None or len(record["ccgp"]) < options.draws:
                record = compare(dataset, protocol, options.draws)
                append(options.records, [record])
            if is_open(record) and len(record["ccgp"]) < MORE * options.draws:
                append(options.records, [compare(dataset, protocol, MORE * options.draws)])
    print(words(read(options.records)))
    return 0


def is_open(record: Record) -> bool:
    """Return whether the draws leave open on which side of the margin the difference is."""
    mean, error = difference(record)
    return abs(mean + MARGIN) < 2 * error


def available(names: list[str]) -> Iterator[Dataset]:
    """Yield the sets of one table, small ones first, and name those that are not at hand."""
    sets = []
    for name in names:
        try:
            dataset = load(name, folder=data_folder())
        except FileNotFoundError as error:
            print(error)
            continue
        if protocols(dataset):
            sets.append(dataset)
    yield from sorted(sets, key=lambda each: each.n_samples)


def protocols(dataset: Dataset) -> tuple[str, ...]:
    """Return the kinds of partitions that a set is fused from."""
    if dataset.partitions is not None:
        return (POOL,)
    return PROTOCOLS if dataset.X is not None and dataset.n_samples <= LARGEST else ()


def compare(dataset: Dataset, protocol: str, n_draws: int) -> Record:
    """Return the ARI of both methods on the same draws."""
    pool = partitions(dataset, protocol)
    seed = zlib.crc32(f"{dataset.name} {protocol}".encode())
    scores: dict[str, list[float]] = {"ccgp": [], "lwgp": []}
    for draw in range(n_draws):
        rng = np.random.default_rng([seed, draw])
        table = pool[:, rng.choice(pool.shape[1], N_DRAWN, replace=False)]
        for method in (CCGP, LWGP):
            labels = method(dataset.n_classes, random_state=draw).fit_predict(table)
            score = adjusted_rand(dataset.y, labels)
            scores[method.info.key].append(round(float(score), 4))
    return {"set": dataset.name, "protocol": protocol, "n_samples": dataset.n_samples} | scores


def partitions(dataset: Dataset, protocol: str) -> NDArray[np.int64]:
    """Return the published partitions, or those of k-means, one column each."""
    if dataset.partitions is not None:
        return dataset.partitions
    K, root = dataset.n_classes, int(np.sqrt(dataset.n_samples))
    k_min, k_max = {
        "2..sqrt n": (2, root),
        "K..sqrt n": (K, max(K, root)),
        "K": (K, K),
    }[protocol]
    X, metric = dataset.X, "euclidean"
    if sp.issparse(X):
        X, metric = TfidfTransformer().fit_transform(X), "cosine"
    generator = RandomK(N_POOL, k_min=k_min, k_max=k_max, metric=metric, random_state=0)
    return np.asarray(generator.fit(X).labels_)


def differences(records: list[Record]) -> list[tuple[str, float, float]]:
    """Return each ensemble with the mean of CCGP minus LWGP and its standard error, worst first."""
    rows = [
        (r["set"].removeprefix("pool_") + ", " + r["protocol"], *difference(r))
        for r in latest(records)
    ]
    return sorted(rows, key=lambda row: row[1])


def latest(records: list[Record]) -> list[Record]:
    """Return the last record of each ensemble."""
    return list({(r["set"], r["protocol"]): r for r in records}.values())


def difference(record: Record) -> tuple[float, float]:
    """Return the mean of CCGP minus LWGP over the draws, and its standard error."""
    values = np.subtract(record["ccgp"], record["lwgp"])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def words(records: list[Record]) -> str:
    """Return what the records say, in sentences."""
    rows = differences(records)
    means = np.asarray([mean for _, mean, _ in rows])
    last = latest(records)
    scores = {key: np.mean([np.mean(r[key]) for r in last]) for key in ("ccgp", "lwgp")}
    error = means.std(ddof=1) / np.sqrt(len(means))
    below, above = (means < -MARGIN).sum(), (means > MARGIN).sum()
    n_draws = np.asarray([len(r["ccgp"]) for r in last])
    n_more = int((n_draws > n_draws.min()).sum())
    text = [
        f"On {len(rows)} ensembles `CCGP` has the mean ARI {scores['ccgp']:.3f} and `LWGP` "
        f"{scores['lwgp']:.3f}; the mean difference is {means.mean():+.3f} ± {error:.3f}.",
        f"`CCGP` is more than {MARGIN} above `LWGP` on {above} of them and more than {MARGIN} "
        f"below on {below}.",
    ]
    if n_more:
        text.append(
            f"{n_more} of them {'has' if n_more == 1 else 'have'} {n_draws.max()} draws, "
            f"the others {n_draws.min()}."
        )
    if below:
        worst = [f"{title}: {mean:+.3f} ± {e:.3f}" for title, mean, e in rows[:below]]
        text.append(f"The latter, with the standard error over draws: {'; '.join(worst)}.")
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(main())
