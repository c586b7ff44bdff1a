"""tf.contrib.rnn: the cells of tf.nn.rnn_cell, and networks of lists of inputs."""
from weft._core.contrib.rnn.cells import (
    AttentionCellWrapper,
    CompiledWrapper,
    EmbeddingWrapper,
    HighwayWrapper,
    IndRNNCell,
    IndyGRUCell,
    IndyLSTMCell,
    InputProjectionWrapper,
    IntersectionRNNCell,
    OutputProjectionWrapper,
    SRUCell,
    UGRNNCell,
)
from weft._core.contrib.rnn.fused import (
    FusedRNNCell,
    FusedRNNCellAdaptor,
    GRUBlockCell,
    GRUBlockCellV2,
    LSTMBlockCell,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
    TimeReversedFusedRNN,
    best_effort_input_batch_size,
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
    transpose_batch_time,
)
from weft._core.contrib.rnn.grid import BidirectionalGridLSTMCell, GridLSTMCell
from weft._core.contrib.rnn.lstm_cells import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
    CoupledInputForgetGateLSTMCell,
    GLSTMCell,
    LayerNormBasicLSTMCell,
    NASCell,
    PhasedLSTMCell,
    TimeFreqLSTMCell,
)
from weft._core.nn.rnn import static_bidirectional_rnn, static_rnn, static_state_saving_rnn
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
    "AttentionCellWrapper", "BasicLSTMCell", "BasicRNNCell", "BidirectionalGridLSTMCell", "CompiledWrapper",
    "Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell", "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper", "DropoutWrapper", "EmbeddingWrapper", "FusedRNNCell", "FusedRNNCellAdaptor", "GLSTMCell",
    "GRUBlockCell", "GRUBlockCellV2", "GRUCell", "GridLSTMCell", "HighwayWrapper", "IndRNNCell", "IndyGRUCell",
    "IndyLSTMCell", "InputProjectionWrapper", "IntersectionRNNCell", "LSTMBlockCell", "LSTMBlockFusedCell",
    "LSTMBlockWrapper", "LSTMCell", "LSTMStateTuple", "LayerNormBasicLSTMCell", "LayerRNNCell", "MultiRNNCell",
    "NASCell", "OutputProjectionWrapper", "PhasedLSTMCell", "RNNCell", "ResidualWrapper", "SRUCell",
    "TimeFreqLSTMCell", "TimeReversedFusedRNN", "UGRNNCell", "best_effort_input_batch_size",
    "stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn", "static_bidirectional_rnn", "static_rnn",
    "static_state_saving_rnn", "transpose_batch_time",
]
__getattr__ = _publish(__name__)
