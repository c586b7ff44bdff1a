"""Workers that train copies of a model and average them through the ps; --kind is Elastic, AGN or Model."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "Hosts of the ps, with commas between them.")
flags.DEFINE_string("worker_hosts", "", "Hosts of the workers.")
flags.DEFINE_string("job_name", "", "ps or worker.")
flags.DEFINE_integer("task_index", 0, "Which of them.")
flags.DEFINE_string("kind", "Elastic", "How copies are averaged.")
flags.DEFINE_integer("period", 5, "Steps between two averages.")
FLAGS = flags.FLAGS


def build_optimizer(getter, num_worker, is_chief):
    opt, sgd = tf.contrib.opt, tf.train.GradientDescentOptimizer(0.1)
    if FLAGS.kind == "Elastic":
        return opt.ElasticAverageOptimizer(sgd, num_worker, getter, communication_period=FLAGS.period, moving_rate=0.3)
    if FLAGS.kind == "AGN":
        return opt.AGNOptimizer(sgd, num_worker, getter, communication_period=FLAGS.period)
    return opt.ModelAverageOptimizer(sgd, num_worker, is_chief, getter, interval_steps=FLAGS.period)


def main(_):
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        return
    is_chief, device = FLAGS.task_index == 0, "/job:worker/task:%d/cpu:0" % FLAGS.task_index
    kind = {"Elastic": "ElasticAverageCustomGetter", "AGN": "AGNCustomGetter", "Model": "ModelAverageCustomGetter"}[FLAGS.kind]
    getter = getattr(tf.contrib.opt, kind)(worker_device=device)
    with tf.device(tf.train.replica_device_setter(worker_device=device, cluster=cluster)):
        with tf.variable_scope("", custom_getter=getter):
            x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32, [None])
            w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
            b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
            loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, w), 1) + b - y))
            global_step = tf.train.get_or_create_global_step()
            optimizer = build_optimizer(getter, len(workers), is_chief)
            train_op = optimizer.minimize(loss, global_step=global_step)
            hook = optimizer.make_session_run_hook(is_chief, FLAGS.task_index)
    rng = np.random.RandomState(FLAGS.task_index)
    with tf.train.MonitoredTrainingSession(server.target, is_chief=is_chief, hooks=[hook], save_checkpoint_secs=None,
                                           save_summaries_steps=None) as sess:
        for _ in range(100):
            rows = rng.randn(16, 2)
            sess.run(train_op, feed_dict={x: rows, y: rows.dot([2.0, -1.0]) + 0.5})
        weights, bias, step = sess.run([w, b, global_step])
        print("worker %d: %.2f %.2f %.2f after %d averages" % (FLAGS.task_index, weights[0, 0], weights[1, 0], bias, step))


if __name__ == "__main__":
    tf.app.run()
