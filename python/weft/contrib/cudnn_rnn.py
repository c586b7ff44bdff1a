"""tf.contrib.cudnn_rnn: the layers of cuDNN, computed by the compatible cells."""
from weft._core.contrib.cudnn_rnn import (
    CUDNN_INPUT_AUTO_MODE,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_INPUT_SKIP_MODE,
    CUDNN_RNN_BIDIRECTION,
    CUDNN_RNN_UNIDIRECTION,
    CudnnCompatibleGRUCell,
    CudnnCompatibleLSTMCell,
    CudnnGRU,
    CudnnLSTM,
    CudnnRNNRelu,
    CudnnRNNTanh,
)
from weft._core.public import publish as _publish

__all__ = [
    "CUDNN_INPUT_AUTO_MODE", "CUDNN_INPUT_LINEAR_MODE", "CUDNN_INPUT_SKIP_MODE", "CUDNN_RNN_BIDIRECTION",
    "CUDNN_RNN_UNIDIRECTION", "CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell", "CudnnGRU", "CudnnLSTM",
    "CudnnRNNRelu", "CudnnRNNTanh",
]
__getattr__ = _publish(__name__)
