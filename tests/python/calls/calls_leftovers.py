"""Names of tf.debugging, tf.config, tf.estimator and tf.nn that no other file has."""
import numpy as np

from machine import case


def said(f, *args, **kwargs):
    try:
        found = f(*args, **kwargs)
        return found if isinstance(found, (int, float, str, list, dict, bool)) else None
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__, str(e).split("\n")[0]


@case(nodes=False)
def shapes_that_the_graph_knows(tf):
    x, row, column = np.zeros([2, 3], np.float32), np.zeros([3], np.float32), np.zeros([2], np.float32)
    lists = [[(x, ("N", "Q"))], [(x, ("N", "N"))], [(x, ("N", 4))], [(x, (2, "N")), (row, ("N",))], [(x, (2, "N")), (column, ("N",))],
             [(x, ("*", "N")), (row, (..., "N"))], [(x, (2, ..., "N", ...))], [(x, 3)], [(x, "NM")], [(x, (None, ".", "K"))],
             [(np.float32(1), (1,))], [(np.float32(1), (2,))], [(x, ("*", "N")), (column, ("N",))]]
    return [said(lambda pairs: tf.debugging.assert_shapes([(tf.constant(a, name="x%d" % i), s) for i, (a, s) in enumerate(pairs)],
                                                          message="msg", data=None, summarize=3, name="given%d" % n), pairs)
            for n, pairs in enumerate(lists)]


@case(nodes=False)
def shapes_that_the_run_knows(tf):
    x, y = tf.placeholder(tf.float32, [None, None], name="x"), tf.placeholder(tf.float32, name="y")
    check = tf.debugging.assert_shapes({x: ("N", 3), y: ("N", "M")})
    found = []
    with tf.Session() as sess:
        for a, b in (([2, 3], [2, 1]), ([2, 4], [2, 1]), ([2, 3], [3, 1]), ([2, 3], [2])):
            try:
                sess.run(check, {x: np.zeros(a), y: np.zeros(b)})
                found.append("passes")
            except tf.errors.InvalidArgumentError:
                found.append("fails")
    return found


@case
def rows_of_batches_are_written(tf):
    v = tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer(), use_resource=False)
    w = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer(), use_resource=False)
    one = tf.batch_scatter_update(v, tf.constant([[0, 2], [1, 0]]), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    two = tf.batch_scatter_update(w, tf.constant([0, 2]), tf.constant([[1.0, 2.0], [3.0, 4.0]]), use_locking=False, name="given")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([one, two])


@case
def outputs_of_evaluations(tf):
    x, y = tf.constant(1.0, name="x"), tf.constant([2.0], name="y")
    kind, out = tf.estimator.export.EvalOutput, []
    for make in (lambda: tf.estimator.export.EvalOutput(loss=x), lambda: tf.estimator.export.EvalOutput(loss={"a": x}),
                 lambda: tf.estimator.export.EvalOutput(loss=x, predictions=y, metrics={"m": (x, y)}),
                 lambda: tf.estimator.export.EvalOutput(loss=x, predictions={"p": y}, metrics={"m": (x, y)})):
        made = make()
        signature = made.as_signature_def({"in": x})
        out.append([sorted(made.loss), sorted(made.predictions or {}), sorted(made.metrics or {}), sorted(signature.inputs),
                    sorted(signature.outputs), signature.method_name])
    return [*out, said(tf.estimator.export.EvalOutput, loss=3), kind.LOSS_NAME, kind.METRICS_NAME, kind.METRIC_UPDATE_SUFFIX]


@case
def receivers_of_labels(tf):
    a, b, q = tf.constant([1.0], name="a"), tf.constant([[2.0]], name="b"), tf.constant([2.0, 3.0], name="q")
    found = []
    for args in (({"a": a, "b": b}, q), (q, a), ({"a": a}, {"l": b}, 3)):
        made = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(*args)()
        found.append([sorted((k, v.name, v.shape.as_list()) for k, v in made.receiver_tensors.items()),
                      sorted(made.features) if isinstance(made.features, dict) else made.features.name,
                      sorted(made.labels) if isinstance(made.labels, dict) else made.labels.name])
    return found, said(lambda: tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"a": a}, {"a": a})())


class Kept:
    def __init__(self, tf):
        self.tf, self.saved = tf, []

    def state(self, name):
        return self.tf.constant(np.full([2, 3], 0.5, np.float32))

    def save_state(self, name, value):
        self.saved.append(name)
        return self.tf.identity(value)


@case(nodes=False)
def networks_that_keep_their_state(tf):
    out = []
    for i, (cell, names) in enumerate(((tf.nn.rnn_cell.BasicRNNCell(3), "h"), (tf.nn.rnn_cell.BasicLSTMCell(3), ("c", "h")))):
        kept = Kept(tf)
        with tf.variable_scope("n%d" % i, initializer=tf.constant_initializer(0.1)):
            x = [tf.ones([2, 4]), 2 * tf.ones([2, 4])]
            outputs, state = tf.nn.static_state_saving_rnn(cell, x, kept, names, sequence_length=tf.constant([1, 2]))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            out.append([sess.run([outputs, state]), kept.saved])
    cell = tf.nn.rnn_cell.BasicLSTMCell(3)
    return [*out, [v.name for v in tf.global_variables()],
            said(lambda: tf.nn.static_state_saving_rnn(cell, [tf.ones([2, 4])], Kept(tf), "c"))[0],
            said(lambda: tf.nn.static_state_saving_rnn(cell, [], Kept(tf), ("c", "h")))]


@case
def configurations(tf):
    before = tf.config.optimizer.get_experimental_options()
    tf.config.optimizer.set_experimental_options({"constant_folding": False, "nonsense": 1, "min_graph_nodes": 5})
    after = tf.config.optimizer.get_experimental_options()
    filters = tf.config.experimental.ClusterDeviceFilters()
    filters.set_device_filters("ps", 0, ["/job:worker"])
    tf.config.experimental.enable_tensor_float_32_execution(False)
    off = tf.config.experimental.tensor_float_32_execution_enabled()
    cpu = tf.config.experimental.list_physical_devices("CPU")[0]
    states = [tf.debugging.is_traceback_filtering_enabled()]
    tf.debugging.disable_traceback_filtering()
    states.append(tf.debugging.is_traceback_filtering_enabled())
    tf.debugging.enable_traceback_filtering()
    return [sorted(before.items()), sorted(after.items()), off, tf.config.experimental.get_device_details(cpu),
            said(tf.config.experimental.get_device_details, "CPU:0"), said(filters.set_device_filters, "ps", 0, [3])[0], states,
            tf.debugging.is_traceback_filtering_enabled(), tf.summary.SummaryDescription(type_hint="a").SerializeToString(),
            tf.profiler.OpLogProto(id_to_string={3: "a"}).SerializeToString()]


@case(nodes=False)
def training_stops_at_the_step_of_a_checkpoint(tf):
    def model_fn(features, labels, mode):
        step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=step)
    model = tf.estimator.Estimator(model_fn, "m")
    hook = tf.estimator.experimental.make_stop_at_checkpoint_step_hook(model, last_step=5, wait_after_file_check_secs=1)
    model.train(lambda: tf.ones([2]), hooks=[hook])
    return int(model.get_variable_value("global_step"))
