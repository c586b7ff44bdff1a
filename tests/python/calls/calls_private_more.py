"""More names of tensorflow.python modules that no public name shows: utilities of Keras, Jacobians, helpers of copied code."""
import numpy as np

from calls_python_modules import module, said
from machine import case

X = np.arange(6.0).reshape(2, 3).astype(np.float32)


def run(tf, *fetches):
    with tf.Session() as sess:
        return [sess.run(f) for f in fetches]


@case(nodes=False)
def shapes_of_layers(tf):
    utils = module("keras.utils.tf_utils")

    class Layer(tf.keras.layers.Layer):
        @utils.shape_type_conversion
        def build(self, input_shape):
            self.seen = input_shape
            super().build(input_shape)

        @utils.shape_type_conversion
        def compute_output_shape(self, input_shape):
            return input_shape[:1] + (7,)

        def call(self, x):
            return x
    layer = Layer()
    layer(tf.constant(X))
    given = {"a": tf.TensorShape([None, 2]), "b": [3, (4, None)]}
    return [layer.seen, type(layer.compute_output_shape(tf.TensorShape([2, 3]))).__name__,
            layer.compute_output_shape(tf.TensorShape([2, 3])).as_list(), utils.convert_shapes([[2, 3], tf.TensorShape([None])]),
            utils.convert_shapes(given["a"]), utils.is_symbolic_tensor(tf.constant(1)), utils.is_symbolic_tensor(3),
            utils.is_tensor_or_tensor_list([tf.constant(1), 2]), utils.is_tensor_or_tensor_list(3),
            utils.map_structure_with_atomic(lambda x: isinstance(x, int), lambda x: x + 1, {"a": [1, 2], "b": (3,)}),
            said(utils.map_structure_with_atomic, lambda x: isinstance(x, int), lambda x: x, ["a"])[0]]


@case(nodes=False)
def lists_and_arguments(tf):
    utils = module("keras.utils.generic_utils")
    scale = 3
    dumped = utils.func_dump(lambda x, y=2: x * y * scale)
    rows = np.arange(8).reshape(4, 2)
    return [utils.has_arg(lambda a, *, b: 0, "b"), utils.has_arg(lambda **k: 0, "b"), utils.has_arg(lambda **k: 0, "b", True),
            utils.to_list(3), utils.to_list([3]), utils.to_list((3,)), utils.is_all_none([None, (None,)]), utils.is_all_none([None, 1]),
            utils.slice_arrays(rows, 1, 3), utils.slice_arrays([rows, None], 1, 3), utils.slice_arrays([rows], [0, 2]),
            utils.slice_arrays(rows, [0, 2]), utils.slice_arrays(None, 1), utils.func_load(*dumped)(5), dumped[1:],
            utils.func_load(dumped)(7)]


@case(nodes=False)
def sizes_of_weights(tf):
    utils = module("keras.utils.layer_utils")
    layer = tf.keras.layers.Dense(4)
    layer(tf.constant(X))
    x = tf.keras.Input([3])
    made = tf.keras.layers.Dense(2)(x)
    network = module("keras.engine.input_spec")
    spec = tf.keras.layers.InputSpec(ndim=2)
    return [utils.count_params(layer.weights), utils.count_params(layer.weights + layer.weights), made.shape.as_list(),
            network.assert_input_compatibility(spec, tf.constant(X), "l"),
            said(network.assert_input_compatibility, spec, tf.constant([1.0]), "l")[0], module("keras.utils.io_utils").path_to_string(3)]


@case(nodes=False)
def bases_of_layers(tf):
    class Doubled(module("keras.layers.merge")._Merge):
        def _merge_function(self, inputs):
            return 2.0 * (inputs[0] + inputs[1])
    conv = module("keras.layers.convolutional").Conv(2, 3, 2, kernel_initializer="ones")
    made = [Doubled()([tf.constant(X), tf.constant(X)]), conv(tf.ones([1, 4, 4, 1]))]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(made)


@case(nodes=False)
def jacobians(tf):
    grads, x, y = module("ops.parallel_for.gradients"), tf.constant(X), tf.constant([2.0, 3.0])
    out = tf.square(x) * y[:, None]
    lost = grads.jacobian(out, [x, tf.constant(1.0)], use_pfor=False)
    wide = tf.placeholder_with_default(X, [None, 3])
    rows = grads.batch_jacobian(tf.matmul(tf.exp(wide), tf.ones([3, 2])), wide, use_pfor=False)
    return [run(tf, grads.jacobian(out, x, use_pfor=False), grads.jacobian(out, [y, x], use_pfor=False), lost[0], rows), lost[1],
            rows.shape.as_list(), grads.jacobian(out, x, use_pfor=False).shape.as_list(),
            said(grads.batch_jacobian, tf.ones([3, 2]), x)[0],
            run(tf, module("ops.parallel_for.control_flow_ops").for_loop(lambda i: (i, x * tf.cast(i, tf.float32)),
                                                                         (tf.int32, tf.float32), 3))]


@case(nodes=False)
def parts_of_losses(tf):
    impl = module("ops.losses.losses_impl")
    losses, weights = tf.constant(X), tf.constant([[0.0], [2.0]])
    return [run(tf, impl._safe_mean(losses, tf.constant(4.0)), impl._safe_mean(losses, tf.constant(0.0)),
                impl._num_present(losses, weights), impl._num_present(losses, weights, per_batch=True), impl._num_present(losses, 1.0)),
            module("ops.init_ops")._compute_fans([3, 3, 4, 5]), module("ops.init_ops")._compute_fans([4]),
            said(module("ops.init_ops")._assert_float_dtype, tf.int32)[0], run(tf, module("ops.nn_impl")._sum_rows(losses))]


@case(nodes=False)
def images_that_are_checked(tf):
    impl = module("ops.image_ops_impl")
    known, open_ = tf.ones([2, 3, 1]), tf.placeholder_with_default(np.ones([2, 3, 1], np.float32), [None, 3, 1])
    return [impl._ImageDimensions(known, 3), run(tf, impl._ImageDimensions(open_, 3)[0])[0], impl._ImageDimensions(open_, 3)[1:],
            impl._Check3DImage(known), len(impl._Check3DImage(open_, require_static=False)), said(impl._Check3DImage, open_)[0],
            said(impl._Check3DImage, tf.ones([2, 3]))[0], said(impl._Check3DImage, tf.ones([0, 3, 1]))[0],
            run(tf, impl._Assert3DImage(open_))]


@case(nodes=False)
def updates_in_place(tf):
    ops, x = module("ops.inplace_ops"), tf.constant(X)
    return run(tf, ops.inplace_update(x, [0], [[7.0, 8.0, 9.0]]), ops.inplace_add(x, 1, [1.0, 1.0, 1.0]), ops.inplace_sub(x, None, X),
               ops.alias_inplace_update(tf.identity(x), 1, [7.0, 8.0, 9.0]), x)


@case(nodes=False)
def nodes_of_graphs(tf):
    lib, util = module("tools.optimize_for_inference_lib"), module("framework.test_util")
    tf.add(tf.constant(1.0, name="a"), 2.0, name="b")
    graph = tf.get_default_graph().as_graph_def()
    nodes = {n.name: n for n in graph.node}
    broken = tf.GraphDef()
    broken.CopyFrom(graph)
    broken.node.add(name="a", op="NoOp")
    lost = tf.GraphDef()
    lost.node.add(name="c", op="Identity", input=["d"])
    return [lib.node_name_from_input("^a"), lib.node_name_from_input("a:12"), lib.node_from_map(nodes, "a:0").op,
            said(lib.node_from_map, nodes, "z")[0], lib.ensure_graph_is_valid(graph), said(lib.ensure_graph_is_valid, broken)[0],
            said(lib.ensure_graph_is_valid, lost)[0], sorted(util.assert_ops_in_graph({"a": "Const"}, tf.get_default_graph())),
            said(util.assert_ops_in_graph, {"a": "Add"}, tf.get_default_graph())[0],
            said(util.assert_ops_in_graph, {"z": "Add"}, tf.get_default_graph())[0], util.NHWCToNCHW([1, 2, 3, 4]),
            util.NCHWToNHWC([1, 2, 3, 4, 5]), util.NHWCToNCHW(tf.ones([1, 2, 3, 4])).shape.as_list(),
            [module("framework.sparse_tensor").is_sparse(t) for t in (tf.sparse.from_dense(X), tf.constant(X))]]


@case(nodes=False)
def small_parts(tf):
    chosen = module("training.device_setter")._RoundRobinStrategy(2)
    template = module("ops.template").Template
    has, utils = module("ops.rnn_cell_impl")._hasattr, module("saved_model.model_utils.export_utils")
    folder = utils.get_timestamped_export_dir("base")
    made = tf.make_template("t", lambda x: x)
    return [[chosen(None) for _ in range(3)], isinstance(made, template), has(3, "real"), has(3, "none"), type(folder).__name__,
            folder[:5], len(folder), utils.get_temp_export_dir(b"base/12"), module("ops.variables").PartitionedVariable.__name__,
            module("platform.build_info").build_info["is_rocm_build"]]


@case(nodes=False)
def a_plug_in_that_is_not_there(tf):
    return said(tf.experimental.register_filesystem_plugin, "none.so")
