"""The README's line through four points, in TensorFlow 1's words: by itself, or on a cluster.

    weft run line.py
    weft launch --ps 1 --workers 2 -- line.py
"""
import weft as tf

tf.app.flags.DEFINE_string("ps_hosts", "", "host:port,host:port")
tf.app.flags.DEFINE_string("worker_hosts", "", "host:port,host:port")
tf.app.flags.DEFINE_string("job_name", "", "ps or worker")
tf.app.flags.DEFINE_integer("task_index", 0, "which of them")
FLAGS = tf.app.flags.FLAGS


def main(_):
    target, device = "", None
    if FLAGS.worker_hosts:
        cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
        server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
        if FLAGS.job_name == "ps":
            return server.join()
        target = server.target
        worker = "/job:worker/task:%d" % FLAGS.task_index  # without a task, all would compute on the first
        device = tf.train.replica_device_setter(worker_device=worker, cluster=cluster)

    with tf.device(device):
        x = tf.constant([0.0, 1, 2, 3])
        y = tf.constant([2.0, 5, 8, 11])
        w, b = tf.Variable(0.0), tf.Variable(0.0)
        loss = tf.reduce_mean(tf.square(w * x + b - y))
        step = tf.train.get_or_create_global_step()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)

    hooks = [tf.train.StopAtStepHook(last_step=300)]
    with tf.train.MonitoredTrainingSession(master=target, is_chief=FLAGS.task_index == 0, hooks=hooks) as sess:
        while not sess.should_stop():
            slope, offset, _ = sess.run([w, b, train])
    print("y = %.3f x + %.3f" % (slope, offset))


if __name__ == "__main__":
    tf.app.run()
