"""Classifies small pictures with slim: writes TFRecord files, trains from them, evaluates the checkpoints."""
from __future__ import absolute_import, division, print_function

import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.contrib.slim.python.slim.data import dataset, dataset_data_provider, tfexample_decoder

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string("data_dir", "data", "where the records are")
tf.app.flags.DEFINE_string("train_dir", "train", "where checkpoints and events go")
tf.app.flags.DEFINE_integer("max_steps", 60, "steps of training")
tf.app.flags.DEFINE_integer("batch_size", 16, "pictures in a batch")

SIZES = {"train": 96, "validation": 32}
ITEMS = {"image": "A picture of 8 x 8 pixels.", "label": "0: a bar from left to right, 1: a bar from top to bottom."}


def _bytes(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int64(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def picture(rng, label):
    pixels = rng.randint(0, 60, size=(8, 8, 3)).astype(np.uint8)
    at = rng.randint(1, 7)
    if label:
        pixels[:, at] = 220
    else:
        pixels[at, :] = 220
    return pixels


def write_records(split, seed):
    rng = np.random.RandomState(seed)
    if not tf.gfile.Exists(FLAGS.data_dir):
        tf.gfile.MakeDirs(FLAGS.data_dir)
    with tf.Graph().as_default(), tf.Session() as sess:
        raw = tf.placeholder(tf.uint8)
        encoded = tf.image.encode_png(raw)
        with tf.python_io.TFRecordWriter(os.path.join(FLAGS.data_dir, "bars_%s.tfrecord" % split)) as writer:
            for i in range(SIZES[split]):
                feature = {"image/encoded": _bytes(sess.run(encoded, {raw: picture(rng, i % 2)})), "image/format": _bytes(b"png"),
                           "image/class/label": _int64(i % 2)}
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def get_split(split):
    keys_to_features = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
        "image/class/label": tf.FixedLenFeature([], tf.int64, default_value=tf.zeros([], dtype=tf.int64))}
    items_to_handlers = {"image": tfexample_decoder.Image(shape=[8, 8, 3], channels=3),
                         "label": tfexample_decoder.Tensor("image/class/label", shape=[])}
    return dataset.Dataset(data_sources=os.path.join(FLAGS.data_dir, "bars_%s*" % split), reader=tf.TFRecordReader,
                           decoder=tfexample_decoder.TFExampleDecoder(keys_to_features, items_to_handlers),
                           num_samples=SIZES[split], items_to_descriptions=ITEMS, num_classes=2)


def load_batch(data, batch_size, training):
    provider = dataset_data_provider.DatasetDataProvider(data, shuffle=training, common_queue_capacity=4 * batch_size,
                                                         common_queue_min=2 * batch_size, seed=1)
    image, label = provider.get(["image", "label"])
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.train.batch([image, label], batch_size, capacity=2 * batch_size)


def network(images, num_classes, is_training):
    with slim.arg_scope([slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.0005),
                        weights_initializer=slim.variance_scaling_initializer(seed=3)):
        with slim.arg_scope([slim.conv2d], normalizer_fn=slim.batch_norm,
                            normalizer_params={"is_training": is_training, "decay": 0.8, "scale": True}):
            net = slim.conv2d(images, 8, [3, 3], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], scope="pool1")
            net = slim.conv2d(net, 16, [3, 3], scope="conv2")
        net = slim.flatten(net)
        net = slim.dropout(net, 0.9, is_training=is_training, scope="dropout", seed=4)
        return slim.fully_connected(net, num_classes, activation_fn=None, scope="logits")


def train():
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        data = get_split("train")
        images, labels = load_batch(data, FLAGS.batch_size, True)
        logits = network(images, data.num_classes, True)
        slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding(labels, data.num_classes))
        total_loss = slim.losses.get_total_loss()
        tf.summary.scalar("losses/total", total_loss)
        slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True)
        train_op = slim.learning.create_train_op(total_loss, tf.train.AdamOptimizer(0.01), summarize_gradients=True)
        return slim.learning.train(train_op, FLAGS.train_dir, number_of_steps=FLAGS.max_steps, log_every_n_steps=20,
                                   save_summaries_secs=600)


def evaluate():
    with tf.Graph().as_default():
        data = get_split("validation")
        images, labels = load_batch(data, FLAGS.batch_size, False)
        predictions = tf.argmax(network(images, data.num_classes, False), 1)
        values, updates = slim.metrics.aggregate_metric_map({
            "accuracy": slim.metrics.streaming_accuracy(predictions, labels),
            "recall": slim.metrics.streaming_recall(predictions, labels)})
        for name, value in values.items():
            tf.summary.scalar("eval/" + name, value)
        return slim.evaluation.evaluation_loop(
            "", FLAGS.train_dir, os.path.join(FLAGS.train_dir, "eval"), num_evals=SIZES["validation"] // FLAGS.batch_size,
            eval_op=list(updates.values()), final_op=values, eval_interval_secs=0, max_number_of_evaluations=1)


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    for seed, split in enumerate(sorted(SIZES)):
        write_records(split, seed)
    print("final loss %.3f" % train())
    print(" ".join("%s %.3f" % pair for pair in sorted(evaluate().items())))


if __name__ == "__main__":
    tf.app.run()
