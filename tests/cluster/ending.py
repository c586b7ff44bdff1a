"""ending.py --task_index 0 --worker_hosts a,b: workers that add up their data by collective ops; worker 1's end after 3 steps.

Each worker has its own master and prints the error of its fourth step.  In round 0, worker 0 asks for worker 1's value
before worker 1 fails; in round 1, afterwards.
"""
import argparse
import pathlib
import time

import weft as tf


def wait_for(name):
    while not pathlib.Path(name).exists():
        time.sleep(0.01)


def fourth_step(session, total, number, step):
    if number == 1 and step == 0:
        wait_for("begun0")
        time.sleep(0.2)  # worker 0's request arrives meanwhile: nothing shows that, and the errors are the same if it is late
    elif number == 0 and step == 1:
        wait_for("failed1.1")
    pathlib.Path("begun%d" % step).touch()
    try:
        session.run(total)
    except tf.errors.OpError as e:
        print(type(e).__name__, e.message.splitlines()[0], flush=True)
    pathlib.Path("failed%d.%d" % (number, step)).touch()
    wait_for("failed%d.%d" % (1 - number, step))


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--worker_hosts")
    flags.add_argument("--task_index", type=int)
    flags = flags.parse_known_args()[0]
    hosts, i = flags.worker_hosts.split(","), flags.task_index
    config = tf.ConfigProto(device_filters=["/job:worker/task:%d" % i])
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
    server = tf.train.Server(tf.train.ClusterSpec({"worker": hosts}), job_name="worker", task_index=i, config=config)
    with tf.device("/job:worker/task:%d/cpu:0" % i):
        iterator = tf.data.Dataset.range(1, 100 if i == 0 else 4).make_initializable_iterator()
        total = tf.raw_ops.CollectiveReduce(input=iterator.get_next(), merge_op="Add", final_op="Id", subdiv_offsets=[],
                                            group_size=len(hosts), group_key=1, instance_key=1)
    with tf.Session(server.target, config=config) as session:
        for step in range(2):
            session.run(iterator.initializer)
            print("sums", [int(session.run(total)) for _ in range(3)], flush=True)
            fourth_step(session, total, i, step)


main()
