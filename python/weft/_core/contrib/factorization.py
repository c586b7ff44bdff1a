"""tf.contrib.factorization.KMeans: the ops of k-means clustering."""
import numpy as np

import weft as tf
from weft._core.estimator.kmeans import COSINE, PLUS_PLUS, RANDOM, SQUARED_EUCLIDEAN, _plus_plus
from weft._core.framework.absent import Named

RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = RANDOM, PLUS_PLUS
SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = SQUARED_EUCLIDEAN, COSINE


class KMeans(metaclass=Named):
    """The graph of k-means: training_graph() makes the ops."""

    def __init__(self, inputs, num_clusters, initial_clusters=RANDOM, distance_metric=SQUARED_EUCLIDEAN, use_mini_batch=False,
                 mini_batch_steps_per_iteration=1, random_seed=0, kmeans_plus_plus_num_retries=2):
        """Sets what is clustered, and how.

        Args:
          inputs: a matrix, or a list of matrices, whose rows are clustered.
          num_clusters: how many clusters there are.
          initial_clusters: 'random' or 'kmeans_plus_plus', a matrix, or a function of the rows and the number.
          distance_metric: 'squared_euclidean' or 'cosine'.
          use_mini_batch: whether a step moves the centers by its rows; else it replaces them by the means of the rows.
          mini_batch_steps_per_iteration: must be 1; the estimator KMeansClustering takes others.
          random_seed: the seed of the choice of the first centers.
          kmeans_plus_plus_num_retries: how many more rows are tried for each center of 'kmeans_plus_plus'.
        """
        if isinstance(initial_clusters, str) and initial_clusters not in (RANDOM, PLUS_PLUS):
            raise ValueError("Unsupported initialization algorithm '%s'" % initial_clusters)
        if distance_metric not in (SQUARED_EUCLIDEAN, COSINE):
            raise ValueError("Unsupported distance metric '%s'" % distance_metric)
        if mini_batch_steps_per_iteration != 1:
            raise NotImplementedError("tf.contrib.factorization.KMeans(mini_batch_steps_per_iteration=%r) is not in Weft: use "
                                      "tf.contrib.factorization.KMeansClustering" % mini_batch_steps_per_iteration)
        self._inputs = [tf.convert_to_tensor(x) for x in (inputs if isinstance(inputs, list) else [inputs])]
        self._count, self._first, self._cosine = num_clusters, initial_clusters, distance_metric == COSINE
        if isinstance(initial_clusters, (list, tuple, np.ndarray)):
            self._count = len(initial_clusters)
        self._by_batches, self._seed, self._retries = use_mini_batch, random_seed, kmeans_plus_plus_num_retries

    def training_graph(self):
        """Makes the ops of one step.

        Returns:
          all_scores: a list with the distances of the rows of each input from all centers.
          cluster_index: a list with the index of the nearest center of each row.
          scores: a list with the distance of each row from its nearest center.
          cluster_centers_initialized: whether the first centers are chosen.
          init_op: chooses them.
          training_op: moves the centers.
        """
        rows = tf.concat(self._inputs, 0) if len(self._inputs) > 1 else self._inputs[0]
        shape = [self._count, rows.get_shape().as_list()[1]]
        clusters = tf.Variable(tf.zeros(shape, rows.dtype), trainable=False, name="clusters")
        initialized = tf.Variable(False, trainable=False, name="initialized")
        with tf.control_dependencies([tf.assign(clusters, tf.reshape(self._choose(rows), shape))]):
            init_op = tf.assign(initialized, True).op
        every = [self._distances(x, clusters) for x in self._inputs]
        index = [tf.argmin(d, 1) for d in every]
        nearest = [tf.reduce_min(d, 1) for d in every]
        return every, index, nearest, initialized, init_op, self._step(rows, tf.concat(index, 0), clusters)

    def _distances(self, x, clusters):
        if self._cosine:
            return 1.0 - tf.matmul(tf.nn.l2_normalize(x, 1), tf.nn.l2_normalize(clusters, 1), transpose_b=True)
        return tf.reduce_sum(tf.squared_difference(tf.expand_dims(x, 1), tf.expand_dims(clusters, 0)), 2)

    def _choose(self, rows):
        if callable(self._first):
            return self._first(rows, self._count)
        if not isinstance(self._first, str):
            return tf.convert_to_tensor(self._first, rows.dtype)
        if self._first == RANDOM:
            return tf.random_shuffle(rows, seed=self._seed)[:self._count]

        def choose(found):
            def apart(a, b):
                if self._cosine:
                    return np.maximum(1 - a @ b / np.maximum(np.linalg.norm(a, axis=1) * np.linalg.norm(b), 1e-12), 0)
                return ((a - b) ** 2).sum(1)
            return _plus_plus(found, self._count, self._retries, apart, np.random.RandomState(self._seed))
        return tf.py_func(choose, [rows], rows.dtype)

    def _step(self, rows, index, clusters):
        x = tf.nn.l2_normalize(rows, 1) if self._cosine else rows
        sums = tf.unsorted_segment_sum(x, index, self._count)
        counts = tf.unsorted_segment_sum(tf.ones_like(index), index, self._count)
        each = tf.cast(tf.expand_dims(counts, 1), sums.dtype)
        if self._by_batches:
            seen = tf.Variable(tf.ones([self._count], tf.int64), trainable=False)
            now = tf.cast(tf.expand_dims(tf.assign_add(seen, counts), 1), sums.dtype)
            return tf.assign_add(clusters, (sums - each * clusters) / now).op
        means = sums / (each + 1e-6)
        return tf.assign(clusters, tf.nn.l2_normalize(means, 1) if self._cosine else means).op
