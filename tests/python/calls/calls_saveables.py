"""What programs save besides variables: SaveableObjects of their own, and builders that they derive."""
import importlib
import os

from machine import case


def builders():
    return importlib.import_module("tensorflow.python.training.saver").BaseSaverBuilder


def said(f):
    try:
        return f()
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__, str(e)


def pair(tf, first, second, name):
    """A SaveableObject of two variables, of which the second is saved twice as large."""
    base = builders()

    class Pair(base.SaveableObject):
        def __init__(self):
            specs = [base.SaveSpec(first.read_value(), "", name + "-first"),
                     base.SaveSpec(lambda: second * 2.0, "", name + "-second", dtype=tf.float32, device="")]
            super().__init__(first.op, specs, name)

        def restore(self, restored_tensors, restored_shapes):
            return tf.group(first.assign(restored_tensors[0]), second.assign(restored_tensors[1] * 0.5))

    return Pair()


def variables(tf):
    return [tf.Variable([1.0, 2.0], name="a", use_resource=False), tf.Variable([3.0, 4.0], name="b", use_resource=True),
            tf.Variable([[5.0]], name="c", use_resource=False)]


def through_files(tf, saver, path, values, **more):
    """The checkpoint that a saver writes, and the values that it restores."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saved = saver.save(sess, path, **more)
        reader = tf.train.NewCheckpointReader(saved)
        held = [(name, reader.get_tensor(name)) for name in sorted(reader.get_variable_to_shape_map())]
        sess.run([v.initializer for v in values] + [v.assign(v * 0.0) for v in values])
        saver.restore(sess, saved)
        return [saved, held, sess.run(values), str(saver.saver_def.restore_op_name)]


@case
def a_saveable_of_a_program(tf):
    a, b, c = variables(tf)
    saver = tf.train.Saver([pair(tf, a, b, "two"), c])
    return through_files(tf, saver, "./plain", [a, b, c])


@case
def a_saveable_in_shards(tf):
    a, b, c = variables(tf)
    saver = tf.train.Saver([pair(tf, a, b, "two"), c], sharded=True, pad_step_number=True, reshape=True, name="shards")
    return through_files(tf, saver, "./shards", [a, b, c], global_step=7)


@case
def a_saveable_of_a_collection(tf):
    a, b, c = variables(tf)
    d = tf.get_variable("d", [4], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, pair(tf, a, b, "two"))
    saver = tf.train.Saver(save_relative_paths=True)
    found = through_files(tf, saver, os.path.abspath("collected"), [a, b, c, *d])[1:]
    return [found, open("checkpoint").read()]


@case
def a_builder_of_a_program(tf):
    a, b, c = variables(tf)
    seen = []

    class Mine(builders()):
        def save_op(self, filename_tensor, saveables):
            seen.append([filename_tensor.name, [s.name for s in saveables]])
            return super().save_op(filename_tensor, saveables)

        def restore_op(self, filename_tensor, saveable, preferred_shard):
            seen.append([saveable.name, saveable.device, preferred_shard])
            return super().restore_op(filename_tensor, saveable, preferred_shard)

    saver = tf.train.Saver([a, b, c], builder=Mine(), name="mine")
    return [through_files(tf, saver, "./mine", [a, b, c]), seen]


@case
def builders_alone(tf):
    a, b, c = variables(tf)
    base = builders()
    made = [base().build([a, b]), base().build({"other": c}, name="some", max_to_keep=2, keep_checkpoint_every_n_hours=3.0),
            base(write_version=1).build([a, c], reshape=True, name="old")]
    spec = base.SaveSpec(a.read_value(), "", "x")
    abstract = base.SaveableObject(a.op, [spec], "x")
    return [[(m.filename_tensor_name, m.save_tensor_name, m.restore_op_name, m.max_to_keep, m.version) for m in made],
            spec.tensor, spec.dtype, spec.device, spec.slice_spec, spec.name, abstract.device, abstract.name,
            said(lambda: abstract.restore([], None)), said(lambda: base.SaveSpec(lambda: a, "", "x"))]
