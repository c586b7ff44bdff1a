"""A small CTC recognizer: bidirectional LSTM, ctc_loss, beam search, label error rate."""
import numpy as np
import tensorflow as tf

num_features, num_hidden, num_classes, batch = 6, 12, 5, 4


def sparse_tuple_from(sequences, dtype=np.int32):
    indices, values = [], []
    for n, seq in enumerate(sequences):
        indices.extend(zip([n] * len(seq), range(len(seq))))
        values.extend(seq)
    indices = np.asarray(indices, dtype=np.int64)
    return indices, np.asarray(values, dtype=dtype), np.asarray([len(sequences), indices.max(0)[1] + 1], np.int64)


def speech(rng):
    labels = [list(rng.randint(0, num_classes - 1, rng.randint(2, 4))) for _ in range(batch)]
    lengths = [4 * len(l) + 2 for l in labels]
    x = np.zeros((batch, max(lengths), num_features), np.float32)
    for b, l in enumerate(labels):
        for i, c in enumerate(l):
            x[b, 4 * i:4 * i + 4, c] = 1.0
        x[b] += 0.1 * rng.randn(*x[b].shape)
    return x, sparse_tuple_from(labels), np.asarray(lengths, np.int32), labels


graph = tf.Graph()
with graph.as_default():
    inputs = tf.placeholder(tf.float32, [None, None, num_features])
    targets = tf.sparse_placeholder(tf.int32)
    seq_len = tf.placeholder(tf.int32, [None])
    init = tf.random_uniform_initializer(-0.2, 0.2, seed=5)
    fw = tf.nn.rnn_cell.LSTMCell(num_hidden, state_is_tuple=True, initializer=init)
    bw = tf.nn.rnn_cell.LSTMCell(num_hidden, state_is_tuple=True, initializer=init)
    (out_fw, out_bw), _ = tf.nn.bidirectional_dynamic_rnn(fw, bw, inputs, seq_len, dtype=tf.float32)
    outputs = tf.concat([out_fw, out_bw], 2)
    shape = tf.shape(inputs)
    W = tf.get_variable("W", [2 * num_hidden, num_classes], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
    b = tf.get_variable("b", [num_classes], initializer=tf.zeros_initializer())
    logits = tf.matmul(tf.reshape(outputs, [-1, 2 * num_hidden]), W) + b
    logits = tf.transpose(tf.reshape(logits, [shape[0], -1, num_classes]), (1, 0, 2))
    loss = tf.nn.ctc_loss(targets, logits, seq_len)
    cost = tf.reduce_mean(loss)
    tvars = tf.trainable_variables()
    grads, norm = tf.clip_by_global_norm(tf.gradients(cost, tvars), 5.0)
    rate = tf.Variable(0.05, trainable=False)
    train_op = tf.train.MomentumOptimizer(rate, 0.9).apply_gradients(zip(grads, tvars))
    decoded, log_prob = tf.nn.ctc_beam_search_decoder(logits, seq_len, merge_repeated=False)
    greedy, _ = tf.nn.ctc_greedy_decoder(logits, seq_len)
    ler = tf.reduce_mean(tf.edit_distance(tf.cast(decoded[0], tf.int32), targets))

with tf.Session(graph=graph) as session:
    tf.global_variables_initializer().run()
    rng = np.random.RandomState(11)
    x, y, lengths, labels = speech(rng)
    feed = {inputs: x, targets: y, seq_len: lengths}
    for epoch in range(40):
        c, n, _ = session.run([cost, norm, train_op], feed)
        if epoch % 10 == 0:
            error = session.run(ler, feed)
            print("Epoch {}/40, train_cost = {:.3f}, norm = {:.3f}, train_ler = {:.3f}".format(epoch, c, n, error))
    found, again, score = session.run([decoded[0], greedy[0], log_prob], feed)
    for i in range(batch):
        ours = [int(v) for (r, _), v in zip(found.indices, found.values) if r == i]
        other = [int(v) for (r, _), v in zip(again.indices, again.values) if r == i]
        print("Original:", [int(v) for v in labels[i]], "Decoded:", ours, "Greedy:", other, "%.3f" % score[i, 0])
