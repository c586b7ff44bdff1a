"""Partial runs and callables as programs use them: what each call gives, or which error with which words."""
import re

import numpy as np

SCENARIOS = {}


def scenario(f):
    SCENARIOS[f.__name__] = f
    return f


def outcome(call, *args, **kwargs):
    """The value, or the name of the error's class and its words without what tells where the node was made."""
    try:
        made = call(*args, **kwargs)
    except Exception as e:  # noqa: BLE001 - that is the question
        said = re.sub(r"(?s)^Graph execution error:\n\n(Detected at .*\nNode: '[^']*'\n)?", "", getattr(e, "message", str(e)))
        said = re.sub(r"^From /job[^\n]*:\n|\[_Derived_\]", "", said)
        said = re.sub(r"/job:[^;]*;[0-9a-f]*;[^;]*;([^;]*);0:0", r"\1", said)  # the key of a rendezvous
        return type(e).__name__, re.sub(r"(?s)\n\t \[\[.*", "", said)
    return made


class Program:
    """v counts how often r1 = a + b was computed; r2 = r1 * c."""

    def __init__(self, tf):
        self.a, self.b, self.c = (tf.placeholder(tf.float32, [], name=n) for n in "abc")
        self.v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=False)
        with tf.control_dependencies([self.v.assign_add(1.0)]):
            self.r1 = tf.add(self.a, self.b, name="r1")
        self.r2 = tf.multiply(self.r1, self.c, name="r2")
        self.other = tf.add(self.a, 1.0, name="other")
        self.group = tf.group(self.r1, name="group")
        self.draw = tf.random_uniform([2], seed=3) + self.a
        self.bad = tf.check_numerics(self.a / self.b, "nothing", name="bad")


def run(tf, target, name):
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        p = Program(tf)
        with tf.Session(target) as sess:
            sess.run(p.v.initializer)
            return SCENARIOS[name](tf, sess, p)


def same(a, b):
    if isinstance(b, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b), (a, b)
        for x, y in zip(a, b):
            same(x, y)
    elif isinstance(b, (np.ndarray, np.generic, float)):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    else:
        assert a == b, (a, b)


# ---- the scenarios ----

@scenario
def in_two_calls(tf, sess, p):
    h = sess.partial_run_setup([p.r1, p.r2], [p.a, p.b, p.c])
    part = lambda *args: outcome(sess.partial_run, h, *args)  # noqa: E731
    return [h, part(p.r1, {p.a: 1, p.b: 2}), sess.run(p.v), part(p.r1), part(p.r1, {p.c: 1}), part(p.r2, {p.a: 1}),
            part(p.r2), part(p.r2, {p.c: 17}), part(p.r2, {p.c: 17}), part(p.r1), sess.run(p.v)]


@scenario
def all_at_once_twice_and_nothing(tf, sess, p):
    h = sess.partial_run_setup([p.r1, p.r2], [p.a, p.b, p.c])
    part = lambda *args: outcome(sess.partial_run, h, *args)  # noqa: E731
    first = [part([p.r2, p.r1, p.r2], {p.a: 1, p.b: 2, p.c: 3}), part(p.r2)]
    h = sess.partial_run_setup([p.r1, p.r1, {"x": [p.r2]}], [p.a, p.b, p.c])
    return first + [h, part([], {p.a: 1}), part({"y": (p.r1, [p.r1])}, {p.b: 1}), part([], {p.c: 1}), part(p.r2), sess.run(p.v)]


@scenario
def what_was_not_set_up(tf, sess, p):
    h = sess.partial_run_setup([p.r1], [p.a, p.b])
    part = lambda *args: outcome(sess.partial_run, h, *args)  # noqa: E731
    return [part(p.other, {p.a: 1, p.b: 2}), part(p.r1, {p.c: 1}), part(p.r1, {p.a: 1}), part(p.r1, {p.b: 1}),
            part([p.group, p.r1], {p.a: 1, p.b: 1}), part(p.r1, {p.a: 1, p.b: 1}), part(p.r1), sess.run(p.v)]


@scenario
def setups_that_are_refused(tf, sess, p):
    setup = lambda *args: outcome(sess.partial_run_setup, *args)  # noqa: E731
    return [setup([], [p.a]), setup([p.r1], [p.a, p.b, p.a]), setup([p.a, p.r1], [p.a, p.b]), setup([p.v], None),
            setup(p.group, p.a), outcome(sess.partial_run, "nonsense", p.r1), setup([p.r1])]


@scenario
def operations_are_run_with_the_rest(tf, sess, p):
    h = sess.partial_run_setup([p.group, p.other], [p.a, p.b])
    return [outcome(sess.partial_run, h, p.other, {p.a: 1}), outcome(sess.partial_run, h, [], {p.b: 1}), sess.run(p.v)]


@scenario
def a_tensor_in_the_middle_is_fed(tf, sess, p):
    h = sess.partial_run_setup([p.r2], [p.r1, p.c])
    return [sess.partial_run(h, p.r2, {p.r1: 5, p.c: 2}), sess.run(p.v)]


@scenario
def two_partial_runs_at_a_time(tf, sess, p):
    one, two = (sess.partial_run_setup([p.other, p.r1], [p.a, p.b]) for _ in range(2))
    return [sess.partial_run(one, p.other, {p.a: 1}), sess.partial_run(two, p.other, {p.a: 5}),
            sess.partial_run(one, p.r1, {p.b: 7}), sess.partial_run(two, p.r1, {p.b: 8}), sess.run(p.v)]


@scenario
def random_numbers_go_on(tf, sess, p):
    first = sess.run(p.draw, {p.a: 0})
    h = sess.partial_run_setup([p.draw, p.r1], [p.a, p.b])
    return [first, sess.partial_run(h, p.draw, {p.a: 0}), sess.partial_run(h, p.r1, {p.b: 0}),
            sess.run(p.draw, {p.a: 0})]


@scenario
def a_node_fails(tf, sess, p):
    h = sess.partial_run_setup([p.bad, p.r1], [p.a, p.b])
    return [outcome(sess.partial_run, h, p.bad, {p.a: 0, p.b: 0}), outcome(sess.partial_run, h, p.r1)]


@scenario
def a_branch_that_is_not_taken(tf, sess, p):
    q = tf.placeholder(tf.bool, [], name="q")
    first, second = tf.raw_ops.Switch(data=p.a, pred=q)
    no, yes = tf.identity(first, name="no"), tf.identity(second, name="yes")
    h = sess.partial_run_setup([no, yes], [p.a, q])
    return [outcome(sess.partial_run, h, no, {p.a: 1, q: False}), outcome(sess.partial_run, h, yes), outcome(sess.partial_run, h, yes)]


@scenario
def callables(tf, sess, p):
    both, one = sess.make_callable([p.r1, p.r2], [p.a, p.b, p.c]), sess.make_callable(p.r1, ["a:0", p.b])
    traced = sess.make_callable({"x": p.r1}, [p.a, p.b], accept_options=True)
    metadata = tf.RunMetadata()
    return [both(1, 2, 3), [both(i, 1, 2) for i in range(3)], one(4, 5), outcome(one, [1, 2], 3), sess.run(p.v),
            traced(1, 2, options=tf.RunOptions(trace_level=3), run_metadata=metadata)["x"], len(metadata.step_stats.dev_stats) > 0,
            outcome(sess.make_callable, p.r1, p.a), sess.make_callable([p.group, p.r1], [p.a, p.b])(1, 2),
            sess.make_callable(p.v.initializer)(), sess.run(p.v), outcome(sess.make_callable(p.r1, [p.a]), 1), outcome(one, 1)]
