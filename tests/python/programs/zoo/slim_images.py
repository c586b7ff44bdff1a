"""Pictures from records through queues, batch norm, a train op with clipped gradients, a session with checkpoints, an evaluation.

programs/slim_images.py is the same model with tf.contrib.slim, which TensorFlow 2 lacks; it prints the same figures.
"""
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string('train_dir', 'slim', 'where everything goes')
flags.DEFINE_integer('max_steps', 40, 'how long')
FLAGS = flags.FLAGS
SIZE = 12


def write_records(path, n):
    random = np.random.RandomState(0)
    writer = tf.python_io.TFRecordWriter(path)
    with tf.Graph().as_default(), tf.Session() as sess:
        pixels = tf.placeholder(tf.uint8, [SIZE, SIZE, 3])
        png = tf.image.encode_png(pixels)
        for i in range(n):
            picture = (random.rand(SIZE, SIZE, 3) * 60 + (i % 2) * 180).astype(np.uint8)
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                'image/encoded': tf.train.Feature(bytes_list=tf.train.BytesList(value=[sess.run(png, {pixels: picture})])),
                'image/label': tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 2]))})).SerializeToString())
    writer.close()


def inputs(path, batch):
    with tf.name_scope('input'):
        _, record = tf.TFRecordReader().read(tf.train.string_input_producer([path]))
        row = tf.parse_single_example(record, features={
            'image/encoded': tf.FixedLenFeature((), tf.string, default_value=''),
            'image/label': tf.FixedLenFeature([], tf.int64, default_value=0)})
        image = tf.image.convert_image_dtype(tf.image.decode_png(row['image/encoded'], channels=3), tf.float32)
        image.set_shape([SIZE, SIZE, 3])
        image = tf.image.random_brightness(tf.image.random_flip_left_right(image), max_delta=0.05)
        image = tf.image.resize_image_with_crop_or_pad(image, 10, 10)
        images, labels = tf.train.shuffle_batch([tf.multiply(tf.subtract(image, 0.5), 2.0), row['image/label']], batch_size=batch,
                                                num_threads=2, capacity=150, min_after_dequeue=50)
        return images, tf.one_hot(labels, 2)


def initializer():
    return tf.truncated_normal_initializer(0.0, 0.1)


def l2(weights):
    return 4e-5 * tf.nn.l2_loss(weights)


def net(images, is_training):
    ends = {}

    def conv(x, name, strides=1):
        x = tf.layers.conv2d(x, 8, 3, strides, 'same', use_bias=False, kernel_initializer=initializer(), kernel_regularizer=l2, name=name)
        x = tf.layers.batch_normalization(x, momentum=0.5, epsilon=0.001, scale=False, training=is_training, name=name + '/bn')
        ends[name] = tf.nn.relu(x)
        return ends[name]

    def full(x, units, name, activation=tf.nn.relu):
        ends[name] = tf.layers.dense(x, units, activation, kernel_initializer=initializer(), kernel_regularizer=l2, name=name)
        return ends[name]

    with tf.variable_scope('Net'):
        n = conv(conv(images, 'conv1_1'), 'conv1_2')
        n = ends['pool1'] = tf.layers.max_pooling2d(n, 2, 2)
        n = tf.layers.flatten(conv(n, 'conv2', strides=2))
        n = tf.layers.dropout(full(full(n, 16, 'fc_1'), 8, 'fc_2'), 0.1, training=is_training)
        return full(n, 2, 'logits', None), ends


def train(path):
    step = tf.train.create_global_step()
    images, labels = inputs(path, 16)
    logits, ends = net(images, True)
    for name, value in ends.items():
        tf.summary.histogram('activations/' + name, value)
    for v in tf.global_variables():
        tf.summary.histogram(v.op.name, v)
    tf.losses.softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        gradients = [(tf.clip_by_norm(g, 4), v) for g, v in optimizer.compute_gradients(loss)]
        train_op = optimizer.apply_gradients(gradients, step)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=FLAGS.train_dir, hooks=[tf.train.StopAtStepHook(FLAGS.max_steps)]) as sess:
        while not sess.should_stop():
            last, _ = sess.run([loss, train_op])
    print('%d ends, last loss %.3f' % (len(ends), last))


def evaluate(path):
    images, labels = inputs(path, 20)
    logits, _ = net(images, False)
    accuracy, update = tf.metrics.accuracy(tf.argmax(labels, 1), tf.argmax(logits, 1))
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        tf.train.Saver().restore(sess, tf.train.latest_checkpoint(FLAGS.train_dir))
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        for _ in range(4):
            sess.run(update)
        print('accuracy %.2f' % sess.run(accuracy))
        coord.request_stop()
        coord.join(threads)


def main(_):
    tf.gfile.MakeDirs(FLAGS.train_dir)
    path = os.path.join(FLAGS.train_dir, 'pictures.tfrecord')
    write_records(path, 200)
    for part in (train, evaluate):
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            part(path)


if __name__ == '__main__':
    tf.app.run()
