"""The layers of tf.keras, by family."""
from weft._core.keras.base_layer import Layer  # noqa: F401
from weft._core.keras.input_layer import Input, InputLayer  # noqa: F401
from weft._core.keras.input_spec import InputSpec  # noqa: F401
from weft._core.keras.layers.activation import *  # noqa: F403
from weft._core.keras.layers.attention import *  # noqa: F403
from weft._core.keras.layers.conv_recurrent import *  # noqa: F403
from weft._core.keras.layers.convolutional import *  # noqa: F403
from weft._core.keras.layers.core import *  # noqa: F403
from weft._core.keras.layers.cudnn_recurrent import *  # noqa: F403
from weft._core.keras.layers.dtype_behavior import *  # noqa: F403
from weft._core.keras.layers.features import *  # noqa: F403
from weft._core.keras.layers.locally_connected import *  # noqa: F403
from weft._core.keras.layers.merge import *  # noqa: F403
from weft._core.keras.layers.normalization import *  # noqa: F403
from weft._core.keras.layers.pooling import *  # noqa: F403
from weft._core.keras.layers.preprocessing import *  # noqa: F403
from weft._core.keras.layers.recurrent import *  # noqa: F403
from weft._core.keras.layers.recurrent_cells import *  # noqa: F403
from weft._core.keras.layers.regularization import *  # noqa: F403
from weft._core.keras.layers.reshaping import *  # noqa: F403
from weft._core.keras.layers.serialization import *  # noqa: F403
from weft._core.keras.layers.wrappers import *  # noqa: F403
