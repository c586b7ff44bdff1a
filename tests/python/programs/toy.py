# The line fit of the first document, which shows its commands and its log: ten passes over 101 points, with Python 2's print.
import numpy as np
import tensorflow as tf

tf.app.flags.DEFINE_string("ps_hosts", "", "Comma-separated list of hostname:port pairs")
tf.app.flags.DEFINE_string("worker_hosts", "", "Comma-separated list of hostname:port pairs")
tf.app.flags.DEFINE_string("job_name", "", "One of 'ps', 'worker'")
tf.app.flags.DEFINE_integer("task_index", 0, "Index of task within the job")
FLAGS = tf.app.flags.FLAGS


def main(_):
    ps_hosts = FLAGS.ps_hosts.split(",")
    worker_hosts = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    elif FLAGS.job_name == "worker":
        train_X = np.linspace(-1.0, 1.0, 101)
        np.random.seed(5)
        train_Y = 2.0 * train_X + np.random.randn(*train_X.shape) * 0.33 + 10.0
        with tf.device(tf.train.replica_device_setter(
                worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
            X = tf.placeholder("float")
            Y = tf.placeholder("float")
            w = tf.Variable(0.0, name="weight")
            b = tf.Variable(0.0, name="reminder")
            init_op = tf.initialize_all_variables()
            cost_op = tf.square(Y - tf.mul(X, w) - b)
            train_op = tf.train.GradientDescentOptimizer(0.01).minimize(cost_op)
        with tf.Session(server.target) as sess:
            sess.run(init_op)
            for i in xrange(10):
                for (x, y) in zip(train_X, train_Y):
                    sess.run(train_op, feed_dict={X: x, Y: y})
                print "=========> step: %d" % i
                print sess.run(w)
                print sess.run(b)


if __name__ == "__main__":
    tf.app.run()
