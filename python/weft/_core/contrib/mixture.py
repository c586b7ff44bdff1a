"""tf.contrib.factorization's Gaussian mixtures, fitted by expectation maximization with one step for each run."""
import numpy as np

import weft as tf
from weft._core.contrib.learn_models import Learner
from weft._core.estimator.spec import EstimatorSpec
from weft._core.framework.absent import Named
from weft._core.train.hooks import SessionRunHook

FULL, DIAGONAL = "full", "diag"
_SMALL = 1e-3  # This is added to variances.


class GmmAlgorithm(metaclass=Named):
    """The graph of a Gaussian mixture."""

    CLUSTERS_WEIGHT, CLUSTERS_VARIABLE, CLUSTERS_COVS_VARIABLE = "alphas", "clusters", "clusters_covs"

    def __init__(self, data, num_classes, initial_means=None, params="wmc", covariance_type=FULL, random_seed=0):
        """Makes the variables and the ops.

        Args:
          data: a list of matrices, whose rows are examples.
          num_classes: how many normal distributions there are.
          initial_means: a matrix with their first means; by default rows of the data.
          params: what is learned: letters of 'w' (weights), 'm' (means) and 'c' (covariances).
          covariance_type: 'full' or 'diag'.
          random_seed: the seed of the choice of the first means.
        """
        if covariance_type not in (FULL, DIAGONAL):
            raise ValueError("programmer error: Invalid covariance type: %s" % (covariance_type,))
        if set(params) - set("wmc"):
            raise ValueError("params must be of the letters w, m and c, not %r" % (params,))
        self._parts = [tf.cast(tf.convert_to_tensor(x), tf.float32) for x in data]
        self._rows = tf.concat(self._parts, 0) if len(self._parts) > 1 else self._parts[0]
        self._width = self._rows.shape.as_list()[1]
        if self._width is None:
            raise ValueError("the data have no known number of columns: give them a shape")
        self._count, self._params, self._full, self._seed = num_classes, params, covariance_type == FULL, random_seed
        self._first = initial_means
        self._variables()
        every = [self._log_densities(x) + tf.log(self._weights) for x in self._parts]
        self._scores = [tf.reduce_logsumexp(x, 1) for x in every]
        self._classes = [tf.argmax(x, 1) for x in every]
        self._responsibilities = tf.concat([tf.nn.softmax(x) for x in every], 0)

    def _variables(self):
        n, width = self._count, self._width
        covariance = np.eye(width) if self._full else np.ones(width)
        self._weights = tf.Variable(tf.fill([n], np.float32(1.0 / n)), name=self.CLUSTERS_WEIGHT, trainable=False)
        self._means = tf.Variable(tf.zeros([n, width]), name=self.CLUSTERS_VARIABLE, trainable=False)
        self._covs = tf.Variable(tf.constant(np.stack([covariance] * n), tf.float32), name=self.CLUSTERS_COVS_VARIABLE, trainable=False)
        self._initialized = tf.Variable(False, trainable=False, name="initialized")

    def _log_densities(self, x):
        """Returns the logarithms of the densities, [rows, distributions]."""
        apart = x[None] - self._means[:, None]  # [n, rows, width]
        if self._full:
            root = tf.cholesky(self._covs + _SMALL * tf.eye(self._width))
            solved = tf.matrix_triangular_solve(root, tf.transpose(apart, [0, 2, 1]))
            squares = tf.reduce_sum(tf.square(solved), 1)
            spread = 2.0 * tf.reduce_sum(tf.log(tf.matrix_diag_part(root)), 1)
        else:
            variances = self._covs + _SMALL
            squares = tf.reduce_sum(tf.square(apart) / variances[:, None], 2)
            spread = tf.reduce_sum(tf.log(variances), 1)
        return tf.transpose(-0.5 * (squares + spread[:, None] + self._width * np.float32(np.log(2 * np.pi))))

    def scores(self):
        """Returns the logarithms of the likelihoods of the rows, a tensor for each matrix."""
        return self._scores

    def log_likelihood_op(self):
        """Returns the logarithm of the likelihood of all rows."""
        return tf.add_n([tf.reduce_sum(s) for s in self._scores])

    def assignments(self):
        """Returns the most likely distribution of each row, a tensor for each matrix."""
        return self._classes

    def clusters(self):
        """Returns the variable of the means."""
        return self._means

    def covariances(self):
        """Returns the variable of the covariances, or of the variances."""
        return self._covs

    def alphas(self):
        """Returns the variable of the weights."""
        return self._weights

    def is_initialized(self):
        """Returns the variable that says whether the first means were chosen."""
        return self._initialized

    def init_ops(self):
        """Returns an op that chooses the first means; the covariances begin as that of all rows."""
        rows = self._rows
        if self._first is None:
            places = tf.random_uniform([self._count], 0, tf.shape(rows, out_type=tf.int64)[0], tf.int64, seed=self._seed)
            means = tf.gather(rows, places)
        else:
            means = tf.cast(tf.convert_to_tensor(self._first), tf.float32)
            if not means.shape.is_compatible_with(self._means.shape):
                raise ValueError("num_classes (num_clusters) is %d and the rows have %d columns, but the first means are %s" % (
                    self._count, self._width, means.shape))
        centered = rows - tf.reduce_mean(rows, 0)
        number = tf.cast(tf.shape(rows)[0], tf.float32)
        if self._full:
            spread = tf.matmul(centered, centered, transpose_a=True) / (number - 1.0)
        else:
            spread = tf.reduce_sum(tf.square(centered), 0) / (number - 1.0)
        every = tf.tile(spread[None], [self._count] + [1] * spread.shape.ndims)
        with tf.control_dependencies([tf.assign(self._means, means), tf.assign(self._covs, every)]):
            return tf.assign(self._initialized, True).op

    def training_ops(self):
        """Returns an op that does one step of expectation maximization."""
        x, share = self._rows, tf.stop_gradient(self._responsibilities)
        total = tf.reduce_sum(share, 0)
        with tf.control_dependencies([total]):
            safe = tf.maximum(total, np.float32(np.finfo(np.float32).tiny))[:, None]
            means = tf.matmul(share, x, transpose_a=True) / safe if "m" in self._params else tf.identity(self._means)
            apart = x[None] - means[:, None]
            weighted = apart * tf.transpose(share)[:, :, None]
            if self._full:
                covs = tf.matmul(weighted, apart, transpose_a=True) / safe[:, :, None]
            else:
                covs = tf.reduce_sum(weighted * apart, 1) / safe
            weights = total / tf.reduce_sum(total)
        with tf.control_dependencies([means, covs, weights]):  # All are computed from the old values.
            updates = {"w": (self._weights, weights), "m": (self._means, means), "c": (self._covs, covs)}
            return tf.group(*[tf.assign(*updates[letter]) for letter in "wmc" if letter in self._params])


def gmm(inp, initial_clusters, num_clusters, random_seed, covariance_type=FULL, params="wmc"):
    """Returns the graph of a mixture of normal distributions.

    Args:
      inp: a matrix whose rows are examples, or a list of such.
      initial_clusters: 'random', or a matrix with the first means.
      num_clusters: how many normal distributions there are.
      random_seed: the seed of the choice of the first means.
      covariance_type: 'full' or 'diag'.
      params: what is learned: letters of 'w' (weights), 'm' (means) and 'c' (covariances).

    Returns (log likelihood, log likelihoods of the rows, assignments, training op, init op, whether it is initialized).
    """
    first = None if isinstance(initial_clusters, str) and initial_clusters == "random" else initial_clusters
    made = GmmAlgorithm(inp if isinstance(inp, list) else [inp], num_clusters, first, params, covariance_type, random_seed)
    return made.log_likelihood_op(), made.scores(), [made.assignments()], made.training_ops(), made.init_ops(), made.is_initialized()


class _Initialize(SessionRunHook):
    """Chooses the initial means when training begins."""

    def __init__(self, init_op, initialized):
        self._init_op, self._initialized = init_op, initialized

    def after_create_session(self, session, coord):
        if not session.run(self._initialized):
            session.run(self._init_op)


def _sum_of_batches(value):
    """Returns a metric: the sum of a scalar over all batches."""
    total = tf.Variable(0.0, trainable=False, name="sum", collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES])
    return tf.identity(total), tf.assign_add(total, value)


class GMM(Learner):
    """An estimator of a mixture of normal distributions, with fit(), score() and predict_assignments()."""

    SCORES, LOG_LIKELIHOOD, ASSIGNMENTS = "scores", "loss", "assignments"

    def __init__(self, num_clusters, model_dir=None, random_seed=0, params="wmc", initial_clusters="random", covariance_type=FULL,
                 config=None):
        """Makes the estimator.

        Args:
          num_clusters: how many normal distributions there are.
          model_dir: the folder of checkpoints.
          random_seed: the seed of the choice of the first means.
          params: what is learned: letters of 'w' (weights), 'm' (means) and 'c' (covariances).
          initial_clusters: 'random', or a matrix with the first means.
          covariance_type: 'full' or 'diag'.
          config: a RunConfig.
        """
        def model_fn(features, labels, mode):
            rows = tf.concat([features[k] for k in sorted(features)], 1) if isinstance(features, dict) else features
            likelihood, _, classes, step, init_op, initialized = gmm(
                rows, initial_clusters, num_clusters, random_seed, covariance_type, params)
            predictions = {self.ASSIGNMENTS: classes[0][0]}
            if mode == tf.estimator.ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions=predictions)
            likelihood = tf.identity(likelihood)
            if mode == tf.estimator.ModeKeys.EVAL:
                metrics = {self.SCORES: _sum_of_batches(likelihood)}
                return EstimatorSpec(mode, predictions=predictions, loss=likelihood, eval_metric_ops=metrics)
            with tf.control_dependencies([likelihood]):
                moved = tf.group(step)
            with tf.control_dependencies([moved]):
                count = tf.assign_add(tf.train.get_or_create_global_step(), 1).op
            tf.summary.scalar("loss/raw", likelihood)
            return EstimatorSpec(mode, predictions=predictions, loss=likelihood, train_op=count,
                                 training_hooks=[_Initialize(init_op, initialized)])
        super().__init__(model_fn, model_dir, config)

    def predict_assignments(self, input_fn=None, batch_size=None, outputs=None):
        """Yields the most likely distribution of each row.

        Args:
          input_fn: a function that makes the rows.
          batch_size: how many rows are computed at once, where the rows are an array.
          outputs: must be None; the assignments are the only output.
        """
        if outputs is not None:
            raise NotImplementedError("tf.contrib.factorization.GMM.predict_assignments(outputs=%r) is not in Weft" % (outputs,))
        for found in self.predict(input_fn=input_fn, batch_size=batch_size, as_iterable=True):
            yield found[self.ASSIGNMENTS] if isinstance(found, dict) else found

    def score(self, input_fn=None, batch_size=None, steps=None):
        """Returns the logarithm of the likelihood of the rows.

        Args:
          input_fn: a function that makes the rows.
          batch_size: how many rows are computed at once, where the rows are an array.
          steps: how many batches are read; None: all.
        """
        return self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)[self.SCORES]

    def weights(self):
        """Returns the weights of the distributions."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self):
        """Returns the means of the distributions, a matrix."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE)

    def covariances(self):
        """Returns the covariances of the distributions, or their variances."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)
