"""waiting.py FRAMEWORK --job_name worker --task_index N --ps_hosts ... --worker_hosts ... --seconds S

Worker 0 takes from a queue on the ps, which is empty; worker 1 puts something in S seconds later."""
import argparse
import sys
import time

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

flags = argparse.ArgumentParser()
for name in ["job_name", "ps_hosts", "worker_hosts"]:
    flags.add_argument(f"--{name}")
for name in ["task_index", "seconds"]:
    flags.add_argument(f"--{name}", type=int)
flags = flags.parse_args(sys.argv[2:])
mine = f"/job:worker/task:{flags.task_index}"
cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")})
server = tf.train.Server(cluster, job_name="worker", task_index=flags.task_index)
with tf.device("/job:ps/task:0"):
    queue = tf.FIFOQueue(1, tf.float32, shared_name="mail")
    take, put = queue.dequeue(), queue.enqueue(42.0)
with tf.Session(server.target, config=tf.ConfigProto(device_filters=["/job:ps", mine])) as session:
    if flags.task_index == 1:
        time.sleep(flags.seconds)
        session.run(put)
    else:
        began = time.time()
        print(f"took {session.run(take)} after {time.time() - began:.0f} s")
