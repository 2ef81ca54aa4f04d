"""Options that mean the same in every command that has them."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Json", "Quiet", "Seed"]

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors and warnings.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of all random numbers.")]
