"""tf.contrib.opt.ScipyOptimizerInterface: minimizes a loss of the graph with an optimizer outside of it."""
import numpy as np

import weft as tf
from weft._core.framework.absent import Named


class ExternalOptimizerInterface(metaclass=Named):
    """The base of optimizers outside of the graph. A subclass defines _minimize, which gets functions of one vector."""

    def __init__(self, loss, var_list=None, equalities=None, inequalities=None, var_to_bounds=None, **optimizer_kwargs):
        self._loss, self.optimizer_kwargs = loss, optimizer_kwargs
        self._equalities, self._inequalities = list(equalities or []), list(inequalities or [])
        self._vars = list(tf.trainable_variables() if var_list is None else var_list)
        sizes = [int(np.prod(v.shape.as_list(), dtype=int)) for v in self._vars]
        ends = np.cumsum([0] + sizes)
        self._slices = [slice(a, b) for a, b in zip(ends, ends[1:])]
        self._packed_bounds = None if var_to_bounds is None else self._bounds(var_to_bounds)
        self._update_placeholders = [tf.placeholder(v.dtype.base_dtype) for v in self._vars]
        self._var_updates = [v.assign(tf.reshape(p, v.shape.as_list())) for v, p in zip(self._vars, self._update_placeholders)]
        self._packed_var = self._pack(self._vars)
        self._packed_loss_grad = self._packed_gradient(loss)
        self._packed_equality_grads = [self._packed_gradient(e) for e in self._equalities]
        self._packed_inequality_grads = [self._packed_gradient(e) for e in self._inequalities]

    def _bounds(self, var_to_bounds):
        """Returns a pair of bounds for each number of the vector."""
        rows = []
        for v in self._vars:
            low, high = (-np.inf, np.inf)
            for key, bounds in var_to_bounds.items():
                if key is v:
                    low, high = bounds
            shape = v.shape.as_list()
            rows += list(zip(np.broadcast_to(low, shape).ravel(), np.broadcast_to(high, shape).ravel()))
        return rows

    @staticmethod
    def _pack(tensors):
        flat = [tf.reshape(t, [-1]) for t in tensors]
        return flat[0] if len(flat) == 1 else tf.concat(flat, 0)

    def _packed_gradient(self, of):
        found = tf.gradients(of, self._vars)
        return self._pack([tf.zeros_like(v) if g is None else g for g, v in zip(found, self._vars)])

    def minimize(self, session=None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None, **run_kwargs):
        """Sets the variables to the values that the optimizer finds."""
        session, feed_dict, fetches = session or tf.get_default_session(), feed_dict or {}, list(fetches or [])
        loss_callback, step_callback = loss_callback or (lambda *found: None), step_callback or (lambda x: None)

        def function(tensors, more=(), callback=None):
            return self._eval_func(tensors, session, feed_dict, list(more), callback)

        def split(tensors, grads):
            return [function([t]) for t in tensors], [function([g]) for g in grads]
        equalities, equality_grads = split(self._equalities, self._packed_equality_grads)
        inequalities, inequality_grads = split(self._inequalities, self._packed_inequality_grads)
        found = self._minimize(
            initial_val=session.run(self._packed_var), loss_grad_func=function([self._loss, self._packed_loss_grad], fetches,
                                                                               loss_callback),
            equality_funcs=equalities, equality_grad_funcs=equality_grads, inequality_funcs=inequalities,
            inequality_grad_funcs=inequality_grads, packed_bounds=self._packed_bounds, step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs)
        values = [found[s] for s in self._slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _eval_func(self, tensors, session, feed_dict, fetches, callback):
        """Returns a function of the vector: the values of tensors with the variables set to it."""
        def evaluate(x):
            feeds = {v: np.asarray(x[s]).reshape(v.shape.as_list()) for v, s in zip(self._vars, self._slices)}
            feeds.update(feed_dict)
            found = session.run(list(tensors) + fetches, feed_dict=feeds)
            if callback is not None:
                callback(*found[len(tensors):])
            values = [np.asarray(v, np.float64) for v in found[:len(tensors)]]
            return values if len(values) > 1 else values[0]
        return evaluate

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs, inequality_grad_funcs,
                  packed_bounds, step_callback, optimizer_kwargs):
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Minimizes with scipy.optimize.minimize. The default method is L-BFGS-B."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs, inequality_grad_funcs,
                  packed_bounds, step_callback, optimizer_kwargs):
        try:
            import scipy.optimize
        except ImportError as e:
            raise ImportError("tf.contrib.opt.ScipyOptimizerInterface needs scipy: install it with `pip install scipy`") from e

        def loss_and_gradient(x):
            loss, gradient = loss_grad_func(x)
            return float(loss), gradient.astype("float64")
        method = optimizer_kwargs.pop("method", self._DEFAULT_METHOD)
        constraints = [dict(type=kind, fun=f, jac=g) for kind, fs, gs in (
            ("eq", equality_funcs, equality_grad_funcs), ("ineq", inequality_funcs, inequality_grad_funcs)) for f, g in zip(fs, gs)]
        kwargs = dict(jac=True, callback=step_callback, method=method, bounds=packed_bounds, **optimizer_kwargs)
        if constraints:
            kwargs["constraints"] = constraints
        for key in ("fun", "jac", "constraints"):
            if key in optimizer_kwargs:
                raise ValueError("Optimizer keyword arg '%s' is set automatically and cannot be injected manually" % key)
        result = scipy.optimize.minimize(loss_and_gradient, initial_val, **kwargs)
        tf.logging.info("Optimization terminated with:\n  Message: %s\n  Objective function value: %f\n  Number of iterations: %s\n"
                        "  Number of functions evaluations: %s", result.message, result.fun, getattr(result, "nit", None), result.nfev)
        return result["x"]
