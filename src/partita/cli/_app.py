"""The application: options before the command, exit codes and error messages."""

from __future__ import annotations

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from partita.cli._messages import Messages, show_problem
from partita.exceptions import MissingPackageError, NoStructureError

__all__ = ["EXIT_CODES", "app"]

USER_ERROR, NO_STRUCTURE, INTERRUPTED, BROKEN_PIPE = 2, 3, 130, 141
EXIT_CODES = {
    0: "success",
    1: "a bug in partita: please report it",
    USER_ERROR: "an error in the command, a file or a value, or too little memory",
    NO_STRUCTURE: "no structure found, so no number of clusters to use (fuse -k auto)",
    INTERRUPTED: "interrupted; no incomplete file is left",
    BROKEN_PIPE: "the program that read the output ended first",
}
# Errors that the user can correct are shown in one line, all others with a traceback.
_USER_ERRORS = (ValueError, MemoryError, OSError, MissingPackageError)
_log = logging.getLogger(__name__)


@contextmanager
def _exit_codes() -> Iterator[None]:
    try:
        with _warnings_as_lines():
            yield
        sys.stdout.flush()  # raises BrokenPipeError here and not at interpreter exit
    except KeyboardInterrupt:
        Messages(quiet=False).show("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open until the process ends
        raise typer.Exit(BROKEN_PIPE) from None
    except _USER_ERRORS as error:
        if _log.isEnabledFor(logging.DEBUG):
            raise
        show_problem(str(error), getattr(error, "__notes__", []))
        code = NO_STRUCTURE if isinstance(error, NoStructureError) else USER_ERROR
        raise typer.Exit(code) from None
    except Exception as error:
        if _is_from_typer(error, "ClickException"):
            _show_usage_error(error)
            raise typer.Exit(USER_ERROR) from None
        if not _is_from_typer(error, "Exit", "Abort"):
            error.add_note("This is a bug in partita. Please report it with the lines above.")
        raise


def _is_from_typer(error: Exception, *names: str) -> bool:
    """Tell errors of typer by name: they belong to click or, in newer versions, to typer itself."""
    return any(base.__name__ in names for base in type(error).__mro__)


def _show_usage_error(error: Any) -> None:
    """Show a wrong command, option or argument as every other error is shown."""
    context = getattr(error, "ctx", None)
    command = "partita" if context is None else context.command_path
    show_problem(error.format_message(), [f"`{command} --help` has the options and examples"])


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        show_problem(str(message), [], kind="warning")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _memory_first(args: list[str]) -> list[str]:
    """Move --memory before the command, so that it may also stand after it."""
    end = args.index("--") if "--" in args else len(args)
    places = [i for i in range(end) if args[i].partition("=")[0] == "--memory"]
    if places and args[places[-1]] == "--memory" and places[-1] + 1 == end:
        raise typer.BadParameter("--memory needs a size, for example 8GB.")
    moved = {j for i in places for j in ((i,) if "=" in args[i] else (i, i + 1))}
    return [
        *(args[i] for i in sorted(moved)),
        *(arg for i, arg in enumerate(args) if i not in moved),
    ]


class Commands(TyperGroup):
    """A group of commands that ends with the documented exit codes, also if a test runs it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args:
            return super().parse_args(ctx, args)  # prints the help
        with _exit_codes():
            return super().parse_args(ctx, _memory_first(args))

    def invoke(self, ctx: Any) -> Any:
        with _exit_codes():
            return super().invoke(ctx)


def _epilog() -> str:
    lines = (f"{code:>5}  {meaning}" for code, meaning in EXIT_CODES.items())
    return "\n".join(["\b", "Exit codes:", *lines])  # \b keeps the line breaks


app = typer.Typer(
    name="partita",
    cls=Commands,
    help="Ensemble (consensus) clustering: many clusterings in, one better clustering out. "
    "Data go to stdout, messages to stderr.",
    epilog=_epilog(),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_set: bool) -> None:
    if is_set:
        from importlib.metadata import version

        typer.echo(f"partita {version('partita')}")
        raise typer.Exit


def _enable_debug(is_set: bool) -> None:
    if is_set:
        logging.basicConfig(level=logging.WARNING)
        logging.getLogger("partita").setLevel(logging.DEBUG)


def _set_memory(text: str | None) -> None:
    if text is None:
        return
    from partita.config import set_config

    match = re.fullmatch(r"([0-9.]+)\s*([kmgt]?)i?b?", text.strip().lower())
    if match is None:
        raise typer.BadParameter(f"expected a size such as 500MB or 8GB, got {text!r}.")
    set_config(memory_budget=int(float(match[1]) * 1024 ** " kmgt".index(match[2] or " ")))


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", callback=_enable_debug, help="Log details; keep tracebacks."),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            callback=_set_memory,
            help="Memory that dense arrays may take, for example 8GB; in any place.",
        ),
    ] = None,
) -> None:
    """Define the options of all commands; their callbacks take effect."""
