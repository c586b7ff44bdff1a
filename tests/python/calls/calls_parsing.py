"""SequenceExamples and Examples with sparse, ragged and sequence features."""
from calls_ragged import raised, values
from machine import case


def feature(tf, *items):
    if items and isinstance(items[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=items))
    if items and isinstance(items[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=items))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=items))


def sequence(tf, context, lists):
    of_lists = tf.train.FeatureLists(feature_list={k: tf.train.FeatureList(feature=v) for k, v in lists.items()})
    return tf.train.SequenceExample(context=tf.train.Features(feature=context), feature_lists=of_lists).SerializeToString()


def example(tf, **features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def two(tf):
    empty = tf.train.Feature(bytes_list=tf.train.BytesList(value=[]))
    a = sequence(tf, {"len": feature(tf, 3), "name": feature(tf, b"x", b"y")}, {
        "tok": [feature(tf, 1), feature(tf, 2), feature(tf, 3)], "vec": [feature(tf, 1.0, 2.0), feature(tf, 3.0, 4.0)],
        "bag": [feature(tf, b"a"), empty, feature(tf, b"b", b"c")]})
    b = sequence(tf, {"len": feature(tf, 1)}, {"tok": [feature(tf, 9)], "vec": [], "bag": [feature(tf, b"z")]})
    return a, b


def flat(parsed):
    return [d[k] for d in parsed for k in sorted(d)]


def run_error(tf, make):
    with tf.Graph().as_default(), tf.Session() as session:
        return raised(lambda: session.run(make()))


@case(nodes=False)
def sequence_examples(tf):
    a, b = two(tf)
    context = {"len": tf.FixedLenFeature([], tf.int64), "name": tf.VarLenFeature(tf.string),
               "opt": tf.FixedLenFeature([2], tf.float32, default_value=[5.0, 6.0])}
    lists = {"tok": tf.FixedLenSequenceFeature([], tf.int64), "vec": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
             "bag": tf.VarLenFeature(tf.string), "none": tf.FixedLenSequenceFeature([], tf.float32, allow_missing=True)}
    ragged = {"bag": tf.io.RaggedFeature(tf.string), "tok": tf.io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)}
    single = tf.io.parse_single_sequence_example(a, context, lists, example_name="n")
    many = tf.io.parse_sequence_example([a, b], context_features=context, sequence_features=lists, example_names=["p", "q"])
    return values(tf, flat(single) + flat(many) + flat(tf.parse_single_sequence_example(b, context, lists)) + flat(
        tf.io.parse_sequence_example([a, b], {"name": tf.io.RaggedFeature(tf.string)}, ragged)) + flat(
        tf.io.parse_single_sequence_example(a, {"name": tf.io.RaggedFeature(tf.string)}, {"bag": tf.io.RaggedFeature(tf.string)})))


@case(nodes=False)
def sequence_errors(tf):
    a, _ = two(tf)
    parse = tf.io.parse_single_sequence_example
    return [run_error(tf, lambda c=c, s=s: parse(a, c, s)) for c, s in (
        ({"len": tf.FixedLenFeature([], tf.float32)}, {}), ({"zz": tf.FixedLenFeature([], tf.float32)}, {}),
        ({"len": tf.FixedLenFeature([2], tf.int64)}, {}), ({}, {"zz": tf.FixedLenSequenceFeature([], tf.float32)}),
        ({}, {"vec": tf.FixedLenSequenceFeature([3], tf.float32)}), ({}, {"tok": tf.FixedLenSequenceFeature([], tf.float32)}))] + [
        run_error(tf, lambda: parse(b"zz", {}, {"tok": tf.FixedLenSequenceFeature([], tf.float32)})), raised(parse, a)]


@case(nodes=False)
def example_features(tf):
    a = example(tf, at=feature(tf, 1, 4), v=feature(tf, 0.5, 1.5), w=feature(tf, 7, 8, 9), n=feature(tf, 2, 1))
    b = example(tf, at=feature(tf, 0), v=feature(tf, 2.5), w=feature(tf, 3), n=feature(tf, 1))
    sparse = tf.SparseFeature("at", "v", tf.float32, 6)
    rows = tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)
    both = {"s": sparse, "w": rows, "r": tf.io.RaggedFeature(tf.int64, value_key="w")}
    single = {"parts": tf.io.RaggedFeature(tf.int64, "w", [tf.io.RaggedFeature.RowLengths("n")]), "s": sparse}
    return values(tf, [tf.io.parse_example([a, b], {"s": sparse})["s"], tf.io.parse_example([a, b], {"w": rows})["w"],
                       tf.io.parse_example([a, b], {"r": both["r"]})["r"], tf.parse_single_example(a, single)["parts"],
                       tf.io.parse_single_example(a, {"s": sparse})["s"]])
