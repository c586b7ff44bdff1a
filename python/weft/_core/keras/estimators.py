"""tf.keras.estimator.model_to_estimator: a compiled Keras model as a tf.estimator.Estimator."""
import os
import tempfile

import weft as tf
from weft._core.framework.nest import flatten
from weft._core.keras import backend as K, cloning, optimizer_base, serialization


def model_to_estimator(keras_model=None, keras_model_path=None, custom_objects=None, model_dir=None, config=None,
                       checkpoint_format="saver", metric_names_map=None, export_outputs=None):
    """Returns an Estimator that trains the model; it starts with the model's weights."""
    if not (keras_model or keras_model_path):
        raise ValueError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if keras_model and keras_model_path:
        raise ValueError("Please specity either `keras_model` or `keras_model_path`, but not both.")
    if checkpoint_format not in (None, "saver", "checkpoint"):
        raise ValueError("checkpoint_format must be 'saver' or 'checkpoint', and not %r" % (checkpoint_format,))
    if keras_model_path:
        if keras_model_path.startswith("gs://") or "storage.googleapis.com" in keras_model_path:
            raise ValueError("%s is not a local path. Please copy the model locally first." % keras_model_path)
        keras_model = tf.keras.models.load_model(keras_model_path, custom_objects)
    if keras_model.optimizer is None:
        raise ValueError("The given keras model has not been compiled yet. Please compile the model with `model.compile()` before calling "
                         "`model_to_estimator()`.")
    config = tf.estimator.RunConfig(model_dir=model_dir) if config is None else config
    folder = config.model_dir or model_dir or tempfile.mkdtemp()
    description = _described(keras_model)
    start = _first_checkpoint(keras_model, description, custom_objects, folder, config.tf_random_seed)
    return tf.estimator.Estimator(_model_fn(keras_model, description, custom_objects, metric_names_map, export_outputs), model_dir=folder,
                                  config=config, warm_start_from=start)


def _described(model):
    """Returns what a copy of the model in another graph needs. It is read once, while the model's graph can be run."""
    optimizer = model.optimizer
    own = None if isinstance(optimizer, optimizer_base.TFOptimizer) else serialization.serialize_keras_object(optimizer)
    subclass = None if getattr(model, "_is_graph_network", False) or getattr(model, "_is_sequential", False) else type(model)
    return {"class_name": type(model).__name__, "config": model.get_config(), "optimizer": own, "subclass": subclass}


def _copied(model, description, custom_objects, features=None):
    """Returns a copy of the model in the default graph, with the features as its inputs."""
    if description["subclass"] is not None:
        made = description["subclass"](**description["config"])
        made._set_inputs(features)
        return made
    with serialization.CustomObjectScope(custom_objects or {}):
        made = cloning.model_from_config({k: description[k] for k in ("class_name", "config")}, custom_objects)
    if features is None:
        return made
    if isinstance(features, dict):
        missing = [n for n in made.input_names if n not in features]
        if missing:
            raise KeyError("The dictionary passed into features does not have the expected inputs keys defined in the keras model.\n\t"
                           "Expected keys: %s\n\tfeatures keys: %s" % (set(made.input_names), set(features)))
        features = [features[n] for n in made.input_names]
    with tf.name_scope(None):
        tensors = [_column(tf.cast(t, x.dtype.base_dtype) if t.dtype.base_dtype != x.dtype.base_dtype else t, x)
                   for t, x in zip(flatten(features), made.inputs)]
    return _rebuilt(made, tensors)


def _column(tensor, like):
    rank = like.shape.ndims
    return tf.expand_dims(tensor, -1) if rank is not None and tensor.shape.ndims == rank - 1 else tensor


def _rebuilt(model, tensors):
    """Returns a model of the same layers with other inputs."""
    from weft._core.keras.models import Functional
    inputs = [tf.keras.Input(tensor=t, name="input_wrapper_for_" + n) for t, n in zip(tensors, model.input_names)]
    outputs = model._graph_of_layers.run(inputs)
    made = Functional(inputs=inputs[0] if len(inputs) == 1 else inputs, outputs=outputs[0] if len(outputs) == 1 else outputs,
                      name=model.name)
    made.__dict__["output_names"] = model.output_names
    return made


def _first_checkpoint(model, description, custom_objects, folder, seed):
    """Writes the weights of the model, or new ones if it has none yet, as a checkpoint of its copy.

    Returns the path, or None if training has already begun.
    """
    if tf.train.latest_checkpoint(folder) or description["subclass"] is not None:
        return None
    weights = model.get_weights() if K.any_initialized(model.weights) else None
    path = os.path.join(folder, "keras", "keras_model.ckpt")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.Graph().as_default(), tf.Session().as_default() as session:
        tf.train.create_global_step()
        tf.set_random_seed(seed)
        copy = _copied(model, description, custom_objects)
        session.run(tf.global_variables_initializer())
        if weights is not None:
            copy.set_weights(weights)
        tf.train.Saver().save(session, path)
    return path


def _labels(labels, names):
    if isinstance(labels, dict):
        return [labels[n] for n in names]
    return [t for t in flatten(labels)] if labels is not None else None


def _model_fn(model, description, custom_objects, names_map, export_outputs):
    state = model._training_state.args

    def model_fn(features, labels, mode):
        modes = tf.estimator.ModeKeys
        K.set_learning_phase(int(mode == modes.TRAIN))
        copy = _copied(model, description, custom_objects, features)
        outputs = dict(zip(copy.output_names, copy.outputs))
        if mode != modes.PREDICT:
            _compiled(copy, model, description, state, _labels(labels, copy.output_names))
        train_op = loss = None
        metrics = {}
        if mode == modes.TRAIN:
            train_op = copy._make_train_function().updates_op
        if mode != modes.PREDICT:
            loss = copy.total_loss
        if mode == modes.EVAL:
            copy._make_test_function()
            metrics = _metric_ops(copy, names_map)
        exports = {"serving_default": tf.estimator.export.PredictOutput(outputs), **(export_outputs or {})}
        return tf.estimator.EstimatorSpec(mode=mode, predictions=outputs, loss=loss, train_op=train_op, eval_metric_ops=metrics,
                                          export_outputs=exports)
    return model_fn


def _compiled(copy, model, description, state, targets):
    """Compiles the copy as the model was, with the global step as the count of steps."""
    step = tf.train.get_or_create_global_step()
    if description["optimizer"] is None:
        optimizer = optimizer_base.TFOptimizer(model.optimizer.optimizer, step)
    else:
        optimizer = tf.keras.optimizers.deserialize(description["optimizer"])
        optimizer.iterations = step
    _, loss, metrics, loss_weights, modes, weighted, _ = state[0]
    if targets is not None:
        targets = [_target(t, o) for t, o in zip(targets, copy.outputs)]
    copy.compile(optimizer, loss, metrics=_fresh(metrics), loss_weights=loss_weights, sample_weight_mode=modes,
                 weighted_metrics=_fresh(weighted), target_tensors=targets)
    for metric in copy.metrics:  # An Estimator initializes local variables.
        for variable in metric.variables:
            tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, variable)


def _target(target, output):
    target = tf.cast(target, output.dtype.base_dtype) if target.dtype.is_floating and target.dtype != output.dtype else target
    return tf.expand_dims(target, -1) if target.shape.ndims == 1 and output.shape.ndims == 2 else target


def _fresh(metrics):
    """Returns metrics with new variables in this graph."""
    if isinstance(metrics, dict):
        return {k: _fresh(v) for k, v in metrics.items()}
    if isinstance(metrics, (list, tuple)):
        return [_fresh(m) for m in metrics]
    return type(metrics).from_config(metrics.get_config()) if isinstance(metrics, tf.keras.metrics.Metric) else metrics


def _metric_ops(model, names_map):
    """Returns {name: (value, update)} of the metrics."""
    found = {}
    for metric in model.metrics:
        found[metric.name] = (metric.result(), metric._updates[0])
    if names_map:
        unknown = set(names_map) - set(found)
        if unknown:
            raise ValueError("Unknown keys in metric_names_map: %s" % sorted(unknown))
        found = {names_map.get(k, k): v for k, v in found.items()}
    return found
