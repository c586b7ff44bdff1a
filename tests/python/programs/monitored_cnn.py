"""A distributed program of 2018: a convolution, synchronous replicas, averages, hooks, MonitoredTrainingSession."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "localhost:2222", "host:port of each parameter server")
flags.DEFINE_string("worker_hosts", "localhost:2223", "host:port of each worker")
flags.DEFINE_string("job_name", None, "worker or ps")
flags.DEFINE_integer("task_index", None, "which of them")
flags.DEFINE_boolean("sync_replicas", True, "whether the workers step together")
flags.DEFINE_integer("train_steps", 40, "how long")
flags.DEFINE_string("checkpoint_dir", "saved", "where checkpoints go")
FLAGS = flags.FLAGS
CENTRES = np.random.RandomState(9).rand(10, 784)


def model(x, y, keep):
    image = tf.reshape(x, [-1, 28, 28, 1])
    tf.summary.image('image', image, 2)
    with tf.variable_scope('conv'):
        w = tf.get_variable('w', [5, 5, 1, 8], initializer=tf.contrib.layers.xavier_initializer())
        b = tf.get_variable('b', [8], initializer=tf.constant_initializer(0.1))
        h = tf.nn.relu(tf.nn.conv2d(image, w, strides=[1, 2, 2, 1], padding='SAME') + b)
        h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME')
        h = tf.nn.local_response_normalization(h, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name='norm')
    with tf.variable_scope('full'):
        h = tf.nn.dropout(tf.layers.dense(tf.layers.flatten(h), 32, activation=tf.nn.relu), keep)
        logits = tf.layers.dense(h, 10)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))


class Teller(tf.train.SessionRunHook):
    def begin(self):
        self._count = 0

    def before_run(self, run_context):
        self._count += 1
        return tf.train.SessionRunArgs({'loss': 'loss:0', 'step': tf.train.get_global_step()})

    def after_run(self, run_context, run_values):
        if self._count % 5 == 1:
            print('worker %d at %d: loss %.4f' % (FLAGS.task_index, run_values.results['step'], run_values.results['loss']))


def main(_):
    if not FLAGS.job_name:
        raise ValueError("Must specify an explicit `job_name`")
    ps, workers = FLAGS.ps_hosts.split(","), FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": ps, "worker": workers})
    config = tf.ConfigProto(allow_soft_placement=True, device_filters=["/job:ps", "/job:worker/task:%d" % FLAGS.task_index])
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        return
    chief = FLAGS.task_index == 0
    by_size = tf.contrib.training.GreedyLoadBalancingStrategy(len(ps), tf.contrib.training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster,
                                                  ps_strategy=by_size)):
        step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, [None, 784], name='x')
        y = tf.placeholder(tf.float32, [None, 10], name='y')
        keep = tf.placeholder_with_default(1.0, shape=())
        loss = tf.identity(model(x, y, keep), name='loss')
        tf.summary.scalar('loss', loss)
        opt = tf.train.AdamOptimizer(tf.train.exponential_decay(0.01, step, 100, 0.96, staircase=True))
        if FLAGS.sync_replicas:
            opt = tf.train.SyncReplicasOptimizer(opt, replicas_to_aggregate=len(workers), total_num_replicas=len(workers))
        pairs = [(tf.clip_by_norm(g, 5.0), v) for g, v in opt.compute_gradients(loss) if g is not None]
        with tf.control_dependencies([opt.apply_gradients(pairs, global_step=step)]):
            train_op = tf.train.ExponentialMovingAverage(0.9, step).apply(tf.trainable_variables())
    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.train_steps), Teller(), tf.train.NanTensorHook(loss),
             tf.train.LoggingTensorHook({'loss': loss}, every_n_iter=20)]
    if FLAGS.sync_replicas:
        hooks.append(opt.make_session_run_hook(chief, num_tokens=0))
    random = np.random.RandomState(FLAGS.task_index)
    with tf.train.MonitoredTrainingSession(master=server.target, is_chief=chief, checkpoint_dir=FLAGS.checkpoint_dir, hooks=hooks,
                                           scaffold=tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2)), config=config,
                                           save_checkpoint_secs=60, save_summaries_steps=10) as sess:
        while not sess.should_stop():
            labels = random.randint(0, 10, 32)
            sess.run(train_op, {x: CENTRES[labels] * 0.7 + random.rand(32, 784) * 0.3, y: np.eye(10)[labels], keep: 0.9})
    print("worker %d is done" % FLAGS.task_index)


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
