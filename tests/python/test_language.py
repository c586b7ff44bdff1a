"""Parts of the language that few programs use: partial runs, mapped imports, optimizers and schedules of the program's own."""
import numpy as np
import pytest

import weft
from both import both, compare, oracle


def test_a_step_in_parts_runs_each_node_once():
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            a, b, c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
            noise = tf.random_uniform([], seed=3)
            count = tf.Variable(0.)
            one = tf.assign_add(count, 1.) * 0 + a + b + noise
            two = one * c
            three = tf.stack([two, one]) + noise
            sess.run(tf.global_variables_initializer())
            handle = sess.partial_run_setup([one, two, three], [a, b, c])
            first = sess.partial_run(handle, one, feed_dict={a: 1, b: 2})
            second = sess.partial_run(handle, [two], feed_dict={c: first * 10})
            third = sess.partial_run(handle, {"three": three})
            assert sess.run(count) == 1
            np.testing.assert_allclose(second[0], first * first * 10, rtol=1e-5)
            np.testing.assert_allclose(third["three"], np.array([second[0], first]) + first - 3, rtol=1e-4)
            found.append([first, second, third])
    compare(found[0], found[1], 1e-4)


@pytest.mark.parametrize("wrong, text", [
    (lambda s, h, a, one, two: s.partial_run(h, two, {"never:0": 1.}), "was not specified in partial_run_setup"),
    (lambda s, h, a, one, two: (s.partial_run(h, one, {a: 1}), s.partial_run(h, two, {a: 1})), "has already been fed"),
    (lambda s, h, a, one, two: s.partial_run("mine", two), "setup"),
])
def test_wrong_parts_are_told(wrong, text):
    with weft.Graph().as_default(), weft.Session() as sess:
        a = weft.placeholder(weft.float32, [], name="a")
        weft.placeholder(weft.float32, [], name="never")
        one = a + 1
        two = one * 2
        handle = sess.partial_run_setup([one, two], [a])
        with pytest.raises(weft.errors.InvalidArgumentError, match=text):
            wrong(sess, handle, a, one, two)


def test_imported_nodes_take_mapped_inputs():
    def program(tf):
        with tf.Graph().as_default() as inner:
            x = tf.placeholder(tf.float32, [2], name="x")
            tf.add(tf.square(x, name="square"), tf.constant([1., 1.], name="one"), name="y")
            definition = inner.as_graph_def()
        mine = tf.constant([3., 4.], name="mine")
        y, square = tf.import_graph_def(definition, {"x": mine, "one:0": mine * 2}, return_elements=["y:0", "square"], name="in")
        names = [i.name for i in square.inputs] + [y.name]
        del definition.node[0]
        again, = tf.import_graph_def(definition, {"x:0": mine}, ["y:0"])
        return [y, again, names]
    both(program, same_nodes=False)


def test_an_import_that_maps_what_is_not_there_is_refused():
    for tf in (weft, oracle):
        with tf.Graph().as_default() as inner:
            tf.constant(1., name="one")
        with tf.Graph().as_default(), pytest.raises(ValueError, match="not found in graph_def"):
            tf.import_graph_def(inner.as_graph_def(), {"zzz:0": tf.constant(2.)})


def own(tf):
    from_where = tf.train.Optimizer

    class Own(from_where):
        """Momentum with a counter, as a program writes it."""

        def __init__(self, rate, name="Own"):
            super().__init__(False, name)
            self._rate = rate

        def _create_slots(self, var_list):
            for v in var_list:
                self._zeros_slot(v, "sum", self._name)
            self._create_non_slot_variable(0., "updates", min(var_list, key=lambda v: v.name))

        def _prepare(self):
            self._rate_tensor = tf.convert_to_tensor(self._rate)

        def _apply_dense(self, grad, var):
            total = self.get_slot(var, "sum").assign_add(grad)
            return var.assign_sub(self._rate_tensor * total).op

        def _apply_sparse(self, grad, var):
            return tf.scatter_sub(var, grad.indices, self._rate_tensor * grad.values).op

        def _finish(self, update_ops, name_scope):
            with tf.control_dependencies(update_ops):
                return self._get_non_slot_variable("updates", tf.get_default_graph()).assign_add(1., read_value=False) \
                    if tf is weft else tf.assign_add(self._get_non_slot_variable("updates", tf.get_default_graph()), 1.).op
    return Own


def test_an_optimizer_of_the_program_updates_as_on_tensorflow():
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            w = tf.Variable([1., 2.], name="w")
            e = tf.Variable([[1.], [2.], [3.]], name="e")
            step = tf.train.get_or_create_global_step()
            loss = tf.reduce_sum(tf.square(w)) + tf.reduce_sum(tf.gather(e, [0, 2, 2]))
            opt = own(tf)(0.1)
            train = opt.minimize(loss, step)
            sess.run(tf.global_variables_initializer())
            for _ in range(3):
                sess.run(train)
            found.append(sess.run([w, e, step, opt.get_slot(w, "sum")]) + [opt.get_slot(w, "sum").op.name, opt.get_slot_names()])
    compare(found[0][:4], found[1][:4])
    assert found[0][4:] == found[1][4:]


def test_an_optimizer_of_the_program_and_constraints_are_synchronized():
    for constrained in (False, True):
        found = []
        for tf in (weft, oracle):
            class Last(tf.train.SessionRunHook):
                def end(self, session):
                    found.append(session.run([w, e, step]))  # noqa: B023
            with tf.Graph().as_default():
                keep = (lambda x: tf.clip_by_value(x, 0.5, 2.0)) if constrained else None  # noqa: B023
                w, e = tf.Variable([1.0, 2.0], name="w", constraint=keep), tf.Variable([[1.0, 1.0], [2.0, 2.0]], name="e")
                loss = tf.reduce_sum(w * w) + tf.reduce_sum(e if constrained else tf.gather(e, [1, 1]))
                step = tf.train.get_or_create_global_step()
                sync = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1) if constrained else own(tf)(0.1), 1, 1)
                train = sync.minimize(loss, step)
                hooks = [sync.make_session_run_hook(True, num_tokens=0), tf.train.StopAtStepHook(last_step=4), Last()]
                with tf.train.MonitoredTrainingSession(hooks=hooks, stop_grace_period_secs=1) as sess:
                    while not sess.should_stop():
                        sess.run(train)
        compare(found[0], found[1])
        assert found[0][2] == 4


def test_hooks_may_run_operations_and_singular_sessions_lend_theirs():
    found = []
    for tf in (weft, oracle):
        class Counts(tf.train.SessionRunHook):
            def begin(self):
                self._count = tf.get_variable("count", [], initializer=tf.zeros_initializer())
                self._more = tf.group(tf.assign_add(self._count, 2.))
                self.seen = []

            def before_run(self, run_context):
                return self.SessionRunArgs([self._more, self._other])

            def after_run(self, run_context, run_values):
                self.seen.append((run_values.results[0], float(run_values.results[1]), run_context.original_args.fetches.name))
        hook = Counts()
        hook.SessionRunArgs = tf.train.SessionRunArgs
        with tf.Graph().as_default():
            x = hook._other = tf.constant(3., name="x")
            with tf.train.SingularMonitoredSession(hooks=[hook]) as sess:
                values = [sess.run(x) for _ in range(3)]
                count = sess.raw_session().run(hook._count)
                stopped = sess.should_stop()
        found.append((values, float(count), stopped, hook.seen))
    assert found[0] == found[1]


def test_schedules_take_tensors():
    def program(tf):
        step, rate, steps = tf.constant(7), tf.Variable(0.5), tf.Variable(4.)
        t = tf.train
        return [t.exponential_decay(rate, step, steps, 0.9), t.exponential_decay(rate, step, steps, 0.9, staircase=True),
                t.natural_exp_decay(rate, step, steps, 0.9), t.inverse_time_decay(rate, step, steps, 0.9),
                t.polynomial_decay(rate, step, steps, 0.1, power=2.), t.polynomial_decay(rate, step, steps, 0.1, cycle=True),
                t.cosine_decay(rate, step, 10 * steps, 0.1),
                t.piecewise_constant(step, [3, 7, 9], [rate, rate * 2, rate * 3, rate * 4])]
    both(program, same_nodes=False)
