# After the third document, which shows only what such a program prints: a net of sigmoids trained by two workers, with
# device placement, summaries and a Supervisor.  Python 2, as programs of that year were.
import sys
import time

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

tf.app.flags.DEFINE_string("parameter_servers", "", "")
tf.app.flags.DEFINE_string("workers", "", "")
tf.app.flags.DEFINE_string("job_name", "", "ps or worker")
tf.app.flags.DEFINE_integer("task_index", 0, "")
tf.app.flags.DEFINE_integer("epochs", 20, "")
tf.app.flags.DEFINE_string("logs", "logs", "")
FLAGS = tf.app.flags.FLAGS

cluster = tf.train.ClusterSpec({"ps": FLAGS.parameter_servers.split(","), "worker": FLAGS.workers.split(",")})
server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)

batch_size, learning_rate, frequency = 100, 0.0005, 100
mnist = input_data.read_data_sets("MNIST_data", one_hot=True)

if FLAGS.job_name == "ps":
    server.join()
    sys.exit(0)

with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
    global_step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, shape=[None, 784], name="x-input")
        y_ = tf.placeholder(tf.float32, shape=[None, 10], name="y-input")
    tf.set_random_seed(1)
    with tf.name_scope("weights"):
        W1, W2 = tf.Variable(tf.random_normal([784, 100])), tf.Variable(tf.random_normal([100, 10]))
    with tf.name_scope("biases"):
        b1, b2 = tf.Variable(tf.zeros([100])), tf.Variable(tf.zeros([10]))
    with tf.name_scope("softmax"):
        y = tf.nn.softmax(tf.add(tf.matmul(tf.nn.sigmoid(tf.add(tf.matmul(x, W1), b1)), W2), b2))
    with tf.name_scope("cross_entropy"):
        cross_entropy = tf.reduce_mean(-tf.reduce_sum(y_ * tf.log(y), reduction_indices=[1]))
    with tf.name_scope("train"):
        train_op = tf.train.GradientDescentOptimizer(learning_rate).minimize(cross_entropy, global_step=global_step)
    with tf.name_scope("Accuracy"):
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1)), tf.float32))
    tf.scalar_summary("cost", cross_entropy)
    tf.scalar_summary("accuracy", accuracy)
    summary_op = tf.merge_all_summaries()
    init_op = tf.initialize_all_variables()
    print "Variables initialized ..."

sv = tf.train.Supervisor(is_chief=(FLAGS.task_index == 0), global_step=global_step, init_op=init_op)
begin_time = time.time()
with sv.prepare_or_wait_for_session(server.target, config=tf.ConfigProto(log_device_placement=True)) as sess:
    writer = tf.train.SummaryWriter(FLAGS.logs, graph=tf.get_default_graph())
    start_time = time.time()
    for epoch in range(FLAGS.epochs):
        batches, count = mnist.train.num_examples / batch_size, 0
        for i in range(batches):
            batch_x, batch_y = mnist.train.next_batch(batch_size)
            _, cost, summary, step = sess.run([train_op, cross_entropy, summary_op, global_step],
                                              feed_dict={x: batch_x, y_: batch_y})
            writer.add_summary(summary, step)
            count += 1
            if count % frequency == 0 or i + 1 == batches:
                elapsed, start_time = time.time() - start_time, time.time()
                print "Step: %d," % (step + 1), " Epoch: %2d," % (epoch + 1), \
                    " Batch: %3d of %3d," % (i + 1, batches), " Cost: %.4f," % cost, \
                    " AvgTime: %3.2fms" % float(elapsed * 1000 / frequency)
                count = 0
    print "Test-Accuracy: %2.2f" % sess.run(accuracy, feed_dict={x: mnist.test.images, y_: mnist.test.labels})
    print "Total Time: %3.2fs" % float(time.time() - begin_time)
    print "Final Cost: %.4f" % cost
sv.stop()
print "done"
