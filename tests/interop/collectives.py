"""collectives.py FRAMEWORK --task_index 0 --worker_hosts a,b: one worker's part of collective ops, with a master of its own.

It runs each op three times and prints what it got.  Task 0 is the leader of the groups.  The first ops have no graph key, so
that both systems must make the same one.
"""
import argparse
import sys
import time

import numpy as np

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

SIZES = (5, 16, 32, 40, 1000, 30000)


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--worker_hosts")
    flags.add_argument("--task_index", type=int)
    flags = flags.parse_known_args(sys.argv[2:])[0]
    hosts, i = flags.worker_hosts.split(","), flags.task_index
    config = tf.ConfigProto(device_filters=["/job:worker/task:%d" % i])
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    server = tf.train.Server(tf.train.ClusterSpec({"worker": hosts}), job_name="worker", task_index=i, config=config)
    raw, n = tf.raw_ops, len(hosts)
    of = lambda key: dict(group_size=n, group_key=1, instance_key=key)
    with tf.device("/job:worker/task:%d/cpu:0" % i):
        sums = [raw.CollectiveReduce(input=np.arange(s, dtype=np.float32) * (i + 1) / 3, merge_op="Add", final_op="Div",
                                     subdiv_offsets=[], **of(20 + m)) for m, s in enumerate(SIZES)]
        rows = raw.CollectiveGather(input=np.int32([[i, i]]), shape=[n, 2], **of(8))
        sent = [raw.CollectiveBcastSend(input=np.float32([4, s]), shape=[2], **of(9 + s)) if s == i else
                raw.CollectiveBcastRecv(T=tf.float32, shape=[2], **of(9 + s)) for s in range(n)]
        shares = raw.CollectiveAllToAllV2(input=np.arange(n, dtype=np.float64) + 10 * i, ordering_token=[], **of(15))
    with tf.Session(server.target, config=config) as sess:
        options = tf.RunOptions(timeout_in_ms=60000)
        for _ in range(3):
            for name, fetches in (("sums", sums), ("rows", [rows]), ("sent", sent)):
                values = sess.run(fetches, options=options)
                print(name, [float(np.dot(v.ravel(), np.arange(v.size, dtype=np.float64))) for v in values], flush=True)
        options.experimental.collective_graph_key = 42
        print("shares", sess.run(shares, options=options).tolist(), flush=True)
        time.sleep(1)  # the other worker may still fetch what this one sent


main()
