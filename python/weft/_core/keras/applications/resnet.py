"""ResNet and ResNet V2: stacks of bottleneck blocks; V2 normalizes before each convolution."""
from weft._core.keras import layers
from weft._core.keras.applications.common import Arguments, bn, relu

_EPSILON = 1.001e-5
_BLOCKS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def _block1(x, filters, name, stride=1, projected=False):
    shortcut = x
    if projected:
        shortcut = layers.Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(x)
        shortcut = bn(shortcut, name + "_0_bn", epsilon=_EPSILON)
    x = layers.Conv2D(filters, 1, strides=stride, name=name + "_1_conv")(x)
    x = relu(bn(x, name + "_1_bn", epsilon=_EPSILON), name + "_1_relu")
    x = layers.Conv2D(filters, 3, padding="same", name=name + "_2_conv")(x)
    x = relu(bn(x, name + "_2_bn", epsilon=_EPSILON), name + "_2_relu")
    x = bn(layers.Conv2D(4 * filters, 1, name=name + "_3_conv")(x), name + "_3_bn", epsilon=_EPSILON)
    return relu(layers.Add(name=name + "_add")([shortcut, x]), name + "_out")


def _stack1(x, filters, blocks, name, stride):
    x = _block1(x, filters, name + "_block1", stride, projected=True)
    for i in range(2, blocks + 1):
        x = _block1(x, filters, "%s_block%d" % (name, i))
    return x


def _block2(x, filters, name, stride=1, projected=False):
    before = relu(bn(x, name + "_preact_bn", epsilon=_EPSILON), name + "_preact_relu")
    if projected:
        shortcut = layers.Conv2D(4 * filters, 1, strides=stride, name=name + "_0_conv")(before)
    else:
        shortcut = layers.MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = layers.Conv2D(filters, 1, strides=1, use_bias=False, name=name + "_1_conv")(before)
    x = relu(bn(x, name + "_1_bn", epsilon=_EPSILON), name + "_1_relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name=name + "_2_pad")(x)
    x = layers.Conv2D(filters, 3, strides=stride, use_bias=False, name=name + "_2_conv")(x)
    x = relu(bn(x, name + "_2_bn", epsilon=_EPSILON), name + "_2_relu")
    x = layers.Conv2D(4 * filters, 1, name=name + "_3_conv")(x)
    return layers.Add(name=name + "_out")([shortcut, x])


def _stack2(x, filters, blocks, name, stride):
    x = _block2(x, filters, name + "_block1", projected=True)
    for i in range(2, blocks):
        x = _block2(x, filters, "%s_block%d" % (name, i))
    return _block2(x, filters, "%s_block%d" % (name, blocks), stride)


def _resnet(depth, version, a):
    image = a.image(224, 32)
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)), name="conv1_pad")(image)
    x = layers.Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if version == 1:
        x = relu(bn(x, "conv1_bn", epsilon=_EPSILON), "conv1_relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)), name="pool1_pad")(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    strides = (1, 2, 2, 2) if version == 1 else (2, 2, 2, 1)
    for i, (blocks, stride) in enumerate(zip(_BLOCKS[depth], strides)):
        x = (_stack1 if version == 1 else _stack2)(x, 64 << i, blocks, "conv%d" % (i + 2), stride)
    if version == 2:
        x = relu(bn(x, "post_bn", epsilon=_EPSILON), "post_relu")
    if a.include_top:
        x = a.classify(layers.GlobalAveragePooling2D(name="avg_pool")(x))
    else:
        x = a.pooled(x, avg="avg_pool", max="max_pool")
    return a.model(image, x, "resnet%d%s" % (depth, "" if version == 1 else "v2"), "resnet")


def _resnet1(depth, include_top, weights, input_tensor, input_shape, pooling, classes, options):
    activation = options.pop("classifier_activation", "softmax")
    if options:
        raise ValueError("Unknown argument(s): %s" % options)
    return _resnet(depth, 1, Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, activation))


def ResNet50(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000, **kwargs):
    return _resnet1(50, include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)


def ResNet101(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000, **kwargs):
    return _resnet1(101, include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)


def ResNet152(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000, **kwargs):
    return _resnet1(152, include_top, weights, input_tensor, input_shape, pooling, classes, kwargs)


def ResNet50V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
               classifier_activation="softmax"):
    return _resnet(50, 2, Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation))


def ResNet101V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    return _resnet(101, 2, Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation))


def ResNet152V2(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    return _resnet(152, 2, Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation))
