"""train.py FRAMEWORK --ps_hosts=... --worker_hosts=... --job_name=worker --task_index=0 --mode=async --dir=DIR --start=N

The Python program of the chaos campaign, as TF 1 programs are written; tests/chaos/train.c says what it counts and how it
ends.  FRAMEWORK is weft or tensorflow.  --mode: async (Supervisor), hooks (MonitoredTrainingSession), or sync
(MonitoredTrainingSession and SyncReplicasOptimizer).
"""
import argparse
import os
import select
import sys
import time

FRAMEWORK = sys.argv[1]
if FRAMEWORK == "tensorflow":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
else:
    import weft as tf

PS, WORKERS, STRIDE, STARTS, PAUSE, LAST_SECONDS = 2, 3, 5000, 6, 0.01, 30
parser = argparse.ArgumentParser()
for name in ["ps_hosts", "worker_hosts", "job_name", "mode", "dir"]:
    parser.add_argument(f"--{name}")
parser.add_argument("--task_index", type=int)
parser.add_argument("--start", type=int, default=0)
flags = parser.parse_args(sys.argv[2:])
chief, in_step, logdir = flags.task_index == 0, flags.mode == "sync", os.path.join(flags.dir, "log")
first = (flags.task_index * STARTS + flags.start) * STRIDE
tf.logging.set_verbosity(tf.logging.INFO)


def say(text):
    print(f"{time.monotonic():.6f} {text}", flush=True)


def pause(seconds):
    """time.sleep fails under libfaketime when only the wall clock is faked."""
    select.select([], [], [], seconds)


def counter():
    """Each execution of a step takes a number of its own; in no collection, so that no supervisor sets it again."""
    with tf.device(f"/job:worker/task:{flags.task_index}/cpu:0"):
        attempts = tf.Variable(first, dtype=tf.int64, name="attempts", trainable=False, collections=["attempts"],
                               use_resource=False)
        return attempts, tf.count_up_to(attempts, first + STRIDE, name="number")


def build():
    step = tf.train.get_or_create_global_step()
    _, number = counter()
    weights, counts = [], []
    for i in range(PS):
        with tf.device(f"/job:ps/task:{i}/cpu:0"):
            weights.append(tf.get_variable(f"weight_{i}", [], tf.float64, tf.zeros_initializer(), use_resource=False))
            applied = tf.get_variable(f"applied_{i}", [WORKERS * STARTS * STRIDE], tf.int32, tf.zeros_initializer(),
                                      trainable=False, use_resource=False)
            counts.append(tf.scatter_add(applied, number, 1, use_locking=True))
    optimizer, hooks = tf.train.MomentumOptimizer(1.0, 1.0, use_locking=True), []
    if in_step:
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=WORKERS, total_num_replicas=WORKERS)
    train = optimizer.minimize(-(weights[0] + weights[1]), global_step=step)
    if in_step:
        hooks.append(optimizer.make_session_run_hook(chief))
    return step, number, tf.group(train, *counts), hooks


def is_over(step):
    try:
        with open(os.path.join(flags.dir, "stop")) as f:
            return not in_step or step >= int(f.read() or 0)
    except FileNotFoundError:
        return False


def loop(session, should_stop, model):
    step, number, train, _ = model
    k, at = 0, 0
    while not is_over(at) and not should_stop():
        say(f"attempt {k}")
        execution, at, _ = session.run([number, step, train])
        say(f"ack {k} {execution} {at}")
        k += 1
        pause(PAUSE)
    end = time.monotonic() + LAST_SECONDS
    while chief and not in_step and not should_stop() and time.monotonic() < end:
        if os.path.exists(os.path.join(flags.dir, "last")):
            break
        pause(0.02)
    say("saving")


def supervised(server, config, model):
    sv = tf.train.Supervisor(is_chief=chief, logdir=logdir, global_step=model[0], save_model_secs=1,
                             recovery_wait_secs=1, summary_op=None)
    session = sv.prepare_or_wait_for_session(server.target, config=config)
    say("session")
    loop(session, sv.should_stop, model)
    if chief and not sv.should_stop():
        sv.saver.save(session, sv.save_path, global_step=sv.global_step)
    sv.stop()


def monitored(server, config, model):
    with tf.train.MonitoredTrainingSession(server.target, is_chief=chief, checkpoint_dir=logdir, hooks=model[3],
                                           save_checkpoint_secs=1, save_summaries_steps=None, save_summaries_secs=None,
                                           log_step_count_steps=None, config=config,
                                           stop_grace_period_secs=20) as session:
        say("session")
        try:
            loop(session, session.should_stop, model)
        except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
            if not in_step or chief or not os.path.exists(os.path.join(flags.dir, "stop")):
                raise  # else the chief has closed the queue of tokens: the job is over


def main():
    cluster = tf.train.ClusterSpec({"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=flags.job_name, task_index=flags.task_index)
    if flags.job_name == "ps":
        server.join()
        say("end")
        return
    # TensorFlow's sessions wait for every task unless they are told whom they need.
    config = tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{flags.task_index}"])
    with tf.Graph().as_default():
        attempts, _ = counter()
        with tf.Session(server.target, config=config) as session:
            session.run(attempts.initializer)
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{flags.task_index}",
                                                      cluster=cluster)):
            model = build()
        (supervised if flags.mode == "async" else monitored)(server, config, model)
    say("end")


main()
