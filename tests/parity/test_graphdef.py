"""GraphDef and MetaGraphDef: what TensorFlow writes comes in here and goes out the same, and the other way round."""
import pathlib
import sys

import pytest
import tensorflow as tf

import weftlib

v1 = tf.compat.v1
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "corpus"))
import make_graphdefs  # noqa: E402


def attrs_of(node):
    """Attributes as comparable values; tensors by what they hold, not by how they are written."""
    out = {}
    for key, value in node.attr.items():
        if value.WhichOneof("value") == "tensor" and value.tensor.dtype not in (20, 21):
            array = tf.make_ndarray(value.tensor)
            out[key] = (array.dtype.str, array.shape, array.tobytes() if array.dtype != object else array.tolist())
        else:
            out[key] = value.SerializeToString(deterministic=True)
    return out


def nodes_of(graph_def):
    return {n.name: (n.op, list(n.input), n.device, attrs_of(n)) for n in graph_def.node}


def made(make):
    with tf.Graph().as_default() as g:
        make()
        return g.as_graph_def(), v1.train.export_meta_graph()


@pytest.mark.parametrize("make", make_graphdefs.GRAPHS, ids=lambda m: m.__name__)
def test_tensorflows_graphs_come_back_the_same(make):
    theirs, _ = made(make)
    ours = weftlib.Graph(theirs).export()
    assert nodes_of(ours) == nodes_of(theirs)
    assert ours.versions.producer == theirs.versions.producer
    names = lambda g: sorted(f.signature.name for f in g.library.function)
    assert names(ours) == names(theirs)
    with tf.Graph().as_default() as g:
        tf.import_graph_def(ours, name="")
        assert nodes_of(g.as_graph_def()).keys() == nodes_of(theirs).keys()


@pytest.mark.parametrize("make", make_graphdefs.GRAPHS, ids=lambda m: m.__name__)
def test_the_shapes_we_infer_are_tensorflows(make):
    """Where TensorFlow knows a shape while building we know it too, and never another."""
    theirs, _ = made(make)
    ours = weftlib.Graph(theirs)
    with tf.Graph().as_default() as g:
        tf.import_graph_def(theirs, name="")
        for node in g.get_operations():
            for out in (o for o in node.outputs if o.dtype not in (tf.resource, tf.variant)):
                want, got = out.shape, tf.TensorShape(ours.shape(out.name))
                assert got.is_compatible_with(want), f"{out.name} ({node.type}): {got}, TensorFlow has {want}"


@pytest.mark.parametrize("make", make_graphdefs.GRAPHS, ids=lambda m: m.__name__)
def test_metagraphs_come_back_the_same(make):
    _, theirs = made(make)
    g = weftlib.Graph()
    g.load_meta(theirs)
    ours = g.export_meta()
    assert nodes_of(ours.graph_def).keys() == nodes_of(theirs.graph_def).keys()
    assert dict(ours.collection_def) == dict(theirs.collection_def)
    assert ours.saver_def == theirs.saver_def
    assert ours.meta_info_def.tensorflow_version == theirs.meta_info_def.tensorflow_version
    stripped = {o.name: o for o in theirs.meta_info_def.stripped_op_list.op}
    for op in ours.meta_info_def.stripped_op_list.op:
        assert [a.name for a in op.attr] == [a.name for a in stripped[op.name].attr]


def test_tensorflow_restores_from_our_metagraph(tmp_path):
    """TF writes a checkpoint; the MetaGraphDef goes through us; TF restores by it and runs."""
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=[1., 2.])
        tf.multiply(v, 2., name="twice")
        saver = v1.train.Saver()
        with v1.Session() as s:
            s.run(v1.global_variables_initializer())
            path = saver.save(s, str(tmp_path / "model"))
        theirs = v1.train.export_meta_graph(saver_def=saver.as_saver_def())
    g = weftlib.Graph()
    g.load_meta(theirs)
    with tf.Graph().as_default(), v1.Session() as s:
        saver = v1.train.import_meta_graph(g.export_meta())
        saver.restore(s, path)
        assert list(s.run("twice:0")) == [2., 4.]
        assert [v.name for v in v1.trainable_variables()] == ["v:0"]


def test_a_prefix_is_tensorflows_import_scope():
    _, theirs = made(make_graphdefs.softmax)
    g = weftlib.Graph()
    g.load_meta(theirs, "p")
    ours = g.export_meta()
    with tf.Graph().as_default():
        v1.train.import_meta_graph(theirs, import_scope="p")
        want = v1.train.export_meta_graph()
    assert nodes_of(ours.graph_def).keys() == {n for n in nodes_of(want.graph_def) if n.startswith("p/")}
    for name in ("variables", "trainable_variables", "train_op"):
        assert ours.collection_def[name] == want.collection_def[name]


REFUSED = {
    "a name used twice": 'node{name:"a" op:"NoOp"} node{name:"a" op:"NoOp"}',
    "a bad name": 'node{name:"a b" op:"NoOp"}',
    "no op": 'node{name:"a"}',
    "an unknown input": 'node{name:"a" op:"NoOp" input:"^b"}',
    "a cycle": 'node{name:"a" op:"NoOp" input:"^b"} node{name:"b" op:"NoOp" input:"^a"}',
    "control before data": 'node{name:"c" op:"NoOp"} node{name:"p" op:"Placeholder" attr{key:"dtype" '
                           'value{type:DT_FLOAT}}} node{name:"i" op:"Identity" input:"^c" input:"p" '
                           'attr{key:"T" value{type:DT_FLOAT}}}',
    "an output that is not there": 'node{name:"p" op:"Placeholder" attr{key:"dtype" value{type:DT_FLOAT}}} '
                                   'node{name:"i" op:"Identity" input:"p:1" attr{key:"T" value{type:DT_FLOAT}}}',
    "another type": 'node{name:"p" op:"Placeholder" attr{key:"dtype" value{type:DT_FLOAT}}} '
                    'node{name:"i" op:"Identity" input:"p" attr{key:"T" value{type:DT_INT32}}}',
    "too many inputs": 'node{name:"p" op:"Placeholder" attr{key:"dtype" value{type:DT_FLOAT}}} '
                       'node{name:"i" op:"Identity" input:"p" input:"p" attr{key:"T" value{type:DT_FLOAT}}}',
    "an attribute of another kind": 'node{name:"p" op:"Placeholder" attr{key:"dtype" value{i:1}}}',
    "a type that is not allowed": 'node{name:"p" op:"Placeholder" attr{key:"dtype" value{type:DT_STRING}}} '
                                  'node{name:"m" op:"MatMul" input:"p" input:"p" attr{key:"T" '
                                  'value{type:DT_STRING}}}',
    "a number below its minimum": 'node{name:"a" op:"AddN" attr{key:"N" value{i:0}} attr{key:"T" '
                                  'value{type:DT_FLOAT}}}',
    "a missing attribute": 'node{name:"v" op:"VariableV2" attr{key:"dtype" value{type:DT_FLOAT}}}',
    "shapes that do not fit": 'node{name:"p" op:"Placeholder" attr{key:"dtype" value{type:DT_FLOAT}} attr{key:"shape" '
                              'value{shape{dim{size:3}}}}} node{name:"m" op:"MatMul" input:"p" input:"p" '
                              'attr{key:"T" value{type:DT_FLOAT}}}',
    "a newer version": 'node{name:"a" op:"NoOp"} versions{producer:99999 min_consumer:90000}',
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_tensorflow_refuses_we_refuse(what):
    from google.protobuf import text_format
    graph_def = text_format.Parse(REFUSED[what], v1.GraphDef())
    with tf.Graph().as_default(), pytest.raises((ValueError, tf.errors.OpError)):
        tf.import_graph_def(graph_def, name="")
    with pytest.raises(weftlib.Error) as e:
        weftlib.Graph(graph_def)
    assert e.value.name == "INVALID_ARGUMENT"


LIBRARY = """library{function{signature{name:"f" input_arg{name:"a" type:DT_FLOAT} output_arg{name:"o" type:DT_FLOAT}
  output_arg{name:"p" type:DT_FLOAT}} ret{key:"o" value:"a"} ret{key:"p" value:"a"}}}"""
TYPES = 'attr{key:"output_types" value{list{type:DT_FLOAT type:DT_FLOAT}}}'
BRANCHES = """attr{key:"Tcond" value{type:DT_BOOL}} attr{key:"Tin" value{list{type:DT_FLOAT}}}
  attr{key:"Tout" value{list{type:DT_FLOAT type:DT_FLOAT}}}
  attr{key:"then_branch" value{func{name:"f"}}} attr{key:"else_branch" value{func{name:"f"}}}"""


def place(name, kind):
    return 'node{name:"%s" op:"Placeholder" attr{key:"dtype" value{type:DT_%s}}}' % (name, kind)


@pytest.mark.parametrize("count", range(4))
@pytest.mark.parametrize("nodes", [
    place("i", "RESOURCE") + 'node{name:"x" op:"IteratorGetNext" input:"i"%s' % TYPES,
    place("v", "VARIANT") + 'node{name:"x" op:"OptionalGetValue" input:"v"%s' % TYPES,
    place("c", "BOOL") + place("a", "FLOAT") + 'node{name:"x" op:"StatelessIf" input:"c" input:"a"%s' % BRANCHES,
], ids=["IteratorGetNext", "OptionalGetValue", "StatelessIf"])
def test_a_node_has_as_many_output_shapes_as_outputs(nodes, count):
    from google.protobuf import text_format
    shapes = 'attr{key:"output_shapes" value{list{%s}}}}' % ("shape{} " * count)
    graph_def = text_format.Parse(nodes + shapes + LIBRARY, v1.GraphDef())
    try:
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def, name="")
        want = None
    except ValueError as e:
        want = str(e).split(" for ")[0].split(";")[0].strip()
    try:
        weftlib.Graph(graph_def)
        got = None
    except Exception as e:  # noqa: BLE001
        got = str(e)
    assert (got is None) == (want is None), (got, want)
    if want and "same length" in want:
        assert want.split(" (")[0] in got and "(%d vs. 2" % count in got
