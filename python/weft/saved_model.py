"""tf.saved_model: the names that programs use."""
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
PREDICT_METHOD_NAME, PREDICT_INPUTS, PREDICT_OUTPUTS = "tensorflow/serving/predict", "inputs", "outputs"
CLASSIFY_METHOD_NAME, CLASSIFY_INPUTS = "tensorflow/serving/classify", "inputs"
REGRESS_METHOD_NAME, REGRESS_INPUTS = "tensorflow/serving/regress", "inputs"
SERVING, TRAINING = "serve", "train"


class signature_constants:  # noqa: N801 - TensorFlow's name
    DEFAULT_SERVING_SIGNATURE_DEF_KEY = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    PREDICT_METHOD_NAME, PREDICT_INPUTS, PREDICT_OUTPUTS = PREDICT_METHOD_NAME, PREDICT_INPUTS, PREDICT_OUTPUTS
    CLASSIFY_METHOD_NAME, CLASSIFY_INPUTS = CLASSIFY_METHOD_NAME, CLASSIFY_INPUTS
    REGRESS_METHOD_NAME, REGRESS_INPUTS = REGRESS_METHOD_NAME, REGRESS_INPUTS


class tag_constants:  # noqa: N801
    SERVING, TRAINING = SERVING, TRAINING


def build_tensor_info(tensor):
    from .attrs import shape_proto
    from .protos import TensorInfo
    return TensorInfo(name=tensor.name, dtype=tensor.dtype.base_dtype.as_datatype_enum,
                      tensor_shape=shape_proto(tensor.get_shape()))


def build_signature_def(inputs=None, outputs=None, method_name=None):
    from .protos import SignatureDef
    return SignatureDef(inputs=inputs or {}, outputs=outputs or {}, method_name=method_name or "")


def _infos(tensors):
    return {k: build_tensor_info(v) for k, v in tensors.items()}


def predict_signature_def(inputs, outputs):
    if not inputs or not outputs:
        raise ValueError("Prediction inputs and outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), PREDICT_METHOD_NAME)


def regression_signature_def(examples, predictions):
    if examples is None or predictions is None:
        raise ValueError("Regression examples and predictions cannot be None.")
    return build_signature_def(_infos({REGRESS_INPUTS: examples}), _infos({"outputs": predictions}), REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    if examples is None or (classes is None and scores is None):
        raise ValueError("Classification examples cannot be None, and one of classes and scores must be given.")
    outputs = {k: v for k, v in (("classes", classes), ("scores", scores)) if v is not None}
    return build_signature_def(_infos({CLASSIFY_INPUTS: examples}), _infos(outputs), CLASSIFY_METHOD_NAME)


class utils:  # noqa: N801
    build_tensor_info = staticmethod(build_tensor_info)


class signature_def_utils:  # noqa: N801
    build_signature_def = staticmethod(build_signature_def)
    predict_signature_def = staticmethod(predict_signature_def)
    regression_signature_def = staticmethod(regression_signature_def)
    classification_signature_def = staticmethod(classification_signature_def)


class SavedModelBuilder:
    """Writes saved_model.pb and variables/ of a session."""

    def __init__(self, export_dir):
        import os
        from .protos import SavedModel
        if os.path.isdir(export_dir) and os.listdir(export_dir):
            raise AssertionError("Export directory %s already exists, and isn't empty. Please choose a different export "
                                 "directory, or delete all the contents of the specified directory." % export_dir)
        self._dir, self._model = export_dir, SavedModel(saved_model_schema_version=1)

    def add_meta_graph_and_variables(self, sess, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None,
                                     clear_devices=False, main_op=None, strip_default_attrs=False, saver=None, **kwargs):
        import os
        from .train.saver import Saver, export_meta_graph
        os.makedirs(os.path.join(self._dir, "variables"), exist_ok=True)
        with sess.graph.as_default():
            saver = saver or Saver(sharded=True, allow_empty=True)
            saver.save(sess, os.path.join(self._dir, "variables", "variables"), write_meta_graph=False, write_state=False)
            meta = export_meta_graph(saver_def=saver.saver_def, clear_devices=clear_devices)
        meta.meta_info_def.tags.extend(tags)
        for key, value in (signature_def_map or {}).items():
            meta.signature_def[key].CopyFrom(value)
        from .logging import info
        info("Assets added to graph.")
        info("No assets to write.")
        self._model.meta_graphs.append(meta)

    def save(self, as_text=False):
        import os
        os.makedirs(self._dir, exist_ok=True)
        path = os.path.join(self._dir, "saved_model.pbtxt" if as_text else "saved_model.pb")
        with open(path, "w" if as_text else "wb") as f:
            f.write(str(self._model) if as_text else self._model.SerializeToString())
        from .logging import info
        info("SavedModel written to: %s", path)
        return path.encode()


class builder:  # noqa: N801
    SavedModelBuilder = SavedModelBuilder


def __getattr__(name):
    raise AttributeError("tf.saved_model.%s is not in Weft" % name)
