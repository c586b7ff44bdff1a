"""tf.contrib.estimator: early stopping hooks, additional metrics and predictions, and clipped gradients."""
import inspect
import operator
import os

import weft as tf
from weft._core.estimator import heads
from weft._core.estimator.estimator import Estimator


def _call(function, **given):
    """Calls the function with those of the arguments that it accepts, and returns its result."""
    takes = inspect.signature(function).parameters
    return function(**{k: v for k, v in given.items() if k in takes})


def _derived(estimator, change):
    """Returns an Estimator with the same folder, whose specs are changed by a function."""
    def model_fn(features, labels, mode, config):
        return change(features, labels, mode, estimator._call_model_fn(features, labels, mode, config), config)
    return Estimator(model_fn, model_dir=estimator.model_dir, config=estimator.config)


def add_metrics(estimator, metric_fn):
    """Returns an Estimator with additional metrics. metric_fn takes some of features, labels, predictions and config.
    """
    wrong = set(inspect.signature(metric_fn).parameters) - {"features", "labels", "predictions", "config"}
    if wrong:
        raise ValueError("metric_fn (%s) has following not expected args: %s" % (metric_fn, sorted(wrong)))

    def change(features, labels, mode, spec, config):
        if mode != tf.estimator.ModeKeys.EVAL:
            return spec
        more = _call(metric_fn, features=features, labels=labels, predictions=spec.predictions, config=config)
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **(more or {})})
    return _derived(estimator, change)


def forward_features(estimator, keys=None, sparse_default_values=None):
    """Returns an Estimator whose predictions contain features."""
    if keys is not None and isinstance(keys, str):
        keys = [keys]

    def change(features, labels, mode, spec, config):
        predictions = dict(spec.predictions or {})
        for key in keys if keys is not None else list(features):
            if key in predictions:
                raise ValueError("Cannot forward feature key (%s). Since it does exist in predictions." % key)
            if key not in features:
                raise ValueError("keys should be exist in features. Key %r is not in features dict. features dict has following keys: %s."
                                 % (key, sorted(features)))
            value = features[key]
            if isinstance(value, tf.SparseTensor):
                value = tf.sparse_tensor_to_dense(value, default_value=(sparse_default_values or {}).get(key))
            predictions[key] = value
        return spec._replace(predictions=predictions)
    return _derived(estimator, change)


def clip_gradients_by_norm(optimizer, clip_norm):
    """Returns an optimizer that clips each gradient by its norm."""
    class Clipped(type(optimizer)):
        def apply_gradients(self, grads_and_vars, global_step=None, name=None):
            pairs = [(g if g is None else tf.clip_by_norm(g, clip_norm), v) for g, v in grads_and_vars]
            return super().apply_gradients(pairs, global_step, name)
    optimizer.__class__ = Clipped
    return optimizer


def read_eval_metrics(eval_dir):
    """Returns {step: {name: value}} of the evaluations whose summaries are in a folder."""
    found = {}
    for path in sorted(tf.gfile.Glob(os.path.join(eval_dir, "*.tfevents.*"))):
        for event in tf.train.summary_iterator(path):
            values = {v.tag: v.simple_value for v in event.summary.value if v.HasField("simple_value")}
            if values:
                found.setdefault(event.step, {}).update(values)
    return dict(sorted(found.items()))


def _stop_signal():
    """Returns the variable that the chief sets when all workers must stop. Checkpoints contain it, as in TensorFlow."""
    with tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE):
        return tf.get_variable("STOP", [], tf.bool, tf.constant_initializer(False), trainable=False,
                               collections=[tf.GraphKeys.GLOBAL_VARIABLES])


class _StopOnSignal(tf.train.SessionRunHook):
    """Ends the training of a worker after the chief has asked for it."""

    def begin(self):
        self._signal = _stop_signal()

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._signal)

    def after_run(self, run_context, run_values):
        if run_values.results:
            tf.logging.info("Early stopping requested, suspending execution.")
            run_context.request_stop()


class _StopWhen(tf.train.SessionRunHook):
    """The hook of the chief.

    It checks the evaluations at regular intervals, and ends the training if a function says so.
    """

    def __init__(self, should_stop_fn, run_every_secs=60, run_every_steps=None):
        self._should, self._timer = should_stop_fn, tf.train.SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self):
        self._step = tf.train.get_or_create_global_step()
        self._stop = tf.assign(_stop_signal(), True)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should():
                tf.logging.info("Requesting early stopping at global step %d", step)
                run_context.session.run(self._stop)
                run_context.request_stop()


def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    """Returns a hook that ends the training when should_stop_fn returns true."""
    if not callable(should_stop_fn):
        raise TypeError("`should_stop_fn` must be callable")
    if (run_every_secs is None) == (run_every_steps is None):
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set")
    return _StopWhen(should_stop_fn, run_every_secs, run_every_steps) if estimator.config.is_chief else _StopOnSignal()


def _threshold(estimator, metric_name, threshold, passes, eval_dir, min_steps, run_every_secs, run_every_steps):
    def should():
        for step, values in read_eval_metrics(eval_dir or estimator.eval_dir()).items():
            if step >= min_steps and metric_name in values and passes(values[metric_name], threshold):
                tf.logging.info('At step %s, metric "%s" has value %s, the configured threshold (%s).', step, metric_name,
                                values[metric_name], threshold)
                return True
        return False
    return make_early_stopping_hook(estimator, should, run_every_secs, run_every_steps)


def stop_if_higher_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None):
    """Returns a hook that ends the training when a metric is higher than a threshold."""
    return _threshold(estimator, metric_name, threshold, operator.gt, eval_dir, min_steps, run_every_secs, run_every_steps)


def stop_if_lower_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60, run_every_steps=None):
    """Returns a hook that ends the training when a metric is lower than a threshold."""
    return _threshold(estimator, metric_name, threshold, operator.lt, eval_dir, min_steps, run_every_secs, run_every_steps)


def _no_better(estimator, metric_name, better, most, eval_dir, min_steps, run_every_secs, run_every_steps):
    def should():
        best, at = None, None
        for step, values in read_eval_metrics(eval_dir or estimator.eval_dir()).items():
            if step < min_steps or metric_name not in values:
                continue
            value = values[metric_name]
            if best is None or better(value, best):
                best, at = value, step
            if step - at >= most:
                tf.logging.info('No improvement in metric "%s" for %s steps, which is greater than or equal to max steps (%s) '
                                "configured for early stopping.", metric_name, step - at, most)
                return True
        return False
    return make_early_stopping_hook(estimator, should, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(estimator, metric_name, max_steps_without_increase, eval_dir=None, min_steps=0, run_every_secs=60,
                             run_every_steps=None):
    """Returns a hook that ends the training when a metric has not increased for a number of steps."""
    return _no_better(estimator, metric_name, operator.gt, max_steps_without_increase, eval_dir, min_steps, run_every_secs,
                      run_every_steps)


def stop_if_no_decrease_hook(estimator, metric_name, max_steps_without_decrease, eval_dir=None, min_steps=0, run_every_secs=60,
                             run_every_steps=None):
    """Returns a hook that ends the training when a metric has not decreased for a number of steps."""
    return _no_better(estimator, metric_name, operator.lt, max_steps_without_decrease, eval_dir, min_steps, run_every_secs,
                      run_every_steps)


class InMemoryEvaluatorHook(tf.train.SessionRunHook):
    """Evaluates at regular intervals of steps, from checkpoints that it writes."""

    def __init__(self, estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        self._estimator, self._given = estimator, dict(input_fn=input_fn, steps=steps, hooks=hooks, name=name)
        self._every, self._count = every_n_iter, 0

    def begin(self):
        self._saver = tf.train.Saver()

    def _evaluate(self, session):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = self._saver.save(session, os.path.join(folder, "model.ckpt"), write_meta_graph=False, write_state=False)
            self._estimator.evaluate(checkpoint_path=path, **self._given)

    def after_create_session(self, session, coord):
        self._evaluate(session)

    def after_run(self, run_context, run_values):
        self._count += 1
        if self._count % self._every == 0:
            self._evaluate(run_context.session)

    def end(self, session):
        self._evaluate(session)


def binary_classification_head(weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction="weighted_sum_over_batch_size",
                               loss_fn=None, name=None):
    """Returns a tf.estimator.BinaryClassHead."""
    return heads.BinaryClassHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


def multi_class_head(n_classes, weight_column=None, label_vocabulary=None, loss_reduction="weighted_sum_over_batch_size", loss_fn=None,
                     name=None):
    """Returns a tf.estimator.MultiClassHead."""
    return heads.MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)
