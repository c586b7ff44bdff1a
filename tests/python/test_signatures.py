"""The parameters of public functions, classes and methods have TensorFlow's names, in TensorFlow's order.

The parameter walk (test_parameters.py) gives values to parameters that we have; this test finds those that we lack or name
otherwise.  signatures.txt lists what differs, with the reason.
"""
import inspect
import pathlib
import types

from both import oracle, weft

LISTED = pathlib.Path(__file__).resolve().parent / "signatures.txt"
# Modules that have tests of their own or are no part of the interface.
SKIPPED = {"app", "compat", "contrib", "core", "flags", "keras", "mock", "python"}
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def parameters(function):
    """Its parameters, or None of what has no signature."""
    try:
        return [p for p in inspect.signature(function).parameters.values() if p.name not in ("self", "cls")]
    except (TypeError, ValueError):
        return None


def functions(module, path, seen, found):
    """{public name: object} of the functions, classes and methods of a module and those in it."""
    seen.add(id(module))
    for name in sorted(n for n in dir(module) if not n.startswith("_") and n not in SKIPPED):
        value = getattr(module, name, None)
        if isinstance(value, types.ModuleType):
            if id(value) not in seen:
                functions(value, "%s.%s" % (path, name), seen, found)
        elif callable(value):
            found["%s.%s" % (path, name)] = value
            for method in sorted(vars(value)) if inspect.isclass(value) else ():
                if not method.startswith("_") and callable(getattr(value, method)):
                    found["%s.%s.%s" % (path, name, method)] = getattr(value, method)
    return found


def difference(ours, theirs):
    """What of our parameters a program written for TensorFlow can notice; empty if nothing."""
    mine, wanted = parameters(ours), parameters(theirs)
    if mine is None or wanted is None or any(p.kind == inspect.Parameter.VAR_KEYWORD for p in mine):
        return ""
    names = [p.name for p in mine]
    lacking = [p.name for p in wanted if p.name not in names and p.kind not in STARRED and p.name != "_"]
    known = {p.name for p in wanted}
    asked = [p.name for p in mine if p.default is p.empty and p.kind not in STARRED and p.name not in known]
    shared = [p.name for p in wanted if p.name in names]
    turned = [] if shared == [n for n in names if n in known] else ["order"]
    return " ".join(["-" + n for n in lacking] + ["+" + n for n in asked] + turned)


def test_parameters_have_tensorflows_names_and_order():
    listed = dict(line.split(" # ")[0].split(": ") for line in LISTED.read_text().splitlines() if line[0] != "#")
    theirs = functions(oracle, "tf", set(), {})
    assert len(theirs) > 4000
    found, compared = {}, 0
    for name, value in theirs.items():
        ours = weft
        for part in name.split(".")[1:]:
            ours = getattr(ours, part, None)
        if ours is not None:
            compared += 1
            said = difference(ours, value)
            if said:
                found[name] = said
    assert compared > 3500, compared
    assert found == listed, {"new": {k: v for k, v in found.items() if listed.get(k) != v}, "gone": sorted(set(listed) - set(found))}


def test_the_comparison_finds_names_order_and_more():
    assert difference(lambda a, b: 0, lambda a, c: 0) == "-c +b"
    assert difference(lambda a, b: 0, lambda b, a: 0) == "order"
    assert difference(lambda a, b=1, **more: 0, lambda c: 0) == ""
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
