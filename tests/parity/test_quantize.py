"""QuantizeV2 and Dequantize: every mode and integer type, against TensorFlow's integers and floats."""
import numpy as np
import pytest
import scenario
import tensorflow as tf

X = np.float32([-3, -1.25, -.5, -.1, 0, .1, .5, 1, 1.5, 2.3, 7])
PLAIN = {tf.qint8: np.int8, tf.quint8: np.uint8, tf.qint16: np.int16, tf.quint16: np.uint16, tf.qint32: np.int32}
MODES = [("MIN_COMBINED", {}), ("MIN_FIRST", {}), ("SCALED", {}), ("SCALED", {"narrow_range": True}),
         ("SCALED", {"round_mode": "HALF_TO_EVEN"})]
quantize, dequantize = tf.raw_ops.QuantizeV2, tf.raw_ops.Dequantize


def integers(parts):
    """The integers themselves can be fetched from neither: as plain ones of the same bits."""
    return [tf.bitcast(parts.output, PLAIN[parts.output.dtype]), parts.output_min, parts.output_max]


@pytest.mark.parametrize("mode, more", MODES)
@pytest.mark.parametrize("dtype", PLAIN, ids=lambda t: t.name)
def test_integers_are_tensorflows(dtype, mode, more):
    def build():
        # TensorFlow's qint32 wraps around at the upper end, where ours stays.
        x = tf.constant(X[X < 2.4] if dtype == tf.qint32 else X)
        ranges = [(-1.5, 2.5), (0.0, 2.5)] if dtype == tf.qint32 else [(-1.5, 2.5), (-6.0, 1.0), (1.0, 2.0), (0.0, 0.0), (-3.0, -2.0)]
        return [integers(quantize(input=x, min_range=low, max_range=high, T=dtype, mode=mode, **more)) for low, high in ranges]
    scenario.check(build)


@pytest.mark.parametrize("mode, more", MODES[:4])
@pytest.mark.parametrize("dtype", PLAIN, ids=lambda t: t.name)
def test_floats_are_tensorflows(dtype, mode, more):
    def build():
        held = np.iinfo(PLAIN[dtype])
        high = 2**30 if dtype == tf.qint32 else held.max
        q = tf.bitcast(np.array([held.min, held.min + 1, 0, 1, 5, 100, high - 1, high], PLAIN[dtype]), dtype)
        return [dequantize(input=q, min_range=low, max_range=top, mode=mode, **more) for low, top in [(-1.5, 2.5), (-6.0, 1.0)]]
    scenario.check(build)


def test_ranges_may_differ_along_an_axis():
    def build():
        x = X[:10].reshape(5, 2)
        parts = [quantize(input=x, min_range=[-1, -2], max_range=[1, 1.5], T=tf.qint8, mode=m, axis=1) for m in ("SCALED", "MIN_COMBINED")]
        back = [dequantize(input=p.output, min_range=p.output_min, max_range=p.output_max, mode=m, axis=1)
                for p, m in zip(parts, ("SCALED", "MIN_COMBINED"))]
        narrow = dequantize(input=parts[0].output, min_range=-1, max_range=1, dtype=tf.bfloat16)
        return [integers(parts[0]), integers(parts[1]), back, tf.cast(narrow, tf.float32)]
    scenario.check(build)


def test_what_is_refused():
    def build():
        low = tf.compat.v1.placeholder_with_default(np.float32(2), None)
        wrong = [dict(min_range=low, max_range=1.0), dict(min_range=-1.0, max_range=1.0, round_mode="HALF_TO_EVEN"),
                 dict(min_range=[-1.0, 0.0], max_range=[1.0, 1.0], axis=0, mode="MIN_FIRST")]
        bad = [quantize(input=X[:2], T=tf.quint8, **w).output_min for w in wrong]
        q = quantize(input=X, min_range=0.0, max_range=1.0, T=tf.quint8).output
        bad.append(tf.cast(dequantize(input=q, min_range=0.0, max_range=1.0, mode="SCALED", dtype=tf.bfloat16), tf.float32))
        return [scenario.Fails(b) for b in bad]
    scenario.check(build)
