"""Ops of input that few programs use: options of a pipeline, stored windows, composite variants, random records."""
import numpy as np
import pytest
from tensorflow.core.framework import dataset_options_pb2

from both import oracle, weft as ours
from test_data_ops import built, first_error, number


def same(run, *args):
    a, b = (first_error(tf, lambda tf=tf: run(tf, *args)) for tf in (ours, oracle))
    assert a == b


def values(tf, make):
    with tf.Graph().as_default():
        made, config = make(), tf.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True  # which folds data sets that it cannot store
        with tf.Session(config=config) as sess:
            found = sess.run(made)
    return [np.asarray(f).tolist() for f in found]


def options(tf, how):
    """How many options data sets there are: the second changes one option of the first and adds one."""
    def make():
        dataset = tf.data.Dataset.range(3)
        for text in (b"\x08\x01*\x02\x10\x03", b"\x08\x00*\x02\x08\x05")[:how]:  # deterministic, threading_options
            dataset = built(tf, "OptionsDataset", number(tf), input_dataset=dataset._variant_tensor, serialized_options=text)
            dataset = dataset.map(lambda x: x + 1)
        return [tf.raw_ops.GetOptions(input_dataset=dataset._variant_tensor), dataset.reduce(np.int64(0), lambda a, b: a * 10 + b)]
    return values(tf, make)


@pytest.mark.parametrize("how", [0, 1, 2])
def test_options_of_a_pipeline(how):
    """The texts of two may differ, since protobuf merges messages that follow one another."""
    a, b = (options(tf, how) for tf in (ours, oracle))
    assert a[1] == b[1]
    a, b = (dataset_options_pb2.Options.FromString(x[0]) for x in (a, b))
    for field in ("private_threadpool_size", "max_intra_op_parallelism"):
        assert getattr(a.threading_options, field) == getattr(b.threading_options, field)
    assert a.deterministic == b.deterministic


def window(tf, spread):
    def make():
        zero = tf.random_uniform([], 0, 1, tf.int64)  # constants would be folded, and the data set with them
        given = [zero + i for i in (1, 2, 3, 4)]
        specs = [number(tf)] * (2 if spread else 1)
        dataset = built(tf, "WindowOp", *specs, inputs=given)
        if spread:
            dataset = dataset.map(lambda x, y: 10 * x + y)
        return [dataset.reduce(np.int64(0), lambda a, b: a * 100 + b)]
    return values(tf, make)


@pytest.mark.parametrize("spread", [False, True])
def test_windows_of_given_elements(spread):
    same(window, spread)


def metadata(kind):
    return bytes([10, 2, 8, kind])  # type_spec_proto { type_spec_class: kind }


def composite(tf, first, second, types):
    def make():
        held = tf.raw_ops.CompositeTensorVariantFromComponents(components=[tf.constant([1, 2]), tf.constant("a")], metadata=first)
        assert held.shape.as_list() == []
        return tf.raw_ops.CompositeTensorVariantToComponents(encoded=held, metadata=second, Tcomponents=[getattr(tf, t) for t in types])
    return values(tf, make)


@pytest.mark.parametrize("first,second,types", [
    (b"", b"", ["int32", "string"]), (metadata(1), metadata(1), ["int32", "string"]), (metadata(1), metadata(2), ["int32", "string"]),
    (metadata(1), metadata(1), ["int32"]), (metadata(1), metadata(1), ["int32", "int32"])])
def test_composite_tensors(first, second, types):
    same(composite, first, second, types)


def composite_gradient(tf):
    def make():
        x, y = tf.placeholder_with_default([1.0, 2.0], [2]), tf.placeholder_with_default(3.0, [])
        held = tf.raw_ops.CompositeTensorVariantFromComponents(components=[x, y], metadata=metadata(1))
        a, b = tf.raw_ops.CompositeTensorVariantToComponents(encoded=held, metadata=metadata(1), Tcomponents=[tf.float32] * 2)
        return tf.gradients(a * a * b, [x, y])
    return values(tf, make)


def test_gradients_of_composite_tensors():
    same(composite_gradient)


def write(tf, folder, files, packed=False):
    for i in range(files):
        options = tf.io.TFRecordOptions(tf.io.TFRecordCompressionType.GZIP if packed else tf.io.TFRecordCompressionType.NONE)
        with tf.io.TFRecordWriter(str(folder / ("%d.rec" % i)), options) as out:
            for j in range(5):
                out.write(b"%d-%d" % (i, j))


def epoch(tf, folder, **given):
    """The first epoch of records, sorted; the rest is in an order of its own."""
    with tf.Graph().as_default():
        batch = tf.raw_ops.RecordInput(file_pattern=str(folder / "*.rec"), batch_size=5, **given)
        with tf.Session() as sess:
            drawn = [sess.run(batch).tolist() for _ in range(6)]
    return [sorted(sum(drawn[:3], [])), sorted(sum(drawn[3:], []))], drawn


@pytest.mark.parametrize("packed", [False, True])
def test_every_epoch_has_all_records(tmp_path, packed):
    write(oracle, tmp_path, 3, packed)
    given = {"compression_type": "GZIP"} if packed else {}
    found, drawn = epoch(ours, tmp_path, **given)
    assert found == epoch(oracle, tmp_path, file_parallelism=1, file_buffer_size=1, **given)[0]
    assert drawn[:3] != drawn[3:]
    again = epoch(ours, tmp_path, file_random_seed=7, file_buffer_size=2, file_shuffle_shift_ratio=.4, **given)
    assert again[0] == found and again[1] != drawn


def test_records_that_are_not_there(tmp_path):
    same(lambda tf: epoch(tf, tmp_path))
    if tmp_path:
        (tmp_path / "0.rec").write_bytes(b"no record at all, but some text")
        with pytest.raises(ours.errors.DataLossError):
            epoch(ours, tmp_path)
