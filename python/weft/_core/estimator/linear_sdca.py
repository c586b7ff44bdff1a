"""tf.estimator.experimental.LinearSDCA: trains linear estimators by stochastic dual coordinate ascent."""
from weft._core.files import summary
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.nn import feature_column as fc
from weft._core.ops import array_ops, lookup, math_ops, rare_ops
from weft._core.ops.control_flow import group
from weft._core.ops.partitioned import PartitionedVariable
from weft._core.ops.variable_scope import get_variable, get_variable_scope, variable_scope

_STATE = 4  # numbers of an example: its dual variable, its primal and dual loss, and its weight


class LinearSDCA(metaclass=Named):
    """Stochastic dual coordinate ascent, as the optimizer of a `LinearClassifier` of two classes or a `LinearRegressor`.

    Each step solves for one batch. What the method knows of an example is kept in a table, in which the example is found by
    its identifier.

    Args:
      example_id_column: the feature with the identifiers, a string for each example.
      num_loss_partitions: how many train steps of all workers run at the same time.
      num_table_shards: into how many tables the examples are divided; one by default.
      symmetric_l1_regularization: how much weights are shrunk, relative to the other regularization.
      symmetric_l2_regularization: the regularization of the squares of weights, above zero.
      adaptive: whether examples that change little are left out more often.
    """

    def __init__(self, example_id_column, num_loss_partitions=1, num_table_shards=None, symmetric_l1_regularization=0.0,
                 symmetric_l2_regularization=1.0, adaptive=False):
        self._example_id_column, self._num_loss_partitions = example_id_column, num_loss_partitions
        self._num_table_shards, self._adaptive = num_table_shards, adaptive
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization

    def train_op(self, features, variables, labels, weights, loss_type, step):
        """Returns the op of one step. `variables` are those of each column, and of "bias"."""
        model = self.model(features, variables, labels, weights, loss_type)
        with name_scope("sdca"):
            model.watch()
            with name_scope("minimize"):
                return model.step(step)

    def model(self, features, variables, labels, weights, loss_type):
        """Returns the Ascent of these features, variables and labels."""
        _check_penalties(self._symmetric_l1_regularization, self._symmetric_l2_regularization)
        features = fc._Once(features)
        names = convert_to_tensor(features[self._example_id_column])
        tables = Tables(max(1, self._num_table_shards or 1))
        targets = array_ops.reshape(math_ops.cast(labels, dtypes.float32), [-1])
        weights = array_ops.ones_like(targets) if weights is None else array_ops.reshape(weights, [-1])
        sparse, dense = [], []
        for column, held in variables.items():
            model = Weights(held[0])
            if column == "bias":
                dense.append((array_ops.ones([array_ops.shape(targets)[0], 1]), model))
            elif isinstance(column, fc._CategoricalColumn):
                sparse.append((*_entries(*column.categories(features)), model))
            else:
                dense.append((_numbers(column, features), model))
        return Ascent(names, tables, sparse, dense, weights, targets, loss_type, self._symmetric_l1_regularization,
                      self._symmetric_l2_regularization, self._num_loss_partitions, self._adaptive)


def _check_penalties(l1, l2):
    if l1 < 0.0:
        raise ValueError("symmetric_l1_regularization should be non-negative. Found (%f)" % l1)
    if l2 <= 0.0:
        raise ValueError("symmetric_l2_regularization should be positive. Found (%f)" % l2)


class Ascent:
    """A linear model with the examples that a step solves for.

    Args:
      names: the identifiers of the examples, strings of shape [n].
      tables: the Tables that keep what is known of the examples.
      sparse: a list of (example, category, number, Weights), the first three of shape [entries].
      dense: a list of (numbers of shape [n, width], Weights).
      weights, targets: of the examples, of shape [n].
      loss_type: "logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss" or "poisson_loss".
      l1, l2, partitions, adaptive: the options of LinearSDCA.
      inner: how many passes over the examples a step makes.
    """

    def __init__(self, names, tables, sparse, dense, weights, targets, loss_type, l1, l2, partitions, adaptive, inner=1):
        self.names, self.tables, self.sparse, self.dense = names, tables, sparse, dense
        self.weights, self.targets, self.loss_type = weights, targets, loss_type
        self.l1, self.l2, self.partitions, self.adaptive, self.inner = l1, l2, partitions, adaptive, inner

    def _all_weights(self):
        return [m for _, m in self.dense] + [m for *_, m in self.sparse]

    def penalties(self):
        """Returns the two terms of regularization: of the absolute weights, and of their squares."""
        shown = [math_ops.cast(m.shown(), dtypes.float64) for m in self._all_weights()]
        return (self.l1 * sum(math_ops.reduce_sum(math_ops.abs(x)) for x in shown),
                self.l2 * sum(math_ops.reduce_sum(math_ops.square(x)) for x in shown))

    def duality_gap(self):
        """Returns how far the losses are from the best ones, for each unit of weight of the examples seen."""
        totals = math_ops.reduce_sum(math_ops.cast(self.tables.values(), dtypes.float64), [0])
        l1, l2 = self.penalties()
        return (totals[1] + totals[2] + l1 + l2) / totals[3]

    def watch(self):
        """Adds the summaries of TensorFlow."""
        gap = self.duality_gap()
        with name_scope(None):
            scope = get_variable_scope().name
            summary.scalar(scope + "/approximate_duality_gap", gap)
            summary.scalar(scope + "/examples_seen", self.tables.size())

    def step(self, step):
        """Returns the op that makes a step and then counts it in `step`, which may be None."""
        sparse, dense, table = self.sparse, self.dense, self.tables
        keys = rare_ops.sdca_fprint(self.names)
        rows = [array_ops.unique(ids)[0] for _, ids, _, _ in sparse]
        made = op("SdcaOptimizerV2", sparse_example_indices=[e for e, *_ in sparse], sparse_feature_indices=[i for _, i, _, _ in sparse],
                  sparse_feature_values=[v for *_, v, _ in sparse], dense_features=[x for x, _ in dense], example_weights=self.weights,
                  example_labels=self.targets, sparse_indices=rows, sparse_weights=[m.take(r) for (*_, m), r in zip(sparse, rows)],
                  dense_weights=[m.unshrunk for _, m in dense], example_state_data=table.find(keys), loss_type=self.loss_type,
                  l1=self.l1, l2=self.l2, num_loss_partitions=self.partitions, num_inner_iterations=self.inner, adaptive=self.adaptive)
        state, sparse_changes, dense_changes = made
        with control_dependencies([state.op]):
            updates = [table.insert(keys, state)]
            updates += [m.variable.assign_add(d) for (_, m), d in zip(dense, dense_changes)]
            for (*_, m), r, d in zip(sparse, rows, sparse_changes):
                updates.append(m.add(r, d))
        with control_dependencies([group(*(u.op if hasattr(u, "op") else u for u in updates))]):
            shrunk = group(*[m.shrink(self.l1 / self.l2) for m in self._all_weights()])
        with control_dependencies([shrunk]):
            return shrunk if step is None else step.assign_add(1).op


class Weights:
    """The weights of a column: the variable that the model reads, and one before it is shrunk, which is trained."""

    def __init__(self, held):
        self.pieces = list(held) if isinstance(held, PartitionedVariable) else [held]
        shape = held.get_shape().as_list()
        first = self.pieces[0].op.name
        with variable_scope(get_variable_scope()) as scope:
            scope.set_partitioner(None)
            self.variable = get_variable(first + "_unshrunk", shape, dtypes.float32, trainable=False,
                                         initializer=lambda dims, dtype=None, partition_info=None: array_ops.zeros(dims))
        self.unshrunk = self.variable.read_value()

    def take(self, rows):
        return array_ops.reshape(array_ops.gather(self.unshrunk, rows), [-1])

    def add(self, rows, changes):
        rank = len(self.variable.get_shape())
        return self.variable.scatter_nd_add(array_ops.expand_dims(rows, 1), array_ops.reshape(changes, [-1] + [1] * (rank - 1)))

    def shown(self):
        return array_ops.concat([array_ops.reshape(p.read_value(), [-1]) for p in self.pieces], 0)

    def shrink(self, by):
        """Returns the op that gives the model the shrunk weights."""
        new = self.variable.read_value()
        new = math_ops.sign(new) * math_ops.maximum(math_ops.abs(new) - by, 0.0)
        sizes = [p.get_shape().as_list()[0] for p in self.pieces]
        parts = [new] if len(sizes) == 1 else array_ops.split(new, sizes)
        return group(*(p.assign(array_ops.reshape(x, p.get_shape())).op for p, x in zip(self.pieces, parts)))


class Tables:
    """The states of examples by two numbers of their identifiers; the first number chooses the table."""

    def __init__(self, n):
        self.tables = []
        with name_scope("ShardedMutableHashTable"):
            for i in range(n):
                self.tables.append(lookup.DenseHashTable(
                    dtypes.int64, dtypes.float32, [0.0] * _STATE, convert_to_tensor([0, 0], dtypes.int64),
                    convert_to_tensor([1, 1], dtypes.int64), name="ShardedMutableHashTable-%d-of-%d" % (i + 1, n)))

    def size(self):
        total = self.tables[0].size()
        for table in self.tables[1:]:
            total += table.size()
        return total

    def values(self):
        return array_ops.concat([t.export()[1] for t in self.tables], 0)

    def _divided(self, keys, *more):
        which = math_ops.cast(math_ops.mod(keys[:, 0], len(self.tables)), dtypes.int32)
        return [op("DynamicPartition", data=x, partitions=which, num_partitions=len(self.tables)) for x in (keys, *more)]

    def find(self, keys):
        if len(self.tables) == 1:
            return self.tables[0].lookup(keys)
        parts, places = self._divided(keys, math_ops.range(array_ops.shape(keys)[0]))
        found = [array_ops.reshape(t.lookup(k), [-1, _STATE]) for t, k in zip(self.tables, parts)]
        return op("DynamicStitch", indices=places, data=found)

    def insert(self, keys, states):
        if len(self.tables) == 1:
            return self.tables[0].insert(keys, states)
        parts, values = self._divided(keys, states)
        return group(*(t.insert(k, v) for t, k, v in zip(self.tables, parts, values)))


def _numbers(column, features):
    """Returns the numbers of a dense column; an embedding is the one of the model."""
    model, name = fc._layer_name("linear_model"), fc._layer_name(column._var_scope_name)
    with variable_scope(model, reuse=True), variable_scope(name):
        found = column.dense(features)
    return array_ops.reshape(found, [array_ops.shape(found)[0], column.width])


def _entries(ids, weights):
    """Returns the examples, the categories and their weights, without categories below zero. The weights of a category
    that an example has twice are added up; where there are no weights, each counts one.
    """
    example, number = ids.indices[:, 0], math_ops.cast(ids.values, dtypes.int64)
    known = number >= 0
    example, number = array_ops.boolean_mask(example, known), array_ops.boolean_mask(number, known)
    most = math_ops.reduce_max(array_ops.concat([number, convert_to_tensor([0], dtypes.int64)], 0)) + 1
    both, place = array_ops.unique(example * most + number)
    each = array_ops.ones_like(number, dtypes.float32) if weights is None else array_ops.boolean_mask(weights.values, known)
    by = op("UnsortedSegmentSum", data=each, segment_ids=place, num_segments=array_ops.size(both))
    return math_ops.floordiv(both, most), math_ops.mod(both, most), by


def loss_type_of(head):
    """Returns the loss of a head, which must have one logit."""
    from weft._core.estimator import canned
    if isinstance(head, canned._BinaryHead):
        return "logistic_loss"
    if isinstance(head, canned._RegressionHead):
        if head.logits != 1:
            raise ValueError("LinearSDCA can only be used with one-dimensional label.")
        return "squared_loss"
    if isinstance(head, canned._MultiHead):
        raise ValueError("LinearSDCA cannot be used in a multi-class setting.")
    raise ValueError("LinearSDCA can only be used with LinearClassifier and LinearRegressor.")
