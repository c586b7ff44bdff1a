"""Mutexes: one step at a time in a part of a graph."""
import tensorflow as tf

from scenario import check

raw, v1 = tf.raw_ops, tf.compat.v1


def guarded():
    mutex = raw.MutexV2(shared_name="m")
    v = v1.get_variable("v", initializer=0.0, use_resource=True)

    def add(what):
        lock = raw.MutexLock(mutex=mutex)
        with tf.control_dependencies([lock]):
            before = v.read_value()
            with tf.control_dependencies([v.assign(before + what)]):
                after = v.read_value()
        with tf.control_dependencies([after]):
            done = raw.ConsumeMutexLock(mutex_lock=lock)
        with tf.control_dependencies([done]):
            return tf.identity(after)
    adds = [add(1.0) for _ in range(8)]
    return [v.initializer, tf.reduce_max(tf.stack(adds)), v.read_value(), tf.reduce_max(tf.stack(adds)), v.read_value()]


def test_one_holder_at_a_time():
    check(guarded)
