"""The MNIST reader and network of TensorFlow's tutorials; 2.15 has neither, so the stand-in says what they did."""
import gzip
import math
import struct
import types

import numpy as np

from machine import case


def write_idx(folder):
    import os
    os.makedirs(folder)
    random = np.random.RandomState(0)
    for name, n in (("train", 5060), ("t10k", 20)):
        images, labels = random.randint(0, 256, (n, 28, 28)), random.randint(0, 10, n)
        with gzip.open("%s/%s-images-idx3-ubyte.gz" % (folder, name), "wb", compresslevel=1) as f:
            f.write(struct.pack(">4i", 2051, n, 28, 28) + images.astype(np.uint8).tobytes())
        with gzip.open("%s/%s-labels-idx1-ubyte.gz" % (folder, name), "wb") as f:
            f.write(struct.pack(">2i", 2049, n) + labels.astype(np.uint8).tobytes())


def stand_in(tf):
    def read_data_sets(folder, fake_data=False, one_hot=False):
        if fake_data:
            ones = types.SimpleNamespace(next_batch=lambda n, fake: ([[1] * 784] * n, [0] * n))
            return types.SimpleNamespace(train=ones)
        sets = {}
        for name in ("train", "t10k"):
            with gzip.open("%s/%s-images-idx3-ubyte.gz" % (folder, name)) as f:
                images = np.frombuffer(f.read()[16:], np.uint8).reshape(-1, 784).astype(np.float32) * (1.0 / 255.0)
            with gzip.open("%s/%s-labels-idx1-ubyte.gz" % (folder, name)) as f:
                labels = np.frombuffer(f.read()[8:], np.uint8)
            sets[name] = images, np.eye(10)[labels] if one_hot else labels
        split = {"train": [a[5000:] for a in sets["train"]], "validation": [a[:5000] for a in sets["train"]],
                 "test": sets["t10k"]}
        return types.SimpleNamespace(**{k: types.SimpleNamespace(images=v[0], labels=v[1], num_examples=len(v[0]))
                                        for k, v in split.items()})

    def inference(images, hidden1_units, hidden2_units):
        sizes = [784, hidden1_units, hidden2_units, 10]
        x = images
        for i, name in enumerate(("hidden1", "hidden2", "softmax_linear")):
            with tf.name_scope(name):
                w = tf.Variable(tf.truncated_normal(sizes[i:i + 2], stddev=1.0 / math.sqrt(float(sizes[i]))), name="weights")
                b = tf.Variable(tf.zeros([sizes[i + 1]]), name="biases")
                x = tf.matmul(x, w) + b
                x = x if i == 2 else tf.nn.relu(x)
        return x

    def loss(logits, labels):
        return tf.losses.sparse_softmax_cross_entropy(labels=tf.to_int64(labels), logits=logits)
    return types.SimpleNamespace(input_data=types.SimpleNamespace(read_data_sets=read_data_sets),
                                 mnist=types.SimpleNamespace(IMAGE_PIXELS=784, inference=inference, loss=loss))


@case
def reader(tf):
    write_idx("data")
    data = tf.examples.tutorials.mnist.input_data.read_data_sets("data", one_hot=True)
    plain = tf.examples.tutorials.mnist.input_data.read_data_sets("data")
    fake = tf.examples.tutorials.mnist.input_data.read_data_sets("data", fake_data=True)
    return [[(s.images[:3], s.labels[:3], s.num_examples) for s in (data.train, data.validation, data.test)],
            plain.test.labels, list(fake.train.next_batch(2, True))]


@case(nodes=False, tolerance=1e-4)
def network(tf):
    images = np.random.RandomState(2).rand(4, tf.examples.tutorials.mnist.mnist.IMAGE_PIXELS).astype(np.float32)
    logits = tf.examples.tutorials.mnist.mnist.inference(images, 5, 4)
    return [logits, tf.examples.tutorials.mnist.mnist.loss(logits, [1, 2, 3, 4])]
