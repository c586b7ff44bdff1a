"""Characters, n-grams and bytes of text; distances; functions on sparse tensors that are rarely used."""
import numpy as np

from calls_ragged import raised, values
from machine import case

WORDS = ["hé😀", "", "a\nb"]


@case(nodes=False)
def characters(tf):
    deep = tf.ragged.constant([["ab", "é"], ["c"]])
    codes = tf.ragged.constant([[104, 233, 128512], [], [97]])
    return values(tf, [
        tf.strings.unicode_decode(WORDS, "UTF-8"), tf.strings.unicode_decode("né", "UTF-8"), tf.strings.unicode_decode(deep, "UTF-8"),
        tf.strings.unicode_decode([["a", "bc"], ["", "d"]], "UTF-8", replace_control_characters=True, replacement_char=63),
        *tf.strings.unicode_decode_with_offsets(WORDS, "UTF-8", errors="ignore"),
        tf.strings.unicode_encode(codes, "UTF-8"), tf.strings.unicode_encode([104, 105], "UTF-16-BE"),
        tf.strings.unicode_encode([[104, 105], [97, 98]], "UTF-8", errors="ignore"), tf.strings.unicode_split(WORDS, "UTF-8"),
        tf.strings.unicode_encode(tf.ragged.constant([[[97], [98, 99]], [[100]]]), "UTF-32-BE", replacement_char=63),
        *tf.strings.unicode_split_with_offsets(["é", "ab"], "UTF-8"), tf.strings.unicode_split("xyz", "UTF-8"),
        tf.strings.unicode_transcode(WORDS, "UTF-8", "UTF-16-BE"), tf.strings.unicode_script([97, 1078, 12354]),
        tf.strings.unicode_script(codes), tf.strings.bytes_split(WORDS), tf.strings.bytes_split("ab"), tf.strings.bytes_split(deep)]) + [
        raised(tf.strings.unicode_decode, tf.placeholder(tf.string), "UTF-8")]


@case(nodes=False)
def words_together(tf):
    rows = tf.ragged.constant([["a", "b", "c"], ["d"], []], dtype=tf.string)
    return values(tf, [
        tf.strings.ngrams(rows, 2), tf.strings.ngrams(rows, (1, 2), separator="-"), tf.strings.ngrams(rows, 2, pad_values="P"),
        tf.strings.ngrams(rows, 3, pad_values=("L", "R"), padding_width=1), tf.strings.ngrams(["x", "y", "z"], 2),
        tf.strings.ngrams(rows, 5, preserve_short_sequences=True), tf.strings.ngrams([["x", "y"], ["z", "w"]], 2, name="n"),
        tf.strings.unsorted_segment_join(["a", "b", "c", "d"], [2, 0, 2, 1], 4, separator=","),
        tf.strings.unsorted_segment_join([["a", "b"], ["c", "d"]], [1, 1], num_segments=2)]) + [
        raised(tf.strings.ngrams, rows, 0), raised(tf.strings.ngrams, rows, 2, padding_width=2)]


@case
def distances(tf):
    a = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], ["a", "b", "c", "z"], [3, 2])
    b = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0]], ["a", "x", "b", "c"], [3, 3])
    return [tf.edit_distance(a, b), tf.edit_distance(a, b, normalize=False, name="d"), tf.fingerprint([b"abc", b""]),
            tf.fingerprint([[1, 2], [3, 4]], name="f"), raised(tf.edit_distance, [1], b)]


@case(nodes=False)
def sparse_forms(tf):
    a = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1.0, -2.0, 3.0], [2, 3])
    b = tf.SparseTensor([[0, 2], [1, 0]], [5.0, -7.0], [2, 3])
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 4], [2, 2])
    weights = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0.5, 1.5, 2.5], [2, 2])
    text = tf.SparseTensor([[0, 1], [1, 0]], ["ab", ""], [2, 2])
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([4, 5, 6]), tf.constant([9, 1]))
    masked = tf.sparse_mask(slices, [5])
    back = [tf.deserialize_many_sparse(tf.serialize_many_sparse(s), s.dtype, rank=2) for s in (a, text)]
    return values(tf, [
        tf.sparse_maximum(a, b), tf.sparse.minimum(a, b, name="m"), tf.sparse_merge(ids, weights, 5), tf.sparse_to_indicator(ids, 5),
        tf.sparse_merge([ids, ids], weights, [5, 6], already_sorted=True), tf.sparse_reset_shape(a), tf.sparse.reset_shape(a, [3, 4]),
        tf.sparse.eye(3), tf.sparse.eye(2, num_columns=4, dtype=tf.int32), tf.sparse.expand_dims(a), tf.sparse.expand_dims(a, axis=0),
        tf.sparse.from_dense([[0, 1], [2, 0]]), tf.sparse.from_dense([["", "a"]]), masked.values, masked.indices, *back,
        tf.serialize_sparse(text), tf.serialize_many_sparse(text), tf.sparse.bincount([[1, 1, 5], [0, 2, 1]], axis=-1),
        tf.sparse.bincount([1, 1, 5], minlength=8), tf.sparse.bincount(ids, weights=weights, axis=-1, maxlength=3),
        tf.sparse.bincount(tf.ragged.constant([[1, 2, 2], [0]]), axis=-1, binary_output=True), tf.sparse.bincount([[3, 3], [1, 0]]),
        tf.sparse_matmul([[1.0, 0.0], [0.0, 2.0]], [[3.0], [4.0]], a_is_sparse=True),
        tf.sparse.segment_sum([[1.0, 2.0], [3.0, 4.0]], [0, 1, 1], [0, 0, 1]),
        tf.sparse.segment_mean([[1.0, 2.0], [3.0, 4.0]], [0, 1, 1], [0, 0, 2], num_segments=4),
        tf.sparse_segment_sqrt_n([[1.0, 2.0], [3.0, 4.0]], [0, 1, 1], [0, 0, 1], num_segments=3)]) + [
        raised(tf.sparse_reset_shape, a, [1, 1])]


@case(nodes=False)
def sparse_accumulators(tf):
    acc = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 2], name="acc")
    one = acc.apply_grad([0, 2], [[1.0, 2.0], [3.0, 4.0]], grad_shape=[3, 2], local_step=1)
    slices = tf.IndexedSlices(tf.constant([[10.0, 20.0]]), tf.constant([2], tf.int64), tf.constant([3, 2], tf.int64))
    two = acc.apply_indexed_slices_grad(slices, 1)
    count, taken = acc.num_accumulated(), acc.take_indexed_slices_grad(2)
    with tf.Session() as session:
        session.run(acc.set_global_step(1))
        session.run([one, two])
        found = [session.run(count)] + list(session.run([taken.indices, taken.values, taken.dense_shape]))
    return found + [acc.name, acc.dtype.name, isinstance(acc, tf.ConditionalAccumulatorBase), np.int32(1)]
