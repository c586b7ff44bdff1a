"""tf.keras.backend: the phase of learning, and the losses on probabilities."""
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import get_default_graph, name_scope
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops
from weft._core.ops.gradients import clip_by_value
from weft._core.session import client

_session = None


def set_learning_phase(value):
    """1 while training, 0 otherwise, for the layers of this graph that are made from now on."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    get_default_graph()._keras_phase = bool(value)


def learning_phase():
    """What was set, or an input that is False unless it is fed."""
    graph = get_default_graph()
    if getattr(graph, "_keras_phase", None) is None:
        with name_scope(None):
            graph._keras_phase = array_ops.placeholder_with_default(False, [], name="keras_learning_phase")
    return graph._keras_phase


def manual_variable_initialization(value):
    """Variables are initialised by the program in any case."""


def epsilon():
    return 1e-7


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    output = convert_to_tensor(output)
    target = math_ops.cast(target, output.dtype.base_dtype)
    if from_logits:
        return nn.softmax_cross_entropy_with_logits(labels=target, logits=output)
    output = output / math_ops.reduce_sum(output, axis, keepdims=True)
    output = clip_by_value(output, epsilon(), 1 - epsilon())
    return -math_ops.reduce_sum(target * math_ops.log(output), axis)


def get_session():
    global _session
    found = client.get_default_session()
    if found is not None:
        return found
    if _session is None or _session._closed or _session.graph is not get_default_graph():
        _session = client.Session()
    return _session


def set_session(session):
    global _session
    _session = session


def image_data_format():
    return "channels_last"


def floatx():
    return dtypes.float32.name
