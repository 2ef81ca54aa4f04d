"""Inner loops of the kernels, written as LLVM instructions for vector registers.

Each public function is defined in NumPy, which runs if numba is disabled, and again as an intrinsic
(`_add_costs` for `add_costs`) that compiled kernels call. The intrinsics exist because the loops
are short, and what numba and LLVM add to a loop costs more than the loop itself:

add_costs      LLVM tests before each loop whether arrays overlap, and stores the sums after each
               vector. The intrinsic keeps all sums of a row in registers.
two_smallest   LLVM does not vectorize a search for the smallest two values and their position. The
               intrinsic compares eight values per instruction.
list_clusters  A branch per label mispredicts where labels are missing at random. The intrinsic
               compares 32 codes at once and writes the clusters without branches.
prefetch_row   numba has no prefetch. Rows are visited out of order, so that the processor does not
               load them in advance.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from partita._kernels.quantization import LANES, REGISTERS

__all__ = [
    "PADDING",
    "add_costs",
    "list_clusters",
    "prefetch_row",
    "two_smallest",
]

_HALF = LANES // 2  # single-precision numbers in a register
_LINE = 64  # bytes of a cache line
_WORD = 32  # codes that are compared at a time
PADDING = 8  # entries that are written at a time, so that lists are longer by this number

_I64, _I32, _F32 = ir.IntType(64), ir.IntType(32), ir.FloatType()
_SHORTS = ir.VectorType(ir.IntType(16), LANES)
_COSTS = ir.VectorType(_F32, LANES)
_FLOATS, _INDICES = ir.VectorType(_F32, _HALF), ir.VectorType(_I32, _HALF)


def add_costs(table, rows, first, last, origin, step, factor, costs):
    """Add factor (n origin + step q) to `costs`, q being the sum of n = last - first table rows.

    table : int8 or int16 of shape (., width)
    rows : int32, numbers of table rows, of which those at first..last are added
    origin, step, costs : float32 of shape (width,); the width is a `padded_width`

    Sums q have 16 bits and must not overflow.
    """
    q = table[rows[first:last]].sum(axis=0, dtype=np.int16).astype(np.float32)
    costs += factor * (np.float32(last - first) * origin + step * q)


def two_smallest(values):
    """Return the index of a smallest value, that value, and the smallest of the others.

    values : float32, their number is a `padded_width`
    """
    index = int(np.argmin(values))
    others = np.delete(values, index)
    return index, values[index], others.min()


def list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions):
    """Fill `clusters` and `partitions` with those of the labels of row x; return their number.

    Only partitions first..last are listed. codes : unsigned (n, m), missing_code : of the same
    type, offsets : int32, clusters, partitions : int32 of length m + PADDING.
    """
    labeled = first + np.flatnonzero(codes[x, first:last] != missing_code)
    partitions[: len(labeled)] = labeled
    clusters[: len(labeled)] = offsets[labeled] + codes[x, labeled]
    return len(labeled)


def prefetch_row(codes, x):
    """Start to load row x into the cache; nothing else happens."""


@overload(add_costs)
def _(table, rows, first, last, origin, step, factor, costs):
    return lambda table, rows, first, last, origin, step, factor, costs: _add_costs(
        table, rows, first, last, origin, step, factor, costs
    )


@overload(two_smallest)
def _(values):
    return lambda values: _two_smallest(values)


@overload(list_clusters)
def _(codes, x, missing_code, offsets, first, last, clusters, partitions):
    return lambda codes, x, missing_code, offsets, first, last, clusters, partitions: (
        _list_clusters(codes, x, missing_code, offsets, first, last, clusters, partitions)
    )


@overload(prefetch_row)
def _(codes, x):
    return lambda codes, x: _prefetch_row(codes, x)


def _require_contiguous(*arrays):
    """Refuse arrays that are not contiguous: their entries would be read at wrong addresses."""
    if any(array.layout != "C" for array in arrays):
        raise TypingError("arrays must be contiguous, in C order")


def _array(context, builder, signature, args, i):
    """Return argument i as an array."""
    return context.make_array(signature.args[i])(context, builder, args[i])


def _int64(context, builder, signature, args, i):
    """Return argument i as a 64-bit integer."""
    return context.cast(builder, args[i], signature.args[i], types.int64)


def _all_lanes(builder, value, n):
    """Return a vector of n equal values."""
    lane = builder.insert_element(
        ir.Constant(ir.VectorType(value.type, n), ir.Undefined), value, _I32(0)
    )
    return builder.shuffle_vector(lane, lane, ir.Constant(ir.VectorType(_I32, n), [0] * n))


def _load(builder, start, index, align):
    """Load the vector at an index; `align` is the alignment of its address in bytes."""
    vector = builder.load(builder.gep(start, [index]))
    vector.align = align
    return vector


class _Loop:
    """A loop over first..last in steps of `step`, first < last, with values kept in registers.

    `index` is the loop variable. `carried` are the values, equal to `starts` in the first round.
    Code that is built between the constructor and `close` is the body of the loop.
    """

    def __init__(self, builder, first, last, step, starts):
        self.builder, self.last, self.step = builder, last, step
        before = builder.block
        self.body = builder.append_basic_block("vectors")
        builder.branch(self.body)
        builder.position_at_end(self.body)
        self.index = builder.phi(_I64)
        self.index.add_incoming(first, before)
        self.carried = [builder.phi(value.type) for value in starts]
        for phi, value in zip(self.carried, starts, strict=True):
            phi.add_incoming(value, before)

    def close(self, results):
        """End the body: `results` are the carried values of the next round."""
        builder = self.builder
        following = builder.add(self.index, self.step)
        self.index.add_incoming(following, self.body)
        for phi, value in zip(self.carried, results, strict=True):
            phi.add_incoming(value, self.body)
        end = builder.append_basic_block("vectors.end")
        builder.cbranch(builder.icmp_signed("<", following, self.last), self.body, end)
        builder.position_at_end(end)


@intrinsic
def _add_costs(typing, table, rows, first, last, origin, step, factor, costs):
    _require_contiguous(table, rows, origin, step, costs)

    def generate(context, builder, signature, args):
        table, rows, origin, step, costs = (
            _array(context, builder, signature, args, i) for i in (0, 1, 4, 5, 7)
        )
        first, last = (_int64(context, builder, signature, args, i) for i in (2, 3))
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
            """Add the n registers from `begin` on; a row of the table has `length` registers."""
            loop = _Loop(builder, first, last, _I64(1), [zero] * n)
            row = builder.sext(builder.load(builder.gep(rows.data, [loop.index])), _I64)
            at = builder.gep(source, [builder.add(builder.mul(row, length), begin)])
            vectors = [_load(builder, at, _I64(j), 1) for j in range(n)]
            if entries != _SHORTS:
                vectors = [builder.sext(vector, _SHORTS) for vector in vectors]
            sums = [builder.add(*pair) for pair in zip(loop.carried, vectors, strict=True)]
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


def _smaller_of(builder, one, other):
    """Merge two triples (smallest, second, index of smallest) lane by lane; on a tie `one` wins."""
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
    _require_contiguous(values)

    def generate(context, builder, signature, args):
        values = _array(context, builder, signature, args, 0)
        (n,) = cgutils.unpack_tuple(builder, values.shape, 1)
        source = builder.bitcast(values.data, _FLOATS.as_pointer())
        infinite = ir.Constant(_FLOATS, [float("inf")] * _HALF)
        # two independent chains of comparisons: neither waits for the other
        starts = [
            value
            for chain in range(2)
            for value in (
                infinite,
                infinite,
                ir.Constant(_INDICES, [_HALF * chain + lane for lane in range(_HALF)]),
                ir.Constant(_INDICES, [_HALF * chain + lane for lane in range(_HALF)]),
            )
        ]
        loop = _Loop(builder, _I64(0), builder.udiv(n, _I64(_HALF)), _I64(2), starts)
        results, chains = [], []
        for chain in range(2):
            smallest, second, index, here = loop.carried[4 * chain : 4 * chain + 4]
            value = _load(builder, source, builder.add(loop.index, _I64(chain)), 4)
            chains.append(_smaller_of(builder, (smallest, second, index), (value, infinite, here)))
            following = builder.add(here, ir.Constant(_INDICES, [LANES] * _HALF))
            results += [*chains[chain], following]
        loop.close(results)
        merged = _smaller_of(builder, *chains)
        n_lanes = _HALF
        while n_lanes > 1:  # merge the upper half of the lanes into the lower half
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
                    for vector in merged
                ]
                for begin in (0, n_lanes)
            ]
            merged = _smaller_of(builder, *halves)
        smallest, second, index = (builder.extract_element(vector, _I32(0)) for vector in merged)
        index = builder.sext(index, _I64)
        return context.make_tuple(builder, signature.return_type, [index, smallest, second])

    return types.containers.Tuple((types.int64, types.float32, types.float32))(values), generate


@intrinsic
def _list_clusters(typing, codes, x, missing_code, offsets, first, last, clusters, partitions):
    _require_contiguous(codes, offsets, clusters, partitions)

    def generate(context, builder, signature, args):
        codes, offsets, clusters, partitions = (
            _array(context, builder, signature, args, i) for i in (0, 3, 6, 7)
        )
        x, first, last = (_int64(context, builder, signature, args, i) for i in (1, 4, 5))
        missing_code = args[2]
        m = cgutils.unpack_tuple(builder, codes.shape, 2)[1]
        row = builder.gep(codes.data, [builder.mul(x, m)])
        word_type = ir.VectorType(missing_code.type, _WORD)
        missing_codes = _all_lanes(builder, missing_code, _WORD)
        count_ones = _function(builder, "llvm.ctpop.i32", _I32, [_I32])
        first_one = _function(builder, "llvm.cttz.i32", _I32, [_I32, ir.IntType(1)])
        count = cgutils.alloca_once_value(builder, _I64(0))

        def write(i, index):
            """Write partition i and its cluster at an index of the lists; return its code."""
            code = builder.load(builder.gep(row, [i]))
            offset = builder.load(builder.gep(offsets.data, [i]))
            cluster = builder.add(offset, builder.zext(code, _I32))
            builder.store(cluster, builder.gep(clusters.data, [index]))
            builder.store(builder.trunc(i, _I32), builder.gep(partitions.data, [index]))
            return code

        rest = builder.urem(builder.sub(last, first), _I64(_WORD))
        whole = builder.sub(last, rest)
        with cgutils.for_range_slice(builder, first, whole, _I64(_WORD)) as (begin, _):
            at = builder.bitcast(builder.gep(row, [begin]), word_type.as_pointer())
            word = _load(builder, at, _I64(0), missing_code.type.width // 8)
            mask = builder.bitcast(builder.icmp_unsigned("!=", word, missing_codes), _I32)
            start = builder.load(count)
            n_labeled = builder.zext(builder.call(count_ones, [mask]), _I64)
            builder.store(builder.add(start, n_labeled), count)
            # PADDING entries per round, so that the loop seldom repeats; extra ones are ignored
            loop = _Loop(builder, _I64(0), n_labeled, _I64(PADDING), [mask])
            (left,) = loop.carried
            for j in range(PADDING):
                bit = builder.call(first_one, [left, ir.IntType(1)(0)])
                bit = builder.and_(bit, _I32(_WORD - 1))  # an extra entry: any valid bit will do
                index = builder.add(builder.add(start, loop.index), _I64(j))
                write(builder.add(begin, builder.zext(bit, _I64)), index)
                left = builder.and_(left, builder.sub(left, _I32(1)))
            loop.close([left])
        with cgutils.for_range_slice(builder, whole, last, _I64(1)) as (i, _):
            index = builder.load(count)
            is_labeled = builder.icmp_unsigned("!=", write(i, index), missing_code)
            builder.store(builder.add(index, builder.zext(is_labeled, _I64)), count)
        return builder.load(count)

    result = types.int64(codes, x, missing_code, offsets, first, last, clusters, partitions)
    return result, generate


@intrinsic
def _prefetch_row(typing, codes, x):
    _require_contiguous(codes)

    def generate(context, builder, signature, args):
        codes = _array(context, builder, signature, args, 0)
        m = cgutils.unpack_tuple(builder, codes.shape, 2)[1]
        at = builder.mul(_int64(context, builder, signature, args, 1), m)
        byte = ir.IntType(8).as_pointer()
        row = builder.bitcast(builder.gep(codes.data, [at]), byte)
        prefetch = builder.module.declare_intrinsic(
            "llvm.prefetch", (byte,), ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
        )
        for line in range(2):  # the processor loads the next lines itself
            address = builder.gep(row, [_I64(_LINE * line)])
            builder.call(prefetch, [address, _I32(0), _I32(3), _I32(1)])
        return context.get_dummy_value()

    return types.void(codes, x), generate


def _function(builder, name, result, arguments):
    """Return an LLVM intrinsic function by name."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, arguments), name)
