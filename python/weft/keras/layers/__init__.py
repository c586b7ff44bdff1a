"""tf.keras.layers: layers as objects."""
from weft._core.keras.base_layer import Layer
from weft._core.keras.input_layer import Input, InputLayer
from weft._core.keras.input_spec import InputSpec
from weft._core.keras.layers.activation import ELU, LeakyReLU, PReLU, ReLU, Softmax, ThresholdedReLU
from weft._core.keras.layers.attention import AdditiveAttention, Attention, EinsumDense, MultiHeadAttention
from weft._core.keras.layers.conv_recurrent import ConvLSTM1D, ConvLSTM2D, ConvLSTM3D
from weft._core.keras.layers.convolutional import (
    Conv1D,
    Conv1D as Convolution1D,
    Conv1DTranspose,
    Conv1DTranspose as Convolution1DTranspose,
    Conv2D,
    Conv2D as Convolution2D,
    Conv2DTranspose,
    Conv2DTranspose as Convolution2DTranspose,
    Conv3D,
    Conv3D as Convolution3D,
    Conv3DTranspose,
    Conv3DTranspose as Convolution3DTranspose,
    DepthwiseConv1D,
    DepthwiseConv2D,
    SeparableConv1D,
    SeparableConv1D as SeparableConvolution1D,
    SeparableConv2D,
    SeparableConv2D as SeparableConvolution2D,
)
from weft._core.keras.layers.core import (
    Activation,
    ActivityRegularization,
    Dense,
    Embedding,
    Flatten,
    Identity,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
)
from weft._core.keras.layers.cudnn_recurrent import CuDNNGRU, CuDNNLSTM
from weft._core.keras.layers.dtype_behavior import disable_v2_dtype_behavior, enable_v2_dtype_behavior
from weft._core.keras.layers.features import DenseFeatures
from weft._core.keras.layers.locally_connected import LocallyConnected1D, LocallyConnected2D
from weft._core.keras.layers.merge import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    dot,
    maximum,
    minimum,
    multiply,
    subtract,
)
from weft._core.keras.layers.normalization import BatchNormalization, LayerNormalization
from weft._core.keras.layers.pooling import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalAveragePooling3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    GlobalMaxPooling3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from weft._core.keras.layers.preprocessing import CategoryEncoding, CenterCrop, Discretization, Hashing, Normalization, Rescaling, Resizing
from weft._core.keras.layers.recurrent import GRU, LSTM, RNN, SimpleRNN
from weft._core.keras.layers.recurrent_cells import AbstractRNNCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells
from weft._core.keras.layers.regularization import (
    AlphaDropout,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
)
from weft._core.keras.layers.reshaping import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    UpSampling1D,
    UpSampling2D,
    UpSampling3D,
    ZeroPadding1D,
    ZeroPadding2D,
    ZeroPadding3D,
)
from weft._core.keras.layers.serialization import deserialize, serialize
from weft._core.keras.layers.wrappers import Bidirectional, TimeDistributed, Wrapper
from weft._core.public import publish as _publish
from weft.keras.layers import experimental

__all__ = [
    "experimental", "AbstractRNNCell", "Activation", "ActivityRegularization", "Add", "AdditiveAttention", "AlphaDropout",
    "Attention", "Average", "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "AvgPool1D", "AvgPool2D",
    "AvgPool3D", "BatchNormalization", "Bidirectional", "CategoryEncoding", "CenterCrop", "Concatenate", "Conv1D",
    "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "ConvLSTM1D", "ConvLSTM2D",
    "ConvLSTM3D", "Convolution1D", "Convolution1DTranspose", "Convolution2D", "Convolution2DTranspose",
    "Convolution3D", "Convolution3DTranspose", "Cropping1D", "Cropping2D", "Cropping3D", "CuDNNGRU", "CuDNNLSTM",
    "Dense", "DenseFeatures", "DepthwiseConv1D", "DepthwiseConv2D", "Discretization", "Dot", "Dropout", "ELU",
    "EinsumDense", "Embedding", "Flatten", "GRU", "GRUCell", "GaussianDropout", "GaussianNoise",
    "GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D", "GlobalAvgPool1D",
    "GlobalAvgPool2D", "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D", "Hashing", "Identity", "Input", "InputLayer",
    "InputSpec", "LSTM", "LSTMCell", "Lambda", "Layer", "LayerNormalization", "LeakyReLU", "LocallyConnected1D",
    "LocallyConnected2D", "Masking", "MaxPool1D", "MaxPool2D", "MaxPool3D", "MaxPooling1D", "MaxPooling2D",
    "MaxPooling3D", "Maximum", "Minimum", "MultiHeadAttention", "Multiply", "Normalization", "PReLU", "Permute",
    "RNN", "ReLU", "RepeatVector", "Rescaling", "Reshape", "Resizing", "SeparableConv1D", "SeparableConv2D",
    "SeparableConvolution1D", "SeparableConvolution2D", "SimpleRNN", "SimpleRNNCell", "Softmax", "SpatialDropout1D",
    "SpatialDropout2D", "SpatialDropout3D", "StackedRNNCells", "Subtract", "ThresholdedReLU", "TimeDistributed",
    "UpSampling1D", "UpSampling2D", "UpSampling3D", "Wrapper", "ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D",
    "add", "average", "concatenate", "deserialize", "disable_v2_dtype_behavior", "dot", "enable_v2_dtype_behavior",
    "maximum", "minimum", "multiply", "serialize", "subtract",
]
__getattr__ = _publish(__name__)
