"""tf.contrib.data's transformations that TensorFlow 2 has not."""
import numpy as np

from calls_data import drained
from machine import case


@case(alone=True)
def windows(tf):
    numbers = tf.data.Dataset.range(7)
    assert np.array_equal(drained(tf, numbers.apply(tf.contrib.data.sliding_window_batch(3, stride=2))), [[0, 1, 2], [2, 3, 4], [4, 5, 6]])
    assert np.array_equal(drained(tf, numbers.apply(tf.contrib.data.sliding_window_batch(2, window_shift=3, window_stride=2))),
                          [[0, 2], [3, 5]])
    assert len(drained(tf, numbers.apply(tf.contrib.data.sliding_window_batch(window_size=3)))) == 5
    try:
        tf.contrib.data.sliding_window_batch(3, 1, 1)
    except ValueError as e:
        assert "Cannot specify both" in str(e)


@case(alone=True)
def shapes(tf):
    lists = tf.data.Dataset.range(1, 4).map(lambda i: (tf.fill([i], i), {"a": i}))
    any_size = lists.apply(tf.contrib.data.assert_element_shape(([None], {"a": []})))
    assert [len(x) for x, _ in drained(tf, any_size)] == [1, 2, 3]
    two = lists.apply(tf.contrib.data.assert_element_shape(expected_shapes=([2], {"a": []})))
    assert two.output_shapes[0].as_list() == [2]
    one = two.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        try:
            sess.run(one)
            raise AssertionError("an element of another shape was accepted")
        except tf.errors.InvalidArgumentError:
            pass
    try:
        tf.data.Dataset.range(3).apply(tf.contrib.data.assert_element_shape([2]))
        raise AssertionError("a shape that cannot be was accepted")
    except ValueError as e:
        assert "not compatible" in str(e)
