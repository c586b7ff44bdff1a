"""cluster_task.py SYSTEM JOB --ps_hosts=A,B --worker_hosts=C,D --job_name=ps|worker --task_index=N

One task of a cluster job of the bench, as a TensorFlow 1 program: on TensorFlow, or on Weft.
"""
import argparse
import sys

import shapes
import tf_sparse
from jobs import converse, tell_check
from tf_jobs import dense, inputs, mean_loss, mlp as plain_mlp, tf

MIB = 1 << 20


def no_feed(_):
    return None


def null(_):
    return tf.assign_add(tf.train.get_or_create_global_step(), 1), no_feed, []


def linear(_):
    """Two scalars on the ps, fed two scalars, and all of it fetched."""
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    w, b = tf.get_variable("w", initializer=0.0), tf.get_variable("b", initializer=0.0)
    step = tf.train.get_or_create_global_step()
    loss = tf.square(w * x + b - y)
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
    return [train, loss, w, b, step], lambda i: {x: i % 10 / 10, y: i % 10 / 5 + 10}, []


def softmax(_):
    x, y, feed = inputs()
    loss = mean_loss(dense(x, 10, "out"), y)
    step = tf.train.get_or_create_global_step()
    return tf.train.AdagradOptimizer(0.01).minimize(loss, global_step=step), feed, []


def mlp(task, wrap=lambda optimizer: optimizer, averages=True):
    """The network of the seeds' book: L2 on the weights, a rate that decays, moving averages."""
    x, y, feed = inputs()
    step = tf.train.get_or_create_global_step()
    loss = mean_loss(dense(tf.nn.relu(dense(x, 500, "hidden")), 10, "out"), y)
    loss += 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if v.op.name.endswith("w")])
    optimizer = wrap(tf.train.GradientDescentOptimizer(tf.train.exponential_decay(0.8, step, 600, 0.99)))
    train = optimizer.minimize(loss, global_step=step)
    if averages:
        train = tf.group(train, tf.train.ExponentialMovingAverage(0.99, step).apply(tf.trainable_variables()))
    return train, feed, optimizer


def mlp_async(task):
    train, feed, _ = mlp(task)
    return train, feed, []


def mlp_sync(task):
    """Gradients of all workers are averaged; the chief keeps the moving averages."""
    n = len(task.worker_hosts.split(","))
    wrap = lambda optimizer: tf.train.SyncReplicasOptimizer(optimizer, n, total_num_replicas=n)  # noqa: E731
    train, feed, optimizer = mlp(task, wrap, averages=task.task_index == 0)
    return train, feed, [optimizer.make_session_run_hook(task.task_index == 0)]


def mlp_ring(task):
    """No ps: each worker has all variables, and CollectiveReduce averages the gradients."""
    x, y, feed = inputs()
    logits, optimizer = plain_mlp(x)
    workers = len(task.worker_hosts.split(","))
    pairs = [(tf.raw_ops.CollectiveReduce(input=gradient, group_size=workers, group_key=1, instance_key=i, merge_op="Add",
                                          final_op="Div", subdiv_offsets=[]), v)
             for i, (gradient, v) in enumerate(optimizer.compute_gradients(mean_loss(logits, y)), 1)]
    return optimizer.apply_gradients(pairs, tf.train.get_or_create_global_step()), feed, []


def receive(mib):
    def build(task):
        count = mib * MIB // 4
        v = tf.get_variable("v", [count], initializer=tf.ones_initializer())
        tf.train.get_or_create_global_step()
        return tf.slice(tf.identity(v), [count - 1], [1]), no_feed, []
    return build


def sparse(name):
    """A model with large tables. The fetches are (what a step runs, the loss)."""
    def build(task):
        shape = shapes.Shape(name, task.shape, task.optimizer)
        model = tf_sparse.MODELS[name](tf, shape, first=task.task_index * tf_sparse.FED)
        return (model.step, model.check), model.feed, []
    return build


RING = "mlp-ring-2w"
# job -> what builds its graph: the fetches, the feed of step i, hooks
JOBS = {"null": null, "linear": linear, "softmax-2ps-2w": softmax, "mlp-async-1w": mlp_async, "mlp-async-2w": mlp_async,
        "mlp-sync-2w": mlp_sync, RING: mlp_ring, "recv4": receive(4), "recv64": receive(64), "late-worker": null,
        **{name + shapes.CLUSTER: sparse(name) for name in tf_sparse.MODELS}}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ps_hosts", default="")
    parser.add_argument("--worker_hosts")
    parser.add_argument("--job_name")
    parser.add_argument("--task_index", type=int)
    parser.add_argument("--shape")
    parser.add_argument("--optimizer", default="adagrad")
    return parser.parse_args(arguments)


def main(job, task):
    hosts = {"ps": task.ps_hosts, "worker": task.worker_hosts}
    cluster = tf.train.ClusterSpec({job: names.split(",") for job, names in hosts.items() if names})
    config = tf.ConfigProto()
    if job == RING:  # each worker has a session of its own
        config.device_filters.append("/job:worker/task:%d" % task.task_index)
        config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    server = tf.train.Server(cluster, job_name=task.job_name, task_index=task.task_index, config=config)
    if task.job_name == "ps":
        server.join()
        return
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % task.task_index, cluster=cluster)):
        fetches, feed, hooks = JOBS[job](task)
    is_chief = job == RING or task.task_index == 0
    with tf.train.MonitoredTrainingSession(master=server.target, is_chief=is_chief, hooks=hooks, config=config) as session:
        if shapes.base(job) in tf_sparse.MODELS:
            fetches, loss = fetches
            tell_check(lambda i: session.run([loss, fetches], feed(i))[0])
        converse(lambda i: session.run(fetches, feed(i)), 20, on=bool(hooks) and job != RING)


if __name__ == "__main__":
    main(sys.argv[2], parse(sys.argv[3:]))
