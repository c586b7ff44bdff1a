"""Jobs of the bench around the model, as TensorFlow 1 programs: reading, decoding, checkpoints, building graphs.

Each function is a context manager that takes the library and a shape and gives (step, check): both take the number of a
step, and check returns a number that the systems must agree on.
"""
import contextlib
import pathlib
import tempfile

import numpy as np

import shapes
from tf_models import deep_net

THREADS = 2  # that map a data set


def write_records(tf, folder, s, payload):
    """payload(i) is the bytes of record i."""
    paths = [str(pathlib.Path(folder, f"{n}.tfrecords")) for n in range(s.files)]
    for n, path in enumerate(paths):
        with tf.python_io.TFRecordWriter(path) as writer:
            for i in range(n, s.records, s.files):
                features = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[payload(i)])),
                            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i % 10]))}
                writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    return paths


def batches_of(tf, data, s):
    """(next batch, its sum) of a data set that repeats, and of one that keeps the order."""
    shuffled = data.shuffle(s.shuffle, seed=1).repeat() if hasattr(s, "shuffle") else data.repeat()
    steps, checked = (tf.data.make_one_shot_iterator(each.batch(s.batch, drop_remainder=True).prefetch(2)).get_next()
                      for each in (shuffled, data.repeat()))
    return steps, tf.reduce_mean(tf.cast(checked[0], tf.float32)) + tf.reduce_mean(tf.cast(checked[1], tf.float32))


@contextlib.contextmanager
def records(tf, s):
    """Reads TFRecord files, parses Examples and batches them."""
    def parse(record):
        found = tf.parse_single_example(record, {"image": tf.FixedLenFeature([], tf.string),
                                                 "label": tf.FixedLenFeature([], tf.int64)})
        return tf.cast(tf.decode_raw(found["image"], tf.uint8), tf.float32) / 255, found["label"]

    draw = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_records(tf, folder, s, lambda i: draw.bytes(s.bytes))
        step, check = batches_of(tf, tf.data.TFRecordDataset(paths).map(parse, THREADS), s)
        with tf.Session() as session:
            yield lambda i: session.run(step), lambda i: session.run(check)


def picture(s, i):
    """A smooth image with a little noise."""
    y, x = np.mgrid[:s.size, :s.size] / s.size
    waves = np.stack([np.sin(5 * x * (k + 1) + i) + np.cos(7 * y + k) for k in range(3)], axis=2)
    noise = np.random.default_rng(i).normal(0, 4, waves.shape)
    return np.clip(127 + 50 * waves + noise, 0, 255).astype(np.uint8)


@contextlib.contextmanager
def jpeg(tf, s):
    """Reads JPEG files, decodes and resizes them."""
    def decode(path):
        image = tf.image.decode_jpeg(tf.read_file(path), channels=3)
        return tf.image.resize_images(image, [s.to, s.to]), tf.shape(image)[0]

    with tempfile.TemporaryDirectory() as folder, tf.Session() as session:
        fed = tf.placeholder(tf.uint8, [None, None, 3])
        encoded = tf.image.encode_jpeg(fed)
        paths = [pathlib.Path(folder, f"{i}.jpg") for i in range(s.images)]
        for i, path in enumerate(paths):
            path.write_bytes(session.run(encoded, {fed: picture(s, i)}))
        data = tf.data.Dataset.from_tensor_slices([str(path) for path in paths]).map(decode, THREADS)
        step, check = batches_of(tf, data, s)
        yield lambda i: session.run(step), lambda i: session.run(check)


@contextlib.contextmanager
def checkpoint(tf, s):
    """Saves and restores variables."""
    count = s.mib * (1 << 20) // 4 // s.variables
    made = [tf.get_variable(f"v{i}/table", [count]) for i in range(s.variables)]
    total = tf.add_n([tf.reduce_mean(tf.square(v)) for v in made])
    saver = tf.train.Saver()
    with tempfile.TemporaryDirectory(dir=s.folder or None) as folder, tf.Session() as session:
        for i, v in enumerate(made):
            session.run(v.initializer, {v.initializer.inputs[1]: shapes.draw(f"v{i}/table", [count])})

        def step(i):
            saver.restore(session, saver.save(session, f"{folder}/model", write_meta_graph=False))

        def check(i):
            step(i)
            return session.run(total)
        yield step, check


@contextlib.contextmanager
def graph(tf, s):
    """Builds a deep net with its gradients, and runs its first step."""
    def step(i):
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            loss, feed = deep_net(tf, s)
            train = tf.train.AdamOptimizer(1e-4).minimize(loss)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                return session.run([loss, train], feed(i))[0]
    yield step, step


JOBS = {"records": records, "jpeg": jpeg, "checkpoint": checkpoint, "graph": graph}
