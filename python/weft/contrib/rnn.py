"""tf.contrib.rnn: the cells of tf.nn.rnn_cell, and networks of lists of inputs."""
from weft._core.nn.rnn import static_bidirectional_rnn, static_rnn
from weft._core.nn.rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LayerRNNCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)
from weft._core.public import publish as _publish

__all__ = [
    "BasicLSTMCell", "BasicRNNCell", "DeviceWrapper", "DropoutWrapper", "GRUCell", "LSTMCell", "LSTMStateTuple",
    "LayerRNNCell", "MultiRNNCell", "RNNCell", "ResidualWrapper", "static_bidirectional_rnn", "static_rnn",
]
__getattr__ = _publish(__name__)
