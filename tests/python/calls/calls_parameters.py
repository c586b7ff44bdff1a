"""Parameters that once had no effect here, or another one than TensorFlow's."""
import json

import numpy as np

from machine import case


def raised(make):
    try:
        make()
    except (ValueError, TypeError, RuntimeError) as e:
        return e
    return None


@case(nodes=False)
def partitioners_cut_values(tf):
    """A tensor as initializer is cut; a scalar is not; a shape that is not known is refused."""
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        cut = tf.get_variable("v", initializer=tf.constant([1.0, 2, 3]))
        whole = tf.get_variable("w", [], initializer=tf.ones_initializer())
        error = raised(lambda: tf.get_variable("x", initializer=np.float32([1, 2])))
    least = tf.min_max_variable_partitioner(2, min_slice_size=64)
    return [v.name for v in cut], cut.as_tensor(), whole.name, error, least(shape=tf.TensorShape([4, 6]), dtype=tf.float32)


@case
def strings_are_joined(tf):
    return tf.reduce_join(tf.constant([["a", "b"], ["c", "d"]])), tf.reduce_join(tf.constant(["a", "b"]), reduction_indices=[0])


@case(nodes=False)
def graphs_are_exported_by_the_beginning_of_their_names(tf):
    for name in ("first", "first_1", "first/x", "firstly", "other"):
        tf.constant(1.0, name=name)
    return [n.name for n in tf.train.export_meta_graph(export_scope="first").graph_def.node]


@case(nodes=False)
def scaffolds_make_what_is_not_given(tf):
    tf.train.get_or_create_global_step()
    tf.summary.scalar("a", 1.0)
    made = tf.train.Scaffold(local_init_op=tf.no_op("mine"))
    copied = tf.train.Scaffold(copy_from_scaffold=made).finalize()
    parts = (copied.init_op, copied.ready_op, copied.ready_for_local_init_op, copied.local_init_op, copied.summary_op)
    return [p.name for p in parts], sorted(tf.get_default_graph().get_all_collection_keys())


@case(nodes=False)
def sessions_of_creators(tf):
    v = tf.Variable(3.0)
    tf.train.get_or_create_global_step()
    init = tf.no_op()
    error = raised(lambda: tf.train.MonitoredSession(tf.train.ChiefSessionCreator(tf.train.Scaffold(init_op=init))))
    with tf.Graph().as_default() as graph:
        tf.train.get_or_create_global_step()
        w = tf.Variable(3.0)
        with tf.train.ChiefSessionCreator().create_session() as sess:
            return sess.run(w), graph.finalized, error, v.name


@case(nodes=False)
def arrays_of_tensors_write_beside_the_first_value(tf):
    def places(colocate):
        with tf.Graph().as_default() as graph:
            x = tf.constant(1.0, name="x")
            array = tf.TensorArray(tf.float32, 2, colocate_with_first_write_call=colocate)
            array.write(0, x).write(1, tf.constant(2.0)).stack()
            return {n.name: list(n.attr["_class"].list.s) for n in graph.as_graph_def().node if "TensorArray" in n.op}
    return places(True), places(False)


@case(nodes=False)
def labels_of_estimators_are_checked(tf):
    def spec(labels, **more):
        with tf.Graph().as_default():
            tf.train.get_or_create_global_step()
            made = tf.estimator.LinearClassifier([tf.feature_column.numeric_column("x")], **more)
            made.model_fn({"x": tf.constant([[1.0], [2.0]])}, tf.constant(labels), "train", made.config)
    column = [[0], [1]]
    return [raised(make) for make in (
        lambda: spec(column), lambda: spec([[0, 1], [1, 1]]), lambda: spec(column, loss_reduction="none"),
        lambda: spec(column, label_vocabulary=["a", "b"]), lambda: spec([[0.0], [1.0]], n_classes=3), lambda: spec(column, n_classes=1))]


@case(nodes=False)
def buckets_are_padded_to_their_boundary(tf):
    def lengths(x):
        return tf.shape(x)[0]
    rows = tf.data.Dataset.range(1, 5).map(lambda n: tf.fill([n], n))
    rows = rows.apply(tf.data.experimental.bucket_by_sequence_length(lengths, [3, 6], [2, 2, 2], pad_to_bucket_boundary=True))
    take, found = tf.data.make_one_shot_iterator(rows).get_next(), []
    with tf.Session() as sess:
        while len(found) < 2:
            found.append(sess.run(take))
    return found


@case(nodes=False)
def sparse_shapes_are_checked_while_the_graph_is_built(tf):
    a, b = tf.SparseTensor([[0, 1]], [1.0], [3, 4]), tf.ones([4, 3])
    joined = tf.sparse.concat(0, [a, a])
    return [tf.sparse.matmul(a, b).get_shape(), raised(lambda: tf.sparse.matmul(a, b, adjoint_a=True)), joined.dense_shape.op.type,
            raised(lambda: tf.sparse.concat(0, [a, a], expand_nonconcat_dims=True))]


@case(nodes=False)
def queue_runners_wait_for_a_start(tf):
    queue = tf.FIFOQueue(3, tf.float32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)])
    error = raised(lambda: tf.train.QueueRunner(queue, [tf.no_op()], queue_closed_exception_types=(ValueError,)))
    take, coord = queue.dequeue(), tf.train.Coordinator()
    with tf.Session() as sess:
        threads = runner.create_threads(sess, coord, daemon=True, start=False)
        before = threads[0].is_alive()
        for t in threads:
            t.start()
        value = sess.run(take)
        coord.request_stop()
        sess.run(queue.close(cancel_pending_enqueues=True))
        coord.join(threads)
    return error, before, value, threads[0].is_alive()


@case(nodes=False)
def messages_leave_defaults_out(tf):
    made = tf.ConfigProto(allow_soft_placement=False, log_device_placement=True)
    return made.SerializeToString(), tf.AttrValue(i=0).SerializeToString(), tf.summary.tensor_summary(
        "s", tf.constant([1.0]), summary_description="text", display_name="shown")


@case(nodes=False, alone=True)
def timelines_show_data_and_memory(tf):
    """Arrows join rows only; the bytes of a curve end at zero."""
    from weft._core.run.timeline import Timeline
    stats, first, second = tf.RunMetadata().step_stats, "/cpu:0", "/cpu:1"
    for device, name, label, begin in ((first, "a", "a = Const()", 1), (second, "b", "b = Neg(a)", 5)):
        node = stats.dev_stats.add(device=device).node_stats.add(node_name=name, timeline_label=label, all_start_micros=begin,
                                                                 all_end_rel_micros=2)
        node.output.add().tensor_description.dtype = 1
    events = json.loads(Timeline(stats).generate_chrome_trace_format(show_memory=True))["traceEvents"]
    kinds = [e["ph"] for e in events]
    assert (kinds.count("s"), kinds.count("t")) == (1, 1)
    assert [e["args"]["bytes"] for e in events if e["ph"] == "C"] == [4, 0, 4, 0]
    plain = json.loads(Timeline(stats).generate_chrome_trace_format(show_dataflow=False))["traceEvents"]
    assert not {"s", "t", "C"} & {e["ph"] for e in plain}


@case(nodes=False)
def session_creators_of_programs(tf):
    log = []

    class Hook(tf.train.SessionRunHook):
        def begin(self):
            log.append("begin")

        def after_create_session(self, session, coord):
            log.append("created")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs("step:0")

        def after_run(self, run_context, run_values):
            log.append(int(run_values.results))
            if run_values.results >= 2:
                run_context.request_stop()

        def end(self, session):
            log.append("end at %d" % session.run("step:0"))

    class Creator(tf.train.SessionCreator):
        def create_session(self):
            log.append("create")
            made = tf.Session()
            made.run(init)
            return made
    count = tf.assign_add(tf.Variable(0, name="step"), 1)
    init = tf.global_variables_initializer()
    fed = tf.train.input_producer(tf.constant([5, 6, 7]), shuffle=False).dequeue()
    with tf.train.MonitoredSession(Creator(), [Hook()]) as sess:
        while not sess.should_stop():
            log.append(sess.run([count, fed]))
    return log


@case(nodes=False)
def names_of_both_directions(tf):
    cells = [tf.nn.rnn_cell.GRUCell(2) for _ in range(2)]
    outputs, states = tf.nn.bidirectional_dynamic_rnn(*cells, tf.ones([2, 3, 4]), dtype=tf.float32, sequence_length=[1, 2])
    return [t.name for t in (*outputs, *states)], [v.name for v in tf.global_variables()]


@case(nodes=False)
def sizes_beside_paddings_that_are_tensors(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    return [tf.pad(x, [[0, tf.shape(x)[0]], [1, 2]]).get_shape(), tf.pad(x, [[0, 1], [tf.shape(x)[0], 2]]).get_shape()]


@case(nodes=False)
def two_names_of_one_parameter(tf):
    x, texts, labels = tf.ones([2, 3]), ["1"], tf.SparseTensor([[0, 0]], [1], [1, 1])
    return [raised(make) for make in (
        lambda: tf.count_nonzero(x, input=x), lambda: tf.string_to_number(texts, input=texts),
        lambda: tf.string_to_hash_bucket(texts, 3, input=texts), lambda: tf.reverse_sequence(x, [1, 1], seq_axis=1, seq_dim=1),
        lambda: tf.nn.weighted_cross_entropy_with_logits(x, x, 1.0, targets=x),
        lambda: tf.nn.ctc_loss(labels, tf.ones([1, 1, 3]), [1], logits=x),
        lambda: tf.cond(tf.constant(True), lambda: x, lambda: x, fn1=lambda: x),
        lambda: tf.nn.weighted_moments(x, [0], 1.0, keep_dims=True, keepdims=True))]


@case(nodes=False)
def white_space_is_split_at_most_so_often(tf):
    texts = ["a b", "a", " a b ", "", "a b c d"]
    return [tf.strings.split(texts, maxsplit=n).values for n in (-1, 1, 2, 3)]


@case(nodes=False)
def embeddings_of_columns(tf):
    column = tf.feature_column.embedding_column(
        tf.feature_column.categorical_column_with_identity("i", 3), 2, initializer=tf.ones_initializer(), max_norm=0.5)
    return tf.feature_column.input_layer({"i": tf.constant([[0], [2]])}, [column])
