"""`partita methods`: list the consensus methods."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from partita.cli._messages import print_json, print_table
from partita.cli._options import Json

__all__ = ["run"]


def run(
    family: Annotated[str | None, typer.Option(help="Only methods of this family.")] = None,
    as_json: Json = False,
) -> None:
    """List the consensus methods."""
    from dataclasses import fields

    from partita.io import did_you_mean
    from partita.registry import all_methods

    classes = all_methods(family=family)
    if not classes:
        families = sorted({c.info.family for c in all_methods()})
        close = did_you_mean(str(family), families)
        raise ValueError(f"No method of family {family!r}{close}; there are {', '.join(families)}.")
    records: list[dict[str, Any]] = [
        {"class": c.__name__}
        | {f.name: getattr(c.info, f.name) for f in fields(c.info) if f.name != "bytes_needed"}
        for c in classes
    ]
    if as_json:
        print_json(records)
        return
    rows = [
        [
            record["key"],
            record["name"],
            record["family"],
            record["missing"],
            "no" if record["deterministic"] else "yes",
            record["memory"],
        ]
        for record in records
    ]
    columns = ["key", "name", "family", "missing", "random", "memory"]
    print_table(columns, rows, wrapped=("name",), optional=("memory", "random"))
