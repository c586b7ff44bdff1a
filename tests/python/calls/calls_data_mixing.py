"""tf.data: data sets mixed, counted, reduced by key and read from CSV files and Examples."""
import numpy as np

from machine import case


def drained(tf, dataset):
    one, seen = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as sess:
        try:
            while len(seen) < 300:
                seen.append(sess.run(one))
        except tf.errors.OutOfRangeError:
            return seen
    return "no end"


def said(tf, make):
    """The class of the error that making or reading the data set gives, or its elements."""
    try:
        return drained(tf, make())
    except Exception as e:
        return type(e).__name__


@case(nodes=False)
def sampled(tf):
    tf.set_random_seed(7)
    data, sample = tf.data.Dataset, tf.data.experimental.sample_from_datasets
    three = [data.range(3), data.range(10, 13), data.range(20, 22)]
    weights = data.from_tensors([.1, .9]).repeat()
    return [drained(tf, sample(three[:2], [.5, .5], seed=3)), drained(tf, sample(three, seed=2)),
            drained(tf, sample(three, [.6, .2, .2], seed=5, stop_on_empty_dataset=True)),
            drained(tf, sample(three[:2], weights, seed=5)), drained(tf, sample(three[:1], seed=1)),
            said(tf, lambda: sample(three, [.5])), said(tf, lambda: sample([])),
            said(tf, lambda: sample([data.range(2), data.from_tensors(1.)])),
            drained(tf, data.sample_from_datasets(three, seed=4))]


@case(nodes=False)
def resampled(tf):
    more = tf.data.experimental
    data = tf.data.Dataset.range(3000).map(lambda x: tf.cast(x % 3, tf.int32))
    shares = []
    for initial in ([1 / 3.] * 3, None):
        one = data.apply(more.rejection_resample(lambda x: x, [.2, .2, .6], initial, seed=1)).batch(
            3000).make_one_shot_iterator().get_next()
        with tf.Session() as sess:
            classes, elements = sess.run(one)
        share = [float((classes == i).mean()) for i in range(3)]
        shares += [all(abs(s - t) < .06 for s, t in zip(share, [.2, .2, .6])), bool((classes == elements).all())]
    return shares


@case(nodes=False)
def chosen(tf):
    data, choose = tf.data.Dataset, tf.data.experimental.choose_from_datasets
    turns = data.from_tensor_slices(tf.constant([0, 1, 1, 0, 0, 0, 1], tf.int64))
    two = [data.range(2), data.range(10, 13)]
    pairs = [data.range(2).map(lambda x: {"a": x, "b": (x, 2 * x)}) for _ in two]
    return [drained(tf, choose(two, turns)), drained(tf, choose(two, turns, stop_on_empty_dataset=True)),
            drained(tf, choose(pairs, turns)), drained(tf, data.choose_from_datasets(two, turns)),
            said(tf, lambda: choose(two, data.from_tensors(0))), said(tf, lambda: choose([], turns)),
            said(tf, lambda: choose(two, data.from_tensors(tf.constant(4, tf.int64))))]


@case(nodes=False)
def random_and_unique(tf):
    tf.set_random_seed(7)
    more = tf.data.experimental
    slices = tf.data.Dataset.from_tensor_slices
    return [drained(tf, more.RandomDataset(seed=3).take(6)), drained(tf, slices([1, 1, 2, 3, 2]).apply(more.unique())),
            drained(tf, slices(["a", "b", "a", ""]).apply(more.unique())), said(tf, lambda: slices([1., 2.]).apply(
                more.unique())), drained(tf, tf.data.Dataset.range(200).map(lambda x: x % 97).unique())]


@case(nodes=False)
def cardinalities(tf):
    data, more = tf.data.Dataset, tf.data.experimental
    five = data.range(5)
    sets = [five, five.repeat(), five.repeat(2).take(7).skip(2).batch(2), five.filter(lambda x: x > 1),
            five.map(lambda x: x), data.range(7).shard(3, 1), data.zip((data.range(3), five.repeat())),
            data.range(7).window(3, 2, 1, True), data.range(7).window(3, 2), five.concatenate(data.range(2)),
            five.flat_map(data.from_tensors), five.shuffle(2).prefetch(1).cache(), more.RandomDataset(1),
            five.padded_batch(2, []), five.enumerate(), five.apply(more.assert_cardinality(9)), five.take(-1),
            data.range(6).batch(4, drop_remainder=True), five.apply(more.scan(0, lambda s, x: (s, x))),
            five.apply(more.shuffle_and_repeat(2, 3)), five.apply(more.map_and_batch(lambda x: x, 4)),
            data.range(10, 0, -3), five.skip(9), five.skip(-1), data.from_tensor_slices([1, 2]), five.repeat(0)]
    with tf.Session() as sess:
        counts = sess.run([more.cardinality(s) for s in sets])
    return [counts, tf.data.experimental.INFINITE_CARDINALITY, tf.data.experimental.UNKNOWN_CARDINALITY,
            said(tf, lambda: five.apply(more.assert_cardinality(9))), drained(tf, five.apply(more.assert_cardinality(5))),
            said(tf, lambda: five.apply(more.assert_cardinality(3)))]


@case(nodes=False)
def reduced(tf):
    more = tf.data.experimental
    sums = more.Reducer(lambda key: (tf.constant(0, tf.int64), key), lambda s, x: (s[0] + x, s[1]),
                        lambda s, key: {"key": key, "sum": s * 10})
    return [drained(tf, tf.data.Dataset.range(100).apply(more.group_by_reducer(lambda x: x % 40, sums))),
            said(tf, lambda: tf.data.Dataset.range(4).apply(more.group_by_reducer(lambda x: 1.0, sums)))]


def write(name, text):
    with open(name, "w", newline="") as out:
        out.write(text)
    return name


@case(nodes=False)
def csv_files(tf):
    csv, whole, text = tf.data.experimental.CsvDataset, tf.int32, tf.string
    found = [drained(tf, csv(write("a", 'h,i,j\n1,2.5,x\n3,4.5,"y\nz"\n5,,"q""q"\n'), [
        whole, tf.constant([9.], tf.float32), text], header=True))]
    for name, (content, kinds, given) in enumerate((
            ("1,2\r\n3,4", [whole, whole], {}), ("1\n\n2", [[7]], {}), ("1,2,3\n4,5,6", [whole, whole], {
                "select_cols": [0, 2]}), ("NA;2\n", [[5], tf.int64], {"na_value": "NA", "field_delim": ";"}),
            ("1,2\n", [whole, whole], {"select_cols": [0, 3]}), ("1,2\r3,4", [tf.float64, text], {}),
            ("1,x\n", [whole, whole], {}), ("1,\n", [whole, whole], {}), ('a"b,c\n', [text, text], {}),
            ('"a,c\n', [text, text], {}), ('a"b,"c\n', [text, text], {"use_quote_delim": False}), ("", [whole], {}))):
        path = write("b%d" % name, content)
        found.append(said(tf, lambda p=path, k=kinds, g=given: csv(p, k, **g)))
    return found + [said(tf, lambda: csv(["absent"], [whole])), drained(tf, csv(["b0", "b3"], [text, text]).take(1))]


@case(nodes=False)
def files_that_are_not_compressed(tf):
    name = write("plain", "1,2\n3,4\n")
    return [said(tf, lambda: tf.data.TextLineDataset(name, compression_type="GZIP")),
            said(tf, lambda: tf.data.experimental.CsvDataset(name, [[1], [2]], compression_type="GZIP")),
            said(tf, lambda: tf.data.TFRecordDataset(name, compression_type="GZIP")),
            said(tf, lambda: tf.data.TextLineDataset(name, compression_type="ZLIB"))]


@case(nodes=False)
def csv_batches(tf):
    make = tf.data.experimental.make_csv_dataset
    write("p", "a,b,c,d\n1,2.5,x,\n3,4.5,y,9999999999\n5,,z,1\n")
    write("q", "a,b,c,d\n7,1.5,w,2\n")
    plain = make("p", 2, label_name="c", shuffle=False, num_epochs=1)
    return [drained(tf, plain), plain.output_types, drained(tf, make(["p", "q"], 2, num_epochs=2, shuffle=False)),
            drained(tf, make("q", 1, ["u", "v", "w", "x"], [tf.float32, tf.float32], header=True, num_epochs=1,
                             shuffle=False, select_columns=["u", "v"])),
            len(drained(tf, make("[pq]", 2, shuffle=True, num_epochs=3, shuffle_seed=1))),
            said(tf, lambda: make("absent", 2)), said(tf, lambda: make("p", 2, label_name="e")),
            said(tf, lambda: make("p", 2, header=False))]


@case(nodes=False)
def example_batches(tf):
    with tf.python_io.TFRecordWriter("e") as out:
        for i in range(5):
            out.write(tf.train.Example(features=tf.train.Features(feature={
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + .5])),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))})).SerializeToString())
    spec = {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.FixedLenFeature([], tf.int64)}
    make = tf.data.experimental.make_batched_features_dataset
    return [drained(tf, make("e", 2, spec, label_key="y", num_epochs=1, shuffle=False)),
            drained(tf, make("e", 2, spec, num_epochs=1, shuffle=False, drop_final_batch=True)),
            len(drained(tf, make(["e"], 3, spec, num_epochs=2, shuffle_seed=2))),
            said(tf, lambda: make("e", 2, spec, label_key="z"))]


@case(nodes=False)
def limits_of_data_sets(tf):
    """Sizes and numbers of calls that a data set takes, and what it says of others."""
    made = tf.data.Dataset.range

    def first(data):
        step = tf.data.make_initializable_iterator(data)
        out = step.get_next()
        with tf.Session() as sess:
            try:
                sess.run(step.initializer)
                return int(np.sum(sess.run(out)))
            except tf.errors.InvalidArgumentError as e:
                return [line for line in str(e).split("\n") if "must" in line][0].split("must")[1].split("\t")[0]

    calls = [(1, 2), (2, 2), (2, 0), (2, -2), (0, 1), (2, -1), (4, 3), (-2, None), (0, None)]
    sizes = (0, -1, -2)
    return ([first(made(3).interleave(lambda x: tf.data.Dataset.from_tensors(x), c, num_parallel_calls=n)) for c, n in calls],
            [first(made(3).interleave(lambda x: tf.data.Dataset.from_tensors(x), 1, n)) for n in sizes],
            [first(made(3).map(lambda x: x, num_parallel_calls=n)) for n in (0, -2, -1, 3)],
            [first(made(3).batch(n)) for n in sizes], [first(made(1).shuffle(n, seed=1)) for n in sizes],
            [first(made(3).window(2, n).flat_map(lambda w: w)) for n in sizes])
