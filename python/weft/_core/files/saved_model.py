"""tf.saved_model: folders from which a model is served. The library reads and writes them."""
import os

from weft import _weft
from weft._core.files import gfile
from weft._core.files.gfile import local
from weft._core.framework import errors, protos
from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value
from weft._core.framework.graph import Operation, Tensor, get_default_graph
from weft._core.ops.sparse import SparseTensor

DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
PREDICT_METHOD_NAME, PREDICT_INPUTS, PREDICT_OUTPUTS = "tensorflow/serving/predict", "inputs", "outputs"
CLASSIFY_METHOD_NAME, CLASSIFY_INPUTS = "tensorflow/serving/classify", "inputs"
CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "classes", "scores"
REGRESS_METHOD_NAME, REGRESS_INPUTS, REGRESS_OUTPUTS = "tensorflow/serving/regress", "inputs", "outputs"
SERVING, TRAINING, EVAL, GPU, TPU = "serve", "train", "eval", "gpu", "tpu"
ASSETS_DIRECTORY, ASSETS_KEY = "assets", "saved_model_assets"
LEGACY_INIT_OP_KEY, MAIN_OP_KEY = "legacy_init_op", "saved_model_main_op"
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
SAVED_MODEL_SCHEMA_VERSION = 1
VARIABLES_DIRECTORY, VARIABLES_FILENAME = "variables", "variables"


# ---- signatures ----

def build_tensor_info(tensor):
    from weft._core.framework.attrs import shape_proto
    made = protos.TensorInfo(dtype=tensor.dtype.base_dtype.as_datatype_enum)
    if isinstance(tensor, SparseTensor):
        made.coo_sparse.values_tensor_name, made.coo_sparse.indices_tensor_name = tensor.values.name, tensor.indices.name
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        made.name = tensor.name
    made.tensor_shape.CopyFrom(shape_proto(tensor.get_shape()))
    return made


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    graph = graph or get_default_graph()

    def find(name):
        return graph.get_tensor_by_name(import_scope + "/" + name if import_scope else name)
    if tensor_info.HasField("coo_sparse"):
        coo = tensor_info.coo_sparse
        return SparseTensor(find(coo.indices_tensor_name), find(coo.values_tensor_name), find(coo.dense_shape_tensor_name))
    return find(tensor_info.name)


def build_signature_def(inputs=None, outputs=None, method_name=None):
    return protos.SignatureDef(inputs=inputs or {}, outputs=outputs or {}, method_name=method_name or "")


def _infos(tensors):
    return {k: build_tensor_info(v) for k, v in tensors.items()}


def predict_signature_def(inputs, outputs):
    if not inputs or not outputs:
        raise ValueError("Prediction inputs and outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), PREDICT_METHOD_NAME)


def regression_signature_def(examples, predictions):
    if examples is None or predictions is None:
        raise ValueError("Regression examples and predictions cannot be None.")
    return build_signature_def(_infos({REGRESS_INPUTS: examples}), _infos({REGRESS_OUTPUTS: predictions}), REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    if examples is None or (classes is None and scores is None):
        raise ValueError("Classification examples cannot be None, and one of classes and scores must be given.")
    outputs = {k: v for k, v in ((CLASSIFY_OUTPUT_CLASSES, classes), (CLASSIFY_OUTPUT_SCORES, scores)) if v is not None}
    return build_signature_def(_infos({CLASSIFY_INPUTS: examples}), _infos(outputs), CLASSIFY_METHOD_NAME)


def is_valid_signature(signature_def):
    methods = (PREDICT_METHOD_NAME, CLASSIFY_METHOD_NAME, REGRESS_METHOD_NAME)
    return bool(signature_def is not None and signature_def.inputs and signature_def.outputs and
                signature_def.method_name in methods)


# ---- writing ----

def _plain(sess):
    from weft._core.train.saver import _plain as plain
    return plain(sess)


def _check_infos(signature):
    """Raises AssertionError if an input or output of a signature names no tensor or no type."""
    for info in (*signature.inputs.values(), *signature.outputs.values()):
        if info.WhichOneof("encoding") is None:
            raise AssertionError("Invalid `tensor_info`: %s All TensorInfo protos used in the SignatureDefs must have one of the "
                                 "'encoding' fields (e.g., name or coo_sparse) set." % (info,))
        if info.WhichOneof("encoding") != "composite_tensor" and info.dtype == 0:
            raise AssertionError("Invalid `tensor_info`: %s All TensorInfo protos used in the SignatureDefs must have the dtype "
                                 "field set." % (info,))


def _check_main_op(graph, main_op):
    """Raises an error if an op that is to run after loading is no operation, or if the graph has such an op already."""
    if main_op is None:
        return
    if not isinstance(main_op, Operation):
        raise TypeError("Expected %s to be an Operation but got type %s instead." % (main_op, type(main_op)))
    for key in (MAIN_OP_KEY, LEGACY_INIT_OP_KEY):
        if graph.get_collection(key):
            raise ValueError("Graph already contains one or more main ops under the collection %s." % key)


_RESERVED_KEYS = {"__saved_model_init_op": "initialization", "__saved_model_train_op": "the train op"}


class SavedModelBuilder(metaclass=Named):
    """Writes a SavedModel: graphs with tags and signatures. The first graph is saved with its variables."""

    def __init__(self, export_dir):
        self._dir = export_dir.decode() if isinstance(export_dir, bytes) else os.fspath(export_dir)
        try:
            self._made = _weft.model_create(self._dir)
        except errors.AlreadyExistsError as e:
            raise AssertionError(e.message) from None
        gfile.MakeDirs(self._dir)
        self._saved, self._stripped = False, []  # _stripped: for each graph, whether default attributes are left out
        self._assets, self._listed = {}, []      # name of the copy -> path of the file; for each graph, its assets

    def _add(self, graph, session, tags, signature_def_map, assets, init, clear_devices, saver, strip_default_attrs):
        for key, value in (signature_def_map or {}).items():
            if key in _RESERVED_KEYS:
                raise KeyError('SignatureDef map key "%s" is reserved for %s. Please use a different key.' % (key, _RESERVED_KEYS[key]))
            _check_infos(value)
        _check_main_op(graph, init)
        self._copy_assets(graph, assets)
        signatures = [(key, value.SerializeToString()) for key, value in sorted((signature_def_map or {}).items())]
        _weft.model_add(self._made, graph._c, session, list(tags), signatures, -1 if init is None else init._out,
                        getattr(saver, "_made", None), bool(clear_devices))
        self._listed.append([a for a in graph.get_collection(ASSETS_KEY) if a is not None])  # None: the library writes it.
        self._stripped.append(strip_default_attrs)

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None,
                                     clear_devices=False, main_op=None, strip_default_attrs=False, saver=None):
        if self._saved:
            raise AssertionError("Graph state including variables and assets has already been saved. Please invoke "
                                 "`add_meta_graph()` instead.")
        self._add(sess.graph, _plain(sess)._c, tags, signature_def_map, assets_collection, main_op or legacy_init_op, clear_devices,
                  saver, strip_default_attrs)
        self._saved = True

    def add_meta_graph(self, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None, clear_devices=False,
                       main_op=None, strip_default_attrs=False, saver=None):
        if not self._saved:
            raise AssertionError("Graph state including variables and assets has not been saved yet. Please invoke "
                                 "`add_meta_graph_and_variables()` first.")
        self._add(get_default_graph(), None, tags, signature_def_map, assets_collection, main_op or legacy_init_op, clear_devices,
                  saver, strip_default_attrs)

    def _copy_assets(self, graph, assets):
        """Copies the files named by constants to the folder, and adds them to the graph's list of assets."""
        for tensor in assets or ():
            path = _asset_path(tensor)
            name = self._asset_name(path)
            target = os.path.join(self._dir, ASSETS_DIRECTORY, name)
            if name not in self._assets:
                gfile.MakeDirs(os.path.dirname(target))
                gfile.Copy(path, target, overwrite=True)
                self._assets[name] = path
            made = protos.AssetFileDef(tensor_info=protos.TensorInfo(name=tensor.name), filename=name)
            graph.add_to_collection(ASSETS_KEY, protos.Any(
                type_url="type.googleapis.com/tensorflow.AssetFileDef", value=made.SerializeToString()))

    def _asset_name(self, path):
        """Returns the name of the file; a number is added if another file has that name."""
        name = unique = os.path.basename(path)
        if name in self._assets and self._assets[name] != path and not _same_content(self._assets[name], path):
            number = 1
            while unique in self._assets:
                unique, number = "%s_%d" % (name, number), number + 1
        return unique

    def _rewrite(self, path, as_text):
        """Adds the assets, removes default attributes from graphs for which that was requested, and writes binary or
        text.
        """
        from weft._core.train import meta_graph
        with open(local(path), "rb") as f:
            made = protos.SavedModel.FromString(f.read())
        for meta, strip, assets in zip(made.meta_graphs, self._stripped, self._listed):
            if assets:
                meta.collection_def[ASSETS_KEY].any_list.value.extend(assets)
            if strip:
                meta_graph.strip_defaults(meta)
        os.remove(local(path))
        path += "txt" if as_text else ""
        with open(local(path), "wb") as f:
            f.write(str(made).encode() if as_text else made.SerializeToString())
        return path

    def save(self, as_text=False):
        _weft.model_write(self._made)
        path = os.path.join(self._dir, "saved_model.pb")
        if as_text or any(self._stripped) or any(self._listed):
            path = self._rewrite(path, as_text)
        return path.encode()


def _asset_path(tensor):
    """Returns the path that a constant contains."""
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor %s must be a Tensor." % (tensor,))
    value = constant_value(tensor)
    if not isinstance(value, bytes) or not value:
        raise ValueError("the asset %s does not name a file: it must be a constant with the path of one file" % (tensor,))
    return value.decode()


def _same_content(one, other):
    with gfile.GFile(one, "rb") as a, gfile.GFile(other, "rb") as b:
        return a.read() == b.read()


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    builder_ = SavedModelBuilder(export_dir)
    builder_.add_meta_graph_and_variables(
        session, [SERVING], {DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)},
        assets_collection=session.graph.get_collection("asset_filepaths"), main_op=legacy_init_op, clear_devices=True)
    builder_.save()


# ---- reading ----

def maybe_saved_model_directory(export_dir):
    return any(os.path.exists(local(os.path.join(export_dir, name))) for name in ("saved_model.pb", "saved_model.pbtxt"))


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds the graph with these tags to the session's graph, restores its variables, and returns its MetaGraphDef."""
    folder = export_dir.decode() if isinstance(export_dir, bytes) else os.fspath(export_dir)
    tags = [tags] if isinstance(tags, str) else list(tags)
    try:
        data = _weft.model_load(folder, sess.graph._c, _plain(sess)._c, tags, import_scope)
    except errors.NotFoundError as e:
        if e._facts & errors.Fact.NO_SAVED_MODEL:
            raise OSError(e.message) from None
        raise
    except errors.InvalidArgumentError as e:
        if e._facts & errors.Fact.NO_SUCH_TAGS:
            raise RuntimeError(e.message) from None
        raise
    return protos.MetaGraphDef.FromString(data)


def main_op_with_restore(restore_op_name):
    from weft._core.ops.control_flow import group
    with get_default_graph().control_dependencies([main_op()]):
        return group(get_default_graph().as_graph_element(restore_op_name))


def main_op():
    from weft._core.ops.control_flow import group
    from weft._core.ops.lookup import tables_initializer
    from weft._core.ops.variables import global_variables_initializer, local_variables_initializer
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())


contains_saved_model = maybe_saved_model_directory
