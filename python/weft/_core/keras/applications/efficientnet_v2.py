"""EfficientNetV2: the first stages fuse the expansion and the depthwise convolution into one convolution."""
import math

from weft._core.keras import layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis
from weft._core.keras.applications.efficientnet import CONV_KERNEL, STDDEV, classifier, conv, dropped, squeeze_excite

# repeats, filters in, filters out, expansion, stride, fused
_SMALL = ((1, 32, 16, 1, 1, True), (2, 16, 32, 4, 2, True), (2, 32, 48, 4, 2, True), (3, 48, 96, 4, 2, False), (5, 96, 112, 6, 1, False),
          (8, 112, 192, 6, 2, False))
_S = ((2, 24, 24, 1, 1, True), (4, 24, 48, 4, 2, True), (4, 48, 64, 4, 2, True), (6, 64, 128, 4, 2, False), (9, 128, 160, 6, 1, False),
      (15, 160, 256, 6, 2, False))
_M = ((3, 24, 24, 1, 1, True), (5, 24, 48, 4, 2, True), (5, 48, 80, 4, 2, True), (7, 80, 160, 4, 2, False), (14, 160, 176, 6, 1, False),
      (18, 176, 304, 6, 2, False), (5, 304, 512, 6, 1, False))
_L = ((4, 32, 32, 1, 1, True), (7, 32, 64, 4, 2, True), (7, 64, 96, 4, 2, True), (10, 96, 192, 4, 2, False), (19, 192, 224, 6, 1, False),
      (25, 224, 384, 6, 2, False), (7, 384, 640, 6, 1, False))
# stages, width, depth, size of images
_VARIANTS = {"b0": (_SMALL, 1.0, 1.0, 224), "b1": (_SMALL, 1.0, 1.1, 240), "b2": (_SMALL, 1.1, 1.2, 260), "b3": (_SMALL, 1.2, 1.4, 300),
             "s": (_S, 1.0, 1.0, 384), "m": (_M, 1.0, 1.0, 480), "l": (_L, 1.0, 1.0, 480)}


def _norm(x, name):
    return bn(x, name, momentum=0.9)


def _swish(x, name):
    return layers.Activation("swish", name=name)(x)


def _block(x, rate, name, channels, filters, stride, expansion, fused):
    inputs, wide = x, channels * expansion
    if expansion != 1:
        x = conv(x, wide, 3 if fused else 1, name + "expand_conv", stride if fused else 1)
        x = _swish(_norm(x, name + "expand_bn"), name + "expand_activation")
    if not fused:
        x = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False, depthwise_initializer=CONV_KERNEL,
                                   name=name + "dwconv2")(x)
        x = _swish(_norm(x, name + "bn"), name + "activation")
        x = squeeze_excite(x, wide, max(1, int(channels * 0.25)), name, "swish")
    whole = fused and expansion == 1
    x = _norm(conv(x, filters, 3 if whole else 1, name + "project_conv", stride if whole else 1), name + "project_bn")
    x = _swish(x, name + "project_activation") if whole else x
    return dropped(x, inputs, rate, name) if stride == 1 and channels == filters else x


def _preprocessed(x, variant):
    if variant[0] != "b":
        return layers.Rescaling(scale=1.0 / 128.0, offset=-1)(x)
    x = layers.Rescaling(scale=1.0 / 255)(x)
    return layers.Normalization(mean=[0.485, 0.456, 0.406], variance=[s ** 2 for s in STDDEV], axis=channel_axis())(x)


def _efficientnet(variant, a, include_preprocessing):
    stages, width_by, depth_by, size = _VARIANTS[variant]

    def width(filters):
        return max(8, int(filters * width_by + 4) // 8 * 8)
    image = a.image(size, 32)
    x = _preprocessed(image, variant) if include_preprocessing and channel_axis() == 3 else image
    x = _swish(_norm(conv(x, width(stages[0][1]), 3, "stem_conv", 2), "stem_bn"), "stem_activation")
    index, total = 0, float(sum(row[0] for row in stages))
    for i, (repeats, given, filters, expansion, stride, fused) in enumerate(stages, 1):
        for j in range(int(math.ceil(depth_by * repeats))):
            x = _block(x, 0.2 * index / total, "block%d%s_" % (i, chr(97 + j)), width(filters if j else given), width(filters),
                       1 if j else stride, expansion, fused)
            index += 1
    x = _swish(_norm(conv(x, width(1280), 1, "top_conv"), "top_bn"), "top_activation")
    name = "efficientnetv2-" + variant
    x = classifier(a, x, 0.2, bias_initializer={"class_name": "Constant", "config": {"value": 0}})
    return a.model(image, x, name, "efficientnet_v2", name)


def _builder(variant):
    def build(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
              classifier_activation="softmax", include_preprocessing=True):
        a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return _efficientnet(variant, a, include_preprocessing)
    build.__name__ = build.__qualname__ = "EfficientNetV2" + variant.upper()
    return build


EfficientNetV2B0, EfficientNetV2B1, EfficientNetV2B2, EfficientNetV2B3, EfficientNetV2S, EfficientNetV2M, EfficientNetV2L = map(
    _builder, _VARIANTS)
