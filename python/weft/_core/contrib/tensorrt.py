"""tf.contrib.tensorrt.create_inference_graph: the graph as it is, because Weft has no TensorRT and compiles every step."""
import weft as tf
from weft._core.platform import logging

_MODES = ("FP32", "FP16", "INT8")


def _positive(name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("create_inference_graph: %s must be an integer of at least 1, not %r" % (name, value))


def _checked_mode(mode):
    text = mode.decode() if isinstance(mode, bytes) else mode
    if not isinstance(text, str) or text.upper() not in _MODES:
        raise ValueError("create_inference_graph: precision_mode %r is none of %s" % (mode, ", ".join(_MODES)))


def _node_names(outputs):
    names = [x.name if hasattr(x, "name") else x.decode() if isinstance(x, bytes) else x for x in outputs]
    return [name.partition(":")[0] for name in names]


def _checked_graph(graph_def, outputs):
    if not isinstance(graph_def, tf.GraphDef):
        raise TypeError("create_inference_graph: input_graph_def must be a GraphDef, not %s" % type(graph_def).__name__)
    if not outputs:
        raise ValueError("create_inference_graph: outputs must name the results that the graph computes")
    there = {node.name for node in graph_def.node}
    lacking = [name for name in _node_names(outputs) if name not in there]
    if lacking:
        raise ValueError("create_inference_graph: the graph has no node %s, which outputs names" % ", ".join(lacking))
    made = tf.GraphDef()
    made.CopyFrom(graph_def)
    return made


def _frozen(folder, tags, key, config):
    """Returns a SavedModel's graph with its variables as constants, and the signature of that key."""
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        try:
            meta = tf.saved_model.loader.load(sess, tags, folder)
        except RuntimeError as e:
            raise RuntimeError("create_inference_graph: input_saved_model_tags: %s" % e) from None
        if key not in meta.signature_def:
            raise ValueError("create_inference_graph: input_saved_model_signature_key: the SavedModel %s has no signature %r; it has %s" % (
                folder, key, ", ".join(sorted(meta.signature_def))))
        signature = meta.signature_def[key]
        outputs = _node_names(info.name for info in signature.outputs.values())
        return tf.graph_util.convert_variables_to_constants(sess, sess.graph.as_graph_def(), outputs), signature


def _saved(folder, graph_def, tags, key, signature, config):
    """Writes a frozen graph as a SavedModel."""
    with tf.Graph().as_default() as graph, tf.Session(graph=graph, config=config) as sess:
        tf.import_graph_def(graph_def, name="")
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(sess, tags, signature_def_map={key: signature})
        builder.save()


def create_inference_graph(input_graph_def, outputs, max_batch_size=1, max_workspace_size_bytes=1 << 30, precision_mode="FP32",
                           minimum_segment_size=3, is_dynamic_op=False, maximum_cached_engines=1, input_saved_model_dir=None,
                           input_saved_model_tags=None, input_saved_model_signature_key=None, output_saved_model_dir=None,
                           session_config=None):
    """Returns a GraphDef that computes the outputs: the given one, or a SavedModel's with its variables as constants.

    Weft has no TensorRT, so nothing is converted, and a warning says so.  The arguments of the conversion are checked.

    Args:
      input_graph_def: a GraphDef, or None if a SavedModel is given.
      outputs: the names of the nodes or tensors that are computed; a SavedModel's are those of its signature.
      max_batch_size: the largest batch; no effect beyond its check.
      max_workspace_size_bytes: the memory of TensorRT; no effect beyond its check.
      precision_mode: "FP32", "FP16" or "INT8"; no effect beyond its check: the numbers are those of the graph.
      minimum_segment_size: the smallest part to convert; no effect beyond its check.
      is_dynamic_op: whether engines are built in the run; no effect beyond its check.
      maximum_cached_engines: the number of engines; no effect beyond its check.
      input_saved_model_dir: the folder of a SavedModel.
      input_saved_model_tags: its tags, ["serve"] by default.
      input_saved_model_signature_key: the key of its signature, "serving_default" by default.
      output_saved_model_dir: a folder for the result as a SavedModel, if the input was one.
      session_config: a ConfigProto for the session that reads the SavedModel.
    """
    if (input_graph_def is None) == (input_saved_model_dir is None):
        raise ValueError("create_inference_graph: give either input_graph_def or input_saved_model_dir")
    _checked_mode(precision_mode)
    for name, value in (("max_batch_size", max_batch_size), ("max_workspace_size_bytes", max_workspace_size_bytes),
                        ("minimum_segment_size", minimum_segment_size), ("maximum_cached_engines", maximum_cached_engines)):
        _positive(name, value)
    if input_graph_def is not None and output_saved_model_dir is not None:
        raise ValueError("create_inference_graph: output_saved_model_dir needs input_saved_model_dir, whose signature it keeps")
    if not isinstance(is_dynamic_op, bool):
        raise ValueError("create_inference_graph: is_dynamic_op must be True or False, not %r" % (is_dynamic_op,))
    if session_config is not None and not isinstance(session_config, tf.ConfigProto):
        raise TypeError("create_inference_graph: session_config must be a ConfigProto, not %s" % type(session_config).__name__)
    logging.warning("tf.contrib.tensorrt: Weft has no TensorRT: nothing was converted, and the graph runs as it is")
    if input_graph_def is not None:
        return _checked_graph(input_graph_def, outputs)
    tags = list(input_saved_model_tags or [tf.saved_model.tag_constants.SERVING])
    key = input_saved_model_signature_key or tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    made, signature = _frozen(input_saved_model_dir, tags, key, session_config)
    if output_saved_model_dir is not None:
        _saved(output_saved_model_dir, made, tags, key, signature, session_config)
    return made
