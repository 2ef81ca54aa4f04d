"""Tables IV and V of the EC-CMS paper, on the authors' candidate partitions.

    python -m benchmarks.papers.eccms_pools [--pools ecoli umist] [--draws 20] [--methods LWEA SPCE]

The paper draws 20 of 100 candidate partitions, 20 times, and prints mean and standard deviation.
Here the draws are those of the authors: the first 20 entries of the permutation that sorts 100
uniform numbers, generator MT19937 with seed 1. With them LWEA, which has no random step, gives the
printed mean and deviation of ARI to the last digit on all ten pools. Differences elsewhere are
therefore due to the method or its parameters, not to the draw.

Every finished draw is written to `eccms_pools.json`. Another run computes only the missing draws,
and `--draws 0` prints the report. NMI is divided by the mean entropy, as in the authors' scoring.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from partita.config import config_context
from partita.metrics import evaluate
from partita.registry import all_methods

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
RECORDS = Path(__file__).with_suffix(".json")
POOLS = (
    "caltech20", "ecoli", "ls", "fct", "aggregation", "texture", "umist", "spf", "isolet", "usps",
)  # fmt: skip
N_DRAWS, N_DRAWN = 20, 20
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "EAC": ("eac", {}),
    "LWEA": ("lwea", {}),
    "LWGP": ("lwgp", {"random_state": 0}),
    "SPCE": ("spce", {}),
    "EC-CMS (0.8, 0.4)": ("eccms", {"alpha": 0.8, "lam": 0.4}),
    "EC-CMS (0.75, 0.1)": ("eccms", {"alpha": 0.75, "lam": 0.1}),
}
MEASURES = {"ARI": "ARI", "NMI": "NMI_arithmetic", "F": "F"}

# Mean and deviation as printed. EAC is in Table VI, without deviations; "tuned" is the row with
# parameters chosen per data set on the truth, beside which (0.75, 0.1) stands.
TABLE_IV = {  # ARI, in the order of the first eight pools
    "EAC": (".313", ".548", ".467", ".121", ".896", ".575", ".333", ".057"),
    "LWEA": (".367 .033", ".430 .030", ".558 .060", ".130 .016", ".928 .096", ".705 .045",
             ".348 .038", ".084 .018"),
    # the column FCT has lost one of its first four values in the text at hand, LWGP's or another's
    "LWGP": (".226 .019", ".417 .046", ".590 .019", "", ".971 .010", ".658 .048", ".345 .020",
             ".084 .015"),
    "SPCE": (".317 .106", ".737 .057", ".475 .127", ".113 .037", ".965 .054", ".578 .074",
             ".369 .039", ".088 .021"),
    "EC-CMS (0.8, 0.4)": (".401 .054", ".487 .104", ".644 .038", ".166 .025", ".969 .065",
                          ".718 .052", ".365 .049", ".103 .018"),
    "EC-CMS (0.75, 0.1)": (".525 .075", ".754 .018", ".657 .024", ".179 .017", ".989 .004",
                           ".723 .052", ".371 .056", ".105 .022"),
}  # fmt: skip
TABLE_V = {  # ARI, NMI, F of isolet, then of usps
    "LWEA": (".553 .016", ".764 .008", ".573 .015", ".525 .033", ".663 .019", ".578 .028"),
    "LWGP": (".514 .017", ".753 .006", ".535 .016", ".477 .035", ".643 .023", ".535 .031"),
    "SPCE": (".435 .055", ".759 .018", ".465 .050", ".402 .064", ".605 .032", ".473 .050"),
    "EC-CMS (0.8, 0.4)": (".553 .020", ".775 .008", ".574 .019", ".519 .035", ".663 .019",
                          ".574 .029"),
    "EC-CMS (0.75, 0.1)": (".562 .014", ".774 .007", ".582 .013", ".540 .040", ".672 .019",
                           ".591 .034"),
}  # fmt: skip

# Why a mean lies outside the published spread, by (method, pool); figures are of the same draws.
_TUNED = "the printed cell is tuned per data set on the truth; "
_BY_ALPHA = _TUNED + "(0.8, 0.4), one line up, lies within its spread"
_BY_FIG_2 = _BY_ALPHA + ", and Fig. 2 of the paper has alpha = 0.8 as the best here"
REASONS = {
    ("EAC", "ecoli"): "Table VI has no deviation and does not follow from the candidates: SciPy's "
    "average linkage gives 0.447 as well (single 0.524, complete 0.486), and the survey of 71 "
    "methods has 0.476",
    ("SPCE", "caltech20"): _TUNED + "theta = 0.5 gives 0.334 ± 0.122 over ten draws, the default "
    "is 0.3",
    ("SPCE", "fct"): _TUNED + "theta = 0.6 gives 0.159 and 0.137 on the first two draws, the "
    "default is 0.3",
    ("SPCE", "ls"): _TUNED + "theta = 0.6 gives 0.479 on the mean of the first three draws, the "
    "default is 0.3",
    ("SPCE", "texture"): _TUNED + "theta = 0.7 gives 0.641 on the mean of the first three draws, "
    "the default is 0.3",
    ("SPCE", "isolet"): _TUNED + "on the first three draws theta = 0.6 gives ARI 0.378, NMI 0.737 "
    "and F 0.412, theta = 0.7 0.530, 0.765 and 0.551, with the printed ones between; the default "
    "is 0.3",
    ("SPCE", "usps"): _TUNED + "theta = 0.6 gives ARI 0.370, NMI 0.582 and F 0.456 on the first "
    "draw, the default is 0.3",
    ("SPCE", "spf"): _TUNED + "theta = 0.4 gives 0.088 ± 0.022, the default is 0.3",
    ("EC-CMS (0.75, 0.1)", "ecoli"): _TUNED + "(0.75, 0.01) gives 0.755 ± 0.019",
    ("EC-CMS (0.75, 0.1)", "aggregation"): _TUNED + "(0.8, 0.4) gives it to the last digit",
    ("EC-CMS (0.75, 0.1)", "ls"): _BY_FIG_2,
    ("EC-CMS (0.75, 0.1)", "fct"): _BY_FIG_2,
    ("EC-CMS (0.75, 0.1)", "texture"): _BY_FIG_2,
    ("EC-CMS (0.75, 0.1)", "isolet"): _BY_ALPHA,
    ("EC-CMS (0.75, 0.1)", "usps"): _TUNED + "(0.8, 0.4), one line up, is nearer to it",
}


@dataclass(frozen=True)
class Cell:
    """A measured value and the published one."""

    pool: str
    method: str
    measure: str
    ours: NDArray[np.float64]
    published: float | None
    spread: float | None

    @property
    def mean(self) -> float:
        return float(self.ours.mean())

    @property
    def deviation(self) -> float:
        return float(self.ours.std(ddof=1)) if len(self.ours) > 1 else float("nan")

    @property
    def verdict(self) -> str:
        """equal: to the printed digits; within: inside the published spread (EAC: our own)."""
        if self.published is None:
            return "not printed"
        same_mean = round(self.mean, 3) == self.published
        if same_mean and (self.spread is None or round(self.deviation, 3) == self.spread):
            return "equal"
        spread = self.deviation if self.spread is None else self.spread
        if abs(self.mean - self.published) <= spread:
            return "within"
        return "above" if self.mean > self.published else "below"


def draws(n: int) -> Iterator[NDArray[np.int64]]:
    """Yield the candidate partitions of every draw of the authors."""
    generator = np.random.RandomState(1)
    for _ in range(n):
        yield np.argsort(generator.random_sample(100), kind="stable")[:N_DRAWN]


def run(pools: list[str], methods: list[str], n_draws: int, threads: int) -> None:
    """Compute the draws that are missing in the records, and write each at once."""
    classes = {method.info.key: method for method in all_methods()}
    records = load()
    for pool in pools:
        with np.load(DATA / f"pool_{pool}.npz") as file:
            candidates, y = file["members"], file["y"]
        for i, chosen in enumerate(draws(n_draws)):
            for name in methods:
                key, settings = METHODS[name]
                done = records.setdefault(pool, {}).setdefault(name, {})
                if key not in classes or str(i) in done:
                    continue
                method = classes[key](n_clusters=len(np.unique(y)), **settings)
                start = time.perf_counter()
                with config_context(n_threads=threads):
                    labels = method.fit_predict(candidates[:, chosen])
                seconds = time.perf_counter() - start
                scores = evaluate(y, labels)
                done[str(i)] = {
                    **{name: round(scores[score], 6) for name, score in MEASURES.items()},
                    "n_clusters": int(method.n_clusters_),
                    "n_iter": int(method.n_iter_),
                    "seconds": round(seconds, 3),
                }
                save(records)
                print(
                    f"{pool} draw {i} {name}: ARI {scores['ARI']:.3f}, {seconds:.1f} s", flush=True
                )


def load() -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return the records by pool, method and draw."""
    return json.loads(RECORDS.read_text())["records"] if RECORDS.exists() else {}


def save(records: dict[str, Any]) -> None:
    content = {
        "protocol": "20 of the authors' 100 candidate partitions, draws as in the authors' program "
        "(MT19937, seed 1); scores per draw, of the draws that were run; seconds as they passed "
        "on a busy machine, which compare nothing",
        "records": {pool: records[pool] for pool in POOLS if pool in records},
        "summary": [
            {
                "pool": cell.pool,
                "method": cell.method,
                "measure": cell.measure,
                "draws": len(cell.ours),
                "mean": round(cell.mean, 4),
                "deviation": None if np.isnan(cell.deviation) else round(cell.deviation, 4),
                "published": cell.published,
                "published_deviation": cell.spread,
                "verdict": cell.verdict,
                "reason": reason(cell),
            }
            for cell in cells(records)
        ],
    }
    unfinished = RECORDS.with_suffix(".tmp")
    unfinished.write_text(json.dumps(content, indent=1) + "\n")
    unfinished.replace(RECORDS)  # never half a file, whenever the run is stopped


def cells(records: dict[str, Any]) -> Iterator[Cell]:
    """Yield every computed value with the published one."""
    for pool in POOLS:
        for method in METHODS:
            done = records.get(pool, {}).get(method, {})
            for measure in MEASURES if pool in POOLS[8:] else ("ARI",):
                if done:
                    ours = np.asarray([done[i][measure] for i in sorted(done, key=int)])
                    yield Cell(pool, method, measure, ours, *published(method, pool, measure))


def published(method: str, pool: str, measure: str) -> tuple[float | None, float | None]:
    """Return mean and deviation as printed, None where there is none."""
    if pool in POOLS[8:]:
        column = 3 * POOLS[8:].index(pool) + list(MEASURES).index(measure)
        text = TABLE_V[method][column] if method in TABLE_V else ""
    else:
        text = TABLE_IV[method][POOLS.index(pool)]
    numbers = [float(word) for word in text.split()]
    return (numbers or [None])[0], numbers[1] if len(numbers) > 1 else None


def reason(cell: Cell) -> str:
    """Return why a value lies outside the published spread, or an empty text."""
    outside = cell.verdict in ("above", "below")
    return REASONS.get((cell.method, cell.pool), "not explained") if outside else ""


def report() -> None:
    """Print our values, the published ones, and the reasons for differences."""
    table = Table("pool", "method", "measure", "draws", "ours", "published", "verdict")
    outside = []
    for cell in cells(load()):
        printed = "-" if cell.published is None else f"{cell.published:.3f}"
        printed += "" if cell.spread is None else f" ± {cell.spread:.3f}"
        table.add_row(
            cell.pool,
            cell.method,
            cell.measure,
            str(len(cell.ours)),
            f"{cell.mean:.3f} ± {cell.deviation:.3f}",
            printed,
            cell.verdict,
        )
        if reason(cell):
            outside.append(f"{cell.method}, {cell.pool}, {cell.measure}: {reason(cell)}")
    Console(width=120).print(table)
    print("\n".join(["Outside the published spread:", *(outside or ["none"])]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pools", nargs="+", choices=POOLS, default=list(POOLS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--draws", type=int, default=N_DRAWS, help="0: only print the report")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    run(options.pools, options.methods, options.draws, options.threads)
    save(load())
    report()


if __name__ == "__main__":
    main()
