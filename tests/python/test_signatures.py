"""The parameters of public functions, classes and methods have TensorFlow's names, at TensorFlow's places.

The parameter walk (test_parameters.py) gives values to parameters that we have; this test finds those that we lack or name
otherwise.  signatures.txt lists what differs, with the reason.
"""
import contextlib
import inspect
import pathlib
import types

import numpy

from both import oracle, weft

LISTED = pathlib.Path(__file__).resolve().parent / "signatures.txt"
# Modules that have tests of their own or are no part of the interface.
SKIPPED = {"app", "compat", "contrib", "core", "flags", "mock", "python"}
PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
SELVES = ("self", "cls", "instance", "_cls")  # "instance": a decorator of Keras


def parameters(function):
    """Its parameters without the object, or None of what has no signature."""
    try:
        return [p for p in inspect.signature(function).parameters.values() if p.name not in SELVES]
    except (TypeError, ValueError):
        return None


def as_in_graphs(cls):
    """The class that TensorFlow uses in graphs: Keras exchanges the bases of its classes when the first object is made."""
    if not issubclass(cls, oracle.keras.layers.Layer):
        return cls
    with contextlib.suppress(TypeError, ValueError, NotImplementedError):
        cls.__new__(cls)
    kind = {oracle.keras.layers.Layer: oracle.keras.layers.Dense, oracle.keras.Model: oracle.keras.Sequential}.get(cls)
    if kind is None:
        return cls
    kind.__new__(kind)
    return next(c for c in kind.__mro__ if c.__name__ == cls.__name__)


def functions(module, path, seen, found):
    """{public name: object} of the functions, classes and methods, inherited ones too, of a module and those in it."""
    seen.add(id(module))
    for name in sorted(n for n in dir(module) if not n.startswith("_") and n not in SKIPPED):
        value, own = getattr(module, name, None), "%s.%s" % (path, name)
        if isinstance(value, types.ModuleType):
            if id(value) not in seen:
                functions(value, own, seen, found)
        elif inspect.isclass(value):
            value = as_in_graphs(value) if ".keras." in own else value
            found[own] = value
            members = {m: getattr(value, m) for m in sorted(dir(value)) if not m.startswith("_") or m == "__call__"}
            found.update({"%s.%s" % (own, m): f for m, f in members.items() if callable(f) and not inspect.isclass(f)})
        elif callable(value):
            found[own] = value
    return found


def difference(ours, theirs):
    """What of our parameters a program written for TensorFlow can notice; empty if nothing.

    order: an argument that TensorFlow takes at some place is taken for another parameter at that place.
    """
    mine, wanted = parameters(ours), parameters(theirs)
    if mine is None or wanted is None:
        return ""
    open_ended = any(p.kind in STARRED for p in mine)
    names = [p.name for p in mine]
    lacking = [p.name for p in wanted if p.name not in names and p.kind not in STARRED and p.name != "_"]
    placed, places = ([p.name for p in row if p.kind in PLACED] for row in (mine, wanted))
    known = {p.name for p in wanted} | {a for a, b in zip(placed, places) if b == "_"}
    asked = [p.name for p in mine if p.default is p.empty and p.kind not in STARRED and p.name not in known]
    if any(p.kind == inspect.Parameter.VAR_POSITIONAL for p in wanted):
        asked = []
    turned = [a for a, b in zip(placed, places) if a != b and b != "_" and (b in names or a not in asked)]
    if open_ended:
        return "order" if turned and any(b in placed for b in places) else ""
    return " ".join(["-" + n for n in lacking] + ["+" + n for n in asked] + ["order"] * bool(turned))


def test_parameters_have_tensorflows_names_and_places():
    listed = dict(line.split(" # ")[0].split(": ") for line in LISTED.read_text().splitlines() if line[0] != "#")
    theirs = functions(oracle, "tf", set(), {})
    assert len(theirs) > 12000
    found, compared, pairs = {}, 0, set()
    for name, value in theirs.items():
        ours = weft
        for part in name.split(".")[1:]:
            ours = getattr(ours, part, None)
        pair = (getattr(ours, "__func__", ours), getattr(value, "__func__", value))
        if ours is not None and pair not in pairs:  # A method that a class inherits is compared once.
            compared += 1
            pairs.add(pair)
            said = difference(ours, value)
            if said:
                found[name] = said
    assert compared > 4500, compared
    assert found == listed, {"new": {k: v for k, v in found.items() if listed.get(k) != v}, "gone": sorted(set(listed) - set(found))}


def test_the_comparison_finds_names_places_and_more():
    assert difference(lambda a, b: 0, lambda a, c: 0) == "-c +b"
    assert difference(lambda a, b: 0, lambda b, a: 0) == "order"
    assert difference(lambda a, x=1, b=2: 0, lambda a, b=2: 0) == "order"
    assert difference(lambda a, b=1, **more: 0, lambda c: 0) == ""
    assert difference(lambda a, x=1, b=2, **more: 0, lambda a, b=2: 0) == "order"
    assert difference(lambda a, d=1: 0, lambda a: 0) == ""


def test_nests_take_tensorflows_parameters_and_give_its_errors():
    sparse = (lambda tf: tf.SparseTensor([[0, 1]], [1.0], [2, 3]))
    calls = [
        lambda tf: tf.nest.pack_sequence_as(structure={"b": 1, "a": (2, [3])}, flat_sequence=[4, 5, 6]),
        lambda tf: tf.nest.flatten(structure={"b": 1, "a": {"z": 2, "c": 3}}),
        lambda tf: tf.nest.flatten({2: 3, 1: 4}.values()),
        lambda tf: [t.shape.as_list() for t in tf.nest.flatten(sparse(tf), expand_composites=True)],
        lambda tf: tf.nest.map_structure(lambda a, b: a + b, [1, (2,)], [3, (4,)]),
        lambda tf: tf.nest.map_structure(lambda a, b: a + b, [1, 2], (3, 4), check_types=False),
        lambda tf: tf.nest.map_structure(lambda t: t + t, sparse(tf), expand_composites=True).dense_shape.shape.as_list(),
        lambda tf: tf.nest.is_nested(seq={1: 2}.items()),
    ]
    for call in calls:
        assert call(weft) == call(oracle)
    wrong = [
        lambda tf: tf.nest.pack_sequence_as([1, 2], [1]),
        lambda tf: tf.nest.pack_sequence_as(1, [1, 2, 3]),
        lambda tf: tf.nest.pack_sequence_as([1], 5),
        lambda tf: tf.nest.map_structure(lambda a, b: a, [1, 2], [3]),
        lambda tf: tf.nest.map_structure(lambda a, b: a, [1, 2], (3, 4)),
        lambda tf: tf.nest.map_structure(3, [1]),
        lambda tf: tf.nest.map_structure(lambda: 1),
        lambda tf: tf.nest.map_structure(lambda a: 1, [1], foo=2),
    ]
    for call in wrong:
        assert error(call, weft) == error(call, oracle)


def error(call, tf):
    """The type of the error of a call, and the first line of its text."""
    try:
        call(tf)
    except (TypeError, ValueError) as e:
        return type(e), str(e).splitlines()[0]
    return None


def test_parameters_of_other_names_have_their_effect():
    def values(tf):
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.constant([[1.0, -2.0, 3.0]])
            picture = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
            top = tf.nn.top_k(x, 2, index_type=tf.int64)
            assert top.indices.dtype == tf.int64
            assert tf.space_to_depth(picture, 2, "folded").op.name == "folded"
            return [v.tolist() for v in sess.run([
                tf.raw_ops.Sum(input=x, axis=1), tf.raw_ops.ExpandDims(input=x, axis=0), tf.raw_ops.Where(condition=x > 0),
                tf.raw_ops.Select(condition=x > 0, x=x, y=-x), tf.raw_ops.Squeeze(input=x, axis=[0]),
                tf.raw_ops.Split(axis=1, value=x, num_split=3)[2], tf.decode_raw(input_bytes=tf.constant("abc"), out_type=tf.uint8),
                tf.arg_max(x, 1, tf.int32), tf.arg_min(x, dimension=0, output_type=tf.int64), top.values, top.indices,
                tf.nn.batch_norm_with_global_normalization(input=picture, mean=x[0, :2], variance=x[0, ::2], beta=x[0, :2],
                                                           gamma=x[0, 1:], variance_epsilon=0.1, scale_after_normalization=True)])]
    assert values(weft) == values(oracle)
    with oracle.Graph().as_default(), oracle.Session() as sess:
        expected = sess.run(oracle.nn.swish(oracle.constant([1.0, -2.0]), beta=2.0))
    with weft.Graph().as_default(), weft.Session() as sess:
        assert abs(sess.run(weft.nn.swish(weft.constant([1.0, -2.0]), beta=2.0)) - expected).max() < 1e-6


def test_arguments_at_tensorflows_places_have_its_effect():
    def values(tf):
        keras = tf.keras
        with tf.Graph().as_default(), tf.Session() as sess:
            x = keras.Input([3])
            layer = keras.layers.Dense(2, kernel_initializer="ones")
            y = layer(x)
            model = keras.Model(x, y)
            model.add_metric(tf.reduce_sum(y), "mean", "total")
            model.compile("sgd", "mse")
            table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "?")
            found = table.lookup(tf.constant(["a"]), "found")
            data = tf.data.Dataset.range(3).map(lambda v: v + 1, None, None, "increased")
            words = tf.string_split(["a b"], None, True, None, "SparseTensor", "words")
            picture = tf.image.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8), "", 50, False, True, False, "cm", 20, 30)
            identity = tf.linalg.LinearOperatorIdentity(2).add_to_tensor(mat=tf.ones([2, 2]), name="sum")
            sess.run(tf.global_variables_initializer())
            step = tf.data.make_one_shot_iterator(data).get_next()
            return [model.metrics_names[1:], [m.name for m in model.metrics], found.op.name, sess.run(step), words.values.op.name,
                    sess.run(words.values).tolist(), sess.run(tf.image.decode_jpeg(picture)).shape,
                    sess.run(picture)[13:18], sess.run(identity).tolist()]
    assert values(weft) == values(oracle)


def test_a_case_fails_with_both_messages():
    def said(tf, *args):
        case = type("Case", (tf.test.TestCase,), {"runTest": lambda self: None})()
        case.assertDictEqual(a={"x": 2}, b={"x": 2})
        return error_of(lambda: case.fail(*args))

    def error_of(call):
        try:
            call()
        except AssertionError as e:
            return str(e)
    for args in (("one",), ("one", "two"), (None, "two"), ()):
        assert said(weft, *args) == said(oracle, *args), args


def test_states_of_both_directions_are_set():
    def values(tf):
        with tf.Graph().as_default(), tf.Session():
            inner = tf.keras.layers.LSTM(1, stateful=True, kernel_initializer="ones", recurrent_initializer="ones")
            layer = tf.keras.layers.Bidirectional(inner)
            model = tf.keras.Sequential([tf.keras.layers.InputLayer(batch_input_shape=(2, 3, 1)), layer])
            x, found = [[[0.1], [0.2], [0.3]]] * 2, []
            for states in (None, [[[1.0], [2.0]], [[3.0], [4.0]], [[5.0], [6.0]], [[7.0], [8.0]]]):
                layer.reset_states(None if states is None else [numpy.asarray(s) for s in states])
                found.append(numpy.round(model.predict(numpy.asarray(x)), 4).tolist())
            return found
    assert values(weft) == values(oracle)


def test_a_head_of_the_program_gets_the_arguments_that_tensorflow_gives():
    def told(tf):
        seen = []

        class Mine(tf.estimator.RegressionHead):
            def update_metrics(self, eval_metrics, features, logits, labels, **more):
                seen.append(tuple(more))
                return super().update_metrics(eval_metrics, features, logits, labels, **more)
        with tf.Graph().as_default():
            x = tf.constant([[1.0], [2.0]])
            for head in (Mine(), tf.estimator.MultiHead([Mine(name="a"), Mine(name="b")])):
                logits = {"a": x, "b": x} if len(seen) else x
                head.create_estimator_spec({"x": x}, "eval", logits, {"a": x, "b": x} if len(seen) else x,
                                           regularization_losses=[tf.constant(1.0)])
        return set(seen)
    assert told(weft) == told(oracle)


def test_a_scope_makes_its_variable_wherever_it_is_asked():
    with weft.Graph().as_default():
        with weft.variable_scope("here") as scope:
            v = scope.get_variable(None, "v", [2], weft.float32, weft.ones_initializer())
        assert v.op.name == "here/v"
        assert scope.get_variable(None, "v", [2], weft.float32, None, None, True) is v
