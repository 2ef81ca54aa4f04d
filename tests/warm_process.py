"""Processes of Python that need not import large packages again: two seconds less for each.

A server imports other packages, never `partita`, and forks a process for every script or command.
Apart from that such a process is like a new interpreter: its own `__main__`, arguments, folder,
streams and exit. Where processes cannot be forked, new interpreters run instead.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve()
# what `partita` and its documentation import, and what starts no threads
PACKAGES = ("scipy.stats", "sklearn.cluster", "sklearn.datasets", "pandas", "matplotlib.pyplot")


class Programs:
    """Command lines that run Python.

    Parameters
    ----------
    address : str
        Socket of the server, or an empty text without one.
    """

    def __init__(self, address: str) -> None:
        self.address = address

    def command(self, *arguments: str) -> list[str]:
        """Return the command line for the arguments of `python`: [-W filter], then a file or -c."""
        if not self.address:
            return [sys.executable, *arguments]
        # without `site` and without the environment it starts in some milliseconds
        return [sys.executable, "-I", "-S", str(HERE), self.address, *arguments]


@contextmanager
def programs() -> Iterator[Programs]:
    """Start a server, which ends with the block or with this process."""
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        yield Programs("")
        return
    import tempfile  # the client does without these
    from subprocess import PIPE, Popen

    # the path of a socket has about a hundred characters at most: no folder of pytest
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder) / "socket")
        command = [sys.executable, str(HERE), "serve", address]
        with Popen(command, stdin=PIPE, stdout=PIPE) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield Programs(address)


def ask(address: str, arguments: list[str]) -> int:
    """Let the server run Python with the streams, folder and environment of this process."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        request = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
        socket.send_fds(connection, [len(request).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(request)
        answer = connection.recv(8)
    return int.from_bytes(answer, "big", signed=True) if answer else 1


def serve(address: str) -> None:
    """Fork a process for every request. Returns in the forked processes only, as `__main__`."""
    from select import select

    for name in PACKAGES:
        with suppress(ImportError):
            import_module(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)  # noqa: T201
        while True:
            ready, _, _ = select([listener, sys.stdin], [], [])
            if sys.stdin in ready:  # closed
                os._exit(0)
            connection, _ = listener.accept()
            if os.fork() == 0:
                break
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    header, streams, _, _ = socket.recv_fds(connection, 8, 3)
    request = b""
    while len(request) < int.from_bytes(header, "big"):
        request += connection.recv(1 << 16)
    arguments, folder, environment = json.loads(request)
    if child := os.fork():
        for stream in streams:
            os.close(stream)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with suppress(BrokenPipeError):
            connection.sendall(status.to_bytes(8, "big", signed=True))
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    become(arguments)


def become(arguments: list[str]) -> None:
    """Run what `python` would run with these arguments, as `__main__` of this process."""
    import builtins
    import warnings

    while arguments[0] == "-W":
        _, option, *arguments = arguments
        action, _, category = option.partition("::")
        warnings.simplefilter(action, getattr(builtins, category))
    if arguments[0] == "-c":
        name, source, sys.path[0] = "<string>", arguments[1], ""
        sys.argv = ["-c", *arguments[2:]]
    else:
        name, sys.argv = arguments[0], arguments
        source, sys.path[0] = Path(name).read_text(encoding="utf-8"), str(Path(name).parent)
    main = types.ModuleType("__main__")
    if name != "<string>":
        main.__file__ = name
    sys.modules["__main__"] = main
    exec(compile(source, name, "exec"), main.__dict__)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
