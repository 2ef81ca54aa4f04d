"""Sums of table rows, as a plain loop and as LLVM instructions for vector registers.

Before a loop, LLVM tests whether arrays overlap, and it stores the sums after each vector. For
short rows this takes longer than the sums. The instructions written here keep all sums of a row in
registers, with the same result: a whole fit of SEC is 1.1 to 1.6 times as fast, with few groups
more than with many (`benchmarks/speed/vectors.py`). The plain loop serves where they do not work,
or if the environment variable PARTITA_SIMD is 0.
"""

from __future__ import annotations

import os

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from partita._kernels._compiled._jit import jit
from partita._kernels.quantization import LANES, REGISTERS

__all__ = ["add_costs", "simd"]

_I64, _I32, _F32 = ir.IntType(64), ir.IntType(32), ir.FloatType()
_SHORTS, _COSTS = ir.VectorType(ir.IntType(16), LANES), ir.VectorType(_F32, LANES)


def add_costs(table, rows, first, last, origin, step, factor, simd, sums, costs):
    """Add factor (n origin + step q) to `costs`, q being the sum of n = last - first table rows.

    table : int8 or int16 of shape (., width)
    rows : int32, numbers of table rows, of which those at first..last are added
    origin, step, costs : float32 of shape (width,); the width is a `padded_width`
    simd : True for the instructions written here, None for the plain loop; it is an argument, as
        numba then compiles and caches the two apart
    sums : scratch, int16 of shape (width,)

    Sums q have 16 bits and must not overflow.
    """
    q = table[rows[first:last]].sum(axis=0, dtype=np.int16).astype(np.float32)
    costs += factor * (np.float32(last - first) * origin + step * q)


@overload(add_costs)
def _(table, rows, first, last, origin, step, factor, simd, sums, costs):
    if simd != types.boolean:
        return _add_rows
    return lambda table, rows, first, last, origin, step, factor, simd, sums, costs: _add_vectors(
        table, rows, first, last, origin, step, factor, costs
    )


def _add_rows(table, rows, first, last, origin, step, factor, simd, sums, costs):
    width, whole = np.uint64(len(costs)), last - (last - first) % 8
    for k in range(width):
        sums[k] = 0
    for a in range(first, whole, 8):  # eight at a time: the sums are stored less often
        t0, t1 = table[np.uint32(rows[a])], table[np.uint32(rows[a + 1])]
        t2, t3 = table[np.uint32(rows[a + 2])], table[np.uint32(rows[a + 3])]
        t4, t5 = table[np.uint32(rows[a + 4])], table[np.uint32(rows[a + 5])]
        t6, t7 = table[np.uint32(rows[a + 6])], table[np.uint32(rows[a + 7])]
        for k in range(width):
            total = np.int16(t0[k]) + np.int16(t1[k]) + np.int16(t2[k]) + np.int16(t3[k])
            total += np.int16(t4[k]) + np.int16(t5[k]) + np.int16(t6[k]) + np.int16(t7[k])
            sums[k] += np.int16(total)
    for a in range(whole, last):
        entries = table[np.uint32(rows[a])]
        for k in range(width):
            sums[k] += np.int16(entries[k])
    n = np.float32(last - first)
    for k in range(width):
        costs[k] += factor * (n * origin[k] + step[k] * np.float32(sums[k]))


def _load(builder, start, index, vector, align):
    """Load the vector at an index; `align` is the alignment of its address in bytes."""
    at = builder.gep(start, [index], source_etype=vector)
    return builder.load(at, align=align, typ=vector)


def _all_lanes(builder, value):
    """Return a vector of equal values."""
    vector = ir.VectorType(value.type, LANES)
    lane = builder.insert_element(ir.Constant(vector, ir.Undefined), value, _I32(0))
    return builder.shuffle_vector(lane, lane, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


@intrinsic
def _add_vectors(typing, table, rows, first, last, origin, step, factor, costs):
    if any(array.layout != "C" for array in (table, rows, origin, step, costs)):
        raise TypingError("arrays must be contiguous, in C order")

    def generate(context, builder, signature, args):
        table, rows, origin, step, costs = (
            context.make_array(signature.args[i])(context, builder, args[i])
            for i in (0, 1, 4, 5, 7)
        )
        first, last = (
            context.cast(builder, args[i], signature.args[i], types.int64) for i in (2, 3)
        )
        factor = _all_lanes(builder, args[6])
        number = _all_lanes(builder, builder.sitofp(builder.sub(last, first), _F32))
        n_registers = builder.udiv(cgutils.unpack_tuple(builder, step.shape, 1)[0], _I64(LANES))
        entries = ir.VectorType(context.get_data_type(signature.args[0].dtype), LANES)
        source = builder.bitcast(table.data, entries.as_pointer())
        origin, step, costs = (
            builder.bitcast(array.data, _COSTS.as_pointer()) for array in (origin, step, costs)
        )

        def add(begin, n, length):
            """Add the n registers from `begin` on; a row of the table has `length` registers."""
            before, body = builder.block, builder.append_basic_block("add.rows")
            builder.branch(body)
            builder.position_at_end(body)
            index, carried = builder.phi(_I64), [builder.phi(_SHORTS) for _ in range(n)]
            index.add_incoming(first, before)
            at = builder.gep(rows.data, [index], source_etype=_I32)
            row = builder.sext(builder.load(at, typ=_I32), _I64)
            start = builder.add(builder.mul(row, length), begin)
            sums = []
            for j in range(n):
                vector = _load(builder, source, builder.add(start, _I64(j)), entries, 1)
                vector = vector if entries == _SHORTS else builder.sext(vector, _SHORTS)
                sums.append(builder.add(carried[j], vector))
            following = builder.add(index, _I64(1))
            index.add_incoming(following, body)
            for phi, value in zip(carried, sums, strict=True):
                phi.add_incoming(ir.Constant(_SHORTS, [0] * LANES), before)
                phi.add_incoming(value, body)
            end = builder.append_basic_block("add.rows.end")
            builder.cbranch(builder.icmp_signed("<", following, last), body, end)
            builder.position_at_end(end)
            for j in range(n):
                here = builder.add(begin, _I64(j))
                steps = builder.sitofp(sums[j], _COSTS)
                cost = builder.fadd(
                    builder.fmul(number, _load(builder, origin, here, _COSTS, 4)),
                    builder.fmul(steps, _load(builder, step, here, _COSTS, 4)),
                )
                cost = builder.fadd(
                    _load(builder, costs, here, _COSTS, 4), builder.fmul(factor, cost)
                )
                builder.store(cost, builder.gep(costs, [here], source_etype=_COSTS), align=4)

        with builder.if_then(builder.icmp_signed("<", first, last)):
            many, end = (builder.append_basic_block(name) for name in ("add.many", "add.end"))
            choice = builder.switch(n_registers, many)
            for n in range(1, REGISTERS + 1):
                case = builder.append_basic_block(f"add.{n}")
                choice.add_case(_I64(n), case)
                builder.position_at_end(case)
                add(_I64(0), n, _I64(n))
                builder.branch(end)
            builder.position_at_end(many)
            step_of_many = _I64(REGISTERS // 2)
            with cgutils.for_range_slice(builder, _I64(0), n_registers, step_of_many) as (begin, _):
                add(begin, REGISTERS // 2, n_registers)
            builder.branch(end)
            builder.position_at_end(end)
        return context.get_dummy_value()

    result = types.void(table, rows, first, last, origin, step, types.float32, costs)
    return result, generate


@jit
def _sum(table, rows, origin, step, simd, sums, costs):
    """Add costs of two rows to `costs`; `sums` is scratch."""
    add_costs(table, rows, 0, 2, origin, step, np.float32(1.0), simd, sums, costs)


def _probe():
    """Return whether the instructions compile here and give the result of the definition."""
    table = np.arange(2 * LANES, dtype=np.int16).reshape(2, LANES)
    origin, step = np.ones((2, LANES), np.float32)
    costs, expected = np.zeros((2, LANES), np.float32)
    sums, rows = np.empty(LANES, np.int16), np.arange(2, dtype=np.int32)
    add_costs(table, rows, 0, 2, origin, step, np.float32(1.0), None, sums, expected)
    try:
        _sum(table, rows, origin, step, True, sums, costs)
    except Exception:  # noqa: BLE001 - whatever another version of LLVM or numba raises
        return False
    return bool((costs == expected).all())


simd = True if os.environ.get("PARTITA_SIMD", "1") != "0" and _probe() else None
