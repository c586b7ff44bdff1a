"""tf.contrib.rnn: the cells of tf.nn.rnn_cell, and networks of lists of inputs."""
from ..rnn import (BasicLSTMCell, BasicRNNCell, DeviceWrapper, DropoutWrapper, GRUCell, LSTMCell, LSTMStateTuple,  # noqa: F401
                   MultiRNNCell, ResidualWrapper, RNNCell, static_bidirectional_rnn, static_rnn)
