"""tf.function in graphs: results, order of effects, variables, signatures and errors, as TensorFlow's."""
import numpy as np
import pytest

from both import both, both_raise, oracle, weft


def resource(tf, value, **given):
    return tf.Variable(value, use_resource=True, **given)


def steps(tf, program, count=3):
    """What `count` runs of a program's result give, in one session."""
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        made = program(tf)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            return [sess.run(made) for _ in range(count)]


def same_steps(program, count=3, tolerance=1e-5):
    ours, theirs = steps(weft, program, count), steps(oracle, program, count)
    for a, b in zip(ours, theirs, strict=True):
        for x, y in zip(weft.nest.flatten(a), weft.nest.flatten(b), strict=True):
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
    return ours


def test_results_keep_their_structure_and_names():
    def program(tf):
        @tf.function
        def several(x, n, flag=True, *, k=2):
            return x * n if flag else {"a": [x, x * k], "b": None, "c": (3, tf.constant([1]))}
        one, other = several(tf.constant(2.0), 3), several(np.float32([1.0, 2.0]), 3.0)
        nest = several(tf.constant(2.0), 3, False, k=5)
        return [one, other, *nest["a"], *nest["c"], sorted(nest), nest["b"] is None, one.name, other.name, nest["a"][1].name]
    both(program, same_nodes=False)


def test_effects_happen_in_the_order_of_the_program():
    def program(tf):
        v, w = resource(tf, 1.0), resource(tf, 10.0)
        table = resource(tf, np.zeros((3, 2), np.float32))

        @tf.function
        def step(x):
            v.assign_add(x)
            before = v.read_value()
            v.assign(v * 2.0)
            w.assign(w + v)
            table.scatter_add(tf.IndexedSlices([[1.0, 1.0]], [1]))
            table.assign(table * 2.0)
            v.assign_sub(1.0)
            return before, v, w, table
        return step(tf.constant(3.0))
    same_steps(program)


def test_effects_in_conditions_and_loops_happen_in_order():
    def program(tf):
        v, count = resource(tf, 1.0), resource(tf, 0)

        @tf.function
        def step(x):
            v.assign_add(1.0)

            def high():
                v.assign(v * 10.0)
                return v.read_value()

            def low():
                v.assign_sub(0.5)
                return tf.constant(-1.0)
            chosen = tf.cond(v > x, high, low)
            v.assign_add(0.25)

            def body(i):
                count.assign_add(i)
                v.assign(v + tf.cast(count, tf.float32))
                return i + 1
            tf.while_loop(lambda i: i < 4, body, [tf.constant(1)])
            v.assign(v * 0.5)
            return chosen, v, count
        return step(tf.constant(3.0))
    same_steps(program, 5)


def test_a_call_without_a_result_runs_by_its_name():
    def program(tf):
        v = resource(tf, 1.0)

        @tf.function
        def step():
            v.assign_add(1.0)
            v.assign(v * 2.0)
        assert step() is None
        call = tf.get_default_graph().get_operation_by_name("StatefulPartitionedCall")
        with tf.control_dependencies([call]):
            return v.read_value()
    same_steps(program)


def test_functions_call_functions():
    def program(tf):
        v = resource(tf, 1.0)

        @tf.function
        def add(x):
            v.assign_add(x)

        @tf.function
        def twice(x):
            add(x)
            middle = v.read_value()
            add(x)
            return middle, v.read_value()
        return twice(tf.constant(2.0))
    same_steps(program)


def test_gradients_pass_through_calls():
    def program(tf):
        v = resource(tf, 3.0)

        @tf.function
        def f(x):
            return tf.sin(x) * v, x * x
        x = tf.constant([1.0, 2.0])
        a, b = f(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            c, d = f(x)

        @tf.function
        def inner(x):
            with tf.GradientTape() as own:
                own.watch(x)
                y = x * x * v
            return own.gradient(y, [x, v])
        return [*tf.gradients([a, b], [x, v]), *tape.gradient([c, d], [x, v]), *inner(x)]
    both(program, same_nodes=False)


def keras_step(tf, optimizer, built):
    given = {"input_shape": (2,)} if built else {}
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, "tanh", kernel_initializer="ones", **given),
                                 tf.keras.layers.Dense(1, kernel_initializer="ones")])

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
    return step(tf.constant([[1.0, 2.0], [0.5, -1.0]]), tf.constant([[1.0], [0.0]]))


@pytest.mark.parametrize("kind", ["SGD", "Adam", "built Adam", "AdamOptimizer", "MomentumOptimizer"])
def test_a_training_step_is_a_function(kind):
    """The variables are made in the first call, outside of the scope of the function, with TensorFlow's names."""
    names = {}

    def program(tf):
        optimizers = {"SGD": lambda: tf.keras.optimizers.SGD(0.1), "Adam": lambda: tf.keras.optimizers.Adam(0.1),
                      "AdamOptimizer": lambda: tf.train.AdamOptimizer(0.1),
                      "MomentumOptimizer": lambda: tf.train.MomentumOptimizer(0.1, 0.9)}
        made = keras_step(tf, optimizers[kind.split()[-1]](), kind not in ("SGD", "Adam"))
        names[tf.__name__] = sorted(v.name for v in tf.global_variables())
        return made
    losses = same_steps(program, 6, 1e-4)
    assert losses[-1] < losses[0]
    assert names["weft"] == names[oracle.__name__]


def test_variables_are_made_in_the_first_call_only():
    def program(tf):
        made = []

        @tf.function
        def f(x):
            if not made:
                made.append(tf.Variable(5.0))
            made[0].assign_add(x)
            return made[0].read_value()
        return [f(tf.constant(2.0)), [v.name for v in tf.global_variables()], "Resource" in str(type(made[0]).__mro__)]
    both(program, same_nodes=False)
    with weft.Graph().as_default():
        def fresh(x):
            return weft.Variable(2.0) * x
        f = weft.function(fresh)
        f(1.0)
        with pytest.raises(ValueError, match="singleton tf.Variables created on the first call"):
            f(1.0)


def test_methods_have_their_object():
    def program(tf):
        class Model:
            def __init__(self, v):
                self.v = v

            @tf.function
            def f(self, x):
                return x * self.v

            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
            def g(self, x):
                return x + self.v
        a, b = Model(2.0), Model(3.0)
        return [a.f(2.0), b.f(2.0), a.g([1.0, 2.0]), Model.f.name, a.f.python_function is not None]
    both(program, same_nodes=False)


def test_signatures_and_concrete_functions():
    def program(tf):
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([], tf.int32)])
        def f(x, n):
            return {"y": x * tf.cast(n, tf.float32), "n": n}
        v = resource(tf, 4.0)

        @tf.function
        def g(x, k):
            return x * k * v
        whole, of_spec = f.get_concrete_function(), g.get_concrete_function(tf.TensorSpec([None], tf.float32), 3)
        a, b = f([[1.0, 2.0]], 3), whole(tf.constant([[1.0, 2.0]]), tf.constant(5))
        shown = [str(whole.structured_outputs["y"].shape), [t.shape.as_list() for t in whole.inputs], len(whole.outputs),
                 [x.dtype.name for x in whole.inputs], [x.name for x in of_spec.variables], len(of_spec.captured_inputs),
                 f.input_signature is not None, g.input_signature is None]
        return [a["y"], a["n"], b["y"], of_spec(tf.constant([1.0, 2.0])), *shown]
    both(program, same_nodes=False)


@pytest.mark.parametrize("name", ["object", "operation", "missing", "too many", "unknown", "bad spec", "not a list", "dtype", "shape",
                                  "too few"])
def test_misuse_raises_the_same_kind_of_error(name):
    def program(tf):
        spec = [tf.TensorSpec([2], tf.float32)]
        return {
            "object": lambda: tf.function(lambda x: object())(1.0),
            "operation": lambda: tf.function(lambda x: tf.no_op())(1.0),
            "missing": lambda: tf.function(lambda x, y: x)(1.0),
            "too many": lambda: tf.function(lambda x: x)(1.0, 2.0),
            "unknown": lambda: tf.function(lambda x: x)(y=1.0),
            "bad spec": lambda: tf.function(lambda x: x, input_signature=[3]),
            "not a list": lambda: tf.function(lambda x: x, input_signature=tf.TensorSpec([2])),
            "dtype": lambda: tf.function(lambda x: x, input_signature=spec)(tf.constant([1, 2])),
            "shape": lambda: tf.function(lambda x: x, input_signature=spec)([1.0, 2.0, 3.0]),
            "too few": lambda: tf.function(lambda x: x, input_signature=spec)()}[name]()
    both_raise(program)


def test_functions_can_run_as_plain_python():
    def program(tf):
        @tf.function
        def f(x):
            return x * 2.0
        assert not tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(True)
        try:
            assert tf.config.functions_run_eagerly() and tf.config.experimental_functions_run_eagerly()
            plain = f(tf.constant(3.0))
        finally:
            tf.config.experimental_run_functions_eagerly(False)
        return [plain, f(tf.constant(4.0)), [n.op for n in tf.get_default_graph().as_graph_def().node][:3]]
    both(program, same_nodes=False)


def test_a_data_set_maps_a_function():
    def program(tf):
        @tf.function
        def f(x):
            return x * 2, x + 1
        return tf.data.make_one_shot_iterator(tf.data.Dataset.range(3).map(f)).get_next()
    same_steps(program)
