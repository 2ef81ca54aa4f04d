"""Loops in vector registers, written for the compiler behind numba.

Left to itself it asks before every short loop whether the arrays overlap, stores sums after every
vector and guesses at every label whether it is missing; each costs more than the work itself. A
function here is its own definition, which runs where the compiler is switched off, and has a
compiled twin below.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

__all__ = [
    "LANES",
    "ROOM",
    "add_costs",
    "fetch_row",
    "list_clusters",
    "two_smallest",
    "whole_width",
]

LANES = 16  # numbers of 16 bits in a register
_REGISTERS = 8  # sums that are kept in registers at a time
_HALF = LANES // 2  # single-precision numbers in a register
_LINE = 64  # bytes that come into a cache at a time
_WORD = 32  # labels that are compared at a time
ROOM = 8  # places that are written at a time, whether or not there is so much to write

_I64, _I32, _F32 = ir.IntType(64), ir.IntType(32), ir.FloatType()
_SHORTS = ir.VectorType(ir.IntType(16), LANES)
_COSTS = ir.VectorType(_F32, LANES)
_FLOATS, _PLACES = ir.VectorType(_F32, _HALF), ir.VectorType(_I32, _HALF)


def whole_width(n):
    """The width of a table with n columns that the loops can do with."""
    unit = LANES if n <= LANES * _REGISTERS else LANES * _REGISTERS // 2
    return -(-n // unit) * unit


def add_costs(table, rows, first, last, origin, step, factor, costs):
    """Add factor (n origin + step q) to the costs, q being the sum of the n rows[first:last].

    table : int8 or int16 (., width), rows : int32, the others float32 of shape (width,), the width
    being that of `whole_width`. Sums q are of 16 bits.
    """
    q = table[rows[first:last]].sum(axis=0, dtype=np.int16).astype(np.float32)
    costs += factor * (np.float32(last - first) * origin + step * q)


def two_smallest(values):
    """The place of a smallest of the values, it, and the smallest of the others.

    values : float32, as many as a `whole_width`.
    """
    place = int(np.argmin(values))
    others = np.delete(values, place)
    return place, values[place], others.min()


def list_clusters(labels, x, missing, offsets, first, last, clusters, partitions):
    """Write the clusters of row x in partitions first..last, and which these are; how many it has.

    labels : unsigned (n, m), missing : of the same type, offsets : int32, clusters and partitions :
    int32, by ROOM longer than there are partitions.
    """
    found = first + np.flatnonzero(labels[x, first:last] != missing)
    partitions[: len(found)] = found
    clusters[: len(found)] = offsets[found] + labels[x, found]
    return len(found)


def fetch_row(labels, x):
    """Have row x brought near, so that nothing waits for it later."""


@overload(add_costs)
def _(table, rows, first, last, origin, step, factor, costs):
    return lambda table, rows, first, last, origin, step, factor, costs: _add_costs(
        table, rows, first, last, origin, step, factor, costs
    )


@overload(two_smallest)
def _(values):
    return lambda values: _two_smallest(values)


@overload(list_clusters)
def _(labels, x, missing, offsets, first, last, clusters, partitions):
    return lambda labels, x, missing, offsets, first, last, clusters, partitions: _list_clusters(
        labels, x, missing, offsets, first, last, clusters, partitions
    )


@overload(fetch_row)
def _(labels, x):
    return lambda labels, x: _fetch_row(labels, x)


def _require_rows(*arrays):
    """Refuse arrays whose entries do not lie side by side, which would be read elsewhere."""
    if any(array.layout != "C" for array in arrays):
        raise TypingError("arrays must be contiguous, in C order")


def _array(context, builder, signature, args, i):
    return context.make_array(signature.args[i])(context, builder, args[i])


def _wide(context, builder, signature, args, i):
    return context.cast(builder, args[i], signature.args[i], types.int64)


def _all_lanes(builder, value, n):
    """A register that holds n times the same."""
    lane = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, n), ir.Undefined), value, _I32(0)
    )
    return builder.shuffle_vector(lane, lane, ir.Constant(ir.VectorType(_I32, n), [0] * n))


def _load(builder, start, place, align):
    found = builder.load(builder.gep(start, [place]))
    found.align = align
    return found


class _Loop:
    """A loop over first..last in steps, `first < last`, that carries values in registers."""

    def __init__(self, builder, first, last, step, starts):
        self.builder, self.last, self.step = builder, last, step
        before = builder.block
        self.body = builder.append_basic_block("vectors")
        builder.branch(self.body)
        builder.position_at_end(self.body)
        self.place = builder.phi(_I64)
        self.place.add_incoming(first, before)
        self.carried = [builder.phi(value.type) for value in starts]
        for phi, value in zip(self.carried, starts, strict=True):
            phi.add_incoming(value, before)

    def close(self, results):
        """Go round with these values, and go on after the loop when all is done."""
        builder = self.builder
        following = builder.add(self.place, self.step)
        self.place.add_incoming(following, self.body)
        for phi, value in zip(self.carried, results, strict=True):
            phi.add_incoming(value, self.body)
        end = builder.append_basic_block("vectors.end")
        builder.cbranch(builder.icmp_signed("<", following, self.last), self.body, end)
        builder.position_at_end(end)


@intrinsic
def _add_costs(typing, table, rows, first, last, origin, step, factor, costs):
    _require_rows(table, rows, origin, step, costs)

    def generate(context, builder, signature, args):
        table, rows, origin, step, costs = (
            _array(context, builder, signature, args, i) for i in (0, 1, 4, 5, 7)
        )
        first, last = (_wide(context, builder, signature, args, i) for i in (2, 3))
        factor = _all_lanes(builder, args[6], LANES)
        number = builder.sitofp(builder.sub(last, first), _F32)
        number = _all_lanes(builder, number, LANES)
        n_registers = builder.udiv(cgutils.unpack_tuple(builder, step.shape, 1)[0], _I64(LANES))
        entries = ir.VectorType(context.get_data_type(signature.args[0].dtype), LANES)
        source = builder.bitcast(table.data, entries.as_pointer())
        origin, step, costs = (
            builder.bitcast(array.data, _COSTS.as_pointer()) for array in (origin, step, costs)
        )
        zero = ir.Constant(_SHORTS, [0] * LANES)

        def add(begin, n, length):
            """All that is in n registers from `begin` on; a row of the table has `length`."""
            loop = _Loop(builder, first, last, _I64(1), [zero] * n)
            row = builder.sext(builder.load(builder.gep(rows.data, [loop.place])), _I64)
            at = builder.gep(source, [builder.add(builder.mul(row, length), begin)])
            found = [_load(builder, at, _I64(j), 1) for j in range(n)]
            if entries != _SHORTS:
                found = [builder.sext(vector, _SHORTS) for vector in found]
            sums = [builder.add(*pair) for pair in zip(loop.carried, found, strict=True)]
            loop.close(sums)
            for j in range(n):
                here = builder.add(begin, _I64(j))
                steps = builder.sitofp(sums[j], _COSTS)
                cost = builder.fadd(
                    builder.fmul(number, _load(builder, origin, here, 4)),
                    builder.fmul(steps, _load(builder, step, here, 4)),
                )
                cost = builder.fadd(_load(builder, costs, here, 4), builder.fmul(factor, cost))
                builder.store(cost, builder.gep(costs, [here])).align = 4

        with builder.if_then(builder.icmp_signed("<", first, last)):
            many, end = (builder.append_basic_block(name) for name in ("add.many", "add.end"))
            choice = builder.switch(n_registers, many)
            for n in range(1, _REGISTERS + 1):
                case = builder.append_basic_block(f"add.{n}")
                choice.add_case(_I64(n), case)
                builder.position_at_end(case)
                add(_I64(0), n, _I64(n))
                builder.branch(end)
            builder.position_at_end(many)
            step_of_many = _I64(_REGISTERS // 2)
            with cgutils.for_range_slice(builder, _I64(0), n_registers, step_of_many) as (begin, _):
                add(begin, _REGISTERS // 2, n_registers)
            builder.branch(end)
            builder.position_at_end(end)
        return context.get_dummy_value()

    result = types.void(table, rows, first, last, origin, step, types.float32, costs)
    return result, generate


def _smaller_of(builder, one, other):
    """(smallest, second, place) of two such triples, lane by lane; of equals the first."""
    smaller = builder.fcmp_ordered("<", other[0], one[0])
    loser = builder.select(smaller, one[0], other[0])
    second = builder.select(builder.fcmp_ordered("<", other[1], one[1]), other[1], one[1])
    return (
        builder.select(smaller, other[0], one[0]),
        builder.select(builder.fcmp_ordered("<", loser, second), loser, second),
        builder.select(smaller, other[2], one[2]),
    )


@intrinsic
def _two_smallest(typing, values):
    _require_rows(values)

    def generate(context, builder, signature, args):
        values = _array(context, builder, signature, args, 0)
        (n,) = cgutils.unpack_tuple(builder, values.shape, 1)
        source = builder.bitcast(values.data, _FLOATS.as_pointer())
        infinite = ir.Constant(_FLOATS, [float("inf")] * _HALF)
        # two chains of comparisons, of which neither waits for the other
        starts = [
            value
            for chain in range(2)
            for value in (
                infinite,
                infinite,
                ir.Constant(_PLACES, [_HALF * chain + lane for lane in range(_HALF)]),
                ir.Constant(_PLACES, [_HALF * chain + lane for lane in range(_HALF)]),
            )
        ]
        loop = _Loop(builder, _I64(0), builder.udiv(n, _I64(_HALF)), _I64(2), starts)
        results, chains = [], []
        for chain in range(2):
            smallest, second, place, here = loop.carried[4 * chain : 4 * chain + 4]
            value = _load(builder, source, builder.add(loop.place, _I64(chain)), 4)
            chains.append(_smaller_of(builder, (smallest, second, place), (value, infinite, here)))
            following = builder.add(here, ir.Constant(_PLACES, [LANES] * _HALF))
            results += [*chains[chain], following]
        loop.close(results)
        found = _smaller_of(builder, *chains)
        n_lanes = _HALF
        while n_lanes > 1:  # the upper half of the lanes against the lower
            n_lanes //= 2
            halves = [
                [
                    builder.shuffle_vector(
                        vector,
                        vector,
                        ir.Constant(
                            ir.VectorType(_I32, n_lanes), list(range(begin, begin + n_lanes))
                        ),
                    )
                    for vector in found
                ]
                for begin in (0, n_lanes)
            ]
            found = _smaller_of(builder, *halves)
        smallest, second, place = (builder.extract_element(vector, _I32(0)) for vector in found)
        place = builder.sext(place, _I64)
        return context.make_tuple(builder, signature.return_type, [place, smallest, second])

    return types.containers.Tuple((types.int64, types.float32, types.float32))(values), generate


@intrinsic
def _list_clusters(typing, labels, x, missing, offsets, first, last, clusters, partitions):
    _require_rows(labels, offsets, clusters, partitions)

    def generate(context, builder, signature, args):
        labels, offsets, clusters, partitions = (
            _array(context, builder, signature, args, i) for i in (0, 3, 6, 7)
        )
        x, first, last = (_wide(context, builder, signature, args, i) for i in (1, 4, 5))
        missing = args[2]
        m = cgutils.unpack_tuple(builder, labels.shape, 2)[1]
        row = builder.gep(labels.data, [builder.mul(x, m)])
        codes = ir.VectorType(missing.type, _WORD)
        absent = _all_lanes(builder, missing, _WORD)
        count_ones = _function(builder, "llvm.ctpop.i32", _I32, [_I32])
        first_one = _function(builder, "llvm.cttz.i32", _I32, [_I32, ir.IntType(1)])
        count = cgutils.alloca_once_value(builder, _I64(0))

        def write(i, place):
            """Partition i and its cluster into a place of the lists."""
            label = builder.load(builder.gep(row, [i]))
            offset = builder.load(builder.gep(offsets.data, [i]))
            cluster = builder.add(offset, builder.zext(label, _I32))
            builder.store(cluster, builder.gep(clusters.data, [place]))
            builder.store(builder.trunc(i, _I32), builder.gep(partitions.data, [place]))
            return label

        rest = builder.urem(builder.sub(last, first), _I64(_WORD))
        whole = builder.sub(last, rest)
        with cgutils.for_range_slice(builder, first, whole, _I64(_WORD)) as (begin, _):
            at = builder.bitcast(builder.gep(row, [begin]), codes.as_pointer())
            word = _load(builder, at, _I64(0), missing.type.width // 8)
            mask = builder.bitcast(builder.icmp_unsigned("!=", word, absent), _I32)
            start = builder.load(count)
            there = builder.zext(builder.call(count_ones, [mask]), _I64)
            builder.store(builder.add(start, there), count)
            # so many at a time that it is seldom asked whether there are more
            loop = _Loop(builder, _I64(0), there, _I64(ROOM), [mask])
            (left,) = loop.carried
            for j in range(ROOM):
                bit = builder.call(first_one, [left, ir.IntType(1)(0)])
                bit = builder.and_(bit, _I32(_WORD - 1))  # if none is left, any one will do
                place = builder.add(builder.add(start, loop.place), _I64(j))
                write(builder.add(begin, builder.zext(bit, _I64)), place)
                left = builder.and_(left, builder.sub(left, _I32(1)))
            loop.close([left])
        with cgutils.for_range_slice(builder, whole, last, _I64(1)) as (i, _):
            place = builder.load(count)
            present = builder.icmp_unsigned("!=", write(i, place), missing)
            builder.store(builder.add(place, builder.zext(present, _I64)), count)
        return builder.load(count)

    result = types.int64(labels, x, missing, offsets, first, last, clusters, partitions)
    return result, generate


@intrinsic
def _fetch_row(typing, labels, x):
    _require_rows(labels)

    def generate(context, builder, signature, args):
        labels = _array(context, builder, signature, args, 0)
        m = cgutils.unpack_tuple(builder, labels.shape, 2)[1]
        at = builder.mul(_wide(context, builder, signature, args, 1), m)
        byte = ir.IntType(8).as_pointer()
        row = builder.bitcast(builder.gep(labels.data, [at]), byte)
        fetch = builder.module.declare_intrinsic(
            "llvm.prefetch", (byte,), ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        )
        for line in range(2):  # what follows comes by itself
            place = builder.gep(row, [_I64(_LINE * line)])
            builder.call(fetch, [place, _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(labels, x), generate


def _function(builder, name, result, arguments):
    """A function of the compiler's own."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)
