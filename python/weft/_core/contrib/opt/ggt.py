"""GGTOptimizer of tf.contrib.opt: full-matrix adaptation from a window of gradients (arXiv:1806.02958).

With B the window of the last first moments m, one in each row, the step is learning_rate times

    U ((S + sigma_eps I)^-1 - I / sigma_eps) U^T m + m / sigma_eps

where U S^2 U^T are the eigenvectors and eigenvalues of B^T B.  They are found from B B^T, which is only as large as the
window.  All variables together are one vector.
"""
import weft as tf


class GGTOptimizer(tf.train.Optimizer):
    """Takes steps that the square root of the recent gradients' covariance preconditions.

    Args:
      learning_rate: the learning rate.
      beta1: the decay rate of the first moment.
      use_locking: whether assignments lock the variables.
      name: the name of the update.
      window: how many first moments the covariance is computed from.
      eps: square roots of eigenvalues that are not above it are left out.
      svd_eps: what is added to the diagonal of the window's products before its eigenvalues are found.
      sigma_eps: what is added to the square roots of the eigenvalues before they are inverted.
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, use_locking=False, name="GGT", window=10, eps=1e-4, svd_eps=1e-6,
                 sigma_eps=1e-2):
        super().__init__(use_locking, name)
        if int(window) != window or window < 1:
            raise ValueError("GGTOptimizer: window must be a whole number of at least 1, got %r" % (window,))
        self._lr, self._beta1, self._window = learning_rate, beta1, int(window)
        self._eps, self._svd_eps, self._sigma_eps = eps, svd_eps, sigma_eps

    def _create_slots(self, var_list):
        for v in var_list:
            if not v.get_shape().is_fully_defined():
                raise ValueError("GGTOptimizer needs variables of a known shape, and %s has %s" % (v.name, v.get_shape()))
            if v.dtype.base_dtype != var_list[0].dtype.base_dtype:
                raise ValueError("GGTOptimizer needs variables of one type: %s is %s, %s is %s" % (
                    var_list[0].name, var_list[0].dtype.base_dtype.name, v.name, v.dtype.base_dtype.name))
        size = sum(v.get_shape().num_elements() for v in var_list)
        if self._get_non_slot_variable("moment1") is not None:
            if self._get_non_slot_variable("moment1").get_shape().as_list() != [size]:
                raise ValueError("GGTOptimizer: the second call of apply_gradients has other variables than the first")
            return
        kind = var_list[0].dtype.base_dtype
        self._create_non_slot_variable(tf.zeros([size], kind), "moment1", var_list[0])
        self._create_non_slot_variable(tf.zeros([self._window, size], kind), "grad_buffer", var_list[0])

    def _prepare(self):
        self._pairs = []

    def _resource_apply_dense(self, grad, var):
        self._pairs.append((grad, var))
        return tf.no_op()

    def _resource_apply_sparse(self, grad, var, indices):
        return self._resource_apply_dense(tf.convert_to_tensor(tf.IndexedSlices(grad, indices, tf.shape(var))), var)

    def _number(self, value):
        return tf.cast(tf.convert_to_tensor(self._call_if_callable(value)), self._get_non_slot_variable("moment1").dtype.base_dtype)

    def _finish(self, update_ops, name_scope):
        moment, window = self._get_non_slot_variable("moment1"), self._get_non_slot_variable("grad_buffer")
        beta1, lock = self._number(self._beta1), self._use_locking
        flat = tf.concat([tf.reshape(g, [-1]) for g, _ in self._pairs], 0)
        m = beta1 * moment.read_value() + (1 - beta1) * flat
        rows = tf.concat([m[tf.newaxis], window.read_value()[:-1]], 0)
        step = self._number(self._lr) * self._preconditioned(m, rows)
        sizes = [v.get_shape().num_elements() for _, v in self._pairs]
        with tf.control_dependencies([step]):
            made = [moment.assign(m, use_locking=lock), window.assign(rows, use_locking=lock)]
            for part, (_, v) in zip(tf.split(step, sizes), self._pairs):
                with tf.colocate_with(v):
                    made.append(v.assign_sub(tf.reshape(part, v.get_shape()), use_locking=lock))
        self._pairs = []
        return tf.group(*update_ops, *made, name=name_scope)

    def _preconditioned(self, m, rows):
        sigma_eps = self._number(self._sigma_eps)
        products = tf.matmul(rows, rows, transpose_b=True)
        values, vectors = tf.self_adjoint_eig(products + self._number(self._svd_eps) * tf.eye(self._window, dtype=rows.dtype))
        roots = tf.sqrt(tf.maximum(values, 0))
        kept = roots > self._number(self._eps)
        inverse = tf.where(kept, 1 / tf.where(kept, roots, tf.ones_like(roots)), tf.zeros_like(roots))
        basis = tf.matmul(vectors * inverse, rows, transpose_a=True)  # a row for each eigenvector; zero where it is left out
        along = tf.linalg.matvec(basis, m)
        factor = 1 / (roots + sigma_eps) - 1 / sigma_eps
        return tf.linalg.matvec(basis, factor * along, transpose_a=True) + m / sigma_eps
