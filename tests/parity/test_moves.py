"""Ops that only move elements, over hundreds of random shapes, slices and orders in one run."""
import numpy as np
import pytest
import tensorflow as tf

import compare

v1 = tf.compat.v1
R = tf.raw_ops
TYPES = [np.float32, np.float64, np.uint8, np.int16, np.bool_, np.complex128, object]


class Maker:
    """A graph of placeholders fed with random values, and the outputs to compare."""

    def __init__(self, seed):
        self.rng, self.feeds, self.fetches = np.random.RandomState(seed), {}, []

    def shape(self, low=1, high=5, most=7):
        shape = []
        for _ in range(self.rng.randint(low, high)):
            room = 50000 // max(int(np.prod(shape)), 1)
            shape.append(int(self.rng.randint(0 if self.rng.rand() < 0.05 else 1, max(min(most, room), 2))))
        return shape

    def array(self, shape, dtype):
        if dtype is object:
            return np.array([b"%d" % v for v in self.rng.randint(0, 99, int(np.prod(shape)))], object).reshape(shape)
        return (self.rng.uniform(0, 200, shape)).astype(dtype)

    def input(self, value):
        dtype = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
        p = v1.placeholder(dtype, value.shape)
        self.feeds[p.name] = value
        return p

    def random(self, **limits):
        return self.input(self.array(self.shape(**limits), TYPES[self.rng.randint(len(TYPES))]))

    def ints(self, values, dtype=np.int32):
        return self.input(np.array(values, dtype))

    def int(self, low, high):
        return int(self.rng.randint(low, high))

    def fetch(self, t):
        self.fetches.append(t.name)


def strided_slice(m):
    x = m.random()
    rank, masks = x.shape.rank, [0] * 5
    begin, end, stride, axis = [], [], [], 0
    for i in range(m.int(1, rank + 3)):
        kind, dim = m.int(0, 8), int(x.shape[axis]) if axis < rank else 0
        b, e, s = m.int(-9, 9), m.int(-9, 9), [1, 1, 2, 3, -1, -2][m.int(0, 6)]
        masks[0] |= m.int(0, 2) << i
        masks[1] |= m.int(0, 2) << i
        if kind == 0:
            masks[3] |= 1 << i
        elif kind == 1 and not masks[2]:
            masks[2] |= 1 << i
        elif axis >= rank or (masks[2] and i >= rank):
            masks[3] |= 1 << i
        else:
            if kind == 2 and dim:
                masks[4] |= 1 << i
                b, s = m.int(-dim, dim), 1
            axis += 1
        begin.append(b), end.append(e), stride.append(s)
    args = dict(zip(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), masks))
    try:
        y = R.StridedSlice(input=x, begin=begin, end=end, strides=stride, **args)
    except ValueError:  # an ellipsis moved an index onto another axis: not a valid slice after all
        return
    m.fetch(R.StridedSlice(input=x, begin=m.ints(begin), end=m.ints(end), strides=m.ints(stride), **args))
    if x.dtype not in (tf.string, tf.bool):
        m.fetch(R.StridedSliceGrad(shape=m.ints(x.shape.as_list()), begin=m.ints(begin), end=m.ints(end),
                                   strides=m.ints(stride), dy=y, **args))


def transpose(m):
    x = m.random(high=7, most=[4, 7, 100][m.int(0, 3)])
    m.fetch(v1.transpose(x, m.ints(m.rng.permutation(x.shape.rank))))


def slice_and_pad(m):
    x = m.random()
    dims = x.shape.as_list()
    begin = [m.int(0, d + 1) for d in dims]
    size = [m.int(-1, d - b + 1) for d, b in zip(dims, begin)]
    m.fetch(v1.slice(x, m.ints(begin), m.ints(size)))
    if x.dtype not in (tf.string, tf.bool):
        m.fetch(v1.pad(x, m.ints([[m.int(0, 3), m.int(0, 3)] for _ in dims])))
    if x.dtype not in (tf.string, tf.bool) and min(dims) > 1:
        m.fetch(v1.pad(x, m.ints([[m.int(0, d), m.int(0, d)] for d in dims]), ["REFLECT", "SYMMETRIC"][m.int(0, 2)]))


def tile_reverse_roll(m):
    x = m.random(high=4)
    rank = x.shape.rank
    m.fetch(v1.tile(x, m.ints([m.int(0, 4) for _ in range(rank)])))
    m.fetch(v1.reverse(x, m.ints([d for d in range(rank) if m.int(0, 2)])))
    m.fetch(v1.roll(x, m.ints([m.int(-9, 9)] * rank), m.ints(range(rank))))
    m.fetch(v1.broadcast_to(x[..., :1], m.ints([m.int(1, 4)] + x.shape.as_list()[:-1] + [m.int(1, 5)])))


def join_and_split(m):
    shape, dtype = m.shape(), TYPES[m.int(0, len(TYPES))]
    axis = m.int(-len(shape), len(shape))
    parts = []
    for _ in range(m.int(2, 6)):
        shape[axis] = m.int(0, 5)
        parts.append(m.input(m.array(shape, dtype)))
    joined = v1.concat(parts, axis)
    m.fetch(joined)
    for t in R.SplitV(value=joined, size_splits=[p.shape[axis] for p in parts], axis=axis, num_split=len(parts)):
        m.fetch(t)
    for t in v1.unstack(v1.stack(parts[:1] * 3, axis), axis=axis):
        m.fetch(t)


def gather(m):
    x = m.random()
    axis = m.int(0, x.shape.rank)
    if x.shape[axis]:
        m.fetch(v1.gather(x, m.ints(m.rng.randint(0, x.shape[axis], m.shape(0, 3))), axis=axis))
        batch = m.int(0, axis + 1)
        indices = m.rng.randint(0, x.shape[axis], x.shape.as_list()[:batch] + m.shape(0, 3))
        m.fetch(v1.gather(x, m.ints(indices, np.int64), axis=axis, batch_dims=batch))
    depth = m.int(1, x.shape.rank + 1)
    if all(x.shape.as_list()):
        rows = [m.rng.randint(0, d, 6) for d in x.shape.as_list()[:depth]]
        m.fetch(v1.gather_nd(x, m.ints(np.stack(rows, -1).reshape(2, 3, depth))))


@pytest.mark.parametrize("make", [strided_slice, transpose, slice_and_pad, tile_reverse_roll, join_and_split, gather],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_random_moves_are_tensorflows(make, seed):
    m = Maker(seed)
    with tf.Graph().as_default() as g:
        for _ in range(40):
            make(m)
    args = (g.as_graph_def(), m.fetches, m.feeds, {}, [], [])
    want, got = compare.run_tf(*args), compare.run_weft(*args)
    assert not want[0] and not got[0], (want[1] if want[0] else None, got[1] if got[0] else None)
    different = [d for d in map(compare.difference, m.fetches, want[1], got[1]) if d]
    assert not different, "\n" + "\n".join(different[:8])
