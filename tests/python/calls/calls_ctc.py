"""Labels along frames."""
import numpy as np

from machine import case

X = np.random.RandomState(3).randn(6, 2, 4).astype(np.float32)


def labels(tf):
    return tf.SparseTensor(np.int64([[0, 0], [0, 1], [1, 0]]), np.int32([0, 1, 2]), [2, 2])


@case(nodes=False)
def losses(tf):
    x = tf.constant(X)
    loss = tf.nn.ctc_loss(labels(tf), x, [6, 4])
    turned = tf.nn.ctc_loss(labels(tf), np.transpose(X, [1, 0, 2]), [6, 4], time_major=False, ctc_merge_repeated=False)
    return [loss, turned, tf.identity(tf.gradients(loss, x)[0])]


@case(nodes=False)
def decoders(tf):
    paths, score = tf.nn.ctc_greedy_decoder(X, [6, 4])
    more, scores = tf.nn.ctc_beam_search_decoder(X, [6, 4], beam_width=5, top_paths=2, merge_repeated=False)
    return [list(paths), score, list(more), scores]
