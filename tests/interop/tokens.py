"""tokens.py FRAMEWORK --job_name worker --task_index 0 --ps_hosts ... --worker_hosts ... --steps N [--die_at N]

A worker of a synchronous job that trains a vector.  It stops at the global step --steps, or, with --die_at, ends like
a killed process right after a step: it has taken a token then and will never apply the gradients the others wait for.
"""
import argparse
import os
import sys

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf


def main():
    flags = argparse.ArgumentParser()
    for name in ["job_name", "ps_hosts", "worker_hosts"]:
        flags.add_argument(f"--{name}")
    for name in ["task_index", "steps", "die_at"]:
        flags.add_argument(f"--{name}", type=int, default=0)
    flags = flags.parse_args(sys.argv[2:])
    workers = flags.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name="worker", task_index=flags.task_index)
    mine = f"/job:worker/task:{flags.task_index}"
    with tf.device(tf.train.replica_device_setter(worker_device=mine, cluster=cluster)):
        w = tf.Variable(tf.zeros([3]), name="w")
        step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.01),
                                                   replicas_to_aggregate=len(workers), total_num_replicas=len(workers))
        train = optimizer.minimize(tf.reduce_sum(tf.square(w - 1.0)), global_step=step)
    chief = flags.task_index == 0
    config = tf.ConfigProto(device_filters=["/job:ps", mine])
    with tf.train.MonitoredTrainingSession(server.target, is_chief=chief, config=config,
                                           hooks=[optimizer.make_session_run_hook(chief)]) as session:
        at = 0
        while at < flags.steps:
            _, at = session.run([train, step])
            if flags.die_at and at >= flags.die_at:
                os._exit(9)
        print(f"reached {at}", flush=True)
        os._exit(0)  # without closing: the others may still need what this one started


main()
