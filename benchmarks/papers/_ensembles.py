"""Base partitions by recipe, data set and draw. Generated ones are stored by their content."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize, scale

from benchmarks.data_folder import data_folder
from benchmarks.papers._baselines import spectral_partitions
from benchmarks.papers._tables import recipe_id
from partita.datasets import Dataset, load
from partita.generators import RandomFeatures, make_generator
from partita.multiview import generate_partitions

FETCH = "PARTITA_FETCH"  # an environment variable, which processes inherit
# settings of a recipe that the generator does not take
NOT_PARAMETERS = (
    "clip", "drop", "generator", "kind", "metric", "missing_rows", "pseudo_views", "rows", "scale",
    "tfidf", "without",
)  # fmt: skip
STORE = Path(os.environ.get("PARTITA_ENSEMBLES", Path(__file__).with_name("ensembles")))


@dataclass(frozen=True)
class Drawn:
    """One ensemble of a data set. `partitions` is None if methods read the features.

    `present` has one mask per view if rows are missing in the views.
    """

    data: Dataset
    partitions: NDArray[np.int64] | None
    content: str
    present: list[NDArray[np.bool_]] | None = None

    @property
    def y(self) -> NDArray[np.int64]:
        return self.data.y


def fetch_missing() -> None:
    """Fetch data sets that are not at hand from OpenML, in this process and in those it starts."""
    os.environ[FETCH] = "1"
    read.cache_clear()


@lru_cache(maxsize=4)
def read(name: str, kind: str) -> Dataset:
    """Return the data of a recipe's kind; raise FileNotFoundError with the reason if missing."""
    folder = data_folder()
    if kind == "pool":
        return load(f"pool_{name}", folder=folder)
    if kind == "subsets":  # of the SPCE authors, in the folder of data or beside it
        beside = None if folder is None else folder.parent / "oracles" / name
        some = beside if beside is not None and beside.is_dir() else folder
        return load(f"pool_{name}_spce", folder=some)
    full_name = f"{name}_mv" if kind == "views" else name
    return load(full_name, folder=folder, fetch=FETCH in os.environ)


def read_clipped(name: str, settings: dict[str, Any]) -> Dataset:
    """Return the data, with 0 in place of negative features if the recipe says so.

    The recipe may also name columns that are left out ("without").
    """
    data = read(name, settings["kind"])
    if columns := settings.get("without"):
        data = replace(data, X=np.delete(data.X, columns, axis=1))
    if settings.get("clip"):
        data = replace(data, views=tuple(view * (view > 0) for view in data.views))
    return data


def present_rows(
    data: Dataset, settings: dict[str, Any], draw: int
) -> list[NDArray[np.bool_]] | None:
    """Return which rows every view has if a share of them is missing.

    The rows of each view are drawn by themselves; a sample that no view would have stays in one.
    """
    share = settings.get("missing_rows", 0)
    if not share:
        return None
    rng = np.random.default_rng(draw)
    n_missing = round(share * data.n_samples)
    present = np.ones((data.n_samples, len(data.views)), np.bool_)
    for column in present.T:
        column[rng.permutation(data.n_samples)[:n_missing]] = False
    lost = np.flatnonzero(~present.any(axis=1))
    present[lost, rng.integers(len(data.views), size=len(lost))] = True
    return list(present.T)


def only_data(name: str, recipe: str, draw: int) -> Drawn:
    """Return the data alone, for methods that read features."""
    settings = json.loads(recipe)
    data = read_clipped(name, settings)
    views = pseudo_views(data.views, settings.get("pseudo_views", 0), draw)
    data = replace(data, views=views)
    return Drawn(data, None, "features", present_rows(data, settings, draw))


def pseudo_views(views: tuple[Any, ...], n_each: int, draw: int) -> tuple[Any, ...]:
    """Return random halves of the features of each view, as many as asked, or the views for 0."""
    if not n_each:
        return views
    rng = np.random.default_rng(draw)
    return tuple(
        view[:, np.sort(rng.permutation(view.shape[1])[: round(view.shape[1] / 2)])]
        for view in views
        for _ in range(n_each)
    )


def draw_ensemble(name: str, recipe: str, draw: int) -> Drawn:
    """Return the ensemble of a draw. All methods of a table get the same one."""
    settings = json.loads(recipe)
    data = some_rows(read_clipped(name, settings), settings, draw)
    if data.partitions is not None:
        chosen = authors_draw if "seed" in settings else consecutive
        return hashed(data, data.partitions[:, chosen(draw, settings)])
    index = STORE / f"{recipe_id(recipe)}-{name}-{draw}.txt"
    if index.exists():
        content = index.read_text(encoding="utf-8").strip()
        with np.load(STORE / f"{content}.npz") as file:
            return Drawn(data, file["partitions"].astype(np.int64), content)
    drawn = hashed(data, drop(generated(data, settings, draw), settings, draw))
    STORE.mkdir(exist_ok=True)
    table = drawn.partitions.astype(np.int16)
    write(STORE / f"{drawn.content}.npz", lambda file: np.savez_compressed(file, partitions=table))
    write(index, lambda file: file.write(drawn.content.encode()))
    return drawn


def some_rows(data: Dataset, settings: dict[str, Any], draw: int) -> Dataset:
    """Return the data, or as many random rows of them as the recipe says."""
    if "rows" not in settings:
        return data
    rng = np.random.default_rng(draw)
    rows = np.sort(rng.choice(data.n_samples, settings["rows"], replace=False))
    return replace(data, X=data.X[rows], y=data.y[rows])


def authors_draw(draw: int, settings: dict[str, Any]) -> NDArray[np.int64]:
    """Return the candidates of a draw as in the EC-CMS authors' program (MT19937)."""
    generator = np.random.RandomState(settings["seed"])
    for _ in range(draw):
        generator.random_sample(100)
    order = np.argsort(generator.random_sample(100), kind="stable")
    return order[: settings["n_partitions"]]


def consecutive(draw: int, settings: dict[str, Any]) -> NDArray[np.int64]:
    """Return the partitions of a draw in the order of the file: the first m, the next m, ..."""
    m = settings["n_partitions"]
    return np.arange(m * draw, m * (draw + 1))


def generated(data: Dataset, settings: dict[str, Any], draw: int) -> NDArray[np.int64]:
    """Return base partitions of the features; the draw is the seed."""
    k, metric = data.n_classes, settings.get("metric", "euclidean")
    numbers = {"K": k, "2K": 2 * k, "sqrt_n": int(np.sqrt(data.n_samples))}
    parameters = {
        name: numbers.get(value, value) if isinstance(value, str) else value
        for name, value in settings.items()
        if name not in NOT_PARAMETERS
    }
    if settings["kind"] == "views":
        generator = RandomFeatures(metric=metric)
        ensemble = generate_partitions(
            [features(view, settings) for view in data.views],
            generator,
            n_clusters=k,
            random_state=draw,
            present=present_rows(data, settings, draw),
            **parameters,
        )
        codes = ensemble.codes.astype(np.int64)
        return np.where(codes == ensemble.missing_code, -1, codes)
    if settings["generator"] == "random_starts":
        return random_starts(features(data.X, settings), draw=draw, **parameters)
    if settings["generator"] == "spectral_variants":
        return spectral_partitions(features(data.X, settings), draw=draw, **parameters)
    parameters |= {"metric": metric, "random_state": draw, "n_jobs": 1}
    generator = make_generator(settings["generator"], **parameters)
    return np.asarray(generator.fit_transform(features(data.X, settings)), dtype=np.int64)


def random_starts(X: Any, *, n_partitions: int, n_clusters: int, draw: int) -> NDArray[np.int64]:
    """Return k-means partitions from random rows as initial centers, as MATLAB chooses them.

    Greedy k-means++, the start of our generators, gives better partitions than the papers print.
    """
    seeds = np.random.default_rng(draw).integers(2**31, size=n_partitions)
    runs = [
        KMeans(n_clusters, init="random", n_init=1, max_iter=100, random_state=int(seed))
        for seed in seeds
    ]
    return np.column_stack([run.fit_predict(X) for run in runs]).astype(np.int64)


def features(X: Any, settings: dict[str, Any]) -> Any:
    """Return the features as the recipe says: as they are, term counts as tf-idf, or scaled.

    The scale "columns" gives every column the mean 0 and the deviation 1, "rows" every row the
    length 1.
    """
    if settings.get("tfidf"):
        X = TfidfTransformer().fit_transform(X)
    match settings.get("scale"):
        case "columns":
            return scale(np.asarray(X, dtype=np.float64))
        case "rows":
            return normalize(np.asarray(X, dtype=np.float64))
        case None:
            return X
        case other:
            raise ValueError(f'scale is "columns" or "rows", not {other!r}.')


def drop(labels: NDArray[np.int64], settings: dict[str, Any], draw: int) -> NDArray[np.int64]:
    """Return the labels without a share of them; every sample keeps at least one."""
    share = settings.get("drop", 0)
    if not share:
        return labels
    rng = np.random.default_rng(draw)
    is_missing = rng.random(labels.shape) < share
    is_missing[np.arange(len(labels)), rng.integers(labels.shape[1], size=len(labels))] = False
    return np.where(is_missing, -1, labels)


def hashed(data: Dataset, partitions: NDArray[np.int64]) -> Drawn:
    table = np.ascontiguousarray(partitions, dtype="<i8")
    return Drawn(data, table, sha256(table.tobytes()).hexdigest()[:16])


def write(path: Path, save: Any) -> None:
    """Write a file that is never half written, whenever the run is stopped."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with unfinished.open("wb") as file:
        save(file)
    unfinished.replace(path)
