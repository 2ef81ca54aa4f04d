"""Execution of tasks on the workers of a Dask cluster, or by Dask's default scheduler."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from partita._packages import require_package

__all__ = ["Workers"]

# tasks contain tables of costs: a large graph is intended
_NO_WARNING = {"distributed.admin.large-graph-warning-threshold": "1 TB"}


class Workers:
    """Workers of a Dask client.

    Without `client`, the current client is used if there is one, else the default scheduler in this
    process. Tasks are delayed objects. If a worker is lost, another one repeats its tasks. A task
    that loses one worker after another is a ChildProcessError.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = _current_client() if client is None else _checked(client)

    def run(
        self, task: Any, stages: Sequence[Any] = (), on_stage: Callable[[int], None] | None = None
    ) -> Any:
        """Return the result of a task; call `on_stage(i)` when stage i, which it needs, ends."""
        import dask

        if self.client is None:
            return dask.compute(task)[0]
        from distributed import as_completed

        with dask.config.set(_NO_WARNING):
            result, *parts = self.client.compute([task, *stages])
        number = {part.key: i for i, part in enumerate(parts)}
        for part in as_completed(parts, loop=self.client.loop):
            if on_stage is not None and part.status == "finished":
                on_stage(number[part.key])
        with _explained():
            return result.result()

    def stream(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results of tasks in order; each is released after it is yielded."""
        import dask

        if self.client is None:
            yield from dask.compute(*tasks)
            return
        with dask.config.set(_NO_WARNING):
            futures = deque(self.client.compute(list(tasks)))
        while futures:
            with _explained():
                result = futures.popleft().result()
            yield result

    def keep(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """Compute tasks and return them; the results stay on the workers while they are in use."""
        import dask

        if self.client is None:
            return dask.persist(*tasks)
        return self.client.persist(list(tasks))


@contextmanager
def _explained() -> Iterator[None]:
    """Say what to do if workers died, again and again, while they ran the same task."""
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise ChildProcessError(
            f"Workers of the Dask cluster died while they ran a task: {error} If memory "
            "ran out, give the workers more of it (memory_limit) or the array smaller chunks; a "
            "checkpoint continues the fit."
        ) from error


def _current_client() -> Any:
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:  # no current client
        return None


def _checked(client: Any) -> Any:
    distributed = require_package("distributed", "Clients of Dask", "partita[dask]")
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"client must be a dask.distributed.Client, got {type(client).__name__}. Make one with "
            "Client(address), or Client(LocalCluster()) on this machine."
        )
    if client.asynchronous:
        raise TypeError("client must not be asynchronous: `fit` waits for its results.")
    return client
