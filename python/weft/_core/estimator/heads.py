"""tf.estimator.Head and its subclasses: they define losses, metrics and predictions for the logits of a model.

A head makes predictions, the loss and the metrics from logits, and an EstimatorSpec from all of them.  The losses of a batch
become one number by `loss_reduction`: "sum_over_batch_size" divides by the number of losses, "sum" does not.
"""
import weft as tf
from weft._core.estimator.canned import _DEFAULT, _after, _column
from weft._core.estimator.export import ClassificationOutput, PredictOutput, RegressionOutput
from weft._core.estimator.spec import EstimatorSpec, ModeKeys
from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, add_to_collection, get_collection, name_scope
from weft._core.keras.confusion_metrics import AUC, Precision, Recall
from weft._core.keras.metric_classes import Accuracy, BinaryAccuracy
from weft._core.keras.metrics import Mean
from weft._core.nn import feature_column as fc
from weft._core.ops.control_flow import group
from weft._core.train.training_util import get_global_step


class _Baseline(Mean):
    """Computes the accuracy of always predicting the more frequent class."""

    def result(self):
        mean = super().result()
        return tf.maximum(mean, 1 - mean)


class Head(metaclass=Named):
    """The base of heads.

    A program's head defines name, logits_dimension, loss_reduction, predictions, loss, metrics and update_metrics.
    """

    name = logits_dimension = loss_reduction = property(lambda self: self._lacking("a property"))

    def _lacking(self, what):
        raise NotImplementedError("%s does not define %s that tf.estimator.Head needs" % (type(self).__name__, what))

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        self._lacking("loss")

    def predictions(self, logits, keys=None):
        self._lacking("predictions")

    def metrics(self, regularization_losses=None):
        self._lacking("metrics")

    def update_metrics(self, eval_metrics, features, logits, labels, mode=None, regularization_losses=None):
        self._lacking("update_metrics")

    def _export(self, predictions):
        return {_DEFAULT: PredictOutput(predictions), "predict": PredictOutput(predictions)}

    def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, trainable_variables=None, train_op_fn=None,
                              update_ops=None, regularization_losses=None):
        with name_scope(self.name or "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self._export(predictions))
            if labels is None:
                raise ValueError("You must provide a labels Tensor. Given: None.")
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                found = self.update_metrics(self.metrics(regularization_losses), features, logits, labels,
                                            regularization_losses=regularization_losses)
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=_ops(found))
            return EstimatorSpec(mode, predictions, loss, _train_op(loss, optimizer, trainable_variables, train_op_fn, update_ops))


def _ops(metrics):
    """Returns {key: (value, update op)}, and makes the variables of the metrics local variables."""
    for metric in metrics.values():
        for v in metric.variables:
            if not any(v is held for held in get_collection(GraphKeys.LOCAL_VARIABLES)):
                add_to_collection(GraphKeys.LOCAL_VARIABLES, v)
    return {key: (m.result(), group(*m.updates)) for key, m in metrics.items()}


def _train_op(loss, optimizer, variables, train_op_fn, update_ops):
    if (optimizer is None) == (train_op_fn is None):
        raise ValueError("give one of optimizer and train_op_fn: %s, %s" % (optimizer, train_op_fn))
    with _after(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops):
        if train_op_fn is not None:
            return train_op_fn(loss)
        if hasattr(optimizer, "get_updates"):  # An optimizer of tf.keras counts its own steps.
            if variables is None:
                raise ValueError("trainable_variables must be given with an optimizer of tf.keras")
            optimizer.iterations = get_global_step()
            return group(*optimizer.get_updates(loss, variables))
        return optimizer.minimize(loss, get_global_step(), variables)


_SUMS = {"sum": False, "sum_over_batch_size": True, "auto": True, "weighted_sum": False, "weighted_sum_over_batch_size": True}


class _Kind(Head):
    """The base of the heads below."""

    name = property(lambda self: self._name)
    loss_reduction = property(lambda self: self._reduction)

    def __init__(self, weight_column, loss_reduction, loss_fn, name):
        if loss_reduction not in _SUMS:
            raise ValueError("Invalid loss_reduction: %s. See `tf.losses.Reduction` for valid options." % loss_reduction)
        self._weight, self._reduction, self._loss_fn, self._name = weight_column, loss_reduction, loss_fn, name

    def _key(self, key):
        return "%s/%s" % (key, self._name) if self._name else key

    def _weights(self, features):
        if self._weight is None:
            return tf.constant(1.0)
        column = fc.numeric_column(self._weight) if isinstance(self._weight, str) else self._weight
        return column.numbers(features)

    def _each(self, labels, logits, features=None):
        """Returns labels as numbers, and a loss for each."""
        labels = self._labels(labels)
        if self._loss_fn is None:
            return labels, self._losses(labels, logits)
        if "features" in self._loss_fn.__code__.co_varnames[:self._loss_fn.__code__.co_argcount]:
            return labels, self._loss_fn(labels=labels, logits=logits, features=features)
        return labels, self._loss_fn(labels=labels, logits=logits)

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        with name_scope("losses"):
            _, each = self._each(labels, logits, features)
            how = tf.losses.Reduction.SUM_OVER_BATCH_SIZE if _SUMS[self._reduction] else tf.losses.Reduction.SUM
            total = tf.losses.compute_weighted_loss(each, self._weights(features), loss_collection=None, reduction=how)
        return tf.add_n([total, *regularization_losses]) if regularization_losses else total

    def metrics(self, regularization_losses=None):
        made = {"average_loss": Mean(name="average_loss"), **self._more_metrics()}
        if regularization_losses:
            made["regularization_loss"] = Mean(name="regularization_loss")
        return {self._key(k): m for k, m in made.items()}

    def update_metrics(self, eval_metrics, features, logits, labels, regularization_losses=None):
        labels, each = self._each(labels, logits, features)
        weights, values = self._weights(features), self._values(labels, self.predictions(logits))
        wide = weights * tf.ones_like(each)
        eval_metrics[self._key("average_loss")].update_state(each, sample_weight=wide)
        for key, given in values.items():
            eval_metrics[self._key(key)].update_state(*given, sample_weight=weights * tf.ones_like(tf.to_float(given[0])))
        if regularization_losses:
            eval_metrics[self._key("regularization_loss")].update_state(tf.add_n(regularization_losses))
        return eval_metrics

    def predictions(self, logits, keys=None):
        with name_scope("predictions"):
            made = self._predictions(logits)
        wrong = [k for k in keys or () if k not in made]
        if wrong:
            raise ValueError("prediction keys %s are not in %s" % (wrong, sorted(made)))
        return made if keys is None else {k: made[k] for k in keys}


# ---- classes ----

def _thresholded(thresholds):
    """Returns the metrics for each threshold."""
    made = {}
    for t in thresholds:
        for name, kind in (("accuracy", lambda t: BinaryAccuracy(threshold=t)), ("precision", lambda t: Precision(thresholds=t)),
                           ("recall", lambda t: Recall(thresholds=t))):
            made["%s/positive_threshold_%s" % (name, t)] = kind(t)
    return made


def _check_thresholds(thresholds):
    thresholds = tuple(thresholds) if thresholds else ()
    if any(not 0 < t < 1 for t in thresholds):
        raise ValueError("thresholds not in (0, 1): %s." % ((thresholds,),))
    return thresholds


class _Classes(_Kind):
    _wrong = ValueError  # the error for labels that are not strings although there is a vocabulary

    def _set_classes(self, n, vocabulary):
        self._n, self._words = n, list(vocabulary) if vocabulary is not None else None
        if self._words and len(self._words) != n:
            raise ValueError("Length of label_vocabulary must be n_classes. Given: %d != %d" % (len(self._words), n))

    def _ids(self, labels):
        if self._words is None:
            if labels.dtype.base_dtype == tf.string:
                raise ValueError("Labels dtype should be integer. Instead got string. Specify label_vocabulary to use string labels.")
            return labels
        if labels.dtype.base_dtype != tf.string:
            raise self._wrong("Labels dtype should be string if label_vocabulary is given. Instead got %s" % labels.dtype)
        same = tf.cast(tf.equal(tf.expand_dims(labels, -1), tf.constant(self._words)), tf.int64)
        return tf.reduce_sum(same * tf.range(self._n, dtype=tf.int64), -1)

    def _names(self):
        return tf.constant(self._words or [str(i) for i in range(self._n)], tf.string)

    def _all_names(self, scores):
        return tf.tile(tf.expand_dims(self._names(), 0), [tf.shape(scores)[0], 1])

    def _described(self, ids, made):
        rows = tf.shape(ids)[0]
        return {**made, "class_ids": ids, "classes": tf.gather(self._names(), ids),
                "all_class_ids": tf.tile(tf.expand_dims(tf.range(self._n), 0), [rows, 1]),
                "all_classes": self._all_names(made["probabilities"])}

    def _export(self, predictions):
        scores = predictions["probabilities"]
        made = ClassificationOutput(scores, self._all_names(scores))
        return {_DEFAULT: made, "classification": made, "predict": PredictOutput(predictions)}


class BinaryClassHead(_Classes):
    _wrong = TypeError  # as in TensorFlow
    logits_dimension = property(lambda self: 1)

    def __init__(self, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction="sum_over_batch_size", loss_fn=None,
                 name=None):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = _check_thresholds(thresholds)
        self._set_classes(2, label_vocabulary)

    def _labels(self, labels):
        return tf.to_float(self._ids(_column(labels)))

    def _losses(self, labels, logits):
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def _predictions(self, logits):
        both = tf.concat([tf.zeros_like(logits), logits], -1)
        return self._described(tf.expand_dims(tf.argmax(both, -1), -1), {
            "logits": logits, "logistic": tf.sigmoid(logits, name="logistic"), "probabilities": tf.nn.softmax(both, name="probabilities")})

    def _more_metrics(self):
        return {"accuracy": Accuracy(), "precision": Precision(), "recall": Recall(), "prediction/mean": Mean(), "label/mean": Mean(),
                "accuracy_baseline": _Baseline(), "auc": AUC(), "auc_precision_recall": AUC(curve="PR"), **_thresholded(self._thresholds)}

    def _values(self, labels, p):
        chances, ids = p["logistic"], tf.to_float(p["class_ids"])
        found = {"accuracy": (labels, ids), "precision": (labels, ids), "recall": (labels, ids), "prediction/mean": (chances,),
                 "label/mean": (labels,), "accuracy_baseline": (labels,), "auc": (labels, chances),
                 "auc_precision_recall": (labels, chances)}
        return {**found, **{key: (labels, chances) for key in _thresholded(self._thresholds)}}

    def _export(self, predictions):
        return {**super()._export(predictions), "regression": RegressionOutput(predictions["logistic"])}


class MultiClassHead(_Classes):
    logits_dimension = property(lambda self: self._n)

    def __init__(self, n_classes, weight_column=None, label_vocabulary=None, loss_reduction="sum_over_batch_size", loss_fn=None, name=None):
        if n_classes is None or n_classes <= 2:
            raise ValueError("n_classes must be > 2: %s." % n_classes)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._set_classes(n_classes, label_vocabulary)

    def _labels(self, labels):
        return tf.cast(self._ids(_column(labels)), tf.int64)

    def _losses(self, labels, logits):
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.squeeze(labels, [-1]), logits=logits)
        return tf.expand_dims(each, -1)

    def _predictions(self, logits):
        return self._described(tf.expand_dims(tf.argmax(logits, -1), -1),
                               {"logits": logits, "probabilities": tf.nn.softmax(logits, name="probabilities")})

    def _more_metrics(self):
        return {"accuracy": Accuracy()}

    def _values(self, labels, p):
        return {"accuracy": (labels, p["class_ids"])}


class MultiLabelHead(_Classes):
    logits_dimension = property(lambda self: self._n)

    def __init__(self, n_classes, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction="sum_over_batch_size",
                 loss_fn=None, classes_for_class_based_metrics=None, name=None):
        if n_classes is None or n_classes < 2:
            raise ValueError("n_classes must be > 1 for multi-label classification. Given: %s" % n_classes)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = _check_thresholds(thresholds)
        self._set_classes(n_classes, label_vocabulary)
        places = [self._words.index(c) if isinstance(c, str) else c for c in classes_for_class_based_metrics or ()]
        if any(not 0 <= i < n_classes for i in places):
            raise ValueError("classes_for_class_based_metrics must be less than n_classes %d. Given: %s" % (
                n_classes, classes_for_class_based_metrics))
        self._chosen = [("name:%s" % self._words[i] if self._words else "class%d" % i, i) for i in places]

    def _labels(self, labels):
        """Returns zeros and ones for the classes of each example; a SparseTensor lists the classes of each example."""
        if not isinstance(labels, tf.SparseTensor):
            return tf.to_float(tf.convert_to_tensor(labels))
        ids = self._ids(labels.values) if self._words else labels.values
        wide = tf.sparse_tensor_to_dense(tf.SparseTensor(labels.indices, tf.cast(ids, tf.int64), labels.dense_shape), default_value=-1)
        return tf.reduce_max(tf.one_hot(wide, self._n, 1.0, 0.0), -2)

    def _losses(self, labels, logits):
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits), -1, keepdims=True)

    def _predictions(self, logits):
        chances = tf.sigmoid(logits, name="probabilities")
        return {"logits": logits, "probabilities": chances, "classes": self._all_names(chances)}

    def _more_metrics(self):
        made = {"auc": AUC(), "auc_precision_recall": AUC(curve="PR"), **_thresholded(self._thresholds)}
        for name, _ in self._chosen:
            made.update({"probability_mean/" + name: Mean(), "auc/" + name: AUC(), "auc_precision_recall/" + name: AUC(curve="PR")})
        return made

    def _values(self, labels, p):
        chances = p["probabilities"]
        found = {key: (labels, chances) for key in ("auc", "auc_precision_recall", *_thresholded(self._thresholds))}
        for name, i in self._chosen:
            label, chance = labels[:, i:i + 1], chances[:, i:i + 1]
            found.update({"probability_mean/" + name: (chance,), "auc/" + name: (label, chance),
                          "auc_precision_recall/" + name: (label, chance)})
        return found


# ---- numbers ----

class RegressionHead(_Kind):
    logits_dimension = property(lambda self: self._dimension)

    def __init__(self, label_dimension=1, weight_column=None, loss_reduction="sum_over_batch_size", loss_fn=None, inverse_link_fn=None,
                 name=None):
        if label_dimension < 1:
            raise ValueError("Invalid label_dimension %s." % label_dimension)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._dimension, self._link = label_dimension, inverse_link_fn

    def _labels(self, labels):
        return tf.to_float(_column(labels, self._dimension))

    def _losses(self, labels, logits):
        return tf.squared_difference(labels, logits)

    def _predictions(self, logits):
        return {"predictions": logits} if self._link is None else {"predictions": self._link(logits), "logits": logits}

    def _more_metrics(self):
        return {"prediction/mean": Mean(), "label/mean": Mean()}

    def _values(self, labels, p):
        return {"prediction/mean": (p["predictions"],), "label/mean": (labels,)}

    def _export(self, predictions):
        made = RegressionOutput(predictions["predictions"])
        return {_DEFAULT: made, "regression": made, "predict": PredictOutput(predictions)}


class PoissonRegressionHead(RegressionHead):
    def __init__(self, label_dimension=1, weight_column=None, loss_reduction="sum_over_batch_size", compute_full_loss=True, name=None):
        super().__init__(label_dimension, weight_column, loss_reduction, None, tf.exp, name)
        self._full = compute_full_loss

    def _losses(self, labels, logits):
        return tf.nn.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=self._full)


class LogisticRegressionHead(RegressionHead):
    def __init__(self, weight_column=None, loss_reduction="sum_over_batch_size", name=None):
        super().__init__(1, weight_column, loss_reduction, None, tf.sigmoid, name)

    def _losses(self, labels, logits):
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


# ---- several heads ----

class MultiHead(Head):
    """Combines heads with names. Labels are a dictionary by name; logits are concatenated or in a dictionary."""

    loss_reduction = property(lambda self: self._heads[0].loss_reduction)
    name = property(lambda self: "_".join(h.name for h in self._heads))
    logits_dimension = property(lambda self: sum(h.logits_dimension for h in self._heads))

    def __init__(self, heads, head_weights=None):
        if not heads:
            raise ValueError("Must specify heads. Given: %s" % (heads,))
        if head_weights and len(head_weights) != len(heads):
            raise ValueError("heads and head_weights must have the same size. Given len(heads): %d. Given len(head_weights): %d." % (
                len(heads), len(head_weights)))
        for head in heads:
            if not head.name:
                raise ValueError("All given heads must have name specified. Given: %s" % head)
            if head.loss_reduction != heads[0].loss_reduction:
                raise ValueError("The loss_reduction must be the same for different heads. Given: %s" % [h.loss_reduction for h in heads])
        self._heads, self._scale = tuple(heads), list(head_weights) if head_weights else [1.0] * len(heads)

    def _split(self, logits):
        if isinstance(logits, dict):
            return [logits[h.name] for h in self._heads]
        return tf.split(logits, [h.logits_dimension for h in self._heads], -1)

    def _with_labels(self, labels, logits):
        missing = [h.name for h in self._heads if h.name not in labels]
        if missing:
            raise ValueError("labels must have the names of the heads; %s are missing" % missing)
        return [(h, labels[h.name], part) for h, part in zip(self._heads, self._split(logits))]

    def predictions(self, logits, keys=None):
        made = {(h.name, k): v for h, part in zip(self._heads, self._split(logits)) for k, v in h.predictions(part).items()}
        return made if keys is None else {k: made[k] for k in keys}

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        parts = [h.loss(label, part, features, mode) * w for (h, label, part), w in zip(self._with_labels(labels, logits), self._scale)]
        return tf.add_n([*parts, *(regularization_losses or [])])

    def metrics(self, regularization_losses=None):
        """Returns the metrics of the losses. update_metrics makes those of the individual heads."""
        made = {"loss/" + h.name: Mean() for h in self._heads}
        if regularization_losses:
            made["regularization_loss/" + self.name] = Mean()
        return made

    def update_metrics(self, eval_metrics, features, logits, labels, regularization_losses=None):
        for h, label, part in self._with_labels(labels, logits):
            eval_metrics["loss/" + h.name].update_state(h.loss(label, part, features, ModeKeys.EVAL))
            eval_metrics.update(h.update_metrics(h.metrics(), features, part, label))
        if regularization_losses:
            eval_metrics["regularization_loss/" + self.name].update_state(tf.add_n(regularization_losses))
        return eval_metrics

    def _export(self, predictions):
        made = {"predict": PredictOutput({"/".join(k): v for k, v in predictions.items()})}
        for i, h in enumerate(self._heads):
            own = h._export({k: v for (name, k), v in predictions.items() if name == h.name})
            made.update({h.name if k == _DEFAULT else "%s/%s" % (h.name, k): v for k, v in own.items()})
            if i == 0:
                made[_DEFAULT] = own[_DEFAULT]
        return made
