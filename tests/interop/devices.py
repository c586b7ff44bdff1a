"""devices.py FRAMEWORK --task_index 0 --worker_hosts a,b - a server with three CPU devices; task 0 is also the client.

The client prints the devices that the master lists and runs on the last one of each task.
"""
import argparse
import sys

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

flags = argparse.ArgumentParser()
flags.add_argument("--worker_hosts")
flags.add_argument("--task_index", type=int)
flags = flags.parse_args(sys.argv[2:])
hosts = flags.worker_hosts.split(",")
config = tf.ConfigProto(device_count={"CPU": 3})
server = tf.train.Server({"worker": hosts}, "worker", flags.task_index, config=config)
if flags.task_index:
    server.join()
totals = []
for task in range(len(hosts)):
    with tf.device(f"/job:worker/task:{task}/cpu:2"):
        v = tf.Variable(float(task + 1))
    with tf.device(f"/job:worker/task:{task}/cpu:1"):
        totals.append(v.assign_add(1.0) * 2.0)
with tf.Session(server.target) as session:
    names = sorted(d.name for d in session.list_devices() if "CPU:" in d.name and "XLA" not in d.name)
    print("devices", " ".join(n.replace("/job:worker/replica:0", "") for n in names))
    session.run(tf.global_variables_initializer())
    print("totals", *session.run(totals), flush=True)
