"""Ragged tensors: making, converting, indexing, operators, and functions that take them."""
import numpy as np

from machine import case, shape_of


def values(tf, given):
    """Values, types and static shapes; the names of the nodes in between are not compared."""
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return [one(x, session.run(x)) for x in given]


def one(x, value):
    if hasattr(value, "nested_row_splits"):
        return ["ragged", x.dtype.name, shape_of(x.shape), value.flat_values, list(value.nested_row_splits), repr(value.to_list())]
    return [x.dtype.name, shape_of(x.shape), np.asarray(value)] if hasattr(x, "dtype") and not hasattr(x, "indices") else list(value)


def raised(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except Exception as e:  # noqa: BLE001 - its type is what is compared
        return type(e).__name__
    return None


@case(nodes=False)
def ragged_constants(tf):
    a = tf.ragged.constant([[1, 2], [], [3, 4, 5]])
    value = tf.ragged.constant_value([[1.5], [2.5, 3.5]], dtype=np.float32, row_splits_dtype="int32")
    return values(tf, [a, tf.ragged.constant([[[1.0], []], [], [[2.0, 3.0]]]), tf.ragged.constant([["a", "bc"], ["d"]], name="t"),
                       tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], inner_shape=(2,)), tf.ragged.constant([], dtype=tf.int32),
                       tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1), tf.ragged.constant([[], []], dtype=tf.float32),
                       tf.ragged.constant([[1], [2, 3]], dtype=tf.int64, row_splits_dtype=tf.int32)]) + [
        value.to_list(), value.flat_values, value.row_splits, value.ragged_rank, value.dtype.name,
        raised(tf.ragged.constant, [[1], 2]), raised(tf.ragged.constant, [[[1], [2, 3]]], ragged_rank=1), a.ragged_rank, a.dtype.name,
        a.uniform_row_length is None]


@case(nodes=False)
def ragged_makers(tf):
    v = [3, 1, 4, 1, 5, 9, 2, 6]
    R = tf.RaggedTensor
    nested = tf.RaggedTensor.from_nested_row_splits(v, [[0, 3, 3, 5], [0, 4, 4, 7, 8, 8]], name="n")
    return values(tf, [
        tf.RaggedTensor.from_row_splits(v, [0, 4, 4, 7, 8, 8], name="s"), R.from_row_lengths(v, [4, 0, 3, 1, 0], name="l"),
        tf.RaggedTensor.from_row_starts(v, [0, 4, 4, 7, 8]), R.from_row_limits(v, [4, 4, 7, 8, 8]),
        tf.RaggedTensor.from_value_rowids(v, [0, 0, 0, 0, 2, 2, 2, 3], nrows=5), R.from_value_rowids(v, [0, 0, 0, 0, 2, 2, 2, 3]),
        tf.RaggedTensor.from_uniform_row_length(v, 2), R.from_uniform_row_length(v, 4, nrows=2, validate=False),
        nested, tf.RaggedTensor.from_nested_row_lengths(v, [[3, 0, 2], [4, 0, 3, 1, 0]]),
        tf.RaggedTensor.from_nested_value_rowids(v, [[0, 0, 0, 2, 2], [0, 0, 0, 0, 2, 2, 2, 3]], nested_nrows=[3, 5]),
        nested.row_splits, nested.flat_values, nested.values, nested.value_rowids(), nested.nrows(), nested.nrows(out_type=tf.int32),
        nested.row_starts(), nested.row_limits(), nested.row_lengths(), nested.row_lengths(axis=2), nested.bounding_shape(),
        nested.bounding_shape(axis=1, out_type=tf.int32), *nested.nested_row_lengths(), *nested.nested_value_rowids(),
        nested.with_flat_values(tf.range(8)), nested.with_row_splits_dtype(tf.int32), nested.merge_dims(0, 1), nested.merge_dims(1, 2),
        nested.merge_dims(0, 2)])


@case(nodes=False)
def ragged_conversions(tf):
    a = tf.ragged.constant([[1.0, 2.0], [], [3.0, 4.0, 5.0]])
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])
    t = tf.constant([[5, 7, 0], [0, 3, 0], [6, 0, 0]])
    sparse = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [7, 8, 9], [4, 5])
    R = tf.RaggedTensor
    return values(tf, [
        a.to_tensor(), a.to_tensor(-1.0, name="x"), a.to_tensor(shape=[None, 2]), a.to_tensor(default_value=9.0, shape=[2, 5]),
        deep.to_tensor(), deep.to_sparse(), a.to_sparse(name="q"), tf.ragged.constant([["a"], ["b", "c"]]).to_tensor("-"),
        tf.RaggedTensor.from_tensor(t), R.from_tensor(t, lengths=[1, 0, 3]), R.from_tensor(t, padding=0),
        R.from_tensor(tf.reshape(tf.range(12), [2, 2, 3]), ragged_rank=2, row_splits_dtype=tf.int32),
        R.from_tensor(tf.reshape(tf.range(12), [2, 2, 3])), tf.RaggedTensor.from_sparse(sparse, row_splits_dtype=tf.int32)])


@case(nodes=False)
def ragged_indexing(tf):
    a = tf.ragged.constant([[1, 2], [], [3, 4, 5], [6]])
    deep = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6], []]])
    inner = tf.ragged.constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1)
    return values(tf, [a[0], a[-1], a[1:3], a[::2], a[::-1], a[:, 1:], a[:, :-1], a[:, ::2], a[2, 1], a[1:, :1], a[..., :1],
                       a[tf.constant(2)], a[:, ::-1], a[:, 2:0:-1], a[tf.newaxis], a[:, tf.newaxis],
                       deep[0], deep[2, 0], deep[2, 0, 1], deep[:, :1], deep[:, :, 1:], deep[1:, 0:1, ::2], deep[0][1],
                       inner[:, :, 0], inner[0, 1], inner[:, 0:1, 1:]]) + [raised(lambda: a[:, 0])]


@case(nodes=False)
def ragged_operators(tf):
    a, b = tf.ragged.constant([[1.0, 2.0], [], [3.0]]), tf.ragged.constant([[10.0, 20.0], [], [30.0]])
    n = tf.ragged.constant([[5, 6], [], [7]])
    flags = tf.ragged.constant([[True, False], [], [True]])
    return values(tf, [a + b, a - 1.0, 2.0 * a, a / b, -a, abs(-a), a ** 2.0, n // 2, n % 4, a < b, a >= 2.0, 1.0 / a, ~flags,
                       flags & flags, a + tf.constant([[100.0], [200.0], [300.0]]), tf.constant([[1.0], [2.0], [3.0]]) - a,
                       tf.add(a, b), tf.multiply(a, 3.0), tf.maximum(a, 1.5), tf.equal(n, 6), tf.cast(n, tf.float32), tf.exp(a),
                       tf.square(n), tf.zeros_like(a), tf.ones_like(n), tf.identity(a), tf.nn.relu(a - 2.0), tf.add_n([a, b]),
                       tf.logical_and(flags, True), tf.clip_by_value(a, 1.5, 2.5), tf.one_hot(n, 9),
                       tf.ragged.map_flat_values(tf.pow, a, 2.0)]) + [raised(tf.ragged.map_flat_values, tf.add, a, n)]


@case(nodes=False)
def ragged_reductions(tf):
    a = tf.ragged.constant([[3.0, 1.0, 4.0], [1.5], [9.0, 2.0]])
    deep = tf.ragged.constant([[[1, 2], [3]], [[4, 5, 6]]])
    flags = tf.ragged.constant([[True, False], [True], [False]])
    return values(tf, [tf.reduce_sum(a), tf.reduce_sum(a, axis=0), tf.reduce_sum(a, axis=1), tf.reduce_sum(a, 1, keepdims=True),
                       tf.reduce_prod(a, axis=1), tf.reduce_min(a, axis=1), tf.reduce_max(a, axis=0), tf.reduce_mean(a, axis=1),
                       tf.reduce_mean(a), tf.reduce_mean(a, axis=0), tf.reduce_sum(deep, axis=0), tf.reduce_sum(deep, axis=1),
                       tf.reduce_sum(deep, axis=2), tf.reduce_sum(deep, axis=[1, 2]), tf.reduce_sum(deep, axis=-1, keepdims=True),
                       tf.reduce_any(flags, axis=1), tf.reduce_all(flags, axis=1), tf.reduce_any(flags), tf.size(a), tf.rank(deep),
                       tf.math.reduce_variance(a, axis=1), tf.math.reduce_std(a, axis=1)])


@case(nodes=False)
def ragged_joins(tf):
    a, b = tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4], [5, 6]])
    deep = tf.ragged.constant([[[1, 2], [3]], [[4, 5, 6]]])
    mask = tf.ragged.constant([[True, False], [True]])
    return values(tf, [tf.concat([a, b], 0), tf.concat([a, b], axis=1), tf.concat([a, [[7, 8], [9, 10]]], 1), tf.stack([a, b]),
                       tf.stack([a, b], axis=1), tf.concat([deep, deep], 2), tf.concat([deep, deep], 1),
                       tf.ragged.stack([[1, 2], [3]]), tf.ragged.stack([a, b], axis=1, name="st"), tf.expand_dims(a, 0),
                       tf.expand_dims(a, 1), tf.expand_dims(a, 2), tf.expand_dims(deep, -1), tf.gather(a, [1, 0, 1]),
                       tf.gather(deep, [[1, 0], [0, 0]]), tf.gather([10, 20, 30, 40], a - 1), tf.gather(a, 1),
                       tf.gather_nd(a, [[0, 1], [1, 0]]), tf.gather_nd(deep, [[0, 1]]), tf.tile(a, [2, 1]), tf.tile(a, [1, 2]),
                       tf.ragged.boolean_mask(a, mask), tf.where(mask), tf.where(mask, a, a * 10),
                       tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]), tf.reverse(a, [1]),
                       tf.squeeze(tf.expand_dims(a, 1), [1]),
                       tf.ragged.stack_dynamic_partitions(["a", "b", "c", "d"], [2, 0, 2, 1], 4),
                       tf.ragged.range([3, 0, 2]), tf.ragged.range([1, 5], [4, 9], 2, row_splits_dtype=tf.int32),
                       tf.ragged.range(0.0, [1.0, 2.0], deltas=0.5, dtype=tf.float32),
                       tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]), tf.ragged.segment_ids_to_row_splits([0, 0, 2, 2, 2]),
                       tf.ragged.segment_ids_to_row_splits([0, 0, 2], num_segments=5, out_type=tf.int32),
                       tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5], out_type=tf.int32)])


@case(nodes=False)
def ragged_crosses(tf):
    a, b = tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([[1, 2], [3]])
    sparse = tf.SparseTensor([[0, 0], [1, 0]], ["x", "y"], [2, 1])
    dense = tf.constant([[5], [6]])
    return values(tf, [tf.ragged.cross([a, b, dense]), tf.ragged.cross_hashed([a, sparse, b], num_buckets=100),
                       tf.ragged.cross_hashed([dense, a], num_buckets=50, hash_key=7), tf.sparse.cross([sparse, dense]),
                       tf.sparse.cross([sparse, tf.constant([["p", "q"], ["r", "s"]])], separator="-"),
                       tf.sparse.cross_hashed([sparse, dense], num_buckets=9), tf.sparse.cross_hashed([sparse, dense], hash_key=3)])


@case(nodes=False)
def ragged_sessions(tf):
    fed = tf.ragged.placeholder(tf.float32, 2, [], name="fed")
    inner = tf.ragged.placeholder(tf.int32, 1, value_shape=[2])
    value = tf.ragged.constant_value([[[1.0, 2.0], []], [[3.0]]], dtype=np.float32)
    pairs = tf.ragged.constant_value([[[1, 2]], [[3, 4], [5, 6]]], dtype=np.int32, ragged_rank=1)
    looped = tf.while_loop(lambda i, r: i < 3, lambda i, r: (i + 1, r * 2.0), [0, tf.ragged.constant([[1.0], [2.0, 3.0]])])[1]
    chosen = tf.cond(tf.constant(True), lambda: tf.ragged.constant([[1], [2, 3]]), lambda: tf.ragged.constant([[4, 5], []]))
    with tf.Session() as session:
        got = session.run({"a": fed + 1.0, "b": [inner]}, feed_dict={fed: value, inner: pairs})
        return [got["a"].to_list(), got["b"][0].to_list(), type(got["a"]).__name__, session.run(looped).to_list(),
                session.run(chosen).to_list(), shape_of(fed.shape), shape_of(inner.shape),
                fed.eval(feed_dict={fed: value}, session=session).to_list() if hasattr(fed, "eval") else value.to_list()]


@case(nodes=False, tolerance=1e-4)
def ragged_gradients(tf):
    v = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0])
    rows = tf.RaggedTensor.from_row_splits(v, [0, 2, 2, 5])
    grads = [tf.gradients(y, v)[0] for y in (
        tf.reduce_sum(tf.square(rows).to_tensor() * 3.0), tf.reduce_sum(tf.reduce_max(rows, axis=1)[:1]),
        tf.reduce_sum(rows[1:] * rows[1:]), tf.reduce_sum(tf.concat([rows, rows * 2.0], 1).to_tensor(shape=[None, 2])),
        tf.reduce_sum(rows.to_sparse().values * 7.0))]
    grads.append(tf.gradients(tf.reduce_sum(tf.gather(rows, [2, 2, 0]).flat_values * tf.range(8.0)), v)[0])
    return values(tf, [tf.convert_to_tensor(g) for g in grads])


@case(nodes=False)
def ragged_splits(tf):
    words = tf.constant(["a b c", "", "d  e"])
    return values(tf, [tf.string_split(words, result_type="RaggedTensor"), tf.string_split(words, " ", False, result_type="RaggedTensor"),
                       tf.strings.split(words, result_type="RaggedTensor"),
                       tf.strings.split(words, sep=" ", maxsplit=1, result_type="RaggedTensor"),
                       tf.strings.split(tf.constant([["a b", "c"], ["d", "e f"]]), result_type="RaggedTensor"),
                       tf.strings.split(tf.ragged.constant([["a b"], ["c d", "e"]]), result_type="RaggedTensor"),
                       tf.strings.split("x y z", result_type="RaggedTensor"), tf.strings.upper(tf.ragged.constant([["a"], ["b", "c"]])),
                       tf.strings.length(tf.ragged.constant([["a"], ["bbb", "cc"]])),
                       tf.strings.join([tf.ragged.constant([["a"], ["b", "c"]]), tf.ragged.constant([["1"], ["2", "3"]])], separator="-"),
                       tf.strings.regex_replace(tf.ragged.constant([["ab"], ["bb", "c"]]), "b", "x")])


@case(nodes=False)
def type_specs(tf):
    specs = [tf.TensorSpec([2, None], tf.int32, "x"), tf.TensorSpec(None), tf.SparseTensorSpec([2, 3], tf.int64),
             tf.RaggedTensorSpec([2, None], tf.string), tf.RaggedTensorSpec(None, tf.float32, 2, row_splits_dtype=tf.int32),
             tf.IndexedSlicesSpec([4, 2]), tf.TensorArraySpec([2], tf.float32), tf.OptionalSpec(tf.TensorSpec([], tf.int32))]
    given = [tf.constant([1]), tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.SparseTensor([[0, 0]], [1], [2, 2]),
             tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1])), tf.TensorArray(tf.float32, 3)]
    return [repr(s) for s in specs] + [[a == b for a in specs] for b in specs] + [repr(tf.type_spec_from_value(v)) for v in given] + [
        [a.is_compatible_with(tf.zeros([2, 5], tf.int32)) for a in specs[:3]], specs[2].value_type.__name__,
        specs[3].is_compatible_with(tf.ragged.constant([["a"], ["b"]])), specs[3].is_compatible_with(tf.ragged.constant([["a"]])),
        repr(specs[2].most_specific_compatible_type(tf.SparseTensorSpec([2, 4], tf.int64))), isinstance(specs[0], tf.TypeSpec),
        repr(tf.TensorSpec.from_tensor(tf.zeros([2], name="q"))), repr(tf.TensorSpec.from_spec(specs[0], "z")),
        len({specs[0], tf.TensorSpec([2, None], tf.int32, "x")}), specs[0].shape.as_list(), specs[0].dtype.name, specs[0].name]


@case(nodes=False)
def crossed_columns(tf):
    fc = tf.feature_column
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    features = {"k": words, "d": tf.constant([["x"], ["y"]]), "n": tf.constant([[1], [2]]), "z": tf.constant([[0.5, 3.0], [-1.0, 0.2]])}
    first = tf.feature_column.crossed_column(["k", "d", fc.categorical_column_with_identity("n", 5)], 20)
    cut = fc.bucketized_column(fc.numeric_column("z", shape=[2]), [0.0, 1.0])
    second = tf.feature_column.crossed_column([cut, "d"], hash_bucket_size=20, hash_key=5)
    third = tf.feature_column.crossed_column([first, cut], 30)
    return [first.name, second.name, third.name] + values(tf, [
        tf.feature_column.input_layer(features, [fc.indicator_column(c)]) for c in (first, second, third)]) + [
        sorted(tf.feature_column.make_parse_example_spec([fc.indicator_column(third)])), raised(fc.crossed_column, ["a"], 5),
        raised(fc.crossed_column, ["a", fc.categorical_column_with_hash_bucket("b", 5)], 5), raised(fc.crossed_column, ["a", "b"], 0)]


@case(nodes=False)
def joined_rows(tf):
    rows = tf.ragged.constant([["a", "b"], [], ["c"]])
    nested = tf.ragged.constant([[["a", "b"], ["x"]], [], [["c"], [], ["d", "e"]]])
    pairs = tf.RaggedTensor.from_row_splits([["a", "b"], ["c", "d"], ["e", "f"]], [0, 2, 2, 3])
    join = tf.strings.reduce_join
    made = [join(rows, axis=1, separator="-"), join(rows, axis=-1), join(rows, separator=","), join(rows, axis=0, separator=","),
            join(nested, axis=2, separator="."), join(nested, axis=1, separator="."), join(pairs, axis=2, separator="."),
            join(pairs, axis=1, separator="."), join(rows, axis=1, keepdims=True), join(nested, axis=[1, 2], separator="."),
            tf.reduce_join(rows, axis=1, separator="-"), join(nested, axis=-1, keepdims=True, separator=".")]
    return values(tf, [part for t in made for part in ([*t.nested_row_splits, t.flat_values] if hasattr(t, "flat_values") else [t])])


@case(nodes=False)
def split_to_sparse(tf):
    made = [tf.strings.split(tf.ragged.constant([["a b", "c"], ["d"]])), tf.strings.split([["a b", "c"], ["d", "e f"]])]
    return [part for t in made for part in (t.indices, t.values, t.dense_shape)]


@case(nodes=False)
def embeddings_of_rows(tf):
    table, ids = tf.constant([[1., 2.], [3., 4.]]), tf.ragged.constant([[0, 1], [1]])
    weights = tf.ragged.constant([[0.5, 2.0], [3.0]])
    found = [tf.nn.embedding_lookup(table, ids), tf.nn.embedding_lookup([table[:1], table[1:]], ids, max_norm=2.0)]
    return values(tf, [*(t.flat_values for t in found), *(t.row_splits for t in found),
                       tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum"),
                       tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="mean"),
                       tf.convert_to_tensor(tf.gradients(found[0].flat_values * 3.0, table)[0])])
