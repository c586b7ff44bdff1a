"""What the recipes of tf.contrib.timeseries need."""
import types


class SeriesUses:
    """The ways to use readers and models of time series, for one system."""

    def series(self, count=12):
        """A reader."""
        at = list(range(count))
        return self.tf.contrib.timeseries.NumpyReader({"times": at, "values": [t * 0.5 for t in at]})

    def window(self, model):
        """The mean that a model predicts, and its loss."""
        tf = self.tf
        times = tf.range(2 * model.window_size, dtype=tf.int64)
        mean, variance = model.predict_window(tf.reshape(times, [2, model.window_size]), tf.ones([2, model.inputs, model.features]))
        return [mean, model.loss_of(tf.ones_like(mean), mean, variance)]

    def series_trained(self, estimator):
        """The loss that an estimator trains with."""
        tf, model = self.tf, estimator._model
        tf.train.get_or_create_global_step()
        times = tf.reshape(tf.range(model.window_size, dtype=tf.int64), [1, model.window_size])
        values = tf.ones([1, model.window_size, model.features]) * tf.to_float(times)[:, :, None]
        spec = estimator._call_model_fn({"times": times, "values": values}, None, tf.estimator.ModeKeys.TRAIN)
        return [spec.loss, estimator.model_dir.rpartition("/")[2], estimator.config.tf_random_seed]

    def evaluated(self, last=4):
        """What an estimator of series evaluates."""
        return {"times": [[last - 1, last]], "start_tuple": ([[last - 1, last]], [[[0.5], [1.0]]])}

    def continued(self, factor=2):
        """The signatures of a model that multiplies times."""
        tf = self.tf
        times = tf.placeholder(tf.int64, [None, None])
        state = tf.placeholder(tf.int64, [None, 2]), tf.placeholder(tf.float32, [None, 2, 1])
        mean = tf.to_float(times) * factor + state[1][:, 0]
        inputs = {"times": times, "model_state_00": state[0], "model_state_01": state[1]}
        made = tf.saved_model.signature_def_utils.predict_signature_def(inputs, {"mean": mean, "times": times})
        return types.SimpleNamespace(signature_def={"predict": made})
