"""What a reference variable's readers see after an update in the same step: in TensorFlow the read, and every op that only
passes a value on, shares the variable's memory, so the update shows."""
import numpy as np

from machine import case


def after(tf, ops, make):
    with tf.control_dependencies(ops):
        return make()


def in_turn(tf, first, *then):
    """Each of these runs after the one before it; gives the last."""
    for make in then:
        first = after(tf, [first], make)
    return first


def twice(tf, make):
    """The results of two steps, and what the variable holds then."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", initializer=np.float32([1, 2]))
        fetched = make(v, tf.placeholder_with_default(True, []))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return sess.run(fetched), sess.run(fetched), sess.run(v)


@case
def updates_in_branches(tf):
    def plus(v):
        return tf.assign_add(v, [5.0, 6.0])

    def branch(then, other=None):
        return twice(tf, lambda v, p: tf.cond(p, lambda: then(v, p), lambda: other(v) if other else v + 1.0))

    return (branch(lambda v, p: after(tf, [tf.assign(v, [5.0, 6.0])], lambda: tf.identity(v)), tf.identity),
            branch(lambda v, p: after(tf, [plus(v)], lambda: v + 0.0)),
            branch(lambda v, p: tf.cond(p, lambda: after(tf, [plus(v)], lambda: v * 1.0), lambda: v + 0.0)),
            branch(lambda v, p: after(tf, [tf.scatter_update(v, [0], [9.0])], lambda: v * 1.0)),
            branch(lambda v, p: after(tf, [plus(v)], lambda: tf.gather(v, [1, 0]))),
            branch(lambda v, p: after(tf, [tf.assign(v, [3.0, 4.0])], lambda: tf.gradients(tf.reduce_sum(v * v), v)[0])),
            branch(lambda v, p: after(tf, [plus(v)], lambda: v), lambda v: v),
            twice(tf, lambda v, p: tf.case([(p, lambda: after(tf, [tf.assign(v, [7.0, 7.0])], lambda: v + 0.0))], default=lambda: v + 1.0)))


@case
def updates_around_branches(tf):
    def outer(v, p):
        read = tf.identity(v)
        return tf.cond(p, lambda: after(tf, [tf.assign_add(v, [5.0, 6.0])], lambda: read * 1.0), lambda: read + 1.0)

    def merged(v, p):
        one = tf.cond(p, lambda: v, lambda: v + 1.0)
        return in_turn(tf, one, lambda: tf.assign_add(v, [5.0, 6.0]), lambda: one + 0.0)

    def two(v, p):
        w = tf.get_variable("w", initializer=np.float32([0, 0]))
        return tf.cond(p, lambda: in_turn(tf, tf.assign(w, v + 1.0), lambda: tf.assign(v, w * 2.0), lambda: v + w), lambda: v + w)

    return twice(tf, outer), twice(tf, merged), twice(tf, two)


@case
def updates_in_loops(tf):
    def plus(v):
        return tf.assign_add(v, [1.0, 1.0])

    def loop(step, first=None, predicate=lambda i, a, v: i < 3):
        return twice(tf, lambda v, p: tf.while_loop(lambda i, a: predicate(i, a, v), lambda i, a: (i + 1, step(a, v, p)),
                                                    [tf.constant(0), first(v) if first else tf.zeros([2])], parallel_iterations=1))

    return (loop(lambda a, v, p: after(tf, [plus(v)], lambda: a + v)),
            loop(lambda a, v, p: after(tf, [plus(v)], lambda: a + 10.0), lambda v: v),
            loop(lambda a, v, p: tf.cond(p, lambda: after(tf, [plus(v)], lambda: a + v), lambda: a)),
            loop(lambda a, v, p: after(tf, [plus(v)], lambda: a + 1.0), predicate=lambda i, a, v: v[0] < 5.0),
            loop(lambda a, v, p: (lambda old: in_turn(tf, old, lambda: plus(v), lambda: a + old))(v * 1.0)),
            twice(tf, lambda v, p: tf.map_fn(lambda x: after(tf, [plus(v)], lambda: v * x), tf.constant([1.0, 2.0, 3.0]),
                                             parallel_iterations=1)),
            twice(tf, lambda v, p: tf.scan(lambda a, x: after(tf, [plus(v)], lambda: v * x + a), tf.constant([1.0, 2.0, 3.0]),
                                           tf.zeros([2]), parallel_iterations=1)))


@case
def updates_after_reads(tf):
    def kept(read):
        def make(v, p):
            old = read(v)
            return in_turn(tf, old, lambda: tf.assign_add(v, [5.0, 6.0]), lambda: old + 0.0)
        return make

    def fetched(v, p):
        one = tf.identity(v)
        return [one, tf.stop_gradient(v), after(tf, [one], lambda: tf.assign_add(v, [5.0, 6.0])).op]

    return (twice(tf, kept(tf.identity)), twice(tf, kept(tf.stop_gradient)), twice(tf, kept(lambda v: tf.identity(tf.identity(v)))),
            twice(tf, kept(lambda v: v * 1.0)), twice(tf, kept(lambda v: v.read_value())), twice(tf, fetched),
            twice(tf, lambda v, p: in_turn(tf, tf.assign_add(v, [5.0, 6.0]), lambda: tf.identity(v))))


@case(nodes=False)
def loops_that_wait(tf):
    """Loops whose nodes wait for nodes outside: those around the loop, or named in its body."""
    def loop(v, body):
        return tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, body(a)), [tf.constant(0), tf.ones([2])], parallel_iterations=1)

    def around(v, p):
        return after(tf, [tf.assign_add(v, [5.0, 6.0]), tf.no_op()], lambda: loop(v, lambda a: a * v + 1.0))

    def named(v, p):
        update, nothing = tf.assign_add(v, [5.0, 6.0]), tf.no_op()
        return loop(v, lambda a: a + after(tf, [update], lambda: tf.constant([1.0, 2.0])) + after(tf, [nothing], lambda: tf.constant(3.0)))

    def in_branch(v, p):
        update = tf.assign_add(v, [5.0, 6.0])
        return after(tf, [update], lambda: loop(v, lambda a: tf.cond(p, lambda: after(tf, [update], lambda: a * 2.0 + v), lambda: a)))

    def inner(v, p):
        return after(tf, [tf.assign_add(v, [5.0, 6.0])],
                     lambda: loop(v, lambda a: tf.reduce_sum(tf.map_fn(lambda x: x * tf.constant(2.0), a)) + v))

    def counted(v, p):
        """The body's update runs once in each iteration, and not once more."""
        return after(tf, [tf.identity(p)], lambda: loop(
            v, lambda a: a + after(tf, [tf.assign_add(v, [1.0, 1.0])], lambda: tf.constant(1.0))))

    return [twice(tf, make) for make in (around, named, in_branch, inner, counted)]
