"""Variables that live for one step."""
import tensorflow as tf

from scenario import Fails, check

raw, v1 = tf.raw_ops, tf.compat.v1


def steps():
    def made(var_name, destroyed, **more):
        ref = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name=var_name, **more)
        value = v1.assign_add(v1.assign(ref, [1.0, 2.0]), [1.0, 1.0])
        return raw.DestroyTemporaryVariable(ref=value, var_name=destroyed)
    one = made("one", "one")
    return [one, one, made("", "named", name="named"), Fails(made("this", "other")),
            raw.DestroyTemporaryVariable(ref=v1.assign(raw.TemporaryVariable(shape=[], dtype=tf.string, var_name="s"), "x"), var_name="s")]


def test_a_temporary_variable_has_its_value_in_its_step():
    check(steps)
