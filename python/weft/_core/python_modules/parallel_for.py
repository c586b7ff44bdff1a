"""tensorflow.python.ops.parallel_for: applies a function to each index, and computes Jacobians with it."""
import weft as tf
from weft._core.framework.nest import flatten, pack_sequence_as


def for_loop(loop_fn, loop_fn_dtypes, iters, parallel_iterations=None):
    """Returns the outputs of loop_fn(i) for i of range(iters), each stacked; loop_fn_dtypes has their types."""
    kinds = flatten(loop_fn_dtypes)

    def body(i):
        made = flatten(loop_fn(i))
        if len(made) != len(kinds):
            raise ValueError("Number of expected outputs, %d, does not match the number of actual outputs, %d" % (len(kinds), len(made)))
        return [tf.convert_to_tensor(x) for x, kind in zip(made, kinds) if kind is not None]
    asked = [kind for kind in kinds if kind is not None]
    steps = iter(tf.map_fn(body, tf.range(iters), dtype=asked, parallel_iterations=parallel_iterations) if asked else ())
    return pack_sequence_as(loop_fn_dtypes, [None if kind is None else next(steps) for kind in kinds])


def jacobian(output, inputs, use_pfor=True, parallel_iterations=None):
    """Returns the derivative of each element of output by each of inputs: shape(output) + shape(input), or None where
    there is none.
    """
    flat, rows = flatten(inputs), tf.reshape(output, [-1])
    there = [g is not None for g in tf.gradients(rows, flat)]
    kinds = [x.dtype.base_dtype if yes else None for x, yes in zip(flat, there)]
    found = for_loop(lambda i: tf.gradients(tf.gather(rows, i), flat), kinds, tf.size(rows), parallel_iterations)
    size = tf.shape(output)
    for n, x in enumerate(flat):
        if found[n] is not None:
            found[n] = tf.reshape(found[n], tf.concat([size, tf.shape(x)], 0))
            found[n].set_shape(output.shape.concatenate(x.shape))
    return pack_sequence_as(inputs, found)


def batch_jacobian(output, inp, use_pfor=True, parallel_iterations=None):
    """Returns the derivative of output[b] by inp[b] for each row b, where no row depends on another: [b, output's,
    input's].
    """
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError("Need first dimension of output shape (%s) and inp shape (%s) to match." % (output.shape, inp.shape))
    batch = inp.shape[:1].concatenate(output.shape[1:]).concatenate(inp.shape[1:])
    with tf.control_dependencies([tf.assert_equal(tf.shape(output)[0], tf.shape(inp)[0])]):
        rows = tf.reshape(output, [tf.shape(output)[0], tf.size(output) // tf.maximum(tf.shape(output)[0], 1)])
    if tf.gradients(rows, inp)[0] is None:
        return None
    found = for_loop(lambda i: tf.gradients(tf.gather(rows, i, axis=1), inp), [inp.dtype.base_dtype], tf.shape(rows)[1],
                     parallel_iterations)[0]
    found = tf.reshape(tf.transpose(found, tf.concat([[1, 0], tf.range(2, tf.rank(found))], 0)),
                       tf.concat([tf.shape(output), tf.shape(inp)[1:]], 0))
    found.set_shape(batch)
    return found
