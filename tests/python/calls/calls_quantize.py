"""Small integers, and floats rounded like them."""
import numpy as np

from machine import case

X = np.float32([-3, -1.25, -.5, 0, .1, .5, 1, 2.3])


@case(nodes=False)
def quantizes(tf):
    q, low, high = tf.quantize_v2(X, -1.0, 2.0, tf.quint8, mode="SCALED")
    p, bottom, top = tf.quantization.quantize(X, -1.0, 2.0, tf.qint8, name="q")
    return [low, high, tf.dequantize(q, low, high, mode="SCALED"), bottom, top, tf.quantization.dequantize(p, bottom, top)]


@case(nodes=False)
def fake_quants(tf):
    x, low, high = tf.constant(X), tf.constant(-1.5), tf.constant(2.0)
    by_args = tf.fake_quant_with_min_max_args(x, min=-1.5, max=2.0, num_bits=4)
    by_vars = tf.quantization.fake_quant_with_min_max_vars(x, low, high, narrow_range=True)
    each = tf.fake_quant_with_min_max_vars_per_channel(tf.reshape(x, [2, 4]), [-1.0] * 4, [1.0] * 4)
    slopes = tf.gradients([by_args, by_vars], [x, low, high])
    return [by_args, by_vars, each] + [tf.identity(s, name="slope") for s in slopes]
