"""Blocks of the Fisher matrix of tf.contrib.kfac: one for the parameters of each layer.

A block is computed from the gradients of losses with respect to the layer's outputs.  Its statistics are moving averages in
variables, whose start at zero is corrected by a weight that is averaged alike.
"""
import weft as tf


class _Average:
    """A moving average in a variable, divided by that of 1."""

    def __init__(self, name, shape):
        make = {"dtype": tf.float32, "initializer": tf.zeros_initializer(), "trainable": False}
        self.sum = tf.get_variable(name, shape, **make)
        self.weight = tf.get_variable(name + "_weight", [], **make)

    def update(self, new, decay):
        return tf.group(tf.assign(self.sum, decay * self.sum + (1 - decay) * new),
                        tf.assign(self.weight, decay * self.weight + (1 - decay)))

    def value(self):
        return self.sum / tf.maximum(self.weight, 1e-30)


def _inverse(matrix, damping):
    """Returns the inverse of a symmetric positive matrix plus damping times the identity."""
    n = matrix.shape[0].value
    return tf.cholesky_solve(tf.cholesky(matrix + damping * tf.eye(n)), tf.eye(n))


def _product(x):
    return tf.matmul(x, x, transpose_a=True)


class _Block:
    """The parameters of a layer, as the program gave them, and what is registered for them."""

    def __init__(self, params):
        self.given = params
        self.params = tuple(params) if isinstance(params, (tuple, list)) else (params,)

    def _pack(self, grads):
        """Returns the gradients of weights and bias as a matrix, a row for each input and one for the bias."""
        rows = [tf.reshape(grads[0], [-1, grads[0].shape[-1].value])]
        return tf.concat(rows + [tf.reshape(g, [1, -1]) for g in grads[1:]], 0)

    def _unpack(self, matrix):
        rows = self.params[0].shape[:-1].num_elements()
        return [tf.reshape(matrix[:rows], self.params[0].shape)] + [tf.reshape(matrix[rows:], p.shape) for p in self.params[1:]]


class KroneckerBlock(_Block):
    """The block of a fully connected or convolutional layer: the product of a factor of the inputs and one of the outputs.

    `towers`: pairs of inputs and outputs; the outputs have a row for each example and place.
    """

    def __init__(self, params):
        super().__init__(params)
        self.towers = []

    def add(self, inputs, outputs, rows):
        self.towers.append((inputs, outputs, rows))

    def outputs(self):
        return [t[1] for t in self.towers]

    def make_variables(self, name):
        n, m = self.params[0].shape[:-1].num_elements() + len(self.params) - 1, self.params[0].shape[-1].value
        with tf.variable_scope(name):
            self.a, self.g = _Average("inputs_cov", [n, n]), _Average("outputs_cov", [m, m])
            self.inverses = [tf.get_variable(k, shape, initializer=tf.initializers.identity(), trainable=False)
                             for k, shape in (("inputs_inv", [n, n]), ("outputs_inv", [m, m]))]

    def cov_update(self, decay, grads):
        """`grads`: for each tower the gradients of the losses with respect to its outputs."""
        a, g = [], []
        for (_, _, rows), seen in zip(self.towers, grads):
            x, places = rows()
            if len(self.params) > 1:
                x = tf.concat([x, tf.ones([tf.shape(x)[0], 1])], 1)
            total = tf.cast(tf.shape(x)[0], tf.float32)
            batch = total / places
            a.append(_product(x) / batch)
            g.append(tf.add_n([_product(tf.reshape(d, [-1, d.shape[-1].value])) for d in seen]) / total)
        n = float(len(a))
        return tf.group(self.a.update(tf.add_n(a) / n, decay), self.g.update(tf.add_n(g) / n, decay))

    def inv_update(self, damping):
        a, g = self.a.value(), self.g.value()
        mean_a = tf.trace(a) / float(a.shape[0].value)
        mean_g = tf.trace(g) / float(g.shape[0].value)
        pi = tf.where(tf.logical_and(mean_a > 0, mean_g > 0), tf.sqrt(mean_a / tf.maximum(mean_g, 1e-30)), 1.0)
        root = tf.sqrt(damping)
        return tf.group(tf.assign(self.inverses[0], _inverse(a, root * pi)), tf.assign(self.inverses[1], _inverse(g, root / pi)))

    def multiply_inverse(self, grads):
        return self._unpack(tf.matmul(tf.matmul(self.inverses[0], self._pack(grads)), self.inverses[1]))


class DiagonalBlock(_Block):
    """The diagonal of the block of a fully connected layer."""

    def __init__(self, params):
        super().__init__(params)
        self.towers = []

    add = KroneckerBlock.add
    outputs = KroneckerBlock.outputs

    def make_variables(self, name):
        n, m = self.params[0].shape[:-1].num_elements() + len(self.params) - 1, self.params[0].shape[-1].value
        with tf.variable_scope(name):
            self.diagonal = _Average("cov", [n, m])
            self.inverse = tf.get_variable("inv", [n, m], initializer=tf.ones_initializer(), trainable=False)

    def cov_update(self, decay, grads):
        made = []
        for (_, _, rows), seen in zip(self.towers, grads):
            x, _ = rows()
            if len(self.params) > 1:
                x = tf.concat([x, tf.ones([tf.shape(x)[0], 1])], 1)
            squares = [tf.matmul(tf.square(x), tf.square(d), transpose_a=True) for d in seen]
            made.append(tf.add_n(squares) / tf.cast(tf.shape(x)[0], tf.float32))
        return self.diagonal.update(tf.add_n(made) / float(len(made)), decay)

    def inv_update(self, damping):
        return tf.assign(self.inverse, 1 / (self.diagonal.value() + damping)).op

    def multiply_inverse(self, grads):
        return self._unpack(self._pack(grads) * self.inverse)


class NaiveBlock(_Block):
    """The block of parameters of any kind, from the gradient of the summed loss alone: in full, or its diagonal."""

    def __init__(self, params, batch_size, full):
        super().__init__(params)
        self.batch_size, self.full = batch_size, full

    def outputs(self):
        return [list(self.params)]

    def make_variables(self, name):
        n = sum(p.shape.num_elements() for p in self.params)
        shape = [n, n] if self.full else [n]
        with tf.variable_scope(name):
            self.cov = _Average("cov", shape)
            self.inverse = tf.get_variable("inv", shape, initializer=tf.initializers.identity() if self.full else tf.ones_initializer(),
                                           trainable=False)

    def _flat(self, tensors):
        return tf.concat([tf.reshape(t, [-1]) for t in tensors], 0)

    def cov_update(self, decay, grads):
        flat = [self._flat(loss) for loss in grads[0]]
        made = [d[:, None] * d[None] if self.full else tf.square(d) for d in flat]
        return self.cov.update(tf.add_n(made) / tf.cast(self.batch_size, tf.float32), decay)

    def inv_update(self, damping):
        cov = self.cov.value()
        return tf.assign(self.inverse, _inverse(cov, damping) if self.full else 1 / (cov + damping)).op

    def multiply_inverse(self, grads):
        flat = self._flat(grads)
        flat = tf.squeeze(tf.matmul(self.inverse, flat[:, None]), [1]) if self.full else self.inverse * flat
        parts = tf.split(flat, [p.shape.num_elements() for p in self.params])
        return [tf.reshape(x, p.shape) for x, p in zip(parts, self.params)]
