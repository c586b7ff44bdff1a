#!/usr/bin/env python3
"""Writes the corpora of the fuzz targets for images, CSV, regular expressions, V1 checkpoints, SavedModel, ConfigProto,
npz archives, function libraries and calls on the fast transport: small valid inputs, to be mutated.

Run with TensorFlow 2.15.1 from the root of the tree; the files are committed, so that tests need no TensorFlow."""
import io
import pathlib
import struct
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.core.util import saved_tensor_slice_pb2

tf.disable_v2_behavior()
HERE = pathlib.Path(__file__).parent


def put(folder, name, data):
    (HERE / folder).mkdir(exist_ok=True)
    (HERE / folder / name).write_bytes(data)


def evaluate(tensor):
    with tf.Session(graph=tensor.graph) as s:
        return s.run(tensor)


def bmp(width, height, bits, flip=1):
    row = (width * bits // 8 + 3) // 4 * 4
    head = struct.pack("<2sIHHI", b"BM", 54 + row * height, 0, 0, 54)
    info = struct.pack("<IiiHHIIiiII", 40, width, flip * height, 1, bits, 0, row * height, 0, 0, 0, 0)
    return head + info + bytes(i % 251 for i in range(row * height))


def gif(frames):
    """Frames of 2 by 2 pixels out of four colors, each packed as one LZW block."""
    head = b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0xF1, 0, 0) + bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 9, 8, 7])
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 2, 2, 0) + b"\x02\x03\x44\x34\x05\x00"
    control = b"\x21\xf9\x04\x00\x0a\x00\x00\x00"
    return head + (control + frame) * frames + b"\x3b"


def images():
    rng = np.random.RandomState(1)
    with tf.Graph().as_default():
        for channels in (1, 3):
            pixels = rng.randint(0, 255, (5, 7, channels)).astype(np.uint8)
            put("ops.image.jpeg", f"c{channels}", bytes([channels]) + evaluate(tf.io.encode_jpeg(pixels)))
            put("ops.image.jpeg", f"p{channels}", b"\0" + evaluate(tf.io.encode_jpeg(pixels, progressive=True)))
        for channels in (1, 2, 3, 4):
            pixels = rng.randint(0, 255, (3, 4, channels)).astype(np.uint8)
            put("ops.image.png_decode", f"c{channels}", b"\0" + evaluate(tf.io.encode_png(pixels)))
        deep = rng.randint(0, 65535, (3, 2, 3)).astype(np.uint16)
        put("ops.image.png_decode", "deep", b"\3" + evaluate(tf.io.encode_png(deep)))
    for bits in (8, 24, 32):
        put("ops.image.bmp", f"b{bits}", b"\0" + bmp(3, 2, bits))
    put("ops.image.bmp", "down", b"\0" + bmp(2, 2, 24, -1))
    for frames in (1, 3):
        put("ops.image.gif", f"f{frames}", gif(frames))


def texts():
    put("ops.io.decode_csv", "plain", b"\0a,1,2.5,x")
    put("ops.io.decode_csv", "quoted", b"\2\"a,\"\"b\",-7,1e-3,\"x y\"")
    put("ops.io.decode_csv", "tabs", b"\1a\t\t\tx")
    put("ops.io.decode_csv", "chosen", b"\4a,1,no,2.5,no,x")
    patterns = [b"a(b|c)*d?\n\\1-\\0\nabcbcd abd", b"^[^a-z\\d]{2,5}$\n\nAB-CD", b"(?i:x+?)(y{0,3})\n\\2\\1\nXXyyy",
                b"[[:alpha:]]+\\b|\\w\\W\\s.\n<\\0>\nhello, w\xc3\xb6rld", b"((a*)*)*b\nx\naaaaaaaaaaaaaaaaaaaac"]
    for i, p in enumerate(patterns):
        put("codec.regex", f"p{i}", p)


def checkpoints():
    """One file as it is, and rows as keys and values in a byte each."""
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.Session() as s:
            w = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w", use_resource=False)
            words = tf.Variable(["abc", "", "d"], name="words", use_resource=False)
            half = tf.Variable(np.float16([1, 2]), name="half", use_resource=False)
            s.run([w.initializer, words.initializer, half.initializer])
            path = tf.train.Saver([w, words, half], write_version=tf.train.SaverDef.V1).save(s, folder + "/m", write_meta_graph=False)
        put("io.slices", "raw", b"r" + pathlib.Path(path).read_bytes())
    meta = saved_tensor_slice_pb2.SavedTensorSlices()
    m = meta.meta.tensor.add(name="w", type=1)
    m.shape.dim.add(size=4)
    m.slice.add().extent.add()
    rows = [(b"", meta.SerializeToString())]
    data = saved_tensor_slice_pb2.SavedTensorSlices()
    data.data.name = "w"
    data.data.slice.extent.add()
    data.data.data.float_val.extend([1, 2, 3, 4])
    rows.append((b"\x00w\x00\x01\x01\x01\x80\x7f", data.SerializeToString()))
    put("io.slices", "pairs", b"".join(bytes([len(k), len(v)]) + k + v for k, v in rows))


def saved_model_text(path):
    """The text, without the definitions of the ops: mutations shall meet the graph."""
    model = saved_model_pb2.SavedModel.FromString(pathlib.Path(path).read_bytes())
    for meta in model.meta_graphs:
        meta.meta_info_def.ClearField("stripped_op_list")
    return text_format.MessageToString(model).encode()


def saved_model():
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.Variable(np.ones((2, 1), np.float32), name="w", use_resource=False)
        s.run(w.initializer)
        y = tf.matmul(x, w, name="y")
        tf.saved_model.simple_save(s, folder + "/m", {"x": x}, {"y": y})
        put("train.checkpoint.saved_model", "simple", pathlib.Path(folder + "/m/saved_model.pb").read_bytes())
        put("train.checkpoint.saved_model_text", "simple", saved_model_text(folder + "/m/saved_model.pb"))
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session() as s:
        x = tf.placeholder(tf.float32, [2], name="x")
        tf.saved_model.simple_save(s, folder + "/m", {"x": x}, {"y": x + 1.0})
        put("train.checkpoint.saved_model", "constant", pathlib.Path(folder + "/m/saved_model.pb").read_bytes())
        put("train.checkpoint.saved_model_text", "constant", saved_model_text(folder + "/m/saved_model.pb"))
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session() as s:
        words = pathlib.Path(folder, "words")
        words.write_text("a")
        name = tf.constant(str(words), name="words")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, name)
        builder = tf.saved_model.Builder(folder + "/m")
        builder.add_meta_graph_and_variables(s, ["serve"], assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS))
        builder.save()
        put("train.checkpoint.saved_model_text", "asset", saved_model_text(folder + "/m/saved_model.pb").replace(folder.encode(), b"data"))


def configs():
    gpu = tf.GPUOptions(allow_growth=True, per_process_gpu_memory_fraction=0.3, visible_device_list="0")
    put("api.config", "empty", b"")
    put("api.config", "threads", tf.ConfigProto(intra_op_parallelism_threads=2, inter_op_parallelism_threads=3,
                                                 use_per_session_threads=True).SerializeToString())
    put("api.config", "all", tf.ConfigProto(
        device_count={"CPU": 2, "GPU": 0}, allow_soft_placement=True, gpu_options=gpu, operation_timeout_in_ms=500,
        device_filters=["/job:ps", "/job:worker/task:0"], session_inter_op_thread_pool=[
            {"num_threads": 2, "global_name": "p"}], placement_period=3,
        graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))).SerializeToString())


def npz():
    for name, save in (("plain", np.savez), ("packed", np.savez_compressed)):
        out = io.BytesIO()
        save(out, a=np.arange(6, dtype=np.float32).reshape(2, 3), s=np.array([b"ab", b"c"]), n=np.int64(7))
        put("cli.npz", name, out.getvalue())


def functions():
    from tensorflow.python.framework import function

    def graph(name, build):
        with tf.Graph().as_default() as g:
            build()
            put("tests.functions", name, g.as_graph_def().SerializeToString())

    def call():
        @function.Defun(tf.float32)
        def square(x):
            return x * x

        @function.Defun(tf.float32)
        def twice(x):
            return square(x) + square(x + 1.0)
        tf.gradients(twice(tf.constant(2.0)), [tf.constant(1.0)])

    def control():
        @function.Defun(tf.int32)
        def less(i):
            return tf.less(i, 5)

        @function.Defun(tf.int32)
        def add(i):
            return i + 1
        from tensorflow.python.ops import functional_ops
        functional_ops.While([tf.constant(0)], less, add)
        functional_ops.If(tf.constant(True), [tf.constant(1)], add, add)

    def data():
        d = tf.data.Dataset.range(5).map(lambda x: x * 2).filter(lambda x: x > 2).batch(2)
        tf.data.make_one_shot_iterator(d).get_next()
    graph("call", call), graph("control", control), graph("data", data)


def frames():
    """Frames as net/fast/conn.h lays them out, behind a byte that chooses the socket."""
    def frame(kind, text=b"", pieces=(), call=1):
        body = b"".join(pieces)
        head = struct.pack("<IBBHIIQQ", 0x32544657, kind, 0, len(pieces), len(text), 0, call, len(body))
        return head + b"".join(struct.pack("<Q", len(p)) for p in pieces) + text + body
    tensor = (HERE / "net.received_tensor" / "float2").read_bytes()
    put("net.fast.server", "call", b"\0" + frame(2, b"/t/echo", [tensor]))
    put("net.fast.server", "calls", b"\1" + b"".join(frame(2, b"/t/echo", [tensor, b"xy"], i) for i in range(3)))
    put("net.fast.server", "cancel", b"\0" + frame(2, b"/t/echo", [], 5) + frame(4, b"", [], 5))


images(), texts(), checkpoints(), saved_model(), configs(), npz(), functions(), frames()
