"""tf.contrib.input_pipeline: returns the strings of a list in turn, using a counter that several workers share."""
import random

import weft as tf
from weft._core.framework.build import op


def obtain_next(string_list_tensor, counter):
    """Returns the string after the one at the counter; the first string follows the last one.

    Args:
      string_list_tensor: a vector of strings.
      counter: a reference variable of int64 with one number, at first -1; it is set to the place of the string.
    """
    return op("ObtainNext", list=string_list_tensor, counter=counter)


def _counter(name, start):
    return tf.get_variable(name, initializer=tf.constant(start, tf.int64), dtype=tf.int64, trainable=False, use_resource=False)


def _maybe_shuffled(string_list, seed):
    if seed is not None:
        string_list = list(string_list)
        random.Random(seed).shuffle(string_list)
    return string_list


def seek_next(string_list, shuffle_seed=None, num_epochs=None):
    """Returns a tensor that gives the next string in each run.

    Args:
      string_list: a list of strings.
      shuffle_seed: the seed of their order; None leaves it as it is.
      num_epochs: how often each is given before the error OutOfRange; None gives them without end.
    """
    with tf.variable_scope("obtain_next"):
        counter = _counter("obtain_next_counter", -1)
        with tf.colocate_with(counter):
            strings = tf.constant(_maybe_shuffled(string_list, shuffle_seed), name="string_list")
            if not num_epochs:
                return obtain_next(strings, counter)
            given = _counter("obtain_next_expanded_counter", 0)
            with tf.control_dependencies([given.count_up_to(num_epochs * len(string_list))]):
                return obtain_next(strings, counter)
