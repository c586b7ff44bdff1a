"""tf.contrib.tensor_forest: random forests whose trees grow from batches of examples.

A tree is three variables, which ForestGrow changes and ForestPredict reads.  A leaf takes candidate splits from its first
examples, and is split by the best of them after split_after_samples more.
"""
import math

import numpy as np

import weft as tf
from weft._core.framework.absent import Named
from weft._core.framework.build import op
from weft._core.python_modules import resources

# What the arguments of ForestHParams may be besides those that have an effect here.
_ONLY = {
    "dominate_method": ("bootstrap", "hoeffding", "none"), "model_name": ("all_dense", "all_sparse"),
    "split_finish_name": ("basic", "dominate_hoeffding"), "split_pruning_name": ("none",), "collate_examples": (False,),
    "use_running_stats_method": (False,), "initialize_average_splits": (False,), "inference_tree_paths": (False,),
    "param_file": (None,), "split_name": ("less_or_equal",), "prune_every_samples": (0,),
}


class ForestHParams(metaclass=Named):
    """The parameters of a random forest. Call fill() before you use them.

    Args:
      num_trees: the number of trees.
      max_nodes: the most nodes that a tree may have.
      bagging_fraction: the part of a batch that a tree grows from, drawn anew for each batch and tree.
      num_splits_to_consider: the candidate splits of a leaf; 0: at least 10, and the square root of the features.
      feature_bagging_fraction: the part of the features that a tree sees, drawn once for each tree.
      max_fertile_nodes: how many leaves of a tree collect examples at a time; 0: half of max_nodes.
      split_after_samples: the examples after which a leaf is split.
      valid_leaf_threshold: a leaf with fewer examples predicts as the node above it does.
      dominate_method: ignored unless leaves are split early.
      dominate_fraction: the confidence that a leaf needs to be split early.
      model_name: "all_dense" or "all_sparse".
      split_finish_name: "basic", or "dominate_hoeffding" to split a leaf early when Hoeffding's bound says that the best
        candidate is the best one.
      split_pruning_name: "none".
      collate_examples: False.
      checkpoint_stats: whether checkpoints have the candidate splits and what was counted for them.
      use_running_stats_method: False.
      initialize_average_splits: False.
      inference_tree_paths: False.
      param_file: None.
      split_name: "less_or_equal".
      early_finish_check_every_samples: how often to look whether a leaf may be split early.
      prune_every_samples: 0.
      num_classes, num_features, regression, num_outputs, base_random_seed: what is predicted and from how many features;
        more names are kept as attributes.
    """

    def __init__(self, num_trees=100, max_nodes=10000, bagging_fraction=1.0, num_splits_to_consider=0, feature_bagging_fraction=1.0,
                 max_fertile_nodes=0, split_after_samples=250, valid_leaf_threshold=1, dominate_method="bootstrap",
                 dominate_fraction=0.99, model_name="all_dense", split_finish_name="basic", split_pruning_name="none",
                 collate_examples=False, checkpoint_stats=False, use_running_stats_method=False, initialize_average_splits=False,
                 inference_tree_paths=False, param_file=None, split_name="less_or_equal", early_finish_check_every_samples=0,
                 prune_every_samples=0, **kwargs):
        given = dict(locals())
        given.pop("self")
        kwargs = given.pop("kwargs")
        for name, values in _ONLY.items():
            if given[name] not in values:
                raise NotImplementedError("tensor_forest.ForestHParams(%s=%r) is not in Weft: it must be %s" % (
                    name, given[name], " or ".join(map(repr, values))))
        self.__dict__.update(given)
        self.__dict__.update(kwargs)

    def values(self):
        """Returns the parameters, by name."""
        return self.__dict__

    def fill(self):
        """Computes the parameters that were left open, checks the others, and returns this object."""
        if not hasattr(self, "num_classes") and not getattr(self, "regression", False):
            raise ValueError("tensor_forest.ForestHParams: num_classes is required, or regression=True")
        if not hasattr(self, "num_features"):
            raise ValueError("tensor_forest.ForestHParams: num_features is required")
        self.regression = getattr(self, "regression", False)
        self.num_outputs = getattr(self, "num_outputs", 1)
        self.num_classes = getattr(self, "num_classes", 1)
        self.num_output_columns = self.num_classes + 1
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        self.leaf_model_type = int(bool(self.regression))
        self.stats_model_type = self.leaf_model_type
        self.bagged_num_features = int(self.feature_bagging_fraction * self.num_features)
        if not 0 < self.bagging_fraction <= 1 or not 0 < self.feature_bagging_fraction <= 1 or self.bagged_num_features < 1:
            raise ValueError("tensor_forest.ForestHParams: bagging_fraction and feature_bagging_fraction must be in (0, 1], and leave "
                             "a feature")
        self.bagged_features = None
        if self.feature_bagging_fraction < 1:
            rng = np.random.RandomState(self.base_random_seed or None)
            self.bagged_features = [sorted(rng.permutation(self.num_features)[:self.bagged_num_features].tolist())
                                    for _ in range(self.num_trees)]
        self.num_splits_to_consider = self.num_splits_to_consider or max(10, math.floor(math.sqrt(self.num_features)))
        self.max_fertile_nodes = self.max_fertile_nodes or math.ceil(self.max_nodes / 2)
        return self


class TreeVariables(metaclass=Named):
    """The variables of one tree.

    Args:
      params: ForestHParams that are filled.
      tree_num: the number of the tree, which the names of the variables have.
      training: whether the tree grows too.
      tree_config, tree_stat: not in Weft.
    """

    def __init__(self, params, tree_num, training, tree_config="", tree_stat=""):
        if tree_config or tree_stat:
            raise NotImplementedError("tensor_forest: tree_config and tree_stat are TensorFlow's own messages and not in Weft: restore "
                                      "the variables of the tree from a checkpoint")
        outputs = params.num_outputs if params.regression else params.num_classes
        made = {"use_resource": False, "trainable": False}
        self.nodes = tf.get_variable("tree-%d" % tree_num, [params.max_nodes, 4 + outputs + bool(params.regression)],
                                     initializer=tf.zeros_initializer(), **made)
        self.slots = tf.get_variable("slots-%d" % tree_num, [1 + params.max_fertile_nodes], tf.int32, tf.zeros_initializer(), **made)
        self.splits = None
        kept = [self.nodes, self.slots]
        if training:
            sums = 1 + 2 * outputs if params.regression else outputs
            where = {} if params.checkpoint_stats else {"collections": [tf.GraphKeys.LOCAL_VARIABLES]}
            self.splits = tf.get_variable("stats-%d" % tree_num, [params.max_fertile_nodes, 2 + params.num_splits_to_consider, 2 + sums],
                                          initializer=tf.zeros_initializer(), **made, **where)
            kept.append(self.splits)
        for v in kept:
            resources.register_resource(v, v.initializer, tf.is_variable_initialized(v))

    @property
    def tree(self):
        return self.nodes


class ForestVariables(metaclass=Named):
    """The variables of all trees, a list.

    Args:
      params: ForestHParams that are filled.
      device_assigner: chooses the device of each tree.
      training: whether the trees grow too.
      tree_variables_class: makes the variables of one tree.
      tree_configs, tree_stats: not in Weft.
    """

    def __init__(self, params, device_assigner=None, training=True, tree_variables_class=TreeVariables, tree_configs=None,
                 tree_stats=None):
        if tree_configs is not None or tree_stats is not None:
            raise NotImplementedError("tensor_forest: tree_configs and tree_stats are not in Weft: restore the variables of the trees "
                                      "from a checkpoint")
        assigner = device_assigner or RandomForestDeviceAssigner()
        self.variables = []
        for i in range(params.num_trees):
            with tf.device(assigner.get_device(i)):
                self.variables.append(tree_variables_class(params, i, training))

    def __getitem__(self, t):
        return self.variables[t]

    def __setitem__(self, t, val):
        self.variables[t] = val

    def __len__(self):
        return len(self.variables)


class RandomForestDeviceAssigner(metaclass=Named):
    """Chooses the device of each tree: the one that is current when it is made."""

    def __init__(self):
        self.cached = None

    def get_device(self, unused_tree_num):
        """Returns the device of a tree.

        Args:
          unused_tree_num: the number of the tree.
        """
        if not self.cached:
            self.cached = tf.no_op().device
        return self.cached


def _dense(features):
    """Features as a float matrix: of a dict the columns side by side, by their names."""
    if isinstance(features, dict):
        return tf.concat([_dense(features[k]) for k in sorted(features)], 1)
    if isinstance(features, tf.SparseTensor):
        features = tf.sparse_tensor_to_dense(features)
    made = tf.convert_to_tensor(features)
    if made.dtype == tf.string:
        raise ValueError("tensor_forest: features must be numbers, not strings: hash or index them first")
    made = tf.cast(made, tf.float32)
    if made.shape.ndims is None:
        raise ValueError("tensor_forest: the rank of the features must be known")
    if made.shape.ndims == 1:
        return tf.expand_dims(made, 1)
    return made if made.shape.ndims == 2 else tf.reshape(made, [tf.shape(made)[0], -1])


class RandomTreeGraphs(metaclass=Named):
    """Builds the ops of one tree.

    Args:
      variables: its TreeVariables.
      params: ForestHParams that are filled.
      tree_num: its number.
    """

    def __init__(self, variables, params, tree_num):
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def _attributes(self):
        p = self.params
        return {"outputs": p.num_outputs if p.regression else p.num_classes, "regression": bool(p.regression)}

    def training_graph(self, input_data, input_labels, random_seed, data_spec=None, sparse_features=None, input_weights=None):
        """Returns the op that grows the tree by a batch.

        Args:
          input_data: the features, a row for each example.
          input_labels: the classes, or the numbers to predict.
          random_seed: the seed of the candidate splits; 0: a random one.
          data_spec: not needed, and ignored.
          sparse_features: more features, a SparseTensor.
          input_weights: the weight of each example.
        """
        x = _with_sparse(input_data, sparse_features)
        p, n = self.params, tf.shape(x)[0]
        y = tf.cast(input_labels, tf.float32)
        y = tf.reshape(y, [n, p.num_outputs]) if p.regression else tf.reshape(y, [n])
        weights = tf.ones([n]) if input_weights is None else tf.reshape(tf.cast(input_weights, tf.float32), [n])
        drawn = tf.random_uniform([n], maxval=tf.shape(x)[1], dtype=tf.int32, seed=random_seed or None)
        early = p.split_finish_name == "dominate_hoeffding"
        return op("ForestGrow", None, nodes=self.variables.nodes, slots=self.variables.slots,
                  splits=self.variables.splits, features=x, targets=y, weights=weights, drawn=drawn,
                  split_after_samples=float(p.split_after_samples), check_every_samples=float(p.early_finish_check_every_samples or 1),
                  dominate_fraction=float(p.dominate_fraction) if early else 0.0, **self._attributes()).op

    def inference_graph(self, input_data, data_spec=None, sparse_features=None):
        """(predictions, leaves): what the tree predicts for each example, and the number of the node where it ends.

        Args:
          input_data: the features, a row for each example.
          data_spec: not needed, and ignored.
          sparse_features: more features, a SparseTensor.
        """
        return op("ForestPredict", None, nodes=tf.identity(self.variables.nodes), slots=tf.identity(self.variables.slots),
                  features=_with_sparse(input_data, sparse_features), valid_leaf_threshold=float(self.params.valid_leaf_threshold),
                  **self._attributes())

    def size(self):
        """Returns the number of the tree's nodes."""
        return tf.maximum(self.variables.slots[0], 1)

    def feature_usage_counts(self):
        """How many nodes split on each feature, a vector."""
        wide = self.params.bagged_num_features
        return tf.unsorted_segment_sum(tf.ones([self.params.max_nodes], tf.int32), tf.cast(self.variables.nodes[:, 0], tf.int32),
                                       wide + 1)[1:]


def _with_sparse(features, sparse):
    x = _dense(features)
    return x if sparse is None else tf.concat([x, _dense(sparse)], 1)


class RandomForestGraphs(metaclass=Named):
    """Builds the ops of a random forest: its variables are made here.

    Args:
      params: ForestHParams that are filled.
      device_assigner: chooses the device of each tree.
      variables: ForestVariables that are there already.
      tree_variables_class: makes the variables of one tree.
      tree_graphs: makes the ops of one tree.
      training: whether the forest will be trained.
      tree_configs, tree_stats: not in Weft.
    """

    def __init__(self, params, device_assigner=None, variables=None, tree_variables_class=TreeVariables, tree_graphs=None,
                 training=True, tree_configs=None, tree_stats=None):
        self.params = params
        self.device_assigner = device_assigner or RandomForestDeviceAssigner()
        self.variables = variables or ForestVariables(params, self.device_assigner, training, tree_variables_class, tree_configs,
                                                      tree_stats)
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[i], params, i) for i in range(params.num_trees)]

    def _bag_features(self, tree_num, input_data):
        """Returns the features that a tree sees."""
        if self.params.bagged_features is None:
            return input_data
        return tf.gather(input_data, self.params.bagged_features[tree_num], axis=1)

    def get_all_resource_handles(self):
        """Returns the variables that hold the trees."""
        return [v.nodes for v in self.variables]

    def training_graph(self, input_data, input_labels, num_trainers=1, trainer_id=0, **tree_kwargs):
        """Returns the op that grows all trees by a batch.

        Args:
          input_data: the features: a matrix, a SparseTensor, or a dict of them.
          input_labels: the classes, or the numbers to predict.
          num_trainers: how many programs grow the forest; each grows its share of the trees.
          trainer_id: the number of this program.
          **tree_kwargs: input_weights and sparse_features for the trees.
        """
        p, grown = self.params, []
        x = _with_sparse(input_data, tree_kwargs.pop("sparse_features", None))
        labels, weights = tf.convert_to_tensor(input_labels), tree_kwargs.pop("input_weights", None)
        if not 0 <= trainer_id < num_trainers:
            raise ValueError("tensor_forest: trainer_id %s must be from 0 to num_trainers - 1, num_trainers is %s" % (
                trainer_id, num_trainers))
        first, last = int(trainer_id * p.num_trees / num_trainers), int((trainer_id + 1) * p.num_trees / num_trainers)
        for i in range(first, last):
            with tf.device(self.variables[i].nodes.device):
                seed = p.base_random_seed
                seed = seed + i if seed else 0
                x_tree, y_tree, w_tree = self._bag_features(i, x), labels, weights
                if p.bagging_fraction < 1:
                    taken = tf.reshape(tf.where(tf.random_uniform([tf.shape(x)[0]], seed=seed or None) < p.bagging_fraction), [-1])
                    x_tree, y_tree = tf.gather(x_tree, taken), tf.gather(labels, taken)
                    w_tree = None if weights is None else tf.gather(weights, taken)
                grown.append(self.trees[i].training_graph(x_tree, y_tree, seed, input_weights=w_tree, **tree_kwargs))
        return tf.group(*grown, name="train")

    def inference_graph(self, input_data, **inference_args):
        """(predictions, paths, variance): the mean of what the trees predict, None, and for a regression the trees' variance.

        Args:
          input_data: the features, as in training_graph.
          **inference_args: sparse_features for the trees.
        """
        x = _with_sparse(input_data, inference_args.pop("sparse_features", None))
        found = []
        for i, tree in enumerate(self.trees):
            with tf.device(self.variables[i].nodes.device):
                found.append(tree.inference_graph(self._bag_features(i, x), **inference_args)[0])
        together = tf.stack(found)
        mean = tf.reduce_mean(together, 0, name="probabilities")
        variance = None
        if self.params.regression:
            variance = tf.maximum(tf.reduce_mean(tf.square(together), 0) - tf.square(mean), 0, name="regression_variance")
        return mean, None, variance

    def average_size(self):
        """Returns the mean number of nodes of a tree."""
        return tf.reduce_mean(tf.cast(tf.stack([t.size() for t in self.trees]), tf.float32))

    def training_loss(self, features, labels, name="training_loss"):
        """Returns the negative of average_size: a forest has no loss that its training descends.

        Args:
          features, labels: not needed, and ignored.
          name: the name of the tensor.
        """
        return tf.negative(self.average_size(), name=name)

    def validation_loss(self, features, labels):
        """Returns the negative of average_size.

        Args:
          features, labels: not needed, and ignored.
        """
        return tf.negative(self.average_size())

    def average_impurity(self):
        """Returns the mean of Gini's impurity over the trees' leaves, weighted by their examples."""
        if self.params.regression:
            raise NotImplementedError("tensor_forest: average_impurity of a regression is not in Weft")
        found = []
        for v in self.variables:
            leaves = tf.cast(tf.equal(v.nodes[:, 0], 0), tf.float32)
            sums = v.nodes[:, 4:] * tf.expand_dims(leaves, 1)
            n = tf.reduce_sum(sums, 1)
            found.append(tf.reduce_sum(n - tf.reduce_sum(tf.square(sums), 1) / tf.maximum(n, 1)) / tf.maximum(tf.reduce_sum(n), 1))
        return tf.reduce_mean(tf.stack(found))

    def feature_importances(self):
        """Returns the share of all splits that each feature has, a vector."""
        wide = self.params.num_features
        counts = []
        for i, tree in enumerate(self.trees):
            used = tree.feature_usage_counts()
            if self.params.bagged_features is not None:
                used = tf.scatter_nd(tf.constant(self.params.bagged_features[i])[:, None], used, [wide])
            counts.append(used)
        total = tf.cast(tf.add_n(counts), tf.float32)
        return total / tf.maximum(tf.reduce_sum(total), 1)


class TrainingLossForest(RandomForestGraphs):
    """A forest whose loss is that of its predictions.

    Args:
      params: ForestHParams that are filled.
      loss_fn: a function of labels and predictions; without it the log loss, or the squared error of a regression.
      **kwargs: the arguments of RandomForestGraphs.
    """

    def __init__(self, params, loss_fn=None, **kwargs):
        super().__init__(params, **kwargs)
        self.loss_fn = loss_fn or (tf.losses.mean_squared_error if params.regression else tf.losses.log_loss)

    def training_loss(self, features, labels, name="training_loss"):
        """Returns the loss of the predictions.

        Args:
          features: the features.
          labels: the classes, or the numbers to predict.
          name: the name of the tensor.
        """
        found = self.inference_graph(features)[0]
        if not self.params.regression:
            labels = tf.one_hot(tf.reshape(tf.cast(labels, tf.int32), [-1]), self.params.num_classes)
        else:
            labels = tf.reshape(tf.cast(labels, tf.float32), tf.shape(found))
        return tf.identity(self.loss_fn(labels, found), name=name)


def get_epoch_variable():
    """Returns the int32 variable that counts the epochs of the input."""
    return tf.get_local_variable("data_shuffle_epoch", [], tf.int32, tf.zeros_initializer())


