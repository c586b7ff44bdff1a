"""closing.py FRAMEWORK STYLE --job_name worker --task_index 0 --ps_hosts ... --worker_hosts ...

Takes a token from a queue of tokens on the ps, closes the queue, and asks for another.  STYLE is how it got its session:
plain, managed (Supervisor.managed_session) or monitored (MonitoredTrainingSession).
"""
import argparse
import sys

if sys.argv[1] == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

STYLE = sys.argv[2]


def work(session, put, token, close):
    session.run(put)
    print("token", session.run(token), flush=True)
    session.run(close)
    try:
        print("token", session.run(token), flush=True)
    except tf.errors.OutOfRangeError as e:
        print("closed", "is closed and has insufficient elements" in e.message, flush=True)
        raise


def main():
    flags = argparse.ArgumentParser()
    for name in ["job_name", "ps_hosts", "worker_hosts", "task_index"]:
        flags.add_argument(f"--{name}")
    flags = flags.parse_args(sys.argv[3:])
    cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name="worker", task_index=0)
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        queue = tf.FIFOQueue(-1, tf.int64, shapes=[()], shared_name="sync_token_q")
        put, close, taken = queue.enqueue(tf.constant(7, tf.int64)), queue.close(cancel_pending_enqueues=True), queue.dequeue()
    with tf.device("/job:worker/task:0"):
        token = tf.identity(taken)
    if STYLE == "plain":
        with tf.Session(server.target) as session:
            work(session, put, token, close)
    elif STYLE == "managed":
        with tf.train.Supervisor(global_step=step).managed_session(server.target) as session:
            work(session, put, token, close)
    else:
        with tf.train.MonitoredTrainingSession(server.target) as session:
            work(session, put, token, close)
    print("after", flush=True)


main()
