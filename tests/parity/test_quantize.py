"""QuantizeV2 and Dequantize: every mode and integer type, against TensorFlow's integers and floats."""
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.util.quantization import uniform_quant_ops_attr_pb2

import scenario
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
                steps.append(plain(tf.raw_ops.QuantizedMatMul(
                    a=x, b=y, min_a=a, max_a=b, min_b=c, max_b=d, transpose_a=ta, transpose_b=tb)))
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
                uniform(x, [0.5, 1.0, 0.07], [0, 1, -2], axis=1), uniform(x[:2], [0.5, 1.0], [3, 1], axis=0),
                uniform(X, 0.5, 0, low=5, high=4)]
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



CHANNELS = np.random.RandomState(18).randint(-2**30, 2**30, (1, 2, 2, 3)).astype(np.int32)


def test_channels_with_ranges_of_their_own():
    def build():
        made, least, most = [], np.float32([-1, -2, -3]), np.float32([1, 1.5, 3])
        for x in (CHANNELS, abs(CHANNELS)):
            q = tf.bitcast(x, tf.qint32)
            made += [tf.raw_ops.RequantizationRangePerChannel(input=q, input_min=least, input_max=most, clip_value_max=c)
                     for c in (1e9, .5)]
            made += [integers(tf.raw_ops.RequantizePerChannel(input=q, input_min=least, input_max=most, requested_output_min=low,
                                                              requested_output_max=high, out_type=kind))
                     for kind, low, high in ((tf.qint8, -1., 1.), (tf.quint8, 0., 2.), (tf.quint8, -1., 3.), (tf.qint8, -1., 3.))]
        return made
    scenario.check(build)


def test_norms_of_images():
    def build():
        x = tf.bitcast(np.random.RandomState(1).randint(0, 256, (2, 4, 4, 3)).astype(np.uint8), tf.quint8)
        some = {"x": x, "x_min": -1., "x_max": 2.}
        made = [tf.raw_ops.QuantizedInstanceNorm(**some, **more) for more in (
            {}, {"output_range_given": True, "given_y_min": -2., "given_y_max": 2.}, {"variance_epsilon": .5})]
        flat = tf.bitcast(np.full((1, 2, 2, 1), 7, np.uint8), tf.quint8)
        made.append(tf.raw_ops.QuantizedInstanceNorm(x=flat, x_min=-1., x_max=2., min_separation=.25))
        return [[tf.bitcast(m.y, tf.uint8), m.y_min, m.y_max] for m in made]
    scenario.check(build)


def test_norms_of_batches():
    def build():
        def part(name, low, high, values):
            return {name: tf.bitcast(np.uint8(values), tf.quint8), name + "_min": low, name + "_max": high}
        x = np.random.RandomState(2).randint(0, 256, (2, 3, 3, 2))
        made = [tf.raw_ops.QuantizedBatchNormWithGlobalNormalization(
            **part("t", -1., 3., x), **part("m", 0., 1., [10, 200]), **part("v", 0., 2., [30, 100]), **part("beta", 0., 1., [5, 60]),
            **part("gamma", 0., 2., [128, 255]), out_type=tf.qint32, variance_epsilon=.001, scale_after_normalization=scales)
            for scales in (False, True)]
        return [[tf.bitcast(m.result, tf.int32), m.result_min, m.result_max] for m in made]
    scenario.check(build)


@pytest.mark.parametrize("more", [{}, {"align_corners": True}, {"half_pixel_centers": True}], ids=str)
@pytest.mark.parametrize("dtype", [tf.quint8, tf.qint32], ids=lambda t: t.name)
def test_images_of_integers_at_another_size(dtype, more):
    """Within one step: TensorFlow's fixed-point arithmetic is not the same on all processors."""
    x = np.random.RandomState(3).randint(0, 256, (2, 9, 8, 3))
    x = np.uint8(x) if dtype == tf.quint8 else np.int32(x * 1000)
    with tf.Graph().as_default() as g:
        made = tf.raw_ops.QuantizedResizeBilinear(images=tf.bitcast(x, dtype), size=[21, 17], min=-1., max=2., **more)
        steps = [[tf.cast(tf.bitcast(made.resized_images, PLAIN[dtype]), tf.float32), made.out_min, made.out_max]]
    want, got = scenario.OnTensorFlow(g).play(steps), scenario.OnWeft(g).play(steps)
    for w, o in zip(want[0], got[0], strict=True):
        np.testing.assert_allclose(o, w, atol=1)


WHOLE = {name + end: value for name in ("lhs", "rhs", "output")
         for end, value in (("_quantization_min_val", -2**31), ("_quantization_max_val", 2**31 - 1))}
BYTES = dict(WHOLE, lhs_quantization_min_val=-128, lhs_quantization_max_val=127,
             rhs_quantization_min_val=-128, rhs_quantization_max_val=127)


def scaled(**given):
    """lhs=(scales, zero points[, axis]) ... as arguments."""
    made = {}
    for side, of in given.items():
        made[side + "_scales"], made[side + "_zero_points"] = np.float32(of[0]), np.int32(of[1])
        made[side + "_quantization_axis"] = of[2] if len(of) > 2 else -1
    return made


def test_sums_of_uniform_integers_are_tensorflows():
    random = np.random.RandomState(2)
    held = [random.randint(-1000, 1000, dims) for dims in ((40, 3), (40, 3), 3, (40, 1), (0, 3))]
    many = lambda low, axis: (np.arange(1, 4) * low, [3, -1, 0], axis)
    rows = dict(WHOLE, output_quantization_min_val=-300, output_quantization_max_val=400)

    def build():
        add = tf.raw_ops.UniformQuantizedAdd
        a, b, line, column, none = (bits(x, tf.qint32) for x in held)
        one = scaled(lhs=(0.37, 3), rhs=(0.021, -7), output=(0.113, 5))
        bad = [add(lhs=a, rhs=b, **WHOLE, **scaled(lhs=(low, 3), rhs=(0.1, 0), output=(out, 5))) for low, out in ((-1.0, 1.0), (1.0, 0.0))]
        made = [add(lhs=a, rhs=b, **WHOLE, **one), add(lhs=a, rhs=line, **rows, **one), add(lhs=line, rhs=a, **WHOLE, **one),
                add(lhs=a, rhs=column, **WHOLE, **one), add(lhs=none, rhs=none, **WHOLE, **one),
                add(lhs=a, rhs=b, **WHOLE, **scaled(lhs=many(0.3, 1), rhs=many(0.07, 1), output=many(0.2, 1))),
                add(lhs=a, rhs=line, **WHOLE, **scaled(lhs=many(0.3, 1), rhs=many(0.07, 0), output=many(0.2, 1))),
                add(lhs=a, rhs=line, **WHOLE, **scaled(lhs=many(0.3, 1), rhs=many(0.07, 0), output=(0.2, 4)))]
        return [[plain_one(q) for q in made], *[scenario.Fails(plain_one(q)) for q in bad]]
    scenario.check(build)


def test_products_of_uniform_integers_are_tensorflows():
    random = np.random.RandomState(4)
    left, right = random.randint(-128, 128, (20, 30)), random.randint(-128, 128, (30, 3))
    many = lambda low: (np.arange(1, 4) * low, [3, -1, 0], 1)
    narrow = dict(BYTES, output_quantization_min_val=-300, output_quantization_max_val=400)
    numbers = random.normal(size=(20, 30)).astype(np.float32)
    numbers[0], numbers[1], numbers[2], numbers[3] = 0, np.abs(numbers[1]), -np.abs(numbers[2]), 2

    def build():
        a, b = bits(left, tf.qint8), bits(right, tf.qint8)
        dot = lambda **how: plain_one(tf.raw_ops.UniformQuantizedDot(lhs=a, rhs=b, Tout=tf.qint32, **how))
        hybrid = lambda x, of: tf.raw_ops.UniformQuantizedDotHybrid(lhs=x, rhs=b, Tout=tf.float32, rhs_quantization_min_val=-128,
                                                                    rhs_quantization_max_val=127, **scaled(rhs=of))
        made = [dot(**BYTES, **scaled(lhs=(0.37, 3), rhs=(0.021, -7), output=(0.113, 5))),
                dot(**narrow, **scaled(lhs=(0.37, 3), rhs=(0.021, -7), output=(0.113, 5))),
                dot(**BYTES, **scaled(lhs=(0.37, 3), rhs=many(0.01), output=many(0.2))),
                dot(**BYTES, **scaled(lhs=(0.37, 3), rhs=many(0.01), output=(0.5, 2)))]
        wrong = dot(**BYTES, **scaled(lhs=(0.37, 3), rhs=(0.1, 2), output=many(0.2)))
        return [made, [hybrid(numbers, (0.1, 3)), hybrid(numbers, many(0.03)), hybrid(numbers[:0], (0.1, 3))], scenario.Fails(wrong)]
    scenario.check(build)


def order(lhs, rhs, output):
    """dimension_numbers of operands whose dimensions the letters name: batch N, feature C, output O, input I."""
    made = uniform_quant_ops_attr_pb2.UniformQuantizedConvolutionDimensionNumbersAttr()
    for name, letters, major, minor in (("input", lhs, "N_batch", "C_feature"), ("kernel", rhs, "O_output_feature", "I_input_feature"),
                                        ("output", output, "N_batch", "C_feature")):
        for of in (major, minor):
            setattr(made, "%s%s_dimension" % (name, of[1:]), letters.index(of[0]))
        getattr(made, name + "_spatial_dimensions").extend([letters.index(c) for c in "DHW" if c in letters])
    return made.SerializeToString()


CONVOLUTIONS = {  # what is given, and the shapes of the operands if they are not IMAGE and FILTER
    "plain": [{}], "same": [{"padding": "SAME"}], "strides": [{"padding": "SAME", "window_strides": [2, 1]}],
    "holes": [{"padding": "SAME", "lhs_dilation": [2, 3], "window_strides": [1, 2]}], "dilated filter": [{"rhs_dilation": [2, 1]}],
    "explicit": [{"padding": "EXPLICIT", "explicit_padding": [1, 2, 0, 3], "lhs_dilation": [1, 2], "rhs_dilation": [2, 3]}],
    "groups of features": [{"feature_group_count": 2}, (2, 4, 3, 3), (6, 2, 2, 2)],
    "groups of examples": [{"batch_group_count": 2}, (4, 2, 3, 3), (4, 2, 2, 2)],
    "channels last": [{"dimension_numbers": order("NHWC", "HWIO", "NHWC")}, (2, 5, 4, 3), (2, 3, 3, 4)],
    "mixed order": [{"dimension_numbers": order("CNWH", "WOHI", "WHNC"), "padding": "SAME"}, (3, 2, 4, 5), (3, 4, 2, 3)],
    "one dimension": [{}, (2, 2, 5), (4, 2, 3)], "three dimensions": [{"window_strides": [1, 2, 1]}, (2, 2, 3, 4, 3), (2, 2, 2, 2, 2)],
    "no example": [{}, (0, 2, 5, 4)], "no output feature": [{}, None, (0, 2, 2, 3)], "no filter": [{}, None, (4, 2, 0, 2)],
    "less than nothing": [{"window_strides": [3, 3]}, (1, 2, 1, 4)],
}
IMAGE, FILTER = (2, 2, 5, 4), (4, 2, 2, 3)


def convolved(name):
    """(the operands, the attributes, the axes of output features of the filter and the output, how many there are)"""
    how, image, filters = (CONVOLUTIONS[name] + [None, None])[:3]
    random = np.random.RandomState(len(name))
    held = [random.randint(-128, 128, dims or of) for dims, of in ((image, IMAGE), (filters, FILTER))]
    axes = {"channels last": (3, 3), "mixed order": (1, 3)}.get(name, (0, 1))
    return held, {"padding": "VALID", **how}, axes, held[1].shape[axes[0]]


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_uniform_integers_are_tensorflows(name):
    held, how, axes, n = convolved(name)
    many = lambda low, axis: (np.arange(1, n + 1) * low, np.arange(n) - 1, axis)
    numbers = np.random.RandomState(1).normal(size=held[0].shape).astype(np.float32)

    def build():
        a, b = (bits(x, tf.qint8) for x in held)
        conv = lambda bounds=BYTES, **of: plain_one(tf.raw_ops.UniformQuantizedConvolution(
            lhs=a, rhs=b, Tout=tf.qint32, **how, **bounds, **scaled(lhs=(0.37, 3), **of)))
        hybrid = lambda of, x=numbers: tf.raw_ops.UniformQuantizedConvolutionHybrid(
            lhs=x, rhs=b, Tout=tf.float32, rhs_quantization_min_val=-128, rhs_quantization_max_val=127, **how, **scaled(rhs=of))
        narrow = dict(BYTES, output_quantization_min_val=-300, output_quantization_max_val=400)
        return [[conv(rhs=(0.021, -7), output=(0.113, 5)), conv(narrow, rhs=(0.021, -7), output=(0.113, 5)),
                 conv(rhs=many(0.01, axes[0]), output=many(0.2, axes[1])), conv(rhs=many(0.01, axes[0]), output=(0.5, 2))],
                [hybrid((0.1, 3)), hybrid(many(0.03, axes[0])), hybrid((0.1, 3), numbers * 0)]]
    scenario.check(build)


def test_what_convolutions_of_uniform_integers_refuse():
    def build():
        a, b = bits(np.ones(IMAGE), tf.qint8), bits(np.ones(FILTER), tf.qint8)
        conv = lambda padding="VALID", lhs=(0.5, 3), rhs=(0.1, 0), output=(0.2, 1), **how: scenario.Fails(plain_one(
            tf.raw_ops.UniformQuantizedConvolution(lhs=a, rhs=b, Tout=tf.qint32, padding=padding, **BYTES, **how,
                                                   **scaled(lhs=lhs, rhs=rhs, output=output))))
        return [conv(lhs=(0.0, 3)), conv(rhs=(-1.0, 3)), conv(output=(np.inf, 3)), conv(lhs=(0.5, 3, 0)),
                conv(rhs=(0.1, 0, 0)), conv(rhs=([0.1] * 4, [0] * 4)), conv(rhs=([0.1] * 4, [0] * 4, 1)),
                conv(rhs=([0.1] * 4, [0] * 4, 0), output=([0.1] * 4, [0] * 4, 0))]
    scenario.check(build)


WRONG_CONVOLUTIONS = [
    {"padding": "EXPLICIT", "explicit_padding": [-1, 0, 0, 0]}, {"padding": "EXPLICIT"}, {"explicit_padding": [0] * 4}, {"padding": "X"},
    {"window_strides": [2]}, {"window_strides": [0, 1]}, {"lhs_dilation": [0, 1]}, {"rhs_dilation": [1, -1]}, {"rhs_dilation": [1]},
    {"rhs_dilation": [9, 9]}, {"feature_group_count": 2}, {"feature_group_count": 0}, {"batch_group_count": 3}, {"batch_group_count": 0},
    {"dimension_numbers": b"abc"}, {"dimension_numbers": order("NWC", "OIW", "NWC")}, {"dimension_numbers": order("NHWC", "OIHW", "NCHW")},
]


@pytest.mark.parametrize("how", WRONG_CONVOLUTIONS, ids=str)
@pytest.mark.parametrize("op", ["UniformQuantizedConvolution", "UniformQuantizedConvolutionHybrid"])
def test_the_shape_rule_of_uniform_convolutions_refuses_what_tensorflow_refuses(op, how):
    with tf.Graph().as_default() as g:
        hybrid = op.endswith("Hybrid")
        bounds = {k: v for k, v in BYTES.items() if k.startswith("rhs")} if hybrid else BYTES
        sides = {"rhs": (0.1, 3)} if hybrid else {"lhs": (0.1, 3), "rhs": (0.1, 3), "output": (0.1, 3)}
        a = tf.ones(IMAGE) if hybrid else bits(np.ones(IMAGE), tf.qint8)
        getattr(tf.raw_ops, op)(lhs=a, rhs=bits(np.ones(FILTER), tf.qint8), padding="VALID",
                                Tout=tf.float32 if hybrid else tf.qint32, name="made", **bounds, **scaled(**sides))
        graph_def = g.as_graph_def()
    node = next(n for n in graph_def.node if n.name == "made")
    for key, value in how.items():
        if isinstance(value, list):
            node.attr[key].list.i[:] = value
        elif isinstance(value, int):
            node.attr[key].i = value
        else:
            node.attr[key].s = value if isinstance(value, bytes) else value.encode()
    with tf.Graph().as_default(), pytest.raises(ValueError):
        tf.graph_util.import_graph_def(graph_def, name="")
    with pytest.raises(weftlib.Error):
        weftlib.Graph(graph_def)
