"""tf.profiler.write_op_log: what the file says of the ops of a graph."""
import os

import numpy as np

from machine import case


def model(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer())
    tf.get_variable("step", [], initializer=tf.zeros_initializer(), trainable=False)
    fixed = tf.matmul(tf.ones([4, 3]), w, name="fixed")
    return x, tf.matmul(x, w, name="fed") + tf.reduce_sum(fixed)


def written(tf, folder):
    log = tf.profiler.OpLogProto()
    with open(os.path.join(folder, "tfprof_log"), "rb") as file:
        log.ParseFromString(file.read())
    return log


def entries(log):
    return sorted((e.name, e.float_ops, sorted(e.types), len(e.code_def.traces) > 0) for e in log.log_entries)


@case
def a_log_of_counts(tf):
    model(tf)
    tf.profiler.write_op_log(tf.get_default_graph(), ".", add_trace=False)
    log = written(tf, ".")
    return [entries(log), dict(log.id_to_string)]


@case
def a_log_of_a_run(tf):
    x, y = model(tf)
    meta = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(y, {x: np.ones([5, 3])}, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=meta)
    more = tf.profiler.OpLogProto()
    more.log_entries.add(name="fixed", types=["mine"])
    more.log_entries.add(name="w", types=["mine"], float_ops=7)
    more.log_entries.add(name="other", float_ops=3)
    tf.profiler.write_op_log(None, ".", op_log=more, run_meta=meta, add_trace=False)
    return [e for e in entries(written(tf, ".")) if e[0] in ("fixed", "fed", "w", "other")]


@case
def a_log_of_lines(tf):
    model(tf)
    tf.profiler.write_op_log(tf.get_default_graph(), ".")
    log = written(tf, ".")
    files = {os.path.basename(text) for text in log.id_to_string.values()}
    return [entries(log), "calls_op_log.py" in files, "model" in files, log.id_to_string[0]]


@case
def advice(tf):
    made = tf.profiler.AdviceProto()
    made.checkers["some"].reports.append("text")
    return made.SerializeToString()
