"""Batch normalization with its rare options: batch renormalization, virtual batches, and an adjustment while training."""
from weft._core.framework.build import constant_value, convert_to_tensor
from weft._core.framework.graph import Tensor, get_default_graph
from weft._core.nn import nn
from weft._core.nn.batch_norm import moving_average
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import smart_cond


def compose(scale, offset, then_scale, then_offset):
    """Returns the scale and offset of two linear functions applied in turn; parts of the second may be None."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    return scale, offset if then_offset is None else offset + then_offset


class Extended:
    """One call of a layer with one of the options; the layer's axes are those of the inputs that are normalized."""

    def __init__(self, layer, training):
        self.layer, self.training = layer, training
        known = constant_value(training) if isinstance(training, Tensor) else training
        self.known = None if known is None else bool(known)

    def run(self, inputs):
        """Returns (normalized inputs, operations that update the moving statistics)."""
        size, shape = self.layer.virtual_batch_size, None
        if size is None:
            return self._normalized(inputs)
        shape = array_ops.concat([convert_to_tensor([-1]), array_ops.shape(inputs)[1:]], 0)
        x = array_ops.reshape(inputs, array_ops.concat([convert_to_tensor([size, -1]), shape[1:]], 0))
        made, updates = self._normalized(x)
        made = array_ops.reshape(made, shape)
        made.set_shape(inputs.shape)
        return made, updates

    def _along(self, v, x):
        """Returns a statistic in a shape that broadcasts against x."""
        rank, axes = x.shape.ndims, self.layer.axis
        if v is None or v.shape.ndims == rank or axes == [rank - 1]:
            return v
        dims = x.shape.as_list()
        return array_ops.reshape(v, [dims[i] if i in axes else 1 for i in range(rank)])

    def _choose(self, yes, no):
        return smart_cond(self.training, lambda: yes, lambda: convert_to_tensor(no))

    def _normalized(self, x):
        layer, updates = self.layer, []
        scale, offset = self._along(layer.gamma, x), self._along(layer.beta, x)
        mean, variance = layer.moving_mean, layer.moving_variance
        if self.known is not False:
            virtual = layer.virtual_batch_size is not None
            over = [i for i in range(x.shape.ndims) if i not in layer.axis and not (virtual and i == 1)]
            mean, variance = nn.moments(x, over, keepdims=virtual or len(layer.axis) > 1)
            now = [mean, variance]
            mean, variance = self._choose(mean, layer.moving_mean), self._choose(variance, layer.moving_variance)
            if virtual:
                now = [math_ops.reduce_mean(v, axis=1, keepdims=True) for v in now]
            if layer.adjustment is not None:
                factor, shift = layer.adjustment(array_ops.shape(x))
                factor, shift = self._choose(factor, array_ops.ones_like(factor)), self._choose(shift, array_ops.zeros_like(shift))
                scale, offset = compose(factor, shift, scale, offset)
            now = [self._choose(now[0], layer.moving_mean), self._choose(now[1], layer.moving_variance)]
            if layer.renorm:
                r, d, now = self._corrected(*now)
                r, d = array_ops.stop_gradient(r, name="renorm_r"), array_ops.stop_gradient(d, name="renorm_d")
                scale, offset = compose(self._along(r, x), self._along(d, x), scale, offset)
            updates = self._updates(*now)
        made = nn.batch_normalization(x, self._along(mean, x), self._along(variance, x), offset, scale, layer.epsilon)
        made.set_shape(x.shape)
        return made, updates

    def _average(self, variable, value, momentum):
        return smart_cond(self.training, lambda: moving_average(variable, value, momentum), lambda: convert_to_tensor(variable))

    def _corrected(self, mean, variance):
        """Returns the factors of batch renormalization, and the statistics, which wait for the update of its moving
        averages.
        """
        layer, graph = self.layer, get_default_graph()
        stddev = math_ops.sqrt(variance + layer.epsilon)
        floor = math_ops.maximum(layer.renorm_stddev, math_ops.sqrt(convert_to_tensor(layer.epsilon, stddev.dtype)))
        r, d = stddev / floor, (mean - layer.renorm_mean) / floor
        with graph.control_dependencies([r, d]):
            mean, stddev = array_ops.identity(mean), array_ops.identity(stddev)
        limits = layer.renorm_clipping
        if "rmin" in limits:
            r = math_ops.maximum(r, limits["rmin"])
        if "rmax" in limits:
            r = math_ops.minimum(r, limits["rmax"])
        if "dmax" in limits:
            d = math_ops.minimum(math_ops.maximum(d, -limits["dmax"]), limits["dmax"])
        r, d = self._choose(r, array_ops.ones_like(r)), self._choose(d, array_ops.zeros_like(d))
        moved = [self._average(layer.renorm_mean, mean, layer.renorm_momentum),
                 self._average(layer.renorm_stddev, stddev, layer.renorm_momentum)]
        with graph.control_dependencies([m.op for m in moved]):
            return r, d, [array_ops.identity(mean), array_ops.identity(variance)]

    def _updates(self, mean, variance):
        layer = self.layer
        made = [self._average(layer.moving_mean, mean, layer.momentum)]
        if not layer.renorm:
            made.append(self._average(layer.moving_variance, variance, layer.momentum))
            return [u.op for u in made]
        moved = self._average(layer.moving_stddev, math_ops.sqrt(variance + layer.epsilon), layer.momentum)
        stddev = convert_to_tensor(moved)
        squared = math_ops.maximum(stddev * stddev - layer.epsilon, 0.0)
        kept = self._choose(squared, layer.moving_variance)
        return [u.op for u in made] + [layer.moving_variance.assign(kept).op]
