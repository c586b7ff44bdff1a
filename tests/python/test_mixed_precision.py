"""Automatic mixed precision on a simulated card: which nodes become half, and that training goes on as in float."""
import json
import os
import subprocess
import sys

from scripts import PACKAGE

PROGRAM = '''
import json, os
import numpy as np
import weft as tf

def network():
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [4, 8, 8, 3], name="x")
    h = tf.nn.conv2d(x, tf.get_variable("f", [3, 3, 3, 4]), [1, 1, 1, 1], "SAME", name="conv")
    h = tf.nn.max_pool(tf.nn.relu(h, name="relu"), [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool")
    h = tf.tanh(tf.matmul(tf.reshape(h, [4, 64]), tf.get_variable("w", [64, 16]), name="product"), name="tanh")
    h = tf.matmul(h, tf.get_variable("v", [16, 4]), name="logits")
    u = tf.get_variable("u", [4, 4])
    h = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.matmul(y, u, name="inner")), (0, h))[1]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 3], logits=h), name="loss")

def train(optimizer, off=False):
    with tf.Graph().as_default() as g, tf.device("/gpu:0"):
        loss = network()
        step = optimizer().minimize(loss)
        config = tf.ConfigProto(allow_soft_placement=True)
        if off:
            config.graph_options.rewrite_options.auto_mixed_precision = 2
        feed, found = {"x:0": np.random.RandomState(0).rand(4, 8, 8, 3)}, tf.RunMetadata()
        with tf.Session(config=config) as s:
            s.run(tf.global_variables_initializer())
            s.run(step, feed, options=tf.RunOptions(output_partition_graphs=True), run_metadata=found)
            losses = [float(s.run([loss, step], feed)[0]) for _ in range(10)]
        nodes = [n for p in found.partition_graphs for n in p.node]
        half = [n.name for n in nodes if n.op != "Cast" and any(a.type == 19 for a in n.attr.values())]
        return losses, half

def halves(open_session):
    """Whether a product becomes half in a session that a helper of tf.train opens."""
    with tf.Graph().as_default():
        with tf.device("/gpu:0"):
            y, found = tf.exp(tf.matmul(tf.ones([2, 2]), tf.get_variable("w", [2, 2]))), tf.RunMetadata()
        with open_session() as s:
            s.run(y, options=tf.RunOptions(output_partition_graphs=True), run_metadata=found)
        return any(n.op == "MatMul" and n.attr["T"].type == 19 for p in found.partition_graphs for n in p.node)

OPENERS = [lambda config=None: tf.train.MonitoredSession(tf.train.ChiefSessionCreator(config=config)),
           lambda config=None: tf.train.Supervisor(logdir=None).managed_session(config=config)]
SOFT = tf.ConfigProto(allow_soft_placement=True)
momentum = lambda: tf.train.MomentumOptimizer(0.05, 0.9)
out = {"float": train(momentum)}
out["mixed"] = train(lambda: tf.train.experimental.enable_mixed_precision_graph_rewrite(momentum(), 8.0))
out["dynamic"] = train(lambda: tf.train.experimental.enable_mixed_precision_graph_rewrite(momentum()))
out["helpers"] = [halves(o) for o in OPENERS] + [halves(lambda o=o: o(SOFT)) for o in OPENERS]
out["off"] = train(momentum, off=True)
tf.train.experimental.disable_mixed_precision_graph_rewrite()
out["disabled"] = train(momentum)
print(json.dumps(out))
'''


def test_ops_of_a_gpu_run_in_half_and_training_goes_on_as_in_float():
    env = {**os.environ, "WEFT_CUDA_PLUGIN": "simulated", "PYTHONPATH": PACKAGE}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=env, check=True, capture_output=True, text=True, timeout=100)
    out = json.loads(ran.stdout.splitlines()[-1])
    assert out["helpers"] == [True] * 4
    losses, half = out["mixed"]
    assert {"conv", "relu", "pool", "product", "tanh", "logits", "while/inner"} <= set(half), half
    assert any("Conv2DBackpropFilter" in n for n in half), half
    assert not [n for n in half if "SoftmaxCrossEntropy" in n or n.startswith(("loss", "Momentum"))], half
    assert out["float"][1] == out["off"][1] == out["disabled"][1] == []
    assert out["float"][0] == out["off"][0] == out["disabled"][0]
    assert losses != out["float"][0] and out["dynamic"][0] != out["float"][0]
    for mixed in (losses, out["dynamic"][0]):
        assert all(abs(a - b) < 0.02 for a, b in zip(mixed, out["float"][0], strict=True)), (mixed, out["float"][0])
    assert losses[-1] < losses[0]
