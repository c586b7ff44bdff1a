"""ConvNeXt: blocks of a depthwise 7 x 7 convolution and two dense layers."""
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments
from weft._core.keras.base_layer import Layer
from weft._core.keras.initializers import Constant
from weft._core.keras.sequential import Sequential

_DEPTHS = {"tiny": (3, 3, 9, 3)}
_WIDTHS = {"tiny": 96, "small": 96, "base": 128, "large": 192, "xlarge": 256}


class LayerScale(Layer):
    """A learned factor per channel."""

    def __init__(self, init_values, projection_dim, **kwargs):
        super().__init__(**kwargs)
        self.init_values, self.projection_dim = init_values, projection_dim

    def build(self, input_shape):
        self.gamma = self.add_weight(name="gamma", shape=(self.projection_dim,), initializer=Constant(self.init_values), trainable=True)

    def call(self, x):
        return x * self.gamma

    def get_config(self):
        return {**super().get_config(), "init_values": self.init_values, "projection_dim": self.projection_dim}


def _norm(name=None):
    return layers.LayerNormalization(epsilon=1e-6, name=name)


def _block(inputs, width, name):
    x = layers.Conv2D(width, kernel_size=7, padding="same", groups=width, name=name + "_depthwise_conv")(inputs)
    x = layers.Dense(4 * width, name=name + "_pointwise_conv_1")(_norm(name + "_layernorm")(x))
    x = layers.Activation("gelu", name=name + "_gelu")(x)
    x = layers.Dense(width, name=name + "_pointwise_conv_2")(x)
    x = LayerScale(1e-6, width, name=name + "_layer_scale")(x)
    return inputs + layers.Activation("linear", name=name + "_identity")(x)


def _prestem(x, name):
    if K.int_shape(x)[-1] != 3:
        return x
    return layers.Normalization(mean=[0.485 * 255, 0.456 * 255, 0.406 * 255], variance=[(0.229 * 255) ** 2, (0.224 * 255) ** 2,
                                                                                       (0.225 * 255) ** 2],
                                name=name + "_prestem_normalization")(x)


def _convnext(kind, name, include_preprocessing, a):
    image = a.image(224, 32)
    x, width = _prestem(image, name) if include_preprocessing else image, _WIDTHS[kind]
    for i, depth in enumerate(_DEPTHS.get(kind, (3, 3, 27, 3))):
        if i == 0:
            steps = [layers.Conv2D(width, kernel_size=4, strides=4, name=name + "_stem_conv"), _norm(name + "_stem_layernorm")]
        else:
            steps = [_norm("%s_downsampling_layernorm_%d" % (name, i - 1)),
                     layers.Conv2D(width << i, kernel_size=2, strides=2, name="%s_downsampling_conv_%d" % (name, i - 1))]
        x = Sequential(steps, name=name + ("_stem" if i == 0 else "_downsampling_block_%d" % (i - 1)))(x)
        for j in range(depth):
            x = _block(x, width << i, "%s_stage_%d_block_%d" % (name, i, j))
    if a.include_top:
        x = _norm(name + "_head_layernorm")(layers.GlobalAveragePooling2D(name=name + "_head_gap")(x))
        x = a.classify(x, name + "_head_dense")
    else:
        x = _norm()(a.pooled(x))
    return a.model(image, x, name, "convnext", name)


def _builder(kind, word):
    def build(model_name="convnext_" + kind, include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
              input_shape=None, pooling=None, classes=1000, classifier_activation="softmax"):
        a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return _convnext(kind, model_name, include_preprocessing, a)
    build.__name__ = build.__qualname__ = "ConvNeXt" + word
    return build


ConvNeXtTiny, ConvNeXtSmall, ConvNeXtBase, ConvNeXtLarge, ConvNeXtXLarge = (
    _builder(kind, word) for kind, word in zip(_WIDTHS, ("Tiny", "Small", "Base", "Large", "XLarge")))
