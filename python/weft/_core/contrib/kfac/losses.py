"""Predictive distributions of tf.contrib.kfac: their samples, log densities and the factors of their Fisher matrices."""
import weft as tf


class _Loss:
    """A distribution that the outputs of a network parametrize, with the targets if they are known."""

    def __init__(self, outputs, seed, targets):
        self.outputs, self.seed, self.targets = tf.convert_to_tensor(outputs), seed, targets
        self.columns = self.outputs.shape[-1].value if self.outputs.shape.ndims > 1 else 1
        if self.columns is None:
            raise ValueError("kfac: the last dimension of the outputs must be known, the shape is %s" % self.outputs.shape)

    def evaluate(self):
        """Returns the negative log likelihood of the targets, summed over the batch."""
        if self.targets is None:
            raise ValueError("kfac: this loss was registered without targets, which are needed here")
        return self._negative_log_prob(self.targets)

    def evaluate_on_sample(self):
        """Returns the negative log likelihood of targets that are drawn from the distribution."""
        return self._negative_log_prob(tf.stop_gradient(self._sample()))

    def _linear(self, direction):
        """Returns a loss whose gradient with respect to the outputs is a direction."""
        return tf.reduce_sum(self.outputs * tf.stop_gradient(direction))

    def columns_of_factor(self):
        """Losses whose gradients are the columns of a factor B of the Fisher matrix B B'."""
        return [self._linear(self._factor_times(tf.one_hot(i, self.columns) * tf.ones_like(self.outputs)))
                for i in range(self.columns)]

    def random_column(self):
        """Returns a loss whose gradient is the factor times random signs."""
        signs = 2.0 * tf.cast(tf.random_uniform(tf.shape(self.outputs), seed=self.seed) < 0.5, self.outputs.dtype) - 1
        return self._linear(self._factor_times(signs))


class CategoricalLogitsLoss(_Loss):
    def _negative_log_prob(self, targets):
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=targets, logits=self.outputs))

    def _sample(self):
        flat = tf.reshape(self.outputs, [-1, self.columns])
        return tf.reshape(tf.multinomial(flat, 1, seed=self.seed), tf.shape(self.outputs)[:-1])

    def _factor_times(self, v):
        p = tf.nn.softmax(self.outputs)
        root = tf.sqrt(p)
        return root * v - p * tf.reduce_sum(root * v, -1, keepdims=True)


class NormalMeanLoss(_Loss):
    def __init__(self, outputs, var, seed, targets):
        super().__init__(outputs, seed, targets)
        self.var = var

    def _negative_log_prob(self, targets):
        return tf.reduce_sum(tf.square(self.outputs - tf.cast(targets, self.outputs.dtype))) / (2 * self.var)

    def _sample(self):
        return self.outputs + tf.sqrt(tf.cast(self.var, self.outputs.dtype)) * tf.random_normal(
            tf.shape(self.outputs), dtype=self.outputs.dtype, seed=self.seed)

    def _factor_times(self, v):
        return v / tf.sqrt(tf.cast(self.var, self.outputs.dtype))


class MultiBernoulliLoss(_Loss):
    def _negative_log_prob(self, targets):
        return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.cast(targets, self.outputs.dtype), logits=self.outputs))

    def _sample(self):
        return tf.random_uniform(tf.shape(self.outputs), seed=self.seed) < tf.nn.sigmoid(self.outputs)

    def _factor_times(self, v):
        p = tf.nn.sigmoid(self.outputs)
        return tf.sqrt(p * (1 - p)) * v
