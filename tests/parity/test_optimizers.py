"""Each optimizer of tf.train over several steps: variables and slots as TensorFlow leaves them."""
import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib

v1 = tf.compat.v1
train = v1.train
STEPS = 5

OPTIMIZERS = {
    "gradient_descent": lambda: train.GradientDescentOptimizer(0.1),
    "momentum": lambda: train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda: train.AdagradOptimizer(0.1),
    "adagrad_da": lambda: train.AdagradDAOptimizer(0.1, train.get_or_create_global_step(),
                                                   l1_regularization_strength=0.001, l2_regularization_strength=0.01),
    "adadelta": lambda: train.AdadeltaOptimizer(1.0),
    "adam": lambda: train.AdamOptimizer(0.01),
    "rmsprop": lambda: train.RMSPropOptimizer(0.01, momentum=0.5),
    "centered_rmsprop": lambda: train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
    "ftrl": lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=0.001),
    "ftrl_shrinkage": lambda: train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.01),
    "proximal_adagrad": lambda: train.ProximalAdagradOptimizer(0.1, l1_regularization_strength=0.001),
    "proximal_gradient_descent": lambda: train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.01),
}


def model(sparse):
    """A loss of two variables; with `sparse` the gradient of one comes as slices with repeated indices."""
    rng = np.random.RandomState(4)
    w = v1.get_variable("w", initializer=tf.constant(rng.randn(6, 3), tf.float32))
    b = v1.get_variable("b", initializer=tf.constant(rng.randn(3), tf.float32))
    rows = tf.gather(w, [1, 4, 1, 0]) if sparse else w
    return tf.reduce_sum(tf.square(rows)) + tf.reduce_sum(tf.tanh(rows + b))


@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_several_steps(name, sparse, resource):
    with tf.Graph().as_default() as g:
        with v1.variable_scope("", use_resource=resource):
            step = train.get_or_create_global_step()
            loss = model(sparse)
            op = OPTIMIZERS[name]().minimize(loss, step)
        init = v1.global_variables_initializer()
        values = [v.value().name for v in v1.global_variables()]
    theirs = v1.Session(graph=g)
    ours = weftlib.Session(weftlib.Graph(g.as_graph_def()))
    theirs.run(init)
    ours.run((), None, [init.name])
    for i in range(STEPS):
        theirs.run(op)
        ours.run((), None, [op.name])
        want, got = theirs.run([loss.name] + values), ours.run([loss.name] + values)
        different = [d for d in map(compare.difference, ["loss"] + values, want, got) if d]
        assert not different, f"after step {i + 1}: {different}"
