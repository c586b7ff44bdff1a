"""insync.py --job_name worker --task_index 0 --ps_hosts A --worker_hosts ... --logdir DIR [--steps N]

Synchronous training under a Supervisor as TensorFlow 1 programs wrote it: the program itself enqueues the first tokens and
starts the chief's queue runner, once.  A worker prints "step S" when it has passed another 50 steps, and "loss small" at its end.
"""
import argparse

import numpy as np

import weft as tf


def main():
    flags = argparse.ArgumentParser()
    for name in ["job_name", "ps_hosts", "worker_hosts", "logdir"]:
        flags.add_argument(f"--{name}")
    flags.add_argument("--task_index", type=int)
    flags.add_argument("--steps", type=int, default=2000)
    flags = flags.parse_args()
    workers = flags.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=flags.job_name, task_index=flags.task_index)
    if flags.job_name == "ps":
        server.join()
    mine, chief = f"/job:worker/task:{flags.task_index}", flags.task_index == 0
    with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=mine)):
        step = tf.train.get_or_create_global_step()
        w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
        x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        opt = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), len(workers), len(workers))
        train = opt.minimize(loss, global_step=step)
        tokens, runner = opt.get_init_tokens_op(), opt.get_chief_queue_runner()
        init = tf.global_variables_initializer()
    supervisor = tf.train.Supervisor(
        is_chief=chief, logdir=flags.logdir, init_op=init, recovery_wait_secs=1, global_step=step, save_model_secs=1,
        local_init_op=opt.chief_init_op if chief else opt.local_step_init_op, ready_for_local_init_op=opt.ready_for_local_init_op)
    config = tf.ConfigProto(device_filters=["/job:ps", mine])
    session = supervisor.prepare_or_wait_for_session(server.target, config=config)
    if chief:
        session.run(tokens)
        supervisor.start_queue_runners(session, [runner])
    draw, at, told = np.random.RandomState(flags.task_index), 0, 0
    while at < flags.steps:
        values = draw.rand(16, 2)
        error, at, _ = session.run([loss, step, train], {x: values, y: values @ [[1.0], [2.0]]})
        if at >= told + 50:  # the step that it reads may be any: the other worker counts, too
            told = at
            print("step", at, flush=True)
    print("loss", "small" if error < 0.01 else error, flush=True)


main()
