"""Ops of several steps in half and bfloat16 round between the steps, as TensorFlow's do: the same bits.

A few elements may differ, since TensorFlow's libraries differ between processors.
"""
import numpy as np
import pytest
import tensorflow as tf

import compare

v1 = tf.compat.v1
N = 2000
ANY, POSITIVE, UNIT = "any", "positive", "unit"
OPS = {"Xlogy": (ANY, POSITIVE), "Xlog1py": (ANY, POSITIVE), "Xdivy": (ANY, POSITIVE), "SquaredDifference": (ANY, ANY),
       "FloorDiv": (ANY, ANY), "TruncateDiv": (ANY, ANY), "Rsqrt": (POSITIVE,), "Sigmoid": (ANY,), "TanhGrad": (UNIT, ANY),
       "SigmoidGrad": (UNIT, ANY), "RsqrtGrad": (POSITIVE, ANY), "SqrtGrad": (POSITIVE, ANY), "ReciprocalGrad": (POSITIVE, ANY),
       "InvGrad": (POSITIVE, ANY), "LeakyRelu": (ANY,), "LeakyReluGrad": (ANY, ANY), "Elu": (ANY,), "EluGrad": (ANY, ANY),
       "Selu": (ANY,), "SeluGrad": (ANY, ANY), "Softplus": (ANY,), "SoftplusGrad": (ANY, ANY), "Softsign": (ANY,),
       "SoftsignGrad": (ANY, ANY), "Cumsum": (ANY,), "Cumprod": (ANY,)}


def numbers(kind, seed):
    r = np.random.RandomState(seed)
    made = {ANY: r.randn(N) * 2, POSITIVE: r.rand(N) * 3 + .05, UNIT: r.rand(N) * .98 + .01}[kind]
    return made.astype(np.float32).reshape(N // 20, 20)


@pytest.mark.parametrize("dtype", [tf.half, tf.bfloat16], ids=lambda t: t.name)
@pytest.mark.parametrize("name", sorted(OPS))
def test_steps_are_rounded_as_tensorflows(name, dtype):
    with tf.Graph().as_default() as g:
        inputs = [tf.cast(v1.placeholder(tf.float32, [None, 20], name="in%d" % i), dtype) for i in range(len(OPS[name]))]
        more = [tf.constant(1)] if name.startswith("Cum") else []
        made = getattr(tf.raw_ops, name)(**dict(zip(arguments_of(name), inputs + more)))
        out = tf.cast(made, tf.float32, name="out")
        graph_def, name_out = g.as_graph_def(), out.name
    feeds = {"in%d:0" % i: numbers(kind, i) for i, kind in enumerate(OPS[name])}
    (code, (want,), _), (our_code, (got,), _) = (run(graph_def, [name_out], feeds, feeds, [], []) for run in (
        compare.run_tf, compare.run_weft))
    assert not code and not our_code
    different = np.mean(~((want == got) | (np.isnan(want) & np.isnan(got))))
    assert different <= .01, f"{100 * different:.1f} % of the elements differ"


def arguments_of(name):
    from tensorflow.python.framework import op_def_registry
    return [a.name for a in op_def_registry.get(name).input_arg]
