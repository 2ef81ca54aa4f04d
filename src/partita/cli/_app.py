"""The application: options before the command, exit codes, and what a mistake looks like."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from partita.cli._messages import Talk, complain
from partita.exceptions import MissingPackageError, NoStructureError

__all__ = ["EXIT_CODES", "app"]

MISTAKE, NO_STRUCTURE, INTERRUPTED, NO_READER = 2, 3, 130, 141
EXIT_CODES = {
    0: "done",
    1: "a fault of partita: please report it",
    MISTAKE: "a mistake in the command, a file or a value, or too little memory",
    NO_STRUCTURE: "no structure found, hence no number of clusters to use (fuse -k auto)",
    INTERRUPTED: "interrupted; no half-written file is left",
    NO_READER: "the program that read the output went away",
}
# What the user can mend is said in a line, everything else is a fault with its traceback.
_MISTAKES = (ValueError, MemoryError, OSError, MissingPackageError)
_log = logging.getLogger(__name__)


@contextmanager
def _exit_codes() -> Iterator[None]:
    try:
        with _warnings_as_lines():
            yield
        sys.stdout.flush()  # a reader that went away is noticed here, not at interpreter exit
    except KeyboardInterrupt:
        Talk(quiet=False).say("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - to the end of the process
        raise typer.Exit(NO_READER) from None
    except _MISTAKES as error:
        if _log.isEnabledFor(logging.DEBUG):
            raise
        complain(str(error), getattr(error, "__notes__", []))
        code = NO_STRUCTURE if isinstance(error, NoStructureError) else MISTAKE
        raise typer.Exit(code) from None
    except Exception as error:
        error.add_note("This is a fault of partita. Please report it with the lines above.")
        raise


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        complain(str(message), [], kind="warning")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


class Commands(TyperGroup):
    """A group whose exit codes are those documented, whoever runs it."""

    def invoke(self, ctx: Any) -> Any:
        with _exit_codes():
            return super().invoke(ctx)


def _epilog() -> str:
    lines = (f"{code:>5}  {meaning}" for code, meaning in EXIT_CODES.items())
    return "\n".join(["\b", "Exit codes:", *lines])  # \b: keep the lines as they are


app = typer.Typer(
    name="partita",
    cls=Commands,
    help="Ensemble (consensus) clustering: many clusterings in, one better clustering out. "
    "Data go to stdout, talk to stderr.",
    epilog=_epilog(),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"partita {version('partita')}")
        raise typer.Exit


def _show_details(wanted: bool) -> None:
    if wanted:
        logging.basicConfig(level=logging.WARNING)
        logging.getLogger("partita").setLevel(logging.DEBUG)


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", callback=_show_details, help="Log details; keep tracebacks."),
    ] = False,
) -> None:
    """Options of all commands; their callbacks do the work."""
