"""The CIFAR-10 tutorial in small: binary records read by queues, distortions, weight decay, moving averages."""
import os
import re

import numpy as np
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_integer("batch_size", 8, "Number of images to process in a batch.")
tf.app.flags.DEFINE_string("data_dir", "cifar_data", "Path to the data.")
SIDE, CLASSES, TOWER_NAME = 12, 4, "tower"
MOVING_AVERAGE_DECAY = 0.99


def write_data(path, n=64):
    rng = np.random.RandomState(1)
    os.makedirs(path)
    with open(os.path.join(path, "data_batch_1.bin"), "wb") as f:
        for _ in range(n):
            label = rng.randint(CLASSES)
            image = rng.randint(0, 80, (3, SIDE, SIDE))
            image[label % 3, :, (label // 2) * 6:(label // 2) * 6 + 6] += 150
            f.write(bytes([label]) + image.astype(np.uint8).tobytes())


def read_cifar10(filename_queue):
    class Record(object):
        pass
    result = Record()
    result.height = result.width = SIDE
    result.depth = 3
    image_bytes = SIDE * SIDE * 3
    reader = tf.FixedLengthRecordReader(record_bytes=1 + image_bytes)
    result.key, value = reader.read(filename_queue)
    record = tf.decode_raw(value, tf.uint8)
    result.label = tf.cast(tf.strided_slice(record, [0], [1]), tf.int32)
    depth_major = tf.reshape(tf.strided_slice(record, [1], [1 + image_bytes]), [3, SIDE, SIDE])
    result.uint8image = tf.transpose(depth_major, [1, 2, 0])
    return result


def inputs():
    filenames = [os.path.join(FLAGS.data_dir, "data_batch_%d.bin" % i) for i in range(1, 2)]
    for f in filenames:
        if not tf.gfile.Exists(f):
            raise ValueError("Failed to find file: " + f)
    queue = tf.train.string_input_producer(filenames, shuffle=False)
    read = read_cifar10(queue)
    image = tf.image.resize_image_with_crop_or_pad(tf.cast(read.uint8image, tf.float32), 10, 10)
    image = tf.image.per_image_standardization(image)
    image.set_shape([10, 10, 3])
    read.label.set_shape([1])
    images, labels = tf.train.batch([image, read.label], batch_size=FLAGS.batch_size, num_threads=1, capacity=40)
    tf.summary.image("images", images)
    return images, tf.reshape(labels, [FLAGS.batch_size])


def _activation_summary(x):
    name = re.sub("%s_[0-9]*/" % TOWER_NAME, "", x.op.name)
    tf.summary.histogram(name + "/activations", x)
    tf.summary.scalar(name + "/sparsity", tf.nn.zero_fraction(x))


def _variable_with_weight_decay(name, shape, stddev, wd, seed):
    with tf.device("/cpu:0"):
        var = tf.get_variable(name, shape, initializer=tf.truncated_normal_initializer(stddev=stddev, seed=seed))
    if wd is not None:
        tf.add_to_collection("losses", tf.multiply(tf.nn.l2_loss(var), wd, name="weight_loss"))
    return var


def inference(images):
    with tf.variable_scope("conv1") as scope:
        kernel = _variable_with_weight_decay("weights", [5, 5, 3, 8], 5e-2, None, 1)
        biases = tf.get_variable("biases", [8], initializer=tf.constant_initializer(0.0))
        conv1 = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding="SAME"), biases),
                           name=scope.name)
        _activation_summary(conv1)
    pool1 = tf.nn.max_pool(conv1, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME", name="pool1")
    norm1 = tf.nn.lrn(pool1, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name="norm1")
    with tf.variable_scope("local3") as scope:
        reshape = tf.reshape(norm1, [FLAGS.batch_size, -1])
        dim = reshape.get_shape()[1].value
        weights = _variable_with_weight_decay("weights", [dim, 16], 0.04, 0.004, 2)
        biases = tf.get_variable("biases", [16], initializer=tf.constant_initializer(0.1))
        local3 = tf.nn.relu(tf.matmul(reshape, weights) + biases, name=scope.name)
        _activation_summary(local3)
    with tf.variable_scope("softmax_linear") as scope:
        weights = _variable_with_weight_decay("weights", [16, CLASSES], 1 / 16.0, 0.0, 3)
        biases = tf.get_variable("biases", [CLASSES], initializer=tf.constant_initializer(0.0))
        return tf.add(tf.matmul(local3, weights), biases, name=scope.name)


def compute_loss(logits, labels):
    labels = tf.cast(labels, tf.int64)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="cross_entropy_per_example")
    tf.add_to_collection("losses", tf.reduce_mean(ce, name="cross_entropy"))
    return tf.add_n(tf.get_collection("losses"), name="total_loss")


def train_op_of(total_loss, global_step):
    lr = tf.train.exponential_decay(0.1, global_step, 8, 0.5, staircase=True)
    loss_averages = tf.train.ExponentialMovingAverage(0.9, name="avg")
    losses = tf.get_collection("losses")
    loss_averages_op = loss_averages.apply(losses + [total_loss])
    for l in losses + [total_loss]:
        tf.summary.scalar(l.op.name + " (raw)", l)
        tf.summary.scalar(l.op.name, loss_averages.average(l))
    with tf.control_dependencies([loss_averages_op]):
        opt = tf.train.GradientDescentOptimizer(lr)
        grads = opt.compute_gradients(total_loss)
    apply_gradient_op = opt.apply_gradients(grads, global_step=global_step)
    averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
    with tf.control_dependencies([apply_gradient_op]):
        return averages.apply(tf.trainable_variables()), averages


def main(argv=None):
    write_data(FLAGS.data_dir)
    with tf.Graph().as_default():
        global_step = tf.train.get_or_create_global_step()
        images, labels = inputs()
        logits = inference(images)
        loss = compute_loss(logits, labels)
        train_op, averages = train_op_of(loss, global_step)
        precision = tf.reduce_mean(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.float32))

        class _LoggerHook(tf.train.SessionRunHook):
            def begin(self):
                self._step = -1

            def before_run(self, run_context):
                self._step += 1
                return tf.train.SessionRunArgs([loss, precision])

            def after_run(self, run_context, run_values):
                if self._step % 5 == 0:
                    print("step %d, loss = %.4f, precision = %.3f" % ((self._step,) + tuple(run_values.results)))
        with tf.train.MonitoredTrainingSession(
                checkpoint_dir="cifar_train", save_summaries_steps=10,
                hooks=[tf.train.StopAtStepHook(last_step=20), tf.train.NanTensorHook(loss), _LoggerHook()]) as mon_sess:
            while not mon_sess.should_stop():
                mon_sess.run(train_op)
    with tf.Graph().as_default():
        images, labels = inputs()
        logits = inference(images)
        restored = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY).variables_to_restore()
        saver = tf.train.Saver(restored)
        with tf.Session() as sess:
            ckpt = tf.train.get_checkpoint_state("cifar_train")
            saver.restore(sess, ckpt.model_checkpoint_path)
            print("restored", os.path.basename(ckpt.model_checkpoint_path), sorted(restored))
            coord = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(sess=sess, coord=coord)
            print("averaged logits %.4f" % sess.run(tf.reduce_mean(tf.abs(logits))))
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=10)


if __name__ == "__main__":
    tf.app.run()
