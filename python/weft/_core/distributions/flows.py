"""Bijectors of normalizing flows: MaskedAutoregressiveFlow and RealNVP, and the networks that they are usually made with."""
import numpy as np

from weft._core.distributions.bijectors import Bijector
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import name_scope
from weft._core.framework.tensor_shape import TensorShape
from weft._core.nn import nn
from weft._core.nn.layer_classes import Dense
from weft._core.ops import array_ops, init_ops, math_ops
from weft._core.ops.control_flow import while_loop
from weft._core.ops.gradients import clip_by_value
from weft._core.ops.template import make_template


def _mask(inputs, units, blocks, exclusive):
    """Returns the mask of a kernel: a block of units sees the blocks of inputs up to its own, or up to the one before."""
    first = np.arange(inputs) // (inputs // blocks)
    last = np.arange(units) // (units // blocks)
    return (last[None, :] > first[:, None]) if exclusive else (last[None, :] >= first[:, None])


def masked_dense(inputs, units, num_blocks=None, exclusive=False, kernel_initializer=None, reuse=None, name=None, *args, **kwargs):
    """Returns a dense layer of inputs whose kernel is masked, so that it is autoregressive in blocks.

    Args:
      inputs: what the layer reads; the last dimension must be known.
      units: the number of outputs.
      num_blocks: the number of blocks of inputs and of outputs.
      exclusive: whether a block does not see its own inputs.
      kernel_initializer: the initializer of the kernel before the mask; None: glorot_normal_initializer.
      reuse: whether the variables exist already.
      name: the name of the scope.
      *args: further arguments of tf.layers.Dense.
      **kwargs: further keyword arguments of tf.layers.Dense.
    """
    inputs = convert_to_tensor(inputs)
    depth = None if inputs.shape.ndims is None else inputs.shape.as_list()[-1]
    if depth is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    mask = _mask(depth, units, num_blocks, exclusive).astype(inputs.dtype.as_numpy_dtype)
    initializer = kernel_initializer or init_ops.glorot_normal_initializer()

    def masked(shape, dtype=None, partition_info=None):
        return mask * initializer(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = Dense(units, *args, kernel_initializer=masked, kernel_constraint=lambda x: mask * x, name=name,
                      dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse, **kwargs)
        return layer.apply(inputs)


def masked_autoregressive_default_template(hidden_layers, shift_only=False, activation=nn.relu, log_scale_min_clip=-5.0,
                                           log_scale_max_clip=3.0, log_scale_clip_gradient=False, name=None, *args, **kwargs):
    """Returns a template that computes (shift, log_scale) with masked dense layers, for MaskedAutoregressiveFlow.

    Args:
      hidden_layers: the numbers of units of the layers before the last.
      shift_only: whether log_scale is None.
      activation: the activation of these layers.
      log_scale_min_clip: the least log_scale.
      log_scale_max_clip: the greatest log_scale.
      log_scale_clip_gradient: whether a log_scale that is clipped has no gradient.
      name: the name of the template.
      *args: further arguments of masked_dense.
      **kwargs: further keyword arguments of masked_dense.
    """
    def network(x):
        x = convert_to_tensor(x, name="x")
        depth = None if x.shape.ndims is None else x.shape.as_list()[-1]
        if depth is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
        shape = x.shape.as_list() if x.shape.is_fully_defined() else array_ops.shape(x)
        if x.shape.ndims == 1:
            x = x[None, :]
        for i, units in enumerate(hidden_layers):
            x = masked_dense(x, units, depth, i == 0, None, None, None, *args, activation=activation, **kwargs)
        x = masked_dense(x, depth * (1 if shift_only else 2), depth, not hidden_layers, None, None, None, *args, activation=None, **kwargs)
        if shift_only:
            return array_ops.reshape(x, shape), None
        shift, log_scale = array_ops.unstack(array_ops.reshape(x, array_ops.concat([shape, [2]], axis=0)), num=2, axis=-1)
        clipped = clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
        return shift, clipped if log_scale_clip_gradient else log_scale + array_ops.stop_gradient(clipped - log_scale)
    return make_template(name or "masked_autoregressive_default_template", network)


def real_nvp_default_template(hidden_layers, shift_only=False, activation=nn.relu, name=None, *args, **kwargs):
    """Returns a template that computes (shift, log_scale) with dense layers, for RealNVP.

    Args:
      hidden_layers: the numbers of units of the layers before the last.
      shift_only: whether log_scale is None.
      activation: the activation of these layers.
      name: the name of the template.
      *args: further arguments of tf.layers.Dense.
      **kwargs: further keyword arguments of tf.layers.Dense.
    """
    def network(x, output_units):
        x = convert_to_tensor(x, name="x")
        single = x.shape.ndims == 1
        x = x[None, :] if single else x
        for units in hidden_layers:
            x = Dense(units, *args, activation=activation, **kwargs).apply(x)
        x = Dense(output_units * (1 if shift_only else 2), *args, activation=None, **kwargs).apply(x)
        x = x[0] if single else x
        return (x, None) if shift_only else tuple(array_ops.split(x, 2, axis=-1))
    return make_template(name or "real_nvp_default_template", network)


def _scaled(x, shift, log_scale):
    x = x if log_scale is None else x * math_ops.exp(log_scale)
    return x if shift is None else x + shift


def _unscaled(y, shift, log_scale):
    y = y if shift is None else y - shift
    return y if log_scale is None else y * math_ops.exp(-log_scale)


def _summed_scale(log_scale, x):
    return array_ops.zeros([], dtype=x.dtype.base_dtype) if log_scale is None else math_ops.reduce_sum(log_scale, axis=-1)


class MaskedAutoregressiveFlow(Bijector):
    """y = x exp(log_scale(y)) + shift(y), where element i of shift and log_scale reads only the elements of y before i.

    Args:
      shift_and_log_scale_fn: returns (shift, log_scale) of a vector; either may be None.
      is_constant_jacobian: whether log_scale does not depend on its argument.
      validate_args: whether arguments are checked when the graph runs.
      unroll_loop: whether the graph has a copy of the function per element in place of a loop; the size must be known then.
      name: the name of the scope of its ops.
    """

    def __init__(self, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, unroll_loop=False, name=None):
        self._function, self._unroll = shift_and_log_scale_fn, unroll_loop
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         name=name or "masked_autoregressive_flow")

    def _forward(self, x):
        if not self._unroll:
            self._function(array_ops.zeros_like(x))  # The variables are made outside of the loop.
            return while_loop(lambda i, y: i < array_ops.shape(x)[-1], lambda i, y: (i + 1, _scaled(x, *self._function(y))),
                              (0, array_ops.zeros_like(x)), shape_invariants=(TensorShape([]), x.shape))[1]
        size = None if x.shape.ndims is None else x.shape.as_list()[-1]
        if size is None:
            raise ValueError("The final dimension of `x` must be known at graph construction time if `unroll_loop=True`. "
                             "`x.shape: %r`" % x.shape)
        y = array_ops.zeros_like(x)
        for _ in range(size):
            y = _scaled(x, *self._function(y))
        return y

    def _inverse(self, y):
        return _unscaled(y, *self._function(y))

    def _inverse_log_det_jacobian(self, y):
        return -_summed_scale(self._function(y)[1], y)


class RealNVP(Bijector):
    """Keeps the first elements of a vector, and scales and shifts the others by functions of them.

    Args:
      num_masked: how many elements are kept.
      shift_and_log_scale_fn: returns (shift, log_scale) of these elements and of the number of the others; either may be None.
      is_constant_jacobian: whether log_scale does not depend on its argument.
      validate_args: whether arguments are checked when the graph runs.
      name: the name of the scope of its ops.
    """

    def __init__(self, num_masked, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, name=None):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._kept, self._function = num_masked, shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian, validate_args=validate_args,
                         name=name or "real_nvp")

    def _parts(self, x):
        """Returns the elements that are kept, the others, and (shift, log_scale) of the others."""
        size = None if x.shape.ndims is None else x.shape.as_list()[-1]
        if size is None:
            raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
        if self._kept >= size:
            raise ValueError("Number of masked units must be smaller than the event size.")
        kept, others = x[..., :self._kept], x[..., self._kept:]
        return kept, others, self._function(kept, size - self._kept)

    def _forward(self, x):
        kept, others, by = self._parts(x)
        return array_ops.concat([kept, _scaled(others, *by)], axis=-1)

    def _inverse(self, y):
        kept, others, by = self._parts(y)
        return array_ops.concat([kept, _unscaled(others, *by)], axis=-1)

    def _forward_log_det_jacobian(self, x):
        return _summed_scale(self._parts(x)[2][1], x)

    def _inverse_log_det_jacobian(self, y):
        return -_summed_scale(self._parts(y)[2][1], y)
