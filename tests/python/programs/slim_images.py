"""A program of slim: pictures from records through queues, arg scopes, batch norm, slim.learning, and an evaluation.

zoo/slim_images.py is the same model without contrib; it prints the same figures.
"""
import os

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim

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
            'image/label': tf.FixedLenFeature([], tf.int64, default_value=tf.zeros([], dtype=tf.int64))})
        image = tf.image.convert_image_dtype(tf.image.decode_png(row['image/encoded'], channels=3), tf.float32)
        image.set_shape([SIZE, SIZE, 3])
        image = tf.image.random_brightness(tf.image.random_flip_left_right(image), max_delta=0.05)
        image = tf.image.resize_image_with_crop_or_pad(image, 10, 10)
        images, labels = tf.train.shuffle_batch([tf.multiply(tf.subtract(image, 0.5), 2.0), row['image/label']], batch_size=batch,
                                                num_threads=2, capacity=150, min_after_dequeue=50)
        return images, slim.one_hot_encoding(labels, 2)


def scopes():
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(4e-5),
                        weights_initializer=tf.truncated_normal_initializer(0.0, 0.1), activation_fn=tf.nn.relu):
        with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm, normalizer_params={'decay': 0.5, 'epsilon': 0.001}) as sc:
            return sc


def net(images, is_training):
    with tf.variable_scope('Net', 'Net', [images]) as sc:
        ends = sc.name + '_end_points'
        with slim.arg_scope([slim.conv2d, slim.fully_connected, slim.max_pool2d], outputs_collections=ends):
            with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training):
                n = slim.repeat(images, 2, slim.conv2d, 8, [3, 3], scope='conv1')
                n = slim.max_pool2d(n, [2, 2], scope='pool1')
                n = slim.flatten(slim.conv2d(n, 8, [3, 3], stride=2, scope='conv2'))
                n = slim.dropout(slim.stack(n, slim.fully_connected, [16, 8], scope='fc'), 0.9, scope='drop')
                logits = slim.fully_connected(n, 2, activation_fn=None, scope='logits')
        return logits, slim.utils.convert_collection_to_dict(ends)


def train(path):
    slim.create_global_step()
    images, labels = inputs(path, 16)
    with slim.arg_scope(scopes()):
        logits, ends = net(images, True)
    for name, value in ends.items():
        tf.summary.histogram('activations/' + name, value)
    for v in slim.get_model_variables():
        tf.summary.histogram(v.op.name, v)
    slim.losses.softmax_cross_entropy(logits, labels)
    loss = slim.losses.get_total_loss()
    train_op = slim.learning.create_train_op(loss, tf.train.MomentumOptimizer(0.1, 0.9), clip_gradient_norm=4)
    last = slim.learning.train(train_op, FLAGS.train_dir, number_of_steps=FLAGS.max_steps, log_every_n_steps=10)
    print('%d ends, last loss %.3f' % (len(ends), last))


def evaluate(path):
    images, labels = inputs(path, 20)
    with slim.arg_scope(scopes()):
        logits, _ = net(images, False)
    values, updates = slim.metrics.aggregate_metric_map({
        'accuracy': slim.metrics.streaming_accuracy(tf.argmax(logits, 1), tf.argmax(labels, 1))})
    restore = slim.assign_from_checkpoint_fn(tf.train.latest_checkpoint(FLAGS.train_dir), slim.get_variables_to_restore())
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        restore(sess)
        with slim.queues.QueueRunners(sess):
            for _ in range(4):
                sess.run(list(updates.values()))
            print('accuracy %.2f' % sess.run(values)['accuracy'])


def main(_):
    tf.gfile.MakeDirs(FLAGS.train_dir)
    tf.logging.set_verbosity(tf.logging.INFO)
    path = os.path.join(FLAGS.train_dir, 'pictures.tfrecord')
    write_records(path, 200)
    for part in (train, evaluate):
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            part(path)


if __name__ == '__main__':
    tf.app.run()
