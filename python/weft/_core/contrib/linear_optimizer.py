"""tf.contrib.linear_optimizer: linear models that stochastic dual coordinate ascent (SDCA) trains."""
from weft._core.estimator.linear_sdca import Ascent, LinearSDCA, Tables, Weights, _check_penalties
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import no_op

_LOSSES = ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss")


class SDCAOptimizer(LinearSDCA):
    """SDCA as the optimizer of the linear estimators of tf.contrib.learn.

    Args:
      example_id_column: the feature with the identifiers, a string for each example.
      num_loss_partitions: how many train steps of all workers run at the same time; 1 by default.
      num_table_shards: into how many tables the examples are divided; one by default.
      symmetric_l1_regularization: how much weights are shrunk, relative to the other regularization.
      symmetric_l2_regularization: the regularization of the squares of weights, above zero.
      adaptive: whether examples that change little are left out more often.
      partitioner: the partitioner of the variables that the program makes; kept for it to read.
    """

    def __init__(self, example_id_column, num_loss_partitions=None, num_table_shards=None, symmetric_l1_regularization=0.0,
                 symmetric_l2_regularization=1.0, adaptive=True, partitioner=None):
        super().__init__(example_id_column, num_loss_partitions or 1, num_table_shards, symmetric_l1_regularization,
                         symmetric_l2_regularization, adaptive)
        self._partitioner = partitioner

    def get_name(self):
        return "SDCAOptimizer"

    example_id_column = property(lambda self: self._example_id_column)
    num_loss_partitions = property(lambda self: self._num_loss_partitions)
    num_table_shards = property(lambda self: self._num_table_shards)
    symmetric_l1_regularization = property(lambda self: self._symmetric_l1_regularization)
    symmetric_l2_regularization = property(lambda self: self._symmetric_l2_regularization)
    adaptive = property(lambda self: self._adaptive)
    partitioner = property(lambda self: self._partitioner)

    def get_train_step(self, columns_to_variables, weight_column_name, loss_type, features, targets, global_step):
        """Returns (a model with the method update_weights, the op of one step).

        Args:
          columns_to_variables: for each column, and for "bias", a list with its variable.
          weight_column_name: the feature with the weights of the examples, or None.
          loss_type: "logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss" or "poisson_loss".
          features: for each name a tensor.
          targets: the labels.
          global_step: a variable that the step increments, or None.
        """
        weights = None if weight_column_name is None else math_ops.cast(features[weight_column_name], dtypes.float32)
        model = self.model(features, columns_to_variables, targets, weights, loss_type)
        with name_scope("sdca"):
            return _Stepped(), model.step(global_step)


class _Stepped:
    """The model of get_train_step, whose step updates the weights, too."""

    def update_weights(self, train_op):
        """Returns an op that ends when the weights are those of the step `train_op`."""
        with control_dependencies([train_op]):
            return no_op()


class SparseFeatureColumn(metaclass=Named):
    """The entries of a sparse feature of a batch: entry i says that example example_indices[i] has category
    feature_indices[i], with the number feature_values[i] or, without values, one.
    """

    def __init__(self, example_indices, feature_indices, feature_values):
        with name_scope("SparseFeatureColumn"):
            self._example_indices = convert_to_tensor(example_indices, dtypes.int64, name="example_indices")
            self._feature_indices = convert_to_tensor(feature_indices, dtypes.int64, name="feature_indices")
            self._feature_values = None
            if feature_values is not None:
                self._feature_values = convert_to_tensor(feature_values, dtypes.float32, name="feature_values")

    example_indices = property(lambda self: self._example_indices)
    feature_indices = property(lambda self: self._feature_indices)
    feature_values = property(lambda self: self._feature_values)

    def numbers(self):
        """Returns the number of each entry."""
        return array_ops.ones_like(self._feature_indices, dtypes.float32) if self._feature_values is None else self._feature_values


class SdcaModel(metaclass=Named):
    """A linear model over the program's own variables.

    Args:
      examples: a dict: "sparse_features" is a list of SparseFeatureColumn, "dense_features" a list of numbers of shape
        [examples, width]; "example_labels", "example_weights" and "example_ids" have an element for each example.
      variables: a dict: "sparse_features_weights" and "dense_features_weights" are lists of variables, in the same order.
      options: a dict: "symmetric_l1_regularization", "symmetric_l2_regularization" and "loss_type"; and, where they are
        given, "num_loss_partitions", "num_table_shards", "adaptive" and "number_of_inner_iterations" (1 by default).
    """

    def __init__(self, examples, variables, options):
        for given, what, needed in (
                (examples, "examples", ("example_labels", "example_weights", "example_ids", "sparse_features", "dense_features")),
                (variables, "variables", ("sparse_features_weights", "dense_features_weights")),
                (options, "options", ("loss_type", "symmetric_l2_regularization", "symmetric_l1_regularization"))):
            for key in needed if given else ():
                if key not in given:
                    raise ValueError("%s is missing in %s" % (key, what))
            if not given:
                raise ValueError("%s must be specified." % what)
        if options["loss_type"] not in _LOSSES:
            raise ValueError("Unsupported loss_type: %s" % options["loss_type"])
        _check_penalties(options["symmetric_l1_regularization"], options["symmetric_l2_regularization"])
        self._loss_type, self._tables = options["loss_type"], Tables(options.get("num_table_shards") or 1)
        self._weights = {kind: [Weights(v) for v in variables[kind + "_features_weights"]] for kind in ("sparse", "dense")}
        self._model = self._ascent(examples, options)

    def _ascent(self, examples, options):
        sparse = [(s.example_indices, s.feature_indices, s.numbers(), w)
                  for s, w in zip(examples["sparse_features"], self._weights["sparse"])]
        dense = [(convert_to_tensor(x, dtypes.float32), w) for x, w in zip(examples["dense_features"], self._weights["dense"])]
        return Ascent(convert_to_tensor(examples["example_ids"], dtypes.string), self._tables, sparse, dense, *_labeled(examples),
                      self._loss_type, options["symmetric_l1_regularization"], options["symmetric_l2_regularization"],
                      options.get("num_loss_partitions") or 1, options.get("adaptive", True),
                      options.get("number_of_inner_iterations") or 1)

    def minimize(self, global_step=None, name=None):
        """Returns the op of a step, which increments `global_step`; the weights are those of update_weights."""
        with name_scope(name, "sdca/minimize"):
            return self._model.step(global_step)

    def update_weights(self, train_op):
        """Returns an op that ends when the variables are those of the step `train_op`."""
        return _Stepped().update_weights(train_op)

    def _linear(self, examples):
        """Returns the weighted sum of each example."""
        total = array_ops.zeros_like(math_ops.cast(convert_to_tensor(examples["example_labels"]), dtypes.float32))
        for s, w in zip(examples["sparse_features"], self._weights["sparse"]):
            terms = array_ops.gather(array_ops.reshape(w.shown(), [-1]), s.feature_indices) * s.numbers()
            total += math_ops.unsorted_segment_sum(terms, s.example_indices, array_ops.size(total))
        for x, w in zip(examples["dense_features"], self._weights["dense"]):
            total += array_ops.reshape(math_ops.matmul(convert_to_tensor(x, dtypes.float32), array_ops.reshape(w.shown(), [-1, 1])), [-1])
        return total

    def predictions(self, examples):
        """Returns the predicted number of each example; of a logistic loss the probability."""
        found = self._linear(examples)
        if self._loss_type == "logistic_loss":
            return math_ops.sigmoid(found)
        return math_ops.exp(found) if self._loss_type == "poisson_loss" else found

    def approximate_duality_gap(self):
        """Returns how far the losses are from the best ones, for each unit of weight of the examples seen."""
        return self._model.duality_gap()

    def unregularized_loss(self, examples):
        """Returns the mean loss of the examples, by their weights."""
        found, (weights, labels) = self._linear(examples), _labeled(examples)
        if self._loss_type == "smooth_hinge_loss":
            raise NotImplementedError("SdcaModel.unregularized_loss: smooth_hinge_loss has none; use options={'loss_type': 'hinge_loss'}")
        if self._loss_type == "logistic_loss":
            each = nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=found)
        elif self._loss_type == "poisson_loss":
            each = nn.log_poisson_loss(targets=labels, log_input=found)
        elif self._loss_type == "hinge_loss":
            each = math_ops.maximum(1.0 - (2.0 * labels - 1.0) * found, 0.0)
        else:
            each = math_ops.square(labels - found) / 2.0
        return math_ops.reduce_sum(each * weights) / math_ops.reduce_sum(weights)

    def regularized_loss(self, examples):
        """Returns the mean loss with the terms of regularization."""
        l1, l2 = self._model.penalties()
        weights, _ = _labeled(examples)
        return math_ops.cast((l1 + l2 / 2.0), dtypes.float32) / math_ops.reduce_sum(weights) + self.unregularized_loss(examples)


def _labeled(examples):
    """Returns the weights and the labels of the examples."""
    return tuple(math_ops.cast(convert_to_tensor(examples[key]), dtypes.float32) for key in ("example_weights", "example_labels"))
