"""`partita demo`: fuse and score a hundred clusterings of handwritten digits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli._messages import METHODS_HINT, Messages, check_methods, print_json, print_table
from partita.cli._options import Json, Methods, Quiet, Seed

if TYPE_CHECKING:
    from partita.datasets import Score
    from partita.datasets.demo import Demo

__all__ = ["run"]

_DRAWN_METHOD = "CCGP"


def run(
    partitions: Annotated[int, typer.Option(min=2, help="Number of base partitions.")] = 100,
    method: Methods = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Picture to write: .png, .svg or .pdf.")
    ] = Path("partita-demo.png"),
    seed: Seed = 0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fuse many clusterings of handwritten digits, print the scores and draw the consensus."""
    from partita.cli._progress import progress_bars
    from partita.datasets.demo import DEFAULT_METHODS, run_demo

    _check_output(output)
    check_methods(method or [])
    with progress_bars("demo", quiet=quiet):
        result = run_demo(
            n_partitions=partitions, methods=method or DEFAULT_METHODS, random_state=seed
        )
        drawn = _draw(result, output)
    scores = [*result.scores, result.base_mean, result.base_best]
    if as_json:
        records = [{"name": s.name, **s.measures, "seconds": s.seconds} for s in scores]
        print_json({"scores": records, "picture": str(output)})
    else:
        _print_scores(scores, len(result.scores))
    messages = Messages(quiet)
    messages.show(f"wrote {output}: agreement of {partitions} partitions with {drawn}")
    messages.hint(METHODS_HINT)


def _check_output(path: Path) -> None:
    """Raise an error if the picture cannot be written, before it is computed."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--output must end in .png, .svg or .pdf, got {str(path)!r}.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"No folder {str(path.absolute().parent)!r} to write into.")


def _draw(result: Demo, output: Path) -> str:
    """Draw the consensus of one method and return its name."""
    from partita.plotting import ConsensusDisplay, ScoresDisplay, draw_overview, save_figure

    drawn = _DRAWN_METHOD if _DRAWN_METHOD in result.labels else result.scores[0].name
    labels = result.labels[drawn]
    consensus = ConsensusDisplay.from_labels(result.partitions, labels, name=drawn, resolution=360)
    methods = {score.name: score.measures["ARI"] for score in result.scores}
    scores = ScoresDisplay(result.base_measures["ARI"], methods, "ARI")
    save_figure(draw_overview(consensus, scores, result.images, labels), output, dpi=110)
    return drawn


def _print_scores(scores: list[Score], n_methods: int) -> None:
    measures = list(scores[0].measures)
    best = {m: max(score.measures[m] for score in scores[:n_methods]) for m in measures}
    rows = []
    for place, score in enumerate(scores):
        cells = [f"{score.measures[m]:.3f}" for m in measures]
        if place < n_methods:
            cells = [
                f"[bold]{cell}[/]" if score.measures[m] == best[m] else cell
                for m, cell in zip(measures, cells, strict=True)
            ]
        rows.append([score.name, *cells, f"{score.seconds:.2f}"])
    print_table(["method", *measures, "seconds"], rows, numbers=True, section_after=n_methods - 1)
