# After the second document, which shows only what such a program prints: a net with one hidden layer, its variables
# on a ps, two workers at their own pace or (--issync=1) in step.  Python 2, as programs of that year were.
import math
import time

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("data_dir", "MNIST_data", "where the images are")
flags.DEFINE_integer("hidden_units", 100, "")
flags.DEFINE_integer("train_steps", 10000, "of all workers together")
flags.DEFINE_integer("batch_size", 100, "")
flags.DEFINE_float("learning_rate", 0.01, "")
flags.DEFINE_string("ps_hosts", "localhost:2222", "")
flags.DEFINE_string("worker_hosts", "localhost:2223,localhost:2224", "")
flags.DEFINE_string("job_name", None, "ps or worker")
flags.DEFINE_integer("task_index", None, "")
flags.DEFINE_integer("issync", 0, "1: in step")
flags.DEFINE_integer("filters", 1, "0: all workers' ops are on worker 0, as nothing names another")
FLAGS = flags.FLAGS


def build(images, labels):
    with tf.name_scope("hidden"):
        spread = 1.0 / 28
        weights = tf.Variable(tf.truncated_normal([784, FLAGS.hidden_units], stddev=spread), name="hid_w")
        biases = tf.Variable(tf.zeros([FLAGS.hidden_units]), name="hid_b")
        hidden = tf.nn.relu(tf.nn.xw_plus_b(images, weights, biases))
    with tf.name_scope("softmax"):
        spread = 1.0 / math.sqrt(FLAGS.hidden_units)
        weights = tf.Variable(tf.truncated_normal([FLAGS.hidden_units, 10], stddev=spread), name="sm_w")
        biases = tf.Variable(tf.zeros([10]), name="sm_b")
        guess = tf.nn.softmax(tf.nn.xw_plus_b(hidden, weights, biases))
    return -tf.reduce_sum(labels * tf.log(tf.clip_by_value(guess, 1e-10, 1.0)))


def main(unused):
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)
    if not FLAGS.job_name:
        raise ValueError, "which job?"
    print "job_name : %s" % FLAGS.job_name
    print "task_index : %d" % FLAGS.task_index
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        return

    chief = FLAGS.task_index == 0
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        step = tf.Variable(0, name="global_step", trainable=False)
        x = tf.placeholder(tf.float32, [None, 784])
        y_ = tf.placeholder(tf.float32, [None, 10])
        cross_entropy = build(x, y_)
        optimizer = tf.train.AdamOptimizer(FLAGS.learning_rate)
        if FLAGS.issync:
            optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=len(workers),
                                                       total_num_replicas=len(workers))
        train = optimizer.minimize(cross_entropy, global_step=step)
        more = {}
        if FLAGS.issync:
            more["local_init_op"] = optimizer.chief_init_op if chief else optimizer.local_step_init_op
            more["ready_for_local_init_op"] = optimizer.ready_for_local_init_op
            runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op()
        init = tf.initialize_all_variables()

    supervisor = tf.train.Supervisor(is_chief=chief, init_op=init, recovery_wait_secs=1, global_step=step, **more)
    config = tf.ConfigProto(allow_soft_placement=True, log_device_placement=False,
                            device_filters=["/job:ps", "/job:worker/task:%d" % FLAGS.task_index] if FLAGS.filters else [])
    print "Worker %d: %s" % (FLAGS.task_index,
                             "Initializing session..." if chief else "Waiting for session to be initialized...")
    session = supervisor.prepare_or_wait_for_session(server.target, config=config)
    print "Worker %d: Session initialization complete." % FLAGS.task_index
    if FLAGS.issync and chief:
        supervisor.start_queue_runners(session, [runner])
        session.run(tokens)

    begin = time.time()
    print "Training begins @ %f" % begin
    local, reached = 0, 0
    while reached < FLAGS.train_steps:
        images, labels = mnist.train.next_batch(FLAGS.batch_size)
        _, reached = session.run([train, step], feed_dict={x: images, y_: labels})
        local += 1
        print "%f: Worker %d: traing step %d dome (global step:%d)" % (time.time(), FLAGS.task_index, local, reached)
    end = time.time()
    print "Training ends @ %f" % end
    print "Training elapsed time:%f s" % (end - begin)
    validation = {x: mnist.validation.images, y_: mnist.validation.labels}
    print "After %d training step(s), validation cross entropy = %g" % (FLAGS.train_steps,
                                                                        session.run(cross_entropy, validation))
    session.close()


if __name__ == "__main__":
    tf.app.run()
