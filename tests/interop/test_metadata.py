"""RunMetadata of a step on two tasks: a Weft master, and a Weft task under TensorFlow's master, give what TensorFlow gives.

Names of the nodes that send and receive between tasks are the master's own: they are compared by what they carry.
"""
import pytest
import tensorflow.compat.v1 as tf

OPTIONS = {"timeout_in_ms": 60000}


def config(**graph_options):
    """Without the optimizations that change TensorFlow's graph."""
    made = tf.ConfigProto()
    made.graph_options.optimizer_options.opt_level = -1
    made.graph_options.rewrite_options.disable_meta_optimizer = True
    for name, value in graph_options.items():
        setattr(made.graph_options, name, value)
    return made


@pytest.fixture(scope="module")
def reference():
    """Two TensorFlow servers in this process; the target of the second."""
    from ports import free_ports
    hosts = ["127.0.0.1:%d" % p for p in free_ports(2)]
    spec = tf.train.ClusterSpec({"ps": hosts[:1], "worker": hosts[1:]})
    return [tf.train.Server(spec, job, 0) for job in ("ps", "worker")]


@pytest.fixture(params=["weft", "tensorflow"])
def targets(request, cluster, reference):
    """The target of a cluster with a Weft ps, whose master is Weft's or TensorFlow's, and of TensorFlow's."""
    c = cluster(ps=1, workers=1)
    tasks = [c.serve("ps", 0)] + ([c.serve("worker", 0)] if request.param == "weft" else [])
    own = None if request.param == "weft" else tf.train.Server(tf.train.ClusterSpec(c.hosts), "worker", 0)
    for t in tasks:
        t.until("Started server with target")
    return [own.target if own else "grpc://" + c.hosts["worker"][0], reference[1].target]


def steps(target, runs, options, **graph_options):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/job:ps/task:0"):
            v = tf.Variable([1.0, 2.0], name="v", use_resource=False)
        with tf.device("/job:worker/task:0"):
            y = tf.add(x, v, name="y")
            z = tf.identity(y * 2, name="z")
        with tf.device("/job:ps/task:0"):
            k = tf.square(y, name="k")
        with tf.Session(target, config=config(**graph_options)) as s:
            s.run(tf.global_variables_initializer())
            for _ in range(runs):
                metadata = tf.RunMetadata()
                s.run([z, k], {x: [1, 2]}, tf.RunOptions(**OPTIONS, **options), metadata)
                yield metadata


def carried(node):
    """What a _Send or _Recv that TensorFlow's and Weft's masters name differently carries: the name of the source."""
    return node.attr["_src"].s.decode() or node.name.rsplit("_S", 1)[0]


def plain(graph):
    """The nodes of a graph with names that do not depend on the master."""
    between = {n.name: "%s of %s" % (n.op, carried(n)) for n in graph.node
               if n.op in ("_Send", "_Recv") and not n.attr["client_terminated"].b}
    return sorted((between.get(n.name, n.name), n.op, [between.get(i, i) for i in n.input], n.device) for n in graph.node)


def test_partition_graphs(targets):
    ours, theirs = (sorted(plain(g) for m in steps(t, 1, {"output_partition_graphs": True}) for g in m.partition_graphs)
                    for t in targets)
    assert len(ours) == 2 and ours == theirs


def costs(metadata):
    """The nodes of every cost graph: names of their inputs, and what is known of their outputs."""
    graphs, found = [], []
    for n in metadata.cost_graph.node:
        if n.name == "_SOURCE":
            graphs.append({})
        graphs[-1][n.id] = n
    for g in graphs:
        name = {i: n.name.rsplit("_S", 1)[0] if "_S" in n.name[1:] else n.name for i, n in g.items()}
        found.append(sorted((name[i], n.device, [(name[j.preceding_node], j.preceding_port) for j in n.input_info], n.is_final,
                             sorted({name[j] for j in n.control_input})) for i, n in g.items()))
    return sorted(found)


def test_cost_graphs(targets):
    for every, after in (1, 0), (3, 1):
        ours, theirs = ([costs(m) for m in steps(t, 4, {}, build_cost_model=every, build_cost_model_after=after)] for t in targets)
        assert ours == theirs and len(ours[0]) == 2
    ours, theirs = ({n.name: [(o.dtype, str(o.shape)) for o in n.output_info] for m in steps(t, 1, {}, build_cost_model=1)
                     for n in m.cost_graph.node if n.name in "vyzk"} for t in targets)
    assert ours == theirs and len(ours) == 4


def test_only_what_was_asked_for(targets):
    for options in {}, {"trace_level": 3}, {"trace_level": 3, "output_partition_graphs": True}:
        ours, theirs = ([f.name for m in steps(t, 1, options) for f, _ in m.ListFields()] for t in targets)
        assert ours == theirs
