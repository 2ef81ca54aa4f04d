"""The command line: each command calls one function of the library and shows its result.

Data go to stdout, messages and progress to stderr. Commands import what they need when they run, so
that `partita --help` is fast. A new command is one file here, with a function `run`, and one line
below.
"""

from __future__ import annotations

from collections.abc import Callable

from partita.cli import (
    compare,
    convert,
    demo,
    diagnose,
    evaluate,
    fuse,
    generate,
    methods,
    plan,
    report,
    scan_k,
    segment,
)
from partita.cli._app import app

__all__ = ["app", "main"]

_COMMANDS: dict[str, Callable[..., None]] = {  # in the order of the help
    "demo": demo.run,
    "methods": methods.run,
    "generate": generate.run,
    "segment": segment.run,
    "fuse": fuse.run,
    "scan-k": scan_k.run,
    "compare": compare.run,
    "evaluate": evaluate.run,
    "diagnose": diagnose.run,
    "report": report.run,
    "convert": convert.run,
    "plan": plan.run,
}
for _name, _run in _COMMANDS.items():
    app.command(_name)(_run)
app.command("scan", hidden=True)(scan_k.run)


def main() -> None:
    """Run the command line."""
    app()
