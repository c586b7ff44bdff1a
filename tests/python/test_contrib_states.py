"""tf.contrib.training's state savers: segments of sequences, the states between them, and the ends."""
import numpy as np
import pytest

import weft as tf

LENGTHS = [5, 2, 7, 4]


def sequences():
    """A key, steps and length of each of a few sequences, one after the other."""
    def each():
        for i, n in enumerate(LENGTHS):
            yield "s%d" % i, np.random.RandomState(i).randn(n, 3).astype(np.float32), n
    return tf.data.Dataset.from_generator(each, (tf.string, tf.float32, tf.int32), ((), (None, 3), ())).make_one_shot_iterator().get_next()


def batches(fetches):
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            yield sess.run(fetches)


@pytest.mark.parametrize("capacity", [2, 100])
def test_segments_have_their_place_in_the_sequence(capacity):
    with tf.Graph().as_default():
        key, steps, length = sequences()
        batch = tf.contrib.training.batch_sequences_with_states(
            key, {"x": steps}, {"n": length * 2}, length, {"seen": tf.zeros([], tf.int32)}, num_unroll=3, batch_size=2, num_threads=1,
            capacity=capacity)
        assert batch.sequences["x"].shape.as_list() == [None, 3, 3] and batch.state("seen").shape.as_list() == [None]
        save = batch.save_state("seen", batch.state("seen") + batch.length)
        with tf.control_dependencies([save]):
            rows = [tf.identity(v) for v in (batch.key, batch.next_key, batch.sequence, batch.sequence_count, batch.length,
                                             batch.total_length, batch.context["n"], batch.state("seen"), batch.sequences["x"])]
        found = {}
        for part in batches([batch.batch_size, batch.insertion_index, *rows]):
            assert part[0] == len(part[2]) and len(set(part[1])) == part[0] and min(part[1]) >= -2**63
            found.update({row[0]: row[1:] for row in zip(*part[2:])})
    assert len(found) == 8
    for i, n in enumerate(LENGTHS):
        count, data = -(-n // 3), np.random.RandomState(i).randn(n, 3).astype(np.float32)
        for j in range(count):
            after, number, of, length, total, doubled, seen, x = found.pop(b"%05d_of_%05d:s%d" % (j, count, i))
            assert after == (b"STOP:s%d" % i if j + 1 == count else b"%05d_of_%05d:s%d" % (j + 1, count, i))
            assert (number, of, length, total, doubled, seen) == (j, count, min(3, n - 3 * j), n, 2 * n, 3 * j)
            np.testing.assert_array_equal(x[:length], data[3 * j:3 * j + 3])
            assert not x[length:].any()


def test_a_network_goes_on_where_the_last_segment_ended():
    """static_state_saving_rnn over segments gives what dynamic_rnn gives over whole sequences."""
    with tf.Graph().as_default():
        key, steps, length = sequences()
        batch = tf.contrib.training.batch_sequences_with_states(
            key, {"x": steps}, None, None, {"c": tf.zeros([4]), "h": tf.zeros([4])}, 3, 2, num_threads=1)
        cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
            outputs, _ = tf.nn.static_state_saving_rnn(cell, tf.unstack(batch.sequences["x"], axis=1), batch, ("c", "h"),
                                                       sequence_length=batch.length)
        fetches = [batch.key, batch.length, tf.stack(outputs, 1)]
        got = {k: row[:n] for part in batches(fetches) for k, n, row in zip(*part)}
    for i, n in enumerate(LENGTHS):
        with tf.Graph().as_default(), tf.Session() as sess:
            data = np.random.RandomState(i).randn(n, 3).astype(np.float32)
            with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
                want, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), data[None], dtype=tf.float32)
            sess.run(tf.global_variables_initializer())
            parts = [got[k] for k in sorted(got) if k.endswith(b":s%d" % i)]
            np.testing.assert_allclose(np.concatenate(parts), sess.run(want)[0], rtol=1e-5, atol=1e-6)


def test_sparse_values_and_keys_made_unique():
    with tf.Graph().as_default():
        steps = tf.SparseTensor([[0, 1], [3, 0], [3, 2], [4, 1]], [1, 2, 3, 4], [5, 3])
        batch = tf.contrib.training.batch_sequences_with_states(
            "k", {"s": steps, "t": tf.constant(list("abcde"))}, {"c": tf.SparseTensor([[1]], [7.0], [2])}, 5, {}, 2, 1, num_threads=1,
            capacity=2, make_keys_unique=True, make_keys_unique_seed=3)
        dense = [tf.sparse_tensor_to_dense(batch.sequences["s"]), tf.sparse_tensor_to_dense(batch.context["c"])]
        with tf.train.MonitoredSession() as sess:
            found = [sess.run([batch.key, batch.sequences["t"], *dense]) for _ in range(6)]
    whole = np.zeros([6, 3], int)
    whole[[0, 3, 3, 4], [1, 0, 2, 1]] = [1, 2, 3, 4]
    for i, (key, text, rows, context) in enumerate(found):
        j = i % 3
        assert key[0].startswith(b"%05d_of_00003:k__" % j) and list(text[0]) == [(b"abcde"[t:t + 1]) for t in (2 * j, 2 * j + 1)]
        np.testing.assert_array_equal(rows[0], whole[2 * j:2 * j + 2])
        np.testing.assert_array_equal(context, [[0, 7]])
    assert found[0][0][0] != found[3][0][0]


def test_the_saver_itself_closes_and_checks():
    with tf.Graph().as_default():
        make = tf.contrib.training.SequenceQueueingStateSaver
        length = tf.placeholder_with_default(4, [])
        saver = make(2, 2, length, tf.constant("k"), {"x": tf.zeros([4, 1])}, {}, {"s": tf.ones([2])}, allow_small_batch=True, name="saver")
        assert saver.name == "saver/" and "saver" in saver.barrier.name
        batch = saver.next_batch
        with pytest.raises(KeyError, match="state was not declared: other"):
            batch.state("other")
        with pytest.raises(TypeError, match="float32"):
            batch.save_state("s", tf.ones([1, 2], tf.int32))
        with pytest.raises(ValueError, match="capacity 1 is less than batch_size 2"):
            make(2, 2, 4, "k", {"x": tf.zeros([4, 1])}, {}, {}, capacity=1)
        with pytest.raises(ValueError, match="num_unroll"):
            make(2, 0, 4, "k", {"x": tf.zeros([4, 1])}, {}, {})
        save = batch.save_state("s", batch.state("s") * 3)
        with tf.Session() as sess:
            with pytest.raises(tf.errors.InvalidArgumentError, match="input_length is more"):
                sess.run(saver.prefetch_op, {length: 5})
            sess.run(saver.prefetch_op)
            sess.run(saver.close())
            assert sess.run([saver.batch_size, saver.num_unroll]) == [2, 2]
            first, _ = sess.run([batch.state("s"), save])
            second, _ = sess.run([batch.state("s"), save])
            np.testing.assert_array_equal(second, 3 * first)
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(batch.key)
