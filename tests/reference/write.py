"""Write the reference files whose values come from the authors' programs.

python tests/reference/write.py ../shared/oracles

The programs' full outputs, some megabytes, are not part of the repository. This script keeps sums
and every n-th value of them. README.md documents the format.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from references import FOLDER, encode, select

ORACLES = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER.parents[2] / "shared" / "oracles"
DESCRIPTIONS = {
    "iris_a": "20 k-means partitions of Fisher's iris data, K_i uniform in 2..12.",
    "ecoli_a": "20 k-means partitions of the ecoli data, K_i uniform in 2..18.",
    "ecoli_b": "10 k-means partitions of the ecoli data at K_i = 8.",
    "aggregation_a": "20 k-means partitions of the aggregation data, K_i uniform in 2..28.",
}
SETS = tuple(DESCRIPTIONS)
OCTAVE = "in GNU Octave 7.3, double precision."

Entry = dict[str, Any]
Case = dict[str, Any]


class Outputs:
    """The outputs of all programs on one ensemble."""

    def __init__(self, name: str) -> None:
        self.name = name
        base = np.load(ORACLES / name / "base.npz")
        self.labels, self.y = base["labels"].astype(int), base["y"].astype(int)
        self.n_clusters = int(base["n_clusters"])
        self.every = len(self.labels) // 12

    def __call__(self, program: str) -> dict[str, Any]:
        return dict(np.load(ORACLES / self.name / f"{program}.npz"))

    def case(self, expected: list[Entry], **parameters: Any) -> Case:
        parameters = {"n_clusters": self.n_clusters, **parameters}
        return {"partitions": self.name, "parameters": parameters, "expected": expected}

    def sums(self, quantity: str, matrix: Any, **options: Any) -> Entry:
        """Return an entry with every n-th row sum."""
        return values(quantity, matrix, reduction="row_sums", every=self.every, **options)


def rounded(numbers: Any) -> Any:
    """Return numbers with 13 significant digits, as JSON stores them."""
    array = np.asarray(numbers)
    if array.dtype.kind in "iub":
        return array.tolist()
    return np.vectorize(lambda x: float(f"{x:.13g}"))(array.astype(float)).tolist()


def values(quantity: str, full: Any, *, rtol: float = 1e-10, **entry: Any) -> Entry:
    """Return an entry that holds what `entry` selects of the full output."""
    selected = {"quantity": quantity, **entry}
    return {**selected, "value": rounded(select(np.asarray(full), entry)), "rtol": rtol}


def labels(published: Any, min_ari: float = 1.0) -> Entry:
    """Return an entry for labels, numbered from 0."""
    codes = np.unique(published, return_inverse=True)[1].reshape(-1)
    entry = {"quantity": "labels", "value": encode(codes)}
    return entry if min_ari == 1.0 else {**entry, "min_ari": min_ari}


def inertia(points: Any, published: Any) -> float:
    """Return the k-means objective of the published labels."""
    groups = [points[published == k] for k in np.unique(published)]
    return sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups)


def at_most(bound: float) -> Entry:
    return {"quantity": "objective_", "at_most": float(f"{bound * (1 + 1e-9):.13g}")}


def leading(eigenvalues: Any, n: int) -> Any:
    return rounded(np.sort(eigenvalues)[::-1][:n])


def eac(out: Outputs) -> Iterator[Case]:
    program = out("eac")
    matrix = out.sums("coassociation", program["CA"])
    # Ties are many, and the program breaks them in its own way.
    yield out.case([matrix, labels(program["labels_average"], 0.9)], linkage="average")
    yield out.case([labels(program["labels_single"], 0.9)], linkage="single")


def lwea(out: Outputs) -> Iterator[Case]:
    program = out("lwea_lwgp")
    matrix = out.sums("locally_weighted_coassociation", program["LWCA"])
    yield out.case([matrix, labels(program["labels_LWEA"])])


def lwgp(out: Outputs) -> Iterator[Case]:
    program = out("lwea_lwgp")
    vectors = program["LWGP_embedding"]
    expected = [
        values("cluster_certainty", program["ECI"], every=8),
        labels(program["labels_LWGP"], 0.9),
        at_most(inertia(vectors, program["labels_LWGP"])),
    ]
    intermediate = {
        "eigenvalues": leading(program["LWGP_eigenvalues"], out.n_clusters),
        "gram_row_sums": rounded((vectors @ vectors.sum(axis=0))[:: out.every]),
        "every": out.every,
    }
    yield {**out.case(expected, n_init=50), "intermediate": intermediate}


def pta(out: Outputs) -> Iterator[Case]:
    program = out("pta_ptgp")
    row = program["mc_of_object"] - 1
    matrix = out.sums("trajectory_similarity", program["PTS"][np.ix_(row, row)])
    for linkage in ("average", "complete", "single"):
        expected = [matrix] if linkage == "average" else []
        if out.name != "iris_a":  # there, blocks lie at distance 1 from each other: ties
            expected = [*expected, labels(program[f"labels_{linkage}"])]
        if expected:
            yield out.case(expected, linkage=linkage)


def ptgp(out: Outputs) -> Iterator[Case]:
    program = out("pta_ptgp")
    row = program["mc_of_object"] - 1
    published, vectors = program["labels_PTGP"], program["PTGP_embedding"]
    of_row = np.empty(len(vectors), int)
    of_row[row] = published
    expected = [labels(published, 0.85), at_most(inertia(vectors, of_row))]
    samples = vectors[row]
    intermediate = {
        "eigenvalues": leading(program["PTGP_eigenvalues"], out.n_clusters),
        "graph_row_sums": rounded(program["PTGP_B"].sum(axis=1)[row][:: out.every]),
        "gram_row_sums": rounded((samples @ samples.sum(axis=0))[:: out.every]),
        "every": out.every,
    }
    yield {**out.case(expected, n_init=20), "intermediate": intermediate}


def eccms(out: Outputs) -> Iterator[Case]:
    for settings in ("a0p8_l0p4", "a0p75_l0p01"):
        program = out(f"eccms_{settings}")
        C, some = program["C"], {"every": out.every, "atol": 1e-8}
        expected = [
            {"quantity": "n_iter_", "value": int(program["iterations"])},
            values("history_", program["stop_trace"][:, 1:], index=[-1], rtol=1e-8),
            values("consensus_matrix", C, reduction="row_sums", **some),
            values("consensus_matrix", C, reduction="column_sums", **some),
            values("consensus_matrix", C, reduction="diagonal", **some),
            values("consensus_matrix", C, reduction="sum_of_squares", rtol=1e-8),
            labels(program["labels"]),
        ]
        yield out.case(expected, alpha=float(program["alpha"]), lam=float(program["lambda"]))


def spce(out: Outputs) -> Iterator[Case]:
    for theta in (0.1, 0.3, 0.5):
        program_file = f"spce_theta{theta}".replace(".", "p")
        if not (ORACLES / out.name / f"{program_file}.npz").exists():
            continue
        program = out(program_file)
        S, some = program["S"], {"every": out.every, "atol": 1e-8}
        expected = [
            values("consensus_matrix", S, reduction="row_sums", **some),
            values("consensus_matrix", S, reduction="first_column", **some),
            values("alpha_", program["alpha_weights"], atol=1e-8),
            {"quantity": "rho_", "value": float(program["rho_final"])},
            {"quantity": "n_components_", "value": int(program["n_components"])},
            {
                "quantity": "n_iter_",
                "value": len(program["trace_r_iter_rho_fn1_fn2_sumS_nnzS"]),
            },
        ]
        sums = rounded(program["W"].sum(axis=1)[:: out.every])
        intermediate = {"easiness_row_sums": sums, "every": out.every}
        yield {**out.case(expected, theta=theta), "intermediate": intermediate}


def rce(out: Outputs) -> Iterator[Case]:
    if not (ORACLES / out.name / "rce_l1_1.npz").exists():
        return
    for settings in ("l1_1", "l0p1_0p1"):
        program = out(f"rce_{settings}")
        penalties = {name: float(program[name]) for name in ("lambda1", "lambda2")}
        expected = [
            out.sums("consensus_matrix", program["W"]),
            {"quantity": "n_iter_", "value": 20},
            labels(program["labels"], 0.99),
        ]
        A = program["A_star"]
        pairs = [(p, p + out.every) for p in range(0, len(A) - out.every, out.every)]
        entries = [[p, q, *rounded([A[p, q], A[q, p]])] for p, q in pairs]
        yield {**out.case(expected, **penalties, tol=0), "intermediate": {"entries": entries}}
        # The last errors of the program belong to the matrix of the pass before the last.
        errors = values("partition_errors_", program["E_l1_per_base"])
        yield out.case([errors], **penalties, tol=0, max_iter=19)


def ecpcs(out: Outputs) -> Iterator[Case]:
    program = out("ecpcs")
    matrix = out.sums("enhanced_coassociation", program["ECA"])
    intermediate = {"eigenvalues": leading(program["MC_eigenvalues"], out.n_clusters)}
    case = out.case([matrix, labels(program["labels_HC"])])
    yield {**case, "intermediate": intermediate}


def drec(out: Outputs) -> Iterator[Case]:
    for lam in (1, 100):
        if not (ORACLES / out.name / f"drec_lambda{lam}.npz").exists():
            continue
        program = out(f"drec_lambda{lam}")
        row = program["mc_of_object"] - 1
        Z = program["Z"][np.ix_(row, row)]
        expected = [
            values("history_", program["objective"]),
            out.sums("consensus_matrix", Z, atol=1e-10),
            values("consensus_matrix", Z, reduction="diagonal", every=out.every, atol=1e-10),
            labels(program["labels"], 0.99),
        ]
        yield out.case(expected, lam=lam)


UTILITIES: dict[str, dict[str, Any]] = {
    "u_c_std": {"utility": "c"},
    "u_c_norm": {"utility": "c", "normalized": True},
    "u_h_std": {"utility": "h"},
    "u_h_norm": {"utility": "h", "normalized": True},
    "u_cos_std": {"utility": "cos"},
    "u_cos_norm": {"utility": "cos", "normalized": True},
    "u_lp_std5": {"utility": "lp", "p": 5},
    "u_lp_norm5": {"utility": "lp", "p": 5, "normalized": True},
}


def label_kmeans_runs(out: Outputs, key: str) -> Iterator[tuple[list[int], list[Entry]]]:
    """Yield the seeds and results of the first two starts whose seeds have distinct labels."""
    program = out("kcc")
    seeds = program["init_idx_1based"].astype(int) - 1
    distinct = [len(np.unique(out.labels[s], axis=0)) == out.n_clusters for s in seeds]
    for j in np.flatnonzero(distinct)[:2]:
        sizes = np.sort(np.bincount(program[f"{key}_labels_per_init"][:, j].astype(int)))
        expected = [
            values("objective_", program[f"{key}_objective"][j], rtol=1e-12),
            {"quantity": "cluster_sizes", "value": sizes[sizes > 0].tolist()},
        ]
        if not key.startswith("u_h"):  # the program reports that utility with a wrong sign
            expected.append(values("utility_", program[f"{key}_utility"][j, 0], rtol=1e-11))
        yield seeds[j].tolist(), expected


def kcc(out: Outputs) -> Iterator[Case]:
    for key, parameters in UTILITIES.items():
        for seeds, expected in label_kmeans_runs(out, key):
            yield out.case(expected, init=seeds, **parameters)


def ccc(out: Outputs) -> Iterator[Case]:
    for seeds, expected in label_kmeans_runs(out, "u_c_std"):
        yield out.case(expected, init=seeds)


def weac(out: Outputs) -> Iterator[Case]:
    program = out("weac_gpmgla")
    expected = [
        values("crowd_agreement", program["NCAI"]),
        out.sums("crowd_weighted_coassociation", program["WCA"]),
        labels(program["labels_WEAC_AL"]),
    ]
    yield out.case(expected)


def gpmgla(out: Outputs) -> Iterator[Case]:
    program = out("weac_gpmgla")
    graph, n, K = program["GPMGLA_B"], len(out.labels), out.n_clusters
    # The program's transfer cut, written out: it keeps the graph and not the eigenvectors.
    d_x, d_y = graph.sum(axis=1), graph.sum(axis=0)
    W = graph.T @ (graph / d_x[:, None])
    eigenvalues, V = np.linalg.eigh(W / np.sqrt(np.outer(d_y, d_y)))
    T = ((graph / d_x[:, None]) @ (V[:, ::-1][:, :K] / np.sqrt(d_y)[:, None]))[:n]
    vectors = T / (np.linalg.norm(T, axis=1, keepdims=True) + 1e-10)
    published = program["labels_GPMGLA"]
    expected = [labels(published, 0.95), at_most(inertia(vectors, published))]
    intermediate = {
        "eigenvalues": leading(eigenvalues, K),
        "link_sums": rounded(graph[n:].sum(axis=1)[::8]),
        "gram_row_sums": rounded((vectors @ vectors.sum(axis=0))[:: out.every]),
        "every": out.every,
    }
    yield {**out.case(expected, n_init=20), "intermediate": intermediate}


def sec(out: Outputs) -> Iterator[Case]:
    program = out("sec")
    kept = 0
    for j, seeds in enumerate(program["init_idx_1based"].astype(int) - 1):
        complete = len(np.unique(program["labels_per_init"][:, j])) == out.n_clusters
        distinct = len(np.unique(out.labels[seeds], axis=0)) == out.n_clusters
        if complete and distinct and kept < 4:
            kept += 1
            objective = program["objective_per_init"][j]
            expected = [
                values("objective_", objective, rtol=1e-11),
                values("sample_weights_", program["w"], every=out.every, rtol=0),
            ]
            yield out.case(expected, init=seeds.tolist())


TOMS = f"The published program of KCC (ACM TOMS Algorithm 1038) from given seeds, {OCTAVE}"
WRITERS: dict[str, tuple[Callable[[Outputs], Iterator[Case]], tuple[str, ...], str]] = {
    "ccc": (ccc, SETS, f"{TOMS} CCC is KCC with the category utility."),
    "drec": (drec, ("iris_a", "ecoli_b"), f"The DREC authors' published program, {OCTAVE}"),
    "eac": (eac, SETS, f"A published program of EAC and its linkages, {OCTAVE}"),
    "eccms": (eccms, ("iris_a", "ecoli_b"), f"The EC-CMS authors' published program, {OCTAVE}"),
    "ecpcs": (ecpcs, SETS, f"The ECPCS authors' published program, t = 20, {OCTAVE}"),
    "gpmgla": (gpmgla, SETS, f"The WEAC/GP-MGLA authors' published program, {OCTAVE}"),
    "kcc": (kcc, ("iris_a", "ecoli_b"), TOMS),
    "lwea": (lwea, SETS, f"The LWEA/LWGP authors' published program, theta = 0.4, {OCTAVE}"),
    "lwgp": (lwgp, SETS, f"The LWEA/LWGP authors' published program, theta = 0.4, {OCTAVE}"),
    "pta": (pta, SETS, f"The PTA/PTGP authors' published program, {OCTAVE}"),
    "ptgp": (ptgp, SETS, f"The PTA/PTGP authors' published program, {OCTAVE}"),
    "rce": (rce, ("iris_a", "ecoli_b"), f"The RCE authors' program, 20 x 20 updates, {OCTAVE}"),
    "sec": (sec, SETS, f"A program after the SEC authors', from given seeds, {OCTAVE}"),
    "spce": (spce, ("iris_a", "ecoli_b"), f"The SPCE authors' published program, {OCTAVE}"),
    "weac": (weac, SETS, f"The WEAC/GP-MGLA authors' published program, beta = 2, {OCTAVE}"),
}  # fmt: skip


def write(path: Path, stored: dict[str, Any]) -> None:
    """Write one entry per line, so that a difference between versions can be read."""
    if "cases" not in stored:
        text = json.dumps(stored, indent=1)
    else:
        head = json.dumps({k: v for k, v in stored.items() if k != "cases"}, indent=1)
        cases = []
        for case in stored["cases"]:
            fields = [f'"{k}": {json.dumps(v)}' for k, v in case.items() if k != "expected"]
            entries = ",\n    ".join(json.dumps(entry) for entry in case["expected"])
            fields.insert(2, f'"expected": [\n    {entries}]')
            cases.append("  {" + ",\n   ".join(fields) + "}")
        text = head[:-2] + ',\n "cases": [\n' + ",\n".join(cases) + "\n ]\n}"
    path.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    for name, source in DESCRIPTIONS.items():
        out = Outputs(name)
        stored = {
            "source": source,
            "n_clusters": out.n_clusters,
            "y": labels(out.y)["value"],
            "partitions": [encode(column) for column in out.labels.T],
        }
        write(FOLDER / "partitions" / f"{name}.json", stored)
    for key, (writer, sets, how) in WRITERS.items():
        cases = [case for name in sets for case in writer(Outputs(name))]
        head = {"method": key, "source": "authors' program", "how": how}
        write(FOLDER / f"{key}.json", {**head, "cases": cases})


if __name__ == "__main__":
    main()
