"""softmax.py FRAMEWORK --job_name worker --task_index 0 --ps_hosts ... --worker_hosts ... [--sync] [--resource] [--steps N]

A between-graph softmax on MNIST-shaped data, as TF 1 programs wrote it.  FRAMEWORK is tensorflow or weft; the program is
the same.  A worker prints "accuracy 0.91" when it is done.
"""
import argparse
import gzip
import os
import pathlib
import sys

import numpy as np

FRAMEWORK = sys.argv[1]
if FRAMEWORK == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

FOLDERS = [os.environ.get("WEFT_MNIST", ""), "../shared/data/mnist", "/usr/share/datasets/fashion-mnist"]


def read(name):
    for folder in FOLDERS:
        path = pathlib.Path(folder) / name
        if folder and path.exists():
            with gzip.open(path) as f:
                data = f.read()
            rank = data[3]
            return np.frombuffer(data, np.uint8, offset=4 + 4 * rank)
    raise SystemExit(f"no {name} in {FOLDERS}")


def load(part, n):
    images = read(f"{part}-images-idx3-ubyte.gz").reshape(-1, 784)[:n].astype(np.float32) / 255
    return images, read(f"{part}-labels-idx1-ubyte.gz")[:n].astype(np.int64)


def main():
    flags = argparse.ArgumentParser()
    for name in ["job_name", "ps_hosts", "worker_hosts"]:
        flags.add_argument(f"--{name}")
    flags.add_argument("--task_index", type=int)
    flags.add_argument("--steps", type=int, default=400)
    flags.add_argument("--sync", action="store_true")
    flags.add_argument("--resource", action="store_true")
    flags = flags.parse_args(sys.argv[2:])
    workers = flags.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=flags.job_name, task_index=flags.task_index)
    if flags.job_name == "ps":
        server.join()
        return
    chief = flags.task_index == 0
    if flags.resource:
        tf.enable_resource_variables()
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{flags.task_index}",
                                                  cluster=cluster)):
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.int64, [None])
        w = tf.Variable(tf.zeros([784, 10]), name="w")
        b = tf.Variable(tf.zeros([10]), name="b")
        logits = tf.matmul(x, w) + b
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        optimizer = tf.train.GradientDescentOptimizer(0.3)
        hooks = [tf.train.StopAtStepHook(last_step=flags.steps)]
        if flags.sync:
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=len(workers),
                                                       total_num_replicas=len(workers))
            hooks.append(optimizer.make_session_run_hook(chief))
        train = optimizer.minimize(loss, global_step=step)
        right = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    images, labels = load("train", 60000)
    tests = load("t10k", 10000)
    accuracy, draw = 0, np.random.RandomState(flags.task_index)
    # A worker that comes late must not wait for one that has left: TensorFlow's would.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{flags.task_index}"])
    with tf.train.MonitoredTrainingSession(master=server.target, is_chief=chief, hooks=hooks, config=config,
                                           stop_grace_period_secs=1) as session:
        while not session.should_stop():
            pick = draw.randint(0, len(images), 100)
            at, _ = session.run([step, train], {x: images[pick], y: labels[pick]})
            if at >= flags.steps - 50 and not accuracy and not flags.sync:
                accuracy = session.run(right, {x: tests[0], y: tests[1]})
    print(f"accuracy {accuracy:.3f}" if accuracy else "done", flush=True)


main()
