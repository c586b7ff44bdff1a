"""tf.estimator.export: inputs and outputs of a served model, and the SavedModel that is written for it."""
import collections
import os
import shutil
import time

from weft._core.files import saved_model
from weft._core.files.gfile import local
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, Tensor, get_default_graph
from weft._core.ops import array_ops, parsing
from weft._core.ops.sparse import SparseTensor
from weft._core.ops.variables import local_variables_initializer
from weft._core.platform import logging
from weft._core.session import client
from weft._core.train.saver import Saver

_DEFAULT = saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ServingInputReceiver(collections.namedtuple("ServingInputReceiver", (
        "features", "receiver_tensors", "receiver_tensors_alternatives"))):
    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        if receiver_tensors is None:
            raise ValueError("receiver_tensors must be defined.")
        features = features if isinstance(features, dict) else {"feature": features}
        return super().__new__(cls, features, _receivers(receiver_tensors), receiver_tensors_alternatives)


class TensorServingInputReceiver(collections.namedtuple("TensorServingInputReceiver", (
        "features", "receiver_tensors", "receiver_tensors_alternatives"))):
    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if not isinstance(features, (Tensor, SparseTensor)):
            raise ValueError("feature must be a Tensor or SparseTensor.")
        return super().__new__(cls, features, _receivers(receiver_tensors), receiver_tensors_alternatives)


def _receivers(given):
    given = given if isinstance(given, dict) else {"receiver_tensor": given}
    for name, tensor in given.items():
        if not isinstance(name, str):
            raise ValueError("receiver_tensors keys must be strings: %s." % name)
        if not isinstance(tensor, (Tensor, SparseTensor)):
            raise ValueError("receiver_tensor %s must be a Tensor or SparseTensor." % name)
    return given


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """Returns a function that makes placeholders like these tensors, which are fed directly."""
    def serving_input_receiver_fn():
        made = {}
        for name, like in features.items():
            dims = like.shape.as_list()
            shape = [default_batch_size] + dims[1:] if dims else dims
            made[name] = array_ops.placeholder(like.dtype.base_dtype, shape, name=like.op.name)
        return ServingInputReceiver(made, made)
    return serving_input_receiver_fn


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """Returns a function that makes a placeholder of serialized Examples and parses it by this specification."""
    def serving_input_receiver_fn():
        serialized = array_ops.placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parsing.parse_example(serialized, feature_spec), {"examples": serialized})
    return serving_input_receiver_fn


class SupervisedInputReceiver(collections.namedtuple("SupervisedInputReceiver", ("features", "labels", "receiver_tensors"))):
    """The inputs of a model that is trained or evaluated: features, labels, and the tensors that are fed."""

    def __new__(cls, features, labels, receiver_tensors):
        return super().__new__(cls, features, labels, _receivers(receiver_tensors))


def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """Returns a function that makes placeholders like these features and labels, which are fed directly.

    Args:
      features: a tensor, or a dict of tensors.
      labels: a tensor, or a dict of tensors.
      default_batch_size: the size of the first dimension; any by default.
    """
    def placeholders(given, single):
        made = {}
        for name, like in (given if isinstance(given, dict) else {single: given}).items():
            dims = like.shape.as_list()
            made[name] = array_ops.placeholder(like.dtype.base_dtype, [default_batch_size] + dims[1:], name=like.op.name)
        return made
    names = [set(given) if isinstance(given, dict) else {single} for given, single in ((features, "input"), (labels, "label"))]
    if names[0] & names[1]:
        raise ValueError("Features and labels must have distinct keys. Found overlapping keys: %s" % (names[0] & names[1]))

    def supervised_input_receiver_fn():
        x, y = placeholders(features, "input"), placeholders(labels, "label")
        return SupervisedInputReceiver(x if isinstance(features, dict) else x["input"], y if isinstance(labels, dict) else y["label"],
                                       {**x, **y})
    return supervised_input_receiver_fn


# ---- outputs ----

class ExportOutput(metaclass=Named):
    method = None

    def signature(self, receivers):
        """Returns the SignatureDef over these inputs, or None if such a signature cannot be served with them."""
        raise NotImplementedError

    def as_signature_def(self, receiver_tensors):
        """Returns the SignatureDef of the output over the inputs of a model; raises ValueError if they cannot have one.
        """
        made = self.signature(receiver_tensors)
        if made is None:
            raise ValueError("%s input must be a single string Tensor; got %s" % (
                {"Regress": "Regression", "Classify": "Classification"}.get(self.method, self.method), receiver_tensors))
        return made


def _only_examples(receivers):
    """Returns the single string tensor that classify and regress signatures take, or None if the inputs are different.
    """
    if len(receivers) != 1:
        return None
    found, = receivers.values()
    return found if isinstance(found, Tensor) and found.dtype.base_dtype == dtypes.string else None


def _named(tensors, single):
    return {k: convert_to_tensor(v) for k, v in tensors.items()} if isinstance(tensors, dict) else {
        single: convert_to_tensor(tensors)}


class PredictOutput(ExportOutput):
    method = "Predict"

    def __init__(self, outputs):
        self.outputs = _named(outputs, "output")

    def signature(self, receivers):
        return saved_model.predict_signature_def(receivers, self.outputs)


class RegressionOutput(ExportOutput):
    method = "Regress"

    def __init__(self, value):
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError("Regression output value must be a float32 Tensor; got %s" % value)
        self.value = value

    def signature(self, receivers):
        examples = _only_examples(receivers)
        return None if examples is None else saved_model.regression_signature_def(examples, self.value)


class ClassificationOutput(ExportOutput):
    method = "Classify"

    def __init__(self, scores=None, classes=None):
        if scores is None and classes is None:
            raise ValueError("Cannot create a ClassificationOutput with empty arguments")
        self.scores, self.classes = scores, classes

    def signature(self, receivers):
        examples = _only_examples(receivers)
        return None if examples is None else saved_model.classification_signature_def(examples, self.classes, self.scores)


class EvalOutput(ExportOutput):
    """The output of an evaluation: a loss, predictions and metrics."""

    method = "Eval"
    LOSS_NAME, PREDICTIONS_NAME, METRICS_NAME = "loss", "predictions", "metrics"
    METRIC_VALUE_SUFFIX, METRIC_UPDATE_SUFFIX = "value", "update_op"

    def __init__(self, loss=None, predictions=None, metrics=None):
        """Names the tensors.

        Args:
          loss: a tensor, or a dict of tensors.
          predictions: a tensor, or a dict of tensors.
          metrics: a dict of pairs of a value and an update.
        """
        self.loss = None if loss is None else self._named(loss, self.LOSS_NAME)
        self.predictions = None if predictions is None else self._named(predictions, self.PREDICTIONS_NAME)
        self.metrics = None if metrics is None else {
            "%s/%s/%s" % (self.METRICS_NAME, name, suffix): getattr(part, "outputs", None) and part.outputs[0] or convert_to_tensor(part)
            for name, pair in metrics.items() for suffix, part in zip((self.METRIC_VALUE_SUFFIX, self.METRIC_UPDATE_SUFFIX), pair)}

    def _named(self, given, kind):
        found = {"%s/%s" % (kind, k): v for k, v in given.items()} if isinstance(given, dict) else {kind: given}
        for value in found.values():
            if not isinstance(value, Tensor):
                raise ValueError("%s output value must be a Tensor; got %s." % (kind, value))
        return found

    def as_signature_def(self, receiver_tensors):
        """Returns the SignatureDef over these inputs."""
        made = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        infos = [{k: saved_model.build_tensor_info(v) for k, v in row.items()} for row in (receiver_tensors, made)]
        return saved_model.build_signature_def(*infos, "tensorflow/supervised/eval")

    signature = as_signature_def


def _outputs(spec):
    given = spec.export_outputs
    if given is None:
        return {_DEFAULT: PredictOutput(spec.predictions)}
    if not isinstance(given, dict):
        raise TypeError("export_outputs must be dict, given: %s" % (given,))
    for value in given.values():
        if not isinstance(value, ExportOutput):
            raise TypeError("Values in export_outputs must be ExportOutput objects. Given: %s" % given)
    if len(given) == 1 and _DEFAULT not in given:
        (value,) = given.values()
        return {**given, _DEFAULT: value}
    if _DEFAULT not in given:
        raise ValueError("Multiple export_outputs were provided, but none of them is specified as the default. Do this by "
                         "naming one of them with signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY.")
    return given


def _log_excluded(excluded):
    """Logs which outputs get no signature because the model does not take serialized Examples."""
    if excluded:
        logging.info("Signatures EXCLUDED from export because they cannot be be served via TensorFlow Serving APIs:")
    for key, (method, tensors) in excluded.items():
        logging.info("'%s' : %s signatures can only accept a single tensor input of type tf.string. Please check to make sure that you "
                     "have structured the serving_input_receiver_fn so that it creates a single string placeholder. If your model function "
                     "expects multiple inputs, then use `tf.io.parse_example()` to parse the string into multiple tensors.\n Received: %s",
                     key, {"Classify": "Classification", "Regress": "Regression"}[method], tensors)


def signatures(spec, receiver):
    """Returns the SignatureDefs of a spec's outputs over a receiver's tensors, and over its alternatives."""
    made, included = {}, {"Classify": [], "Regress": [], "Predict": [], "Train": [], "Eval": []}
    excluded = {}
    choices = [("", receiver.receiver_tensors)] + [
        (name + ":", tensors if isinstance(tensors, dict) else {"receiver_tensor": tensors})
        for name, tensors in (receiver.receiver_tensors_alternatives or {}).items()]
    for prefix, tensors in choices:
        for key, output in _outputs(spec).items():
            signature = output.signature(tensors)
            if signature is None:
                excluded[prefix + key] = (output.method, tensors)
                continue
            made[prefix + key] = signature
            included[output.method].append(prefix + key)
    for method in included:
        logging.info("Signatures INCLUDED in export for %s: %s", method, included[method] or None)
    _log_excluded(excluded)
    if _DEFAULT not in made:
        logging.warning("Export includes no default signature!")
    return made


def timestamped(base):
    """Returns the path of a new folder below base that is named by the time in seconds."""
    while True:
        path = os.path.join(os.fspath(base), str(int(time.time())))
        if not os.path.exists(local(path)):
            return path
        time.sleep(0.1)


def export_model(spec, receiver, base, checkpoint, assets_extra, as_text, config):
    """Restores the checkpoint in this graph, writes a SavedModel to a new folder below base, and returns its path as
    bytes.
    """
    graph = get_default_graph()
    base = base.decode() if isinstance(base, bytes) else os.fspath(base)
    signature_map = signatures(spec, receiver)
    local_init = spec.scaffold.local_init_op
    if local_init is None:
        from weft._core.ops.control_flow import group
        from weft._core.ops.lookup import tables_initializer
        local_init = group(local_variables_initializer(), tables_initializer())
    saver = spec.scaffold.saver or Saver(sharded=True, allow_empty=True)
    final = timestamped(base)
    temporary = os.path.join(base, "temp-" + os.path.basename(final))
    with client.Session(graph=graph, config=config) as sess:
        saver.restore(sess, checkpoint)
        builder = saved_model.SavedModelBuilder(temporary)
        builder.add_meta_graph_and_variables(
            sess, [saved_model.SERVING], signature_map, assets_collection=graph.get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=local_init, saver=saver, strip_default_attrs=True)
        builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", name)
        os.makedirs(os.path.dirname(local(target)), exist_ok=True)
        shutil.copyfile(local(source), local(target))
    os.rename(local(temporary), local(final))
    return final.encode()
