"""tensorflow.python.tools.freeze_graph: combines a graph and its checkpoint to a graph of constants."""
import os

from weft._core.files import saved_model
from weft._core.files.gfile import local
from weft._core.framework import build, dtypes, protos, text_format
from weft._core.framework.graph import Graph
from weft._core.framework.graph_util import convert_variables_to_constants
from weft._core.framework.importer import import_graph_def
from weft._core.ops import array_ops
from weft._core.session.client import Session
from weft._core.train.meta_graph import import_meta_graph
from weft._core.train.saver import NewCheckpointReader, Saver, checkpoint_exists


def freeze_graph_with_def_protos(input_graph_def, input_saver_def, input_checkpoint, output_node_names, restore_op_name,
                                 filename_tensor_name, output_graph, clear_devices, initializer_nodes,
                                 variable_names_whitelist="", variable_names_denylist="", input_meta_graph_def=None,
                                 input_saved_model_dir=None, saved_model_tags=None, checkpoint_version=2,
                                 variable_names_blacklist=""):
    """Replaces the variables of a graph by their values in a checkpoint; returns the GraphDef, and writes it to output_graph."""
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError("Input checkpoint '%s' doesn't exist!" % input_checkpoint)
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    if clear_devices:
        for node in (input_meta_graph_def.graph_def if input_meta_graph_def is not None else input_graph_def).node:
            node.device = ""
    with Graph().as_default(), Session() as sess:
        if input_graph_def is not None:
            import_graph_def(input_graph_def, name="")
        _restore(sess, input_saver_def, input_checkpoint, restore_op_name, filename_tensor_name, input_meta_graph_def,
                 input_saved_model_dir, saved_model_tags)
        if initializer_nodes:
            sess.run(initializer_nodes.replace(" ", "").split(","))
        graph_def = input_graph_def if input_graph_def is not None else sess.graph.as_graph_def()
        only, but = variable_names_whitelist, variable_names_denylist or variable_names_blacklist
        made = convert_variables_to_constants(
            sess, graph_def, output_node_names.replace(" ", "").split(","), only.replace(" ", "").split(",") if only else None,
            but.replace(" ", "").split(",") if but else None)
    if output_graph:
        with open(local(output_graph), "wb") as f:
            f.write(made.SerializeToString())
    return made


def _restore(sess, saver_def, checkpoint, restore_op_name, filename_tensor_name, meta, saved_model_dir, tags):
    """Restores the values of the variables in the session's graph."""
    if saver_def is not None:
        Saver(saver_def=saver_def).restore(sess, checkpoint)
    elif meta is not None:
        import_meta_graph(meta, clear_devices=True).restore(sess, checkpoint)
    elif saved_model_dir:
        saved_model.load(sess, tags or [saved_model.SERVING], saved_model_dir)
    else:
        _restore_from(sess, checkpoint)


def _restore_from(sess, checkpoint):
    """Restores variables of a graph without a saver by their names in the checkpoint; pieces of a variable are
    combined.
    """
    reader = NewCheckpointReader(checkpoint)
    saved = reader.get_variable_to_shape_map()
    kinds = {n.name: n.op for n in sess.graph.as_graph_def().node}
    found = [n for n in sorted(saved) if kinds.get(n) in ("Variable", "VariableV2", "VarHandleOp")]
    if any(name + "/part_0" in kinds for name in saved):
        raise ValueError("Models containing partition variables cannot be converted from checkpoint files. Please pass in a "
                         "SavedModel using the flag --input_saved_model_dir.")
    if not found:
        raise ValueError("None of the tensors of checkpoint %s are in the graph: %s" % (checkpoint, sorted(saved)[:10]))
    for name in found:
        variable, value = sess.graph.get_tensor_by_name(name + ":0"), reader.get_tensor(name)
        given = array_ops.placeholder(dtypes.as_dtype(reader.get_variable_to_dtype_map()[name]), value.shape)
        made = build.op("AssignVariableOp", None, resource=variable, value=given) if kinds[name] == "VarHandleOp" else \
            build.op("Assign", None, ref=variable, value=given)
        sess.run(made.op if hasattr(made, "op") else made, {given: value})


def _read(kind, path, binary, what):
    if not os.path.exists(local(path)):
        raise OSError("%s '%s' does not exist!" % (what, path))
    with open(local(path), "rb") as f:
        data = f.read()
    return kind.FromString(data) if binary else text_format.Parse(data.decode(), kind())


def freeze_graph(input_graph, input_saver, input_binary, input_checkpoint, output_node_names, restore_op_name,
                 filename_tensor_name, output_graph, clear_devices, initializer_nodes, variable_names_whitelist="",
                 variable_names_denylist="", input_meta_graph=None, input_saved_model_dir=None, saved_model_tags="serve",
                 checkpoint_version=2, variable_names_blacklist=""):
    """Replaces the variables of the graph in a file by their values in a checkpoint; returns the GraphDef, and writes it."""
    graph_def = saver_def = meta = None
    if input_graph and not input_saved_model_dir:
        graph_def = _read(protos.GraphDef, input_graph, input_binary, "Input graph file")
    if input_meta_graph:
        meta = _read(protos.MetaGraphDef, input_meta_graph, input_binary, "Input meta graph file")
    if input_saver:
        saver_def = _read(protos.SaverDef, input_saver, input_binary, "Input saver file")
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_denylist, meta, input_saved_model_dir,
        [t for t in saved_model_tags.replace(" ", "").split(",") if t], checkpoint_version, variable_names_blacklist)
