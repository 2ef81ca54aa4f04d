"""Pulls of the parts of a graph on one vertex."""

from __future__ import annotations

from partita._kernels._compiled._jit import jit

EDGES, CLIQUES, NETS = 0, 1, 2


@jit(inner=True, allocates=False)
def fill_pulls(kind, start, other, value, pin_start, mass, parts, tally, v, pull):
    """Fill `pull` with the pull of every part on vertex v."""
    for k in range(len(pull)):
        pull[k] = 0.0
    own = parts[v]
    if kind == EDGES:
        for j in range(start[v], start[v + 1]):
            pull[parts[other[j]]] += value[j]
        return
    for j in range(start[v], start[v + 1]):
        e = other[j]
        if kind == CLIQUES:
            for k in range(len(pull)):
                pull[k] += tally[e, k]
        else:
            n_others = pin_start[e + 1] - pin_start[e] - 1
            for k in range(len(pull)):
                n_inside = tally[e, k] - 1.0 if k == own else tally[e, k]
                if n_inside == n_others:
                    pull[k] += 1.0
    if kind == CLIQUES:
        pull[own] -= (start[v + 1] - start[v]) * mass[v]
        for k in range(len(pull)):
            pull[k] *= mass[v]


@jit(inner=True, allocates=False)
def update_pulls(
    kind, start, other, value, pin_start, pin, mass, parts, tally, v, source, target, pull
):
    """Update `pull` in place after vertex v has moved from `source` to `target`."""
    for j in range(start[v], start[v + 1]):
        if kind == EDGES:
            pull[other[j], source] -= value[j]
            pull[other[j], target] += value[j]
            continue
        e = other[j]
        n_others = pin_start[e + 1] - pin_start[e] - 1
        if kind == NETS and tally[e, source] < n_others - 1 and tally[e, target] < n_others:
            continue  # all but one pin are in one part neither before nor after the move
        for i in range(pin_start[e], pin_start[e + 1]):
            u = pin[i]
            if u == v:
                continue
            if kind == CLIQUES:
                pull[u, source] -= mass[u] * mass[v]
                pull[u, target] += mass[u] * mass[v]
            else:
                n_inside = tally[e, source] - (parts[u] == source)
                if n_inside + 1 == n_others:
                    pull[u, source] -= 1.0
                n_inside = tally[e, target] - (parts[u] == target)
                if n_inside == n_others:
                    pull[u, target] += 1.0
