"""Write the reference files of methods for which no program's output exists.

python tests/reference/calculate.py

Every value is computed from the definition on all samples, with NumPy and scikit-learn: full
matrices, dense decompositions, exhaustive search. Nothing here calls the method it describes.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "consensus")]
from balanced_cuts import TOY, TOY_ANSWER, coassociation_cut, hyperedges_cut, jaccard, one_hot  # noqa: E402
from unreduced_aggregation import aggregate_slowly  # noqa: E402
from unreduced_bce import variational_em  # noqa: E402
from unreduced_certainty import certainty_slowly  # noqa: E402
from unreduced_links import link_similarity_slowly  # noqa: E402
from unreduced_losses import expected_slowly, set_partitions  # noqa: E402
from unreduced_low_rank import (  # noqa: E402
    complete,
    scaled_embedding,
    share_low_rank,
    share_transitions,
    transitions_of,
    walk_embedding,
)
from unreduced_representation import represent  # noqa: E402
from unreduced_trce import tri_level  # noqa: E402
from unreduced_votes import shares_of, vote_slowly  # noqa: E402
from write import labels, rounded, values, write  # noqa: E402

from references import FOLDER, encode, load_partitions  # noqa: E402

SEEDS = [
    [108, 51, 219, 27, 181, 126, 25, 173],
    [141, 306, 275, 89, 53, 309, 194, 237],
    [260, 235, 286, 229, 216, 155, 109, 213],
    [321, 173, 91, 158, 181, 54, 46, 50],
]
# The smallest cuts of ecoli_b into 8 parts (5 % imbalance) that METIS, KaHyPar or a long search
# reached, in the unit of each method, and how far above them a fit may end.
SMALLEST_CUTS = {"cspa": (3843.4, 0.02), "hgpa": (58, 0.09), "mcla": (91.1, 0.05)}
CUTS_TEXT = (
    "On ecoli_b, a bound: the smallest cut that METIS, KaHyPar or a long search reached, "
    "plus some per cent"
)
TOY_TEXT = "The example of seven objects in Strehl & Ghosh 2002"


def case(name: str, expected: list[dict[str, Any]], **parameters: Any) -> dict[str, Any]:
    n_clusters = {"toy": 3, "iris_a": 3, "ecoli_b": 8}[name]
    parameters = {"n_clusters": n_clusters, **parameters}
    return {"partitions": name, "parameters": parameters, "expected": expected}


def coassociation(labels: Any) -> Any:
    return sum((column[:, None] == column) for column in labels.T) / labels.shape[1]


def bound(value: float, slack: float = 1e-6) -> dict[str, Any]:
    return {"quantity": "objective_", "at_most": float(f"{value * (1 + slack):.13g}")}


def ecoli_cut(key: str, intermediate: dict[str, Any]) -> dict[str, Any]:
    """Return the case of ecoli_b for a method that cuts a graph into balanced parts."""
    expected = [bound(*SMALLEST_CUTS[key])]
    parameters = {"partitioner": "builtin"}
    return {**case("ecoli_b", expected, **parameters), "intermediate": intermediate}


def toy_partitions() -> list[Any]:
    """Return all partitions of the seven objects into three parts of at most three objects.

    Objects 6 and 7 have the same labels in all partitions, and such objects stay together.
    """
    parts = (np.array(p) for p in product(range(3), repeat=7))
    return [p for p in parts if sorted(np.bincount(p, minlength=3)) == [2, 2, 3] and p[5] == p[6]]


def cspa() -> tuple[str, list[dict[str, Any]]]:
    cut = min(coassociation_cut(TOY, p) for p in toy_partitions())
    expected = [values("objective_", cut), labels(TOY_ANSWER)]
    cut_of_y = {"cut_of_y": rounded(coassociation_cut(*load_partitions("ecoli_b")))}
    how = f"{TOY_TEXT}: its answer, and the smallest cut of all balanced partitions. {CUTS_TEXT}."
    return how, [case("toy", expected, partitioner="builtin"), ecoli_cut("cspa", cut_of_y)]


def hgpa() -> tuple[str, list[dict[str, Any]]]:
    cut = min(hyperedges_cut(TOY, p) for p in toy_partitions())
    cut_of_y = {"cut_of_y": hyperedges_cut(*load_partitions("ecoli_b"))}
    how = f"{TOY_TEXT}: the smallest cut of all balanced partitions. {CUTS_TEXT}."
    toy = case("toy", [values("objective_", cut)], partitioner="builtin")
    return how, [toy, ecoli_cut("hgpa", cut_of_y)]


def mcla() -> tuple[str, list[dict[str, Any]]]:
    J, B = jaccard(TOY), one_hot(TOY)
    sizes, best = B.sum(axis=0), np.inf
    for groups in (np.array(g) for g in product(range(3), repeat=len(J))):
        loads = np.bincount(groups, sizes, minlength=3)
        if loads.min() > 0 and loads.max() <= 1.2 * sizes.sum() / 3:
            best = min(best, J[groups[:, None] != groups].sum() / 2)
    # The method scales the graph to whole numbers, as METIS does.
    expected = [values("objective_", best, rtol=1e-8), labels(TOY_ANSWER)]
    sums = np.sort(jaccard(load_partitions("ecoli_b")[0]).sum(axis=1))
    intermediate = {"jaccard_row_sums_sorted": rounded(sums[::10]), "every": 10}
    how = (
        f"{TOY_TEXT}: its answer, and the smallest cut of all 3^11 groupings of the "
        f"clusters. {CUTS_TEXT}."
    )
    toy = case("toy", expected, partitioner="builtin", balance=0.2)
    return how, [toy, ecoli_cut("mcla", intermediate)]


def anmi(partitions: Any, consensus: Any) -> float:
    total = 0.0
    for column in partitions.T:
        kept = column >= 0
        score = normalized_mutual_info_score(
            consensus[kept], column[kept], average_method="geometric"
        )
        total += kept.sum() * score
    return total / (partitions >= 0).sum()


def gcc() -> tuple[str, list[dict[str, Any]]]:
    toy = [values("objective_", anmi(TOY, TOY_ANSWER)), labels(TOY_ANSWER)]
    partitions, y = load_partitions("ecoli_b")
    ecoli = {"quantity": "objective_", "at_least": rounded(anmi(partitions, y))}
    how = (
        f"{TOY_TEXT}: its answer and the average NMI of it, by scikit-learn's NMI. On "
        "ecoli_b, the average NMI of the true classes, which a method that maximizes it "
        "exceeds."
    )
    parameters = {"partitioner": "builtin"}
    return how, [case("toy", toy, **parameters), case("ecoli_b", [ecoli], **parameters)]


def hbgf() -> tuple[str, list[dict[str, Any]]]:
    partitions, _ = load_partitions("ecoli_b")
    B = one_hot(partitions)
    W = B / np.sqrt(B.sum(axis=1, keepdims=True)) / np.sqrt(B.sum(axis=0))
    U, _, Vt = np.linalg.svd(W)
    rows, columns = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in (U[:, :8], Vt[:8].T))
    model = KMeans(8, n_init=200, random_state=0, tol=0).fit(np.vstack([rows, columns]))
    expected = [bound(model.inertia_), labels(model.labels_[: len(rows)], 0.95)]
    intermediate = {
        "every": 28,
        "gram_row_sums": rounded((rows @ rows.sum(axis=0))[::28]),
        "norm_rows": rounded(np.linalg.norm(rows.T @ rows)),
        "norm_columns": rounded(np.linalg.norm(columns.T @ columns)),
    }
    how = (
        "Dense SVD (NumPy) of the normalized incidence matrix of all samples, rows scaled "
        "to unit length, and the best of 200 starts of scikit-learn's k-means on them. "
        "intermediate: row sums of the samples' Gram matrix, and Frobenius norms of the 8 x "
        "8 products of the samples' and the clusters' vectors."
    )
    return how, [{**case("ecoli_b", expected, n_init=50), "intermediate": intermediate}]


def ccgp() -> tuple[str, list[dict[str, Any]]]:
    cases = []
    for name, k in (("iris_a", 3), ("ecoli_b", 8)):
        partitions, _ = load_partitions(name)
        certainty = certainty_slowly(partitions, 0.4)
        B = one_hot(partitions) * certainty
        degree = B.sum(axis=1, keepdims=True)
        _, s, Vt = np.linalg.svd(B / np.sqrt(degree) / np.sqrt(B.sum(axis=0)))
        rows = (B / degree) @ (Vt[:k].T / np.sqrt(B.sum(axis=0))[:, None])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        model = KMeans(k, n_init=200, random_state=0, tol=0).fit(rows)
        expected = [
            values("corrected_certainty", certainty, every=8, rtol=1e-9),
            bound(model.inertia_),
            labels(model.labels_, 0.95),
        ]
        intermediate = {"eigenvalues": rounded(s[:k] ** 2)}
        cases.append({**case(name, expected, n_init=50), "intermediate": intermediate})
    how = (
        "Certainties cluster by cluster with moments of the hypergeometric distribution "
        "(tests/consensus/unreduced_certainty.py), a dense SVD (NumPy) of all samples, and the "
        "best of 200 starts of scikit-learn's k-means."
    )
    return how, cases


def kc() -> tuple[str, list[dict[str, Any]]]:
    CA = coassociation(load_partitions("ecoli_b")[0])
    cases = []
    for seeds in SEEDS:
        model = KMeans(8, init=CA[seeds], n_init=1, tol=0).fit(CA)
        cases.append(case("ecoli_b", [values("objective_", model.inertia_)], init=seeds))
    how = "scikit-learn's k-means from given seeds on the rows of the full co-association matrix."
    return how, cases


def lce() -> tuple[str, list[dict[str, Any]]]:
    cases = []
    for name, n_clusters in (("iris_a", 3), ("ecoli_b", 8)):
        partitions, _ = load_partitions(name)
        for similarity in ("cts", "srs", "asrs"):
            S = link_similarity_slowly(partitions, similarity, 0.8, 5)
            sums = {"reduction": "row_sums", "every": len(S) // 12}
            expected = [values("link_similarity", S, options={"similarity": similarity}, **sums)]
            if similarity == "cts":  # else samples with equal labels are no cluster in SciPy's tree
                tree = linkage(squareform(1 - S, checks=False), "average")
                expected.append(labels(cut_tree(tree, n_clusters).ravel()))
            cases.append(case(name, expected, similarity=similarity))
    how = (
        "Similarities of all pairs of samples, pair by pair from the definitions "
        "(tests/consensus/unreduced_links.py), and SciPy's average linkage of all samples."
    )
    return how, cases


def factorize(A: Any, Q: Any, n_updates: int) -> tuple[list[float], Any]:
    """Return the objective after every update of the paper, on the full matrix, and D."""
    Q = Q / np.linalg.norm(Q, axis=0)
    D = np.diag(np.diag(Q.T @ A @ Q))
    history = []
    for _ in range(n_updates):
        Q = Q * np.sqrt((A @ Q @ D) / (Q @ Q.T @ A @ Q @ D + 1e-12))
        D = D * np.sqrt((Q.T @ A @ Q) / (Q.T @ Q @ D @ Q.T @ Q + 1e-12))
        history.append(np.linalg.norm(A - Q @ D @ Q.T) ** 2)
    return history, D


def nmfc() -> tuple[str, list[dict[str, Any]]]:
    partitions, _ = load_partitions("ecoli_b")
    A = coassociation(partitions)
    starts = [np.eye(8)[column] + 0.2 for column in partitions.T]
    best = min(factorize(A, Q, 300)[0][-1] for Q in starts)
    history, D = factorize(A, starts[0], 12)
    blocks = [one_hot(column[:, None]) for column in partitions.T]
    overlaps = [((blocks[0].T @ block) ** 2).sum() for block in blocks]
    intermediate = {
        "updates": 12,
        "objective": rounded(history),
        "D": rounded(np.sort(np.diag(D))),
        "squared_overlaps": rounded(overlaps),
    }
    how = (
        "The paper's multiplicative updates with full matrices (NumPy), from every base "
        "partition + 0.2: the best objective after 300 updates. intermediate: 12 updates "
        "from the first partition, the sorted diagonal of D, and the squared overlaps of "
        "the first partition with all."
    )
    return how, [{**case("ecoli_b", [bound(best, 1e-3)]), "intermediate": intermediate}]


def representation(name: str, lambda1: float, *, concave: bool) -> tuple[str, list[dict[str, Any]]]:
    partitions, _ = load_partitions(name)
    n_clusters = 3 if name == "iris_a" else 8
    twin = represent(partitions, n_clusters, lambda1, 0.01, concave=concave)
    some = {"every": 15, "rtol": 0, "atol": 1e-8}
    expected = [
        {"quantity": "n_iter_", "value": len(twin.history)},
        values("consensus_matrix", twin.Z, reduction="row_sums", **some),
        values("consensus_matrix", twin.Z, reduction="diagonal", **some),
        values("embedding_", twin.H, reduction="gram_row_sums", **some),
        values("history_", twin.history, index=[0, 4, 9, 14, 29], rtol=1e-6),
        values("objective_", twin.objective, rtol=1e-8),
    ]
    how = (
        f"Algorithm {2 if concave else 1} of the paper with the two steps the print lacks, "
        "in plain NumPy (n x n matrices, no reduction; "
        "tests/consensus/unreduced_representation.py). No output of the authors' program is at "
        "hand."
    )
    return how, [case(name, expected)]


def bce() -> tuple[str, list[dict[str, Any]]]:
    partitions, _ = load_partitions("iris_a")
    large = [column for column in partitions.T if column.max() >= 3]
    best = -np.inf
    for groups in (np.eye(3)[np.digitize(column, [1, 3])] for column in large[:2]):
        counts = [groups.T @ one_hot(column[:, None]) for column in partitions.T]
        tables = [c + 0.1 * groups.sum(axis=0)[:, None] for c in counts]
        tables = [t / t.sum(axis=1, keepdims=True) for t in tables]
        best = max(best, variational_em(partitions, np.full(3, 0.1), tables, 12).bound[-1])
    how = (
        "Variational EM on all samples in plain NumPy (tests/consensus/unreduced_bce.py), 12 "
        "iterations from two partitions whose clusters are joined to three by their numbers: "
        "the largest bound, which a fit must reach."
    )
    at_least = {"quantity": "objective_", "at_least": rounded(best)}
    return how, [case("iris_a", [at_least])]


def trce() -> tuple[str, list[dict[str, Any]]]:
    cases = []
    for name, n_clusters in (("iris_a", 3), ("ecoli_b", 8)):
        partitions, _ = load_partitions(name)
        some = {"every": len(partitions) // 12, "atol": 1e-10}
        for gamma in (0.01, 1.0):
            twin = tri_level(partitions, n_clusters, gamma)
            expected = [
                values("consensus_matrix", twin.S, reduction="row_sums", **some),
                values("consensus_matrix", twin.S, reduction="first_column", **some),
                values("sample_weights_", twin.w, **some),
                values("alpha_", twin.alpha, atol=1e-10),
                values("history_", twin.objective),
                {"quantity": "rho_", "value": twin.rho},
                {"quantity": "n_components_", "value": n_clusters},
            ]
            cases.append(case(name, expected, gamma=gamma))
    how = (
        "The steps of the method on all samples in plain NumPy (n x n matrices, SciPy's brentq; "
        "tests/consensus/unreduced_trce.py). With the stale index of the authors' program this "
        "calculation equals the program's outputs to 1e-13."
    )
    return how, cases


def gwca() -> tuple[str, list[dict[str, Any]]]:
    cases = []
    for name in ("iris_a", "ecoli_b"):
        for divergence in ("euclidean", "kl", "itakura-saito", "logistic"):
            w, d, _, lam, history = aggregate_slowly(load_partitions(name)[0], divergence)
            expected = [
                values("objective_", history[-1]),
                values("lam_", lam),
                values("partition_weights_", w, rtol=0, atol=1e-9),
                values("divergences_", d, rtol=1e-8),
            ]
            cases.append(case(name, expected, divergence=divergence))
    how = (
        "Alternating minimization with full matrices on all samples (NumPy); the projection to "
        "the simplex by bisection."
    )
    return how, cases


def medianpartition() -> tuple[str, list[dict[str, Any]]]:
    """Search all partitions of the seven objects; bound the loss on iris by other clusterings."""
    cases = []
    partitions, y = load_partitions("iris_a")
    for loss in ("vi", "binder", "omari"):
        least = min(expected_slowly(TOY, p, loss) for p in set_partitions(7))
        settings = {"n_clusters": None, "loss": loss}
        expected = [values("objective_", least, rtol=0, atol=1e-10)]
        cases.append(case("toy", expected, **settings, max_clusters=7))
        candidates = [y, *partitions.T]
        least = min(expected_slowly(partitions, p, loss) for p in candidates)
        cases.append(case("iris_a", [bound(least)], **settings))
    how = (
        f"{TOY_TEXT}: the least expected loss of all 877 partitions. On iris_a, a bound: the least "
        "expected loss of the true classes and of the base partitions."
    )
    return how, cases


def voting() -> tuple[str, list[dict[str, Any]]]:
    cases = []
    for name, n_clusters in (("iris_a", 3), ("ecoli_b", 8)):
        partitions, _ = load_partitions(name)
        starts = [shares_of(column, n_clusters) for column in partitions.T]
        results = [vote_slowly(partitions, start) for start in starts]
        results = [(s.argmax(axis=1), h[-1]) for s, h in results]
        results = [(r, objective) for r, objective in results if len(set(r)) == n_clusters]
        result, objective = max(results, key=lambda fit: anmi(partitions, fit[0]))
        expected = [values("objective_", objective), labels(result, 0.98)]
        cases.append(case(name, expected, n_init=20))
    how = (
        "Alternating votes and assignments with dense matrices on all samples, from every "
        "partition. Of the results with all clusters, the one with the highest average NMI with "
        "the partitions: its objective and labels (samples with equal votes may differ)."
    )
    return how, cases


def learned_matrix(
    name: str, twin: Any, matrix: Any, embedding: Any, **parameters: Any
) -> dict[str, Any]:
    """Return the case of a method that learns a matrix by an augmented Lagrangian."""
    model = KMeans(embedding.shape[1], n_init=200, random_state=0, tol=0).fit(embedding)
    some = {"every": len(matrix) // 10, "rtol": 0, "atol": 1e-9}
    expected = [
        {"quantity": "n_iter_", "value": len(twin.history)},
        values("consensus_matrix", matrix, reduction="row_sums", **some),
        values("consensus_matrix", matrix, reduction="column_sums", **some),
        values("consensus_matrix", matrix, reduction="diagonal", **some),
        values("history_", twin.history, index=[0, 4, 9, 14], rtol=1e-7),
        values("objective_", twin.objective, rtol=1e-9),
        labels(model.labels_, 0.95),
    ]
    return case(name, expected, **parameters)


def low_rank_text(step: str) -> str:
    return (
        "The augmented Lagrangian in plain NumPy (n x n matrices, no reduction, full "
        f"decompositions; tests/consensus/unreduced_low_rank.py), {step}, and the best of 200 "
        "starts of scikit-learn's k-means. No output of the authors' program is at hand."
    )


def ecmc() -> tuple[str, list[dict[str, Any]]]:
    cases = []
    for name, k in (("iris_a", 3), ("ecoli_b", 8)):
        partitions, _ = load_partitions(name)
        twin = complete(partitions)
        A = np.maximum(twin.X, 0)
        scale = A.max(axis=1)
        scale = np.where(scale < 1e-3, 1.0, scale)
        is_empty = A.max(axis=1) < 1e-3
        shares = coassociation(partitions) * scale * scale[:, None]
        A = np.where(is_empty[:, None] | is_empty, shares, A)
        degree = A.sum(axis=1)
        H = np.linalg.eigh(A / np.sqrt(np.outer(degree, degree)))[1][:, -k:]
        H /= np.linalg.norm(H, axis=1, keepdims=True)
        cases.append(learned_matrix(name, twin, twin.X, H))
    return low_rank_text(
        "normalized spectral clustering of the completed matrix, its rows of zeros replaced"
    ), cases


def rmsc() -> tuple[str, list[dict[str, Any]]]:
    partitions, _ = load_partitions("iris_a")
    twin = share_transitions(transitions_of(partitions))
    cases = [learned_matrix("iris_a", twin, twin.P, walk_embedding(twin.P, 3))]
    return low_rank_text("the leading eigenvectors of the symmetrized random walk"), cases


def mec() -> tuple[str, list[dict[str, Any]]]:
    partitions, _ = load_partitions("iris_a")
    cases = []
    for norm, beta in (("l21", 0.0), ("l1", 0.0), ("l21", 0.5)):
        twin = share_low_rank(partitions, 3, norm=norm, beta=beta)
        H = scaled_embedding(twin.Z, 3)
        cases.append(learned_matrix("iris_a", twin, twin.Z, H, error_norm=norm, beta=beta))
    return low_rank_text("the scaled embedding of the low-rank affinity"), cases


def main() -> None:
    toy = {
        "source": f"{TOY_TEXT}: four clusterings, one of them without labels for three objects.",
        "n_clusters": 3,
        "y": encode(TOY_ANSWER),
        "partitions": [encode(column) for column in TOY.T],
    }
    write(FOLDER / "partitions" / "toy.json", toy)
    files = {
        "bce": bce(),
        "ccgp": ccgp(),
        "cspa": cspa(),
        "ecmc": ecmc(),
        "gcc": gcc(),
        "gwca": gwca(),
        "hbgf": hbgf(),
        "hgpa": hgpa(),
        "kc": kc(),
        "lce": lce(),
        "mcla": mcla(),
        "mec": mec(),
        "medianpartition": medianpartition(),
        "nmfc": nmfc(),
        "nrsec": representation("ecoli_b", 1.0, concave=True),
        "rmsc": rmsc(),
        "rsec": representation("iris_a", 0.1, concave=False),
        "trce": trce(),
        "voting": voting(),
    }
    for key, (how, cases) in files.items():
        head = {"method": key, "source": "independent calculation", "how": how}
        write(FOLDER / f"{key}.json", {**head, "cases": cases})


if __name__ == "__main__":
    main()
