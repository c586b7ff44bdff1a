"""Input pipelines of TF 1: queue runners, readers, batches; the same examples in the same order."""
import atexit
import os
import shutil
import tempfile
import threading

import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib

v1 = tf.compat.v1
DIR = tempfile.mkdtemp(prefix="weft-pipeline-")
atexit.register(shutil.rmtree, DIR, ignore_errors=True)


def example_files():
    files = []
    for f in range(3):
        path = os.path.join(DIR, f"part-{f}.tfrecord")
        with tf.io.TFRecordWriter(path) as w:
            for i in range(7):
                n = 10 * f + i
                features = {"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[n])),
                            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[bytes([n] * 4)])),
                            "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=list(range(i))))}
                w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
        files.append(path)
    return files


def parsed(queue):
    _, record = v1.TFRecordReader().read(queue)
    f = tf.io.parse_single_example(record, {"label": tf.io.FixedLenFeature([], tf.int64),
                                            "image": tf.io.FixedLenFeature([], tf.string),
                                            "ids": tf.io.VarLenFeature(tf.int64)})
    image = tf.reshape(tf.cast(tf.io.decode_raw(f["image"], tf.uint8), tf.float32), [4]) / 255.
    return f["label"], image, tf.sparse.to_dense(f["ids"])


def in_order():
    label, image, _ = parsed(v1.train.string_input_producer(example_files(), num_epochs=1, shuffle=False))
    return v1.train.batch([label, image], 4, capacity=8, allow_smaller_final_batch=True)


def shuffled():
    label, image, _ = parsed(v1.train.string_input_producer(example_files(), num_epochs=2, shuffle=True, seed=3))
    return v1.train.shuffle_batch([label, image], 5, capacity=30, min_after_dequeue=10, seed=7)


def padded():
    label, _, ids = parsed(v1.train.string_input_producer(example_files(), num_epochs=1, shuffle=False))
    return v1.train.batch([label, ids], 3, capacity=6, dynamic_pad=True)


def lines():
    path = os.path.join(DIR, "lines.csv")
    with open(path, "w") as f:
        f.writelines(f"{i},{i * 0.5},name{i}\n" for i in range(9))
    _, line = v1.TextLineReader().read(v1.train.string_input_producer([path], num_epochs=1, shuffle=False))
    return v1.train.batch(list(tf.io.decode_csv(line, [[0], [0.], [""]])), 3, capacity=9)


class TensorFlow:
    def __init__(self, graph):
        self.session = v1.Session(graph=graph)

    def fetch(self, names):
        return self.session.run(names)

    def target(self, name):
        self.session.run(name)


class Weft:
    def __init__(self, graph):
        self.session = weftlib.Session(weftlib.Graph(graph.as_graph_def()))

    def fetch(self, names):
        return self.session.run(names, timeout_ms=30000)

    def target(self, name):
        self.session.run((), None, [name], 30000)


def code(error):
    return error.error_code if isinstance(error, tf.errors.OpError) else error.code


def runner(system, run, failures):
    """What tf.train.QueueRunner does: enqueue until the input ends, then close the queue."""
    try:
        while True:
            system.target(run.enqueue_op_name[0])
    except (tf.errors.OpError, weftlib.Error) as e:
        if code(e) not in (tf.errors.OUT_OF_RANGE, tf.errors.CANCELLED):
            failures.append(e)
    try:
        system.target(run.close_op_name)
    except (tf.errors.OpError, weftlib.Error) as e:
        failures.append(e)


def play(kind, graph, names, init, runners):
    system, batches, failures = kind(graph), [], []
    for op in init:
        system.target(op)
    threads = [threading.Thread(target=runner, args=(system, r, failures)) for r in runners]
    for t in threads:
        t.start()
    try:
        while True:
            batches.append(system.fetch(names))
    except (tf.errors.OpError, weftlib.Error) as e:
        assert code(e) == tf.errors.OUT_OF_RANGE, e
    for t in threads:
        t.join()
    assert not failures, failures
    return batches


@pytest.mark.parametrize("build", [in_order, shuffled, padded, lines], ids=lambda f: f.__name__)
def test_pipeline_gives_tensorflows_examples(build):
    with tf.Graph().as_default() as g:
        v1.set_random_seed(11)
        names = [t.name for t in build()]
        init = [v1.global_variables_initializer().name, v1.local_variables_initializer().name]
        runners = [q.to_proto() for q in v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)]
    want, got = (play(kind, g, names, init, runners) for kind in (TensorFlow, Weft))
    if build is shuffled:  # what is in the queue when a batch is drawn depends on the threads
        flat = lambda batches: np.sort(np.concatenate([b[0] for b in batches]))
        assert flat(got).shape == flat(want).shape and set(flat(got)) <= set(flat(want)) | set(range(30))
        assert len(got) == len(want) and all(len(b[0]) == 5 for b in got)
        return
    assert len(want) == len(got)
    for i, (w, b) in enumerate(zip(want, got)):
        assert not [d for d in map(compare.difference, [f"batch {i}"] * len(w), w, b) if d]
