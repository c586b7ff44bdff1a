"""tf.estimator.experimental.KMeans: clusters rows, using a batch or the whole input at each step."""
import time

import numpy as np

import weft as tf
from weft._core.estimator.estimator import Estimator
from weft._core.estimator.spec import EstimatorSpec
from weft._core.platform import logging
from weft._core.train.hooks import SessionRunArgs, SessionRunHook

SQUARED_EUCLIDEAN, COSINE, RANDOM, PLUS_PLUS = "squared_euclidean", "cosine", "random", "kmeans_plus_plus"
_SMALL = 1e-6  # TensorFlow divides by the number of rows plus this value.


class _InitializeClusters(SessionRunHook):
    """Chooses the first centers before the first step; tasks other than the chief wait for them."""

    def __init__(self, rows, make, clusters, initialized, is_chief):
        self._rows, self._make, self._clusters, self._initialized, self._is_chief = rows, make, clusters, initialized, is_chief

    def begin(self):
        self._given = [(v, tf.placeholder(v.dtype.base_dtype, v.get_shape())) for v in (*self._clusters, self._initialized)]
        self._assigns = [tf.assign(v, p) for v, p in self._given]

    def after_create_session(self, session, coord):
        if session.run(self._initialized):
            return
        if self._is_chief:
            centers = self._make(session, self._rows)
            values = [centers] * len(self._clusters) + [True]
            session.run(self._assigns, {p: value for (_, p), value in zip(self._given, values)})
            return
        while not session.run(self._initialized):
            logging.log_every_n(logging.INFO, "Waiting for the chief to choose the first centers.", 10)
            time.sleep(1)


class _StopWhenStill(SessionRunHook):
    """Stops training when the loss changes by less than a given fraction."""

    def __init__(self, loss, tolerance):
        self._loss, self._tolerance, self._before = loss, tolerance, None

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        loss = run_values.results
        if self._before is not None and abs(self._before - loss) <= self._tolerance * self._before:
            run_context.request_stop()
        self._before = loss


def _plus_plus(rows, count, retries, distances, random):
    """Returns the first centers of k-means++: rows chosen by their squared distance from the nearest earlier center."""
    chosen = [rows[random.randint(len(rows))]]
    nearest = distances(rows, chosen[0])
    while len(chosen) < count:
        total = nearest.sum()
        chances = nearest / total if total > 0 else None
        tries = random.choice(len(rows), size=1 + retries, p=chances)
        costs = [np.minimum(nearest, distances(rows, rows[t])) for t in tries]
        best = min(range(len(tries)), key=lambda i: costs[i].sum())
        chosen.append(rows[tries[best]])
        nearest = costs[best]
    return np.stack(chosen)


class _Model:
    """The parts of the graph that all modes share."""

    def __init__(self, features, given):
        self.given, self.cosine = given, given["distance_metric"] == COSINE
        self.rows = _matrix(features, given["feature_columns"])
        width = self.rows.get_shape().as_list()[-1]
        if width is None:
            raise ValueError("tf.estimator.experimental.KMeans: the features have no known number of columns: give them a shape")
        # As in TensorFlow, the number of given centers counts.
        if isinstance(given["initial_clusters"], (list, tuple, np.ndarray)):
            given["num_clusters"] = len(given["initial_clusters"])
        shape = [given["num_clusters"], width]
        self.clusters = tf.get_variable("clusters", shape, initializer=tf.zeros_initializer(), trainable=False)
        self.initialized = tf.get_variable("initialized", [], tf.bool, tf.constant_initializer(False), trainable=False)
        x = tf.nn.l2_normalize(self.rows, 1) if self.cosine else self.rows
        self.x = x
        if self.cosine:
            self.distances = 1.0 - tf.matmul(x, self.clusters, transpose_b=True)
        else:
            self.distances = tf.reduce_sum(tf.squared_difference(tf.expand_dims(x, 1), tf.expand_dims(self.clusters, 0)), 2)
        self.index = tf.argmin(self.distances, 1)
        self.loss = tf.reduce_sum(tf.reduce_min(self.distances, 1))

    def train(self):
        """Returns the update of the centers, and the variables, whose initial values are the chosen centers."""
        count = self.given["num_clusters"]
        sums = tf.unsorted_segment_sum(self.x, self.index, count)
        counts = tf.unsorted_segment_sum(tf.ones_like(self.index), self.index, count)
        if not self.given["use_mini_batch"]:
            means = sums / (tf.cast(tf.expand_dims(counts, 1), sums.dtype) + _SMALL)
            return tf.assign(self.clusters, tf.nn.l2_normalize(means, 1) if self.cosine else means).op, [self.clusters]
        return self._by_batches(sums, counts)

    def _by_batches(self, sums, counts):
        steps = self.given["mini_batch_steps_per_iteration"]
        moved = self.clusters
        if steps > 1:
            moved = tf.get_variable("clusters_updated", self.clusters.get_shape(), initializer=tf.zeros_initializer(), trainable=False)
        seen = tf.Variable(np.ones([self.given["num_clusters"]], np.int64), trainable=False)
        now = tf.cast(tf.expand_dims(tf.assign_add(seen, counts), 1), sums.dtype)
        each = tf.cast(tf.expand_dims(counts, 1), sums.dtype)
        after = tf.assign_add(moved, (sums - each * moved) / now)
        if steps == 1:
            return after.op, [self.clusters]
        step = tf.get_variable("update_in_steps", [], tf.int64, tf.zeros_initializer(), trainable=False)
        with tf.control_dependencies([after]):
            left = tf.assign_add(step, 1)
        update = tf.cond(tf.equal(left % steps, 0), lambda: tf.assign(self.clusters, moved).op, tf.no_op)
        return update, [self.clusters, moved]

    def first_centers(self, session, rows):
        """Returns the initial centers, from rows of the input unless the program gives them."""
        given, count = self.given["initial_clusters"], self.given["num_clusters"]
        if not isinstance(given, str):
            return given(session) if callable(given) else given
        found = session.run(rows)
        while len(found) < count:
            found = np.concatenate([found, session.run(rows)])
        random = np.random.RandomState(self.given["seed"])
        if self.cosine:
            found = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        if given == RANDOM:
            return found[random.permutation(len(found))[:count]]
        return _plus_plus(found, count, self.given["kmeans_plus_plus_num_retries"], self._apart, random)

    def _apart(self, rows, center):
        if self.cosine:
            lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(center)
            return np.maximum(1 - rows @ center / np.maximum(lengths, 1e-12), 0)
        return ((rows - center) ** 2).sum(1)


def _matrix(features, columns):
    """Returns the features as one matrix."""
    if columns:
        return tf.feature_column.input_layer(features, columns)
    if isinstance(features, dict):
        features = [features[key] for key in sorted(features)]
    if isinstance(features, (list, tuple)):
        return tf.concat([tf.convert_to_tensor(f) for f in features], 1)
    return tf.convert_to_tensor(features)


def _initial(given, model):
    """Returns the centers that the program gives, as a function of a session or as a string."""
    if isinstance(given, str):
        return given
    made = tf.convert_to_tensor(given(model.rows, model.given["num_clusters"]) if callable(given) else given, tf.float32)
    return lambda session: session.run(made)


def _model_fn(given, relative_tolerance):
    def model_fn(features, labels, mode, config):
        model = _Model(features, dict(given))
        predictions = {KMeans.ALL_DISTANCES: model.distances if model.cosine else tf.sqrt(model.distances),
                       KMeans.CLUSTER_INDEX: tf.cast(model.index, tf.int32)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=predictions)
        metrics = {KMeans.SCORE: tf.metrics.mean(model.loss)}
        if mode == tf.estimator.ModeKeys.EVAL:
            return EstimatorSpec(mode, predictions=predictions, loss=model.loss, eval_metric_ops=metrics)
        model.given["initial_clusters"] = _initial(given["initial_clusters"], model)
        loss = tf.identity(model.loss)
        with tf.control_dependencies([loss]):
            update, variables = model.train()
        with tf.control_dependencies([update]):
            step = tf.assign_add(tf.train.get_or_create_global_step(), 1).op
        tf.summary.scalar("loss/raw", loss)
        hooks = [_InitializeClusters(model.rows, model.first_centers, variables, model.initialized, config.is_chief)]
        if relative_tolerance is not None:
            hooks.append(_StopWhenStill(loss, relative_tolerance))
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=step, eval_metric_ops=metrics,
                             training_hooks=hooks)
    return model_fn


class KMeans(Estimator):
    """An estimator that finds the centers of clusters of rows."""

    SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = SQUARED_EUCLIDEAN, COSINE
    RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = RANDOM, PLUS_PLUS
    SCORE, CLUSTER_INDEX, ALL_DISTANCES, CLUSTER_CENTERS_VAR_NAME = "score", "cluster_index", "all_distances", "clusters"

    def __init__(self, num_clusters, model_dir=None, initial_clusters=RANDOM, distance_metric=SQUARED_EUCLIDEAN, seed=None,
                 use_mini_batch=True, mini_batch_steps_per_iteration=1, kmeans_plus_plus_num_retries=2, relative_tolerance=None,
                 config=None, feature_columns=None):
        """Makes the estimator.

        Args:
          num_clusters: how many clusters there are.
          model_dir: the folder of checkpoints.
          initial_clusters: the first centers: 'random' or 'kmeans_plus_plus', a matrix, or a function of the rows and the number.
          distance_metric: 'squared_euclidean' or 'cosine'.
          seed: the seed of the choice of the first centers.
          use_mini_batch: whether a step moves the centers by its batch; else a step sees the whole input and replaces them.
          mini_batch_steps_per_iteration: after how many steps the moved centers are used.
          kmeans_plus_plus_num_retries: how many more rows are tried for each center of 'kmeans_plus_plus'.
          relative_tolerance: the training stops when the loss changes by less than this part of itself.
          config: a RunConfig.
          feature_columns: columns that make the matrix of the features.
        """
        if isinstance(initial_clusters, str) and initial_clusters not in (RANDOM, PLUS_PLUS):
            raise ValueError("Unsupported initialization algorithm '%s'" % initial_clusters)
        if distance_metric not in (SQUARED_EUCLIDEAN, COSINE):
            raise ValueError("Unsupported distance metric '%s'" % distance_metric)
        given = dict(num_clusters=num_clusters, initial_clusters=initial_clusters, distance_metric=distance_metric, seed=seed,
                     use_mini_batch=use_mini_batch, mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
                     kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries, feature_columns=feature_columns)
        super().__init__(_model_fn(given, relative_tolerance), model_dir, config)

    def _predicted(self, input_fn, key):
        for found in self.predict(input_fn, predict_keys=[key], yield_single_examples=True):
            yield found[key]

    def predict_cluster_index(self, input_fn):
        """Yields the index of the nearest center of each row."""
        return self._predicted(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn):
        """Returns the sum of the distances of the rows of one batch to their nearest centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn):
        """Yields the distances of each row to all centers."""
        return self._predicted(input_fn, self.ALL_DISTANCES)

    def cluster_centers(self):
        """Returns the centers, as a matrix."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)
