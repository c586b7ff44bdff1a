"""pair.py --job_name worker --task_index 0 --ps_hosts A,B --worker_hosts ... --logdir DIR --style supervisor|monitored

A worker of an asynchronous job with a counter on each of two ps, which every step adds one to: they are never far apart,
unless one was set back to the checkpoint and the other was not.  Then the worker says "mixed" and ends with 5.  Beside
the first counter is a large variable, so that restoring the first ps takes longer than restoring the second.
The worker goes on until it is told to end.
"""
import argparse
import os
import sys
import time

import weft as tf


def main():
    flags = argparse.ArgumentParser()
    for name in ["job_name", "ps_hosts", "worker_hosts", "logdir", "style"]:
        flags.add_argument(f"--{name}")
    flags.add_argument("--task_index", type=int)
    flags = flags.parse_args()
    cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name="worker", task_index=flags.task_index)
    mine, chief = f"/job:worker/task:{flags.task_index}", flags.task_index == 0
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        large = tf.Variable(tf.zeros([1 << 24]), name="large")
        first = tf.Variable(0, dtype=tf.int64, name="first")
    with tf.device("/job:ps/task:1"):
        second = tf.Variable(0, dtype=tf.int64, name="second")
    train = tf.group(*(v.assign_add(1) for v in (first, second, step)))
    del large
    config = tf.ConfigProto(device_filters=["/job:ps", mine])

    def work(session, done):
        while not os.path.exists(os.path.join(flags.logdir, "checkpoint")):
            time.sleep(0.01)  # it is saved while nobody counts
        for local in range(10**9):
            if done():
                return
            one, other = session.run([first, second])
            if abs(one - other) > 1000:
                print(f"mixed {one} {other}", flush=True)
                sys.exit(5)
            session.run(train)
            time.sleep(0.001)  # so that a task that has to wait for a processor is not far behind
            if local % 100 == 0:
                print(f"counted {one}", flush=True)

    if flags.style == "supervisor":
        sv = tf.train.Supervisor(is_chief=chief, logdir=flags.logdir, save_model_secs=10**6, save_summaries_secs=0)
        with sv.managed_session(server.target, config=config) as session:
            work(session, sv.should_stop)
        return
    with tf.train.MonitoredTrainingSession(server.target, is_chief=chief, checkpoint_dir=flags.logdir, config=config,
                                           save_checkpoint_secs=10**6) as session:
        work(session, session.should_stop)


main()
