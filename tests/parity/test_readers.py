"""Readers and files: the same keys, values, counts and errors."""
import gzip
import os
import tempfile
import zlib

import pytest
import tensorflow as tf

from scenario import check

v1 = tf.compat.v1
raw = tf.raw_ops
DIR = tempfile.mkdtemp(prefix="weft-readers-")


def path(name, data=None):
    p = os.path.join(DIR, name)
    if data is not None:
        with open(p, "wb") as f:
            f.write(data)
    return p


def records(name, compression="", values=(b"foo", b"", b"barbaz")):
    p = path(name)
    with tf.io.TFRecordWriter(p, tf.io.TFRecordOptions(compression_type=compression)) as w:
        for v in values:
            w.write(v)
    return p


def names(*files):
    q = raw.FIFOQueueV2(component_types=[tf.string], shapes=[[]], capacity=10, name="names")
    return q, [raw.QueueEnqueueManyV2(handle=q, components=[list(files)]), raw.QueueCloseV2(handle=q)]


def read(r, q):
    return list(raw.ReaderReadV2(reader_handle=r, queue_handle=q))


def read_up_to(r, q, n):
    return list(raw.ReaderReadUpToV2(reader_handle=r, queue_handle=q, num_records=tf.constant(n, tf.int64)))


def counts(r):
    return [raw.ReaderNumRecordsProducedV2(reader_handle=r), raw.ReaderNumWorkUnitsCompletedV2(reader_handle=r)]


def lines():
    q, steps = names(path("a", b"one\ntwo\r\r\nth\rree\r"), path("b", b"\nx\n\n"), path("e", b""))
    r = raw.TextLineReaderV2()
    for _ in range(7):
        steps += [read(r, q), counts(r)]
    return steps + [raw.ReaderResetV2(reader_handle=r), counts(r), raw.ReaderSerializeStateV2(reader_handle=r)]


def lines_after_a_header():
    q, steps = names(path("a", b"one\ntwo\r\nthree"), path("b", b"\nx\n\n"))
    r = raw.TextLineReaderV2(skip_header_lines=1)
    return steps + [read(r, q), read_up_to(r, q, 9), read_up_to(r, q, 9), read(r, q)]


def tfrecords():
    q, steps = names(records("r"), records("r2"))
    r = raw.TFRecordReaderV2()
    return steps + [read(r, q), read(r, q), read_up_to(r, q, 3), read_up_to(r, q, 10), read_up_to(r, q, 10), counts(r)]


def gzipped():
    q, steps = names(records("r.gz", "GZIP"))
    r = raw.TFRecordReaderV2(compression_type="GZIP")
    return steps + [read(r, q), read_up_to(r, q, 3), read(r, q)]


def zlibbed():
    q, steps = names(records("r.z", "ZLIB", [bytes(100000), b"x" * 70000]))
    r = raw.TFRecordReaderV2(compression_type="ZLIB")
    return steps + [read(r, q), read_up_to(r, q, 3), read(r, q)]


def damaged(change):
    def build():
        with open(records("good"), "rb") as f:
            data = bytearray(f.read())
        q, steps = names(path("bad", change(data)), path("good"))
        r = raw.TFRecordReaderV2()
        return steps + [read(r, q) for _ in range(4)] + [counts(r)]
    return build


def flipped(at):
    def change(data):
        data[at] ^= 1
        return data
    return change


def missing():
    q, steps = names(path("none"), records("r"))
    r = raw.TFRecordReaderV2()
    return steps + [read(r, q), read(r, q), counts(r)]


def whole():
    q, steps = names(path("a", b"one\ntwo"), path("e", b""), path("none"), path("a"))
    r = raw.WholeFileReaderV2()
    return steps + [read(r, q), read(r, q), counts(r), read(r, q), read(r, q), raw.ReaderSerializeStateV2(reader_handle=r),
                    raw.ReaderResetV2(reader_handle=r), read(r, q)]


def identity():
    q, steps = names("x", "yy", "z")
    r, s = raw.IdentityReaderV2(), raw.IdentityReaderV2()
    state = raw.ReaderSerializeStateV2(reader_handle=r)
    return steps + [read(r, q), read_up_to(r, q, 5), counts(r), state, raw.ReaderRestoreStateV2(reader_handle=s, state=state),
                    counts(s), read(s, q), read(r, q), raw.ReaderRestoreStateV2(reader_handle=s, state=b"\x08\x01"), counts(s),
                    raw.ReaderRestoreStateV2(reader_handle=s, state=b"\x08\x05\x10\x02\x18\x07\x22\x01a"), counts(s)]


def fixed():
    q, steps = names(path("fix", bytes(range(30))), path("fix"))
    r = raw.FixedLengthRecordReaderV2(record_bytes=8, header_bytes=3, footer_bytes=2)
    return steps + [read(r, q), read(r, q), read(r, q), read_up_to(r, q, 4), read(r, q)]


def hopping():
    q, steps = names(path("fix", bytes(range(30))))
    r = raw.FixedLengthRecordReaderV2(record_bytes=8, header_bytes=3, footer_bytes=2, hop_bytes=4)
    return steps + [read_up_to(r, q, 10), read(r, q)]


def fixed_compressed():
    q, steps = names(path("fix.gz", gzip.compress(bytes(range(30)))))
    p, more = names(path("fix.z", zlib.compress(bytes(range(30)))))
    r = raw.FixedLengthRecordReaderV2(record_bytes=8, encoding="GZIP")
    s = raw.FixedLengthRecordReaderV2(record_bytes=8, header_bytes=2, footer_bytes=7, encoding="ZLIB")
    return steps + more + [read(r, q), read_up_to(r, q, 5), read_up_to(s, p, 5)]


def wrong_queues():
    ints = raw.FIFOQueueV2(component_types=[tf.int32], shapes=[[]])
    two = raw.FIFOQueueV2(component_types=[tf.string, tf.string], shapes=[[], []])
    vectors = raw.FIFOQueueV2(component_types=[tf.string], shapes=[])
    r = raw.IdentityReaderV2()
    put = lambda q, *c: raw.QueueEnqueueV2(handle=q, components=list(c))
    return [put(ints, 1), read(r, ints), put(two, "a", "b"), read(r, two),
            raw.QueueEnqueueV2(handle=vectors, components=[["a", "b"]]), read(r, vectors)]


def files():
    for n in ("a.txt", "b.txt", "r.1"):
        path(n, n.encode())
    pattern = lambda p: raw.MatchingFiles(pattern=os.path.join(DIR, p) if isinstance(p, str) else [os.path.join(DIR, x) for x in p])
    inner = os.path.join(DIR, "x/y/z")
    return [pattern("*.txt"), pattern(["r.*", "a.*"]), pattern("none*"), pattern("[ab].txt"), pattern("?.txt"),
            raw.ReadFile(filename=path("a.txt")), raw.ReadFile(filename=path("none")), raw.ReadFile(filename=DIR),
            raw.WriteFile(filename=inner, contents="hello\0"), raw.ReadFile(filename=inner)]


SCENARIOS = {f.__name__: f for f in (lines, lines_after_a_header, tfrecords, gzipped, zlibbed, missing, whole, identity, fixed,
                                     hopping, fixed_compressed, wrong_queues, files)}
SCENARIOS |= {"cut_in_a_record": damaged(lambda d: d[:-2]), "cut_in_a_header": damaged(lambda d: d[:7]),
              "a_bit_in_a_length": damaged(flipped(0)), "a_bit_in_a_value": damaged(flipped(13)),
              "a_bit_in_a_later_length": damaged(flipped(20)), "a_bit_in_a_checksum": damaged(flipped(17))}


@pytest.mark.parametrize("name", SCENARIOS)
def test_reader_behaves_as_tensorflows(name):
    check(SCENARIOS[name])
