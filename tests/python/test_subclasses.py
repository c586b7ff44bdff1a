"""Optimizers and hooks that programs write as subclasses of TensorFlow's, in both systems."""
import os

import numpy as np
import pytest

import weft
from both import both_raise
from test_idioms import on_both


def trained(tf, sess, optimizer, sparse=False, steps=3):
    """A small model after each of a few steps, and the names of what the optimizer made."""
    w = tf.get_variable("w", initializer=np.array([[1.0, -2.0], [0.5, 3.0]], np.float32))
    b = tf.get_variable("b", initializer=np.array([0.1, 0.2], np.float32))
    rows = tf.gather(w, [0, 0, 1]) if sparse else tf.matmul(w, w) + b
    loss = tf.reduce_sum(tf.square(rows)) + tf.reduce_sum(b * b)
    train = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    sess.run(tf.global_variables_initializer())
    seen = []
    for _ in range(steps):
        sess.run(train)
        seen.append(sess.run([w, b]))
    slots = [(n, optimizer.get_slot(w, n).name) for n in optimizer.get_slot_names()]
    return [seen, sorted(v.op.name for v in tf.global_variables()), slots, train.name, train.type]


# ---- optimizers of the program's own ----

def bound(tf):
    class Bound(tf.train.Optimizer):
        """As AdaBound: every step of the protocol is the program's."""

        def __init__(self, learning_rate=0.01, beta1=0.9, beta2=0.999, use_locking=False, name="Bound"):
            super().__init__(use_locking, name)
            self._lr, self._beta1, self._beta2 = learning_rate, beta1, beta2

        def _valid_dtypes(self):
            return set([tf.float32])

        def _create_slots(self, var_list):
            first = min(var_list, key=lambda v: v.name)
            self._create_non_slot_variable(self._beta1, name="beta1_power", colocate_with=first)
            for v in var_list:
                self._zeros_slot(v, "m", self._name)
                self._get_or_make_slot(v, tf.fill(v.shape, 0.1), "v", self._name)
                self._get_or_make_slot_with_initializer(v, tf.ones_initializer(), v.shape, tf.float32, "one", self._name + "One")

        def _prepare(self):
            self._lr_t = tf.convert_to_tensor(self._call_if_callable(self._lr), name="lr")

        def _apply_dense(self, grad, var):
            power = self._get_non_slot_variable("beta1_power", graph=tf.get_default_graph())
            m, v, one = (self.get_slot(var, n) for n in ("m", "v", "one"))
            m_t = m.assign(self._beta1 * m + grad * (1 - self._beta1), use_locking=self._use_locking)
            v_t = tf.assign(v, self._beta2 * v + grad * grad * (1 - self._beta2))
            step = tf.clip_by_value(self._lr_t / (1 - power) / tf.sqrt(v_t), 0.0, 0.1)
            return tf.group(tf.assign_sub(var, step * m_t * one), m_t, v_t)

        def _apply_sparse(self, grad, var):
            with tf.control_dependencies([tf.scatter_add(self.get_slot(var, "m"), grad.indices, grad.values)]):
                return tf.scatter_sub(var, grad.indices, self._lr_t * grad.values)

        def _resource_apply_dense(self, grad, var):
            return self._apply_dense(grad, var)

        def _finish(self, update_ops, name_scope):
            power = self._get_non_slot_variable("beta1_power", graph=tf.get_default_graph())
            with tf.control_dependencies(update_ops), tf.colocate_with(power):
                return tf.group(*update_ops + [power.assign(power * self._beta1)], name=name_scope)
    return Bound


@pytest.mark.parametrize("sparse", [False, True])
def test_an_optimizer_that_writes_every_step(sparse):
    on_both(lambda tf, sess: trained(tf, sess, bound(tf)(lambda: 0.02), sparse))


def test_an_optimizer_says_which_types_it_takes():
    def program(tf):
        v = tf.Variable(1.0, dtype=tf.float64)
        return bound(tf)().minimize(v * v)
    both_raise(program)


def test_a_subclass_of_adam_uses_what_adam_prepared():
    def program(tf, sess):
        class Nadam(tf.train.AdamOptimizer):
            def _apply_dense(self, grad, var):
                m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
                power1, power2 = self._get_beta_accumulators()
                beta1, beta2 = (tf.cast(b, var.dtype.base_dtype) for b in (self._beta1_t, self._beta2_t))
                m_t, v_t = m.assign(beta1 * m + (1 - beta1) * grad), v.assign(beta2 * v + (1 - beta2) * tf.square(grad))
                rate = self._lr_t * tf.sqrt(1 - power2) / (1 - power1)
                return tf.group(tf.assign_sub(var, rate * (beta1 * m_t + (1 - beta1) * grad) / (tf.sqrt(v_t) + self._epsilon_t)), m_t, v_t)
        return trained(tf, sess, Nadam(0.01, name="Nadam"))
    on_both(program, 1e-4)


NAMES = ["GradientDescent", "Adagrad", "RMSProp", "Adadelta", "Ftrl", "ProximalGradientDescent", "ProximalAdagrad", "Adam", "Momentum",
         "AdagradDA"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_subclass_calls_the_step_that_it_overrides(name, sparse):
    def program(tf, sess):
        base = getattr(tf.train, name + "Optimizer")

        class Doubled(base):
            def _prepare(self):
                super()._prepare()

            def _apply_dense(self, grad, var):
                return super()._apply_dense(grad * 2.0, var)

            def _apply_sparse(self, grad, var):
                return super()._apply_sparse(tf.IndexedSlices(grad.values * 2.0, grad.indices, grad.dense_shape), var)
        more = {"Momentum": lambda: [0.9], "AdagradDA": lambda: [tf.train.get_or_create_global_step()]}
        return trained(tf, sess, Doubled(0.01, *more.get(name, list)()), sparse)
    on_both(program, 1e-4)


def test_centered_and_nesterov_subclasses():
    def program(tf, sess):
        class Centered(tf.train.RMSPropOptimizer):
            def _apply_dense(self, grad, var):
                return super()._apply_dense(grad, var)

        class Nesterov(tf.train.MomentumOptimizer):
            def _finish(self, update_ops, name_scope):
                return super()._finish(update_ops, name_scope)
        made = [trained(tf, sess, Centered(0.01, momentum=0.5, centered=True))]
        with tf.Graph().as_default(), tf.Session() as other:
            made.append(trained(tf, other, Nesterov(0.001, 0.9, use_nesterov=True)))
        return made
    on_both(program, 1e-4)


def test_a_subclass_changes_what_is_prepared():
    def program(tf, sess):
        class Half(tf.train.GradientDescentOptimizer):
            def _prepare(self):
                super()._prepare()
                self._learning_rate_tensor = self._learning_rate_tensor * 0.5
        return trained(tf, sess, Half(0.02))
    on_both(program)


def test_compute_and_apply_are_overridden():
    def program(tf, sess):
        class Clipped(tf.train.GradientDescentOptimizer):
            def compute_gradients(self, loss, var_list=None, **kwargs):
                return super().compute_gradients(loss * 2.0, var_list, **kwargs)

            def apply_gradients(self, grads_and_vars, global_step=None, name=None):
                return super().apply_gradients([(tf.clip_by_value(g, -1.0, 1.0), v) for g, v in grads_and_vars], global_step, name)
        return trained(tf, sess, Clipped(0.1))
    on_both(program)


def test_an_optimizer_around_another():
    def program(tf, sess):
        class Around(tf.train.Optimizer):
            def __init__(self, opt):
                super().__init__(False, "Around")
                self._optimizer = opt

            def compute_gradients(self, *args, **kwargs):
                return [(tf.clip_by_norm(g, 1.0), v) for g, v in self._optimizer.compute_gradients(*args, **kwargs)]

            def apply_gradients(self, *args, **kwargs):
                return self._optimizer.apply_gradients(*args, **kwargs)

            def get_slot(self, *args, **kwargs):
                return self._optimizer.get_slot(*args, **kwargs)

            def get_slot_names(self, *args, **kwargs):
                return self._optimizer.get_slot_names(*args, **kwargs)
        return trained(tf, sess, Around(tf.train.AdamOptimizer(0.01)))
    on_both(program, 1e-4)


def test_parameters_of_an_optimizer_are_attributes():
    def program(tf, sess):
        t = tf.train
        adam, rms, momentum = t.AdamOptimizer(0.1, 0.8, 0.9, 1e-4), t.RMSPropOptimizer(0.1, 0.8, 0.7, 1e-3), t.MomentumOptimizer(0.1, 0.9)
        before = [adam._lr, adam._beta1, adam._beta2, adam._epsilon, adam._lr_t, rms._learning_rate, rms._decay, rms._momentum,
                  rms._epsilon, momentum._learning_rate, momentum._momentum, bool(momentum._use_nesterov)]
        adam._lr = 0.05  # before the update is built: it is what the update uses
        after = trained(tf, sess, adam)
        return before + after + sess.run([adam._lr_t, adam._beta1_t, *adam._get_beta_accumulators()]) + [sorted(adam._slots)]
    on_both(program, 1e-4)


@pytest.mark.parametrize("name", ["l1_regularization_strength", "l2_regularization_strength"])
def test_a_strength_of_adagrad_da_may_be_a_tensor(name):
    def program(tf, sess):
        return trained(tf, sess, tf.train.AdagradDAOptimizer(0.1, tf.train.get_or_create_global_step(), **{name: tf.constant(2.0)}))
    on_both(program, 1e-4)


def test_beta_of_ftrl_may_be_a_tensor():
    on_both(lambda tf, sess: trained(tf, sess, tf.train.FtrlOptimizer(0.1, beta=tf.constant(0.5))), 1e-4)


@pytest.mark.parametrize("kind, given", [
    ("Ftrl", {"learning_rate_power": 0.5}), ("Ftrl", {"initial_accumulator_value": -1.0}), ("Ftrl", {"l1_regularization_strength": -1.0}),
    ("Ftrl", {"l2_regularization_strength": -1.0}), ("Ftrl", {"l2_shrinkage_regularization_strength": -1.0}),
    ("ProximalAdagrad", {"initial_accumulator_value": 0.0}),
    ("AdagradDA", {"initial_gradient_squared_accumulator_value": 0.0, "global_step": None})])
def test_an_optimizer_refuses_parameters_out_of_range(kind, given):
    ours, theirs = both_raise(lambda tf: getattr(tf.train, kind + "Optimizer")(0.1, **given))
    assert ours == theirs


# ---- hooks ----

def model(tf):
    x = tf.placeholder_with_default(np.array([1.0, 2.0], np.float32), [2], name="x")
    w = tf.get_variable("w", initializer=np.array([1.0, -1.0], np.float32))
    loss, step = tf.reduce_sum(tf.square(w * x - 3.0), name="loss"), tf.train.get_or_create_global_step()
    return x, w, loss, step, tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)


def monitored(tf, hooks=(), **kwargs):
    return tf.train.MonitoredTrainingSession(hooks=list(hooks), save_checkpoint_secs=None, log_step_count_steps=None, **kwargs)


def test_an_early_stopping_hook():
    def program(tf, sess):
        x, w, loss, step, train = model(tf)
        log = []

        class EarlyStopping(tf.train.SessionRunHook):
            def begin(self):
                self.best, self.tensor = np.inf, tf.get_default_graph().as_graph_element("loss:0")
                log.append(("begin", tf.get_default_graph().finalized))

            def after_create_session(self, session, coord):
                log.append(("created", coord is not None, int(session.run(step))))

            def before_run(self, run_context):
                args = run_context.original_args
                log.append((args.fetches is train, args.feed_dict, run_context.stop_requested, type(run_context.session).__name__))
                return tf.train.SessionRunArgs({"loss": self.tensor, "more": [w]}, feed_dict={x: [2.0, 2.0]})

            def after_run(self, run_context, run_values):
                now = run_values.results["loss"]
                log.append((round(float(now), 3), type(run_values.options).__name__, type(run_values.run_metadata).__name__))
                if now > self.best - 0.5:
                    run_context.request_stop()
                self.best = now

            def end(self, session):
                log.append(("end", int(session.run(step))))
        with monitored(tf, [EarlyStopping()]) as session:
            while not session.should_stop():
                session.run(train)
        return log
    on_both(program)


def test_a_tensor_is_fed_once():
    def program(tf):
        x, w, loss, step, train = model(tf)

        class Feeds(tf.train.SessionRunHook):
            def before_run(self, run_context):
                return tf.train.SessionRunArgs(None, feed_dict={x: [1.0, 1.0]})
        with monitored(tf, [Feeds()]) as session:
            session.run(train)
            session.run(train, feed_dict={x: [3.0, 3.0]})
    assert "fed by a SessionRunHook and user" in both_raise(program)[0]


def test_two_hooks_that_feed_one_tensor():
    def program(tf):
        x, w, loss, step, train = model(tf)
        with monitored(tf, [tf.train.FeedFnHook(lambda: {x: [1.0, 1.0]}) for _ in range(2)]) as session:
            session.run(train)
    both_raise(program)


def test_what_a_hook_raises_reaches_the_program():
    def program(tf):
        train = model(tf)[-1]

        class Fails(tf.train.SessionRunHook):
            def after_run(self, run_context, run_values):
                raise LookupError("mine")
        with monitored(tf, [Fails()]) as session:
            session.run(train)
    assert both_raise(program)[0] == "mine"


def test_the_session_under_a_monitored_one(tmp_path):
    def program(tf, sess):
        x, w, loss, step, train = model(tf)
        saver = tf.train.Saver()
        with monitored(tf) as session:
            session.run(train)
            raw = session
            while type(raw).__name__ != "Session":
                raw = raw._sess
            path = saver.save(raw, str(tmp_path / tf.__name__[:4]))
            chain = session._sess._sess._sess._sess
            return [os.path.exists(path + ".index"), raw.run(step), chain.run(step), session._tf_sess().run(w),
                    session._coordinated_creator.tf_sess.run(step), type(session._sess).__name__, session._is_closed()]
    on_both(program)


def test_hooks_that_change_tensorflows(tmp_path):
    def program(tf, sess):
        x, w, loss, step, train = model(tf)
        folder, log = str(tmp_path / tf.__name__[:4]), []

        class Logged(tf.train.LoggingTensorHook):
            def _log_tensors(self, tensor_values):
                log.append((self._tag_order, sorted(tensor_values), self._iter_count, self._should_trigger))

        class Saved(tf.train.CheckpointSaverHook):
            def begin(self):
                super().begin()
                log.append((self._checkpoint_dir == folder, os.path.basename(self._save_path), self._timer._every_steps))

            def _save(self, session, step):
                log.append(("save", int(step)))
                return super()._save(session, step)

        class Counted(tf.train.StepCounterHook):
            def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
                log.append((int(elapsed_steps), int(global_step), elapsed_time > 0, self._summary_tag))
        last = tf.train.FinalOpsHook([step])
        hooks = [Logged({"loss": loss, "step": step}, every_n_iter=2), Saved(folder, save_steps=2, saver=tf.train.Saver()),
                 Counted(every_n_steps=2, output_dir=folder), last, tf.train.NanTensorHook(loss, False)]
        with monitored(tf, hooks) as session:
            for _ in range(5):
                session.run(train)
        nan = hooks[-1]
        return [log, last.final_ops_values, nan._fail_on_nan_loss, nan._loss_tensor is loss]
    on_both(program)


def test_a_timer_counts_steps():
    def program(tf, sess):
        timer, seen = tf.train.SecondOrStepTimer(every_steps=3), []
        for i in range(8):
            seen.append(timer.should_trigger_for_step(i))
            if seen[-1]:
                seen.append(timer.update_last_triggered_step(i)[1])
        return seen + [timer.last_triggered_step(), timer._every_steps, timer._every_secs]
    on_both(program)


def test_a_step_function_runs_with_and_without_hooks():
    def program(tf, sess):
        x, w, loss, step, train = model(tf)
        with monitored(tf) as session:
            def one(step_context):
                step_context.session.run(train)
                return step_context.run_with_hooks(step)
            return session.run_step_fn(one)
    on_both(program)
    with weft.Graph().as_default():
        train = model(weft)[-1]
        with monitored(weft) as session:
            with pytest.raises(ValueError, match="step_context"):
                session.run_step_fn(lambda context: context.session.run(train))


def test_a_scaffold_has_what_was_made_for_it():
    def program(tf, sess):
        x, w, loss, step, train = model(tf)
        calls = []
        scaffold = tf.train.Scaffold(init_fn=lambda s, session: calls.append((s is scaffold, type(session).__name__)))
        with monitored(tf, scaffold=scaffold) as session:
            session.run(train)
        return [calls, [getattr(scaffold, n) is not None for n in ("init_op", "ready_op", "local_init_op", "saver")]]
    on_both(program)


# ---- layers and cells ----

ROWS = np.array([[1.0, 2, 3], [4, 5, 6]], np.float32)


def names(tf):
    return sorted(v.op.name for v in tf.global_variables())


def test_a_layer_normalizes_its_weights():
    def program(tf, sess):
        class NormalizedDense(tf.layers.Layer):
            def __init__(self, units, activation=None, name=None, **kwargs):
                super(NormalizedDense, self).__init__(name=name, **kwargs)
                self.units, self.activation = units, activation

            def build(self, input_shape):
                depth = int(tf.TensorShape(input_shape)[-1])
                self.v = self.add_variable("v", shape=[depth, self.units], initializer=tf.constant_initializer(0.5),
                                           regularizer=lambda w: tf.reduce_sum(w) * 0.1)
                self.g = self.add_weight(name="g", shape=[self.units], initializer=tf.ones_initializer())
                self.m = self.add_weight("m", shape=[self.units], initializer=tf.zeros_initializer(), trainable=False)
                self.built = True

            def call(self, inputs, training=False):
                y = tf.matmul(inputs, tf.nn.l2_normalize(self.v, 0) * self.g)
                self.add_update(tf.assign(self.m, tf.reduce_mean(y, 0)))
                self.add_loss(tf.reduce_sum(y))
                return y if self.activation is None else self.activation(y)

            def compute_output_shape(self, input_shape):
                return tf.TensorShape(input_shape)[:-1].concatenate(self.units)
        layer, mine, x = NormalizedDense(4, tf.nn.relu), NormalizedDense(2, name="mine"), tf.constant(ROWS)
        y, again = layer(x), layer(x)
        z = mine.apply(y, training=True)
        sess.run(tf.global_variables_initializer())
        return [sess.run([y, again, z]), names(tf), [v.op.name for v in layer.trainable_variables],
                [v.op.name for v in layer.non_trainable_variables], layer.name, mine.name, len(layer.losses), len(layer.updates),
                len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)), len(tf.losses.get_regularization_losses()), y.op.name,
                layer.compute_output_shape([2, 3]).as_list(), layer.built, layer.count_params()]
    on_both(program)


def test_a_keras_layer_builds_its_weights():
    def program(tf, sess):
        class Product(tf.keras.layers.Layer):
            def __init__(self, units=2, **kwargs):
                super().__init__(**kwargs)
                self.units = units

            def build(self, input_shape):
                self.w = self.add_weight(name="w", shape=(int(input_shape[-1]), self.units), initializer="ones", trainable=True)
                super().build(input_shape)

            def call(self, inputs, scale=1.0):
                return tf.matmul(inputs, self.w) * scale
        layer = Product()
        made = layer(tf.constant(ROWS), scale=3.0)
        sess.run(tf.global_variables_initializer())
        return [sess.run(made), names(tf), len(layer.weights), len(layer.trainable_weights), layer.built]
    on_both(program)


def linear(tf, args, size, scope="linear"):
    with tf.variable_scope(scope):
        kernel = tf.get_variable("kernel", [sum(int(a.shape[1]) for a in args), size], initializer=tf.constant_initializer(0.1))
        bias = tf.get_variable("bias", [size], initializer=tf.constant_initializer(0.2))
        return tf.matmul(tf.concat(args, 1), kernel) + bias


def test_cells_with_norms_and_attention():
    def program(tf, sess):
        tuple_of = tf.nn.rnn_cell.LSTMStateTuple

        class NormLSTM(tf.nn.rnn_cell.RNNCell):
            def __init__(self, size, reuse=None, name=None):
                super().__init__(_reuse=reuse, name=name)
                self._size = size

            @property
            def state_size(self):
                return tuple_of(self._size, self._size)

            @property
            def output_size(self):
                return self._size

            def _norm(self, x, scope):
                with tf.variable_scope(scope):
                    gamma = tf.get_variable("gamma", [self._size], initializer=tf.constant_initializer(0.7))
                    mean, variance = tf.nn.moments(x, [1], keep_dims=True)
                    return (x - mean) / tf.sqrt(variance + 1e-3) * gamma + 0.1

            def call(self, inputs, state):
                c, h = state
                i, j, f, o = [self._norm(t, n) for t, n in zip(tf.split(linear(tf, [inputs, h], 4 * self._size), 4, 1), "ijfo")]
                c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
                h = tf.tanh(self._norm(c, "s")) * tf.sigmoid(o)
                return h, tuple_of(c, h)

        class Attention(tf.nn.rnn_cell.RNNCell):
            def __init__(self, cell, memory):
                super().__init__()
                self._cell, self._memory, self._width = cell, memory, memory.shape.as_list()[-1]

            state_size = property(lambda self: (self._cell.state_size, self._width))
            output_size = property(lambda self: self._cell.output_size)

            def call(self, inputs, state):
                inner, read = state
                out, inner = self._cell(tf.concat([inputs, read], 1), inner)
                query = linear(tf, [out], self._width, "query")
                scores = tf.nn.softmax(tf.reduce_sum(tf.expand_dims(query, 1) * self._memory, 2))
                return out, (inner, tf.reduce_sum(tf.expand_dims(scores, 2) * self._memory, 1))
        x = tf.constant(np.stack([ROWS, ROWS]))
        deep = tf.nn.rnn_cell.MultiRNNCell([NormLSTM(3), tf.nn.rnn_cell.DropoutWrapper(NormLSTM(2, name="second"))])
        made = [tf.nn.dynamic_rnn(deep, x, sequence_length=[2, 1], dtype=tf.float32),
                tf.nn.dynamic_rnn(Attention(NormLSTM(2), x), x, dtype=tf.float32, scope="read"),
                tf.nn.static_rnn(NormLSTM(2), [tf.constant(ROWS)] * 2, dtype=tf.float32, scope="static")]
        sess.run(tf.global_variables_initializer())
        return [sess.run(made), names(tf)]
    on_both(program)
