"""RegNet: residual blocks with grouped convolutions; the Y models have squeeze-and-excitation too."""
import weft as tf
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis

# depths, widths, channels per group
_VARIANTS = {
    "x002": ((1, 1, 4, 7), (24, 56, 152, 368), 8), "x004": ((1, 2, 7, 12), (32, 64, 160, 384), 16),
    "x006": ((1, 3, 5, 7), (48, 96, 240, 528), 24), "x008": ((1, 3, 7, 5), (64, 128, 288, 672), 16),
    "x016": ((2, 4, 10, 2), (72, 168, 408, 912), 24), "x032": ((2, 6, 15, 2), (96, 192, 432, 1008), 48),
    "x040": ((2, 5, 14, 2), (80, 240, 560, 1360), 40), "x064": ((2, 4, 10, 1), (168, 392, 784, 1624), 56),
    "x080": ((2, 5, 15, 1), (80, 240, 720, 1920), 120), "x120": ((2, 5, 11, 1), (224, 448, 896, 2240), 112),
    "x160": ((2, 6, 13, 1), (256, 512, 896, 2048), 128), "x320": ((2, 7, 13, 1), (336, 672, 1344, 2520), 168),
    "y002": ((1, 1, 4, 7), (24, 56, 152, 368), 8), "y004": ((1, 3, 6, 6), (48, 104, 208, 440), 8),
    "y006": ((1, 3, 7, 4), (48, 112, 256, 608), 16), "y008": ((1, 3, 8, 2), (64, 128, 320, 768), 16),
    "y016": ((2, 6, 17, 2), (48, 120, 336, 888), 24), "y032": ((2, 5, 13, 1), (72, 216, 576, 1512), 24),
    "y040": ((2, 6, 12, 2), (128, 192, 512, 1088), 64), "y064": ((2, 7, 14, 2), (144, 288, 576, 1296), 72),
    "y080": ((2, 4, 10, 1), (168, 448, 896, 2016), 56), "y120": ((2, 5, 11, 1), (224, 448, 896, 2240), 112),
    "y160": ((2, 4, 11, 1), (224, 448, 1232, 3024), 112), "y320": ((2, 5, 12, 1), (232, 696, 1392, 3712), 232),
}


def _norm(x, name):
    return bn(x, name, momentum=0.9, epsilon=1e-5)


def _conv(x, filters, kernel, name, **options):
    return layers.Conv2D(filters, (kernel, kernel), use_bias=False, kernel_initializer="he_normal", name=name, **options)(x)


def _squeezed(x, filters, squeezed, name):
    y = layers.GlobalAveragePooling2D(name=name + "_squeeze_and_excite_gap", keepdims=True)(x)
    y = layers.Conv2D(squeezed, (1, 1), activation="relu", kernel_initializer="he_normal", name=name + "_squeeze_and_excite_squeeze")(y)
    y = layers.Conv2D(filters, (1, 1), activation="sigmoid", kernel_initializer="he_normal", name=name + "_squeeze_and_excite_excite")(y)
    return tf.math.multiply(y, x)


def _block(inputs, filters, group, stride, name, squeeze):
    channels = K.int_shape(inputs)[channel_axis()]
    skip = inputs
    if stride != 1:
        skip = _norm(_conv(inputs, filters, 1, name + "_skip_1x1", strides=stride), name + "_skip_bn")
    x = layers.ReLU(name=name + "_conv_1x1_1_relu")(_norm(_conv(inputs, filters, 1, name + "_conv_1x1_1"), name + "_conv_1x1_1_bn"))
    x = _conv(x, filters, 3, name + "_conv_3x3", strides=stride, groups=filters // group, padding="same")
    x = layers.ReLU(name=name + "_conv_3x3_relu")(_norm(x, name + "_conv_3x3_bn"))
    x = _squeezed(x, filters, int(channels * 0.25), name) if squeeze else x
    x = _norm(_conv(x, filters, 1, name + "_conv_1x1_2"), name + "_conv_1x1_2_bn")
    return layers.ReLU(name=name + "_exit_relu")(x + skip)


def _regnet(variant, name, include_preprocessing, a):
    depths, widths, group = _VARIANTS[variant]
    x = image = a.image(224, 32)
    if include_preprocessing:
        x = layers.Rescaling(scale=1.0 / 255.0, name=name + "_prestem_rescaling")(x)
    x = _conv(x, 32, 3, name + "_stem_conv", strides=2, padding="same")
    x = layers.ReLU(name=name + "_stem_relu")(_norm(x, name + "_stem_bn"))
    for i, (depth, filters) in enumerate(zip(depths, widths)):
        for j in range(depth):
            x = _block(x, filters, group, 1 if j else 2, "%s_Stage_%d_%sBlock_%d" % (name, i, variant[0].upper(), j), variant[0] == "y")
    if a.include_top:
        a.check_activation()
        head = str(K.get_uid("head"))
        x = layers.GlobalAveragePooling2D(name=head + "_head_gap")(x)
        x = layers.Dense(a.classes, name=head + "head_dense")(x)  # As in TensorFlow, the activation is not applied.
    else:
        x = a.pooled(x)
    return a.model(image, x, name, "regnet", name)


def _builder(variant):
    def build(model_name="regnet" + variant, include_top=True, include_preprocessing=True, weights="imagenet", input_tensor=None,
              input_shape=None, pooling=None, classes=1000, classifier_activation="softmax"):
        a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return _regnet(variant, model_name, include_preprocessing, a)
    build.__name__ = build.__qualname__ = "RegNet" + variant.upper()
    return build


globals().update({f.__name__: f for f in map(_builder, _VARIANTS)})
__all__ = ["RegNet" + variant.upper() for variant in _VARIANTS]
