"""Flags, files, logging, messages: what programs use around the graph."""
import os
import sys

from machine import case


@case
def flags(tf):
    tf.app.flags.DEFINE_string("a_name", "x", "text")
    tf.app.flags.DEFINE_integer("a_count", 3, "text")
    tf.app.flags.DEFINE_float("a_rate", 0.5, "text")
    tf.app.flags.DEFINE_boolean("a_switch", False, "text")
    tf.app.flags.DEFINE_bool("another_switch", True, "text")
    tf.flags.DEFINE_string("b_name", None, "text")
    tf.flags.DEFINE_integer("b_count", 4, "text")
    left = tf.app.flags.FLAGS(["program", "--a_name=y", "--a_count", "7", "--a_switch", "--noanother_switch", "rest"])
    values = tf.app.flags.FLAGS
    read = [values.a_name, values.a_count, values.a_rate, values.a_switch, values.another_switch, values.b_name, values.b_count]
    values.a_count = 9
    return read + [left, values.a_count, tf.app.flags is not None, "a_name" in values]


@case
def running(tf):
    seen, before = [], sys.argv
    sys.modules["__main__"].main = lambda argv: seen.append(argv) or 3
    sys.argv = ["program"]
    for run in (lambda: tf.app.run(), lambda: tf.app.run(main=lambda argv: seen.append(argv), argv=["p", "--zz", "1"])):
        try:
            run()
        except SystemExit as e:
            seen.append(("left", e.code))
    sys.argv = before
    return seen


@case
def files(tf):
    tf.gfile.MakeDirs("a/b")
    with tf.gfile.GFile("a/b/f.txt", mode="w") as f:
        f.write("one\ntwo\n")
    with tf.gfile.GFile("a/b/f.txt", "r") as f:
        lines = f.readlines()
    got = [lines, tf.gfile.GFile("a/b/f.txt").read(), tf.gfile.GFile("a/b/f.txt", "rb").read(), tf.gfile.Exists("a/b"),
           tf.gfile.ListDirectory("a"), tf.gfile.IsDirectory("a"), tf.gfile.Glob("a/b/*.txt"),
           tf.gfile.Stat("a/b/f.txt").length]
    tf.gfile.Copy("a/b/f.txt", "a/g.txt")
    tf.gfile.Rename("a/g.txt", "a/h.txt")
    tf.gfile.Remove("a/h.txt")
    walked = [(d, sorted(s), sorted(f)) for d, s, f in tf.gfile.Walk("a")]
    tf.gfile.DeleteRecursively("a")
    errors = []
    for attempt in (lambda: tf.gfile.GFile("none").read(), lambda: tf.gfile.ListDirectory("none"),
                    lambda: tf.gfile.DeleteRecursively("none"), lambda: tf.gfile.Remove("none")):
        try:
            attempt()
        except tf.errors.OpError as e:
            errors.append(e)
    return got + [walked, tf.gfile.Exists("a"), os.path.exists("a"), errors]


@case
def logging(tf):
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    now = tf.logging.get_verbosity()
    tf.logging.info("a line")
    tf.logging.info("step %d", 3)
    tf.logging.set_verbosity(before)
    return [now, tf.logging.INFO, tf.logging.WARN, tf.logging.ERROR, tf.logging.DEBUG, tf.logging.FATAL]


@case
def messages(tf):
    config = tf.ConfigProto(log_device_placement=True, allow_soft_placement=True, intra_op_parallelism_threads=2,
                            inter_op_parallelism_threads=3, device_count={"CPU": 1},
                            gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.5, allow_growth=True,
                                                      force_gpu_compatible=True))
    empty = tf.ConfigProto()
    empty.gpu_options.allow_growth = True
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=5)
    return [config, empty, options.trace_level, options.timeout_in_ms, tf.RunMetadata(), config.gpu_options.per_process_gpu_memory_fraction,
            list(tf.ConfigProto(device_filters=["/job:ps", "/job:worker"]).device_filters), dict(config.device_count)]


@case
def module_names(tf):
    return [callable(tf.python.client.timeline.Timeline), callable(tf.python.ops.variables.Variable),
            callable(tf.contrib.slim.arg_scope), callable(tf.contrib.rnn.BasicLSTMCell), tf.keras is not None,
            issubclass(tf.errors.OutOfRangeError, tf.errors.OpError), tf.errors.OutOfRangeError(None, None, "m").error_code,
            callable(tf.examples.tutorials.mnist.input_data.read_data_sets),
            callable(tf.examples.tutorials.mnist.mnist.inference)]


@case
def keras_mnist(tf):
    import numpy as np
    arrays = {"x_train": np.zeros((3, 2, 2), np.uint8), "y_train": np.arange(3), "x_test": np.ones((1, 2, 2), np.uint8),
              "y_test": np.arange(1)}
    np.savez("mnist.npz", **arrays)
    return [tf.keras.datasets.mnist.load_data("mnist.npz"), tf.keras.datasets.mnist.load_data()]


@case
def saved_model_names(tf):
    return [tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY, tf.saved_model.tag_constants.SERVING]
