"""How the time of building, exporting, differentiating and running a graph grows with its size.

    python bench/big_graphs.py [--tf] [--sizes N] [name ...]

Each job runs at n, 2n and 4n, in a process of its own, and one line is printed: the seconds of processor time and the last ratio.
Linear work has a ratio of about 2 between neighbors; 4 is quadratic.  `--tf` measures TensorFlow instead.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import library

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
JOBS = {}


def job(n):
    def register(fn):
        JOBS[fn.__name__] = (fn, n)
        return fn
    return register


def variables(tf, n):
    return [tf.Variable(1.0, name="v%d" % i) for i in range(n)]


def chain(tf, n):
    x = first = tf.placeholder(tf.float32, [], name="x")
    for _ in range(n):
        x = tf.tanh(x)
    return first, x


@job(10000)
def build_chain(tf, n):
    yield
    chain(tf, n)


@job(10000)
def build_scopes(tf, n):
    yield
    for _ in range(n):
        with tf.name_scope("layer"):
            tf.constant(1.0)


@job(2500)
def build_variables(tf, n):
    yield
    variables(tf, n)


@job(2500)
def get_variables(tf, n):
    yield
    with tf.variable_scope("s"):
        for i in range(n):
            tf.get_variable("v%d" % i, [])


@job(2500)
def saver(tf, n):
    variables(tf, n)
    yield
    tf.train.Saver()


@job(7500)
def gradients_chain(tf, n):
    x, y = chain(tf, n)
    yield
    tf.gradients(y, x)


@job(1250)
def gradients_variables(tf, n):
    vs = variables(tf, n)
    y = tf.add_n([v * 2.0 for v in vs])
    yield
    tf.gradients(y, vs)


@job(2500)
def gradients_fan_out(tf, n):
    x = tf.placeholder(tf.float32, [])
    y = tf.add_n([tf.tanh(x) for _ in range(n)])
    yield
    tf.gradients(y, x)


@job(1250)
def minimize(tf, n):
    vs = variables(tf, n)
    loss = tf.add_n([v * 2.0 for v in vs])
    yield
    tf.train.AdamOptimizer(0.1).minimize(loss)


@job(12500)
def export_graph(tf, n):
    chain(tf, n)
    yield
    tf.get_default_graph().as_graph_def()


@job(12500)
def write_graph(tf, n):
    chain(tf, n)
    yield
    tf.train.write_graph(tf.get_default_graph(), tempfile.mkdtemp(), "graph.pb", as_text=False)


@job(12500)
def import_graph(tf, n):
    with tf.Graph().as_default() as g:
        chain(tf, n)
    graph_def = g.as_graph_def()
    yield
    tf.import_graph_def(graph_def, name="")


@job(12500)
def import_with_prefix(tf, n):
    with tf.Graph().as_default() as g:
        chain(tf, n)
    graph_def = g.as_graph_def()
    yield
    tf.import_graph_def(graph_def, name="p")


@job(2500)
def export_meta_graph(tf, n):
    variables(tf, n)
    yield
    tf.train.export_meta_graph()


@job(2500)
def import_meta_graph(tf, n):
    graph = tf.Graph()  # kept until the job ends, so that the measured time does not include freeing it
    with graph.as_default():
        variables(tf, n)
        meta = tf.train.export_meta_graph()
    yield
    tf.train.import_meta_graph(meta)


@job(1250)
def many_fetches(tf, n):
    x = tf.placeholder(tf.float32, [])
    ys = [tf.tanh(x) for _ in range(n)]
    sess = tf.Session()
    yield
    sess.run(ys, {x: 1.0})


@job(500)
def many_feeds(tf, n):
    xs = [tf.placeholder(tf.float32, []) for _ in range(n)]
    y = tf.add_n(xs)
    sess = tf.Session()
    yield
    sess.run(y, {x: 1.0 for x in xs})


@job(500)
def same_run_again(tf, n):
    xs = [tf.placeholder(tf.float32, []) for _ in range(n)]
    ys = [tf.tanh(x) for x in xs]
    sess = tf.Session()
    feeds = {x: 1.0 for x in xs}
    sess.run(ys, feeds)
    yield
    for _ in range(10):
        sess.run(ys, feeds)


@job(7500)
def run_chain(tf, n):
    x, y = chain(tf, n)
    sess = tf.Session()
    yield
    sess.run(y, {x: 1.0})


@job(2500)
def initialize(tf, n):
    variables(tf, n)
    yield
    init = tf.global_variables_initializer()
    tf.Session().run(init)


@job(2500)
def report_uninitialized(tf, n):
    variables(tf, n)
    sess = tf.Session()
    yield
    sess.run(tf.report_uninitialized_variables())


@job(2500)
def save_restore(tf, n):
    variables(tf, n)
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    s = tf.train.Saver()
    yield
    path = s.save(sess, os.path.join(tempfile.mkdtemp(), "model"), write_meta_graph=False)
    s.restore(sess, path)


@job(500)
def merge_all(tf, n):
    for i in range(n):
        tf.summary.scalar("s%d" % i, tf.constant(1.0))
    yield
    tf.Session().run(tf.summary.merge_all())


@job(2500)
def group_many(tf, n):
    vs = [tf.constant(1.0) for _ in range(n)]
    yield
    tf.Session().run(tf.group(*vs))


@job(2500)
def control_dependencies(tf, n):
    vs = [tf.constant(1.0) for _ in range(n)]
    yield
    with tf.control_dependencies(vs):
        for _ in range(10):
            tf.constant(2.0)


@job(2500)
def add_many(tf, n):
    vs = [tf.constant(1.0) for _ in range(n)]
    yield
    tf.Session().run(tf.add_n(vs))


@job(5000)
def run_many_devices(tf, n):
    with tf.device("/cpu:0"):
        vs = [tf.constant(1.0) for _ in range(n)]
    yield
    tf.Session().run(vs[-1])


@job(2500)
def find_by_name(tf, n):
    chain(tf, n)
    g = tf.get_default_graph()
    yield
    for i in range(1, n):
        g.get_tensor_by_name("Tanh_%d:0" % i)


@job(1000)
def consumers(tf, n):
    x, _ = chain(tf, n)
    ops = tf.get_default_graph().get_operations()
    yield
    for o in ops:
        for t in o.outputs:
            t.consumers()


@job(1000)
def extend_and_run(tf, n):
    x = tf.placeholder(tf.float32, [])
    sess = tf.Session()
    yield
    y = x
    for i in range(n):
        y = tf.tanh(y)
        if i % 10 == 0:
            sess.run(x, {x: 1.0})


@job(1250)
def global_norm(tf, n):
    vs = [tf.constant([1.0]) for _ in range(n)]
    yield
    tf.clip_by_global_norm(vs, 1.0)


@job(1250)
def moving_averages(tf, n):
    vs = variables(tf, n)
    yield
    tf.train.ExponentialMovingAverage(0.9).apply(vs)


@job(100)
def while_loop_body(tf, n):
    yield
    def body(i, x):
        for _ in range(n):
            x = tf.tanh(x)
        return i + 1, x
    _, x = tf.while_loop(lambda i, x: i < 3, body, [tf.constant(0), tf.constant(1.0)])
    tf.gradients(x, x)
    tf.Session().run(x)


@job(2500)
def freeze(tf, n):
    x = tf.placeholder(tf.float32, [])
    y = x
    for v in variables(tf, n):
        y = y + v
    y = tf.identity(y, name="out")
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    yield
    tf.graph_util.convert_variables_to_constants(sess, tf.get_default_graph().as_graph_def(), ["out"])


def measure(name, n, use_tf):
    if use_tf:
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
        tf.disable_resource_variables()
    else:
        tf = library.load("weft")
    best = None
    for _ in range(1 if n > 4 * JOBS[name][1] else 2):
        with tf.Graph().as_default():
            run = JOBS[name][0](tf, n)
            next(run)
            begin = time.process_time()
            next(run, None)
            spent = time.process_time() - begin
        best = spent if best is None else min(best, spent)
    print(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tf", action="store_true")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--one", type=int)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.one:
        return measure(args.names[0], args.one, args.tf)
    print("%-22s %8s %9s %9s %9s %7s" % ("job", "n", "n (s)", "2n (s)", "4n (s)", "4n/2n"))
    for name in args.names or JOBS:
        n = int(JOBS[name][1] * args.scale)
        found = []
        for m in (n, 2 * n, 4 * n):
            command = [sys.executable, __file__, "--one", str(m), name] + (["--tf"] if args.tf else [])
            try:
                out = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
                found.append(float(out.stdout) if out.returncode == 0 else None)
                if out.returncode:
                    print(out.stderr[-300:])
            except subprocess.TimeoutExpired:
                found.append(float("inf"))
        texts = ["%9.3f" % f if f is not None else "%9s" % "failed" for f in found]
        ratio = found[2] / found[1] if None not in found else float("nan")
        print("%-22s %8d %s %7.2f" % (name, n, " ".join(texts), ratio), flush=True)


if __name__ == "__main__":
    main()
