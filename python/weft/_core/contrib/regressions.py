"""tf.contrib.learn.models: linear and logistic regression as functions of features and labels."""
import weft as tf


def _variables(shape, dtype, init_mean, init_stddev):
    """Returns the weights and the bias; without a mean they have the initializer of the variable scope."""
    initializer = None if init_mean is None else tf.random_normal_initializer(init_mean, init_stddev, dtype=dtype)
    return (tf.get_variable("weights", shape, dtype, initializer), tf.get_variable("bias", shape[1:], dtype, initializer))


def _summarized(scope, **values):
    for name, value in values.items():
        tf.summary.histogram("%s.%s" % (scope, name), value)


def linear_regression(x, y, init_mean=None, init_stddev=1.0):
    """Returns the predictions of a linear model, and their mean squared error.

    Args:
      x: features, [batch, features].
      y: numbers to predict, [batch] or [batch, outputs].
      init_mean: the mean of the initial weights; None means the initializer of the variable scope.
      init_stddev: the standard deviation of the initial weights, if init_mean is given.
    """
    with tf.variable_scope("linear_regression") as scope:
        _summarized(scope.name, x=x, y=y)
        outputs = 1 if y.shape.ndims == 1 else int(y.shape[1])
        weights, bias = _variables([int(x.shape[1]), outputs], x.dtype.base_dtype, init_mean, init_stddev)
        _summarized(scope.name, weights=weights, bias=bias)
        with tf.name_scope("mean_squared_error_regressor"):
            predictions = tf.nn.xw_plus_b(x, weights, bias)
            if y.shape.ndims == 1:
                predictions = tf.squeeze(predictions, axis=[1])
            return predictions, tf.losses.mean_squared_error(y, predictions)


def linear_regression_zero_init(x, y):
    """Returns the predictions of a linear model whose weights start at zero, and their mean squared error.

    Args:
      x: features, [batch, features].
      y: numbers to predict, [batch] or [batch, outputs].
    """
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def _class_weight():
    """Returns the tensor that a program has named class_weight, or None."""
    try:
        return tf.get_default_graph().get_tensor_by_name("class_weight:0")
    except KeyError:
        return None


def logistic_regression(x, y, class_weight=None, init_mean=None, init_stddev=1.0):
    """Returns the probabilities of classes by a linear model, and the cross entropy.

    Args:
      x: features, [batch, features].
      y: one-hot labels, [batch, classes].
      class_weight: factors of the logits, [classes]; None means the tensor named class_weight, if there is one.
      init_mean: the mean of the initial weights; None means the initializer of the variable scope.
      init_stddev: the standard deviation of the initial weights, if init_mean is given.
    """
    with tf.variable_scope("logistic_regression") as scope:
        _summarized(scope.name, x=x, y=y)
        weights, bias = _variables([int(x.shape[1]), int(y.shape[-1])], x.dtype.base_dtype, init_mean, init_stddev)
        _summarized(scope.name, weights=weights, bias=bias)
        class_weight = _class_weight() if class_weight is None else class_weight
        with tf.name_scope("softmax_classifier"):
            logits = tf.nn.xw_plus_b(x, weights, bias)
            if class_weight is not None:
                logits = tf.multiply(logits, class_weight)
            return tf.nn.softmax(logits), tf.losses.softmax_cross_entropy(y, logits)


def logistic_regression_zero_init(x, y):
    """Returns the probabilities of classes by a linear model whose weights start at zero, and the cross entropy.

    Args:
      x: features, [batch, features].
      y: one-hot labels, [batch, classes].
    """
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)
