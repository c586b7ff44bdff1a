"""tf.contrib.factorization.WALSModel: the factors of a sparse matrix by weighted alternating least squares.

The factors U, V minimize the sum of w_ij (a_ij - u_i v_j)^2 over all entries, and regularization (|U|^2 + |V|^2), where w_ij is
unobserved_weight, plus row_weights[i] col_weights[j] where a_ij is given.  With V fixed the rows of U are solutions of least
squares: (unobserved_weight V'V + regularization I + sum of r_i c_j v_j v_j' over the given j) u_i = sum of w_ij a_ij v_j.
"""
import numbers

import numpy as np

import weft as tf
from weft._core.framework.absent import Named


def _sizes(total, shards):
    """Returns the number of rows of each shard; the first ones have one more if the rows are not divisible."""
    return [total // shards + (1 if i < total % shards else 0) for i in range(shards)]


class _Side:
    """The factors and the weights of the rows, or of the columns."""

    def __init__(self, name, total, shards, width, init, weights):
        if shards < 1 or shards > max(total, 1):
            raise ValueError("the number of shards of the %s factors must be from 1 to %d, got %s" % (name, total, shards))
        self.total, self.sizes = total, _sizes(total, shards)
        starts = np.cumsum([0] + self.sizes)
        random = isinstance(init, str)
        if random and init != "random":
            raise ValueError("Only 'random' and values initialize factors, got %r" % init)
        value = None if random else tf.cast(tf.convert_to_tensor(init), tf.float32)
        self.factors = [tf.Variable(tf.random_normal([n, width]) if random else tf.reshape(value[a:a + n], [n, width]),
                                    trainable=False, name="%s_factors_shard_%d" % (name, i))
                        for i, (n, a) in enumerate(zip(self.sizes, starts))]
        self.weights = self._weights(name, weights)
        self.gramian = tf.Variable(tf.zeros([width, width]), trainable=False, name="%s_gramian" % name)
        self.cache = None

    def _weights(self, name, given):
        """Returns None, one number, or a variable for each shard."""
        if given is None:
            return None
        if isinstance(given, numbers.Real):
            if given < 0:
                raise ValueError("%s_weights must not be negative, got %s" % (name, given))
            return tf.Variable(np.float32(given), trainable=False, name="%s_weights" % name)
        given = list(given)
        if len(self.sizes) == 1 and len(given) == self.total and not np.ndim(given[0]):
            given = [given]
        shards = [np.asarray(w, np.float32) for w in given]
        if [w.shape for w in shards] != [(n,) for n in self.sizes]:
            raise ValueError("%s_weights must be lists of %s numbers, as the shards of the factors, got %s" % (
                name, self.sizes, [w.shape for w in shards]))
        return [tf.Variable(w, trainable=False, name="%s_weights_shard_%d" % (name, i)) for i, w in enumerate(shards)]

    @staticmethod
    def _joined(parts):
        return parts[0].value() if len(parts) == 1 else tf.concat([p.value() for p in parts], 0)

    def all_factors(self):
        return self._joined(self.factors)

    def all_weights(self):
        """Returns a vector of all weights, or None where there are none."""
        if self.weights is None:
            return None
        if isinstance(self.weights, list):
            return self._joined(self.weights)
        return tf.fill([self.total], self.weights.value())

    def variables(self):
        of = self.weights if isinstance(self.weights, list) else [] if self.weights is None else [self.weights]
        return [*self.factors, *of, self.gramian]

    def fill_gramian(self):
        """Returns an op that computes the factors' products with each other."""
        return tf.assign(self.gramian, tf.add_n([tf.matmul(f, f, transpose_a=True) for f in self.factors])).op

    def updated(self, rows, values):
        """Returns an op that replaces the factors of some rows."""
        first, made = 0, []
        for variable, n in zip(self.factors, self.sizes):
            here = tf.where(tf.logical_and(rows >= first, rows < first + n))[:, 0]
            made.append(tf.scatter_update(variable, tf.gather(rows, here) - first, tf.gather(values, here)).op)
            first += n
        return tf.group(*made)


def _cached(wanted, value, name):
    """Returns the factors on the ps tasks or their copy on the worker, and an op that renews the copy."""
    if not wanted or value is None:
        return value, tf.no_op()
    held = tf.Variable(tf.zeros(value.shape), trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name=name)
    return held, tf.assign(held, value).op


class WALSModel(metaclass=Named):
    """The factors of a sparse matrix, and the ops that improve them row by row and column by column."""

    def __init__(self, input_rows, input_cols, n_components, unobserved_weight=0.1, regularization=None, row_init="random",
                 col_init="random", num_row_shards=1, num_col_shards=1, row_weights=1, col_weights=1,
                 use_factors_weights_cache=True, use_gramian_cache=True):
        """Makes the variables.

        Args:
          input_rows, input_cols: the shape of the matrix.
          n_components: how many numbers a factor has.
          unobserved_weight: the weight of the entries that are not given.
          regularization: the weight of the squares of the factors; None for 0.
          row_init, col_init: the first factors: 'random' or a matrix.
          num_row_shards, num_col_shards: into how many variables the factors are split.
          row_weights, col_weights: a number, lists of numbers as the shards have rows, or None in both: all weights are
            unobserved_weight.
          use_factors_weights_cache: whether the worker keeps copies of factors and weights, which worker_init and the ops
            initialize_row_update_op and initialize_col_update_op renew.
          use_gramian_cache: whether it keeps a copy of the products of the factors with each other, which they renew too.
        """
        if (row_weights is None) != (col_weights is None):
            raise ValueError("row_weights and col_weights must both be None, or none of them")
        self._width, self._unobserved = n_components, unobserved_weight
        self._regularization = regularization or 0.0
        self._row = _Side("row", input_rows, num_row_shards, n_components, row_init, row_weights)
        self._col = _Side("col", input_cols, num_col_shards, n_components, col_init, col_weights)
        fills = []
        for name, side in (("row", self._row), ("col", self._col)):
            factors, fill_factors = _cached(use_factors_weights_cache, side.all_factors(), "%s_factors_cache" % name)
            weights, fill_weights = _cached(use_factors_weights_cache, side.all_weights(), "%s_weights_cache" % name)
            gramian, fill_gramian = _cached(use_gramian_cache, side.gramian, "%s_gramian_cache" % name)
            side.cache, side.renew, side.prepare = (factors, weights, gramian), tf.group(fill_factors, fill_gramian), side.fill_gramian()
            fills.append(fill_weights)
        self._initialize = tf.group(*(v.initializer for side in (self._row, self._col) for v in side.variables()))
        self._worker_init = tf.group(*fills)

    row_factors = property(lambda self: self._row.factors, doc="The variables of the rows' factors.")
    col_factors = property(lambda self: self._col.factors, doc="The variables of the columns' factors.")
    row_weights = property(lambda self: self._row.weights, doc="The variables of the rows' weights.")
    col_weights = property(lambda self: self._col.weights, doc="The variables of the columns' weights.")
    initialize_op = property(lambda self: self._initialize, doc="Initializes the variables.")
    worker_init = property(lambda self: self._worker_init, doc="Initializes the worker's copies; run it once before updates.")
    row_update_prep_gramian_op = property(lambda self: self._col.prepare, doc="Prepares updates of rows; the chief runs it.")
    col_update_prep_gramian_op = property(lambda self: self._row.prepare, doc="Prepares updates of columns; the chief runs it.")
    initialize_row_update_op = property(lambda self: self._col.renew, doc="Renews the worker's copies before updates of rows.")
    initialize_col_update_op = property(lambda self: self._row.renew, doc="Renews the worker's copies before updates of columns.")

    def update_row_factors(self, sp_input=None, transpose_input=False):
        """Ops for some rows of the matrix.

        Args:
          sp_input: a SparseTensor with the rows, with the indices of the whole matrix.
          transpose_input: whether it is transposed.

        Returns:
          The new factors of the rows, an op that assigns them, the loss of the rows times (all rows / these rows), the
          regularization likewise, and the sum of the weights likewise.
        """
        return self._update(self._row, self._col, sp_input, transpose_input)

    def update_col_factors(self, sp_input=None, transpose_input=False):
        """Returns the same for some columns."""
        return self._update(self._col, self._row, sp_input, not transpose_input)

    def project_row_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """Returns the factors that rows would have.

        Args:
          sp_input: a SparseTensor with the rows; the indices of the rows say only which entries belong together.
          transpose_input: whether it is transposed.
          projection_weights: the weights of the rows: a number or a vector; None for 1.
        """
        return self._project(self._row, self._col, sp_input, transpose_input, projection_weights)

    def project_col_factors(self, sp_input=None, transpose_input=False, projection_weights=None):
        """Returns the factors that columns would have; the arguments are those of project_row_factors."""
        return self._project(self._col, self._row, sp_input, not transpose_input, projection_weights)

    @classmethod
    def scatter_update(cls, factor, indices, values, sharding_func, name=None):
        """Replaces rows of factors that are split.

        Args:
          factor: the list of their variables.
          indices: the rows.
          values: their new values.
          sharding_func: a function of indices that gives the shards, and the rows in them.
          name: the name of the op.
        """
        with tf.name_scope(name, "scatter_update", [indices, values]):
            shards, rows = sharding_func(indices)
            made = []
            for i, variable in enumerate(factor):
                here = tf.where(tf.equal(shards, i))[:, 0]
                made.append(tf.scatter_update(variable, tf.gather(rows, here), tf.gather(values, here)).op)
            return tf.group(*made)

    # ---- least squares ----

    def _solve(self, entries, count, own_weights, other):
        """Returns the factors of `count` rows from (row, column, value) of entries, and w_ij - unobserved_weight of
        each entry.
        """
        row, column, value = entries
        factors, weights, gramian = other.cache
        v = tf.gather(factors, column)
        more = tf.zeros_like(value) if weights is None else tf.gather(own_weights, row) * tf.gather(weights, column)
        parts = tf.expand_dims(more, 1) * v
        squares = tf.unsorted_segment_sum(tf.expand_dims(parts, 2) * tf.expand_dims(v, 1), row, count)
        left = squares + self._unobserved * gramian + self._regularization * tf.eye(self._width)
        right = tf.unsorted_segment_sum(tf.expand_dims((more + self._unobserved) * value, 1) * v, row, count)
        return tf.matrix_solve(left, tf.expand_dims(right, 2))[:, :, 0], v, more

    @staticmethod
    def _entries(sp_input, transposed):
        at = tf.cast(sp_input.indices, tf.int64)
        row, column = (at[:, 1], at[:, 0]) if transposed else (at[:, 0], at[:, 1])
        return row, column, tf.cast(sp_input.values, tf.float32)

    def _update(self, own, other, sp_input, transposed):
        if not isinstance(sp_input, tf.SparseTensor):
            raise ValueError("sp_input must be a SparseTensor, got %r" % (sp_input,))
        row, column, value = self._entries(sp_input, transposed)
        rows, place = tf.unique(row, out_idx=tf.int64)
        count = tf.shape(rows)[0]
        weights = own.cache[1]
        mine = None if weights is None else tf.gather(weights, rows)
        found, v, more = self._solve((place, column, value), count, mine, other)
        found.set_shape([None, self._width])
        gramian, scale = other.cache[2], own.total / tf.cast(count, tf.float32)
        said = tf.reduce_sum(tf.gather(found, place) * v, 1)
        unobserved = tf.reduce_sum(tf.matmul(found, gramian) * found) - tf.reduce_sum(tf.square(said))  # of entries not given
        loss = self._unobserved * unobserved + tf.reduce_sum((more + self._unobserved) * tf.square(value - said))
        squares = self._regularization * (tf.reduce_sum(tf.square(found)) * scale + tf.trace(gramian))
        total = tf.reduce_sum(more) + self._unobserved * tf.cast(count, tf.float32) * other.total
        return found, own.updated(rows, found), loss * scale, squares, total * scale

    def _project(self, own, other, sp_input, transposed, weights):
        row, column, value = self._entries(sp_input, transposed)
        rows, place = tf.unique(row, out_idx=tf.int64)
        count = tf.shape(rows)[0]
        weights = tf.cast(1.0 if weights is None else weights, tf.float32)
        mine = tf.fill([count], weights) if weights.shape.ndims == 0 else weights
        made, _, _ = self._solve((place, column, value), count, mine, other)
        made.set_shape([None, self._width])
        return made
