"""A session with every kind of hook: logging, counters, checkpoints, summaries, profiler, feeds, listeners, resuming."""
import logging
import os
import sys

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


class Lines(logging.Handler):
    def emit(self, record):
        text = record.getMessage()
        if "loss" in text and "sec" not in text:
            print("log:", text)


logging.getLogger("tensorflow").addHandler(Lines())


class Listener(tf.train.CheckpointSaverListener):
    def begin(self):
        print("listener: begin")

    def before_save(self, session, global_step_value):
        print("listener: before save at", global_step_value)

    def after_save(self, session, global_step_value):
        print("listener: after save at", global_step_value)

    def end(self, session, global_step_value):
        print("listener: end at", global_step_value)


class FeedingHook(tf.train.SessionRunHook):
    def __init__(self, placeholder):
        self.placeholder, self.rng = placeholder, np.random.RandomState(4)

    def after_create_session(self, session, coord):
        print("created with", len(session.graph.get_operations()) > 50)

    def before_run(self, run_context):
        assert run_context.original_args is not None
        return tf.train.SessionRunArgs(None, feed_dict={self.placeholder: self.rng.randn(8, 3).astype(np.float32)})

    def end(self, session):
        print("hook end, w is %.4f" % session.run("w/read:0")[0, 0])


class StopWhenSmall(tf.train.SessionRunHook):
    def __init__(self, tensor, limit):
        self.tensor, self.limit = tensor, limit

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"loss": self.tensor})

    def after_run(self, run_context, run_values):
        if run_values.results["loss"] < self.limit:
            print("small enough")
            run_context.request_stop()


def build():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.Variable(np.array([[1.0], [-2.0], [0.5]], np.float32), name="w")
    goal = tf.matmul(x, tf.constant([[0.3], [0.2], [0.1]]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - goal), name="loss")
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    tf.summary.scalar("loss", loss)
    return x, loss, train, step


def train_until(last, folder):
    with tf.Graph().as_default():
        x, loss, train, step = build()
        saver = tf.train.Saver(sharded=False)
        scaffold = tf.train.Scaffold(saver=saver, init_fn=lambda scaffold, sess: print("init_fn"),
                                     local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()))
        hooks = [FeedingHook(x), tf.train.StopAtStepHook(last_step=last), StopWhenSmall(loss, 1e-4),
                 tf.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=10,
                                            formatter=lambda t: "loss {loss:.5f} at {step}".format(**t)),
                 tf.train.CheckpointSaverHook(folder, save_steps=15, listeners=[Listener()], scaffold=scaffold),
                 tf.train.SummarySaverHook(save_steps=10, output_dir=folder, summary_op=tf.summary.merge_all()),
                 tf.train.StepCounterHook(every_n_steps=10, output_dir=folder), tf.train.NanTensorHook(loss),
                 tf.train.FinalOpsHook(step)]
        with tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=folder), hooks) as sess:
            while not sess.should_stop():
                value, _ = sess.run([loss, train])
            print("left at loss %.5f" % value)
        print("final ops", hooks[-1].final_ops_values)


train_until(20, "run")
train_until(34, "run")
values = [(e.step, round(v.simple_value, 4)) for name in sorted(os.listdir("run")) if "tfevents" in name
          for e in tf.train.summary_iterator(os.path.join("run", name)) for v in e.summary.value if v.tag == "loss"]
print(values)
print(sorted(n for n in os.listdir("run") if n.endswith(".index")))
reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint("run"))
print(sorted(reader.get_variable_to_shape_map().items()), reader.get_tensor("global_step"))
sys.stdout.flush()
