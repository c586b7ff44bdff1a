"""EfficientNet: inverted residual blocks with squeeze-and-excitation, scaled in width, depth and size of images."""
import math

from weft._core.keras import layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis, correct_pad, rounded

CONV_KERNEL = {"class_name": "VarianceScaling", "config": {"scale": 2.0, "mode": "fan_out", "distribution": "truncated_normal"}}
DENSE_KERNEL = {"class_name": "VarianceScaling", "config": {"scale": 1.0 / 3.0, "mode": "fan_out", "distribution": "uniform"}}
STDDEV = (0.229, 0.224, 0.225)
# kernel, repeats, filters in, filters out, expansion, stride
_BLOCKS = ((3, 1, 32, 16, 1, 1), (3, 2, 16, 24, 6, 2), (5, 2, 24, 40, 6, 2), (3, 3, 40, 80, 6, 2), (5, 3, 80, 112, 6, 1),
           (5, 4, 112, 192, 6, 2), (3, 1, 192, 320, 6, 1))
# width, depth, size of images, dropout
_VARIANTS = {"b0": (1.0, 1.0, 224, 0.2), "b1": (1.0, 1.1, 240, 0.2), "b2": (1.1, 1.2, 260, 0.3), "b3": (1.2, 1.4, 300, 0.3),
             "b4": (1.4, 1.8, 380, 0.4), "b5": (1.6, 2.2, 456, 0.4), "b6": (1.8, 2.6, 528, 0.5), "b7": (2.0, 3.1, 600, 0.5)}


def conv(x, filters, kernel, name, strides=1, padding="same"):
    return layers.Conv2D(filters, kernel, strides=strides, padding=padding, use_bias=False, kernel_initializer=CONV_KERNEL, name=name)(x)


def squeeze_excite(x, channels, squeezed, name, activation):
    """Returns x times a weight per channel that is computed from the mean of the image."""
    y = layers.GlobalAveragePooling2D(name=name + "se_squeeze")(x)
    shape = (channels, 1, 1) if channel_axis() == 1 else (1, 1, channels)
    y = layers.Reshape(shape, name=name + "se_reshape")(y)
    y = layers.Conv2D(squeezed, 1, padding="same", activation=activation, kernel_initializer=CONV_KERNEL, name=name + "se_reduce")(y)
    y = layers.Conv2D(channels, 1, padding="same", activation="sigmoid", kernel_initializer=CONV_KERNEL, name=name + "se_expand")(y)
    return layers.multiply([x, y], name=name + "se_excite")


def dropped(x, inputs, rate, name):
    """Returns x with the residual connection. While training, whole blocks are dropped at random."""
    x = layers.Dropout(rate, noise_shape=(None, 1, 1, 1), name=name + "drop")(x) if rate > 0 else x
    return layers.add([x, inputs], name=name + "add")


def _block(x, activation, rate, name, channels, filters, kernel, stride, expansion):
    inputs, wide = x, channels * expansion
    if expansion != 1:
        x = bn(conv(x, wide, 1, name + "expand_conv"), name + "expand_bn")
        x = layers.Activation(activation, name=name + "expand_activation")(x)
    if stride == 2:
        x = layers.ZeroPadding2D(padding=correct_pad(x, kernel), name=name + "dwconv_pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="valid" if stride == 2 else "same", use_bias=False,
                               depthwise_initializer=CONV_KERNEL, name=name + "dwconv")(x)
    x = layers.Activation(activation, name=name + "activation")(bn(x, name + "bn"))
    x = squeeze_excite(x, wide, max(1, int(channels * 0.25)), name, activation)
    x = bn(conv(x, filters, 1, name + "project_conv"), name + "project_bn")
    return dropped(x, inputs, rate, name) if stride == 1 and channels == filters else x


def _stem(image, a, width, activation):
    x = layers.Normalization(axis=channel_axis())(layers.Rescaling(1.0 / 255.0)(image))
    if a.weights == "imagenet":  # These weights were trained with a normalization that lacked a square root.
        x = layers.Rescaling([1.0 / math.sqrt(s) for s in STDDEV])(x)
    x = layers.ZeroPadding2D(padding=correct_pad(x, 3), name="stem_conv_pad")(x)
    x = bn(conv(x, width(32), 3, "stem_conv", 2, "valid"), "stem_bn")
    return layers.Activation(activation, name="stem_activation")(x)


def classifier(a, x, dropout, **options):
    """Returns the pooled features, in a whole model followed by dropout and a dense layer."""
    if not a.include_top:
        return a.pooled(x, avg="avg_pool", max="max_pool")
    x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
    x = layers.Dropout(dropout, name="top_dropout")(x) if dropout > 0 else x
    return a.classify(x, kernel_initializer=DENSE_KERNEL, **options)


def _efficientnet(variant, a, drop_connect_rate=0.2, depth_divisor=8, activation="swish"):
    width_by, depth_by, size, dropout = _VARIANTS[variant]

    def width(filters):
        return rounded(filters * width_by, depth_divisor)
    image = a.image(size, 32)
    x, index = _stem(image, a, width, activation), 0
    counts = [int(math.ceil(depth_by * row[1])) for row in _BLOCKS]
    for i, (count, (kernel, _, given, filters, expansion, stride)) in enumerate(zip(counts, _BLOCKS), 1):
        for j in range(count):
            rate = drop_connect_rate * index / float(sum(counts))
            x = _block(x, activation, rate, "block%d%s_" % (i, chr(97 + j)), width(filters if j else given), width(filters), kernel,
                       1 if j else stride, expansion)
            index += 1
    x = layers.Activation(activation, name="top_activation")(bn(conv(x, width(1280), 1, "top_conv"), "top_bn"))
    name = "efficientnet" + variant
    return a.model(image, classifier(a, x, dropout), name, "https://storage.googleapis.com/keras-applications", name)


def _builder(variant):
    def build(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", **kwargs):
        a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return _efficientnet(variant, a, **kwargs)
    build.__name__ = build.__qualname__ = "EfficientNet" + variant.upper()
    return build


EfficientNetB0, EfficientNetB1, EfficientNetB2, EfficientNetB3, EfficientNetB4, EfficientNetB5, EfficientNetB6, EfficientNetB7 = map(
    _builder, _VARIANTS)
