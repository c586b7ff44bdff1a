"""Modules of tensorflow.python that programs import by their whole path."""
import collections
import contextlib
import functools
import importlib
import io
import os

import numpy as np

from machine import case


def module(name):
    return importlib.import_module("tensorflow.python." + name)


def said(f, *args, **kwargs):
    try:
        return f(*args, **kwargs)
    except Exception as e:  # noqa: BLE001 - that is the question
        return type(e).__name__, str(e)


def trained(tf):
    """A small model and its files: m (checkpoint), g.pb, g.pbtxt, sm (SavedModel)."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    v = tf.get_variable("v", [2, 3], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    tf.get_variable("s", [], tf.int32, initializer=tf.zeros_initializer())
    y = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, v), b), name="y")
    tf.identity(y, name="z")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, "./m")
        graph = tf.get_default_graph().as_graph_def()
        tf.train.write_graph(graph, ".", "g.pb", as_text=False)
        tf.train.write_graph(graph, ".", "g.pbtxt")
        tf.saved_model.simple_save(sess, "sm", {"x": x}, {"y": y})


@case
def moving_averages(tf):
    averages = module("training.moving_averages")
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    value = tf.constant([1.0, 3.0])
    plain = averages.assign_moving_average(v, value, 0.9, zero_debias=False)
    unbiased = averages.assign_moving_average(w, value, 0.5, name="moved")
    weighted = averages.weighted_moving_average(value, 0.9, tf.constant(2.0))
    with tf.control_dependencies([tf.global_variables_initializer()]):
        first = tf.no_op()
    with tf.Session() as sess:
        sess.run(first)
        found = [sess.run([plain, unbiased, weighted]) for _ in range(3)]
    return found, [u.name for u in tf.global_variables()], [u.name for u in tf.trainable_variables()]


@case(nodes=False)
def slots(tf):
    creator = module("training.slot_creator")
    with tf.variable_scope("model"):
        v = tf.get_variable("v", [2, 3])
    made = [creator.create_zeros_slot(v, "momentum"), creator.create_slot(v, tf.ones([2]), "own"),
            creator.create_slot_with_initializer(v, tf.constant_initializer(3.0), tf.TensorShape([4]), tf.float32, "filled",
                                                 colocate_with_primary=False)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made), [m.op.name for m in made], [m.shape.as_list() for m in made], len(tf.trainable_variables())


@case(nodes=False)
def generated_functions(tf):
    nn, array, math, training = (module(n) for n in (
        "ops.gen_nn_ops", "ops.gen_array_ops", "ops.gen_math_ops", "training.training_ops"))
    x = tf.constant(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    y = nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=False)
    step = training.apply_gradient_descent(v._ref(), 0.5, [1.0, 2.0], use_locking=True)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run([nn.max_pool_grad(x, y, y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), nn.relu_grad([1.0, 2.0], [1.0, -1.0]),
                         nn.conv2d(x, tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "SAME"), array.pad([1.0], [[1, 2]]),
                         math.mat_mul([[1.0]], [[2.0]], transpose_a=True), step, *nn.top_kv2([3.0, 1.0, 2.0], 2)])


@case
def arguments_of_layers(tf):
    utils = module("layers.utils")
    return [[said(utils.normalize_tuple, *a) for a in ((3, 2, "k"), ([1, 2], 2, "k"), ((1, 2, 3), 2, "k"), ("ab", 2, "k"),
                                                       (2.5, 2, "k"), (None, 2, "k"))],
            [said(utils.convert_data_format, f, n) for f in ("channels_last", "channels_first", "x") for n in (3, 4, 5, 6)],
            [said(utils.normalize_data_format, a) for a in ("channels_last", "Channels_First", "x")],
            [said(utils.normalize_padding, a) for a in ("SAME", "valid", "x")],
            [said(utils.conv_output_length, n, 3, p, 2, d) for n in (10, None) for p in ("same", "valid", "full") for d in (1, 2)],
            [said(utils.conv_input_length, n, 3, p, 2) for n in (5, None) for p in ("same", "valid", "full")],
            [said(utils.deconv_output_length, n, 3, p, 2) for n in (5, None) for p in ("same", "valid", "full")],
            [said(utils.constant_value, a) for a in (True, 0, 1, 2, "x")], bool(utils.constant_value(tf.constant(True))),
            utils.constant_value(tf.placeholder(tf.bool)), utils.smart_cond(True, lambda: 1, lambda: 2)]


@case
def deprecation(tf):
    old = module("util.deprecation")

    @old.deprecated("2020-01-01", "Use g.")
    def f(x):
        """Does f.

        More."""
        return x

    @old.deprecated_args(None, "Use b.", "a", ("c", 5))
    def g(a=None, b=2, c=5):
        """Does g."""
        return a, b, c

    @old.deprecated_arg_values("2020-01-01", "No 3.", x=3)
    def h(x):
        """Does h."""
        return x
    with old.silence():
        found = [f(3), g(), g(a=3), h(3)]
    return [*found, f.__doc__, g.__doc__, h.__doc__, f.__name__, said(old.deprecated, "x", "y"),
            said(old.deprecated, "2020-01-01", ""), said(old.deprecated_args(None, "Use b.", "zz"), lambda x: x),
            [said(old.deprecated_argument_lookup, *a) for a in (("n", 1, "o", None), ("n", None, "o", 2), ("n", 1, "o", 2))],
            old.rewrite_argument_docstring("Args:\n  a: A.\n  b: See `a`.", "a", "c")]


class Called:
    def method(self, a, b):
        pass

    def __call__(self, q, r):
        pass


@case
def utilities(tf):
    functions, inspected, shapes, devices = (module(n) for n in (
        "util.function_utils", "util.tf_inspect", "framework.common_shapes", "framework.device"))

    @module("util.tf_export").tf_export("given")
    def exported():
        return 3
    pairs = [(tf.TensorShape(a), tf.TensorShape(b)) for a, b in (
        ([2, 1], [3]), ([2], [3]), ([None, 1], [2]), (None, [2]), ([None], [None]), ([1, 2], []))]
    context = module("eager.context")
    return [functions.fn_args(lambda a, b=1: 0), functions.fn_args(Called().method), functions.fn_args(Called()),
            functions.fn_args(functools.partial(lambda a, b: 0, 1)), functions.fn_args(functools.partial(lambda a, b: 0, b=1)),
            functions.has_kwargs(lambda **k: 0), functions.has_kwargs(Called()), functions.get_func_name(Called().method),
            said(functions.get_func_name, 3), exported(), inspected.getfullargspec(lambda a, b: 0).args,
            [said(lambda p: shapes.broadcast_shape(*p).as_list() if None not in [q.ndims for q in p] else None, p) for p in pairs],
            [shapes.is_broadcast_compatible(*p) for p in pairs],
            [devices.canonical_name(d) for d in (None, "/cpu:0", "/job:a/task:1/gpu:2", tf.DeviceSpec(job="x"))],
            module("framework.op_def_registry").get("MatMul").name, module("framework.op_def_registry").get("Nonsense"),
            context.executing_eagerly(), context.context().executing_eagerly(), module("util.compat").as_bytes("a"),
            [a.name for a in module("framework.op_def_registry").get("Conv2D").attr][:3],
            module("util.nest").flatten([1, [2]]), module("framework.smart_cond").smart_constant_value(True)]


@case(alone=True)
def names_of_modules(tf):
    """The names are there; TensorFlow has moved some of them since."""
    names = """ops.array_ops.where ops.array_ops.expand_dims ops.array_ops.gather_nd ops.math_ops.matmul ops.math_ops.reduce_sum
        ops.math_ops.tanh ops.nn_ops.softmax ops.nn_ops.bias_add ops.nn_impl.moments ops.nn_impl.l2_normalize
        ops.embedding_ops.embedding_lookup ops.embedding_ops.embedding_lookup_sparse ops.sparse_ops.sparse_tensor_to_dense
        ops.string_ops.string_to_hash_bucket_fast ops.string_ops.regex_replace ops.tensor_array_ops.TensorArray
        ops.template.make_template ops.functional_ops.foldl ops.map_fn.map_fn ops.custom_gradient.custom_gradient
        ops.gradients_impl.gradients ops.image_ops.resize_images ops.io_ops.read_file ops.linalg_ops.cholesky
        ops.losses.losses.mean_squared_error ops.losses.util.add_loss ops.metrics.accuracy ops.parsing_ops.parse_example
        ops.parsing_ops.FixedLenFeature ops.resource_variable_ops.ResourceVariable ops.script_ops.py_func ops.standard_ops.constant
        ops.weights_broadcast_ops.broadcast_weights ops.confusion_matrix.remove_squeezable_dimensions
        ops.control_flow_ops.while_loop ops.control_flow_ops.group ops.control_flow_ops.with_dependencies ops.control_flow_ops.cond
        ops.data_flow_ops.FIFOQueue ops.check_ops.assert_equal ops.state_ops.assign ops.state_ops.scatter_update
        ops.variables.global_variables ops.variable_scope.get_variable ops.variable_scope.variable_scope ops.random_ops.random_uniform
        ops.clip_ops.clip_by_global_norm ops.lookup_ops.HashTable ops.rnn.dynamic_rnn ops.rnn_cell_impl.LSTMStateTuple
        ops.rnn_cell_impl.RNNCell ops.init_ops.glorot_uniform_initializer ops.partitioned_variables.fixed_size_partitioner
        ops.distributions.categorical.Categorical ops.distributions.normal.Normal ops.ctc_ops.ctc_loss
        ops.logging_ops.scalar_summary training.monitored_session.MonitoredTrainingSession training.session_manager.SessionManager
        training.adam.AdamOptimizer training.gradient_descent.GradientDescentOptimizer training.learning_rate_decay.exponential_decay
        training.checkpoint_utils.init_from_checkpoint training.checkpoint_management.latest_checkpoint training.optimizer.Optimizer
        training.queue_runner_impl.QueueRunner training.input.batch training.device_setter.replica_device_setter
        training.sync_replicas_optimizer.SyncReplicasOptimizer training.server_lib.Server training.coordinator.Coordinator
        training.saver.Saver training.session_run_hook.SessionRunHook training.basic_session_run_hooks.StopAtStepHook
        training.training_util.get_global_step training.supervisor.Supervisor framework.sparse_tensor.SparseTensor
        framework.importer.import_graph_def framework.graph_io.write_graph framework.meta_graph.read_meta_graph_file
        framework.ops.Tensor framework.ops.name_scope framework.ops.convert_to_tensor framework.dtypes.float32
        framework.tensor_util.constant_value framework.tensor_util.make_tensor_proto framework.random_seed.set_random_seed
        framework.load_library.load_op_library framework.tensor_shape.TensorShape framework.errors_impl.OutOfRangeError
        framework.test_util.TensorFlowTestCase framework.indexed_slices.IndexedSlices summary.summary.scalar
        summary.summary_iterator.summary_iterator summary.writer.writer.FileWriter saved_model.loader.load
        saved_model.tag_constants.SERVING saved_model.signature_constants.PREDICT_INPUTS
        saved_model.builder.SavedModelBuilder saved_model.utils.build_tensor_info data.ops.dataset_ops.Dataset
        data.util.nest.flatten feature_column.feature_column._EmbeddingColumn lib.io.file_io.FileIO
        lib.io.tf_record.TFRecordWriter platform.gfile.Open platform.tf_logging.info platform.flags.DEFINE_string platform.app.run
        client.device_lib.list_local_devices client.timeline.Timeline client.session.Session
        tools.freeze_graph.freeze_graph layers.base.Layer layers.core.Dense layers.convolutional.Conv2D
        profiler.model_analyzer.profile util.tf_contextlib.contextmanager util.tf_decorator.make_decorator
        util.lazy_loader.LazyLoader module.module.Module""".split()
    pairs = [name.rpartition(".")[::2] for name in names]
    assert [(p, n) for p, n in pairs if said(lambda p, n: getattr(module(p), n) is None, p, n)] == []


@case(nodes=False)
def checkpoints_are_printed(tf):
    trained(tf)
    printed = module("tools.inspect_checkpoint").print_tensors_in_checkpoint_file
    out = []
    for kwargs in (dict(tensor_name="", all_tensors=True), dict(tensor_name="", all_tensors=False),
                   dict(tensor_name="b", all_tensors=False), dict(tensor_name="", all_tensors=False, all_tensor_names=True),
                   dict(tensor_name="nope", all_tensors=False), dict(tensor_name="", all_tensors=True, count_exclude_pattern="b|s")):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            printed("./m", **kwargs)
        out.append(text.getvalue())
    return out


@case(nodes=False)
def pieces_of_variables_are_not_frozen(tf):
    table = tf.get_variable("table", [4, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.zeros_initializer())
    tf.add(tf.convert_to_tensor(table), tf.get_variable("b", initializer=1.0), name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, "./m")
    tf.train.write_graph(tf.get_default_graph(), ".", "g.pb", as_text=False)
    freeze = module("tools.freeze_graph").freeze_graph
    with tf.Graph().as_default():
        return said(freeze, "g.pb", "", True, "./m", "y", "save/restore_all", "save/Const:0", "out.pb", True, "")


@case(nodes=False)
def graphs_are_frozen(tf):
    trained(tf)
    freeze, out = module("tools.freeze_graph").freeze_graph, []
    for kwargs in (dict(input_graph="g.pb"), dict(input_graph="g.pbtxt", input_binary=False), dict(input_meta_graph="m.meta"),
                   dict(input_saved_model_dir="sm", input_checkpoint=None),
                   dict(input_graph="g.pb", variable_names_denylist="b"), dict(input_graph="g.pb", output_node_names="nope"),
                   dict(input_graph="nope"), dict(input_graph="g.pb", input_checkpoint="nope"),
                   dict(input_graph="g.pb", output_node_names=""),
                   dict(input_graph="g.pb", clear_devices=True, variable_names_whitelist="v")):
        with contextlib.redirect_stdout(io.StringIO()), tf.Graph().as_default():
            found = said(freeze, **{**dict(
                input_graph=None, input_saver="", input_binary=True, input_checkpoint="./m", output_node_names="y",
                restore_op_name="save/restore_all", filename_tensor_name="save/Const:0", output_graph="out.pb",
                clear_devices=False, initializer_nodes=""), **kwargs})
        out.append([(n.op, n.name) for n in found.node] if hasattr(found, "node") else found)
        out.append(os.path.exists("out.pb"))
        if os.path.exists("out.pb"):
            os.remove("out.pb")
    utils = module("tools.saved_model_utils")
    return [*out, utils.get_saved_model_tag_sets("sm"), list(utils.get_meta_graph_def("sm", "serve").meta_info_def.tags),
            said(utils.get_meta_graph_def, "sm", "nope"), said(utils.read_saved_model, "nope")]


@case(nodes=False)
def graphs_are_cut_and_folded(tf):
    trained(tf)
    strip, better = module("tools.strip_unused_lib").strip_unused, module("tools.optimize_for_inference_lib")
    whole, out = tf.get_default_graph().as_graph_def(), []
    for inputs, outputs, types in ((["MatMul"], ["z"], 1), (["nope"], ["z"], 1), (["MatMul"], ["nope"], 1),
                                   (["MatMul", "x"], ["z"], [1, 3])):
        found = said(strip, whole, inputs, outputs, types)
        out.append([(n.op, n.name, list(n.input), sorted(n.attr)) for n in found.node] if hasattr(found, "node") else found)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        w = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3), name="w")
        c = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME", name="c")
        mean, variance, offset, scale = (tf.constant(np.float32([1, 2, 3]) * k) for k in (0.1, 1, 0.3, 2))
        bn, _, _ = tf.nn.fused_batch_norm(c, scale, offset, mean, variance, is_training=False, name="bn", epsilon=0.01)
        tf.nn.relu(tf.identity(bn), name="y")
        made = better.optimize_for_inference(graph.as_graph_def(), ["x"], ["y"], 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        y, = tf.import_graph_def(made, return_elements=["y:0"], name="")
        return [*out, [(n.op, n.name, list(n.input)) for n in made.node], sess.run(y, {"x:0": np.ones([1, 4, 4, 2])})]


@case
def options_of_the_graph_rewriter(tf):
    messages = importlib.import_module("tensorflow.core.protobuf.rewriter_config_pb2")
    config = tf.ConfigProto()
    off = messages.RewriterConfig.OFF
    config.graph_options.rewrite_options.layout_optimizer = off
    config.graph_options.rewrite_options.memory_optimization = messages.RewriterConfig.NO_MEM_OPT
    config.graph_options.rewrite_options.optimizers.extend(["constfold"])
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    given = messages.RewriterConfig(constant_folding=off, min_graph_nodes=-1)
    with tf.Session(config=config) as sess:
        return config.SerializeToString(), given.SerializeToString(), sess.run(tf.constant(2) + 3)


@case(nodes=False)
def parts_of_nests(tf):
    nest = module("util.nest")
    pair = collections.namedtuple("pair", "a b")
    deep = {"a": [1, pair(2, 3)], "b": 4}
    found = [nest.flatten_up_to([0, [1]], [[1, 2], [[3, 4]]]), nest.flatten_up_to({"a": 0, "b": [0]}, {"a": [1], "b": [{"x": 2}]}),
             nest.flatten_up_to(0, [1, 2]), list(nest.flatten_up_to(pair(1, 2), pair([1], 2))),
             nest.map_structure_up_to([0, [0]], lambda x, y: (x, y), [1, [2]], [[5, 6], [7]]),
             nest.flatten_dict_items({"a": 1, ("b", "c"): (2, 3)}), nest.flatten_with_joined_string_paths(deep),
             nest.flatten_with_joined_string_paths(deep, separator="."), nest.flatten_with_joined_string_paths(5),
             nest.flatten_with_tuple_paths(deep), repr(nest.map_structure_with_paths(lambda p, x: (p, x), deep)),
             repr(nest.map_structure_with_tuple_paths(lambda p, x: (p, x), deep)),
             nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), [1, (2, 3), [4]]),
             nest.list_to_tuple([1, [2, (3,)]]), repr(nest._sequence_like(pair(1, 2), [3, 4])),
             nest._sequence_like({"b": 1, "a": 2}, [3, 4]), list(nest._yield_value({"b": 1, "a": 2})),
             nest.is_nested_or_composite([1]), nest.is_mapping({}), nest.flatten_with_tuple_paths_up_to([0, 0], [[1], 2]),
             nest.assert_shallow_structure([0, 1], (1, 2), check_types=False)]
    wrong = [([0, 1], 5), ([0, 1], [1]), ([0, 1], (1, 2)), ({"a": 1}, {"b": 1})]
    return found, [said(nest.flatten_up_to, *w) for w in wrong], said(nest.flatten_dict_items, {("b", "c"): (2,)}), said(
        nest.flatten_dict_items, [1])


@case
def shapes_that_tensors_hold(tf):
    util, x = module("framework.tensor_util"), tf.placeholder(tf.float32, [None, 3])
    held = [tf.shape(x), tf.stack([tf.shape(x)[0], 5]), tf.constant([-1, 2]), tf.placeholder(tf.int32, [3]),
            tf.placeholder(tf.int32, [None]), tf.concat([tf.shape(x), [7]], 0), tf.shape(x)[1:], tf.cast(tf.shape(x), tf.int64)]
    proto = tf.make_tensor_proto([[1, 2]])
    return ([str(util.constant_value_as_shape(t)) for t in held], util.ShapeEquals(proto, [1, 2]), util.ShapeEquals(proto, [2]),
            str(module("framework.tensor_shape").dimension_value(x.shape[1])), util.MakeNdarray(proto))


@case
def scopes_and_conversions(tf):
    ops = module("framework.ops")
    names = [ops.strip_name_scope(*a) for a in (("a/b/c", "a/b"), ("x/b/c:0", "a/b"), ("^a/b/c", "a"), ("loc:@a/b", "a"), ("a", ""))]
    names += [ops.prepend_name_scope(*a) for a in (("c:0", "a/b"), ("^c", "a"), ("loc:@c", "a/"), ("a", ""))]
    with tf.name_scope("q"):
        names.append(ops.get_name_scope())
    made = ops.convert_n_to_tensor([1, 2.0]) + ops.convert_n_to_tensor([1, 2], tf.float32, "nm")
    state = [ops.inside_function(), ops.has_default_graph(), ops.executing_eagerly_outside_functions(), ops.uid() < ops.uid(),
             isinstance(made[0], ops.EagerTensor), ops._get_graph_from_inputs(made) is tf.get_default_graph()]
    sum_of = module("framework.op_def_library").apply_op("Add", x=1.0, y=2.0, name="z")
    return names, [(t.name, t.dtype.name) for t in made], state, said(ops.convert_n_to_tensor, 3), sum_of.name


@case
def parts_of_loops(tf):
    rnn, x = module("ops.rnn"), tf.placeholder(tf.float32, [None, 3, 4])
    turned = rnn._transpose_batch_time(x)
    rows = rnn._best_effort_input_batch_size([turned])
    joined = [rnn._concat(3, 5), rnn._concat(tf.constant(3), [5, 6])]
    with tf.Session() as sess:
        values = sess.run([turned, rows, *joined], {x: np.arange(24.0).reshape(2, 3, 4)})
    return (values, rnn._best_effort_input_batch_size([tf.zeros([3, 5, 2])]), rnn._infer_state_dtype(None, [x]).name,
            said(rnn._infer_state_dtype, None, []), str(rnn._maybe_tensor_shape_from_tensor(tf.constant([2, 3]))),
            rnn._concat(3, 5, static=True), rnn._concat([None], [4], static=True))


@case(nodes=False)
def steps_and_files(tf):
    util, files = module("training.training_util"), module("lib.io.file_io")
    before = util._get_or_create_global_step_read()
    tf.train.create_global_step()
    read, raised = util._get_or_create_global_step_read(), util._increment_global_step(2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        steps = sess.run([read, raised]), sess.run(read)
    files.write_string_to_file("a.txt", "abc")
    files.atomic_write_string_to_file("b.txt", "abc")
    return (before, read.name, raised.name, steps, files.read_file_to_string("a.txt", True), files.read_file_to_string("b.txt"),
            files.file_crc32("a.txt"), files.filecmp("a.txt", "b.txt"), said(files.read_file_to_string, "nope")[0])


@case(nodes=False)
def small_helpers(tf):
    identity, inspect = module("util.object_identity"), module("util.tf_inspect")
    a, b = [1], [1]
    table, members = identity.ObjectIdentityDictionary(), identity.ObjectIdentitySet([a, b, a])
    table[a] = 3
    only = module("util.keyword_args").keyword_args_only(lambda **given: given)
    return (a in table, b in table, len(members), len(members.difference([a])), tuple(
        inspect.getargspec(lambda a, b=1, *c: 0)), said(only, 1)[0], only(a=2), identity.Reference(a) == identity.Reference(a))


# Public names under the paths of the modules that define them, by module and name.
DEEP = """framework.tensor_util.is_tf_type framework.device_spec.DeviceSpecV1 ops.critical_section_ops.CriticalSection
ops.array_ops_stack.stack ops.linalg.linear_operator_diag.LinearOperatorDiag ops.control_flow_case.case ops.parsing_config.VarLenFeature
training.py_checkpoint_reader.NewCheckpointReader training.basic_loops.basic_train_loop framework.graph_util_impl.extract_sub_graph
data.ops.options.Options data.ops.dataset_ops.get_legacy_output_types saved_model.model_utils.export_output.PredictOutput
ops.string_ops.string_length lib.io.file_io.file_exists_v2 distribute.collective_util.CommunicationImplementation
keras.optimizer_v2.adam.Adam keras.layers.dense_attention.Attention keras.backend_config.floatx layers.core.FullyConnected""".split()


@case(nodes=False)
def public_names_by_their_modules(tf):
    return [callable(getattr(module(path.rpartition(".")[0]), path.rpartition(".")[2])) for path in DEEP]


@case(nodes=False)
def names_of_other_modules(tf):
    util, tags = module("ops.distributions.util"), module("saved_model.tag_constants")
    module("training.training_util").write_graph(tf.get_default_graph(), ".", "graph.pbtxt")
    module("profiler.tfprof_logger").write_op_log(tf.get_default_graph(), ".", add_trace=False)
    waited = module("training.checkpoint_utils").wait_for_new_checkpoint(".", timeout=0.01, seconds_to_sleep=0.01)
    return [tags.EVAL, tags.GPU, tags.SERVING, tags.TRAINING, waited, sorted(os.listdir(".")),
            util.softplus_inverse(np.float32([0.5, 3.0])), util.fill_triangular(np.arange(6.0)),
            util.fill_triangular(np.arange(6.0), upper=True)]
