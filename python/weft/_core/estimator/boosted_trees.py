"""tf.estimator.BoostedTreesClassifier, BoostedTreesRegressor and BoostedTreesEstimator: gradient boosted trees.

Each step adds the sums of its batch's gradients and hessians by node, feature and bucket.  After n_batches_per_layer steps
the chief chooses the best splits and adds a layer to the last tree.
"""
import collections

import numpy as np

import weft as tf
from weft._core.estimator.canned import _BinaryHead, _class_head, _Given, _MultiHead, _RegressionHead
from weft._core.estimator.estimator import Estimator
from weft._core.estimator.spec import ModeKeys
from weft._core.estimator.tree_resources import QuantileStreams, TreeEnsemble, debug_path, split_gains
from weft._core.framework.build import op
from weft._core.nn import feature_column as fc
from weft._core.platform import logging
from weft._core.train.hooks import SessionRunArgs, SessionRunHook
from weft._core.train.saver import latest_checkpoint, load_variable

_PRUNING = {"none": 0, "pre": 1, "post": 2}
_EXPLANATION = "_debug_outputs"
_STATS_BYTES = 1 << 28
_LONGEST_STEP = 20.0

TreeHParams = collections.namedtuple("TreeHParams", [
    "n_trees", "max_depth", "learning_rate", "l1", "l2", "tree_complexity", "min_node_weight", "center_bias", "pruning_mode",
    "quantile_sketch_epsilon"])


def tree_hparams(n_trees, max_depth, learning_rate, l1, l2, tree_complexity, min_node_weight, center_bias, pruning_mode, epsilon):
    if pruning_mode not in _PRUNING:
        raise ValueError("pruning_mode must be one of %s, got: %s" % (sorted(_PRUNING), pruning_mode))
    if tree_complexity > 0 and pruning_mode == "none":
        raise ValueError("For pruning, tree_complexity must be positive and pruning_mode 'pre' or 'post'. Got tree_complexity=%s, "
                         "pruning_mode=%r" % (tree_complexity, pruning_mode))
    for name, value, least in (("n_trees", n_trees, 1), ("max_depth", max_depth, 1), ("l1_regularization", l1, 0),
                               ("l2_regularization", l2, 0), ("tree_complexity", tree_complexity, 0),
                               ("min_node_weight", min_node_weight, 0)):
        if value < least:
            raise ValueError("%s must be at least %s, got: %s" % (name, least, value))
    if max_depth > 30:
        raise ValueError("max_depth must be at most 30, got: %s" % max_depth)
    if not 0 < epsilon < 1:
        raise ValueError("quantile_sketch_epsilon must be between 0 and 1, got: %s" % epsilon)
    if learning_rate <= 0:
        raise ValueError("learning_rate must be positive, got: %s" % learning_rate)
    return TreeHParams(n_trees, max_depth, learning_rate, l1, l2, tree_complexity, min_node_weight, center_bias, pruning_mode, epsilon)


# ---- features ----

def _sorted(columns):
    columns = [columns] if isinstance(columns, fc._Column) else list(columns or ())
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    for column in columns:
        if not isinstance(column, (fc.BucketizedColumn, fc.IndicatorColumn, fc.NumericColumn)):
            raise ValueError("For now, only bucketized_column, indicator_column and numeric_column are supported in feature_columns of "
                             "boosted trees, got: %s" % (column,))
    if len({c.name for c in columns}) != len(columns):
        raise ValueError("Duplicate feature column name found for columns: %s" % [c.name for c in columns])
    return sorted(columns, key=lambda c: c.name)


def _names(columns):
    """Returns the name of each feature: a column with several numbers is as many features."""
    made = []
    for column in columns:
        if isinstance(column, fc.IndicatorColumn):
            words = getattr(column.categorical_column, "vocabulary_list", None) or range(column.width)
            made += ["%s:%s" % (column.name, words[i] if i < len(words) else i) for i in range(column.width)]
            continue
        width = column.source_column.width if isinstance(column, fc.BucketizedColumn) else column.width
        made += [column.name] if width == 1 else ["%s:%d" % (column.name, i) for i in range(width)]
    return made


class _Features:
    """The features of a batch as buckets.

    `matrices` has, for each number of buckets, the columns side by side and the ids of their features.
    """

    def __init__(self, features, columns, hparams):
        columns, self.streams, self.values = _sorted(columns), None, []
        known, at, numeric, by_buckets = fc._Once(features), 0, [], {}
        for column in columns:
            if isinstance(column, fc.NumericColumn):
                found = column.numbers(known)
                numeric.append((at, tf.reshape(found, [tf.shape(found)[0], column.width]), column.width))
                at += column.width
                continue
            if isinstance(column, fc.BucketizedColumn):
                width, buckets, made = column.source_column.width, len(column.boundaries) + 1, column.buckets(known)
            else:
                width, buckets, made = column.width, 2, tf.minimum(column.dense(known), 1.0)
            made = tf.reshape(tf.cast(made, tf.int32), [tf.shape(made)[0], width])
            by_buckets.setdefault(buckets, []).append((at, made, width))
            at += width
        if numeric:
            self._bucketize(numeric, by_buckets, hparams)
        self.matrices = [(buckets, parts[0][1] if len(parts) == 1 else tf.concat([p[1] for p in parts], 1),
                          [first + i for first, _, width in parts for i in range(width)])
                         for buckets, parts in sorted(by_buckets.items())]
        self.count, self.rows = at, tf.shape(self.matrices[0][1])[0]

    def _bucketize(self, numeric, by_buckets, hparams):
        self.values = [v for _, matrix, width in numeric for v in tf.unstack(matrix, width, 1)]
        self.streams = QuantileStreams(len(self.values), hparams.quantile_sketch_epsilon, "boosted_trees/QuantileAccumulator")
        made = op("BoostedTreesBucketize", float_values=self.values, bucket_boundaries=self.streams.boundaries())
        self.most = int(np.ceil(1 / hparams.quantile_sketch_epsilon))
        at = 0
        for first, _, width in numeric:
            by_buckets.setdefault(self.most, []).append((first, tf.stack(made[at:at + width], 1), width))
            at += width

    def columns(self):
        """Returns the buckets of each feature, in the order of the features' ids."""
        found = [None] * self.count
        for _, matrix, ids in self.matrices:
            for i, column in zip(ids, tf.split(matrix, len(ids), 1)):
                found[i] = column
        return found


# ---- training ----

def _hessians(head, loss, logits, gradients, features):
    """Returns the second derivatives of the loss by each logit."""
    rows = tf.to_float(tf.shape(logits)[0])
    if isinstance(head, (_BinaryHead, _MultiHead)):
        chance = tf.sigmoid(logits) if isinstance(head, _BinaryHead) else tf.nn.softmax(logits)
        # An example that is wrong with confidence has a large gradient and almost no hessian, and its leaf would be thrown to the
        # other side. The bound on each example's step bounds that of its leaf.
        return tf.maximum(chance * (1 - chance) * head.weights(features) / rows, tf.abs(gradients) / _LONGEST_STEP)
    if isinstance(head, _RegressionHead):
        return 2.0 * tf.ones_like(logits) * head.weights(features) / (rows * head.logits)
    each = []
    for i in range(head.logits):
        found = tf.gradients(gradients[:, i], logits)[0]
        each.append(tf.zeros_like(gradients[:, i]) if found is None else found[:, i])
    return tf.stack(each, 1)


class _Sums:
    """Sums that are averaged over the steps until a layer grows; those of an older ensemble are dropped."""

    def __init__(self, values, name):
        self.values = values
        self.held = [tf.ConditionalAccumulator(v.dtype, v.shape, shared_name="%s_%d" % (name, i), name=name) for i, v in enumerate(values)]

    def add(self, stamp):
        """Returns the op that adds this step's values."""
        return tf.group(*[a.apply_grad(v, stamp) for a, v in zip(self.held, self.values)])

    def count(self):
        return tf.reduce_min(tf.stack([a.num_accumulated() for a in self.held]))

    def take(self):
        return [a.take_grad(1) for a in self.held]

    def renew(self, stamp):
        """Returns the op that drops what was computed before the stamp."""
        return tf.group(*[a.set_global_step(stamp) for a in self.held])


class _Training:
    """The training step. A layer grows after so many batches, or with `by_examples` after so many examples."""

    def __init__(self, ensemble, features, head, hparams, batches, config, by_examples=False):
        self.ensemble, self.features, self.head, self.hparams, self.batches = ensemble, features, head, hparams, batches
        self.each = tf.cast(features.rows, tf.int64) if by_examples else tf.constant(1, tf.int64)
        self.by_examples = by_examples
        self.stamp, _, self.finished, _, self.nodes = self.states = ensemble.states()
        self.is_chief, self.alone = config.is_chief, config.num_worker_replicas <= 1 and config.num_ps_replicas == 0
        self.centering = None
        if hparams.center_bias:
            self.centering = tf.get_variable("center_bias_needed", [], tf.bool, tf.ones_initializer(), trainable=False, use_resource=False)
        self.cache = None

    def predict(self, in_memory):
        """Returns the logits of the batch. In memory, those of the last step are kept, since each step has the same rows."""
        rows, logits = self.features.rows, self.head.logits
        start = tf.zeros([rows], tf.int32), tf.fill([rows], -1), tf.zeros([rows, logits])
        if in_memory:
            def held(name, value):
                return tf.Variable(value, trainable=False, validate_shape=False, name=name, use_resource=False,
                                   collections=[tf.GraphKeys.LOCAL_VARIABLES])
            self.cache = [held("cache_tree_ids", np.zeros([0], np.int32)), held("cache_node_ids", np.zeros([0], np.int32)),
                          held("cache_logits", np.zeros([0, logits], np.float32))]
            start = tf.cond(tf.equal(tf.shape(self.cache[0])[0], rows), lambda: [tf.identity(v) for v in self.cache], lambda: list(start))
        with tf.control_dependencies(list(self.states)):  # a step that is overtaken must not have the newer stamp
            found = self.ensemble.call("BoostedTreesTrainingPredict", cached_tree_ids=tf.reshape(start[0], [-1]),
                                       cached_node_ids=tf.reshape(start[1], [-1]), bucketized_features=self.features.columns(),
                                       logits_dimension=logits)
        made = tf.reshape(start[2], [-1, logits]) + found.partial_logits
        self.node_ids = found.node_ids
        self.now = [found.tree_ids, found.node_ids, made]
        return made

    def train_op(self, loss, logits, features, weights):
        gradients = tf.gradients(loss, logits)[0]
        hessians = _hessians(self.head, loss, logits, gradients, features)
        self.gradients, self.hessians = gradients, hessians
        step = self._grow
        if self.centering is not None:
            step = lambda: tf.cond(self.centering, self._center, self._grow)  # noqa: E731
        done = self._with_boundaries(step, weights) if self.features.streams else step()
        with tf.control_dependencies([done]):
            return tf.assign_add(tf.train.get_global_step(), 1).op

    def _with_boundaries(self, step, weights):
        """Returns the op of a step; the first steps only collect the numbers that the boundaries are quantiles of."""
        seen = tf.get_variable("quantile_batches", [], tf.int64, tf.zeros_initializer(), trainable=False, use_resource=False)
        ready = tf.get_variable("quantiles_ready", [], tf.bool, tf.zeros_initializer(), trainable=False, use_resource=False)
        streams = self.features.streams

        def flush():
            with tf.control_dependencies([streams.flush(self.features.most)]):
                return tf.assign(ready, True).op

        def collect():
            with tf.control_dependencies([streams.add(self.features.values, weights)]):
                after = tf.assign_add(seen, self.each, use_locking=True)
            if not self.is_chief:  # a second flush would make boundaries of what little came since
                return after.op
            return tf.group(tf.cond(after >= self.batches, lambda: _true(flush()), lambda: tf.constant(True)))
        return tf.cond(ready, lambda: _true(step()), lambda: _true(collect()))

    def _when_enough(self, values, name, act):
        """Adds the values, and calls act with their means once there are enough; it returns an op."""
        if self.batches == 1 and self.alone:
            return act(values, None)
        sums = _Sums(values, name)
        added = sums.add(self.stamp)
        if self.by_examples:
            seen = tf.get_variable(name + "_examples", [], tf.int64, tf.zeros_initializer(), trainable=False, use_resource=False)
            with tf.control_dependencies([added]):
                count = tf.assign_add(seen, self.each, use_locking=True)
            added = count.op
        if not self.is_chief:
            return added
        with tf.control_dependencies([added]):
            count = tf.identity(count) if self.by_examples else sums.count()

        def enough():
            with tf.control_dependencies([tf.assign(seen, 0).op] if self.by_examples else []):
                return _true(act(sums.take(), sums))
        return tf.group(tf.cond(count >= self.batches, enough, lambda: tf.constant(True)))

    def _renewed(self, done, sums):
        if sums is None:
            return done
        with tf.control_dependencies([done]):
            return sums.renew(self.ensemble.states().stamp_token)

    def _center(self):
        def act(means, sums):
            far = self.ensemble.call("BoostedTreesCenterBias", mean_gradients=means[0], mean_hessians=means[1], l1=self.hparams.l1,
                                     l2=self.hparams.l2)
            return self._renewed(tf.assign(self.centering, far).op, sums)
        values = [tf.reduce_sum(v, 0) for v in (self.gradients, self.hessians)]
        return _true(self._when_enough(values, "bias_accumulator", act))

    def _grow(self):
        h, rows = self.hparams, self._rows()
        # The rows are nodes of the last layer. The sums of examples in other nodes are not wanted: they count as 0.
        row = tf.floormod(self.node_ids - self.nodes[0] - self._first_row(), self._width())
        inside = tf.logical_and(self.node_ids >= self.nodes[0], row < rows)
        counted = tf.expand_dims(tf.to_float(inside), 1)
        row = tf.where(inside, row, tf.zeros_like(row))
        stats = [op("BoostedTreesAggregateStats", node_ids=row, gradients=self.gradients * counted, hessians=self.hessians * counted,
                    feature=matrix, max_splits=rows, num_buckets=buckets) for buckets, matrix, _ in self.features.matrices]
        for s, (buckets, _, ids) in zip(stats, self.features.matrices):
            s.set_shape([rows, len(ids), buckets + 1, 2 * self.head.logits])

        def act(means, sums):
            return self._renewed(tf.group(tf.cond(self.finished < h.n_trees, lambda: _true(self._layer(means)),
                                                  lambda: tf.constant(True))), sums)
        done = self._when_enough(stats, "stats_accumulator", act)
        if self.cache:
            with tf.control_dependencies([done]):
                done = tf.group(*[tf.assign(v, now, validate_shape=False) for v, now in zip(self.cache, self.now)])
        return _true(done)

    def _width(self):
        """Returns the number of nodes of the last layer."""
        return tf.maximum(self.nodes[1] - self.nodes[0], 1)

    def _first_row(self):
        """Returns the node of the last layer that has row 0. If there are more nodes than rows, it differs from layer to layer."""
        turn = tf.cast(tf.floormod(self.stamp, 1 << 20), tf.int32)
        return tf.where(self._width() <= self._rows(), 0, tf.floormod(turn * 7919, self._width()))

    def _rows(self):
        """Returns how many nodes of a layer have statistics: all, if these take no more than _STATS_BYTES."""
        each = sum(8 * self.head.logits * len(ids) * (buckets + 1) for buckets, _, ids in self.features.matrices)
        most = 1 << (self.hparams.max_depth - 1)
        if each * most <= _STATS_BYTES:
            return most
        rows = max(1, _STATS_BYTES // each)
        logging.warning("The statistics of a layer of %d nodes would take %d MB: at most %d nodes of a layer are split. Use a smaller "
                        "max_depth or fewer buckets.", most, each * most >> 20, rows)
        return rows

    def _layer(self, stats):
        """Returns the op that adds a layer of the best splits."""
        h, ids = self.hparams, [i for *_, of in self.features.matrices for i in of]
        first = np.cumsum([0] + [len(of) for *_, of in self.features.matrices])[:-1].astype(np.int32)
        count = tf.minimum(self._width(), self._rows())
        best = op("BoostedTreesCalculateBestFeatureSplitV2", node_id_range=tf.stack([0, count]), stats_summaries_list=stats,
                  split_types=["inequality"] * len(stats), candidate_feature_ids=first, l1=h.l1, l2=h.l2,
                  tree_complexity=h.tree_complexity, min_node_weight=h.min_node_weight, logits_dimension=self.head.logits)
        features = tf.gather(tf.constant(ids, tf.int32), best.feature_ids + best.feature_dimensions)
        return self.ensemble.call(
            "BoostedTreesUpdateEnsembleV2", feature_ids=[features], dimension_ids=[tf.zeros_like(features)],
            node_ids=[self.nodes[0] + tf.floormod(best.node_ids + self._first_row(), self._width())], gains=[best.gains],
            thresholds=[best.thresholds],
            left_node_contribs=[best.left_node_contribs], right_node_contribs=[best.right_node_contribs],
            split_types=[best.split_with_default_directions], max_depth=h.max_depth, learning_rate=h.learning_rate,
            pruning_mode=_PRUNING[h.pruning_mode], logits_dimension=self.head.logits)


def _true(done):
    """Returns True, once the op has run."""
    with tf.control_dependencies([done]):
        return tf.constant(True)


class _StopWhenGrown(SessionRunHook):
    """Stops when all trees are finished, or when as many layers were tried as they may have."""

    def __init__(self, ensemble, train_op, hparams):
        self._hparams = hparams
        with tf.control_dependencies([train_op]):
            _, _, finished, layers, _ = ensemble.states()
            self._fetches = [tf.identity(finished), tf.identity(layers)]

    def before_run(self, run_context):
        return SessionRunArgs(self._fetches)

    def after_run(self, run_context, run_values):
        finished, layers = run_values.results
        if finished >= self._hparams.n_trees or layers >= self._hparams.n_trees * self._hparams.max_depth:
            run_context.request_stop()


def _numeric_columns(features, weight_column):
    """Returns a column for each feature but the weights."""
    weights = weight_column if isinstance(weight_column, str) or weight_column is None else weight_column.key
    return [fc.numeric_column(k, shape=(int(np.prod(v.shape.as_list()[1:])),)) for k, v in features.items() if k != weights]


def model_function(columns, head, hparams, batches, weight_column, in_memory, explain=False, by_examples=False):
    """Returns the model_fn of boosted trees. Without columns all features are numbers."""
    def model_fn(features, labels, mode, config):
        if not isinstance(features, dict):
            raise ValueError("features should be a dictionary of `Tensor`s. Given type: %s" % type(features))
        ensemble = TreeEnsemble()
        buckets = _Features(features, columns or _numeric_columns(features, weight_column), hparams)
        if mode != ModeKeys.TRAIN:
            logits = ensemble.call("BoostedTreesPredict", bucketized_features=buckets.columns(), logits_dimension=head.logits)
            logits.set_shape([None, head.logits])
            spec = head.spec(features, mode, logits, labels, None)
            if explain:
                paths = ensemble.call("BoostedTreesExampleDebugOutputs", bucketized_features=buckets.columns(), logits_dimension=1)
                spec = spec._replace(predictions={**spec.predictions, _EXPLANATION: paths})
            return spec
        training = _Training(ensemble, buckets, head, hparams, batches, config, by_examples)
        logits = training.predict(in_memory)
        weights = tf.ones([buckets.rows])
        if weight_column is not None:
            column = fc.numeric_column(weight_column) if isinstance(weight_column, str) else weight_column
            weights = tf.reshape(column.numbers(features), [-1])
        spec = head.spec(features, mode, logits, labels, lambda loss: training.train_op(loss, logits, features, weights))
        hook = _StopWhenGrown(ensemble, spec.train_op, hparams)
        return spec._replace(training_hooks=(*spec.training_hooks, hook))
    return model_fn


# ---- estimators ----

class _BoostedTrees(Estimator):
    """The base of the estimators of boosted trees."""

    def _make(self, head, feature_columns, n_batches_per_layer, model_dir, config, hparams, weight_column, in_memory):
        if n_batches_per_layer < 1:
            raise ValueError("n_batches_per_layer must be positive, got: %s" % n_batches_per_layer)
        if in_memory and n_batches_per_layer != 1:
            raise ValueError("train_in_memory needs the whole data set in one batch, so n_batches_per_layer must be 1, got: %s" %
                             n_batches_per_layer)
        self._columns, self._head, self._hparams = _sorted(feature_columns), head, hparams
        self._given = self._columns, head, hparams, n_batches_per_layer, weight_column, in_memory
        super().__init__(model_function(*self._given), model_dir, config)

    def experimental_feature_importances(self, normalize=False):
        """(names, importances): the features from the most to the least important, by the gain of their splits.

        Args:
          normalize: whether the importances add up to 1.
        """
        path = latest_checkpoint(self.model_dir)
        if not path:
            raise ValueError("Could not find a checkpoint in %s: train the estimator first." % self.model_dir)
        names = _names(self._columns)
        found, split = np.zeros(len(names)), False
        for feature, gain in split_gains(load_variable(path, "boosted_trees:0_serialized")):
            found[feature] += gain
            split = True
        if not split:
            raise ValueError("The ensemble has no splits yet, so no feature has an importance.")
        if normalize:
            if (found < 0).any():
                raise AssertionError("The importances cannot be normalized, since some are negative: use pruning_mode='pre' or 'post'.")
            found = found / found.sum()
        order = np.argsort(-found, kind="stable")
        return np.array(names)[order], found[order]

    def experimental_predict_with_explanations(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None):
        """Yields predictions with the contribution `dfc` of each feature, and the `bias`; they add up to the prediction.

        Args:
          input_fn: the function that gives the features.
          predict_keys: the keys of the predictions that are wanted; all if None.
          hooks: hooks of the prediction.
          checkpoint_path: the checkpoint; the newest one if None.
        """
        if not self._hparams.center_bias:
            raise ValueError("center_bias must be enabled during estimator instantiation when using "
                             "experimental_predict_with_explanations.")
        if self._head.logits != 1:
            raise ValueError("experimental_predict_with_explanations needs a model of one logit, and this one has %d." % self._head.logits)
        names, binary = _names(self._columns), isinstance(self._head, _BinaryHead)
        other = Estimator(model_function(*self._given, explain=True), self.model_dir, self.config)
        wanted = None if predict_keys is None else [*([predict_keys] if isinstance(predict_keys, str) else predict_keys), _EXPLANATION]
        for made in other.predict(input_fn, wanted, hooks, checkpoint_path):
            features, path = debug_path(made.pop(_EXPLANATION))
            path = 1 / (1 + np.exp(-np.array(path))) if binary else np.array(path)
            dfc = dict.fromkeys(names, 0.0)
            for feature, change in zip(features, np.diff(path)):
                dfc[names[feature]] += change
            order = sorted(dfc, key=lambda name: -abs(dfc[name]))
            yield {**made, "bias": path[0], "dfc": collections.OrderedDict((name, dfc[name]) for name in order)}


class BoostedTreesClassifier(_BoostedTrees):
    def __init__(self, feature_columns, n_batches_per_layer, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0, tree_complexity=0.0,
                 min_node_weight=0.0, config=None, center_bias=False, pruning_mode="none", quantile_sketch_epsilon=0.01,
                 train_in_memory=False):
        self._make(_class_head(n_classes, weight_column, label_vocabulary, tf.losses.Reduction.SUM_OVER_BATCH_SIZE), feature_columns,
                   n_batches_per_layer, model_dir, config,
                   tree_hparams(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
                                center_bias, pruning_mode, quantile_sketch_epsilon), weight_column, train_in_memory)


class BoostedTreesRegressor(_BoostedTrees):
    def __init__(self, feature_columns, n_batches_per_layer, model_dir=None, label_dimension=1, weight_column=None, n_trees=100,
                 max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0,
                 config=None, center_bias=False, pruning_mode="none", quantile_sketch_epsilon=0.01, train_in_memory=False):
        self._make(_RegressionHead(label_dimension, weight_column, tf.losses.Reduction.SUM_OVER_BATCH_SIZE), feature_columns,
                   n_batches_per_layer, model_dir, config,
                   tree_hparams(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
                                center_bias, pruning_mode, quantile_sketch_epsilon), weight_column, train_in_memory)


class BoostedTreesEstimator(_BoostedTrees):
    def __init__(self, feature_columns, n_batches_per_layer, head, model_dir=None, weight_column=None, n_trees=100, max_depth=6,
                 learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0, config=None,
                 center_bias=False, pruning_mode="none", quantile_sketch_epsilon=0.01, train_in_memory=False):
        self._make(_Given(head), feature_columns, n_batches_per_layer, model_dir, config,
                   tree_hparams(n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
                                center_bias, pruning_mode, quantile_sketch_epsilon), weight_column, train_in_memory)


# ---- training on data that fits into memory ----

def boosted_trees_classifier_train_in_memory(train_input_fn, feature_columns, model_dir=None, n_classes=2, weight_column=None,
                                             label_vocabulary=None, n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0,
                                             l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0, config=None,
                                             train_hooks=None, center_bias=False, pruning_mode="none", quantile_sketch_epsilon=0.01):
    """Returns a BoostedTreesClassifier, trained on an input_fn that gives the whole data set as one batch."""
    made = BoostedTreesClassifier(feature_columns, 1, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth,
                                  learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight, config,
                                  center_bias, pruning_mode, quantile_sketch_epsilon, True)
    made.train(_repeated(train_input_fn), hooks=train_hooks)
    return made


def boosted_trees_regressor_train_in_memory(train_input_fn, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
                                            n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0,
                                            tree_complexity=0.0, min_node_weight=0.0, config=None, train_hooks=None, center_bias=False,
                                            pruning_mode="none", quantile_sketch_epsilon=0.01):
    """Returns a BoostedTreesRegressor, trained on an input_fn that gives the whole data set as one batch."""
    made = BoostedTreesRegressor(feature_columns, 1, model_dir, label_dimension, weight_column, n_trees, max_depth, learning_rate,
                                 l1_regularization, l2_regularization, tree_complexity, min_node_weight, config, center_bias,
                                 pruning_mode, quantile_sketch_epsilon, True)
    made.train(_repeated(train_input_fn), hooks=train_hooks)
    return made


def _repeated(input_fn):
    """Returns an input_fn that gives all examples as one batch, again and again; a data set has an example in each element."""
    def repeated():
        found = input_fn()
        return found.batch((1 << 31) - 1).cache().repeat() if isinstance(found, tf.data.Dataset) else found
    return repeated
