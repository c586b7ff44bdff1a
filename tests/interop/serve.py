"""serve.py --job_name worker --task_index 0 --worker_hosts a,b [--ps_hosts ...] - a bare TensorFlow server."""
import argparse

import tensorflow.compat.v1 as tf

flags = argparse.ArgumentParser()
flags.add_argument("--job_name")
flags.add_argument("--task_index", type=int)
flags.add_argument("--ps_hosts", default="")
flags.add_argument("--worker_hosts", default="")
flags = flags.parse_args()
jobs = {"ps": flags.ps_hosts, "worker": flags.worker_hosts}
cluster = tf.train.ClusterSpec({job: hosts.split(",") for job, hosts in jobs.items() if hosts})
tf.train.Server(cluster, job_name=flags.job_name, task_index=flags.task_index).join()
