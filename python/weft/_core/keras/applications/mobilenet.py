"""MobileNet and MobileNetV2: depthwise convolutions; V2 has inverted residual blocks."""
import warnings

from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis, correct_pad, rounded

_BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + 5 * ((512, 1),) + ((1024, 2), (1024, 1))
_INVERTED = ((16, 1, 1), (24, 2, 6), (24, 1, 6), (32, 2, 6), (32, 1, 6), (32, 1, 6), (64, 2, 6), (64, 1, 6), (64, 1, 6), (64, 1, 6),
             (96, 1, 6), (96, 1, 6), (96, 1, 6), (160, 2, 6), (160, 1, 6), (160, 1, 6), (320, 1, 6))  # filters, stride, expansion


def _image(a, sizes):
    """Returns the input. Square images keep their size if weights for that size exist."""
    at = 1 if channel_axis() == 1 else 0
    given = a.input_shape[at:at + 2] if a.input_shape else (None, None)
    size = given[0] if given[0] == given[1] and given[0] in sizes else 224
    image = a.image(size, 32)
    return image, a.input_shape[at]


def _trained(a, alpha, alphas, rows, sizes):
    """Checks that weights exist for a model, and returns the size with which they were trained."""
    if a.weights != "imagenet":
        return rows
    if alpha not in alphas:
        raise ValueError("If imagenet weights are being loaded, alpha can be one of %s only. Received: alpha=%s" % (
            ", ".join("`%s`" % v for v in alphas), alpha))
    if rows in sizes:
        return rows
    warnings.warn("`input_shape` is undefined or non-square, or `rows` is not in %s. Weights for input shape (224, 224) will be "
                  "loaded as the default." % list(sizes), stacklevel=4)
    return 224


def _relu6(x, name):
    return layers.ReLU(6., name=name)(x)


def _separable(x, filters, stride, index, depth_multiplier):
    if stride != 1:
        x = layers.ZeroPadding2D(((0, 1), (0, 1)), name="conv_pad_%d" % index)(x)
    x = layers.DepthwiseConv2D((3, 3), padding="same" if stride == 1 else "valid", depth_multiplier=depth_multiplier,
                               strides=(stride, stride), use_bias=False, name="conv_dw_%d" % index)(x)
    x = _relu6(bn(x, "conv_dw_%d_bn" % index), "conv_dw_%d_relu" % index)
    x = layers.Conv2D(filters, (1, 1), padding="same", use_bias=False, name="conv_pw_%d" % index)(x)
    return _relu6(bn(x, "conv_pw_%d_bn" % index), "conv_pw_%d_relu" % index)


def _preds(a, x, dropout):
    """Returns the classifier of the first version, a convolution of an image of one pixel."""
    x = layers.GlobalAveragePooling2D(keepdims=True)(x)
    x = layers.Dropout(dropout, name="dropout")(x)
    x = layers.Conv2D(a.classes, (1, 1), padding="same", name="conv_preds")(x)
    x = layers.Reshape((a.classes,), name="reshape_2")(x)
    a.check_activation()
    return layers.Activation(activation=a.activation, name="predictions")(x)


def MobileNet(input_shape=None, alpha=1.0, depth_multiplier=1, dropout=1e-3, include_top=True, weights="imagenet",
              input_tensor=None, pooling=None, classes=1000, classifier_activation="softmax", **kwargs):
    if kwargs:
        raise ValueError("Unknown argument(s): %s" % ((kwargs,),))
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    sizes = (128, 160, 192, 224)
    image, rows = _image(a, sizes)
    if weights == "imagenet" and depth_multiplier != 1:
        raise ValueError("If imagenet weights are being loaded, depth multiplier must be 1. Received: depth_multiplier=%s" %
                         depth_multiplier)
    rows = _trained(a, alpha, (0.25, 0.50, 0.75, 1.0), rows, sizes)
    x = layers.Conv2D(int(32 * alpha), (3, 3), padding="same", use_bias=False, strides=(2, 2), name="conv1")(image)
    x = _relu6(bn(x, "conv1_bn"), "conv1_relu")
    for i, (filters, stride) in enumerate(_BLOCKS, 1):
        x = _separable(x, int(filters * alpha), stride, i, depth_multiplier)
    x = _preds(a, x, dropout) if include_top else a.pooled(x)
    text = {1.0: "1_0", 0.75: "7_5", 0.50: "5_0"}.get(alpha, "2_5")
    return a.model(image, x, "mobilenet_%0.2f_%s" % (alpha, rows), "mobilenet", "mobilenet_%s_%s_tf" % (text, rows))


def _inverted(x, filters, stride, expansion, index):
    prefix = "block_%d_" % index if index else "expanded_conv_"
    options, inputs, channels = {"epsilon": 1e-3, "momentum": 0.999}, x, K.int_shape(x)[channel_axis()]
    if index:
        x = layers.Conv2D(expansion * channels, 1, padding="same", use_bias=False, activation=None, name=prefix + "expand")(x)
        x = _relu6(bn(x, prefix + "expand_BN", **options), prefix + "expand_relu")
    if stride == 2:
        x = layers.ZeroPadding2D(correct_pad(x, 3), name=prefix + "pad")(x)
    x = layers.DepthwiseConv2D(3, strides=stride, activation=None, use_bias=False, padding="same" if stride == 1 else "valid",
                               name=prefix + "depthwise")(x)
    x = _relu6(bn(x, prefix + "depthwise_BN", **options), prefix + "depthwise_relu")
    x = layers.Conv2D(filters, 1, padding="same", use_bias=False, activation=None, name=prefix + "project")(x)
    x = bn(x, prefix + "project_BN", **options)
    return layers.Add(name=prefix + "add")([inputs, x]) if channels == filters and stride == 1 else x


def MobileNetV2(input_shape=None, alpha=1.0, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
                classifier_activation="softmax", **kwargs):
    if kwargs:
        raise ValueError("Unknown argument(s): %s" % kwargs)
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    sizes = (96, 128, 160, 192, 224)
    image, rows = _image(a, sizes)
    rows = _trained(a, alpha, (0.35, 0.50, 0.75, 1.0, 1.3, 1.4), rows, sizes)
    x = layers.Conv2D(rounded(32 * alpha), 3, strides=(2, 2), padding="same", use_bias=False, name="Conv1")(image)
    x = _relu6(bn(x, "bn_Conv1", epsilon=1e-3, momentum=0.999), "Conv1_relu")
    for i, (filters, stride, expansion) in enumerate(_INVERTED):
        x = _inverted(x, rounded(int(filters * alpha)), stride, expansion, i)
    x = layers.Conv2D(rounded(1280 * alpha) if alpha > 1.0 else 1280, 1, use_bias=False, name="Conv_1")(x)
    x = _relu6(bn(x, "Conv_1_bn", epsilon=1e-3, momentum=0.999), "out_relu")
    x = a.classify(layers.GlobalAveragePooling2D()(x)) if include_top else a.pooled(x)
    file = "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_%s_%s" % (float(alpha), rows)
    return a.model(image, x, "mobilenetv2_%0.2f_%s" % (alpha, rows), "mobilenet_v2", file)
