"""Sparse, ragged and optional values as elements of data sets: the same as TensorFlow's from the same program."""
import re

import numpy as np
import pytest

from both import oracle, outcome, weft as ours

PROGRAMS = {}


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


def sparse(tf):
    return tf.SparseTensor([[0, 0], [1, 2], [3, 1]], [1.0, 2.0, 3.0], [4, 4])


def words(tf):
    return tf.SparseTensor([[0, 0, 1], [0, 1, 0], [2, 1, 1]], [b"a", b"b", b"c"], [3, 2, 2])


def ragged(tf):
    return tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]])


def deep(tf):
    return tf.ragged.constant([[[1.0], [2.0, 3.0]], [], [[4.0, 5.0, 6.0], []]], row_splits_dtype=tf.int32)


def plain(value):
    """A fetched value without the classes of either system."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "dense_shape"):
        return "sparse", plain(value.indices), plain(value.values), plain(value.dense_shape)
    if hasattr(value, "nested_row_splits"):
        return "ragged", [plain(s) for s in value.nested_row_splits], plain(value.flat_values)
    if isinstance(value, (tuple, list)):
        return tuple(plain(v) for v in value)
    return str(np.asarray(value).dtype), np.asarray(value).shape, np.asarray(value).tolist()


def drained(tf, dataset, sess=None, **feeds):
    """All elements, or the error at the end of them."""
    one, seen = tf.data.make_one_shot_iterator(dataset).get_next(), []
    with tf.Session() as sess:
        while True:
            try:
                seen.append(plain(sess.run(one)))
            except tf.errors.OutOfRangeError:
                return seen
            except tf.errors.OpError as e:
                return seen + [type(e).__name__]


def described(tf, dataset):
    """What a data set says of its elements, in words that are the same in both systems."""
    text = " ".join(str(part) for part in (dataset.element_spec, tf.data.get_output_types(dataset),
                                           tf.data.get_output_shapes(dataset), tf.data.get_output_classes(dataset)))
    return re.sub(r"<class '[\w.]*?(\w+)'>", r"\1", text)


def both_of(tf, dataset):
    return described(tf, dataset), drained(tf, dataset)


@program
def whole(tf):
    data = tf.data.Dataset.from_tensors
    return [both_of(tf, data(v)) for v in (sparse(tf), words(tf), ragged(tf), deep(tf), {
        "s": sparse(tf), "r": (ragged(tf), 3)}, tf.SparseTensorValue([[0]], np.float32([1]), [3]))] + [
            described(tf, data((sparse(tf), None))), drained(tf, data((sparse(tf), None)).map(lambda s, none: (s, none is None)))]


@program
def rows(tf):
    data = tf.data.Dataset.from_tensor_slices
    return [both_of(tf, data(v)) for v in (sparse(tf), words(tf), ragged(tf), deep(tf), (sparse(tf), ragged(tf), np.arange(4)))]


@program
def rows_as_triples(tf):
    data = tf.data.Dataset.from_sparse_tensor_slices
    unsorted = tf.SparseTensor([[1, 0], [0, 0]], [1, 2], [2, 2])
    return [both_of(tf, data(sparse(tf))), both_of(tf, data(words(tf))), drained(tf, data(unsorted)), outcome(lambda: data(3))]


@program
def batches(tf):
    data = tf.data.Dataset.from_tensor_slices
    made = [data(sparse(tf)).batch(3), data(words(tf)).batch(2, drop_remainder=True), data(ragged(tf)).batch(3),
            data(deep(tf)).batch(2), data(ragged(tf)).batch(2).batch(2), data(sparse(tf)).batch(2).batch(2),
            data((sparse(tf), ragged(tf))).batch(2).unbatch(), data(sparse(tf)).batch(2).rebatch(3)]
    return [both_of(tf, d) for d in made[:-1]] + [drained(tf, made[-1])]


@program
def maps(tf):
    numbers = tf.data.Dataset.range(3)
    to_sparse = numbers.map(lambda i: tf.SparseTensor([[0, i]], [tf.cast(i, tf.float32)], [2, i + 1]))
    to_ragged = numbers.map(lambda i: tf.RaggedTensor.from_row_lengths(tf.range(2 * i), [i, i]))
    return [both_of(tf, d) for d in (
        to_sparse, to_sparse.batch(2), to_ragged, to_ragged.batch(2), to_sparse.map(tf.sparse_tensor_to_dense),
        to_ragged.map(lambda r: r.to_tensor()), to_ragged.map(lambda r: (r, r + 1)),
        tf.data.Dataset.from_tensor_slices(sparse(tf)).map(lambda s: s * 2.0))] + [described(tf, numbers.map(lambda i: (i, None)))]


@program
def chosen(tf):
    data = tf.data.Dataset.from_tensor_slices(sparse(tf))
    full = data.filter(lambda s: tf.size(s.values) > 0)
    return [both_of(tf, full), drained(tf, data.take_while(lambda s: tf.size(s.values) > 0)), drained(tf, data.skip(3).repeat(2)),
            drained(tf, data.shuffle(4, seed=3)), drained(tf, data.cache().prefetch(2)), drained(tf, data.concatenate(full)),
            outcome(lambda: data.padded_batch(2)), outcome(lambda: data.filter(lambda s: s)),
            outcome(lambda: data.concatenate(tf.data.Dataset.from_tensors([1.0]))),
            outcome(lambda: data.unique())]


@program
def several(tf):
    s, r = tf.data.Dataset.from_tensor_slices(sparse(tf)), tf.data.Dataset.from_tensor_slices(ragged(tf))
    return [both_of(tf, tf.data.Dataset.zip({"s": s, "r": r})),
            drained(tf, s.flat_map(lambda x: tf.data.Dataset.from_tensors(x).repeat(2))),
            drained(tf, s.interleave(lambda x: tf.data.Dataset.from_tensors((x, 1)), cycle_length=2)),
            described(tf, s.window(2)), described(tf, tf.data.Dataset.zip((s, r)).window(2)),
            both_of(tf, s.window(2).flat_map(lambda w: w.batch(2))), both_of(tf, r.window(3).flat_map(lambda w: w)),
            both_of(tf, s.apply(tf.data.experimental.map_and_batch(lambda x: x, 2))),
            both_of(tf, r.apply(tf.data.experimental.group_by_window(
                lambda x: tf.cast(tf.size(x) > 0, tf.int64), lambda k, d: d.batch(2), 2)))]


@program
def states(tf):
    numbers = tf.data.Dataset.range(4)
    reduced = numbers.reduce(sparse(tf), lambda s, i: tf.sparse_add(s, s))
    counted = numbers.apply(tf.data.experimental.scan(sparse(tf), lambda s, i: (tf.sparse_add(s, s), tf.sparse_reduce_sum(s))))
    with tf.Session() as sess:
        return plain(sess.run(reduced)), drained(tf, counted), plain(sess.run(tf.data.experimental.get_single_element(
            tf.data.Dataset.from_tensors(sparse(tf)))))


@program
def growing_states(tf):
    numbers, seen = tf.data.Dataset.range(3), []
    scan = tf.data.experimental.scan
    one = tf.SparseTensor([[0]], [1], [2])
    seen += [both_of(tf, numbers.apply(scan(tf.constant([1]), lambda s, x: (tf.concat([s, [1]], 0), s)))),
             both_of(tf, numbers.apply(scan(one, lambda s, x: (tf.sparse_concat(0, [s, s]), s)))),
             both_of(tf, numbers.apply(scan(1, lambda s, x: [s, x])))]
    for first, step in ((tf.constant([1]), lambda s, x: tf.concat([s, [1]], 0)), (tf.constant(1), lambda s, x: s + 1),
                        (tf.constant(1), lambda s, x: x), (tf.constant(1), lambda s, x: tf.SparseTensor([[0]], [1], [2]))):
        seen.append(outcome(lambda: str(numbers.reduce(first, step).shape)).split("Expected")[0])
    reducer = tf.data.experimental.Reducer(lambda key: tf.constant([0]), lambda s, x: tf.concat([s, [1]], 0), lambda s: s)
    return seen + [outcome(lambda: numbers.apply(scan(1, lambda s, x: (x, s)))), outcome(lambda: numbers.apply(scan(1, lambda s, x: s))),
                   both_of(tf, numbers.apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, reducer)))]


@program
def dense_batches(tf):
    lists = tf.data.Dataset.range(4).map(lambda i: tf.fill([i], i))
    to_sparse, to_ragged = tf.data.experimental.dense_to_sparse_batch, tf.data.experimental.dense_to_ragged_batch
    return [both_of(tf, lists.apply(to_sparse(3, [None]))), both_of(tf, lists.apply(to_sparse(2, [4]))),
            drained(tf, lists.apply(to_sparse(4, [2]))), both_of(tf, lists.apply(to_ragged(3))),
            both_of(tf, lists.apply(to_ragged(2, True, tf.int32))), both_of(tf, lists.ragged_batch(2)),
            drained(tf, lists.sparse_batch(2, [5])),
            outcome(lambda: tf.data.Dataset.zip((lists, lists)).apply(to_sparse(2, [4]))),
            drained(tf, lists.map(lambda x: tf.stack([x, x])).apply(to_ragged(2)))]


@program
def examples(tf):
    def example(values):
        feature = {"v": tf.train.Feature(int64_list=tf.train.Int64List(value=values))}
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    features = {"v": tf.VarLenFeature(tf.int64)}
    data = tf.data.Dataset.from_tensor_slices([example([1, 2]), example([]), example([3])])
    single = data.map(lambda e: tf.parse_single_example(e, features))
    grouped = data.batch(2).map(lambda e: tf.parse_example(e, features))
    return [both_of(tf, single), both_of(tf, single.batch(2)), both_of(tf, grouped),
            drained(tf, grouped.map(lambda f: tf.sparse_tensor_to_dense(f["v"], -1)))]


@program
def iterators(tf):
    first = tf.data.Dataset.from_tensor_slices(sparse(tf))
    fed = tf.sparse_placeholder(tf.float32)
    second = tf.data.Dataset.from_tensors(fed)
    mine = tf.data.make_initializable_iterator(second)
    again = tf.data.Iterator.from_structure(tf.float32, tf.TensorShape([4]), output_classes=tf.SparseTensor)
    handle = tf.placeholder(tf.string, [])
    named = tf.data.Iterator.from_string_handle(handle, tf.float32, tf.TensorShape([4]), tf.SparseTensor)
    one, two, three = mine.get_next(), again.get_next(), named.get_next()
    start = again.make_initializer(first)
    wrong = tf.data.Iterator.from_structure(tf.float32, tf.TensorShape([4]))
    seen = [str(one.shape), str(two.shape), str(three.shape), outcome(lambda: re.sub(
        r"<class '[\w.]*?(\w+)'>", r"\1", str(wrong.make_initializer(first))))[:40]]
    with tf.Session() as sess:
        sess.run(mine.initializer, {fed: tf.SparseTensorValue([[1]], np.float32([7]), [3])})
        sess.run(start)
        seen += [plain(sess.run(one)), plain(sess.run(two)), plain(sess.run(three, {handle: sess.run(again.string_handle())}))]
    return seen


@program
def optionals(tf):
    data = tf.data.Dataset.from_tensor_slices((sparse(tf), np.arange(4))).take(2)
    optional = tf.data.experimental.get_next_as_optional(tf.data.make_one_shot_iterator(data))
    value = optional.get_value()
    has = optional.has_value()
    made = tf.data.experimental.Optional.from_value({"a": 1, "s": sparse(tf)})
    none = tf.data.experimental.Optional.empty(tf.TensorSpec([], tf.int32))
    seen = [str(optional.element_spec), str(made.element_spec), str(none.element_spec)]
    with tf.Session() as sess:
        seen += [plain(sess.run([value, has])) for _ in range(2)] + [plain(sess.run([has, made.get_value(), none.has_value()]))]
        for tensor in (value, none.get_value()):
            try:
                sess.run(tensor)
            except tf.errors.OpError as e:
                seen.append(type(e).__name__)
    inside = tf.data.Dataset.range(2).map(lambda i: tf.data.experimental.Optional.from_value(i))
    return seen + [str(inside.element_spec), drained(tf, inside.map(lambda o: (o.has_value(), o.get_value())))]


@program
def generators(tf):
    def values():
        yield tf.SparseTensorValue([[0], [2]], [1, 2], [3]), tf.ragged.constant_value([[1.0], [2.0, 3.0]], dtype=np.float32)

    signature = (tf.SparseTensorSpec([3], tf.int32), tf.RaggedTensorSpec([2, None], tf.float32))
    dense = tf.data.Dataset.from_generator(lambda: iter([(1, [2, 3])]), output_signature=(
        tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int64)))
    made = tf.data.Dataset.from_generator(values, output_signature=signature)
    return [described(tf, made), both_of(tf, dense), outcome(lambda: tf.data.Dataset.from_generator(values)),
            outcome(lambda: tf.data.Dataset.from_generator(values, tf.int32, output_signature=signature)),
            outcome(lambda: tf.data.Dataset.from_generator(values, output_signature=tf.int32)).split("<")[0]]


@program
def structures(tf):
    kinds = tf.data.experimental
    specs = [kinds.SparseTensorStructure(tf.float32, [3]), kinds.RaggedTensorStructure(tf.float32, [3, None], 1),
             kinds.TensorArrayStructure(tf.float32, [3], True, True), kinds.TensorStructure(tf.float32, [3]),
             kinds.DatasetStructure(tf.TensorSpec([])), tf.data.DatasetSpec(tf.TensorSpec([]), [2]),
             kinds.OptionalStructure(tf.TensorSpec([]))]
    numbers = tf.data.Dataset.range(3)
    again = kinds.from_variant(kinds.to_variant(numbers), kinds.get_structure(numbers))
    return [str(specs), str(kinds.get_structure(numbers)), str(kinds.get_structure(tf.data.make_one_shot_iterator(numbers))),
            outcome(lambda: kinds.get_structure(3)), both_of(tf, again), [isinstance(s, kinds.Structure) for s in specs],
            tf.data.DatasetSpec.from_value(numbers) == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)),
            specs[4].value_type is tf.data.Dataset or issubclass(tf.data.Dataset, specs[4].value_type)]


@program
def variants(tf):
    raw, splits = tf.raw_ops, np.array([0, 2, 2, 5])
    values = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    seen = []

    def to(splits, values, batched):
        return raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=batched)

    def back(encoded, inner, outer, dtype=tf.float32, splits=tf.int64):
        return raw.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=inner, output_ragged_rank=outer, Tvalues=dtype,
                                           Tsplits=splits)
    one, rows, flat = to([splits], values, False), to([splits], values, True), to([], tf.reshape(tf.range(6.0), [2, 3]), True)
    two = to([[0, 1, 3], splits], values, True)
    serial = raw.SerializeSparse(sparse_indices=[[0, 1]], sparse_values=[1.0], sparse_shape=[2, 3], out_type=tf.variant)
    many = raw.SerializeManySparse(sparse_indices=[[0, 1]], sparse_values=[1.0], sparse_shape=[2, 3], out_type=tf.variant)
    tests = [lambda: back(one, 1, 1), lambda: back(one, -1, 1), lambda: back(one, 0, 1), lambda: back(one, 2, 2),
             lambda: back(one, 1, 1, tf.int32), lambda: back(one, 1, 1, tf.float32, tf.int32), lambda: back(rows, 0, 1),
             lambda: back(two, -1, 2), lambda: back(flat, -1, 1), lambda: back(tf.stack([tf.stack([one, one])] * 2), 1, 3),
             lambda: back(tf.stack([rows, rows]), 0, 2), lambda: back(rows[:0], 0, 1), lambda: back(two[:0], 1, 2),
             lambda: back(to([[0, 2, 7]], values, True), 0, 1), lambda: back(to([[1, 5]], values, False), 1, 1),
             lambda: back(serial[0], 1, 1), lambda: raw.DeserializeSparse(serialized_sparse=serial, dtype=tf.float32),
             lambda: raw.DeserializeSparse(serialized_sparse=tf.stack([serial, serial]), dtype=tf.float32),
             lambda: raw.DeserializeSparse(serialized_sparse=many, dtype=tf.float32),
             lambda: raw.DeserializeSparse(serialized_sparse=many[:0], dtype=tf.float32),
             lambda: raw.DeserializeSparse(serialized_sparse=many, dtype=tf.int32),
             lambda: raw.DeserializeSparse(serialized_sparse=tf.stack([one] * 3), dtype=tf.float32)]
    for encoded, inner, outer in ((one, 1, 1), (rows, 0, 1), (two, 1, 2)):
        total = tf.reduce_sum(back(encoded, inner, outer).output_dense_values ** 2)
        tests.append(lambda total=total: tf.gradients(total, values))
    with tf.Session() as sess:
        for test in tests:
            try:
                seen.append(plain(sess.run(list(tf.nest.flatten(test())))))
            except (tf.errors.OpError, ValueError) as e:
                seen.append(type(e).__name__)
    return seen


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_composite_elements(name):
    said = []
    for tf in (ours, oracle):
        with tf.Graph().as_default():
            tf.set_random_seed(11)
            said.append(PROGRAMS[name](tf))
    for mine, theirs in zip(*said, strict=True):
        assert mine == theirs
