"""Settings: checked, scoped, read from the environment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import partita
from partita.config import Config, Progress, config_context, get_config, report_progress, set_config


@pytest.fixture(autouse=True)
def as_before():
    before = get_config()
    yield
    set_config(
        memory_budget=before.memory_budget, n_threads=before.n_threads, progress=before.progress
    )


def test_set_and_get():
    set_config(memory_budget=1000, n_threads=2)
    assert get_config().memory_budget == 1000
    assert get_config().n_threads == 2
    set_config(memory_budget=None)
    assert get_config().memory_budget is None
    assert get_config().n_threads == 2, "what is not named stays"


def test_context():
    before = get_config()
    with config_context(n_threads=3) as inside:
        assert get_config() is inside
        with config_context(memory_budget=10):
            assert (get_config().n_threads, get_config().memory_budget) == (3, 10)
        assert get_config() is inside
    assert get_config() is before


def test_context_ends_also_after_an_error():
    before = get_config()
    with pytest.raises(KeyError), config_context(n_threads=3):
        raise KeyError
    assert get_config() is before


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("memory_budget", 0),
        ("memory_budget", -1),
        ("memory_budget", float("nan")),
        ("memory_budget", float("inf")),
        ("memory_budget", "2 GB"),
        ("memory_budget", True),
        ("n_threads", 0),
        ("n_threads", 1.5),
        ("n_threads", "2"),
        ("n_threads", None),
        ("n_threads", True),
    ],
)
def test_wrong_values(setting, value):
    before = get_config()
    with pytest.raises(ValueError, match=f"{setting} must be .*, got {value!r}"):
        set_config(**{setting: value})
    with pytest.raises(ValueError, match=setting), config_context(**{setting: value}):
        pass
    assert get_config() == before


def test_wrong_callback_and_unknown_setting():
    with pytest.raises(TypeError, match="progress must be callable"):
        set_config(progress="bar")
    with pytest.raises(TypeError, match="No setting threads; there are memory_budget, n_threads"):
        set_config(threads=2)


def test_numbers_of_other_libraries():
    config = Config(memory_budget=np.float64(1e9), n_threads=np.int32(2))
    assert config.memory_budget == 1_000_000_000
    assert isinstance(config.memory_budget, int)


def test_another_thread_has_settings_of_its_own():
    found = []
    with config_context(n_threads=7):
        thread = threading.Thread(target=lambda: found.append(get_config().n_threads))
        thread.start()
        thread.join()
    assert found != [7]


def test_progress():
    heard = []
    report_progress("silent", 1, 2)
    with config_context(progress=heard.append):
        report_progress("work", 1, 2, "half")
    assert heard == [Progress("work", 1, 2, "half")]


def run(**environment):
    return subprocess.run(
        [sys.executable, "-c", "from partita.config import get_config; print(get_config())"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_environment():
    done = run(PARTITA_MEMORY_BUDGET="2e9", PARTITA_NUM_THREADS="3")
    assert "memory_budget=2000000000, n_threads=3" in done.stdout


@pytest.mark.parametrize("text", ["much", "-1", "inf"])
def test_environment_that_is_no_number(text):
    done = run(PARTITA_MEMORY_BUDGET=text)
    assert done.returncode != 0
    assert f"PARTITA_MEMORY_BUDGET must be a positive number: '{text}'" in done.stderr


def test_default_threads_are_the_cores_of_the_process():
    assert 1 <= get_config().n_threads <= (os.cpu_count() or 1)
    assert partita.get_config is get_config
