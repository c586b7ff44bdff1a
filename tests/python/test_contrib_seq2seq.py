"""tf.contrib.seq2seq and tf.contrib.crf against the same computations written step by step.

TensorFlow 2.15 has no contrib.  A decoder with attention is compared with one that is unrolled by hand in TensorFlow, values
and gradients; beam search with a search in numpy; chains of tags with all sequences there are.
"""
import itertools

import numpy as np
import pytest

import weft
from both import oracle

seq2seq, crf = weft.contrib.seq2seq, weft.contrib.crf
WORDS, WIDTH, UNITS, ROWS, STEPS = 7, 4, 5, 3, 6
RNG = np.random.RandomState(5)
SOURCE, LENGTHS = RNG.randn(ROWS, STEPS, UNITS).astype(np.float32), np.array([6, 4, 2], np.int32)
TARGET, TARGET_LENGTHS = RNG.randint(3, WORDS, (ROWS, 4)).astype(np.int32), np.array([4, 2, 3], np.int32)
TABLE = RNG.randn(WORDS, WIDTH).astype(np.float32)


def wrapped(mechanism, memory, lengths, **kwargs):
    tf = weft
    made = getattr(seq2seq, mechanism)(UNITS, memory, memory_sequence_length=lengths, **kwargs)
    return seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(UNITS), made, attention_layer_size=WORDS, alignment_history=True)


def values(sess, tf):
    return dict(zip([v.op.name for v in tf.trainable_variables()], sess.run(tf.trainable_variables())))


def unrolled(tf, weights, mechanism, inputs, lengths, memory, memory_lengths, normalize):
    """The same decoder in TensorFlow, one step after the other: the outputs and the alignments of all steps."""
    mask = tf.sequence_mask(memory_lengths, STEPS)
    memory = memory * tf.cast(mask, tf.float32)[:, :, None]
    keys = tf.tensordot(memory, weights["memory_layer/kernel"], 1)
    inside, scope = "decoder/attention_wrapper/", "decoder/attention_wrapper/%s/" % mechanism
    state, read = tf.zeros([ROWS, UNITS]), tf.zeros([ROWS, WORDS])
    outs, places = [], []
    for i in range(inputs.shape[1]):
        row = tf.concat([inputs[:, i], read], 1)
        new = tf.tanh(tf.matmul(tf.concat([row, state], 1), weights[inside + "basic_rnn_cell/kernel"])
                      + weights[inside + "basic_rnn_cell/bias"])
        if mechanism == "luong_attention":
            score = tf.reduce_sum(keys * new[:, None, :], 2) * weights.get(scope + "attention_g", 1.0)
        else:
            v = weights[scope + "attention_v"]
            shift = weights.get(scope + "attention_b", 0.0)
            if normalize:
                v = weights[scope + "attention_g"] * v / tf.sqrt(tf.reduce_sum(v * v))
            score = tf.reduce_sum(v * tf.tanh(keys + tf.matmul(new, weights[scope + "query_layer/kernel"])[:, None, :] + shift), 2)
        place = tf.nn.softmax(tf.where(mask, score, tf.fill(score.shape, -np.inf)))
        context = tf.reduce_sum(place[:, :, None] * memory, 1)
        made = tf.matmul(tf.concat([new, context], 1), weights[inside + "attention_layer/kernel"])
        over = i >= lengths
        outs.append(tf.where(over, tf.zeros_like(made), made))
        state, read = tf.where(over, state, new), tf.where(over, read, made)
        places.append(place)
    return tf.stack(outs, 1), places


@pytest.mark.parametrize("mechanism,kwargs", [("LuongAttention", {"scale": True}), ("BahdanauAttention", {}),
                                              ("BahdanauAttention", {"normalize": True})])
def test_a_decoder_with_attention_is_the_unrolled_one(mechanism, kwargs):
    scope = {"L": "luong_attention", "B": "bahdanau_attention"}[mechanism[0]]
    with weft.Graph().as_default(), weft.Session() as sess:
        tf = weft
        tf.set_random_seed(3)
        cell = wrapped(mechanism, tf.constant(SOURCE), tf.constant(LENGTHS), **kwargs)
        helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(TABLE, TARGET), TARGET_LENGTHS)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(ROWS, tf.float32))
        out, state, lengths = seq2seq.dynamic_decode(decoder, impute_finished=True)
        grads = tf.gradients(tf.reduce_sum(out.rnn_output ** 2), tf.trainable_variables())
        sess.run(tf.global_variables_initializer())
        weights = values(sess, tf)
        found = sess.run([out.rnn_output, state.alignment_history.stack(), grads, lengths, out.sample_id])
    with oracle.Graph().as_default(), oracle.Session() as sess:
        tensors = {k: oracle.constant(v) for k, v in weights.items()}
        want, places = unrolled(oracle, tensors, scope, TABLE[TARGET], TARGET_LENGTHS, oracle.constant(SOURCE), LENGTHS,
                                kwargs.get("normalize"))
        wanted = sess.run([want, places, oracle.gradients(oracle.reduce_sum(want ** 2), list(tensors.values()))])
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found[1], np.stack(wanted[1])[:4], rtol=1e-5, atol=1e-5)
    for ours, theirs, name in zip(found[2], wanted[2], weights):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4, err_msg=name)
    np.testing.assert_array_equal(found[3], TARGET_LENGTHS)
    np.testing.assert_array_equal(found[4], np.where(np.arange(4) < TARGET_LENGTHS[:, None], wanted[0].argmax(-1), 0))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def searched(kernel, bias, table, starts, end, width, steps, weight):
    """(ids, scores) of a beam search with a plain cell whose outputs are the logits, row by row."""
    found = []
    for start in starts:
        beams = [(0.0, [], np.zeros(WORDS, np.float32), start, False, 0)]
        for _ in range(steps):
            nexts = []
            for p, ids, state, token, done, n in beams:
                new = np.tanh(np.concatenate([table[token], state]) @ kernel + bias)
                logs = np.log(softmax(new))
                for w in range(WORDS):
                    if done and w != end:
                        continue
                    total = p if done else p + logs[w]
                    counted = n if done or w == end else n + 1
                    score = total / ((5.0 + counted) / 6.0) ** weight
                    nexts.append((score, (total, ids + [w], new, w, done or w == end, n if done else n + 1)))
            nexts.sort(key=lambda row: -row[0])
            beams, scores = [row for _, row in nexts[:width]], [s for s, _ in nexts[:width]]
            if all(b[4] for b in beams):
                break
        found.append((beams, scores))
    return found


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_beam_search_finds_what_a_search_in_numpy_finds(weight):
    starts, end, width, steps = [3, 4], 2, 3, 5
    table = np.random.RandomState(1).randn(WORDS, WIDTH).astype(np.float32)
    with weft.Graph().as_default(), weft.Session() as sess:
        tf = weft
        cell = tf.nn.rnn_cell.BasicRNNCell(WORDS)
        cell.build(tf.TensorShape([None, WIDTH]))
        kernel = 3 * np.random.RandomState(2).randn(WIDTH + WORDS, WORDS).astype(np.float32)
        bias = np.eye(WORDS, dtype=np.float32)[end] * 0.8
        decoder = seq2seq.BeamSearchDecoder(cell, tf.constant(table), starts, end, tf.zeros([2 * width, WORDS]), width,
                                            length_penalty_weight=weight)
        out, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
        sess.run([cell.weights[0].assign(kernel), cell.weights[1].assign(bias)])
        ids, scores, count = sess.run([out.predicted_ids, out.beam_search_decoder_output.scores, lengths])
    for row, (beams, wanted) in enumerate(searched(kernel, bias, table, starts, end, width, steps, weight)):
        np.testing.assert_allclose(scores[row][len(beams[0][1]) - 1], wanted, rtol=1e-4, atol=1e-4)
        for b, (_, want, _, _, _, n) in enumerate(beams):
            assert list(ids[row, :len(want), b]) == want and count[row][b] == n


def test_greedy_decoding_is_sampling_at_a_very_low_temperature():
    with weft.Graph().as_default(), weft.Session() as sess:
        tf = weft
        cell = tf.nn.rnn_cell.BasicRNNCell(WORDS)
        found = []
        for helper in (seq2seq.GreedyEmbeddingHelper(TABLE, [1, 4], 2),
                       seq2seq.SampleEmbeddingHelper(TABLE, [1, 4], 2, 1e-5, seed=3)):
            decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([2, WORDS]))
            found.append(seq2seq.dynamic_decode(decoder, maximum_iterations=9))
        sess.run([tf.global_variables_initializer()])
        sess.run([v.assign(0.7 * np.random.RandomState(4).randn(*v.shape.as_list())) for v in tf.trainable_variables()])
        weights = sess.run(tf.trainable_variables())
        (greedy, _, lengths), (cold, _, _) = sess.run([(out.sample_id, state, n) for out, state, n in found])
    for row, token in enumerate([1, 4]):
        state, ids = np.zeros(WORDS), []
        for _ in range(9):
            state = np.tanh(np.concatenate([TABLE[token], state]) @ weights[0] + weights[1])
            token = int(state.argmax())
            ids.append(token)
            if token == 2:
                break
        assert list(greedy[row][:len(ids)]) == ids and lengths[row] == len(ids)
        n = min(len(ids), cold.shape[1])
        assert list(cold[row][:n]) == ids[:n]  # a very low temperature leaves no choice


def test_monotonic_attention_is_the_same_in_its_two_soft_modes():
    p, before = RNG.uniform(0.05, 0.95, (2, 5)).astype(np.float32), softmax(RNG.randn(2, 5)).astype(np.float32)
    wanted = np.zeros((2, 5))
    for row in range(2):
        q = 0.0
        for j in range(5):
            q = (0 if j == 0 else (1 - p[row, j - 1]) * q) + before[row, j]
            wanted[row, j] = p[row, j] * q
    with weft.Graph().as_default(), weft.Session() as sess:
        for mode in ("recursive", "parallel"):
            np.testing.assert_allclose(sess.run(seq2seq.monotonic_attention(p, before, mode)), wanted, rtol=1e-4)
        hard = sess.run(seq2seq.monotonic_attention((p > 0.5).astype(np.float32), np.eye(5, dtype=np.float32)[[1, 0]], "hard"))
    assert set(np.unique(hard)) <= {0.0, 1.0} and (hard.sum(1) <= 1).all()


def test_scheduled_helpers_read_what_was_given_or_what_was_decoded():
    inputs = np.abs(RNG.randn(2, 3, WORDS)).astype(np.float32)
    with weft.Graph().as_default(), weft.Session() as sess:
        tf = weft
        state, cell = tf.zeros([2, WORDS]), tf.nn.rnn_cell.BasicRNNCell(WORDS)
        made = [seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, h, state))[0].rnn_output for h in (
            seq2seq.TrainingHelper(inputs, [3, 3]), seq2seq.ScheduledOutputTrainingHelper(inputs, [3, 3], 0.0),
            seq2seq.ScheduledOutputTrainingHelper(inputs, [3, 3], 1.0, next_inputs_fn=lambda x: x * 2),
            seq2seq.ScheduledEmbeddingTrainingHelper(inputs, [3, 3], np.ones([WORDS, WORDS], np.float32), 1.0))]
        sess.run(tf.global_variables_initializer())
        weights, (given, never, always, embedded) = sess.run([tf.trainable_variables(), made])
    np.testing.assert_allclose(given, never, rtol=1e-6)

    def step(x, s):
        return np.tanh(np.concatenate([x, s], 1) @ weights[0] + weights[1])
    first = step(inputs[:, 0], np.zeros((2, WORDS)))
    np.testing.assert_allclose(always[:, 1], step(2 * first, first), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(embedded[:, 1], step(np.ones((2, WORDS)), first), rtol=1e-4, atol=1e-5)


def test_sequence_loss_is_the_weighted_mean_of_cross_entropies():
    logits, targets = RNG.randn(2, 3, 4).astype(np.float32), np.array([[1, 2, 3], [0, 0, 1]])
    weights = np.array([[1, 0.5, 0], [1, 0, 0]], np.float32)
    loss = -np.log(np.take_along_axis(softmax(logits), targets[:, :, None], 2))[:, :, 0] * weights
    with weft.Graph().as_default(), weft.Session() as sess:
        def found(*flags):
            return sess.run(seq2seq.sequence_loss(logits, targets, weights, *flags))
        np.testing.assert_allclose(found(), loss.sum() / weights.sum(), rtol=1e-5)
        np.testing.assert_allclose(found(True, False), loss.sum(1) / weights.sum(1), rtol=1e-5)
        np.testing.assert_allclose(found(False, True), loss.sum(0) / (weights.sum(0) + 1e-12), rtol=1e-5)
        np.testing.assert_allclose(found(False, False), loss, rtol=1e-5)
        np.testing.assert_allclose(found(False, False, True, True), loss.sum() / 3, rtol=1e-5)
        np.testing.assert_allclose(found(False, False, False, True), loss.sum(0) / np.array([2, 1, 1]), rtol=1e-5)
        with pytest.raises(ValueError, match="cannot be set to True at same time"):
            found(True, True, True, False)


@pytest.mark.parametrize("steps,lengths", [(4, [4, 3, 1, 0]), (1, [1, 1, 0, 1])])
@pytest.mark.parametrize("known", [True, False])
def test_chains_of_tags_are_those_of_all_sequences(steps, lengths, known):
    rng = np.random.RandomState(0)
    x, between, tags = rng.randn(4, steps, 3).astype(np.float32), rng.randn(3, 3).astype(np.float32), rng.randint(0, 3, (4, steps))
    with weft.Graph().as_default(), weft.Session() as sess:
        tf = weft
        given = tf.placeholder(tf.float32, [4, steps, 3] if known else [None, None, 3])
        likely, _ = crf.crf_log_likelihood(given, tags, lengths, between)
        best, score = crf.crf_decode(given, between, lengths)
        allowed = np.arange(3) != 1
        only, _ = crf.crf_constrained_decode(given, np.broadcast_to(allowed, x.shape), between, lengths)
        likely, grad, best, score, only = sess.run([likely, tf.gradients(likely, given)[0], best, score, only], {given: x})
    for row, n in enumerate(lengths):
        def total(path):
            return sum(x[row, i, t] for i, t in enumerate(path)) + sum(between[a, b] for a, b in zip(path, path[1:]))
        paths = {p: total(p) for p in itertools.product(range(3), repeat=n)}
        chances = np.exp(list(paths.values()))
        np.testing.assert_allclose(likely[row], paths[tuple(tags[row][:n])] - np.log(chances.sum()), rtol=1e-4, atol=1e-5)
        if n == 0:
            continue
        winner = max(paths, key=paths.get)
        assert tuple(best[row][:n]) == winner and tuple(crf.viterbi_decode(x[row, :n], between)[0]) == winner
        np.testing.assert_allclose(score[row], paths[winner], rtol=1e-5)
        assert tuple(only[row][:n]) == max((p for p in paths if 1 not in p), key=paths.get)
        for i in range(n):
            share = [sum(c for p, c in zip(paths, chances) if p[i] == t) / chances.sum() for t in range(3)]
            np.testing.assert_allclose(grad[row, i], np.eye(3)[tags[row, i]] - share, rtol=1e-3, atol=1e-4)


def test_tensordot_of_unknown_sizes():
    a, b = RNG.randn(2, 3, 4).astype(np.float32), RNG.randn(4, 5).astype(np.float32)
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            x, y = tf.placeholder(tf.float32, [None, None, None]), tf.placeholder(tf.float32, [None, 5])
            made = tf.tensordot(x, y, 1)
            assert made.shape.as_list() == [None, None, 5]
            np.testing.assert_allclose(sess.run(made, {x: a, y: b}), np.tensordot(a, b, 1), rtol=1e-4)
