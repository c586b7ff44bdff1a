"""Ready-made estimators over feature columns: linear models, networks of dense layers, and both together.

A head computes predictions, loss and metrics from logits, for binary or multi-class classification or for regression.
"""
import inspect
import math

from weft._core.estimator import linear_sdca
from weft._core.estimator.estimator import Estimator
from weft._core.estimator.export import ClassificationOutput, PredictOutput, RegressionOutput
from weft._core.estimator.spec import EstimatorSpec, ModeKeys
from weft._core.files import summary
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import GraphKeys, Tensor, control_dependencies, get_collection, name_scope
from weft._core.nn import feature_column as fc, losses, metrics, nn
from weft._core.nn.layers import batch_normalization, dense, dropout as drop
from weft._core.ops import array_ops, check_ops, init_ops, io_ops, lookup
from weft._core.ops.control_flow import group
from weft._core.ops.math_ops import argmax, cast, maximum, multiply, range as span, sigmoid, to_float
from weft._core.ops.variable_scope import get_variable, min_max_variable_partitioner, variable_scope
from weft._core.train.optimizer import AdagradOptimizer, AdamOptimizer, FtrlOptimizer, GradientDescentOptimizer, Optimizer, RMSPropOptimizer
from weft._core.train.training_util import get_global_step

_DEFAULT = "serving_default"
_KINDS = {"Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
          "RMSProp": RMSPropOptimizer, "SGD": GradientDescentOptimizer}


def _optimizer(given, rate):
    if isinstance(given, str):
        if given not in _KINDS:
            raise ValueError("Unsupported optimizer name: %s. Supported names are: %s" % (given, sorted(_KINDS)))
        return _KINDS[given](learning_rate=rate)
    if callable(given) and not isinstance(given, Optimizer):
        given = given()
    if not isinstance(given, Optimizer):
        raise ValueError("The given object is not an Optimizer instance. Given: %s" % (given,))
    return given


# ---- heads ----

class _Head:
    """The base of heads.

    weight_column names a feature with the weights of examples; reduction says how losses are combined.
    """

    def __init__(self, weight_column, reduction):
        if reduction not in losses.Reduction.all() or reduction == losses.Reduction.NONE:
            raise ValueError("Invalid loss_reduction: %s" % reduction)
        self._weight, self._reduction = weight_column, reduction

    def weights(self, features):
        if self._weight is None:
            return convert_to_tensor(1.0)
        column = fc.numeric_column(self._weight) if isinstance(self._weight, str) else self._weight
        return column.numbers(features)

    def spec(self, features, mode, logits, labels, train_op_fn):
        with name_scope("head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self.outputs(predictions))
            if labels is None:
                raise ValueError("You must provide a labels Tensor. Given: None.")
            labels, weights = self.labels(labels), self.weights(features)
            each = self.losses(labels, logits)
            loss = losses.compute_weighted_loss(each, weights, reduction=self._reduction)
            penalties = get_collection(GraphKeys.REGULARIZATION_LOSSES)
            if penalties:
                loss = loss + sum(penalties[1:], penalties[0])
            if mode == ModeKeys.TRAIN:
                return EstimatorSpec(mode, predictions, loss, train_op_fn(loss))
        return EstimatorSpec(mode, predictions, loss, eval_metric_ops=self.metrics(labels, predictions, each, weights))


def _column(labels, wanted=1):
    """Returns labels with a last dimension of a known size."""
    labels = convert_to_tensor(labels)
    labels = array_ops.expand_dims(labels, -1) if labels.shape.ndims == 1 else labels
    have = labels.shape.as_list()[-1] if labels.shape.ndims else None
    if have not in (None, wanted):
        raise ValueError("Mismatched label shape. Expected labels dimension=%d. Received %d. Check the argument n_classes or "
                         "label_dimension of the estimator and the shape of the labels." % (wanted, have))
    return labels


def _in_range(labels, n_classes):
    """Returns the labels with a check that each of them is a class."""
    with name_scope("assert_range"):
        most = convert_to_tensor(n_classes - 1, labels.dtype)
        checks = [check_ops.assert_less_equal(labels, most, message="Labels must be <= n_classes - 1"),
                  check_ops.assert_non_negative(labels, message="Labels must be >= 0")]
        with control_dependencies(checks):
            return array_ops.identity(labels)


class _ClassHead(_Head):
    def __init__(self, n_classes, weight_column, vocabulary, reduction):
        super().__init__(weight_column, reduction)
        self._n, self._words = n_classes, list(vocabulary) if vocabulary else None
        if self._words and len(self._words) != n_classes:
            raise ValueError("Length of label_vocabulary must be n_classes. Given: %d != %d" % (len(self._words), n_classes))

    def ids(self, labels):
        """Returns labels as numbers; words become their index in the vocabulary."""
        labels = _column(labels)
        if self._words is None:
            if labels.dtype.base_dtype == dtypes.string:
                raise ValueError("Labels dtype should be integer. Instead got string. Specify label_vocabulary to use string "
                                 "labels.")
            return labels
        return lookup.index_table_from_tensor(self._words, name="class_id_lookup").lookup(labels)

    def class_names(self):
        return convert_to_tensor(self._words or [str(i) for i in range(self._n)], dtypes.string)

    def all_classes(self, logits, made):
        """Adds the numbers and the names of all classes, for each example."""
        rows = array_ops.shape(logits)[0]
        made["all_class_ids"] = array_ops.tile(array_ops.expand_dims(span(self._n), 0), [rows, 1])
        names = convert_to_tensor(self._words, dtypes.string) if self._words else io_ops.as_string(span(self._n))
        made["all_classes"] = array_ops.tile(array_ops.expand_dims(names, 0), [array_ops.shape(logits)[0], 1])

    def names_of(self, ids):
        """Returns the names of classes."""
        if self._words is None:
            return io_ops.as_string(ids, name="str_classes")
        return lookup.index_to_string_table_from_tensor(self._words, name="class_string_lookup").lookup(ids)

    def outputs(self, predictions):
        scores = predictions["probabilities"]
        names = array_ops.tile(array_ops.expand_dims(self.class_names(), 0), [array_ops.shape(scores)[0], 1])
        classified = ClassificationOutput(scores, names)
        return {_DEFAULT: classified, "classification": classified, "predict": PredictOutput(predictions)}


class _BinaryHead(_ClassHead):
    logits = 1

    def labels(self, labels):
        return _in_range(to_float(self.ids(labels)), 2)

    def predictions(self, logits):
        with name_scope("predictions"):
            made = {"logits": logits, "logistic": sigmoid(logits, name="logistic")}
            both = array_ops.concat([array_ops.zeros_like(logits), logits], -1, name="two_class_logits")
            made["probabilities"] = nn.softmax(both, name="probabilities")
            made["class_ids"] = ids = array_ops.expand_dims(argmax(both, -1, name="class_ids"), -1)
            self.all_classes(logits, made)
            made["classes"] = self.names_of(ids)
            return made

    def losses(self, labels, logits):
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def metrics(self, labels, predictions, each, weights):
        with name_scope("metrics"):
            chances, ids = predictions["logistic"], cast(predictions["class_ids"], dtypes.float32)
            w = weights * array_ops.ones_like(labels)
            mean, update = metrics.mean(labels, w, name="label/mean")
            with name_scope("accuracy_baseline"):
                baseline = maximum(1 - mean, mean, name="value"), maximum(1 - update, update, name="update_op")
            return {"accuracy": metrics.accuracy(labels, ids, w, name="accuracy"),
                    "precision": metrics.precision(labels, ids, w, name="precision"),
                    "recall": metrics.recall(labels, ids, w, name="recall"),
                    "average_loss": metrics.mean(each, w, name="average_loss"), "label/mean": (mean, update),
                    "prediction/mean": metrics.mean(chances, w, name="prediction/mean"), "accuracy_baseline": baseline,
                    "auc": metrics.auc(labels, chances, w, name="auc"),
                    "auc_precision_recall": metrics.auc(labels, chances, w, curve="PR", name="auc_precision_recall")}

    def outputs(self, predictions):
        return {**super().outputs(predictions), "regression": RegressionOutput(predictions["logistic"])}


class _MultiHead(_ClassHead):
    logits = property(lambda self: self._n)

    def labels(self, labels):
        ids = self.ids(labels)
        if not ids.dtype.is_integer:
            raise ValueError("Labels dtype should be integer. Instead got %s." % ids.dtype)
        return _in_range(cast(ids, dtypes.int64), self._n)

    def predictions(self, logits):
        with name_scope("predictions"):
            made = {"logits": logits}
            self.all_classes(logits, made)
            made["class_ids"] = ids = array_ops.expand_dims(argmax(logits, -1, name="class_ids"), -1)
            made["classes"] = self.names_of(ids)
            made["probabilities"] = nn.softmax(logits, name="probabilities")
            return made

    def losses(self, labels, logits):
        each = nn.sparse_softmax_cross_entropy_with_logits(labels=array_ops.squeeze(labels, [-1]), logits=logits)
        return array_ops.expand_dims(each, -1)

    def metrics(self, labels, predictions, each, weights):
        with name_scope("metrics"):
            w = weights * array_ops.ones_like(each)
            return {"average_loss": metrics.mean(each, w, name="average_loss"),
                    "accuracy": metrics.accuracy(labels, predictions["class_ids"], w, name="accuracy")}


class _RegressionHead(_Head):
    def __init__(self, dimension, weight_column, reduction):
        super().__init__(weight_column, reduction)
        self.logits = dimension

    def labels(self, labels):
        return to_float(_column(labels, self.logits))

    def predictions(self, logits):
        return {"predictions": logits}

    def losses(self, labels, logits):
        return (logits - labels) * (logits - labels)

    def outputs(self, predictions):
        made = RegressionOutput(predictions["predictions"])
        return {_DEFAULT: made, "regression": made, "predict": PredictOutput(predictions)}

    def metrics(self, labels, predictions, each, weights):
        w = weights * array_ops.ones_like(each)
        return {"average_loss": metrics.mean(each, w), "label/mean": metrics.mean(labels, w),
                "prediction/mean": metrics.mean(predictions["predictions"], w, name="prediction/mean")}


def _class_head(n_classes, weight_column, vocabulary, reduction):
    if n_classes < 2:
        raise ValueError("n_classes must be at least 2: %s." % n_classes)
    return (_BinaryHead if n_classes == 2 else _MultiHead)(n_classes, weight_column, vocabulary, reduction)


# ---- bodies (networks without heads) ----

def _watch(value, tag):
    summary.scalar("%s/fraction_of_zero_values" % tag, nn.zero_fraction(value))
    summary.histogram("%s/activation" % tag, value)


def _pieces(config, given=None, smallest=256 << 10):
    """Returns a partitioner that divides large variables among the ps tasks; without ps tasks a variable is a list of
    one piece.
    """
    if given is not None:
        return given
    return min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0, min_slice_size=smallest)


class _Network:
    """A network of dense layers on columns."""

    def __init__(self, units, columns, optimizer, activation, rate, normalize, partitioner=None, speed=0.05):
        self.speed = speed  # the learning rate of an optimizer that is given by name
        self.units, self.columns, self.optimizer, self.activation = list(units), list(columns), optimizer, activation
        self.rate, self.normalize, self.partitioner = rate, normalize, partitioner

    def scope(self, config):
        return variable_scope("dnn", partitioner=_pieces(config))

    def logits(self, features, mode, units, config):
        """Returns the logits, inside the variable scope of the body."""
        training = mode == ModeKeys.TRAIN
        with variable_scope("input_from_feature_columns", partitioner=_pieces(config, self.partitioner, 64 << 20)):
            net = fc.input_layer(features, self.columns)
        for i, n in enumerate(self.units):
            with variable_scope("hiddenlayer_%d" % i) as scope:
                net = dense(net, n, activation=self.activation, kernel_initializer=init_ops.GlorotUniform(), name=scope)
                if self.rate is not None and training:
                    net = drop(net, rate=self.rate, training=True)
                if self.normalize:
                    net = batch_normalization(net, momentum=0.999, training=training, trainable=True, name="batchnorm_%d" % i)
            _watch(net, scope.name)
        with variable_scope("logits") as scope:
            made = dense(net, units, kernel_initializer=init_ops.GlorotUniform(), name=scope)
        _watch(made, scope.name)
        return made

    def minimize(self, loss, step, variables=None):
        return _optimizer(self.optimizer, self.speed).minimize(loss, step, variables)


class _Linear:
    """A linear model: the weighted sum of columns."""

    def __init__(self, columns, optimizer, combiner, partitioner=None, speed=0.2):
        self.speed = speed
        self.columns, self.optimizer, self.combiner, self.partitioner = list(columns), optimizer, combiner, partitioner

    def scope(self, config):
        return variable_scope("linear", partitioner=_pieces(config, self.partitioner, 64 << 20))

    def logits(self, features, mode, units, config):
        """Returns the logits, inside the variable scope of the body."""
        self.variables = {}
        made = fc.linear_logits(features, self.columns, units, self.combiner, self.variables)
        summary.scalar("fraction_of_zero_weights", nn.zero_fraction(made))
        return made

    def minimize(self, loss, step, variables=None):
        return _optimizer(self.optimizer, min(self.speed, 1 / math.sqrt(len(self.columns)))).minimize(loss, step, variables)


class _Baseline:
    """One bias per logit, independent of the features."""

    speed = 0.3

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def scope(self, config):
        return variable_scope("baseline")

    def logits(self, features, mode, units, config):
        """Returns the logits, inside the variable scope of the body."""
        first = convert_to_tensor(features[sorted(features)[0]])
        with name_scope(None):
            rows = array_ops.shape(first)[0]
        bias = get_variable("bias", [units], initializer=init_ops.Zeros())
        return multiply(bias, array_ops.ones([rows, units]))

    def minimize(self, loss, step, variables=None):
        return _optimizer(self.optimizer, self.speed).minimize(loss, step, variables)


def _model(head, bodies, count_each=False):
    """Returns a model_fn. With count_each, the training of each of two bodies counts as a step, as in contrib's models.
    """
    def model_fn(features, labels, mode, config):
        if not isinstance(features, dict):
            raise ValueError("features should be a dictionary of `Tensor`s. Given type: %s" % type(features))
        if list(bodies) == ["baseline"]:
            with bodies["baseline"].scope(config):
                logits = bodies["baseline"].logits(features, mode, head.logits, config)
            return head.spec(features, mode, logits, labels, lambda loss: _train_one(bodies["baseline"], loss))
        if len(bodies) == 1:  # The head, its training and the optimizer's variables are in the scope of the body.
            body, = bodies.values()
            if isinstance(body.optimizer, linear_sdca.LinearSDCA):
                return _ascend(head, body, features, labels, mode, config)
            with body.scope(config):
                return head.spec(features, mode, body.logits(features, mode, head.logits, config), labels,
                                 lambda loss: _train_one(body, loss))
        logits = []
        for body in bodies.values():
            with body.scope(config):
                logits.append(body.logits(features, mode, head.logits, config))

        def train_op(loss):
            step = get_global_step()
            with _after(get_collection(GraphKeys.UPDATE_OPS)):
                parts = [b.minimize(loss, None, get_collection(GraphKeys.TRAINABLE_VARIABLES, scope))
                         for scope, b in bodies.items()]
            with _after(parts):
                return step.assign_add(len(parts) if count_each else 1).op
        return head.spec(features, mode, logits[0] + logits[1], labels, train_op)
    return model_fn


def _ascend(head, body, features, labels, mode, config):
    """Returns what a linear model that LinearSDCA trains computes."""
    if not isinstance(body, _Linear):
        raise ValueError("LinearSDCA can only be used with LinearClassifier and LinearRegressor.")
    kind = linear_sdca.loss_type_of(head)
    if body.combiner != "sum":
        raise ValueError("sparse_combiner must be \"sum\" when optimizer is a LinearSDCA object.")
    with body.scope(config):
        logits, trained = body.logits(features, mode, head.logits, config), None
        if mode == ModeKeys.TRAIN:
            weights = None if head._weight is None else head.weights(features)
            trained = body.optimizer.train_op(features, body.variables, head.labels(labels), weights, kind, get_global_step())
        return head.spec(features, mode, logits, labels, lambda loss: trained)


def _train_one(body, loss):
    with _after(get_collection(GraphKeys.UPDATE_OPS)):
        return body.minimize(loss, get_global_step())


def _after(ops):
    return control_dependencies([group(*ops)] if ops else [])


_SUM = losses.Reduction.SUM


class _Canned(Estimator):
    """The base of ready-made estimators, whose arguments are those of the head and the bodies instead of a model_fn."""

    def _make(self, head, bodies, model_dir, config, warm_start_from, count_each=False):
        super().__init__(_model(head, bodies, count_each), model_dir, config, warm_start_from=warm_start_from)


def _network(hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm, partitioner):
    if not hidden_units or not feature_columns:
        raise ValueError("hidden_units and feature_columns must be given: %s, %s" % (hidden_units, feature_columns))
    return {"dnn": _Network(hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm, partitioner)}


class DNNClassifier(_Canned):
    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 optimizer="Adagrad", activation_fn=nn.relu, dropout=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=_SUM, batch_norm=False):
        self._make(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
                   _network(hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm, input_layer_partitioner),
                   model_dir, config, warm_start_from)


class DNNRegressor(_Canned):
    def __init__(self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
                 optimizer="Adagrad", activation_fn=nn.relu, dropout=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=_SUM, batch_norm=False):
        self._make(_RegressionHead(label_dimension, weight_column, loss_reduction),
                   _network(hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm, input_layer_partitioner),
                   model_dir, config, warm_start_from)


class LinearClassifier(_Canned):
    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 optimizer="Ftrl", config=None, partitioner=None, warm_start_from=None, loss_reduction=_SUM,
                 sparse_combiner="sum"):
        self._make(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
                   {"linear": _Linear(feature_columns, optimizer, sparse_combiner, partitioner)}, model_dir, config, warm_start_from)


class LinearRegressor(_Canned):
    def __init__(self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
                 partitioner=None, warm_start_from=None, loss_reduction=_SUM, sparse_combiner="sum"):
        self._make(_RegressionHead(label_dimension, weight_column, loss_reduction),
                   {"linear": _Linear(feature_columns, optimizer, sparse_combiner, partitioner)}, model_dir, config, warm_start_from)


def _both(linear_columns, linear_optimizer, combiner, dnn_columns, dnn_optimizer, units, activation, rate, normalize, partitioner):
    if not linear_columns and not dnn_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    made = {}
    if dnn_columns:
        made.update(_network(units, dnn_columns, dnn_optimizer, activation, rate, normalize, partitioner))
        made["dnn"].speed = 0.001  # Together, the two learn with smaller steps.
    if linear_columns:
        made["linear"] = _Linear(linear_columns, linear_optimizer, combiner, speed=0.005)
    return made


class DNNLinearCombinedClassifier(_Canned):
    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=nn.relu, dnn_dropout=None, n_classes=2,
                 weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None, warm_start_from=None,
                 loss_reduction=_SUM, batch_norm=False, linear_sparse_combiner="sum"):
        self._make(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
                   _both(linear_feature_columns, linear_optimizer, linear_sparse_combiner, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm, input_layer_partitioner),
                   model_dir, config, warm_start_from)


class DNNLinearCombinedRegressor(_Canned):
    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=nn.relu, dnn_dropout=None, label_dimension=1,
                 weight_column=None, input_layer_partitioner=None, config=None, warm_start_from=None, loss_reduction=_SUM,
                 batch_norm=False, linear_sparse_combiner="sum"):
        self._make(_RegressionHead(label_dimension, weight_column, loss_reduction),
                   _both(linear_feature_columns, linear_optimizer, linear_sparse_combiner, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm, input_layer_partitioner),
                   model_dir, config, warm_start_from)


class BaselineClassifier(_Canned):
    """Predicts how often each class occurs, without using the features."""

    def __init__(self, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl", config=None,
                 loss_reduction=_SUM):
        self._make(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction), {"baseline": _Baseline(optimizer)},
                   model_dir, config, None)


class BaselineRegressor(_Canned):
    """Predicts the mean of the labels, without using the features."""

    def __init__(self, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None, loss_reduction=_SUM):
        self._make(_RegressionHead(label_dimension, weight_column, loss_reduction), {"baseline": _Baseline(optimizer)},
                   model_dir, config, None)


# ---- estimators with a head from the program ----

class _Given:
    """Adapts a head of the program to the interface that bodies use."""

    def __init__(self, head):
        self.head, self.logits = head, head.logits_dimension

    def spec(self, features, mode, logits, labels, train_op_fn):
        return self.head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn,
                                               regularization_losses=get_collection(GraphKeys.REGULARIZATION_LOSSES))


class DNNEstimator(_Canned):
    def __init__(self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=nn.relu, dropout=None,
                 input_layer_partitioner=None, config=None, warm_start_from=None, batch_norm=False):
        self._make(_Given(head), _network(hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm,
                                          input_layer_partitioner), model_dir, config, warm_start_from)


class LinearEstimator(_Canned):
    def __init__(self, head, feature_columns, model_dir=None, optimizer="Ftrl", config=None, partitioner=None, sparse_combiner="sum",
                 warm_start_from=None):
        self._make(_Given(head), {"linear": _Linear(feature_columns, optimizer, sparse_combiner, partitioner)}, model_dir, config,
                   warm_start_from)


class DNNLinearCombinedEstimator(_Canned):
    def __init__(self, head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=nn.relu, dnn_dropout=None,
                 input_layer_partitioner=None, config=None, batch_norm=False, linear_sparse_combiner="sum"):
        self._make(_Given(head), _both(linear_feature_columns, linear_optimizer, linear_sparse_combiner, dnn_feature_columns,
                                       dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, batch_norm,
                                       input_layer_partitioner), model_dir, config, None)


class BaselineEstimator(_Canned):
    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None):
        self._make(_Given(head), {"baseline": _Baseline(optimizer)}, model_dir, config, None)


# ---- parse specs ----

def _parse_spec(feature_columns, label_key, label, weight_column):
    made = fc.make_parse_example_spec(feature_columns)
    if label_key in made:
        raise ValueError("label should not be used as feature. label_key: %s, features: %s" % (label_key, made.keys()))
    made[label_key] = label
    if weight_column is not None:
        column = fc.numeric_column(weight_column) if isinstance(weight_column, str) else weight_column
        if not isinstance(column, fc.NumericColumn):
            raise TypeError("weight_column must be either a string or a numeric column. Given: %s" % (weight_column,))
        made.update(column._parse_example_spec)
    return made


def classifier_parse_example_spec(feature_columns, label_key, label_dtype=dtypes.int64, label_default=None, weight_column=None):
    """Returns the features dict that tf.parse_example needs to read the features and labels of a classifier."""
    return _parse_spec(feature_columns, label_key, io_ops.FixedLenFeature((1,), label_dtype, label_default), weight_column)


def regressor_parse_example_spec(feature_columns, label_key, label_dtype=dtypes.float32, label_default=None, label_dimension=1,
                                 weight_column=None):
    """Returns the features dict that tf.parse_example needs to read the features and labels of a regression."""
    return _parse_spec(feature_columns, label_key, io_ops.FixedLenFeature((label_dimension,), label_dtype, label_default), weight_column)


# ---- logits without an estimator ----

def linear_logit_fn_builder(units, feature_columns, sparse_combiner="sum"):
    """Returns a function from features to the logits of a linear model."""
    def linear_logit_fn(features):
        return _Linear(feature_columns, None, sparse_combiner).logits(features, None, units, None)
    return linear_logit_fn


def dnn_logit_fn_builder(units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm):
    """Returns a function from features and mode to the logits of a network of dense layers."""
    if not isinstance(units, int):
        raise ValueError("units must be an int. Given type: %s" % type(units))

    def dnn_logit_fn(features, mode):
        made = _Network(hidden_units, feature_columns, None, activation_fn, dropout, batch_norm, input_layer_partitioner)
        return made.logits(features, mode, units, None)
    return dnn_logit_fn


def call_logit_fn(logit_fn, features, mode, params, config):
    """Calls a function with those of mode, params and config that it accepts."""
    taken = inspect.signature(logit_fn).parameters
    given = {k: v for k, v in (("mode", mode), ("params", params), ("config", config)) if k in taken}
    found = logit_fn(features=features, **given)
    if not isinstance(found, (Tensor, dict)):
        raise ValueError("model_fn should return a Tensor or a dictionary of Tensors. logit_fn: %s" % logit_fn)
    return found
