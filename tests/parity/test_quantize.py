"""QuantizeV2 and Dequantize: every mode and integer type, against TensorFlow's integers and floats."""
import numpy as np
import pytest
import scenario
import tensorflow as tf
import weftlib

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


# ---- ops on quantized integers ----

RANGES = [(-1.0, 1.0), (-1.5, 2.5), (0.0, 10.0), (-8.0, -3.0), (3.0, 7.0), (-0.3, 0.7)]
PAIRS = [(-1.5, 2.5, -0.3, 0.7), (-0.6, 1.6, -1.1, 0.5), (0.1, 0.5, -2.0, -1.0), (-2.0, -1.0, 1.0, 3.0)]


def some(dtype, *shape):
    held = np.iinfo(PLAIN[dtype])
    return tf.bitcast(np.random.RandomState(len(shape)).randint(held.min, held.max, shape).astype(PLAIN[dtype]), dtype)


def plain(parts):
    return [tf.bitcast(t, PLAIN[t.dtype]) if t.dtype in PLAIN else t for t in parts]


def near(parts):
    """One integer more or less passes for 8 bits: TensorFlow's kernels differ between processors in the last digit."""
    if parts[0].dtype == tf.qint32:
        return numbers(parts)
    return [tf.cast(tf.bitcast(parts[0], PLAIN[parts[0].dtype]), tf.float32) / 4e4, *parts[1:]]


def numbers(parts, by=1.0):
    """What 32-bit integers of a range from -max to max stand for."""
    return [tf.cast(tf.bitcast(parts[0], tf.int32), tf.float32) * (parts[2] * by / 2.0**31), *parts[1:]]


def test_requantized_integers_are_tensorflows():
    def build():
        x = tf.bitcast(np.int32([-2**31, -2**30, -10**6, -1000, -1, 0, 1, 1000, 10**6, 2**30, 2**31 - 1]), tf.qint32)
        few = tf.bitcast(np.int32([-500, 1000, 30, 0, 999, 77]), tf.qint32)
        steps = []
        for low, high in RANGES[1:5]:
            for t in (tf.quint8, tf.qint8):
                steps += [near(tf.raw_ops.Requantize(input=x, input_min=low, input_max=high, requested_output_min=a,
                                                     requested_output_max=b, out_type=t))
                          for a, b in [(-1.0, 1.0), (-0.5, 0.7), (0.0, 5.0), (0.0, 0.0), (-3.0, -2.0)]]
            for v in (x, few, x[:0]):
                steps.append(near(tf.raw_ops.QuantizeDownAndShrinkRange(input=v, input_min=low, input_max=high, out_type=tf.quint8)))
                steps.append(list(tf.raw_ops.RequantizationRange(input=v, input_min=low, input_max=high)))
        return [sum(steps, [])]
    scenario.check(build)


def test_products_of_integers_are_tensorflows():
    def build():
        steps = []
        for a, b, c, d in PAIRS[1:]:
            for ta, tb in ((False, False), (True, True)):
                x, y = some(tf.quint8, 4, 3) if ta else some(tf.quint8, 3, 4), some(tf.quint8, 2, 4) if tb else some(tf.quint8, 4, 2)
                steps.append(plain(tf.raw_ops.QuantizedMatMul(a=x, b=y, min_a=a, max_a=b, min_b=c, max_b=d, transpose_a=ta, transpose_b=tb)))
            for padding, by in (("SAME", 1), ("SAME", 2), ("VALID", 2)):
                steps.append(plain(tf.raw_ops.QuantizedConv2D(
                    input=some(tf.quint8, 2, 4, 5, 2), filter=some(tf.quint8, 3, 2, 2, 3), min_input=a, max_input=b,
                    min_filter=c, max_filter=d, strides=[1, by, by, 1], padding=padding)))
            for shapes in (((3, 4), (4,)), ((5,), (5,)), ((2, 3), ()), ((1,), (2, 3)), ((3,), (2, 3)), ((1,), (1,))):
                x, y = (some(tf.quint8, *s) for s in shapes)
                steps.append(plain(tf.raw_ops.QuantizedMul(x=x, y=y, min_x=a, max_x=b, min_y=c, max_y=d)))
                steps.append(near(tf.raw_ops.QuantizedAdd(x=x, y=y, min_x=a, max_x=b, min_y=c, max_y=d)))
            for t in (tf.quint8, tf.qint8):
                # TensorFlow's sums are all off by one amount, up to 2^-23 of a range that is 2^18 times as wide as the numbers.
                parts = tf.raw_ops.QuantizedBiasAdd(input=some(t, 2, 3, 4), bias=some(t, 4), min_input=a, max_input=b, min_bias=c,
                                                    max_bias=d, out_type=tf.qint32)
                steps.append(numbers(parts, by=1e-3))
        return [sum(steps, [])]
    scenario.check(build)


def test_layers_of_integers_are_tensorflows():
    def build():
        steps = []
        for low, high in RANGES[1::2]:
            for t in (tf.quint8, tf.qint32):
                for op in (tf.raw_ops.QuantizedRelu, tf.raw_ops.QuantizedRelu6):
                    steps.append(plain(op(features=some(t, 3, 5), min_features=low, max_features=high, out_type=t)))
                steps.append(plain(tf.raw_ops.QuantizedReshape(tensor=some(t, 3, 4), shape=[2, -1], input_min=low, input_max=high)))
            for t in (tf.quint8, tf.qint8):
                for op in (tf.raw_ops.QuantizedMaxPool, tf.raw_ops.QuantizedAvgPool):
                    steps += [plain(op(input=some(t, 2, 4, 5, 2), min_input=low, max_input=high, ksize=[1, 2, 3, 1],
                                       strides=[1, 2, 1, 1], padding=p)) for p in ("SAME", "VALID")]
            for t in (tf.quint8, tf.qint32):
                steps += [near(tf.raw_ops.QuantizedConcat(concat_dim=axis, values=[some(t, 2, 3), some(t, 2, 3)], input_mins=[low, a],
                                                          input_maxes=[high, b]))
                          for axis, a, b in ((0, -1.0, 1.0), (1, 0.0, 0.25), (1, low, high))]
        return [sum(steps, [])]
    scenario.check(build)


def test_what_ops_on_integers_refuse():
    def build():
        q, n = some(tf.quint8, 1, 2, 2, 1), some(tf.qint32, 2)
        m = some(tf.quint8, 2, 2)
        bad = [tf.raw_ops.Requantize(input=n, input_min=-1.0, input_max=1.0, requested_output_min=a, requested_output_max=b,
                                     out_type=tf.quint8).output_min for a, b in ((1.0, 2.0), (0.0, -1.0))]
        bad += [tf.raw_ops.QuantizedMatMul(a=m, b=m, min_a=a, max_a=b, min_b=0.0, max_b=1.0).min_out for a, b in ((1.0, 1.0), (1.0, 0.0))]
        bad += [op(x=m, y=m, min_x=0.0, max_x=1.0, min_y=1.0, max_y=0.0).min_z for op in (tf.raw_ops.QuantizedAdd, tf.raw_ops.QuantizedMul)]
        conv = dict(input=q, filter=q, min_input=0.0, max_input=1.0, min_filter=0.0, max_filter=1.0, padding="SAME")
        conv["filter"] = some(tf.quint8, 1, 1, 1, 1)
        bad += [tf.raw_ops.QuantizedConv2D(strides=s, dilations=d, **conv).min_output
                for s, d in (([1, 1, 2, 1], [1] * 4), ([2, 1, 1, 1], [1] * 4), ([1] * 4, [1, 2, 2, 1]))]
        bad += [tf.raw_ops.QuantizedMaxPool(input=q, min_input=0.0, max_input=1.0, ksize=k, strides=k, padding="SAME").min_output
                for k in ([2, 1, 1, 1],)]
        return [scenario.Fails(b) for b in bad]
    scenario.check(build)



def convolution(op, image, filters):
    """A GraphDef with a convolution of these shapes, which TensorFlow checks only when it imports the graph."""
    quantized = op is tf.raw_ops.QuantizedConv2D
    kind = tf.quint8 if quantized else tf.float32
    ranges = dict(min_input=0.0, max_input=1.0, min_filter=0.0, max_filter=1.0) if quantized else {}
    with tf.Graph().as_default() as g:
        x, f = tf.compat.v1.placeholder(kind, name="x"), tf.compat.v1.placeholder(kind, name="f")
        op(input=x, filter=f, strides=[1] * 4, padding="VALID", **ranges)
    graph_def = g.as_graph_def()
    for node in graph_def.node:
        if node.op == "Placeholder":
            node.attr["shape"].shape.CopyFrom(tf.TensorShape(image if node.name == "x" else filters).as_proto())
    return graph_def


@pytest.mark.parametrize("op", [tf.raw_ops.QuantizedConv2D, tf.raw_ops.Conv2D], ids=["quantized", "float"])
def test_the_shape_rule_of_a_convolution_refuses_what_tensorflow_refuses(op):
    for depth, filters in ((6, (4, 3)), (6, (3, 3)), (6, (2, 4)), (6, (0, 4)), (0, (0, 4)), (0, (3, 4))):
        graph_def = convolution(op, (1, 4, 4, depth), (2, 2, *filters))
        with pytest.raises(ValueError) as theirs, tf.Graph().as_default():
            tf.graph_util.import_graph_def(graph_def, name="")
        with pytest.raises(weftlib.Error) as ours:
            weftlib.Graph(graph_def)
        assert str(theirs.value).split(" for '")[0] in str(ours.value), (depth, filters)
    for depth, filters in ((6, (6, 4)), (6, (3, 4)), (None, (0, 4)), (6, (None, 4))):
        weftlib.Graph(convolution(op, (1, 4, 4, depth), (2, 2, *filters)))


# ---- integers of a scale and a zero point ----

def bits(values, dtype):
    return tf.bitcast(np.asarray(values, PLAIN[dtype]), dtype)


def plain_one(q):
    return tf.bitcast(q, PLAIN[q.dtype])


def uniform(x, scales, zeros, dtype=tf.qint8, axis=-1, low=-128, high=127):
    return tf.raw_ops.UniformQuantize(input=x, scales=scales, zero_points=zeros, Tout=dtype, quantization_axis=axis,
                                      quantization_min_val=low, quantization_max_val=high)


def test_uniform_integers_are_tensorflows():
    x = np.random.RandomState(0).normal(size=(40, 3)).astype(np.float32) * 20

    def build():
        whole = dict(quantization_min_val=-2**31, quantization_max_val=2**31 - 1)
        made = [uniform(x, 0.3, 5), uniform(X, 0.5, -3, low=-127), uniform(x, 0.01, 7, tf.qint32, low=-2**31, high=2**31 - 1),
                uniform(x, [0.5, 1.0, 0.07], [0, 1, -2], axis=1), uniform(x[:2], [0.5, 1.0], [3, 1], axis=0), uniform(X, 0.5, 0, low=5, high=4)]
        back = [tf.raw_ops.UniformDequantize(input=made[0], scales=0.3, zero_points=5, Tout=tf.float32, quantization_min_val=-128,
                                             quantization_max_val=127),
                tf.raw_ops.UniformDequantize(input=made[3], scales=[0.5, 1.0, 0.07], zero_points=[0, 1, -2], Tout=tf.float32,
                                             quantization_axis=1, quantization_min_val=-128, quantization_max_val=127)]
        clipped = [tf.raw_ops.UniformQuantizedClipByValue(operand=made[2], min=bits(-500, tf.qint32), max=bits(300, tf.qint32),
                                                          scales=0.01, zero_points=7, **whole),
                   tf.raw_ops.UniformQuantizedClipByValue(operand=made[2], min=bits([-5, -6, 1], tf.qint32), max=bits([3, 0, 9], tf.qint32),
                                                          scales=[1.0, 2.0, 3.0], zero_points=[0, 0, 0], quantization_axis=1, **whole)]
        return [[plain_one(q) for q in made + clipped], back]
    scenario.check(build)


@pytest.mark.parametrize("dtype", [tf.qint8, tf.qint32], ids=lambda t: t.name)
def test_uniform_integers_of_another_scale_are_tensorflows(dtype):
    held = np.random.RandomState(1).randint(-128, 128, (40, 3))

    def again(given, taken, ins=-1, outs=-1):
        return plain_one(tf.raw_ops.UniformRequantize(
            input=bits(held, dtype), input_scales=given[0], input_zero_points=given[1], output_scales=taken[0], output_zero_points=taken[1],
            Tout=tf.qint8, input_quantization_axis=ins, output_quantization_axis=outs, input_quantization_min_val=-128,
            input_quantization_max_val=127, output_quantization_min_val=-128, output_quantization_max_val=127))
    rows = ([0.5, 0.25, 0.1], [1, 0, -4])
    scenario.check(lambda: [[again((0.5, 2), (1.0, 0)), again((0.3, 2), (0.7, -1)), again(rows, (0.3, 1), 1), again((0.3, 1), rows, -1, 1),
                             again(rows, ([0.3, 1.0, 0.7], [2, 0, 1]), 1, 1)]])


def test_what_uniform_integers_refuse():
    scenario.check(lambda: [scenario.Fails(plain_one(q)) for q in (
        uniform(X[:2], [0.5], 0), uniform(X[:2], 0.5, 0, axis=3), uniform(X[:2], [0.5], [0], axis=0),
        uniform(np.float32([[1, 2]]), [0.5, 0.5], [0, 0]))])
