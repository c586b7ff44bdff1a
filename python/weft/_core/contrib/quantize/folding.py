"""Folds batch normalizations into the weights of the layer before them, as in a deployed model.

The weights are scaled with the moving variance, which changes little from step to step, so that their rounding does
too. In training the output is then scaled by what the batch's variance differs (Krishnamoorthi, "Quantizing deep
convolutional networks for efficient inference", 2018).
"""
import weft as tf
from weft._core.contrib.quantize import nodes


class _Match:
    """A layer and the batch normalization after it. A matrix may be reshaped between them and after them."""

    def __init__(self, layer, norm, outputs):
        self.layer, self.norm, self.outputs = layer, norm, outputs
        self.training = bool(norm.get_attr("is_training"))
        self.epsilon = norm.get_attr("epsilon")
        self.gamma, self.beta = norm.inputs[1], norm.inputs[2]


def _after(tensor):
    """Returns the tensors that are a normalization's output, possibly after reshaping a matrix."""
    shaped = nodes.readers(tensor, ("Reshape",))
    return [op.outputs[0] for op in shaped] if shaped else [tensor]


def _matches(graph, scope):
    for layer in nodes.layers(graph, scope):
        out = layer.outputs[0]
        for norm in nodes.readers(out, nodes.FUSED):
            yield _Match(layer, norm, [norm.outputs[0]])
        for shaped in nodes.readers(out, ("Reshape",)) if layer.type == "MatMul" else ():
            for norm in nodes.readers(shaped.outputs[0], nodes.FUSED):
                yield _Match(layer, norm, _after(norm.outputs[0]))
        for product in nodes.readers(out, ("Mul",)):
            if any("Rsqrt" in {t.op.type for t in x.op.inputs} | {x.op.type} for x in product.inputs if x is not out):
                raise NotImplementedError(
                    "tf.contrib.quantize: the batch normalization of %s is made of single ops, which Weft does not fold: give "
                    "fused=True to tf.layers.batch_normalization or slim.batch_norm" % layer.name)


def _moving(output):
    """Returns the variable that an output of the normalization updates, and the update."""
    for difference in nodes.readers(output, ("Sub",)):
        update = next((op for product in nodes.readers(difference.outputs[0], ("Mul",))
                       for op in nodes.readers(product.outputs[0], ("AssignSub", "AssignSubVariableOp"))), None)
        if update is not None:
            return difference.inputs[0], update
    raise ValueError("tf.contrib.quantize: nothing updates a moving average from %s" % output.name)


def _shaped(layer, scale):
    """Returns a factor for each output, in the shape that the weights are multiplied by."""
    if layer.type != "DepthwiseConv2dNative":
        return scale
    return tf.reshape(scale, layer.inputs[1].shape.as_list()[2:])


def _along(layer, vector):
    """Returns a vector of the channels so that it broadcasts against the output."""
    form = layer.get_attr("data_format") if layer.type in nodes.CONVOLUTIONS else b"NHWC"
    first = form in (b"NCHW", "NCHW")
    return tf.reshape(vector, [-1, 1, 1]) if first else vector


def _clone(layer, weights):
    """Returns the layer once more, with other weights."""
    given = {name: layer.get_attr(name) for name in layer.node_def.attr if not name.startswith("_")}
    return layer.graph.create_op(layer.type, [layer.inputs[0], weights], [layer.outputs[0].dtype], name=layer.type + "_Fold",
                                 attrs={name: layer.node_def.attr[name] for name in given}).outputs[0]


def _frozen(freeze_bn_delay):
    if freeze_bn_delay is None:
        return None
    step = nodes.global_step()
    return tf.greater_equal(step, tf.cast(freeze_bn_delay, step.dtype.base_dtype), name="use_moving_averages")


def _of_batch(match, recip_moving, moving_mean, frozen):
    """Returns (factor of the output, shift) with the batch's statistics, or with the moving ones once these are frozen.
    """
    count = tf.cast(tf.size(match.norm.inputs[0]) / tf.size(match.norm.outputs[1]), tf.float32)
    # The op returns the sample variance.
    mean, variance = match.norm.outputs[1], match.norm.outputs[2] * ((count - 1.0) / count)
    recip = tf.rsqrt(variance + match.epsilon, name="recip_sigma")
    factor = tf.divide(recip, recip_moving, name="correction_scale")
    shift = match.beta - match.gamma * mean * recip
    if frozen is not None:
        still = match.beta - match.gamma * moving_mean * recip_moving
        factor, shift = tf.cond(frozen, lambda: (tf.ones_like(factor), still), lambda: (factor, shift))
    return factor, shift


def _stop_updates(updates, frozen):
    """Stops the updates of the moving averages once they are frozen."""
    for update in updates:
        delta = update.inputs[1]
        update._update_input(1, tf.cond(frozen, lambda d=delta: tf.zeros_like(d), lambda d=delta: d))


def _fold(match, frozen):
    layer = match.layer
    with tf.name_scope(nodes.in_context(layer, "BatchNorm_Fold") + "/"):
        mean, variance = match.norm.inputs[3], match.norm.inputs[4]
        if match.training:
            (mean, first), (variance, second) = _moving(match.norm.outputs[1]), _moving(match.norm.outputs[2])
        recip_moving = tf.rsqrt(variance + match.epsilon, name="recip_sigma_moving")
        factor, shift = None, match.beta - match.gamma * mean * recip_moving
        if match.training:
            factor, shift = _of_batch(match, recip_moving, mean, frozen)
            if frozen is not None:
                _stop_updates((first, second), frozen)
        scale = _shaped(layer, match.gamma * recip_moving)
    context = nodes.context_of(layer)
    with tf.name_scope(context + "/" if context else None):
        weights = tf.multiply(layer.inputs[1], scale, name="mul_fold")
        out = _clone(layer, weights)
        if factor is not None:
            out = tf.multiply(out, _along(layer, factor), name="correction_mult")
        out = tf.add(out, tf.identity(_along(layer, shift), name="bias_fold"), name="add_fold")
        for old in match.outputs:
            out.set_shape(old.shape)
            nodes.replace(old, out, old.consumers())


def fold_batch_norms(graph, scope, freeze_bn_delay):
    """Folds all batch normalizations after layers of a graph."""
    found = list(_matches(graph, scope))
    frozen = _frozen(freeze_bn_delay) if any(m.training for m in found) else None
    for match in found:
        _fold(match, frozen)
