"""ARRegressor: an Estimator around ARModel."""
import weft as tf
from weft._core.contrib.timeseries.ar_model import ARModel
from weft._core.contrib.timeseries.keys import PredictionFeatures, TrainEvalFeatures

_STATE = "model_state_%02d"  # the names of the parts of the state in a saved model
_LEAST = 1e-12  # the least variance that values are divided by


class _Statistics:
    """The mean and the variance of all values in training so far, in variables, for each variable of the series."""

    def __init__(self, features):
        with tf.variable_scope("input_statistics"):
            self._count, self.mean, self._squares = (
                tf.get_variable(name, shape, tf.float32, tf.zeros_initializer(), trainable=False)
                for name, shape in (("count", []), ("mean", [features]), ("squares", [features])))
        self._known = self._count.value(), self.mean.value(), self._squares.value()

    def update(self, values):
        """Counts more values; what is read afterwards includes them."""
        count, mean, squares = self._known
        more = tf.cast(tf.shape(values)[0] * tf.shape(values)[1], tf.float32)
        center, variance = tf.nn.moments(values, [0, 1])
        total = count + more
        apart = center - mean
        parts = [tf.assign(self._count, total), tf.assign(self.mean, mean + apart * more / total),
                 tf.assign(self._squares, squares + variance * more + tf.square(apart) * count * more / total)]
        self._known = tuple(tf.identity(part) for part in parts)

    def _scale(self):
        count, _, squares = self._known
        variance = squares / tf.maximum(count, 1.0)
        return tf.where(variance > _LEAST, tf.sqrt(variance), tf.ones_like(variance))

    def normal(self, values):
        return (values - self._known[1]) / self._scale()

    def original(self, mean, variance):
        return mean * self._scale() + self._known[1], tf.matrix_diag(variance * tf.square(self._scale()))


def _model_fn(model, optimizer):
    def model_fn(features, labels, mode):
        statistics = _Statistics(model.features)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return _predicted(model, statistics, features)
        times = tf.cast(features[TrainEvalFeatures.TIMES], tf.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], tf.float32)
        values.shape.assert_is_compatible_with([None, None, model.features])
        if mode == tf.estimator.ModeKeys.TRAIN:
            return _trained(model, optimizer, statistics, times, values)
        return _evaluated(model, statistics, times, values)
    return model_fn


def _trained(model, optimizer, statistics, times, values):
    if times.shape.as_list()[1] not in (None, model.window_size):
        raise ValueError("the windows of training have %s records, and the model takes input_window_size + output_window_size = %d: "
                         "give this number as window_size" % (times.shape.as_list()[1], model.window_size))
    statistics.update(values)
    scaled = statistics.normal(values)
    mean, variance = model.predict_window(times, scaled[:, :model.inputs])
    loss = model.loss_of(scaled[:, model.inputs:], mean, variance)
    train = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.TRAIN, loss=loss, train_op=train)


def _evaluated(model, statistics, times, values):
    at, mean, variance, seen = model.predict_series(times, statistics.normal(values))
    mean_seen, covariance = statistics.original(mean, variance)
    observed, _ = statistics.original(seen, variance)
    squares = model.loss == ARModel.SQUARED_LOSS  # This loss is told in the units of the values.
    loss = model.loss_of(observed, mean_seen, variance) if squares else model.loss_of(seen, mean, variance)
    results = {"mean": mean_seen, "covariance": covariance, "observed": observed, "times": at,
               "start_tuple": model.state(times, values)}
    return tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.EVAL, results, loss, eval_metric_ops=_kept(results))


def _kept(results):
    """Returns metrics whose values are those of the last batch."""
    made = {}
    for name, value in results.items():
        parts = value if isinstance(value, tuple) else (value,)
        kept = [tf.get_local_variable("%s_%d" % (name, i), initializer=tf.zeros([0], part.dtype), validate_shape=False)
                for i, part in enumerate(parts)]
        updates = [tf.assign(k, part, validate_shape=False) for k, part in zip(kept, parts)]
        made[name] = (tuple(kept) if isinstance(value, tuple) else kept[0].value()), tf.group(*updates)
    return made


def _predicted(model, statistics, features):
    times = tf.cast(features[PredictionFeatures.TIMES], tf.int64)
    if PredictionFeatures.STATE_TUPLE in features:
        state = features[PredictionFeatures.STATE_TUPLE]
    else:
        state = tuple(features[_STATE % i] for i in range(2))
    state = tf.cast(state[0], tf.int64), statistics.normal(tf.cast(state[1], tf.float32))
    mean, covariance = statistics.original(*model.continue_series(times, state))
    results = {"mean": mean, "covariance": covariance, "times": times}
    output = tf.estimator.export.PredictOutput(results)
    return tf.estimator.EstimatorSpec(tf.estimator.ModeKeys.PREDICT, results, export_outputs={"predict": output, "serving_default": output})


class TimeSeriesRegressor(tf.estimator.Estimator):
    """The base of estimators of time series.

    Args:
      model: an ARModel.
      optimizer: an optimizer; by default Adagrad with the rate 0.1.
      model_dir: the folder for checkpoints.
      config: a RunConfig.
    """

    def __init__(self, model, optimizer=None, model_dir=None, config=None):
        self._model = model
        super().__init__(_model_fn(model, optimizer or tf.train.AdagradOptimizer(0.1)), model_dir, config)

    def build_raw_serving_input_receiver_fn(self, default_batch_size=None, default_series_length=None):
        """Returns the function that export_saved_model needs: it makes placeholders for times and for the state.

        Args:
          default_batch_size: the number of series, if it is fixed.
          default_series_length: the number of times, if it is fixed.
        """
        model = self._model

        def receiver_fn():
            rows = [default_batch_size]
            made = {PredictionFeatures.TIMES: tf.placeholder(tf.int64, rows + [default_series_length], "times"),
                    _STATE % 0: tf.placeholder(tf.int64, rows + [model.inputs], _STATE % 0),
                    _STATE % 1: tf.placeholder(tf.float32, rows + [model.inputs, model.features], _STATE % 1)}
            return tf.estimator.export.ServingInputReceiver(made, made)
        return receiver_fn


class ARRegressor(TimeSeriesRegressor):
    """An autoregressive model of a time series: trains on windows, evaluates on a whole series and continues it.

    Args:
      periodicities: the length of each period of the series, a number or a list.
      input_window_size: how many values a prediction is made from.
      output_window_size: how many values are predicted at a time.
      num_features: the number of variables of the series.
      exogenous_feature_columns: must be None: other features are not used.
      num_time_buckets: into how many parts each period is cut.
      loss: ARModel.SQUARED_LOSS or ARModel.NORMAL_LIKELIHOOD_LOSS.
      hidden_layer_sizes: the sizes of layers between the inputs and the prediction.
      anomaly_prior_probability: must be None: anomalies are not modeled.
      anomaly_distribution: must be None: anomalies are not modeled.
      optimizer: an optimizer; by default Adagrad with the rate 0.1.
      model_dir: the folder for checkpoints.
      config: a RunConfig.
    """

    def __init__(self, periodicities, input_window_size, output_window_size, num_features, exogenous_feature_columns=None,
                 num_time_buckets=10, loss=ARModel.NORMAL_LIKELIHOOD_LOSS, hidden_layer_sizes=None, anomaly_prior_probability=None,
                 anomaly_distribution=None, optimizer=None, model_dir=None, config=None):
        for name, value in (("exogenous_feature_columns", exogenous_feature_columns),
                            ("anomaly_prior_probability", anomaly_prior_probability), ("anomaly_distribution", anomaly_distribution)):
            if value is not None:
                raise NotImplementedError("ARRegressor: %s is not in Weft: leave it out" % name)
        model = ARModel(periodicities, input_window_size, output_window_size, num_features, num_time_buckets, loss, hidden_layer_sizes)
        super().__init__(model, optimizer, model_dir, config)
