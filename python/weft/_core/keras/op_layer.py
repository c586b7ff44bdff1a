"""Makes a layer for each op between Keras tensors that no layer made, so that a model can repeat the op.

The inputs of an operation that do not depend on Keras tensors are evaluated once and kept as constants.
"""
import json

from weft._core.framework.build import constant
from weft._core.framework.graph import get_default_graph
from weft._core.framework.nest import flatten
from weft._core.framework.protos import NodeDef
from weft._core.keras import backend, node as nodes
from weft._core.keras.base_layer import Layer
from weft._core.ops.control_flow import no_op

_PREFIX = "tf_op_layer_"


class TensorFlowOpLayer(Layer):
    """A layer of one op: its NodeDef, and the values of constant inputs by position."""

    def __init__(self, node_def, name, constants=None, trainable=True, dtype=None):
        super().__init__(name=_PREFIX + name, trainable=trainable, dtype=dtype)
        self.node_def = NodeDef.FromString(node_def) if isinstance(node_def, bytes) else \
            _node_from_dict(node_def) if isinstance(node_def, dict) else node_def
        self.constants = {int(k): v for k, v in (constants or {}).items()}
        self.built = True

    def call(self, inputs):
        graph, inputs = get_default_graph(), flatten(inputs)
        for index in sorted(self.constants):
            inputs.insert(index, constant(self.constants[index], name=self.node_def.input[index].partition(":")[0].lstrip("^")))
        made = graph.create_op(self.node_def.op, inputs, name=self.node_def.name, attrs=dict(self.node_def.attr.items()))
        return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)

    def get_config(self):
        config = super().get_config()
        config.update(name=self.name[len(_PREFIX):], node_def=_node_to_dict(self.node_def),
                      constants={k: getattr(v, "tolist", lambda v=v: v)() for k, v in self.constants.items()})
        return config


def _node_to_dict(node_def):
    """Returns a NodeDef in the JSON form of protocol buffers."""
    from weft._core.keras.node_json import to_dict
    return to_dict(node_def)


def _node_from_dict(given):
    from weft._core.keras.node_json import from_dict
    return from_dict(json.loads(given) if isinstance(given, str) else given)


def create_history(tensors):
    """Makes layers for the ops between Keras tensors and these tensors, and returns the layers."""
    made, done = [], set()
    _create(tensors, done, made)
    return made


def _create(tensors, done, made):
    for tensor in flatten(tensors):
        op = tensor.op
        if nodes.is_keras_tensor(tensor) or id(op) in done:
            continue
        constants, inputs = {}, []
        for i, given in enumerate(op.inputs):
            if nodes.uses_history(given):
                inputs.append(given)
            else:
                constants[i] = _evaluated(given)
        _create(inputs, done, made)
        layer = TensorFlowOpLayer(op.node_def, constants=constants, name=op.name)
        made.append(layer)
        outputs = list(op.outputs)
        nodes.Node(layer, (inputs[0] if len(inputs) == 1 else inputs,), {}, outputs[0] if len(outputs) == 1 else outputs)
        done.add(id(op))


def _evaluated(tensor):
    with tensor.graph.control_dependencies([tensor]):
        no_op("group_deps")
    return backend.get_session().run(tensor)
