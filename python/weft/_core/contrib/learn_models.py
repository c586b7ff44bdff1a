"""tf.contrib.learn's estimators: fit, evaluate and predict on arrays or input functions, with contrib's variable names.
"""
import collections
import re

import numpy as np

import weft as tf
from weft._core.estimator import canned
from weft._core.estimator.estimator import Estimator as _Estimator
from weft._core.framework.absent import Named

_MEAN = tf.losses.Reduction.MEAN


class PredictionKey(metaclass=Named):
    """The keys of predictions."""

    CLASSES, PROBABILITIES, LOGITS, LOGISTIC, SCORES = "classes", "probabilities", "logits", "logistic", "scores"
    TOP_K, GENERIC = "top_k", "output"


class ProblemType(metaclass=Named):
    """What a model predicts."""

    UNSPECIFIED, CLASSIFICATION, LINEAR_REGRESSION, LOGISTIC_REGRESSION = 0, 1, 2, 3


class MetricSpec(metaclass=Named):
    """A metric with the keys of its predictions, labels and weights."""

    def __init__(self, metric_fn, prediction_key=None, label_key=None, weight_key=None):
        self._metric_fn, self.prediction_key, self.label_key, self.weight_key = metric_fn, prediction_key, label_key, weight_key

    metric_fn = property(lambda self: self._metric_fn)

    def _chosen(self, given, key, what):
        if not isinstance(given, dict):
            if key:
                raise ValueError("MetricSpec(%s=%r): the %s is a single value, for which there is no key" % (what + "_key", key, what))
            return given
        if key:
            return given[key]
        if len(given) != 1:
            raise ValueError("MetricSpec without %s_key specified requires a single %s, got %s" % (what, what, sorted(given)))
        return next(iter(given.values()))

    def create_metric_ops(self, inputs, labels, predictions):
        """Returns (value, update op) of the metric."""
        weights = {} if self.weight_key is None else {"weights": inputs[self.weight_key]}
        found, wanted = self._chosen(predictions, self.prediction_key, "prediction"), self._chosen(labels, self.label_key, "label")
        import inspect
        names = list(inspect.signature(self._metric_fn).parameters)
        if "labels" in names and "predictions" in names:
            return self._metric_fn(labels=wanted, predictions=found, **weights)
        return self._metric_fn(found, wanted, **weights)


def _array_fn(x, y, batch_size, forever):
    """Returns an input function over arrays; features that are one array have the empty name."""
    features = {k: np.asarray(v) for k, v in x.items()} if isinstance(x, dict) else {"": np.asarray(x)}
    features = {k: v.astype(np.float32) if v.dtype == np.float64 else v for k, v in features.items()}

    def input_fn():
        data = features if y is None else (features, np.asarray(y))
        rows = len(next(iter(features.values())))
        made = tf.data.Dataset.from_tensor_slices(data)
        if forever:
            made = made.shuffle(rows).repeat()
        return made.batch(batch_size or rows)
    return input_fn


def _named(input_fn):
    """Returns an input function whose features are a dict.

    One for predictions may give the features alone, as an array too.
    """
    def call():
        made = input_fn()
        if isinstance(made, tuple) and not isinstance(made[0], dict):
            return {"": _tensor(made[0])}, made[1]
        return {"": _tensor(made)} if isinstance(made, (np.ndarray, tf.Tensor, tf.SparseTensor)) else made
    return call


def _tensor(value):
    return tf.convert_to_tensor(value) if isinstance(value, np.ndarray) else value


def infer_real_valued_columns_from_input(x):
    """Returns the columns for an array of numbers, or for a dict of them."""
    if isinstance(x, dict):
        return [tf.contrib.layers.real_valued_column(k, dimension=int(np.prod(np.shape(x[k])[1:]))) for k in sorted(x)]
    return [tf.contrib.layers.real_valued_column("", dimension=int(np.prod(np.shape(x)[1:])))]


def infer_real_valued_columns_from_input_fn(input_fn):
    """Returns the columns for the features that an input function makes."""
    with tf.Graph().as_default():
        features = _named(input_fn)()[0]
        return [tf.contrib.layers.real_valued_column(k, dimension=int(v.shape[1:].num_elements())) for k, v in sorted(features.items())]


class _OneRun(tf.train.SessionRunHook):
    """Stops after one run."""

    def after_run(self, run_context, run_values):
        run_context.request_stop()


class Learner(_Estimator):
    """The base of estimators with the methods fit, evaluate and predict of tf.contrib.learn."""

    _metrics = None
    _always_measured = None  # the metrics that an Experiment adds
    _single = None  # the key of the result of predict() if no outputs are named

    def _input(self, x, y, input_fn, batch_size, forever):
        if (x is None) == (input_fn is None):
            raise ValueError("Either x and y or input_fn must be provided.")
        return _array_fn(x, y, batch_size, forever) if x is not None else _named(input_fn)

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Trains on arrays or on the result of an input function."""
        hooks = list(monitors or [])
        for hook in hooks:
            if hasattr(hook, "set_estimator"):
                hook.set_estimator(self)
        return self.train(self._input(x, y, input_fn, batch_size, True), hooks, steps, max_steps)

    def partial_fit(self, x=None, y=None, input_fn=None, steps=1, batch_size=None, monitors=None):
        """Runs a few steps of training."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None, name=None,
                 checkpoint_path=None, hooks=None, log_progress=True):
        """Returns {name: value} of the metrics."""
        # This is the argument order of tf.estimator.Estimator: input_fn, steps, hooks, checkpoint_path, name.
        if callable(x):
            x, input_fn, steps, hooks = None, x, steps if y is None else y, hooks if input_fn is None else input_fn
            y, checkpoint_path, feed_fn, name, batch_size = None, checkpoint_path or feed_fn, None, name or batch_size, None
        if feed_fn is not None:
            raise NotImplementedError("tf.contrib.learn.Estimator.evaluate(feed_fn=...) is not in Weft: give input_fn")
        self._metrics = self._always_measured if metrics is None else metrics
        try:
            return super().evaluate(self._input(x, y, input_fn, batch_size, False), steps, hooks, checkpoint_path, name)
        finally:
            self._metrics = None

    def score(self, x=None, y=None, input_fn=None, batch_size=None, steps=None, metrics=None):
        """Evaluates the model; another name of evaluate()."""
        return self.evaluate(x, y, input_fn, batch_size=batch_size, steps=steps, metrics=metrics)

    def _call_model_fn(self, features, labels, mode, config=None):
        made = super()._call_model_fn(features, labels, mode, config)
        if mode == tf.estimator.ModeKeys.EVAL and self._metrics:
            seen = self._public(made.predictions)
            more = {}
            for key, spec in self._metrics.items():
                more[key[0] if isinstance(key, tuple) else key] = spec.create_metric_ops(features, labels, seen)
            made = made._replace(eval_metric_ops={**made.eval_metric_ops, **more})
        return made

    def _hooks_without_end(self, graph):
        """Returns a hook that makes constants be predicted once, as contrib does.

        Input from an iterator ends by itself.
        """
        return [] if any("Iterator" in op.type for op in graph.get_operations()) else [_OneRun()]

    def _public(self, predictions):
        """Returns predictions under contrib's keys."""
        return predictions

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """Yields the predictions of each example, or returns them all at once."""
        if callable(x):
            x, input_fn = None, x
        found = super().predict(self._input(x, None, input_fn, batch_size, False))
        key = outputs or self._single

        def each():
            for one in found:
                one = self._public(one)
                if isinstance(key, str):
                    yield one[key]
                else:
                    yield one if not key or not isinstance(one, dict) else {k: one[k] for k in key}
        if as_iterable:
            return each()
        rows = list(each())
        return {k: np.stack([r[k] for r in rows]) for k in rows[0]} if rows and isinstance(rows[0], dict) else np.stack(rows)

    def export_savedmodel(self, export_dir_base, serving_input_fn, default_output_alternative_key=None, assets_extra=None,
                          as_text=False, checkpoint_path=None, **kwargs):
        """Writes a SavedModel."""
        if default_output_alternative_key is not None:
            raise NotImplementedError("tf.contrib.learn: export_savedmodel(default_output_alternative_key=...) is not in Weft: "
                                      "name the signature in export_outputs of the EstimatorSpec")
        return super().export_savedmodel(export_dir_base, serving_input_fn, assets_extra, as_text, checkpoint_path)

    def get_params(self, deep=True):
        """Returns the arguments with which the estimator was made, as far as they are known."""
        return {"params": self.params}


class _Classifier(Learner):
    _single = PredictionKey.CLASSES

    def _public(self, predictions):
        made = {k: v for k, v in predictions.items() if k in ("logits", "logistic", "probabilities")}
        ids = predictions["class_ids"]
        made["classes"] = ids[..., 0][()] if isinstance(ids, np.ndarray) else tf.squeeze(ids, [-1])
        return made

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """Returns the class of each example."""
        return self.predict(x, input_fn, batch_size, PredictionKey.CLASSES, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """Returns the probabilities of the classes for each example."""
        return self.predict(x, input_fn, batch_size, PredictionKey.PROBABILITIES, as_iterable)


class _Regressor(Learner):
    _single = PredictionKey.SCORES

    def _public(self, predictions):
        found = predictions["predictions"]
        return {"scores": found[..., 0][()] if isinstance(found, np.ndarray) and found.shape[-1] == 1 else found}

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """Returns the value of each example."""
        return self.predict(x, input_fn, batch_size, PredictionKey.SCORES, as_iterable)


def _renamed(renames):
    def getter(getter, name, *args, **kwargs):
        for old, new in renames:
            name = re.sub(old, new, name)
        return getter(name, *args, **kwargs)
    return getter


class _Dnn(canned._Network):
    """A network whose variables are called weights and biases, as in tf.contrib.layers."""

    def scope(self, config):
        return tf.variable_scope("dnn", partitioner=canned._pieces(config), custom_getter=_renamed(
            [("/kernel$", "/weights"), ("/bias$", "/biases")]))


class _Sum(canned._Linear):
    """A linear model with the variables linear/COLUMN/weights (or weight for numeric columns) and linear/bias_weight.
    """

    def scope(self, config):
        numbers = "|".join(re.escape(c.name) for c in self.columns if not hasattr(c, "num_buckets")) or "$^"
        return tf.variable_scope("linear", partitioner=canned._pieces(config, self.partitioner, 64 << 20), custom_getter=_renamed(
            [("linear_model/(%s)/weights$" % numbers, r"\1/weight"), ("linear_model/bias_weights$", "bias_weight"),
             ("linear_model/", "")]))


def _refuse(name, **given):
    for key, value in given.items():
        if value:
            raise NotImplementedError("tf.contrib.learn.%s(%s=...) is not in Weft: use tf.estimator.%s" % (name, key, name))


def _clipped(optimizer, norm):
    """Returns an optimizer that clips gradients by their global norm."""
    if norm is None:
        return optimizer

    class Clipped(type(optimizer)):
        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            pairs = [(g, v) for g, v in grads_and_vars if g is not None]
            clipped, _ = tf.clip_by_global_norm([g for g, _ in pairs], norm)
            return super().apply_gradients([(g, v) for g, (_, v) in zip(clipped, pairs)], global_step, name)
    optimizer.__class__ = Clipped
    return optimizer


def _optimizer(given, norm, default):
    if given is None and norm is None:
        return default
    if norm is not None and not isinstance(given, tf.train.Optimizer):
        raise NotImplementedError("tf.contrib.learn: gradient_clip_norm needs an optimizer object, such as "
                                  "optimizer=tf.train.AdagradOptimizer(0.05)")
    return _clipped(given, norm)


class DNNClassifier(_Classifier, canned._Canned):
    """A classifier of dense layers."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column_name=None, optimizer=None,
                 activation_fn=tf.nn.relu, dropout=None, gradient_clip_norm=None, enable_centered_bias=False, config=None,
                 feature_engineering_fn=None, embedding_lr_multipliers=None, input_layer_min_slice_size=None, label_keys=None):
        _refuse("DNNClassifier", enable_centered_bias=enable_centered_bias, feature_engineering_fn=feature_engineering_fn,
                embedding_lr_multipliers=embedding_lr_multipliers, input_layer_min_slice_size=input_layer_min_slice_size)
        body = _Dnn(hidden_units, feature_columns, _optimizer(optimizer, gradient_clip_norm, "Adagrad"), activation_fn, dropout, False)
        self._make(canned._class_head(n_classes, weight_column_name, label_keys, _MEAN), {"dnn": body}, model_dir, config, None)


class DNNRegressor(_Regressor, canned._Canned):
    """A regression by dense layers."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, weight_column_name=None, optimizer=None,
                 activation_fn=tf.nn.relu, dropout=None, gradient_clip_norm=None, enable_centered_bias=False, config=None,
                 feature_engineering_fn=None, label_dimension=1, embedding_lr_multipliers=None, input_layer_min_slice_size=None):
        _refuse("DNNRegressor", enable_centered_bias=enable_centered_bias, feature_engineering_fn=feature_engineering_fn,
                embedding_lr_multipliers=embedding_lr_multipliers, input_layer_min_slice_size=input_layer_min_slice_size)
        body = _Dnn(hidden_units, feature_columns, _optimizer(optimizer, gradient_clip_norm, "Adagrad"), activation_fn, dropout, False)
        self._make(canned._RegressionHead(label_dimension, weight_column_name, _MEAN), {"dnn": body}, model_dir, config, None)


class LinearClassifier(_Classifier, canned._Canned):
    """A classifier by a weighted sum."""

    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False, _joint_weight=False, config=None, feature_engineering_fn=None,
                 label_keys=None):
        _refuse("LinearClassifier", enable_centered_bias=enable_centered_bias, feature_engineering_fn=feature_engineering_fn,
                _joint_weight=_joint_weight)
        body = _Sum(feature_columns, _optimizer(optimizer, gradient_clip_norm, "Ftrl"), "sum")
        self._make(canned._class_head(n_classes, weight_column_name, label_keys, _MEAN), {"linear": body}, model_dir, config, None)


class LinearRegressor(_Regressor, canned._Canned):
    """A regression by a weighted sum."""

    def __init__(self, feature_columns, model_dir=None, weight_column_name=None, optimizer=None, gradient_clip_norm=None,
                 enable_centered_bias=False, label_dimension=1, _joint_weights=False, config=None, feature_engineering_fn=None):
        _refuse("LinearRegressor", enable_centered_bias=enable_centered_bias, feature_engineering_fn=feature_engineering_fn,
                _joint_weights=_joint_weights)
        body = _Sum(feature_columns, _optimizer(optimizer, gradient_clip_norm, "Ftrl"), "sum")
        self._make(canned._RegressionHead(label_dimension, weight_column_name, _MEAN), {"linear": body}, model_dir, config, None)


def _bodies(name, linear, linear_optimizer, dnn, dnn_optimizer, units, activation, dropout):
    made = {}
    if dnn:
        made["dnn"] = _Dnn(units, dnn, dnn_optimizer or "Adagrad", activation, dropout, False, speed=0.05)
    if linear:
        made["linear"] = _Sum(linear, linear_optimizer or "Ftrl", "sum", speed=0.2)
    if not made:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return made


class DNNLinearCombinedClassifier(_Classifier, canned._Canned):
    """A classifier by the sum of dense layers and a weighted sum."""

    def __init__(self, model_dir=None, n_classes=2, weight_column_name=None, linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=tf.nn.relu, dnn_dropout=None, gradient_clip_norm=None, enable_centered_bias=False, config=None,
                 feature_engineering_fn=None, embedding_lr_multipliers=None, input_layer_min_slice_size=None, label_keys=None,
                 fix_global_step_increment_bug=False):
        _refuse("DNNLinearCombinedClassifier", _joint_linear_weights=_joint_linear_weights, gradient_clip_norm=gradient_clip_norm,
                enable_centered_bias=enable_centered_bias, feature_engineering_fn=feature_engineering_fn,
                embedding_lr_multipliers=embedding_lr_multipliers, input_layer_min_slice_size=input_layer_min_slice_size)
        bodies = _bodies("classifier", linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
                         dnn_activation_fn, dnn_dropout)
        self._make(canned._class_head(n_classes, weight_column_name, label_keys, _MEAN), bodies, model_dir, config, None,
                   count_each=not fix_global_step_increment_bug)


class DNNLinearCombinedRegressor(_Regressor, canned._Canned):
    """A regression by the sum of dense layers and a weighted sum."""

    def __init__(self, model_dir=None, weight_column_name=None, linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=tf.nn.relu, dnn_dropout=None, gradient_clip_norm=None, enable_centered_bias=False,
                 label_dimension=1, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, fix_global_step_increment_bug=False):
        _refuse("DNNLinearCombinedRegressor", _joint_linear_weights=_joint_linear_weights, gradient_clip_norm=gradient_clip_norm,
                enable_centered_bias=enable_centered_bias, feature_engineering_fn=feature_engineering_fn,
                embedding_lr_multipliers=embedding_lr_multipliers, input_layer_min_slice_size=input_layer_min_slice_size)
        bodies = _bodies("regressor", linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
                         dnn_activation_fn, dnn_dropout)
        self._make(canned._RegressionHead(label_dimension, weight_column_name, _MEAN), bodies, model_dir, config, None,
                   count_each=not fix_global_step_increment_bug)


class SKCompat(metaclass=Named):
    """Wraps an estimator in the methods of scikit-learn's estimators."""

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None, monitors=None):
        """Trains on arrays."""
        self._estimator.fit(x, y, steps=steps, batch_size=min(batch_size, len(y)), monitors=monitors, max_steps=max_steps)
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        """Returns {name: value} of the metrics."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x, batch_size=128, outputs=None):
        """Returns the predictions of all examples."""
        keys = outputs
        single, self._estimator._single = self._estimator._single, None
        try:
            return self._estimator.predict(x, batch_size=batch_size, outputs=keys, as_iterable=False)
        finally:
            self._estimator._single = single

    def transform(self, x):
        """Returns the predictions of all examples."""
        return self.predict(x)


class ExportStrategy(collections.namedtuple("ExportStrategy", ["name", "export_fn", "strip_default_attrs"])):
    """A name, and a function that exports an estimator."""

    def __new__(cls, name, export_fn, strip_default_attrs=None):
        return super().__new__(cls, name, export_fn, strip_default_attrs)

    def export(self, estimator, export_path, checkpoint_path=None, eval_result=None):
        """Exports the model, and returns its folder."""
        import inspect
        given = dict(checkpoint_path=checkpoint_path, eval_result=eval_result)
        takes = inspect.signature(self.export_fn).parameters
        return self.export_fn(estimator, export_path, **{k: v for k, v in given.items() if k in takes})


def make_export_strategy(serving_input_fn, default_output_alternative_key=None, assets_extra=None, as_text=False, exports_to_keep=5,
                         strip_default_attrs=None):
    """Returns a strategy that writes a SavedModel, and keeps the last of them."""
    from weft._core.estimator.exporter import _keep_last
    if default_output_alternative_key is not None:
        raise NotImplementedError("make_export_strategy(default_output_alternative_key=...) is not in Weft: name the signature in "
                                  "export_outputs of the EstimatorSpec")

    def export_fn(estimator, export_dir_base, checkpoint_path=None):
        path = _Estimator.export_savedmodel(estimator, export_dir_base, serving_input_fn, assets_extra=assets_extra, as_text=as_text,
                                            checkpoint_path=checkpoint_path)
        if exports_to_keep is not None:
            _keep_last(export_dir_base, exports_to_keep)
        return path
    return ExportStrategy("Servo", export_fn, strip_default_attrs)
