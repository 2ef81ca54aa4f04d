"""Interruptions and errors leave nothing behind; fits at once do not disturb each other."""

from __future__ import annotations

import os
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from partita import CSPA, SEC, LabelStore, RandomK, config_context
from partita.consensus import BaseConsensus, Solution
from partita.datasets import make_partitions
from partita.registry import all_methods, prepare

pytestmark = pytest.mark.filterwarnings("ignore::partita.exceptions.PartitaWarning")
TABLE = make_partitions(40, 6, noise=0.2)[0]
every_method = pytest.mark.parametrize("method", all_methods(), ids=lambda m: m.__name__)
quick = pytest.mark.parametrize("key", ["ccgp", "eac", "sec", "kcc", "lwgp", "voting", "trce"])


def assert_unfitted(estimator) -> None:
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


def fail_with(error):
    """Return a progress callback that raises an error."""

    def callback(step):
        raise error

    return callback


@every_method
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_fit_that_fails_leaves_the_estimator_unfitted(method, error, monkeypatch):
    """Also if it was fitted before: old labels never pass for those of the new partitions."""
    estimator = prepare(method, 3, 0)
    estimator.labels_ = np.zeros(5, int)  # of an earlier fit

    def fail(self, solution):
        assert len(self.labels_) == len(TABLE)  # the fit has begun to store its result
        raise error

    monkeypatch.setattr(BaseConsensus, "_set_attributes", fail)
    one_cluster = Solution(np.zeros(len(np.unique(TABLE, axis=0)), np.int64))
    monkeypatch.setattr(method, "_solve", lambda self, ensemble, rng: one_cluster)
    with pytest.raises(error):
        estimator.fit(TABLE)
    assert_unfitted(estimator)


def test_a_generator_that_fails_is_unfitted():
    generator = RandomK(4, n_clusters=2, random_state=0)
    X = np.random.default_rng(0).normal(size=(20, 2))
    generator.fit(X)
    with config_context(progress=fail_with(KeyboardInterrupt)), pytest.raises(KeyboardInterrupt):
        generator.fit(X)
    assert_unfitted(generator)


def test_an_interruption_leaves_no_thread_process_or_file(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    store = LabelStore.from_partitions(np.repeat(TABLE, 5, axis=0), tmp_path / "store")
    with config_context(n_threads=2):
        SEC(3, n_init=2, random_state=0).fit(store)  # starts the threads that stay
        threads = threading.active_count()
        children = len(psutil.Process().children(recursive=True))
        for method in (SEC(3, n_init=2, random_state=0), CSPA(3, random_state=0)):
            steps = []

            def interrupt(step, steps=steps):
                steps.append(step)
                raise KeyboardInterrupt

            with config_context(progress=interrupt):
                try:
                    method.fit(store)
                except KeyboardInterrupt:
                    assert_unfitted(method)
            assert steps, "the fit reported no progress: nothing was tested"
    del method
    assert threading.active_count() <= threads
    assert len(psutil.Process().children(recursive=True)) == children
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("partita-")] == []
    assert [p for p in tmp_path.rglob("*") if "partial" in p.name] == []


@quick
def test_eight_threads_at_once(key):
    estimator = prepare(key, 3, 0)
    tables = [make_partitions(50, 6, noise=0.3, random_state=seed)[0] for seed in range(8)]
    one_by_one = [clone(estimator).fit_predict(table) for table in tables]
    with ThreadPoolExecutor(8) as pool:
        at_once = list(pool.map(lambda table: clone(estimator).fit_predict(table), tables))
    for labels, expected in zip(at_once, one_by_one, strict=True):
        np.testing.assert_array_equal(labels, expected)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_temporary_files_are_private(tmp_path, monkeypatch):
    """Labels in a shared temporary folder can be read by their owner only."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    store = LabelStore.from_partitions(np.repeat(TABLE, 5, axis=0), tmp_path / "store")
    model = SEC(3, n_init=1, random_state=0).fit(store)
    folders = [path for path in tmp_path.iterdir() if path.name.startswith("partita-")]
    assert folders, "labels_ is mapped from a temporary file"
    for folder in folders:
        assert folder.stat().st_mode & 0o077 == 0, oct(folder.stat().st_mode)
    del model
    assert not any(Path(folder).exists() for folder in folders)


@pytest.mark.first
def test_thousands_of_fits_take_no_more_memory_threads_or_files():
    process = psutil.Process()
    models = [prepare(key, 3, 0) for key in ("ccgp", "eac", "sec", "voting", "lwea")]
    for model in models:
        model.set_params(**({"n_init": 1} if "n_init" in model.get_params() else {}))

    def fit_all(times):
        for _ in range(times):
            for model in models:
                clone(model).fit(TABLE)

    def files():
        return process.num_fds() if hasattr(process, "num_fds") else process.num_handles()

    fit_all(20)  # compiles kernels, fills caches and pools
    memory, descriptors, threads = process.memory_info().rss, files(), process.num_threads()
    fit_all(400)
    assert files() <= descriptors
    assert process.num_threads() <= threads
    assert process.memory_info().rss - memory < 20_000_000  # 10 kB a fit would be a leak
