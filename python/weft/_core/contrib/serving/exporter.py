"""tf.contrib.session_bundle.exporter: writes a graph with its variables, signatures and assets into a numbered folder."""
import os

import weft as tf
from weft._core.contrib.serving import constants, gc, manifest
from weft._core.files import gfile
from weft._core.framework import protos
from weft._core.framework.absent import Named


def _binding(tensor):
    return manifest.TensorBinding(tensor_name=tensor.name)


def classification_signature(input_tensor, classes_tensor=None, scores_tensor=None):
    """Returns the signature of a classifier; without a tensor of classes the index of a score is its class."""
    made = manifest.Signature()
    made.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        made.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        made.classification_signature.scores.tensor_name = scores_tensor.name
    return made


def regression_signature(input_tensor, output_tensor):
    """Returns the signature of a regression."""
    return manifest.Signature(regression_signature=manifest.RegressionSignature(input=_binding(input_tensor),
                                                                                output=_binding(output_tensor)))


def generic_signature(name_tensor_map):
    """Returns a signature that gives tensors names."""
    made = manifest.Signature()
    made.generic_signature.SetInParent()
    for name, tensor in name_tensor_map.items():
        made.generic_signature.map[name].tensor_name = tensor.name
    return made


def gfile_copy_callback(files_to_copy, export_dir_path):
    """Copies assets into the folder of an export.

    Args:
      files_to_copy: {path of a file: name of its copy}.
      export_dir_path: the folder.
    """
    gfile.MakeDirs(export_dir_path)
    for path, name in files_to_copy.items():
        target = os.path.join(export_dir_path, name)
        gfile.Copy(path, target, overwrite=True)


def _parsed(path):
    """Returns the version in a folder's name, or None for other folders."""
    name = os.path.basename(path.path)
    return gc.Path(path.path, int(name)) if len(name) == 8 and name.isdigit() else None


class Exporter(metaclass=Named):
    """Exports a model. init() sets what is exported, and export() writes it."""

    def __init__(self, saver):
        """Args: saver is a tf.train.Saver whose variables are exported."""
        self._saver = saver
        self._ready = False

    def init(self, graph_def=None, init_op=None, clear_devices=False, default_graph_signature=None, named_graph_signatures=None,
             assets_collection=None, assets_callback=gfile_copy_callback):
        """Sets what is exported.

        Args:
          graph_def: the graph that is served; the default graph of export() if None.
          init_op: an op that runs when the model is loaded.
          clear_devices: leaves out the devices of nodes.
          default_graph_signature: a signature.
          named_graph_signatures: {name: signature}.
          assets_collection: constants that name files, which are copied.
          assets_callback: called with {path: name} and the folder for the copies; may be None.
        """
        if graph_def is not None and not isinstance(graph_def, protos.GraphDef):
            graph_def = protos.GraphDef.FromString(graph_def.SerializeToString())
        self._signatures = manifest.Signatures()
        if default_graph_signature is not None:
            self._signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            self._signatures.named_signatures[name].CopyFrom(signature)
        self._assets = []
        for tensor in assets_collection or []:
            path = tf.contrib.util.constant_value(tensor)
            if path is None:
                raise ValueError("the asset %s is no constant" % tensor.name)
            path = path.item() if hasattr(path, "item") else path
            path = path.decode() if isinstance(path, bytes) else path
            self._assets.append((path, manifest.AssetFile(tensor_binding=_binding(tensor), filename=os.path.basename(path))))
        self._graph_def, self._init_op, self._callback = graph_def, init_op, assets_callback
        self._clear, self._ready = clear_devices, True

    def export(self, export_dir_base, global_step_tensor, sess=None, exports_to_keep=None):
        """Writes the model to the folder export_dir_base/VERSION, and returns its path.

        Args:
          export_dir_base: the folder of all exports.
          global_step_tensor: the version: a tensor or variable that is run.
          sess: the session; the default one if None.
          exports_to_keep: a function of gc.py; the other exports are deleted.
        """
        if not self._ready:
            raise RuntimeError("Missing init() call before export()")
        sess = sess or tf.get_default_session()
        if sess is None:
            raise ValueError("Exporter.export() needs a session: give `sess` or call it in `with sess.as_default()`")
        version = int(tf.train.global_step(sess, global_step_tensor))
        export_dir = os.path.join(export_dir_base, "%08d" % version)
        if gfile.Exists(export_dir):
            raise ValueError("Export directory already exists: %s" % export_dir)
        partial = export_dir + "-tmp"
        if gfile.Exists(partial):
            gfile.DeleteRecursively(partial)
        gfile.MakeDirs(partial)
        prefix = os.path.join(partial, constants.VARIABLES_FILENAME)
        self._saver.save(sess, prefix, write_meta_graph=False, write_state=False)
        with gfile.GFile(os.path.join(partial, constants.META_GRAPH_DEF_FILENAME), "wb") as f:
            f.write(self._meta_graph(sess).SerializeToString())
        if self._assets and self._callback:
            self._callback({path: asset.filename for path, asset in self._assets},
                           os.path.join(partial, constants.ASSETS_DIRECTORY))
        gfile.Rename(partial, export_dir)
        if exports_to_keep:
            exports = gc.get_paths(export_dir_base, _parsed)
            for path in gc.negation(exports_to_keep)(exports):
                gfile.DeleteRecursively(path.path)
        return export_dir

    def _meta_graph(self, sess):
        """Returns the MetaGraphDef of the session's graph, with the arguments of init() in its collections."""
        with sess.graph.as_default():
            made = self._saver.export_meta_graph(clear_devices=self._clear)
        given = {constants.SIGNATURES_KEY: [self._signatures], constants.ASSETS_KEY: [a for _, a in self._assets],
                 constants.GRAPH_KEY: [] if self._graph_def is None else [self._served()]}
        for key, messages in given.items():
            for m in messages:
                made.collection_def[key].any_list.value.add().Pack(m)
        if self._init_op is not None:
            made.collection_def[constants.INIT_OP_KEY].node_list.value.append(self._init_op.name)
        return made

    def _served(self):
        made = protos.GraphDef()
        made.CopyFrom(self._graph_def)
        if self._clear:
            for node in made.node:
                node.device = ""
        return made
