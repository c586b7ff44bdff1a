#!/usr/bin/env python3
"""Writes tests/corpus/io.record, io.idx, io.bundle, io.lmdb, io.snapshot, io.snappy, codec.wav and codec.descriptor: small
files as TensorFlow and others write them, to be mutated.

Run with TensorFlow 2.15.1 and lmdb 3.0.0; the files are committed, so that tests need neither."""
import gzip
import pathlib
import struct
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import tensor_bundle_pb2

tf.disable_v2_behavior()
HERE = pathlib.Path(__file__).parent


def put(folder, name, data):
    (HERE / folder).mkdir(exist_ok=True)
    (HERE / folder / name).write_bytes(data)


def records():
    for kind in ("", "GZIP", "ZLIB"):
        with tempfile.NamedTemporaryFile() as f:
            with tf.io.TFRecordWriter(f.name, tf.io.TFRecordOptions(kind)) as w:
                for value in (b"foo", b"", b"barbaz" * 20):
                    w.write(value)
            put("io.record", kind.lower() or "plain", pathlib.Path(f.name).read_bytes())


def idx():
    images = struct.pack(">4B3I", 0, 0, 8, 3, 2, 3, 4) + bytes(range(24))
    floats = struct.pack(">4B2I6f", 0, 0, 13, 2, 2, 3, *range(6))
    put("io.idx", "images", images)
    put("io.idx", "images.gz", gzip.compress(images, mtime=0))
    put("io.idx", "floats", floats)


def entry(dtype, shape, offset, size, crc):
    e = tensor_bundle_pb2.BundleEntryProto(dtype=dtype, offset=offset, size=size, crc32c=crc)
    for d in shape:
        e.shape.dim.add(size=d)
    return e


def bundle():
    """One index as it is, and its entries as lists of keys and values."""
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.Session() as s:
            w = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w", use_resource=False)
            words = tf.Variable(["abc", "", "d"], name="words", use_resource=False)
            s.run([w.initializer, words.initializer])
            tf.train.Saver([w, words]).save(s, folder + "/m", write_meta_graph=False)
        index = pathlib.Path(folder + "/m.index").read_bytes()
        put("io.bundle", "raw", b"r" + index)
    header = tensor_bundle_pb2.BundleHeaderProto(num_shards=1)
    header.version.producer = 1
    sliced = entry(1, (4,), 0, 0, 0)
    sliced.slices.add().extent.add(start=0, length=4)
    pairs = [(b"", header), (b"floats", entry(1, (2,), 2, 8, 7)), (b"sliced", sliced), (b"words", entry(7, (3,), 0, 30, 9))]
    packed = [(k, v.SerializeToString()) for k, v in pairs]
    for n in (2, 3, 4):
        put("io.bundle", f"pairs{n}", b"".join(bytes([len(k), len(v)]) + k + v for k, v in packed[:n]))


def databases():
    """The files that tests/python/test_lmdb.py knows."""
    import lmdb
    rows = [(b"key %03d" % i, b"value %d " % i * (i % 7)) for i in range(240)]
    for name, groups in (("tree", [rows, [(b"large", bytes(range(256)) * 20), (b"a", b"")]]), ("empty", []),
                         ("small", [[(b"one", b"1"), (b"two", b"2" * 3000)]])):
        with tempfile.TemporaryDirectory() as folder:
            with lmdb.open(folder, map_size=1 << 24) as environment:
                for group in groups:
                    with environment.begin(write=True) as transaction:
                        for key, value in group:
                            transaction.put(key, value)
            put("io.lmdb", name, pathlib.Path(folder, "data.mdb").read_bytes())


def snapshots():
    """One file of two components for each compression; a first byte says which."""
    for first, kind in enumerate(("", "GZIP", "SNAPPY")):
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session() as s:
            data = tf.data.Dataset.range(3).map(lambda x: (x, tf.strings.as_string(x) + "-" * 40))
            data = data.apply(tf.data.experimental.snapshot(folder, compression=kind or None))
            element = tf.data.make_one_shot_iterator(data).get_next()
            for _ in range(3):
                s.run(element)
            try:
                s.run(element)  # the end completes the snapshot
            except tf.errors.OutOfRangeError:
                pass
            files = sorted(pathlib.Path(folder).rglob("*.snapshot"), key=lambda f: -f.stat().st_size)
            put("io.snapshot", kind.lower() or "plain", bytes([first]) + files[0].read_bytes())


def blocks():
    """Snappy blocks by hand: literals, copies of all three kinds, and one that overlaps what it writes."""
    put("io.snappy", "literal", b"\x05\x10abcde")
    put("io.snappy", "copies", b"\x18\x0cabcd" + b"\x01\x04" + b"\x1e\x08\x00" + b"\x1f\x04\x00\x00\x00")
    put("io.snappy", "overlap", b"\x21\x00a" + b"\x7e\x01\x00")


def sounds():
    for channels, rate in ((1, 8000), (2, 44100)):
        samples = np.arange(64 * channels, dtype="<i2") * 100
        head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + samples.nbytes, b"WAVE", b"fmt ", 16, 1, channels, rate,
                           rate * channels * 2, channels * 2, 16, b"data", samples.nbytes)
        put("codec.wav", "%d-channels" % channels, head + samples.tobytes())


def descriptors():
    from google.protobuf import descriptor_pb2, text_format
    for syntax in ("proto2", "proto3"):
        described = text_format.Parse("""
            name: "pets.proto" package: "pets"
            message_type {
              name: "Cat"
              field { name: "lives" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 default_value: "9" }
              field { name: "mood" number: 2 label: LABEL_OPTIONAL type: TYPE_ENUM type_name: ".pets.Cat.Mood" default_value: "SLEEPY" }
              field { name: "weights" number: 3 label: LABEL_REPEATED type: TYPE_FLOAT options { packed: true } }
              nested_type { name: "Toy" field { name: "kind" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING } }
              enum_type { name: "Mood" value { name: "HUNGRY" number: 3 } value { name: "SLEEPY" number: -1 } }
            }
            message_type { name: "Plain" }""", descriptor_pb2.FileDescriptorProto())
        described.syntax = syntax
        put("codec.descriptor", syntax, descriptor_pb2.FileDescriptorSet(file=[described]).SerializeToString())


records(), idx(), bundle(), databases(), snapshots(), blocks(), sounds(), descriptors()
