"""tf.contrib.predictor: functions of arrays that run a saved model, an estimator or a graph."""
import abc

import weft as tf
from weft._core.framework.absent import Named

_KEY = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class Predictor(metaclass=Named):
    """A callable that feeds inputs by name, runs the output tensors in a session, and returns their values."""

    @abc.abstractmethod
    def __init__(self):
        """Sets _session, _feed_tensors and _fetch_tensors."""

    graph = property(lambda self: self._graph)
    session = property(lambda self: self._session)
    feed_tensors = property(lambda self: self._feed_tensors)
    fetch_tensors = property(lambda self: self._fetch_tensors)

    def __repr__(self):
        return "%s with feed tensors %s and fetch_tensors %s" % ("Predictor", self._feed_tensors, self._fetch_tensors)

    def __call__(self, input_dict):
        """Returns {output: value} for {input: value}."""
        unknown = set(input_dict).difference(self._feed_tensors)
        if unknown:
            raise ValueError("Got unexpected keys in input_dict: %s\nexpected: %s" % (unknown, set(self._feed_tensors)))
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items()}
        return self._session.run(fetches=self._fetch_tensors, feed_dict=feeds)


class _Of(Predictor):
    def __init__(self, graph, session, feeds, fetches):
        self._graph, self._session, self._feed_tensors, self._fetch_tensors = graph, session, feeds, fetches


def _named(graph, signature):
    return tuple({k: graph.get_tensor_by_name(v.name) for k, v in part.items()} for part in (signature.inputs, signature.outputs))


def from_saved_model(export_dir, signature_def_key=None, signature_def=None, input_names=None, output_names=None, tags=None, graph=None,
                     config=None):
    """Returns a predictor of a SavedModel: of one of its signatures, of a signature that is given, or of tensors by
    name.
    """
    if (input_names is None) != (output_names is None):
        raise ValueError("input_names and output_names must both be specified or both be unspecified.")
    if sum(x is not None for x in (signature_def_key, signature_def, input_names)) > 1:
        raise ValueError("You must specify at most one of signature_def_key OR signature_def OR (input_names AND output_names).")
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf.Session(config=config)
        wanted = tags.split(",") if isinstance(tags, str) else tags or [tf.saved_model.tag_constants.SERVING]
        meta = tf.saved_model.loader.load(session, wanted, export_dir)
    if input_names is not None:
        return _Of(graph, session, *({k: graph.get_tensor_by_name(v) for k, v in names.items()} for names in (input_names, output_names)))
    if signature_def is None:
        key = signature_def_key or _KEY
        if key not in meta.signature_def:
            raise ValueError("Got signature_def_key %r. Available signatures are %s. Original error: key not found"
                             % (key, sorted(meta.signature_def)))
        signature_def = meta.signature_def[key]
    return _Of(graph, session, *_named(graph, signature_def))


def _restored(spec, graph, checkpoint, config):
    """Returns a session with the values of a checkpoint."""
    creator = tf.train.ChiefSessionCreator(scaffold=spec.scaffold, checkpoint_filename_with_path=checkpoint, config=config)
    return tf.train.MonitoredSession(session_creator=creator)


def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """Returns a predictor of an Estimator, with the inputs of a serving_input_receiver_fn."""
    graph = graph or tf.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        tf.train.get_or_create_global_step()
        spec = estimator.model_fn(receiver.features, None, tf.estimator.ModeKeys.PREDICT, estimator.config)
        checkpoint = estimator.latest_checkpoint()
        if checkpoint is None:
            raise ValueError("Estimator has no checkpoint in %s: train it first" % estimator.model_dir)
        session = _restored(spec, graph, checkpoint, config)
    feeds = receiver.receiver_tensors
    feeds = feeds if isinstance(feeds, dict) else {"input": feeds}
    outputs = spec.export_outputs or {}
    if output_key is not None or outputs:
        key = output_key or _KEY
        if key not in outputs and len(outputs) != 1:
            raise ValueError("Unknown output_key %r: the model's export_outputs are %s" % (key, sorted(outputs)))
        chosen = outputs[key] if key in outputs else next(iter(outputs.values()))
        return _Of(graph, session, feeds, _values(chosen, spec.predictions))
    return _Of(graph, session, feeds, spec.predictions if isinstance(spec.predictions, dict) else {"output": spec.predictions})


def _values(output, predictions):
    """Returns the tensors of an export output, by name."""
    for name in ("outputs", "value"):
        found = getattr(output, name, None)
        if found is not None:
            return found if isinstance(found, dict) else {"outputs": found}
    return {k: v for k, v in (("scores", output.scores), ("classes", output.classes)) if v is not None}


def from_contrib_estimator(estimator, prediction_input_fn, input_alternative_key=None, output_alternative_key=None, graph=None,
                           config=None):
    """Returns a predictor of an estimator of tf.contrib.learn, with the inputs of a serving input function."""
    if input_alternative_key is not None:
        raise NotImplementedError("tf.contrib.predictor.from_contrib_estimator(input_alternative_key=...) is not in Weft: give an "
                                  "input function for that input")
    return from_estimator(estimator, prediction_input_fn, output_alternative_key, graph, config)
