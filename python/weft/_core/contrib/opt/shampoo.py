"""ShampooOptimizer of tf.contrib.opt: a preconditioner for each dimension of a variable (arXiv:1802.09568).

For a gradient g of rank k, L_j collects the products of g with itself over all dimensions but j.  The step is g with
each dimension j multiplied by (L_j + epsilon I)^(-alpha / k).  A dimension of more than max_matrix_size rows keeps the
diagonal of L_j only.
"""
import weft as tf


class ShampooOptimizer(tf.train.Optimizer):
    """Takes steps that are preconditioned in each dimension of a variable.

    The decays, weights, intervals and the learning rate may be numbers, tensors, or functions of the global step.

    Args:
      global_step: the step that these functions and the intervals see.
      max_matrix_size: dimensions of more rows keep only a diagonal.
      gbar_decay, gbar_weight: gbar = gbar_decay * gbar + gbar_weight * gradient is what is preconditioned.
      mat_gbar_decay, mat_gbar_weight: the same for the preconditioners, from the gradient's products.
      learning_rate: the learning rate.
      svd_interval: the steps from one computation of the roots to the next.
      precond_update_interval: the steps from one update of the preconditioners to the next.
      epsilon: what is added to the diagonal of a preconditioner that is a matrix.
      alpha: the power of all preconditioners together.
      use_iterative_root: computes roots by Newton's iteration; k / alpha must be a whole number.
      use_locking: whether assignments lock the variables.
      name: the name of the update.
    """

    def __init__(self, global_step=0, max_matrix_size=768, gbar_decay=0.0, gbar_weight=1.0, mat_gbar_decay=1.0,
                 mat_gbar_weight=1.0, learning_rate=1.0, svd_interval=1, precond_update_interval=1, epsilon=1e-4, alpha=0.5,
                 use_iterative_root=False, use_locking=False, name="Shampoo"):
        super().__init__(use_locking, name)
        self._global_step, self._max_matrix_size = global_step, max_matrix_size
        self._gbar_decay, self._gbar_weight = gbar_decay, gbar_weight
        self._mat_gbar_decay, self._mat_gbar_weight = mat_gbar_decay, mat_gbar_weight
        self._lr, self._svd_interval, self._precond_update_interval = learning_rate, svd_interval, precond_update_interval
        self._epsilon, self._alpha, self._use_iterative_root = epsilon, alpha, use_iterative_root

    # ---- the slots ----

    def _is_matrix(self, size):
        return size <= self._max_matrix_size

    def _keeps_mean(self):
        return callable(self._gbar_decay) or not isinstance(self._gbar_decay, (int, float)) or self._gbar_decay != 0

    def _create_slots(self, var_list):
        for v in var_list:
            if not v.get_shape().is_fully_defined():
                raise ValueError("ShampooOptimizer needs variables of a known shape, and %s has %s" % (v.name, v.get_shape()))
            kind = v.dtype.base_dtype
            if self._keeps_mean():
                self._zeros_slot(v, "gbar", self._name)
            for i, size in enumerate(v.get_shape().as_list()):
                shape = [size, size] if self._is_matrix(size) else [size]
                self._get_or_make_slot(v, tf.zeros(shape, kind), "mat_gbar_%d" % i, self._name)
                if self._is_matrix(size) and self._is_every_step(self._svd_interval) is False:
                    self._get_or_make_slot(v, tf.eye(size, dtype=kind), "root_%d" % i, self._name)

    # ---- parameters that may change with the step ----

    def _prepare(self):
        self._step = tf.cast(tf.identity(tf.convert_to_tensor(self._global_step)), tf.float32)

    def _number(self, value, kind):
        return tf.cast(value(self._step) if callable(value) else value, kind)

    @staticmethod
    def _is_every_step(interval):
        return isinstance(interval, (int, float)) and interval == 1

    def _at(self, interval, make, kept):
        """Returns make() in the steps that are multiples of the interval, and kept() in the others."""
        if self._is_every_step(interval):
            return make()
        return tf.cond(tf.equal(tf.floormod(self._step, self._number(interval, tf.float32)), 0), make, kept)

    # ---- the update ----

    def _resource_apply_dense(self, grad, var):
        kind, lock = var.dtype.base_dtype, self._use_locking
        made, mean = [], self._number(self._gbar_weight, kind) * grad
        if self._keeps_mean():
            slot = self.get_slot(var, "gbar")
            mean = self._number(self._gbar_decay, kind) * slot.read_value() + mean
            made.append(slot.assign(mean, use_locking=lock))
        rank, step = var.get_shape().ndims, mean
        for axis in range(rank):
            slot = self.get_slot(var, "mat_gbar_%d" % axis)
            new = self._at(self._precond_update_interval, lambda: self._collected(slot, grad, axis), slot.read_value)
            made.append(slot.assign(new, use_locking=lock))
            if slot.get_shape().ndims == 1:
                step = step * tf.reshape(self._diagonal(new, rank), [-1] + [1] * (rank - axis - 1))
                continue
            root = self._root(var, axis, new, made)
            order = [i for i in range(rank) if i != axis]
            turned = tf.tensordot(step, root, [[axis], [0]])  # the dimension becomes the last
            step = tf.transpose(turned, [rank - 1 if i == axis else order.index(i) for i in range(rank)])
        made.append(var.assign_sub(self._number(self._lr, kind) * step, use_locking=lock))
        return tf.group(*made)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._resource_apply_dense(tf.convert_to_tensor(tf.IndexedSlices(grad, indices, tf.shape(var))), var)

    def _collected(self, slot, grad, axis):
        others = [i for i in range(grad.get_shape().ndims) if i != axis]
        if slot.get_shape().ndims == 2:
            products = tf.tensordot(grad, grad, [others, others])
        else:
            products = tf.reduce_sum(tf.square(grad), others)
        kind = slot.dtype.base_dtype
        return self._number(self._mat_gbar_decay, kind) * slot.read_value() + self._number(self._mat_gbar_weight, kind) * products

    def _power(self, rank, kind):
        return -self._number(self._alpha, kind) / rank

    def _diagonal(self, collected, rank):
        """Returns the power of a diagonal; a row that never had a gradient stays where it is."""
        seen = collected > 0
        return tf.where(seen, tf.pow(tf.where(seen, collected, tf.ones_like(collected)), self._power(rank, collected.dtype)),
                        tf.zeros_like(collected))

    def _root(self, var, axis, collected, made):
        slot, rank = self.get_slot(var, "root_%d" % axis), var.get_shape().ndims

        def compute():
            size, kind = var.get_shape().as_list()[axis], collected.dtype
            matrix = collected + self._number(self._epsilon, kind) * tf.eye(size, dtype=kind)
            if self._use_iterative_root:
                return _newton_root(matrix, self._whole_power(rank))
            values, vectors = tf.self_adjoint_eig(matrix)
            smallest = tf.maximum(self._number(self._epsilon, kind), kind.as_numpy_dtype(1e-30))
            return tf.matmul(vectors * tf.pow(tf.maximum(values, smallest), self._power(rank, kind)), vectors, transpose_b=True)
        root = compute() if slot is None else self._at(self._svd_interval, compute, slot.read_value)
        if slot is not None:
            made.append(slot.assign(root, use_locking=self._use_locking))
        return root

    def _whole_power(self, rank):
        power = rank / self._alpha if isinstance(self._alpha, (int, float)) and self._alpha > 0 else 0
        if power < 1 or abs(power - round(power)) > 1e-6:
            raise ValueError("ShampooOptimizer: use_iterative_root needs an alpha that divides the rank %d of a variable without a "
                             "rest, got alpha=%r: choose another alpha, or use_iterative_root=False" % (rank, self._alpha))
        return round(power)


def _whole_matrix_power(matrix, power):
    found = None
    while power:
        if power & 1:
            found = matrix if found is None else tf.matmul(found, matrix)
        matrix, power = tf.matmul(matrix, matrix), power >> 1
    return found


def _newton_root(matrix, power):
    """Returns matrix^(-1 / power) of a positive definite matrix by the coupled Newton iteration.

    `rest` is root^power times the matrix, and approaches the identity.
    """
    size = matrix.get_shape().as_list()[0]
    eye, scale = tf.eye(size, dtype=matrix.dtype), (1 + power) / (2 * tf.norm(matrix))
    tolerance = 1e-6 if matrix.dtype == tf.float32 else 1e-12 if matrix.dtype == tf.float64 else 1e-3

    def distance(rest):
        return tf.reduce_max(tf.abs(rest - eye))

    def goes_on(i, root, rest, before, now):
        return tf.logical_and(i < 200, tf.logical_and(now > tolerance, now < before * 1.2))

    def improve(i, root, rest, before, now):
        step = ((1 + power) * eye - rest) / power
        rest = tf.matmul(_whole_matrix_power(step, power), rest)
        return i + 1, tf.matmul(root, step), rest, now, distance(rest)
    start = scale * matrix
    first = distance(start)
    _, root, _, _, _ = tf.while_loop(goes_on, improve, [tf.constant(0), tf.pow(scale, 1.0 / power) * eye, start, first + 1, first])
    return root
