"""Names that are in TensorFlow 1 twice or stand alone: messages, graph_util, logits without an estimator."""
from machine import case


@case(nodes=False)
def messages(tf):
    histogram = tf.HistogramProto(min=1., max=3., num=2., sum=4., bucket_limit=[2., 4.], bucket=[1., 1.])
    metadata = tf.SummaryMetadata(display_name="d", plugin_data=tf.SummaryMetadata.PluginData(plugin_name="p", content=b"c"))
    return [m.SerializeToString() for m in (histogram, metadata, tf.LogMessage(level=20, message="m"), tf.NameAttrList(name="n"))]


@case(nodes=False)
def nodes_on_the_cpu(tf):
    found = []
    for name, attributes in (("Const", {"dtype": 3}), ("Const", {"dtype": 7}), ("Const", {"dtype": 1}), ("DynamicStitch", {"T": 3}),
                             ("DynamicStitch", {"T": 1}), ("Cast", {"SrcT": 3, "DstT": 1}), ("Cast", {"SrcT": 1, "DstT": 3}),
                             ("Cast", {"SrcT": 1, "DstT": 2}), ("VariableV2", {"dtype": 1}), ("Variable", {"dtype": 1})):
        node = tf.NodeDef(name="n", op=name)
        for key, kind in attributes.items():
            node.attr[key].type = kind
        found.append([tf.graph_util.must_run_on_cpu(node), tf.graph_util.must_run_on_cpu(node, pin_variables_on_cpu=True)])
    c = tf.constant([[1.]], name="c")
    shapes = [tf.graph_util.tensor_shape_from_node_def_name(c.graph, name) for name in ("c", "c:0")]
    return found, tf.graph_util.must_run_on_cpu(c.op), shapes


@case(nodes=False)
def logits_without_an_estimator(tf):
    e, x = tf.estimator.experimental, tf.feature_column.numeric_column("x")
    features = {"x": tf.constant([[1.], [2.]])}
    linear = e.call_logit_fn(e.linear_logit_fn_builder(2, [x], sparse_combiner="mean"), features, "train", {}, None)
    network = e.call_logit_fn(e.dnn_logit_fn_builder(3, [2], [x], tf.nn.relu, None, None, True), features, "train", {}, None)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(linear), network.shape, [v.name for v in tf.global_variables()]


@case(nodes=False)
def other_names(tf):
    return tf.dtypes.as_string([1, 2]), tf.random.all_candidate_sampler([[1]], 1, 2, True, seed=1)[1:]


@case(alone=True, nodes=False)
def heads_of_contrib(tf):
    import weft
    head = weft.contrib.estimator.binary_classification_head(thresholds=[0.5], name="h")
    assert (head.name, head.logits_dimension) == ("h", 1)
    assert weft.contrib.estimator.multi_class_head(3).logits_dimension == 3
