"""ParseExample, ParseExampleV2, ParseSingleExample and those of SequenceExamples against TensorFlow: outputs, errors, broken bytes."""
import numpy as np
import pytest
import tensorflow as tf

import compare
import weftlib

v1 = tf.compat.v1
raw = tf.raw_ops
I64, F32, STR = tf.int64, tf.float32, tf.string


def feature(v):
    if v is None:
        return tf.train.Feature()
    if len(v) and isinstance(v[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
    if len(v) and isinstance(v[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=v))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=v))


def example(**features):
    return tf.train.Example(features=tf.train.Features(
        feature={k: feature(v) for k, v in features.items()})).SerializeToString()


def required(dtype):
    return np.zeros([0], dtype.as_numpy_dtype)


def batch(serialized, names=(), sparse=(), dense=(), ragged=(), v2=False):
    """sparse: (key, type); dense: (key, default, shape); ragged: (key, type, split type)."""
    names = tf.constant(list(names), STR)
    common = dict(serialized=serialized, names=names, sparse_types=[t for _, t in sparse],
                  dense_defaults=[tf.constant(d) for _, d, _ in dense], dense_shapes=[s for _, _, s in dense])
    if not v2:
        return raw.ParseExample(sparse_keys=[k for k, _ in sparse], dense_keys=[k for k, _, _ in dense], **common)
    keys = lambda rows: tf.constant([r[0] for r in rows], STR)
    return raw.ParseExampleV2(sparse_keys=keys(sparse), dense_keys=keys(dense), ragged_keys=keys(ragged),
                              num_sparse=len(sparse), ragged_value_types=[r[1] for r in ragged],
                              ragged_split_types=[r[2] for r in ragged], **common)


def single(serialized, names=(), sparse=(), dense=()):
    return raw.ParseSingleExample(serialized=serialized, num_sparse=len(sparse), sparse_keys=[k for k, _ in sparse],
                                  sparse_types=[t for _, t in sparse], dense_keys=[k for k, _, _ in dense],
                                  dense_defaults=[tf.constant(d) for _, d, _ in dense], dense_shapes=[s for _, _, s in dense])


def both(op, serialized, **config):
    """(outputs or error) of TensorFlow, the same of Weft, and the names fetched."""
    with tf.Graph().as_default() as g:
        fed = v1.placeholder(STR, np.shape(serialized), name="serialized")
        outputs = [t.name for list_ in op(fed, **config) for t in list_]
        with v1.Session() as s:
            try:
                want = s.run(outputs, {fed: serialized})
            except tf.errors.OpError as e:
                want = e
    try:
        got = weftlib.Session(weftlib.Graph(g.as_graph_def())).run(outputs, {"serialized:0": serialized})
    except weftlib.Error as e:
        got = e
    return want, got, outputs


def check(op, serialized, **config):
    want, got, names = both(op, serialized, **config)
    assert not isinstance(want, Exception), want
    assert not isinstance(got, Exception), got
    assert not [d for d in map(compare.difference, names, want, got) if d]


def check_error(op, serialized, words, **config):
    want, got, _ = both(op, serialized, **config)
    assert isinstance(want, tf.errors.InvalidArgumentError), want
    assert isinstance(got, weftlib.Error) and got.code == want.error_code, got
    assert words in want.message and words in got.message, got.message


BATCH = [example(a=[1, 2], b=[1.5], s=[b"x", b"yy"], unused=[9]), example(a=[-3, 2**62], b=[2.5]),
         example(a=[5, 6], b=[3.5], s=[b""], v=[1.0, 2.0, 3.0, 4.0])]
DENSE = [("a", required(I64), [2]), ("b", required(F32), []), ("c", np.array([[7, 8]]), [1, 2])]


def test_dense_and_sparse():
    for v2 in (False, True):
        check(batch, BATCH, v2=v2, dense=DENSE, sparse=[("s", STR), ("v", F32), ("none", I64)])


def test_ragged():
    check(batch, BATCH, v2=True, sparse=[("a", I64)],
          ragged=[("s", STR, tf.int32), ("v", F32, tf.int64), ("none", I64, tf.int64)])


def test_one_example():
    for one in BATCH:
        check(single, one, dense=DENSE, sparse=[("s", STR), ("v", F32)])
        check(batch, one, v2=True, dense=DENSE, sparse=[("s", STR)], ragged=[("v", F32, tf.int64)])


def test_rows_of_variable_length_are_padded():
    for v2 in (False, True):
        check(batch, BATCH, v2=v2, dense=[("v", np.float32(-1), [None, 2]), ("s", np.array(b"pad", dtype=object), [None])])
    check(single, BATCH[2], dense=[("v", np.float32(-1), [None, 2])])


def test_empty_batch():
    empty = np.zeros([0], dtype=object)
    for v2 in (False, True):
        check(batch, empty, v2=v2, dense=[("a", required(I64), [2]), ("v", np.float32(-1), [None, 2])],
              sparse=[("s", STR)])


def test_a_large_batch():
    rng = np.random.RandomState(5)
    many = [example(a=rng.randint(-9, 9, 2).tolist(), b=[float(i)], s=[b"s%d" % j for j in range(i % 4)] or None,
                    v=rng.uniform(size=2 * (i % 3)).tolist() or None) for i in range(3000)]
    check(batch, many, dense=DENSE, sparse=[("s", STR), ("v", F32)])


def test_wire_forms_of_the_same_list():
    for list_ in ("1a06080108020803", "1a050a03010203", "1a020801" "1a020802", "1a00"):
        value = bytes.fromhex(list_)
        entry = b"\n\x01a\x12" + bytes([len(value)]) + value
        features = b"\n" + bytes([len(entry)]) + entry
        check(batch, [b"\n" + bytes([len(features)]) + features], sparse=[("a", I64)])
    check(batch, [example(a=[1, 2]) + example(a=[3, 4])], dense=[("a", required(I64), [2])])


@pytest.mark.parametrize("op,name", [(batch, "Name: row7, "), (single, "")])
def test_errors(op, name):
    wrap = (lambda e: [e]) if op is batch else (lambda e: e)
    named = {"names": ["row7"]} if op is batch else {}
    a = [("a", required(I64), [2])]
    check_error(op, wrap(example(b=[1.0])), name + "Feature: a (data type: int64) is required but could not be found.",
                dense=a, **named)
    key = "Key: a, Index: 0.  " if op is batch else "Key: a.  "
    check_error(op, wrap(example(a=[1.0, 2.0])),
                name + key + "Data types don't match. Data type: float but expected type: int64", dense=a, **named)
    check_error(op, wrap(example(a=[b"x"])),
                name + key + "Data types don't match. Expected type: int64, Actual type: string", sparse=[("a", I64)],
                **named)
    wrong = ("Number of int64 values != expected.  Values size: 3 but output shape: [2]" if op is batch
             else "Can't parse serialized Example.")
    check_error(op, wrap(example(a=[1, 2, 3])), name + key + wrong, dense=a, **named)
    check_error(op, wrap(b"hello world"), "Could not parse example input, value: 'hello world'", dense=a, **named)
    check_error(op, wrap(example(a=[1])), "is not compatible with dense_shapes_[0] == [2]",
                dense=[("a", np.array([1, 2, 3]), [2])], **named)


def test_broken_bytes():
    """Every cut and a thousand flips: an error or, where TensorFlow reads something too, what it reads.

    Which bytes are refused is not the same: TensorFlow reads past lengths that are too long, and refuses fields it
    does not know in some places and not in others."""
    good = example(a=[1, 300], b=[1.5], s=[b"x", b"yy"])
    rng = np.random.RandomState(3)
    broken = [good[:n] for n in range(len(good))]
    for _ in range(1000):
        data = bytearray(good)
        data[rng.randint(len(data))] = rng.randint(256)
        broken.append(bytes(data))
    refused = 0
    with tf.Graph().as_default() as g, v1.Session() as s:
        fed = v1.placeholder(STR, [1], name="serialized")
        outputs = [t.name for list_ in batch(fed, dense=[("a", np.array([7, 8]), [2])], sparse=[("s", STR), ("b", F32)])
                   for t in list_]
        ours = weftlib.Session(weftlib.Graph(g.as_graph_def()))
        for data in broken:
            try:
                got = ours.run(outputs, {"serialized:0": [data]})
            except weftlib.Error as e:
                assert e.code == tf.errors.INVALID_ARGUMENT, e
                refused += 1
                continue
            try:
                want = s.run(outputs, {fed: [data]})
            except (tf.errors.InvalidArgumentError, UnicodeDecodeError):
                continue
            assert not [d for d in map(compare.difference, outputs, want, got) if d], data.hex()
    assert refused > 500


RECORDS = ["1,2", " 1 , 2 ", "1,", ",", "", "1", "1,2,3", "a,b", '"a,b",c', '"a""b",c', 'a"b,c', '"ab"c,d', '"ab', '"a",',
           '"",x', "a\nb,c", '"a\nb",c', "a,c\n", "a,c\r\n", "a,\n", "\na,b", "NA,1", '"NA",1', "1e3,-2.5", "inf,nan",
           "1.5,0x10", "+1,-1", "99999999999,99999999999", "9223372036854775808,1", "0.33333333333333333,1", "a,b\"c\"",
           '"a"\n,b', "\x00,1", "1;2"]


@pytest.mark.parametrize("dtype", [STR, tf.int32, I64, F32, tf.float64])
@pytest.mark.parametrize("options", [{}, {"na_value": "NA"}, {"use_quote_delim": False}, {"field_delim": ";"},
                                     {"select_cols": [0, 2]}])
def test_csv(dtype, options):
    for fallback in ([], [b"7" if dtype == STR else 7]):
        with tf.Graph().as_default() as g, v1.Session() as s:
            fed = v1.placeholder(STR, [1], name="records")
            outputs = [t.name for t in tf.raw_ops.DecodeCSV(records=fed, record_defaults=[tf.constant(fallback, dtype)] * 2,
                                                            **options)]
            ours = weftlib.Session(weftlib.Graph(g.as_graph_def()))
            for record in RECORDS:
                try:
                    want = s.run(outputs, {fed: [record]})
                except tf.errors.InvalidArgumentError as e:
                    want = e
                try:
                    got = ours.run(outputs, {"records:0": np.array([record.encode()], dtype=object)})
                except weftlib.Error as e:
                    got = e
                if isinstance(want, Exception) or isinstance(got, Exception):
                    assert isinstance(got, weftlib.Error) and isinstance(want, Exception), (record, want, got)
                    assert got.code == want.error_code, (record, want, got)
                else:
                    assert not [d for d in map(compare.difference, outputs, want, got) if d], record


# ---- SequenceExamples ----

def sequence_example(context, lists):
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={k: feature(v) for k, v in context.items()}),
        feature_lists=tf.train.FeatureLists(feature_list={
            k: tf.train.FeatureList(feature=[feature(step) for step in v]) for k, v in lists.items()})).SerializeToString()


SEQUENCES = [sequence_example({"a": [1, 2], "s": [b"x", b"yy"]}, {"t": [[1], [2], [3]], "v": [[1.0, 2.0], [3.0, 4.0]],
                                                                  "w": [[b"a"], [b"b", b"c"]]}),
             sequence_example({"a": [3, 4], "b": [0.5]}, {"t": [[7]], "v": [], "w": [[b"z", b"", b"q"]]})]
SHAPES = dict(context_sparse_types=[STR], context_dense_shapes=[[2], []], feature_list_sparse_types=[STR],
              feature_list_dense_types=[I64, F32], feature_list_dense_shapes=[[], [2]])


def sequences(serialized, missing=("t", "v"), **config):
    defaults = [required(I64), np.float32(9)]
    return raw.ParseSequenceExample(
        serialized=serialized, debug_name=tf.constant([], STR), feature_list_dense_missing_assumed_empty=list(missing),
        context_sparse_keys=["s"], context_dense_keys=["a", "b"], feature_list_sparse_keys=["w"], feature_list_dense_keys=["t", "v"],
        context_dense_defaults=[tf.constant(d) for d in defaults], Ncontext_sparse=1, Ncontext_dense=2, Nfeature_list_sparse=1,
        Nfeature_list_dense=2, **{**SHAPES, **config})


def one_sequence(serialized, missing=("t", "v"), **config):
    defaults = [required(I64), np.float32(9)]
    return raw.ParseSingleSequenceExample(
        serialized=serialized, feature_list_dense_missing_assumed_empty=tf.constant(list(missing), STR), context_sparse_keys=["s"],
        context_dense_keys=["a", "b"], feature_list_sparse_keys=["w"], feature_list_dense_keys=["t", "v"],
        context_dense_defaults=[tf.constant(d) for d in defaults], debug_name="", **{**SHAPES, **config})


def sequences_v2(serialized, missing=(True, True), **config):
    defaults = [required(I64), np.float32(9)]
    return raw.ParseSequenceExampleV2(
        serialized=serialized, debug_name=tf.constant([], STR), context_sparse_keys=tf.constant(["s"]),
        context_dense_keys=tf.constant(["a", "b"]), context_ragged_keys=tf.constant(["r"]), feature_list_sparse_keys=tf.constant(["w"]),
        feature_list_dense_keys=tf.constant(["t", "v"]), feature_list_ragged_keys=tf.constant(["x"]),
        feature_list_dense_missing_assumed_empty=tf.constant(list(missing)), context_dense_defaults=[tf.constant(d) for d in defaults],
        Ncontext_sparse=1, Nfeature_list_sparse=1, Nfeature_list_dense=2, context_ragged_value_types=[I64],
        context_ragged_split_types=[tf.int32], feature_list_ragged_value_types=[F32], feature_list_ragged_split_types=[I64],
        **{**SHAPES, **config})


def test_sequences():
    check(sequences, SEQUENCES)
    for one in SEQUENCES:
        check(one_sequence, one)
    with_ragged = [sequence_example({"a": [1, 2], "r": [5, 6]}, {"t": [[1]], "x": [[0.5], [1.5, 2.5]]}),
                   sequence_example({"a": [3, 4]}, {"x": [[3.5]], "v": [[1.0, 2.0]]})]
    check(sequences_v2, with_ragged)


@pytest.mark.parametrize("op,given", [(sequences, SEQUENCES), (one_sequence, SEQUENCES[0])])
def test_errors_of_sequences(op, given):
    check_error(op, given, "", context_sparse_types=[F32])
    check_error(op, given, "", feature_list_dense_shapes=[[2], [2]])
    broken = [b"zz"] * 2 if isinstance(given, list) else b"zz"
    check_error(op, broken, "")
    absent = sequence_example({"a": [1, 2]}, {})
    check_error(op, [absent] if isinstance(given, list) else absent, "could not be found", missing=("t",))
