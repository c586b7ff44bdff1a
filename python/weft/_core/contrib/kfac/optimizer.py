"""tf.contrib.kfac.optimizer: natural gradients with Kronecker factors of the Fisher matrix (Martens and Grosse, 2015)."""
import weft as tf

_MODES = ("gradients", "empirical", "curvature_prop", "exact")


class KfacOptimizer(tf.train.GradientDescentOptimizer):
    """Descends along the gradient times the inverse of the Fisher matrix, which it estimates layer by layer.

    Run cov_update_op at each step, and inv_update_op at each step or less often; both come before minimize's op.

    Args:
      learning_rate: the learning rate.
      cov_ema_decay: the decay of the moving averages of the Fisher matrix's factors.
      damping: what is added to the Fisher matrix's diagonal.
      layer_collection: a LayerCollection with all layers and losses.
      var_list: the variables that minimize trains, all registered; all trainable ones if not given.
      momentum: the decay of the velocities; 0: none.
      momentum_type: "regular", or "adam" for velocities that are averages.
      norm_constraint: the most that a step may change the predictions, as the squared Fisher norm; None: no limit.
      name: the name of the optimizer.
      estimation_mode: "gradients" (targets are drawn), "empirical" (the real ones), "curvature_prop" or "exact".
      colocate_gradients_with_ops: as in tf.gradients.
      batch_size: not used: the tensors tell it.
      cov_devices, inv_devices: the devices of the updates of layers, in turn.
    """

    def __init__(self, learning_rate, cov_ema_decay, damping, layer_collection, var_list=None, momentum=0.9, momentum_type="regular",
                 norm_constraint=None, name="KFAC", estimation_mode="gradients", colocate_gradients_with_ops=True, batch_size=None,
                 cov_devices=None, inv_devices=None):
        if momentum_type in ("qmodel", "qmodel_fixedmu"):
            raise NotImplementedError("KfacOptimizer(momentum_type=%r) is not in Weft: use 'regular' with a learning rate" % momentum_type)
        if momentum_type not in ("regular", "adam"):
            raise ValueError("Unsupported momentum type %s: it must be regular or adam" % momentum_type)
        if estimation_mode not in _MODES:
            raise ValueError("Unrecognized estimation_mode %r: it must be one of %s" % (estimation_mode, ", ".join(_MODES)))
        if not momentum and momentum_type == "adam":
            raise ValueError("Momentum must be specified if using the momentum type adam")
        super().__init__(learning_rate, name=name)
        self._collection, self._vars = layer_collection, var_list
        self._rate, self._decay, self._damping = learning_rate, cov_ema_decay, damping
        self._momentum, self._velocity_kind, self._norm_constraint = momentum, momentum_type, norm_constraint
        self._mode, self._colocate = estimation_mode, colocate_gradients_with_ops
        self._cov_devices, self._inv_devices = cov_devices, inv_devices
        self._fisher_updates = None

    damping = property(lambda self: tf.convert_to_tensor(self._damping, tf.float32))
    learning_rate = property(lambda self: self._rate)

    # ---- the Fisher matrix ----

    def _losses(self):
        found = self._collection.losses
        if not found:
            raise ValueError("kfac: no loss is registered: call register_categorical_predictive_distribution or its kin")
        if self._mode == "gradients":
            return [self._collection.total_sampled_loss()]
        if self._mode == "empirical":
            return [self._collection.total_loss()]
        if self._mode == "curvature_prop":
            return [tf.add_n([loss.random_column() for loss in found])]
        return [column for loss in found for column in loss.columns_of_factor()]

    def _on(self, devices, i):
        return tf.device(devices[i % len(devices)] if devices else None)

    def make_vars_and_create_op_thunks(self, scope=None):
        """Makes the variables; gives the functions that make the updates of covariances, and those of inverses.

        Args:
          scope: the scope of the variables.
        """
        if self._fisher_updates is None:
            blocks = self._collection.get_blocks()
            with tf.name_scope(self.get_name() + "_losses"):
                losses = self._losses()
            with tf.variable_scope(scope or self.get_name()):
                for i, block in enumerate(blocks):
                    block.make_variables("block_%d_%s" % (i, block.params[0].op.name.replace("/", "_")))
            with tf.name_scope(self.get_name() + "_fisher"):
                wanted = [out for block in blocks for out in block.outputs()]
                flat = [t for out in wanted for t in (out if isinstance(out, list) else [out])]
                per_loss = [tf.gradients(loss, flat, colocate_gradients_with_ops=self._colocate) for loss in losses]
            for found in per_loss:
                for t, d in zip(flat, found):
                    if d is None:
                        raise ValueError("kfac: the registered losses do not depend on %s" % t.name)
            self._fisher_updates = [], []
            at = 0
            for i, block in enumerate(blocks):
                grads = []
                for out in block.outputs():
                    n = len(out) if isinstance(out, list) else 1
                    grads.append([g[at:at + n] if isinstance(out, list) else g[at] for g in per_loss])
                    at += n
                self._fisher_updates[0].append(self._thunk(self._cov_devices, i, block.cov_update, self._decay, grads))
                self._fisher_updates[1].append(self._thunk(self._inv_devices, i, block.inv_update, self.damping))
        return self._fisher_updates

    def _thunk(self, devices, i, function, *args):
        def make():
            with self._on(devices, i):
                return function(*args)
        return make

    def _group(self, which, name):
        key = "_" + name
        if key not in vars(self):
            vars(self)[key] = tf.group(*[make() for make in self.make_vars_and_create_op_thunks()[which]], name=name)
        return vars(self)[key]

    cov_update_thunks = property(lambda self: self.make_vars_and_create_op_thunks()[0])
    inv_update_thunks = property(lambda self: self.make_vars_and_create_op_thunks()[1])
    cov_update_op = property(lambda self: self._group(0, "cov_update_op"))
    inv_update_op = property(lambda self: self._group(1, "inv_update_op"))
    cov_update_ops = property(lambda self: [make() for make in self.cov_update_thunks])
    inv_update_ops = property(lambda self: [make() for make in self.inv_update_thunks])

    # ---- steps ----

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """Returns the gradients of a loss, as tf.train.Optimizer.compute_gradients.

        Args:
          loss: the loss, the mean over the batch.
          var_list: the variables; those of the constructor if not given.
          **kwargs: what tf.train.Optimizer.compute_gradients takes.
        """
        return super().compute_gradients(loss, var_list if var_list is not None else self._vars, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Returns the op that makes a step.

        Args:
          grads_and_vars: pairs of gradients and variables, as compute_gradients gives them.
          global_step: the variable that is incremented.
          name: the name of the op.
        """
        self.make_vars_and_create_op_thunks()
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        natural = self._multiply_fisher_inverse(pairs)
        if self._norm_constraint is not None:
            square = tf.add_n([tf.reduce_sum(g * n) for (g, _), (n, _) in zip(pairs, natural)]) * tf.square(
                tf.cast(self._rate, tf.float32))
            scale = tf.minimum(1.0, tf.sqrt(self._norm_constraint / tf.maximum(square, 1e-30)))
            natural = [(scale * n, v) for n, v in natural]
        if self._momentum:
            share = 1 - self._momentum if self._velocity_kind == "adam" else 1.0
            natural = [(self._velocity(n, v, share), v) for n, v in natural]
        return super().apply_gradients(natural, global_step, name)

    def _velocity(self, direction, variable, share):
        velocity = self._zeros_slot(variable, "velocity", self.get_name())
        return tf.assign(velocity, self._momentum * velocity + share * direction)

    def _multiply_fisher_inverse(self, pairs):
        given = {id(v): tf.convert_to_tensor(g) for g, v in pairs}
        found = {}
        for block in self._collection.get_blocks():
            here = [p for p in block.params if id(p) in given]
            if not here:
                continue
            if len(here) != len(block.params):
                raise ValueError("kfac: the parameters %s were registered together, but not all are trained" % (
                    [p.op.name for p in block.params],))
            for p, d in zip(block.params, block.multiply_inverse([given[id(p)] for p in block.params])):
                found[id(p)] = d
        lacking = [v.op.name for _, v in pairs if id(v) not in found]
        if lacking:
            raise ValueError("Found variables without registered layers: %s" % lacking)
        return [(found[id(v)], v) for _, v in pairs]
