"""MobileNetV3: inverted residual blocks, some with squeeze-and-excitation, and the function x * relu6(x + 3) / 6."""
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis, correct_pad, rounded

_SE, _ACT, _KERNEL = True, "act", "kernel"  # These markers are replaced in the minimalistic variants.
# expansion, filters, kernel, stride, squeeze-and-excitation, activation
_SMALL = ((1, 16, 3, 2, _SE, "relu"), (72 / 16, 24, 3, 2, None, "relu"), (88 / 24, 24, 3, 1, None, "relu"),
          (4, 40, _KERNEL, 2, _SE, _ACT), (6, 40, _KERNEL, 1, _SE, _ACT), (6, 40, _KERNEL, 1, _SE, _ACT), (3, 48, _KERNEL, 1, _SE, _ACT),
          (3, 48, _KERNEL, 1, _SE, _ACT), (6, 96, _KERNEL, 2, _SE, _ACT), (6, 96, _KERNEL, 1, _SE, _ACT), (6, 96, _KERNEL, 1, _SE, _ACT))
_LARGE = ((1, 16, 3, 1, None, "relu"), (4, 24, 3, 2, None, "relu"), (3, 24, 3, 1, None, "relu"), (3, 40, _KERNEL, 2, _SE, "relu"),
          (3, 40, _KERNEL, 1, _SE, "relu"), (3, 40, _KERNEL, 1, _SE, "relu"), (6, 80, 3, 2, None, _ACT), (2.5, 80, 3, 1, None, _ACT),
          (2.3, 80, 3, 1, None, _ACT), (2.3, 80, 3, 1, None, _ACT), (6, 112, 3, 1, _SE, _ACT), (6, 112, 3, 1, _SE, _ACT),
          (6, 160, _KERNEL, 2, _SE, _ACT), (6, 160, _KERNEL, 1, _SE, _ACT), (6, 160, _KERNEL, 1, _SE, _ACT))
_STACKS = {"small": (_SMALL, 1024), "large": (_LARGE, 1280)}


def _relu(x):
    return layers.ReLU()(x)


def _hard_sigmoid(x):
    return layers.ReLU(6.0)(x + 3.0) * (1.0 / 6.0)


def _hard_swish(x):
    return layers.Multiply()([x, _hard_sigmoid(x)])


def _norm(x, name):
    return bn(x, name, epsilon=1e-3, momentum=0.999)


def _squeeze(x, filters, prefix):
    prefix += "squeeze_excite/"
    y = layers.GlobalAveragePooling2D(keepdims=True, name=prefix + "AvgPool")(x)
    y = layers.Conv2D(rounded(filters * 0.25), kernel_size=1, padding="same", name=prefix + "Conv")(y)
    y = layers.ReLU(name=prefix + "Relu")(y)
    y = layers.Conv2D(filters, kernel_size=1, padding="same", name=prefix + "Conv_1")(y)
    return layers.Multiply(name=prefix + "Mul")([x, _hard_sigmoid(y)])


def _block(x, expansion, filters, kernel, stride, squeeze, activation, index):
    prefix = "expanded_conv%s/" % ("_%d" % index if index else "")
    shortcut, channels = x, K.int_shape(x)[channel_axis()]
    if index:
        x = layers.Conv2D(rounded(channels * expansion), kernel_size=1, padding="same", use_bias=False, name=prefix + "expand")(x)
        x = activation(_norm(x, prefix + "expand/BatchNorm"))
    if stride == 2:
        x = layers.ZeroPadding2D(padding=correct_pad(x, kernel), name=prefix + "depthwise/pad")(x)
    x = layers.DepthwiseConv2D(kernel, strides=stride, padding="same" if stride == 1 else "valid", use_bias=False,
                               name=prefix + "depthwise")(x)
    x = activation(_norm(x, prefix + "depthwise/BatchNorm"))
    if squeeze:
        x = _squeeze(x, rounded(channels * expansion), prefix)
    x = layers.Conv2D(filters, kernel_size=1, padding="same", use_bias=False, name=prefix + "project")(x)
    x = _norm(x, prefix + "project/BatchNorm")
    return layers.Add(name=prefix + "Add")([shortcut, x]) if stride == 1 and channels == filters else x


def _stack(image, blocks, alpha, minimalistic, include_preprocessing):
    act = _relu if minimalistic else _hard_swish
    x = layers.Rescaling(scale=1.0 / 127.5, offset=-1.0)(image) if include_preprocessing else image
    x = layers.Conv2D(16, kernel_size=3, strides=(2, 2), padding="same", use_bias=False, name="Conv")(x)
    x = act(_norm(x, "Conv/BatchNorm"))
    for i, (expansion, filters, kernel, stride, squeeze, activation) in enumerate(blocks):
        kernel = kernel if kernel != _KERNEL else 3 if minimalistic else 5
        x = _block(x, expansion, rounded(filters * alpha), kernel, stride, squeeze and not minimalistic,
                   act if activation == _ACT else _relu, i)
    channels = K.int_shape(x)[channel_axis()]
    x = layers.Conv2D(rounded(channels * 6), kernel_size=1, padding="same", use_bias=False, name="Conv_1")(x)
    return act(_norm(x, "Conv_1/BatchNorm"))


def _top(a, x, width, minimalistic, dropout_rate):
    x = layers.GlobalAveragePooling2D(keepdims=True)(x)
    x = layers.Conv2D(width, kernel_size=1, padding="same", use_bias=True, name="Conv_2")(x)
    x = (_relu if minimalistic else _hard_swish)(x)
    x = layers.Dropout(dropout_rate)(x) if dropout_rate > 0 else x
    x = layers.Flatten()(layers.Conv2D(a.classes, kernel_size=1, padding="same", name="Logits")(x))
    a.check_activation()
    return layers.Activation(activation=a.activation, name="Predictions")(x)


def _mobilenet(kind, a, alpha, minimalistic, dropout_rate, include_preprocessing):
    if a.weights == "imagenet" and (alpha not in ((1.0,) if minimalistic else (0.75, 1.0))):
        raise ValueError("If imagenet weights are being loaded, alpha can be one of `0.75`, `1.0` for non minimalistic or `1.0` for "
                         "minimalistic only. Received: alpha=%s, minimalistic=%s" % (alpha, minimalistic))
    require = a.include_top and a.input_shape is not None
    image = a.image(224, 32, require_flatten=require)
    blocks, width = _STACKS[kind]
    x = _stack(image, blocks, alpha, minimalistic, include_preprocessing)
    width = rounded(width * alpha) if alpha > 1.0 else width
    if a.include_top:
        x = _top(a, x, width, minimalistic, dropout_rate)
    else:
        x = a.pooled(x, avg="avg_pool", max="max_pool")
    file = "weights_mobilenet_v3_%s%s_224_%s_float" % (kind, "_minimalistic" if minimalistic else "", alpha)
    return a.model(image, x, "MobilenetV3" + kind, "mobilenet_v3", file + ("" if a.include_top else "_no_top_v2"))


def MobileNetV3Small(input_shape=None, alpha=1.0, minimalistic=False, include_top=True, weights="imagenet", input_tensor=None,
                     classes=1000, pooling=None, dropout_rate=0.2, classifier_activation="softmax", include_preprocessing=True):
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _mobilenet("small", a, alpha, minimalistic, dropout_rate, include_preprocessing)


def MobileNetV3Large(input_shape=None, alpha=1.0, minimalistic=False, include_top=True, weights="imagenet", input_tensor=None,
                     classes=1000, pooling=None, dropout_rate=0.2, classifier_activation="softmax", include_preprocessing=True):
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _mobilenet("large", a, alpha, minimalistic, dropout_rate, include_preprocessing)
