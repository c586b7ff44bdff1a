"""NASNet: two kinds of cells, found by search, each of which also sees the output of the cell before the last."""
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, channel_axis, correct_pad

_BN = {"momentum": 0.9997, "epsilon": 1e-3}


def _axis():
    return 1 if channel_axis() == 1 else -1


def _norm(x, name):
    return layers.BatchNormalization(axis=_axis(), name=name, **_BN)(x)


def _relu(x, name=None):
    return layers.Activation("relu", name=name)(x)


def _conv(x, filters, name):
    return layers.Conv2D(filters, (1, 1), padding="same", use_bias=False, kernel_initializer="he_normal", name=name)(x)


def _separable(x, filters, kernel, block, stride=1):
    """Returns two separable convolutions; the first one may have stride 2."""
    x = _relu(x)
    padding = "same"
    if stride == 2:
        x = layers.ZeroPadding2D(padding=correct_pad(x, kernel), name="separable_conv_1_pad_" + block)(x)
        padding = "valid"
    x = layers.SeparableConv2D(filters, (kernel, kernel), strides=(stride, stride), padding=padding, use_bias=False,
                               kernel_initializer="he_normal", name="separable_conv_1_" + block)(x)
    x = _relu(_norm(x, "separable_conv_1_bn_" + block))
    x = layers.SeparableConv2D(filters, (kernel, kernel), padding="same", use_bias=False, kernel_initializer="he_normal",
                               name="separable_conv_2_" + block)(x)
    return _norm(x, "separable_conv_2_bn_" + block)


def _adjusted(p, x, filters, block):
    """Returns the output of the previous cell in the shape of this cell's input."""
    if p is None:
        return x
    rows = 2 if channel_axis() == 1 else 1
    if K.int_shape(p)[rows] != K.int_shape(x)[rows]:
        p = _relu(p, "adjust_relu_1_" + block)
        halves = []
        for i in (1, 2):
            half = p if i == 1 else layers.Cropping2D(cropping=((1, 0), (1, 0)))(layers.ZeroPadding2D(padding=((0, 1), (0, 1)))(p))
            half = layers.AveragePooling2D((1, 1), strides=(2, 2), padding="valid", name="adjust_avg_pool_%d_%s" % (i, block))(half)
            halves.append(_conv(half, filters // 2, "adjust_conv_%d_%s" % (i, block)))
        return _norm(layers.concatenate(halves, axis=_axis()), "adjust_bn_" + block)
    if K.int_shape(p)[_axis()] != filters:
        return _norm(_conv(_relu(p), filters, "adjust_conv_projection_" + block), "adjust_bn_" + block)
    return p


def _average(x, name):
    return layers.AveragePooling2D((3, 3), strides=(1, 1), padding="same", name=name)(x)


def _normal(x, p, filters, block):
    inputs, p = x, _adjusted(p, x, filters, block)
    h = _norm(_conv(_relu(x), filters, "normal_conv_1_" + block), "normal_bn_1_" + block)

    def added(pair, i):
        return layers.add(pair, name="normal_add_%d_%s" % (i, block))
    x1 = added([_separable(h, filters, 5, "normal_left1_" + block), _separable(p, filters, 3, "normal_right1_" + block)], 1)
    x2 = added([_separable(p, filters, 5, "normal_left2_" + block), _separable(p, filters, 3, "normal_right2_" + block)], 2)
    x3 = added([_average(h, "normal_left3_" + block), p], 3)
    x4 = added([_average(p, "normal_left4_" + block), _average(p, "normal_right4_" + block)], 4)
    x5 = added([_separable(h, filters, 3, "normal_left5_" + block), h], 5)
    return layers.concatenate([p, x1, x2, x3, x4, x5], axis=_axis(), name="normal_concat_" + block), inputs


def _reduction(x, p, filters, block):
    inputs, p = x, _adjusted(p, x, filters, block)
    h = _norm(_conv(_relu(x), filters, "reduction_conv_1_" + block), "reduction_bn_1_" + block)
    padded = layers.ZeroPadding2D(padding=correct_pad(h, 3), name="reduction_pad_1_" + block)(h)

    def pool(layer, name):
        return layer((3, 3), strides=(2, 2), padding="valid", name=name + block)(padded)
    x1 = layers.add([_separable(h, filters, 5, "reduction_left1_" + block, 2), _separable(p, filters, 7, "reduction_right1_" + block, 2)],
                    name="reduction_add_1_" + block)
    x2 = layers.add([pool(layers.MaxPooling2D, "reduction_left2_"), _separable(p, filters, 7, "reduction_right2_" + block, 2)],
                    name="reduction_add_2_" + block)
    x3 = layers.add([pool(layers.AveragePooling2D, "reduction_left3_"), _separable(p, filters, 5, "reduction_right3_" + block, 2)],
                    name="reduction_add3_" + block)
    x4 = layers.add([x2, _average(x1, "reduction_left4_" + block)])
    x5 = layers.add([_separable(x1, filters, 3, "reduction_left4_" + block), pool(layers.MaxPooling2D, "reduction_right5_")],
                    name="reduction_add4_" + block)
    return layers.concatenate([x2, x3, x4, x5], axis=_axis(), name="reduction_concat_" + block), inputs


def _body(image, last_filters, blocks, stem_filters, skip_reduction):
    x = layers.Conv2D(stem_filters, (3, 3), strides=(2, 2), padding="valid", use_bias=False, kernel_initializer="he_normal",
                      name="stem_conv1")(image)
    x, p, filters = _norm(x, "stem_bn1"), None, last_filters // 24
    x, p = _reduction(x, p, filters // 4, "stem_1")
    x, p = _reduction(x, p, filters // 2, "stem_2")
    for stage in range(3):
        if stage:
            x, before = _reduction(x, p, filters << stage, "reduce_%d" % (stage * blocks))
            p = p if skip_reduction else before
        for i in range(blocks):
            x, p = _normal(x, p, filters << stage, str(stage * blocks + i + (stage > 0)))
    return _relu(x)


def _nasnet(a, size, file, *body):
    image = a.image(size, 32)
    x = _body(image, *body)
    x = a.classify(layers.GlobalAveragePooling2D()(x)) if a.include_top else a.pooled(x)
    return a.model(image, x, "NASNet", "nasnet", file + ("" if a.include_top else "_no_top"))


def NASNetMobile(input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
                 classifier_activation="softmax"):
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _nasnet(a, 224, "NASNet-mobile", 1056, 4, 32, False)


def NASNetLarge(input_shape=None, include_top=True, weights="imagenet", input_tensor=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _nasnet(a, 331, "NASNet-large", 4032, 6, 96, True)
