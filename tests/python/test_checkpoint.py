"""tf.train.Checkpoint, CheckpointManager and tf.Module: files, statuses and errors are TensorFlow's, in both directions."""
import os
import re

import numpy as np
import pytest
import tensorflow.compat.v1 as oracle

import weft
from both import both, both_raise, outcome, same_in_folders
from weft._core.framework import protos

oracle.disable_v2_behavior()


def model(tf, start=1.0):
    """Variables of both kinds in attributes, lists, dictionaries and tuples, layers, cells and two optimizers."""
    class Net(tf.Module):
        def __init__(self):
            super().__init__(name="net")
            self.w = tf.get_variable("w", [2, 3], initializer=tf.constant_initializer(start))
            self.parts = [tf.Variable(start, name="l0", use_resource=True), {"k": tf.Variable(2 * start, name="lk")}, 7, []]
            self.named = {"a": tf.Variable(3 * start, name="da"), "b/c.d": tf.Variable(4 * start, name="db")}
            self.pair = (tf.Variable(5 * start, name="t0"), 3)
            self.numbers, self.text, self.empty = (1, 2), "text", {}
    net = Net()

    class Dense(tf.layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight("first/kernel", [3, 4], initializer=tf.ones_initializer())
            self.listed = [self.add_weight("bias", [4], initializer=tf.zeros_initializer())]
            super().build(shape)

        def call(self, x):
            return tf.matmul(x, self.kernel) + self.listed[0]
    dense = Dense(name="dense")
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.BasicLSTMCell(2), 0.9)])
    y = dense(net.w * net.parts[0])
    cell(y, cell.zero_state(2, tf.float32))
    step = tf.train.get_or_create_global_step()
    adam, momentum = tf.train.AdamOptimizer(0.1), tf.train.MomentumOptimizer(0.1, 0.9)
    loss = tf.reduce_sum(y) + tf.reduce_sum(net.w) + net.named["a"]
    train = tf.group(adam.minimize(loss, step, var_list=[net.w, net.parts[0], dense.kernel]),
                     momentum.minimize(loss, var_list=[net.named["a"]]))
    return train, tf.train.Checkpoint(net=net, dense=dense, cell=cell, step=step, adam=adam, other=momentum)


def save(tf, folder):
    """Trains a step and saves twice; returns the path and all values of the graph."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(3)
        train, checkpoint = model(tf)
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        checkpoint.save(folder + "/ckpt", session=sess)
        nodes = len(tf.get_default_graph().as_graph_def().node)
        path = checkpoint.save(folder + "/ckpt", session=sess)
        assert len(tf.get_default_graph().as_graph_def().node) == nodes
        return path, {v.op.name: sess.run(v) for v in tf.global_variables()}


def restore(tf, path):
    with tf.Graph().as_default(), tf.Session() as sess:
        _, checkpoint = model(tf, start=100.0)
        status = checkpoint.restore(path)
        status.assert_consumed().assert_existing_objects_matched().run_restore_ops(sess)
        return {v.op.name: sess.run(v) for v in tf.global_variables()}


def described(tf, path):
    reader = tf.train.load_checkpoint(path)
    text = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    return str(protos.TrackableObjectGraph.FromString(text)), tf.train.list_variables(path), \
        {n: str(t) for n, t in reader.get_variable_to_dtype_map().items()}


def test_each_system_restores_what_the_other_saved(tmp_path):
    paths, values = {}, {}
    for tf in (weft, oracle):
        paths[tf], values[tf] = save(tf, str(tmp_path / tf.__name__))
        assert os.path.basename(paths[tf]) == "ckpt-2" == os.path.basename(tf.train.latest_checkpoint(str(tmp_path / tf.__name__)))
    ours, theirs = (described(tf, paths[tf]) for tf in (weft, oracle))
    assert ours[1:] == theirs[1:]
    assert ours[0].split("\n") == theirs[0].split("\n")
    assert described(weft, paths[oracle]) == theirs
    for reader, writer in ((weft, oracle), (oracle, weft), (weft, weft)):
        found = restore(reader, paths[writer])
        assert found.keys() == values[writer].keys()
        for name, value in values[writer].items():
            np.testing.assert_array_equal(found[name], value)
    names = [open(tmp_path / tf.__name__ / "checkpoint").read() for tf in (weft, oracle)]
    assert names[0] == names[1]


def said(fn):
    """The class and text of an error, without addresses; the name of the class of a status."""
    found = outcome(fn)
    return re.sub(r"<[^<>]*Checkpoint[^<>]* object at 0x\w+>|<tf.Variable [^<>]*>", "<x>", found) if isinstance(found, str) \
        else type(found).__name__.replace("V1", "")


def statuses(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    u, x = tf.Variable(7.0, name="u"), tf.Variable(8, name="x")
    out = []
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(v=v, w=w).save("a/b/m", session=sess)
        out.append((path, sorted(os.listdir("a/b"))))
        out.append((tf.train.Checkpoint(v=v).write("only", session=sess), os.path.exists("checkpoint")))

        def tried(path, **objects):
            checkpoint = tf.train.Checkpoint(**objects)
            status = checkpoint.restore(path)
            out.append([said(status.assert_consumed), said(status.assert_existing_objects_matched),
                        said(status.assert_nontrivial_match), type(status).__name__])
            sess.run([v.assign(0.0), w.assign(0.0), u.assign(0.0), x.assign(0)])
            for run in (status.run_restore_ops, status.initialize_or_restore):
                try:
                    run(sess)
                except Exception as e:  # noqa: BLE001 - that is the question
                    out.append(type(e).__name__)
                out.append(sess.run([v, w, u, x]))
        tried(path, v=v, w=w)
        tried(path, v=v, u=u)
        tried(path, v=v)
        tried(path, v=w)
        tried(path, v=x)
        tried(None, v=v, w=w)
        later = tf.train.Checkpoint()
        status = later.restore(path)
        later.v, later.w = v, w
        out.append(said(status.assert_consumed))
        status.run_restore_ops(sess)
        out.append(sess.run([v, w]))
        for var_list in ([v, w], {"v": w}, [v, u]):
            sess.run([v.assign(0.0), w.assign(0.0)])
            saver = tf.train.Saver(var_list)
            out.append(said(lambda: saver.restore(sess, path)))  # noqa: B023
            out.append(sess.run([v, w]))
        out.append(said(lambda: later.restore("absent")))
        out.append([said(lambda: tf.train.Checkpoint(a=3)), said(lambda: tf.train.Checkpoint(a=[3])),
                    said(lambda: tf.train.Checkpoint(a={1: v}).save("d", session=sess))])
        with sess.as_default():
            out.append((later.save("with_default"), sess.run(later.save_counter), later.save_counter.name))
    return out


def test_statuses_and_errors(tmp_path, monkeypatch):
    same_in_folders(statuses, tmp_path, monkeypatch)


def test_checkpoints_of_a_saver_are_restored_by_name(tmp_path):
    with oracle.Graph().as_default(), oracle.Session() as sess:
        v, w = oracle.Variable(3.0, name="v"), oracle.Variable([4.0], name="w")
        sess.run(oracle.global_variables_initializer())
        path = oracle.train.Saver().save(sess, str(tmp_path / "m"))
    with weft.Graph().as_default(), weft.Session() as sess:
        v, w = weft.Variable(0.0, name="v", use_resource=True), weft.Variable([0.0], name="w")
        status = weft.train.Checkpoint(one=v, two=[w]).restore(path)
        status.run_restore_ops(sess)
        assert sess.run(v) == 3.0 and sess.run(w) == [4.0]
        with pytest.raises(AssertionError, match="Object not restored"):
            status.assert_consumed()
        missing = weft.train.Checkpoint(x=weft.Variable(1.0, name="x")).restore(path)
        with pytest.raises(weft.errors.NotFoundError, match="Key x not found"):
            missing.run_restore_ops(sess)


def manager(tf):
    v, step = tf.Variable(1.0, name="v"), tf.Variable(0, name="step")
    checkpoint = tf.train.Checkpoint(v=v)
    out = []
    with tf.Session().as_default() as sess:
        sess.run(tf.global_variables_initializer())
        made = tf.train.CheckpointManager(checkpoint, "m", max_to_keep=2)
        out.append([made.save() for _ in range(3)])
        out.append([made.latest_checkpoint, made.checkpoints, made.directory, made.checkpoint_interval])
        out.append([made.save(checkpoint_number=77), made.save(tf.constant(80, tf.int64)), sorted(os.listdir("m"))])
        out.append(re.sub(r"timestamps?: .*", "", open("m/checkpoint").read()))
        again = tf.train.CheckpointManager(checkpoint, "m", max_to_keep=3, checkpoint_name="other")
        out.append([again.checkpoints, again.latest_checkpoint, again.save(), again.save(), again.checkpoints])
        out.append(again.restore_or_initialize())
        every = tf.train.CheckpointManager(checkpoint, "n", max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
        out.append([every.save(), every.save(), every.save(), every.checkpoints, sorted(os.listdir("n"))])
        told = []
        paced = tf.train.CheckpointManager(checkpoint, "p", max_to_keep=None, step_counter=step, checkpoint_interval=2,
                                           init_fn=lambda: told.append(1))
        out.append([paced.restore_or_initialize(), told, paced.save(), paced.save(), sess.run(step.assign(2)), paced.save()])
        out.append([paced.save(check_interval=False), paced.checkpoints])
        for bad in (dict(max_to_keep=0), dict(max_to_keep=1, checkpoint_interval=2)):
            out.append(said(lambda: tf.train.CheckpointManager(checkpoint, "q", **bad)))  # noqa: B023
        options = tf.train.CheckpointOptions(experimental_io_device="/device:CPU:0")
        out.append(checkpoint.write("o", options=options))
    return out


def test_manager(tmp_path, monkeypatch):
    same_in_folders(manager, tmp_path, monkeypatch)


def modules(tf):
    class Inner(tf.Module):
        def __init__(self, name=None):
            super().__init__(name=name)
            with self.name_scope:
                self.w = tf.Variable(1.0, name="w")
            self.b = [tf.Variable(2.0, trainable=False, name="b"), {"z": tf.Variable(3.0, name="z")}]
            self.sub = None

        @tf.Module.with_name_scope
        def __call__(self, x):
            return tf.multiply(x, self.w, name="product")
    a, b = Inner(), Inner(name="bee")
    a.sub, b.sub = [b], a

    def names(found):
        return [v.name for v in found]
    class HTTPServer2Net(tf.Module):
        pass
    return [a(tf.constant(1.0)), a.name, b.name, Inner().name, HTTPServer2Net().name, names(a.variables),
            names(a.trainable_variables), names(a.non_trainable_variables), names(a.submodules), names(b.submodules)]


def test_modules():
    both(modules)
    ours, theirs = both_raise(lambda tf: tf.Module(name="a b"))
    assert ours[1:] == theirs[1:]
    assert ours[0].split("\n") == theirs[0].split("\n")


def test_values_of_python_are_held(tmp_path):
    with weft.Graph().as_default(), weft.Session().as_default():
        held = {"text": b"first"}
        state = weft.contrib.checkpoint.NumpyState()
        state.a = np.arange(3)
        wrapper = weft.contrib.checkpoint.PythonStateWrapper(lambda: held["text"], lambda s: held.update(text=s))
        listed = weft.contrib.checkpoint.List(weft.Variable(1.0))
        checkpoint = weft.train.Checkpoint(state=state, wrapper=wrapper, listed=listed)
        checkpoint.hidden = weft.contrib.checkpoint.NoDependency(weft.Variable(1.0, name="hidden"))
        weft.get_default_session().run(weft.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "m"))
        assert not [n for n, _ in weft.train.list_variables(path) if "hidden" in n]
        state.a, held["text"] = np.zeros(3), b"second"
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        assert list(state.a) == [0, 1, 2] and held["text"] == b"first"
        fresh = weft.contrib.checkpoint.NumpyState()
        weft.train.Checkpoint(state=fresh).restore(path)
        assert list(fresh.a) == [0, 1, 2]
        assert "root" in weft.contrib.checkpoint.dot_graph_from_checkpoint(path)
