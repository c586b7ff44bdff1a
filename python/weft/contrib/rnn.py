"""tf.contrib.rnn: the cells of tf.nn.rnn_cell and static_rnn."""
from ..rnn import (BasicLSTMCell, BasicRNNCell, DropoutWrapper, GRUCell, LSTMCell, LSTMStateTuple, MultiRNNCell,  # noqa: F401
                   RNNCell, static_rnn)
