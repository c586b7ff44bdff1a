"""gpu_cluster.py [SECONDS] [BATCH...] - a worker with a GPU and a ps on the CPU: does a step overlap transfer and compute?

Steps a second of four dense layers of 2048 units: with the variables on the GPU (compute), reading all variables from the
ps and sending gradients of their sizes without computing (transfer), and training.  The last column is training as a
share of the smaller of the two limits.
"""
import signal
import socket
import subprocess
import sys
import time

import weft as tf

UNITS, LAYERS, CLASSES = 2048, 4, 10
PS = "import sys, weft as tf; tf.train.Server({'ps': [sys.argv[1]], 'worker': [sys.argv[2]]}, 'ps', 0).join()"


def free_addresses(n):
    """Addresses of ports that nothing listens on now."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    found = ["127.0.0.1:%d" % s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return found


def variables(device):
    with tf.device(device):
        sizes = [UNITS] * (LAYERS + 1)
        weights = [tf.get_variable("w%d" % i, s, initializer=tf.random_normal_initializer(0, 0.02))
                   for i, s in enumerate(zip(sizes, sizes[1:]))]
        return weights + [tf.get_variable("last", [UNITS, CLASSES], initializer=tf.random_normal_initializer(0, 0.02))]


def data(batch):
    x = tf.get_variable("x%d" % batch, [batch, UNITS], initializer=tf.random_normal_initializer(), trainable=False)
    return x, tf.zeros([batch], tf.int64)


def loss_of(x, y, weights):
    for w in weights[:-1]:
        x = tf.nn.relu(tf.matmul(x, w))
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.matmul(x, weights[-1])))


def step_of(kind, batch, ps, worker):
    weights = variables(worker if kind == "compute" else ps)
    optimizer = tf.train.GradientDescentOptimizer(0.01)
    with tf.device(worker):
        if kind == "transfer":
            sent = [(tf.identity(w) * 1e-6, w) for w in weights]
            return optimizer.apply_gradients(sent)
        return optimizer.minimize(loss_of(*data(batch), weights), var_list=weights)


def rate(target, kind, batch, ps, worker, seconds):
    tf.reset_default_graph()
    train = step_of(kind, batch, ps, worker)
    with tf.Session(target, config=tf.ConfigProto(allow_soft_placement=True)) as s:
        s.run(tf.global_variables_initializer())
        for _ in range(8):
            s.run(train)
        start, n = time.time(), 0
        while time.time() - start < seconds:
            s.run(train)
            n += 1
        return n / (time.time() - start)


def main(args):
    seconds, batches = float(args[0]) if args else 2.0, [int(a) for a in args[1:]] or [256, 2048, 8192, 32768]
    at = free_addresses(2)
    ps = subprocess.Popen([sys.executable, "-c", PS, *at])
    server = tf.train.Server({"ps": at[:1], "worker": at[1:]}, "worker", 0)
    try:
        for batch in batches:
            limits = [rate(server.target, kind, batch, "/job:ps/task:0", "/job:worker/task:0/gpu:0", seconds)
                      for kind in ("compute", "transfer")]
            trained = rate(server.target, "train", batch, "/job:ps/task:0", "/job:worker/task:0/gpu:0", seconds)
            print("batch %6d: compute %8.1f, transfer %8.1f, training %8.1f steps/s, %.2f of the smaller limit" % (
                batch, *limits, trained, trained / min(limits)), flush=True)
    finally:
        ps.send_signal(signal.SIGTERM)
        ps.wait(10)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
