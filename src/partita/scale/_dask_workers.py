"""Where tasks run: on the workers of a Dask cluster, or on Dask's default scheduler."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from partita._packages import require_package

__all__ = ["Workers"]

_QUIET = {"distributed.admin.large-graph-warning-threshold": "1 TB"}  # tables go with the tasks


class Workers:
    """The workers of a client, of the current client if there is one, or those of this process.

    Tasks are Dask's delayed objects. A task whose worker is lost is done again by another one.
    """

    def __init__(self, client: Any = None) -> None:
        self.client = _current_client() if client is None else _checked(client)

    def run(
        self, task: Any, stages: Sequence[Any] = (), finished: Callable[[int], None] | None = None
    ) -> Any:
        """The result of a task; `finished(i)` is called as each of the tasks it rests on ends."""
        import dask

        if self.client is None:
            return dask.compute(task)[0]
        from distributed import as_completed

        with dask.config.set(_QUIET):
            result, *parts = self.client.compute([task, *stages])
        number = {part.key: i for i, part in enumerate(parts)}
        for part in as_completed(parts, loop=self.client.loop):
            if finished is not None and part.status == "finished":
                finished(number[part.key])
        return result.result()

    def stream(self, tasks: Sequence[Any]) -> Iterator[Any]:
        """The results of tasks in order, each let go once it has been handed over."""
        import dask

        if self.client is None:
            yield from dask.compute(*tasks)
            return
        with dask.config.set(_QUIET):
            waiting = deque(self.client.compute(list(tasks)))
        while waiting:
            yield waiting.popleft().result()

    def keep(self, tasks: Sequence[Any]) -> Sequence[Any]:
        """Tasks whose results stay where they were made for as long as someone holds these."""
        import dask

        if self.client is None:
            return dask.persist(*tasks)
        return self.client.persist(list(tasks))


def _current_client() -> Any:
    if "distributed" not in sys.modules:
        return None
    from distributed import default_client

    try:
        return default_client()
    except ValueError:  # there is none
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
