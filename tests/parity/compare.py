"""Running the same node or graph on TensorFlow and on Weft, and comparing what comes out."""
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.framework import error_interpolation

import weftlib

v1 = tf.compat.v1
# A graph of one node that runs once: rewriting it first takes four times as long as running it, and looking for names of
# nodes in a message that lists all kernels as long again.
PLAIN = v1.ConfigProto(graph_options=config_pb2.GraphOptions(
    optimizer_options=config_pb2.OptimizerOptions(opt_level=config_pb2.OptimizerOptions.L0),
    rewrite_options=rewriter_config_pb2.RewriterConfig(disable_meta_optimizer=True)))
error_interpolation.interpolate_graph = lambda message, graph: message
TOLERANCE = {tf.half: 4e-3, tf.bfloat16: 3e-2, tf.float32: 3e-5, tf.float64: 1e-9, tf.complex64: 3e-5,
             tf.complex128: 1e-9}
# TF has no kernel for this type: the variant asks nothing of us.
UNIMPLEMENTED, INTERNAL = 12, 13
NO_KERNEL = ("No OpKernel was registered", "Could not find device", "no supported kernel", "no kernel")


class Unsupported(Exception):
    pass


def run_tf(graph_def, fetches, feeds, init_feeds, init, variables, grads=None):
    """[fetched values], [variables after], {x: gradient or None}.

    TensorFlow gets copies of the feeds: it uses the memory of an aligned array as it is, and its in-place ops write there.
    """
    feeds = {n: np.copy(v) for n, v in feeds.items()}
    with tf.Graph().as_default() as g:
        try:
            tf.import_graph_def(graph_def, name="")
        except (ValueError, tf.errors.OpError) as e:
            return getattr(e, "error_code", 3), str(e)
        extra = {}
        if grads:
            ys, xs, gys = grads
            placeholders = [v1.placeholder(g.get_tensor_by_name(y).dtype, name=f"gy{i}") for i, y in enumerate(ys)]
            d = tf.gradients([g.get_tensor_by_name(y) for y in ys], [g.get_tensor_by_name(x) for x in xs],
                             [tf.identity(p) for p in placeholders])
            d = [None if x is None else tf.convert_to_tensor(x) for x in d]
            feeds = dict(feeds, **{p.name: v for p, v in zip(placeholders, gys)})
            extra = {x: t for x, t in zip(xs, d) if t is not None}
        with v1.Session(config=PLAIN) as s:
            try:
                if init:
                    s.run(init, init_feeds)
                if extra:
                    return 0, dict(zip(extra, s.run(list(extra.values()), feeds))), [x for x in xs if x not in extra]
                if grads:
                    return 0, {}, xs
                got = s.run(fetches, feeds) if fetches else (s.run("op", feeds), [])[1]
                return 0, got, [s.run(v) for v in variables]
            except tf.errors.OpError as e:
                if e.error_code == UNIMPLEMENTED or any(w in e.message for w in NO_KERNEL):
                    raise Unsupported(e.message)
                return e.error_code, e.message


def run_weft(graph_def, fetches, feeds, init_feeds, init, variables):
    try:
        g = weftlib.Graph(graph_def)
        s = weftlib.Session(g)
        if init:
            s.run((), init_feeds, init)
        got = s.run(fetches, feeds, () if fetches else ("op",))
        return 0, got, [s.run([v])[0] for v in variables]
    except weftlib.Error as e:
        return e.code, str(e)


def grads_weft(graph_def, feeds, init_feeds, init, ys, xs, gys):
    g = weftlib.Graph(graph_def)
    extra = v1.GraphDef()
    for i, v in enumerate(gys):
        node = extra.node.add(name=f"gy{i}", op="Placeholder")
        node.attr["dtype"].type = tf.as_dtype(v.dtype).as_datatype_enum
        node.attr["shape"].shape.unknown_rank = True
    g.load(extra)
    d = g.gradients(ys, xs, [f"gy{i}:0" for i in range(len(gys))])
    s = weftlib.Session(g)
    if init:
        s.run((), init_feeds, init)
    have = [(x, o) for x, o in zip(xs, d) if o is not None]
    values = s.run([o for _, o in have], dict(feeds, **{f"gy{i}:0": v for i, v in enumerate(gys)})) if have else []
    return dict(zip((x for x, _ in have), values)), [x for x, o in zip(xs, d) if o is None]


def difference(name, want, got, scale=1.0):
    """None if equal within the type's tolerance, else what differs."""
    # A bytes scalar as an object: numpy's own string type drops trailing zero bytes.
    want, got = (np.asarray(x, dtype=object) if isinstance(x, bytes) else np.asarray(x) for x in (want, got))
    if want.shape != got.shape:
        return f"{name}: shape {got.shape}, TensorFlow has {want.shape}"
    if want.dtype.kind in "OSU":
        same = want.astype(object).ravel().tolist() == got.astype(object).ravel().tolist()
        return None if same else f"{name}: {got!r}, TensorFlow has {want!r}"
    if want.dtype != got.dtype:
        return f"{name}: type {got.dtype}, TensorFlow has {want.dtype}"
    tol = TOLERANCE.get(tf.as_dtype(want.dtype))
    if tol is None:
        bad = want != got
    else:
        wide = np.complex128 if np.iscomplexobj(want) else np.float64
        a, b = want.astype(wide), got.astype(wide)
        with np.errstate(all="ignore"):
            size = np.abs(a[np.isfinite(a)])
            bound = tol * scale * (1 + np.abs(a) + (0.1 * size.mean() if size.size else 0))
            bad = ~((np.abs(a - b) <= bound) | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not bad.any():
        return None
    i = tuple(np.argwhere(bad)[0])
    return f"{name}{list(i)}: {got[i]!r}, TensorFlow has {want[i]!r} ({bad.sum()} of {bad.size} differ)"
