"""Differences found by programs: which gradients are slices, and of which rows."""
import numpy as np

from machine import case


def table_gradient(tf, use_resource, reader):
    """(is it slices, their rows, its norm, its elements) of the gradient of what reader makes of a table."""
    with tf.Graph().as_default():
        table = tf.Variable(np.arange(12, dtype=np.float32).reshape(6, 2), use_resource=use_resource)
        gradient = tf.gradients(reader(table), table)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            norm, dense = session.run([tf.global_norm([gradient]), tf.convert_to_tensor(gradient)])
            slices = isinstance(gradient, tf.IndexedSlices)
            return slices, sorted(session.run(gradient.indices).tolist()) if slices else None, norm, dense


@case(nodes=False)
def slices_through_control_flow(tf):
    def rows(table, at):
        return tf.reduce_sum(tf.nn.embedding_lookup(table, at))

    def loop(reader):
        return lambda t: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + reader(t, i)), [0, 0.0])[1]
    yes = tf.placeholder_with_default
    readers = [loop(lambda t, i: rows(t, [i, i + 1])), loop(lambda t, i: tf.cond(i < 2, lambda: rows(t, [i]), lambda: 0.0)),
               lambda t: tf.cond(yes(True, []), lambda: rows(t, [1]), lambda: rows(t, [2, 3])),
               lambda t: tf.cond(yes(False, []), lambda: rows(t, [1]), lambda: 0.0) + rows(t, [4]),
               lambda t: tf.cond(yes(True, []), lambda: rows(t, [1]), lambda: tf.reduce_sum(t)),
               lambda t: tf.map_fn(lambda i: rows(t, [i]), tf.constant([1, 2, 3]), dtype=tf.float32),
               lambda t: rows(tf.Print(t, []), [1]) + rows(t, [1])]
    return [table_gradient(tf, use_resource, reader) for use_resource in (False, True) for reader in readers]
