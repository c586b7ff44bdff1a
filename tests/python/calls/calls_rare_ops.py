"""Ops that few programs use: fractional pooling, learned samplers, packed strings."""
import gzip
import zlib

import numpy as np

from machine import case

R = np.random.RandomState(18)
IMAGE = R.randn(2, 9, 11, 2).astype(np.float32)


@case(nodes=False)
def fractional_pools(tf):
    """Run, since TensorFlow's shape rule gives the sequences one element too few."""
    fixed = dict(deterministic=True, seed=3, seed2=4)
    made = [pool(IMAGE, [1.0, 1.44, 1.73, 1.0], pseudo, overlapping, **fixed)
            for pool in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool) for pseudo in (False, True) for overlapping in (False, True)]
    unknown = tf.placeholder_with_default(IMAGE, [None, None, 11, None])
    some = tf.nn.fractional_max_pool(unknown, [1.0, 2.2, 1.0, 1.0], name="some", deterministic=True, seed=3, seed2=4)[0]
    means = tf.nn.fractional_avg_pool(unknown, [1.0, 2.2, 1.0, 1.0], deterministic=True, seed=3, seed2=4)[0]
    with tf.Session() as sess:
        return [some, sess.run([*made, some, means])]


@case(nodes=False)
def fractional_gradients(tf):
    x = tf.constant(IMAGE)
    fixed = dict(deterministic=True, seed=3, seed2=4)
    pools = [pool(x, [1.0, 1.44, 1.73, 1.0], True, overlapping, **fixed)[0]
             for pool in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool) for overlapping in (False, True)]
    with tf.Session() as sess:
        return sess.run([tf.gradients(tf.square(y), x) for y in pools])


@case(nodes=False)
def learned_classes(tf):
    true = tf.placeholder(tf.int64, [None, 2])
    drawn = tf.nn.learned_unigram_candidate_sampler(true, 2, 6, False, 8, seed=1)
    unique = tf.random.learned_unigram_candidate_sampler(true, 2, 4, True, 8, seed=2)
    old = tf.raw_ops.ThreadUnsafeUnigramCandidateSampler(true_classes=true, num_true=2, num_sampled=5, unique=False,
                                                         range_max=8, seed=1, seed2=2)
    with tf.Session() as sess:
        return [sess.run(fetched, {true: [[1, 2], [i, 7]]}) for i in range(4) for fetched in (drawn, [drawn[0], unique], list(old))]


@case
def packed_strings(tf):
    text = b"text " * 50
    return [tf.decode_compressed([b"a", b"b"]), tf.io.decode_compressed([[zlib.compress(text), b""]], compression_type="ZLIB"),
            tf.io.decode_compressed(gzip.compress(text, mtime=0), "GZIP", name="packed"),
            tf.io.decode_compressed(zlib.compress(bytes(range(256)) * 4)[:60], "ZLIB")]


def feature(kind, values):
    return '{"features": {"feature": {"a": {"%s": {"value": %s}}}}}' % (kind, values)


@case
def examples_of_json(tf):
    both = """{"features": {"feature": {"b": {"int64List": {"value": ["1", -2, "9007199254740993"]}},
        "a": {"float_list": {"value": [1.5, "NaN", "-Infinity", 2, "0.25"]}}, "d": {}, "e": {"int64_list": {"value": []}},
        "c": {"bytesList": {"value": ["aGk=", "aGk", "_-8=", ""]}}}}}"""
    return [tf.decode_json_example([[both, "{}"]]), tf.io.decode_json_example('{"features": {}}', name="one"),
            tf.decode_json_example('{"features": null}'), tf.decode_json_example('{"features": {"feature": {}}}')]


@case(nodes=False)
def what_is_no_example_of_json(tf):
    texts = ["[]", "", "bad", '{"foo": 1}', '{"features": 3}', '{"features": {"feature": {"a": {"other": {}}}}}',
             feature("int64List", '["x"]'), feature("int64List", "[1.5]"),
             feature("floatList", '["1x"]'), feature("bytesList", '["%%"]'), feature("floatList", "3")]
    said, given = [], tf.placeholder(tf.string)
    with tf.Session() as sess:
        for text in texts:
            try:
                said.append(sess.run(tf.decode_json_example(given), {given: text}))
            except tf.errors.InvalidArgumentError:
                said.append("refused")
    return said


@case(tolerance=1e-5)
def padded_convolutions(tf):
    image, filters = IMAGE[:1], R.randn(3, 2, 2, 3).astype(np.float32)
    pads, more = [[0, 0], [1, 2], [2, 1], [0, 0]], dict(mode="REFLECT", strides=[1, 2, 2, 1])
    some = tf.placeholder_with_default(image, [None, None, 11, 2])
    fused, resized = tf.raw_ops.FusedPadConv2D, tf.raw_ops.FusedResizeAndPadConv2D
    return [fused(input=image, paddings=pads, filter=filters, padding="VALID", **more),
            fused(input=some, paddings=pads, filter=filters, padding="SAME", **more),
            resized(input=image, size=[5, 20], paddings=pads, filter=filters, padding="SAME", **more),
            resized(input=some, size=[12, 6], paddings=pads, filter=filters, padding="VALID", resize_align_corners=True, **more)]
