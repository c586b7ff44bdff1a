"""tf.contrib.quantize: adds fake quantization to a graph, for the weights of layers and the outputs of activations."""
import weft as tf
from weft._core.contrib.quantize import nodes
from weft._core.contrib.quantize.folding import fold_batch_norms
from weft._core.contrib.quantize.ranges import Rounding

_DECAY = 0.999


class _Rewriting:
    """Adds fake quantization to one graph."""

    def __init__(self, graph, scope, weights, activations):
        self.graph, self.scope, self.weights, self.activations = graph, scope, weights, activations
        self.done = set()

    def run(self):
        for layer in list(nodes.layers(self.graph, self.scope)):
            if not nodes.readers(layer.outputs[0], nodes.FUSED) and not self._only_statistics(layer):
                self._weights(layer)
                self._output(layer)

    @staticmethod
    def _only_statistics(layer):
        """Returns whether a folded layer is kept for the statistics of its normalization only."""
        shaped = nodes.readers(layer.outputs[0], ("Reshape",))
        return bool(shaped) and all(nodes.readers(op.outputs[0], nodes.FUSED) for op in shaped)

    def _weights(self, layer):
        tensor = layer.inputs[1]
        key = (tensor.name, "weights")
        if key not in self.done:  # Shared weights are rounded only once.
            self.done.add(key)
            users = [op for op in tensor.consumers() if op.type in nodes.LAYERS and op.inputs[1] is tensor
                     and not nodes.readers(op.outputs[0], nodes.FUSED) and not self._only_statistics(op)]
            made = self.weights.apply(tensor, nodes.in_context(layer, "weights_quant"), narrow=True)
            nodes.replace(tensor, made, users)

    def _round(self, tensor, scope):
        """Rounds a tensor, only once, for all operations that read it now."""
        if tensor.name in self.done:
            return
        self.done.add(tensor.name)
        users = tensor.consumers()
        nodes.replace(tensor, self.activations.apply(tensor, scope, narrow=False, decay=_DECAY), users)

    def _output(self, layer):
        """Rounds the output of the activation after a layer, or of the bias addition if there is no activation."""
        out = layer.outputs[0]
        # First the factor of a folded normalization is skipped, then the bias.
        for kinds in (("Mul",), ("BiasAdd", *nodes.ADDS)):
            for op in nodes.readers(out, kinds):
                if op.type == "Mul" and op.name.endswith("correction_mult") or op.type != "Mul" and all(
                        nodes.is_bias(t) for t in op.inputs if t is not out):
                    out = op.outputs[0]
                    break
        bypass = next((op for op in nodes.readers(out, nodes.ADDS) if not any(nodes.is_bias(t) for t in op.inputs if t is not out)), None)
        if bypass is None:
            self._activation(out, nodes.in_context(layer, "act_quant"), out is not layer.outputs[0])
            return
        if out is not layer.outputs[0]:
            self._round(out, nodes.in_context(layer, "conv_quant"))
        last = self._last_activation(bypass.outputs[0])
        if last is None:
            self._round(bypass.outputs[0], nodes.in_context(bypass, "add_quant"))
        else:
            self._round(last, nodes.in_context(bypass, "act_quant"))

    @staticmethod
    def _last_activation(out):
        found = nodes.readers(out, nodes.ACTIVATIONS)
        return found[0].outputs[0] if found else None

    def _activation(self, out, scope, has_bias):
        last = self._last_activation(out)
        if last is not None or has_bias:
            self._round(out if last is None else last, scope)


def _create_graph(input_graph, is_training, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None, freeze_bn_delay=None,
                  scope=None):
    graph = input_graph or tf.get_default_graph()
    for name, bits in (("weight_bits", weight_bits), ("activation_bits", activation_bits)):
        if not 2 <= bits <= 16:
            raise ValueError("%s must be from 2 to 16, not %r" % (name, bits))
    with graph.as_default():
        if is_training:
            nodes.refuse_training(graph)
        fold_batch_norms(graph, scope, freeze_bn_delay)
        _Rewriting(graph, scope, Rounding(is_training, weight_bits, symmetric, quant_delay),
                   Rounding(is_training, activation_bits, symmetric, quant_delay)).run()


def create_training_graph(input_graph=None, quant_delay=0):
    """Adds fake quantization with 8 bits to a graph that will be trained. Call it before the gradients are made.

    Batch normalizations are folded into weights.  The ranges follow the values as the training goes on.

    Args:
      input_graph: the graph, by default the default one.
      quant_delay: after how many steps values are rounded.
    """
    _create_graph(input_graph, True, quant_delay=quant_delay)


def create_eval_graph(input_graph=None):
    """Adds fake quantization with 8 bits to a graph for evaluation. A checkpoint of the training has its ranges.

    Args:
      input_graph: the graph, by default the default one.
    """
    _create_graph(input_graph, False)


def experimental_create_training_graph(input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=0,
                                       freeze_bn_delay=None, scope=None):
    """Works as create_training_graph does, with more options.

    Args:
      input_graph: the graph, by default the default one.
      weight_bits: how many bits weights have.
      activation_bits: how many bits activations have.
      symmetric: whether the ranges are as wide below zero as above.
      quant_delay: after how many steps values are rounded.
      freeze_bn_delay: after how many steps moving averages replace the statistics of batches; None: never.
      scope: the beginning of the names of the layers that are changed; None: all.
    """
    _create_graph(input_graph, True, weight_bits, activation_bits, symmetric, quant_delay, freeze_bn_delay, scope)


def experimental_create_eval_graph(input_graph=None, weight_bits=8, activation_bits=8, symmetric=False, quant_delay=None, scope=None):
    """Works as create_eval_graph does, with more options.

    Args:
      input_graph: the graph, by default the default one.
      weight_bits: how many bits weights have.
      activation_bits: how many bits activations have.
      symmetric: whether the ranges are as wide below zero as above.
      quant_delay: after how many steps values are rounded.
      scope: the beginning of the names of the layers that are changed; None: all.
    """
    _create_graph(input_graph, False, weight_bits, activation_bits, symmetric, quant_delay, None, scope)
