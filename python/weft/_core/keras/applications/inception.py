"""InceptionV3 and InceptionResNetV2: blocks of parallel branches of convolutions.

A branch is written as a chain of steps: (filters, rows, columns) is a convolution, a fourth element "/2" gives it stride 2 and no
padding.  The order of the branches in a block decides the names of their layers.
"""
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, channel_axis
from weft._core.keras.base_layer import Layer
from weft._core.keras.serialization import register_keras_serializable


def _conv(x, filters, rows, columns, padding="same", strides=(1, 1)):
    x = layers.Conv2D(filters, (rows, columns), strides=strides, padding=padding, use_bias=False)(x)
    x = layers.BatchNormalization(axis=channel_axis(), scale=False)(x)
    return layers.Activation("relu")(x)


def _chain(x, steps):
    for filters, rows, columns, *reduced in steps:
        x = _conv(x, filters, rows, columns, *(("valid", (2, 2)) if reduced else ()))
    return x


def _merged(branches, name=None):
    return layers.Concatenate(axis=channel_axis(), name=name)(branches)


def _average(x, filters):
    return _conv(layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same")(x), filters, 1, 1)


def _reduced(x):
    return layers.MaxPooling2D((3, 3), strides=(2, 2))(x)


def _stem(image):
    x = _conv(image, 32, 3, 3, "valid", (2, 2))
    x = _conv(_conv(x, 32, 3, 3, "valid"), 64, 3, 3)
    x = _reduced(x)
    return _reduced(_conv(_conv(x, 80, 1, 1, "valid"), 192, 3, 3, "valid"))


def _split(x, first, name=None):
    """Ends a branch in a row and a column convolution side by side, as the last two blocks of V3 do."""
    x = _chain(x, first)
    return _merged([_conv(x, 384, 1, 3), _conv(x, 384, 3, 1)], name)


def _v3_wide(x, c, name):
    """Returns a block with factorized 7 x 7 convolutions of c channels."""
    return _merged([_conv(x, 192, 1, 1), _chain(x, [(c, 1, 1), (c, 1, 7), (192, 7, 1)]),
                    _chain(x, [(c, 1, 1), (c, 7, 1), (c, 1, 7), (c, 7, 1), (192, 1, 7)]), _average(x, 192)], name)


def _v3(image):
    x = _stem(image)
    for i, filters in enumerate((32, 64, 64)):
        x = _merged([_conv(x, 64, 1, 1), _chain(x, [(48, 1, 1), (64, 5, 5)]), _chain(x, [(64, 1, 1), (96, 3, 3), (96, 3, 3)]),
                     _average(x, filters)], "mixed%d" % i)
    x = _merged([_chain(x, [(384, 3, 3, "/2")]), _chain(x, [(64, 1, 1), (96, 3, 3), (96, 3, 3, "/2")]), _reduced(x)], "mixed3")
    for i, c in enumerate((128, 160, 160, 192), 4):
        x = _v3_wide(x, c, "mixed%d" % i)
    x = _merged([_chain(x, [(192, 1, 1), (320, 3, 3, "/2")]),
                 _chain(x, [(192, 1, 1), (192, 1, 7), (192, 7, 1), (192, 3, 3, "/2")]), _reduced(x)], "mixed8")
    for i in range(2):
        x = _merged([_conv(x, 320, 1, 1), _split(x, [(384, 1, 1)], "mixed9_%d" % i), _split(x, [(448, 1, 1), (384, 3, 3)]),
                     _average(x, 192)], "mixed%d" % (9 + i))
    return x


def InceptionV3(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    image = a.image(299, 75)
    x = _v3(image)
    x = a.classify(layers.GlobalAveragePooling2D(name="avg_pool")(x)) if a.include_top else a.pooled(x)
    return a.model(image, x, "inception_v3", "inception_v3")


@register_keras_serializable()
class CustomScaleLayer(Layer):
    """Returns inputs[0] + scale * inputs[1]."""

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def get_config(self):
        return {**super().get_config(), "scale": self.scale}

    def call(self, inputs):
        return inputs[0] + inputs[1] * self.scale


_RESIDUAL = {  # the branches of a residual block, by its size
    "block35": ([(32, 1, 1)], [(32, 1, 1), (32, 3, 3)], [(32, 1, 1), (48, 3, 3), (64, 3, 3)]),
    "block17": ([(192, 1, 1)], [(128, 1, 1), (160, 1, 7), (192, 7, 1)]),
    "block8": ([(192, 1, 1)], [(192, 1, 1), (224, 1, 3), (256, 3, 1)]),
}


def _residual(x, kind, scale, index, activation="relu"):
    name = "%s_%d" % (kind, index)
    y = _merged([_chain(x, steps) for steps in _RESIDUAL[kind]], name + "_mixed")
    y = layers.Conv2D(K.int_shape(x)[channel_axis()], 1, padding="same", name=name + "_conv")(y)
    x = CustomScaleLayer(scale)([x, y])
    return layers.Activation(activation, name=name + "_ac")(x) if activation else x


def _resnet_v2(image):
    x = _stem(image)
    x = _merged([_conv(x, 96, 1, 1), _chain(x, [(48, 1, 1), (64, 5, 5)]), _chain(x, [(64, 1, 1), (96, 3, 3), (96, 3, 3)]),
                 _average(x, 64)], "mixed_5b")
    for i in range(1, 11):
        x = _residual(x, "block35", 0.17, i)
    x = _merged([_chain(x, [(384, 3, 3, "/2")]), _chain(x, [(256, 1, 1), (256, 3, 3), (384, 3, 3, "/2")]), _reduced(x)], "mixed_6a")
    for i in range(1, 21):
        x = _residual(x, "block17", 0.1, i)
    x = _merged([_chain(x, [(256, 1, 1), (384, 3, 3, "/2")]), _chain(x, [(256, 1, 1), (288, 3, 3, "/2")]),
                 _chain(x, [(256, 1, 1), (288, 3, 3), (320, 3, 3, "/2")]), _reduced(x)], "mixed_7a")
    for i in range(1, 10):
        x = _residual(x, "block8", 0.2, i)
    x = _residual(x, "block8", 1.0, 10, activation=None)
    x = layers.Conv2D(1536, 1, padding="same", use_bias=False, name="conv_7b")(x)
    x = layers.BatchNormalization(axis=channel_axis(), scale=False, name="conv_7b_bn")(x)
    return layers.Activation("relu", name="conv_7b_ac")(x)


def InceptionResNetV2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                      classifier_activation="softmax", **kwargs):
    if "layers" in kwargs:
        kwargs.pop("layers")
    if kwargs:
        raise ValueError("Unknown argument(s): %s" % kwargs)
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    image = a.image(299, 75)
    x = _resnet_v2(image)
    x = a.classify(layers.GlobalAveragePooling2D(name="avg_pool")(x)) if a.include_top else a.pooled(x)
    return a.model(image, x, "inception_resnet_v2", "inception_resnet_v2")
