"""Tables with keys of any shape: the static shapes of what is found, and lookups with brackets, as in TensorFlow."""
import both


def test_shapes_of_what_is_found():
    def program(tf):
        def table(value, empty, deleted):
            return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, default_value=value, empty_key=empty, deleted_key=deleted)
        keys = [tf.constant(11, tf.int64), tf.constant([11, 12], tf.int64), tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.int64),
                tf.placeholder(tf.int64, [4, None, 2])]
        return [str(t.lookup(k).shape) for t in (table(-1, 0, -1), table([0, 0], 0, -1)) for k in keys] + [
            str(table(-1, [0, 0], [-1, -1]).lookup(k).shape) for k in keys[1:]]
    both.both(program, same_nodes=False)


def test_brackets_look_up():
    def program(tf):
        dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1)
        fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
        return [dense[tf.constant([11], tf.int64)], fixed[tf.constant(["a", "b"])]]
    both.both(program, same_nodes=False)
