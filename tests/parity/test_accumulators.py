"""Conditional accumulators: means, staleness, waiting, shapes, sparse rows."""
import numpy as np
import pytest
import tensorflow as tf

from scenario import Fails, Join, Start, check

v1 = tf.compat.v1
raw = tf.raw_ops


def fed(value, dtype=None):
    return v1.placeholder_with_default(tf.constant(value, dtype), None)


def i64(n):
    return tf.constant(n, tf.int64)


def make(shape, dtype=tf.float32, **kw):
    return raw.ResourceConditionalAccumulator(dtype=dtype, shape=shape, **kw)


def apply(a, step, g, dtype=tf.float32):
    return raw.ResourceAccumulatorApplyGradient(handle=a, local_step=i64(step), gradient=fed(g, dtype))


def take(a, n, dtype=tf.float32):
    return raw.ResourceAccumulatorTakeGradient(handle=a, num_required=fed(n, tf.int32), dtype=dtype)


def count(a):
    return raw.ResourceAccumulatorNumAccumulated(handle=a)


def set_step(a, n):
    return raw.ResourceAccumulatorSetGlobalStep(handle=a, new_global_step=i64(n))


def mean_and_staleness():
    a = make([2])
    return [apply(a, 0, [1., 2]), apply(a, 0, [3., 5]), count(a), take(a, 1), count(a), apply(a, 0, [1., 1]), count(a),
            apply(a, 1, [1., 1]), apply(a, 5, [4., 4]), count(a), take(a, 2), set_step(a, 10), apply(a, 9, [1., 1]), count(a),
            apply(a, 10, [1., 1]), count(a), set_step(a, 3), apply(a, 3, [2., 2]), count(a), take(a, 0), take(a, -1), take(a, 1)]


def sums():
    a = make([2], reduction_type="SUM")
    return [apply(a, 0, [1., 2]), apply(a, 0, [3., 5]), take(a, 1)]


def shapes():
    a, b, c = make([2]), make(None), make([None, 2])
    return [apply(a, 0, [1., 2, 3]), apply(a, 0, 1.), apply(b, 0, [1., 2, 3]), apply(b, 0, [1.]), apply(b, 0, [1., 2, 3]),
            take(b, 2), apply(b, 1, [1.]), take(b, 1), apply(c, 0, [[1., 2]]), apply(c, 0, [[1., 2], [3, 4]]), take(c, 1)]


def types():
    steps = []
    for dtype in (tf.half, tf.float64):
        a = make([3], dtype)
        steps += [apply(a, 0, [1, 2, 3], dtype), apply(a, 0, [2, 2, 2], dtype), apply(a, 0, [7, 7, 7], dtype), take(a, 3, dtype)]
    return steps


def waiting():
    a = make([2])
    return [Start("take", take(a, 2)), apply(a, 0, [1., 2]), apply(a, 0, [3., 4]), Join("take"), count(a),
            Fails(take(a, 1)), apply(a, 1, [5., 6]), take(a, 1)]


def old_handles():
    a = raw.ConditionalAccumulator(dtype=tf.float32, shape=[2], shared_name="old")
    return [a, raw.AccumulatorApplyGradient(handle=a, local_step=i64(0), gradient=[1., 2]),
            raw.AccumulatorNumAccumulated(handle=a), raw.AccumulatorTakeGradient(handle=a, num_required=1, dtype=tf.float32),
            raw.AccumulatorSetGlobalStep(handle=a, new_global_step=i64(3)),
            raw.AccumulatorApplyGradient(handle=a, local_step=i64(2), gradient=[1., 2]), raw.AccumulatorNumAccumulated(handle=a)]


def sparse(shape, **kw):
    return raw.SparseConditionalAccumulator(dtype=tf.float32, shape=shape, **kw)


def apply_rows(a, step, indices, rows, shape=None):
    return raw.SparseAccumulatorApplyGradient(handle=a, local_step=i64(step), gradient_indices=fed(indices, tf.int64),
                                              gradient_values=fed(rows, tf.float32), gradient_shape=fed(shape or [], tf.int64),
                                              has_known_shape=shape is not None)


def take_rows(a, n):
    return list(raw.SparseAccumulatorTakeGradient(handle=a, num_required=n, dtype=tf.float32))


def rows():
    a = sparse([4, 2])
    return [apply_rows(a, 0, [0, 2], [[1., 1], [2, 2]]), apply_rows(a, 0, [2, 3], [[10., 10], [20, 20]]),
            raw.AccumulatorNumAccumulated(handle=a), take_rows(a, 1), apply_rows(a, 0, [0], [[1., 1]]),
            raw.AccumulatorNumAccumulated(handle=a), apply_rows(a, 1, [3, 0], [[1., 1], [2, 2]], [4, 2]), take_rows(a, 1)]


def rows_in_no_order():
    a, b = sparse([4, 2]), sparse(None)
    return [apply_rows(a, 0, [2, 0], [[1., 1], [2, 2]]), apply_rows(a, 0, [1, 2], [[1., 1], [2, 2]]), take_rows(a, 2),
            apply_rows(a, 1, np.zeros([0]), np.zeros([0, 2])), take_rows(a, 1), apply_rows(b, 0, [0, 0], [[1., 1], [2, 2]]),
            apply_rows(b, 0, [1], [[3., 3]]), take_rows(b, 1)]


def rows_summed():
    a = sparse([4, 2], reduction_type="SUM")
    return [apply_rows(a, 0, [0, 2], [[1., 1], [2, 2]]), apply_rows(a, 0, [2, 3], [[10., 10], [20, 20]]), take_rows(a, 1)]


def wrong_rows():
    a = sparse([4, 2])
    return [apply_rows(a, 0, [0, 2], [[1., 1]]), apply_rows(a, 0, [0], [[1., 1, 1]]), apply_rows(a, 0, [7], [[1., 1]]),
            apply_rows(a, 1, [[0]], [[1., 1]]), apply_rows(a, 1, [0], [[1., 1]], [5, 2]), apply_rows(a, 1, [0], 1.),
            apply_rows(a, 1, 0, [1.])]


SCENARIOS = [mean_and_staleness, sums, shapes, types, waiting, old_handles, rows, rows_in_no_order, rows_summed, wrong_rows]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.__name__)
def test_accumulator_behaves_as_tensorflows(scenario):
    check(scenario)


@pytest.mark.parametrize("declared", [(), (4,), (4, None), (4, 3), (4, 2, 2)])
def test_a_declared_shape_may_be_a_beginning(declared):
    def build():
        a = v1.SparseConditionalAccumulator(tf.float32, shape=declared)
        apply = a.apply_grad([1], [[1., 2.]], grad_shape=[4, 2], local_step=0)
        return [apply, apply, list(a.take_grad(2))] if len(declared) < 2 or declared[1:] == (None,) else [apply]
    check(build)
