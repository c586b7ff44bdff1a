"""tf.contrib.opt against the published formulas in numpy, with dense gradients and rows, for both kinds of variables."""
import numpy as np
import pytest

import weft as tf

opt = tf.contrib.opt
START, RATE = np.array([[1.0, -2.0], [3.0, 0.5], [-0.25, 6.0]]), 0.1


def adam(w, g, s, t, beta1=0.9, beta2=0.999, eps=1e-8, nesterov=False):
    m, v = s.setdefault("m", np.zeros_like(w)), s.setdefault("v", np.zeros_like(w))
    m[:] = beta1 * m + (1 - beta1) * g
    v[:] = beta2 * v + (1 - beta2) * g * g
    rate = RATE * np.sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
    w -= rate * (beta1 * m + (1 - beta1) * g if nesterov else m) / (np.sqrt(v) + eps)


def adam_w(w, g, s, t):
    w *= 1 - 0.05
    adam(w, g, s, t)


def momentum_w(w, g, s, t):
    w *= 1 - 0.05
    m = s.setdefault("m", np.zeros_like(w))
    m[:] = 0.9 * m + g
    w -= RATE * m


def ada_max(w, g, s, t):
    m, v = s.setdefault("m", np.zeros_like(w)), s.setdefault("v", np.zeros_like(w))
    m[:] = 0.9 * m + 0.1 * g
    v[:] = np.maximum(0.999 * v, abs(g))
    w -= RATE / (1 - 0.9 ** t) * m / (v + 1e-8)


def signs(multiplier):
    def step(w, g, s, t):
        m = s.setdefault("m", np.zeros_like(w))
        m[:] = 0.9 * m + 0.1 * g
        w -= RATE * multiplier(np.sign(g) * np.sign(m)) * g
    return step


def lars(w, g, s, t):
    m = s.setdefault("m", np.zeros_like(w))
    of_w, of_g = np.linalg.norm(w), np.linalg.norm(g)
    rate = RATE * 0.5 * of_w / (of_g + 0.01 * of_w)
    m[:] = 0.9 * m + g + 0.01 * w
    w -= rate * m


def adagrad(w, g, s, t):
    a = s.setdefault("a", np.full_like(w, 0.1))
    a[:] += g * g
    w -= RATE * g / np.sqrt(a)


def rms_w(w, g, s, t):
    w *= 1 - 0.05
    ms = s.setdefault("ms", np.ones_like(w))
    ms[:] = 0.9 * ms + 0.1 * g * g
    w -= RATE * g / np.sqrt(ms + 1e-10)


def nadam(w, g, s, t):
    adam(w, g, s, t, nesterov=True)


def step_of():
    return tf.train.get_or_create_global_step()


# name: (optimizer, formula, whether rows without a gradient stay as they are in all respects)
KINDS = {
    "AdamW": (lambda: opt.AdamWOptimizer(0.05, RATE), adam_w, False),
    "MomentumW": (lambda: opt.MomentumWOptimizer(0.05, RATE, 0.9), momentum_w, True),
    "extended": (lambda: opt.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer)(0.05, RATE), rms_w, True),
    "LazyAdam": (lambda: opt.LazyAdamOptimizer(RATE), adam, True),
    "LazyAdamGS": (lambda: opt.LazyAdamGSOptimizer(step_of(), RATE), adam, True),
    "AdamGS": (lambda: opt.AdamGSOptimizer(step_of(), RATE), adam, False),
    "Nadam": (lambda: opt.NadamOptimizer(RATE), nadam, False),
    "AdaMax": (lambda: opt.AdaMaxOptimizer(RATE), ada_max, True),
    "AddSign": (lambda: opt.AddSignOptimizer(RATE, alpha=1.5), signs(lambda same: 1.5 + same), False),
    "PowerSign": (lambda: opt.PowerSignOptimizer(RATE, base=2.0), signs(lambda same: 2.0 ** same), False),
    "LARS": (lambda: opt.LARSOptimizer(RATE, weight_decay=0.01, eeta=0.5), lars, None),
    "RegAdagrad": (lambda: opt.RegAdagradOptimizer(RATE), adagrad, True),
    "Multitask": (lambda: opt.MultitaskOptimizerWrapper(tf.train.AdamOptimizer(RATE)), adam, False),
}
ROWS = [[2, 0], [2, 2], [0, 2]]  # the rows that have a gradient in each step


def wanted(formula, rows, alone):
    w, state = START.copy(), {}
    for t in range(1, 4):
        if rows is None:
            formula(w, 2 * w + 1, state, t)
            continue
        g = np.zeros_like(w)
        for r in rows[t - 1]:
            g[r] += 2 * w[r] + 1
        touched = sorted(set(rows[t - 1]))
        before, kept = w.copy(), {k: v.copy() for k, v in state.items()}
        formula(w, g, state, t)
        for r in set(range(3)) - set(touched):
            if alone:
                w[r] = before[r]
                for k in state:
                    state[k][r] = kept.get(k, np.full_like(w, {"a": 0.1, "ms": 1.0}.get(k, 0.0)))[r]
    return w


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("resource", [False, True])
def test_three_steps_are_those_of_the_formula(name, resource):
    make, formula, alone = KINDS[name]
    for rows in (None,) if alone is None else (None, ROWS):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.train.create_global_step()
            w = tf.get_variable("w", initializer=START.astype(np.float32), use_resource=resource)
            chosen = tf.placeholder(tf.int32, [2])
            used = w if rows is None else tf.gather(w, chosen)
            train = make().minimize(tf.reduce_sum(used * used + used), global_step=step_of())
            sess.run(tf.global_variables_initializer())
            for t in range(3):
                sess.run(train, {chosen: ROWS[t]})
            found = sess.run(w)
        want = wanted(formula, rows, alone)
        if rows is not None and name in ("AdamW", "Nadam", "AdamGS", "AddSign", "PowerSign", "Multitask"):
            # The averages of other rows decay; rows that were never used stay.
            np.testing.assert_allclose(found[1], START[1], rtol=1e-6)
            if name in ("AddSign", "PowerSign"):
                np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5)
            continue
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-5, err_msg=name)


def test_weight_decay_of_some_variables_only():
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b = tf.Variable([1.0]), tf.Variable([1.0])
        train = opt.MomentumWOptimizer(0.5, 0.0, 0.0).minimize(tf.reduce_sum(a + b), decay_var_list=[a])
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run([a, b]) == [[0.5], [1.0]]


def test_the_swapping_saver_writes_averages_under_the_names_of_variables(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable([8.0], name="w")
        optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.25), average_decay=0.5)
        with pytest.raises(RuntimeError, match="apply_gradients"):
            optimizer.swapping_saver()
        train = optimizer.minimize(tf.reduce_sum(w * w))
        saver = optimizer.swapping_saver()
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        path = saver.save(sess, str(tmp_path / "m"))
        shadow = [v for v in tf.global_variables() if v is not w][0]
        assert sess.run([w, shadow]) == [[4.0], [6.0]]
        read = tf.train.load_checkpoint(path)
        assert (read.get_tensor("w"), read.get_tensor("w/ExponentialMovingAverage")) == ([6.0], [4.0])
        sess.run([w.assign([0.0]), shadow.assign([0.0])])
        saver.restore(sess, path)
        assert sess.run([w, shadow]) == [[4.0], [6.0]]


def test_elastic_averaging_moves_worker_and_center_towards_each_other():
    with tf.Graph().as_default(), tf.Session() as sess:
        getter = opt.ElasticAverageCustomGetter("/cpu:0")
        with tf.variable_scope("", custom_getter=getter):
            w = tf.get_variable("w", initializer=np.array([1.0], np.float32))
        assert [v.op.name for v in tf.global_variables()] == ["global_center_variable/w"]
        assert [v.op.name for v in tf.local_variables()] == ["w", "local_center_variable/w"]
        assert tf.trainable_variables() == [w]
        step = tf.train.create_global_step()
        optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 2, getter, communication_period=2,
                                                moving_rate=0.25, rho=0.0)
        train = optimizer.minimize(tf.reduce_sum(2.0 * w), global_step=step)
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run(optimizer.get_init_op(0))
        seen = []
        for _ in range(4):
            sess.run(train)
            seen.append([float(v[0]) for v in sess.run([w, getter._global_map[w]])] + [int(sess.run(step))])
    x, center, wanted_values = 1.0, 1.0, []
    for i in range(4):
        x -= 0.2
        if i % 2:
            move = 0.25 * (x - center)
            x, center = x - move, center + move
        wanted_values.append([x, center, (i + 1) // 2])
    np.testing.assert_allclose(seen, wanted_values, rtol=1e-5)


def test_stale_gradients_are_dropped_and_variables_clipped():
    with tf.Graph().as_default(), tf.Session() as sess:
        step, w = tf.train.create_global_step(), tf.Variable([3.0, 4.0])
        fresh = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.5), 0).minimize(tf.reduce_sum(w), global_step=step)
        clipped = opt.VariableClippingOptimizer(tf.train.GradientDescentOptimizer(0.0), {w: [0]}, 1.0).minimize(tf.reduce_sum(w))
        with tf.variable_scope("late"):
            late = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.5), -1).minimize(tf.reduce_sum(w), global_step=step)
        sess.run(tf.global_variables_initializer())
        sess.run(fresh)
        np.testing.assert_allclose(sess.run(w), [2.5, 3.5])
        assert sess.run(late) == 1.0
        np.testing.assert_allclose(sess.run([w, step])[0], [2.5, 3.5])
        sess.run(clipped)
        np.testing.assert_allclose(sess.run(w), np.array([2.5, 3.5]) / np.hypot(2.5, 3.5), rtol=1e-6)


class Descent(opt.ExternalOptimizerInterface):
    """Gradient descent on the vector of all variables."""

    def _minimize(self, initial_val, loss_grad_func, step_callback, optimizer_kwargs, **rest):
        x = np.array(initial_val, np.float64)
        for _ in range(optimizer_kwargs["steps"]):
            x -= 0.25 * loss_grad_func(x)[1]
            step_callback(x)
        return x


def test_an_optimizer_outside_the_graph_sets_the_variables():
    with tf.Graph().as_default(), tf.Session() as sess:
        a, b, shift = tf.Variable([[1.0, 2.0]]), tf.Variable(3.0), tf.placeholder(tf.float32)
        loss = tf.reduce_sum(tf.square(a - shift)) + tf.square(b)
        seen, losses = [], []
        interface = Descent(loss, steps=30)
        sess.run(tf.global_variables_initializer())
        interface.minimize(sess, {shift: 5.0}, fetches=[loss], step_callback=seen.append, loss_callback=losses.append)
        found = sess.run([a, b])
    np.testing.assert_allclose(found[0], [[5.0, 5.0]], atol=1e-4)
    np.testing.assert_allclose(found[1], 0.0, atol=1e-4)
    assert len(seen) == len(losses) == 30 and losses[0] > losses[-1]


def test_scipy_is_asked_for_by_name_or_used():
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable([3.0, -4.0])
        interface = opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(w - 1.0)), options={"maxiter": 50})
        sess.run(tf.global_variables_initializer())
        try:
            import scipy.optimize  # noqa: F401
        except ImportError:
            with pytest.raises(ImportError, match="pip install scipy"):
                interface.minimize(sess)
            return
        interface.minimize(sess)
        np.testing.assert_allclose(sess.run(w), [1.0, 1.0], atol=1e-4)
