"""tf.contrib.tensor_forest.client: estimators of random forests, and their metrics."""
import logging

import weft as tf
from weft._core.contrib.learn_models import Learner, PredictionKey
from weft._core.contrib.tensor_forest import RandomForestGraphs
from weft._core.python_modules import resources

INFERENCE_PROB_NAME = PredictionKey.PROBABILITIES
INFERENCE_PRED_NAME = PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME = "global_feature_importance"


class TensorForestLossHook(tf.train.SessionRunHook):
    """Stops a training when the loss has not become less for some steps.

    Args:
      early_stopping_rounds: the number of steps.
      early_stopping_loss_threshold: the part of the loss by which it must become less; None: any.
      loss_op: the loss; without it the first loss in the collection of losses.
    """

    def __init__(self, early_stopping_rounds, early_stopping_loss_threshold=None, loss_op=None):
        super().__init__()
        self.early_stopping_rounds, self.early_stopping_loss_threshold = early_stopping_rounds, early_stopping_loss_threshold
        self.loss_op, self.min_loss, self.last_step = loss_op, None, 0
        self.step = 0

    def before_run(self, run_context):
        loss = self.loss_op if self.loss_op is not None else tf.get_collection(tf.GraphKeys.LOSSES)[0]
        return tf.train.SessionRunArgs({"loss": loss})

    def after_run(self, run_context, run_values):
        loss = float(run_values.results["loss"])
        self.step += 1
        margin = abs(self.min_loss) * self.early_stopping_loss_threshold if self.min_loss and self.early_stopping_loss_threshold else 0
        if self.min_loss is None or loss < self.min_loss - margin:
            self.min_loss, self.last_step = loss, self.step
        if self.step - self.last_step >= self.early_stopping_rounds:
            logging.getLogger("tensorflow").info("TensorForestLossHook requesting stop.")
            run_context.request_stop()


def _pop(features, key):
    """Returns the column that is not a feature, such as the weights, and the features without it."""
    if key is None:
        return None, features
    if not isinstance(features, dict) or key not in features:
        raise ValueError("tensor_forest: the features have no column %r" % key)
    return features[key], {k: v for k, v in features.items() if k != key}


def _model_fn(params, graph_builder_class, device_assigner, weight_column, keys_column, rounds, threshold, num_trainers, trainer_id,
              importances, hook_list, head=None, classes_key=INFERENCE_PRED_NAME):
    def model_fn(features, labels, mode):
        weights, features = _pop(features, weight_column)
        keys, features = _pop(features, keys_column)
        training = mode == tf.estimator.ModeKeys.TRAIN
        forest = graph_builder_class(params, device_assigner=device_assigner, training=training)
        found, _, variance = forest.inference_graph(features)
        if params.regression:
            predictions = {PredictionKey.SCORES: found[:, 0] if params.num_outputs == 1 else found, "regression_variance": variance}
        else:
            predictions = {INFERENCE_PROB_NAME: found, classes_key: tf.argmax(found, 1)}
        if importances:
            predictions[FEATURE_IMPORTANCE_NAME] = tf.tile(forest.feature_importances()[None], [tf.shape(found)[0], 1])
        if keys is not None:
            predictions[keys_column] = keys
        loss, train_op, hooks = None, None, []
        if labels is not None and mode != tf.estimator.ModeKeys.PREDICT:
            if isinstance(labels, dict):
                if len(labels) != 1:
                    raise ValueError("tensor_forest: one column of labels is needed, got %s" % sorted(labels))
                labels = next(iter(labels.values()))
            loss = forest.training_loss(features, labels) if training else forest.validation_loss(features, labels)
            with tf.control_dependencies([found]):  # it depends on no input, which would never end
                loss = tf.identity(loss)
        if training:
            step = tf.train.get_or_create_global_step()
            grow = forest.training_graph(features, labels, num_trainers=num_trainers, trainer_id=trainer_id,
                                         **({} if weights is None else {"input_weights": weights}))
            with tf.control_dependencies([grow]):
                train_op = tf.assign_add(step, 1).op
            if rounds:
                hooks.append(TensorForestLossHook(rounds, threshold, loss))
        if head is not None:
            return _with_head(head, features, mode, labels, found, train_op, hooks + list(hook_list or []), params)
        scaffold = tf.train.Scaffold(init_op=tf.group(tf.global_variables_initializer(), resources.initialize_resources(
            resources.shared_resources()))) if training else None
        return tf.estimator.EstimatorSpec(mode, predictions, loss, train_op, training_hooks=hooks + list(hook_list or []),
                                          scaffold=scaffold, export_outputs={
                                              "serving_default": tf.estimator.export.PredictOutput(predictions)})
    return model_fn


def _with_head(head, features, mode, labels, found, train_op, hooks, params):
    """Returns the result of a head of tf.estimator for the predictions: logits are the logarithms of probabilities."""
    if params.regression:
        logits = found
    elif head.logits_dimension == 1:
        logits = tf.log(found[:, 1:2] + 1e-9) - tf.log(found[:, 0:1] + 1e-9)
    else:
        logits = tf.log(found + 1e-9)
    spec = head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels, train_op_fn=lambda loss: train_op)
    return spec._replace(training_hooks=tuple(spec.training_hooks or ()) + tuple(hooks))


class TensorForestEstimator(Learner):
    """A random forest with fit, evaluate and predict, as tf.contrib.learn has them.

    The predictions are probabilities and classes, or scores of a regression.

    Args:
      params: ForestHParams; they are filled here.
      device_assigner: chooses the device of each tree.
      model_dir: the folder of the checkpoints.
      feature_engineering_fn: changes features and labels before the model sees them.
      config: a RunConfig.
      weight_column: the name of the feature that is the weight of an example.
      keys_column: the name of the feature that is passed on to the predictions.
      graph_builder_class: RandomForestGraphs, or TrainingLossForest for another loss.
      early_stopping_rounds: the training stops when the loss has not become less for so many steps.
      early_stopping_loss_threshold: the part by which the loss must become less to count.
      num_trainers, trainer_id: how many programs grow the forest, and the number of this one.
      report_feature_importances: whether predictions have the share of splits of each feature.
      local_eval: False.
      version: not used, as in TensorFlow.
      head: a head of tf.estimator that makes predictions, loss and metrics.
      include_all_in_serving: False.
    """

    def __init__(self, params, device_assigner=None, model_dir=None, feature_engineering_fn=None, config=None, weight_column=None,
                 keys_column=None, graph_builder_class=RandomForestGraphs, early_stopping_rounds=100,
                 early_stopping_loss_threshold=0.001, num_trainers=1, trainer_id=0, report_feature_importances=False,
                 local_eval=False, version=None, head=None, include_all_in_serving=False):
        for name, given in (("local_eval", local_eval), ("include_all_in_serving", include_all_in_serving)):
            if given:
                raise NotImplementedError("TensorForestEstimator(%s=...) is not in Weft" % name)
        self._single = None
        made = _model_fn(params.fill(), graph_builder_class, device_assigner, weight_column, keys_column, early_stopping_rounds,
                         early_stopping_loss_threshold, num_trainers, trainer_id, report_feature_importances, None, head)

        def model_fn(features, labels, mode):
            if isinstance(features, dict) and list(features) == [""]:
                features = features[""]
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            return made(features, labels, mode)
        super().__init__(model_fn, model_dir, config)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """Returns the probabilities of the classes for each example.

        Args:
          x: the features; or input_fn, a function that makes them.
          batch_size: how many are predicted at a time.
          as_iterable: one after the other, or all at once.
        """
        return self.predict(x, input_fn, batch_size, INFERENCE_PROB_NAME, as_iterable)


class CoreTensorForestEstimator(tf.estimator.Estimator):
    """A random forest as a tf.estimator.Estimator.

    Args:
      params: ForestHParams; they are filled here.
      head: the head that makes predictions, loss and metrics.
      feature_columns: the feature columns; without them the features are numbers.
      graph_builder_class: RandomForestGraphs, or TrainingLossForest for another loss.
      device_assigner: chooses the device of each tree.
      model_dir: the folder of the checkpoints.
      config: a RunConfig.
      weight_column: the name of the feature that is the weight of an example.
      keys_column: the name of the feature that is passed on.
      early_stopping_rounds, early_stopping_loss_threshold: as in TensorForestEstimator.
      num_trainers, trainer_id: how many programs grow the forest, and the number of this one.
      report_feature_importances: whether predictions have the share of splits of each feature.
      local_eval: False.
    """

    def __init__(self, params, head, feature_columns=None, graph_builder_class=RandomForestGraphs, device_assigner=None,
                 model_dir=None, config=None, weight_column=None, keys_column=None, early_stopping_rounds=100,
                 early_stopping_loss_threshold=0.001, num_trainers=1, trainer_id=0, report_feature_importances=False,
                 local_eval=False):
        if local_eval or report_feature_importances:
            raise NotImplementedError("CoreTensorForestEstimator(%s=...) is not in Weft" % (
                "local_eval" if local_eval else "report_feature_importances"))
        made = _model_fn(params.fill(), graph_builder_class, device_assigner, weight_column, keys_column, early_stopping_rounds,
                         early_stopping_loss_threshold, num_trainers, trainer_id, False, None, head)

        def model_fn(features, labels, mode):
            if feature_columns is not None:
                kept = {k: features[k] for k in (weight_column, keys_column) if k is not None}
                features = {**kept, "features": tf.feature_column.input_layer(features, feature_columns)}
            return made(features, labels, mode)
        super().__init__(model_fn, model_dir, config)


# ---- metrics ----

def _top_k_generator(k):
    def _top_k(probabilities, targets):
        targets = tf.cast(tf.reshape(targets, [-1]), tf.int32)
        return tf.metrics.mean(tf.nn.in_top_k(probabilities, targets, k))
    return _top_k


def _accuracy(predictions, targets, weights=None):
    return tf.metrics.accuracy(tf.reshape(targets, [-1]), predictions, weights)


def _r2(probabilities, targets, weights=None):
    targets = tf.cast(tf.reshape(targets, tf.shape(probabilities)), tf.float32)
    mean, update_mean = tf.metrics.mean(targets, weights)
    square, update_square = tf.metrics.mean(tf.square(targets), weights)
    error, update_error = tf.metrics.mean(tf.square(targets - probabilities), weights)
    return 1 - error / (square - tf.square(mean)), 1 - update_error / (update_square - tf.square(update_mean))


def _log_loss(probabilities, targets, weights=None):
    truth = tf.one_hot(tf.cast(tf.reshape(targets, [-1]), tf.int32), probabilities.shape[1])
    return tf.metrics.mean(-tf.reduce_sum(truth * tf.log(probabilities + 1e-15), 1), weights)


_METRICS = {
    "auc": (lambda probabilities, targets, weights=None: tf.metrics.auc(
        tf.one_hot(tf.cast(tf.reshape(targets, [-1]), tf.int32), probabilities.shape[1]), probabilities, weights),
        INFERENCE_PROB_NAME),
    "accuracy": (_accuracy, INFERENCE_PRED_NAME), "top_2": (_top_k_generator(2), INFERENCE_PROB_NAME),
    "top_3": (_top_k_generator(3), INFERENCE_PROB_NAME), "r2": (_r2, PredictionKey.SCORES),
    "multinomial_log_loss": (_log_loss, INFERENCE_PROB_NAME),
}


def _metric(name):
    if name not in _METRICS:
        raise ValueError("tensor_forest: no metric %r: there are %s" % (name, ", ".join(sorted(_METRICS))))
    return _METRICS[name]


def get_metric(metric_name):
    """Returns the function (predictions, labels) of a metric, which gives its value and its update op.

    Args:
      metric_name: "auc", "accuracy", "top_2", "top_3", "r2" or "multinomial_log_loss".
    """
    return _metric(metric_name)[0]


def get_prediction_key(metric_name):
    """Returns the key of the predictions that a metric takes.

    Args:
      metric_name: as in get_metric.
    """
    return _metric(metric_name)[1]
