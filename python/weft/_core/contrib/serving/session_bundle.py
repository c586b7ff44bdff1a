"""tf.contrib.session_bundle.session_bundle and bundle_shim: load models of an Exporter or a SavedModelBuilder."""
import os

import weft as tf
from weft._core.contrib.serving import constants, manifest
from weft._core.files import gfile
from weft._core.framework import protos


def maybe_session_bundle_dir(export_dir):
    """Returns whether a folder has the graph of a session bundle."""
    return gfile.Exists(os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME))


def _one(meta, key, kind):
    """Returns the message of a collection that must hold one, or None."""
    if key not in meta.collection_def:
        return None
    found = meta.collection_def[key].any_list.value
    if len(found) != 1:
        raise RuntimeError("Expected exactly one %s in the collection %s, found %d" % (kind.__name__, key, len(found)))
    made = kind()
    found[0].Unpack(made)
    return made


def _variables(export_dir):
    """Returns the prefix, or the pattern, of the files with the variables."""
    prefix = os.path.join(export_dir, constants.VARIABLES_FILENAME)
    if gfile.Glob(os.path.join(export_dir, constants.VARIABLES_FILENAME_PATTERN_V2)):
        return prefix
    pattern = os.path.join(export_dir, constants.VARIABLES_FILENAME_PATTERN)
    if gfile.Glob(pattern):
        return pattern
    if gfile.Exists(prefix):
        return prefix
    raise RuntimeError("No variables in %s: expected %s or %s" % (export_dir, constants.VARIABLES_FILENAME, pattern))


def _fresh_graph():
    """Returns an empty graph: the default one, or inside of `with graph.as_default()` one of its own."""
    try:
        tf.reset_default_graph()
    except AssertionError:
        return tf.Graph()
    return tf.get_default_graph()


def load_session_bundle_from_path(export_dir, target="", config=None, meta_graph_def=None):
    """Returns a session with the model of a session bundle in it.

    Args:
      export_dir: the folder.
      target, config: as tf.Session takes them.
      meta_graph_def: the graph; read from the folder if None.

    Returns:
      The session, and the MetaGraphDef.  Its graph is the default one from now on, unless `with graph.as_default()` says another.
    """
    if meta_graph_def is None:
        path = os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME)
        if not gfile.Exists(path):
            raise RuntimeError("Expected meta graph file missing %s" % path)
        with gfile.GFile(path, "rb") as f:
            meta_graph_def = protos.MetaGraphDef.FromString(f.read())
    variables = None
    if meta_graph_def.saver_def.restore_op_name:
        variables = _variables(export_dir)
    served = _one(meta_graph_def, constants.GRAPH_KEY, protos.GraphDef)
    if served is not None:
        meta_graph_def.graph_def.CopyFrom(served)
    sess = tf.Session(target, graph=_fresh_graph(), config=config)
    with sess.graph.as_default():
        saver = tf.train.import_meta_graph(meta_graph_def)
    if saver is not None and variables is not None:
        saver.restore(sess, variables)
    feeds = {}
    if constants.ASSETS_KEY in meta_graph_def.collection_def:
        for item in meta_graph_def.collection_def[constants.ASSETS_KEY].any_list.value:
            asset = manifest.AssetFile()
            item.Unpack(asset)
            feeds[asset.tensor_binding.tensor_name] = os.path.join(export_dir, constants.ASSETS_DIRECTORY, asset.filename)
    if constants.INIT_OP_KEY in meta_graph_def.collection_def:
        names = meta_graph_def.collection_def[constants.INIT_OP_KEY].node_list.value
        if len(names) != 1:
            raise RuntimeError("Expected exactly one serving init op in %s" % export_dir)
        sess.run([sess.graph.get_operation_by_name(names[0])], feeds)
    return sess, meta_graph_def


# ---- conversion of signatures ----

def _info(sess, binding):
    tensor = sess.graph.get_tensor_by_name(binding.tensor_name)
    return tf.saved_model.utils.build_tensor_info(tensor)


def _converted(sess, signatures):
    """Returns {name: SignatureDef} of the signatures of a bundle."""
    utils, names, made = tf.saved_model.signature_def_utils, tf.saved_model.signature_constants, {}
    default = signatures.default_signature
    kind = default.WhichOneof("type")
    if kind == "regression_signature":
        found = default.regression_signature
        made[names.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = utils.build_signature_def(
            {names.REGRESS_INPUTS: _info(sess, found.input)}, {names.REGRESS_OUTPUTS: _info(sess, found.output)},
            names.REGRESS_METHOD_NAME)
    elif kind == "classification_signature":
        found, outputs = default.classification_signature, {}
        if found.classes.tensor_name:
            outputs[names.CLASSIFY_OUTPUT_CLASSES] = _info(sess, found.classes)
        if found.scores.tensor_name:
            outputs[names.CLASSIFY_OUTPUT_SCORES] = _info(sess, found.scores)
        made[names.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = utils.build_signature_def(
            {names.CLASSIFY_INPUTS: _info(sess, found.input)}, outputs, names.CLASSIFY_METHOD_NAME)
    named = signatures.named_signatures
    if "inputs" in named and "outputs" in named and all(
            named[k].WhichOneof("type") == "generic_signature" for k in ("inputs", "outputs")):
        ends = [{k: _info(sess, b) for k, b in named[end].generic_signature.map.items()} for end in ("inputs", "outputs")]
        key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        made[key + "_from_named" if key in made else key] = utils.build_signature_def(*ends, names.PREDICT_METHOD_NAME)
    return made


def load_session_bundle_or_saved_model_bundle_from_path(export_dir, tags=None, target="", config=None):
    """Returns a session with the model of a session bundle or of a SavedModel in it, and its MetaGraphDef with
    SignatureDefs.

    Args:
      export_dir: the folder.
      tags: the tags of the graph, which a SavedModel needs.
      target, config: as tf.Session takes them.
    """
    if tf.saved_model.loader.maybe_saved_model_directory(export_dir):
        if tags is None:
            raise RuntimeError("Tags are required to load a SavedModel: %s" % export_dir)
        sess = tf.Session(target, graph=tf.Graph(), config=config)
        with sess.graph.as_default():
            return sess, tf.saved_model.loader.load(sess, tags, export_dir)
    if not maybe_session_bundle_dir(export_dir):
        raise RuntimeError("SessionBundle or SavedModelBundle not found at the export path: %s" % export_dir)
    if tags:
        tf.logging.warning("A session bundle has no tags; tags=%s has no effect", tags)
    sess, meta = load_session_bundle_from_path(export_dir, target, config)
    signatures = _one(meta, constants.SIGNATURES_KEY, manifest.Signatures)
    for key, made in (_converted(sess, signatures) if signatures is not None else {}).items():
        meta.signature_def[key].CopyFrom(made)
    return sess, meta
