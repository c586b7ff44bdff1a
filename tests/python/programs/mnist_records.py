# Trains on TFRecords read by tf.data: alone, or as a task of a cluster in which each worker reads its part of the records.
import os

import tensorflow as tf

tf.app.flags.DEFINE_string("data", "", "Folder of *.tfrecords")
tf.app.flags.DEFINE_string("ps_hosts", "", "Comma-separated list of hostname:port pairs")
tf.app.flags.DEFINE_string("worker_hosts", "", "Comma-separated list of hostname:port pairs")
tf.app.flags.DEFINE_string("job_name", "worker", "One of 'ps', 'worker'")
tf.app.flags.DEFINE_integer("task_index", 0, "Index of task within the job")
tf.app.flags.DEFINE_integer("steps", 60, "Global steps to train for")
FLAGS = tf.app.flags.FLAGS


def parse(record):
    features = tf.parse_single_example(record, features={
        "image_raw": tf.FixedLenFeature([], tf.string),
        "label": tf.FixedLenFeature([], tf.int64),
    })
    image = tf.decode_raw(features["image_raw"], tf.uint8)
    image.set_shape([784])
    return tf.cast(image, tf.float32) * (1. / 255) - 0.5, tf.cast(features["label"], tf.int32)


def inputs(workers):
    files = tf.data.Dataset.list_files(os.path.join(FLAGS.data, "*.tfrecords"), shuffle=False)
    dataset = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1)
    if workers > 1:
        dataset = dataset.shard(workers, FLAGS.task_index)
    dataset = dataset.map(parse, num_parallel_calls=2)
    dataset = dataset.shuffle(200, seed=3).repeat().batch(50).prefetch(1)
    return dataset.make_one_shot_iterator().get_next()


def model(images, labels):
    hidden = tf.layers.dense(images, 64, activation=tf.nn.relu, kernel_initializer=tf.truncated_normal_initializer(
        stddev=0.1, seed=1), name="hidden")
    logits = tf.layers.dense(hidden, 10, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1, seed=2),
                             name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    accuracy = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.float32))
    return loss, accuracy


def main(_):
    tf.set_random_seed(7)
    server, device, workers = None, None, 1
    if FLAGS.worker_hosts:
        cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
        server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
        if FLAGS.job_name == "ps":
            server.join()
        workers = cluster.num_tasks("worker")
        device = tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)
    with tf.device(device):
        images, labels = inputs(workers)
        loss, accuracy = model(images, labels)
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.steps)]
    with tf.train.MonitoredTrainingSession(master=server.target if server else "", is_chief=FLAGS.task_index == 0,
                                           hooks=hooks) as sess:
        seen = []
        while not sess.should_stop():
            _, value, right, step = sess.run([train_op, loss, accuracy, global_step])
            seen.append(right)
            if not server and len(seen) % 10 == 0:
                print("step %d loss %.5f" % (step, value))
    print("accuracy of the last batches: %.3f" % (sum(seen[-5:]) / len(seen[-5:])))


if __name__ == "__main__":
    tf.app.run()
