"""DenseNet: each block reads the outputs of all blocks before it in its stage."""
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis, relu

_EPSILON = 1.001e-5
_BLOCKS = {121: (6, 12, 24, 16), 169: (6, 12, 32, 32), 201: (6, 12, 48, 32)}


def _block(x, name):
    y = relu(bn(x, name + "_0_bn", epsilon=_EPSILON), name + "_0_relu")
    y = layers.Conv2D(128, 1, use_bias=False, name=name + "_1_conv")(y)
    y = relu(bn(y, name + "_1_bn", epsilon=_EPSILON), name + "_1_relu")
    y = layers.Conv2D(32, 3, padding="same", use_bias=False, name=name + "_2_conv")(y)
    return layers.Concatenate(axis=channel_axis(), name=name + "_concat")([x, y])


def _transition(x, name):
    x = relu(bn(x, name + "_bn", epsilon=_EPSILON), name + "_relu")
    channels = K.int_shape(x)[channel_axis()]
    x = layers.Conv2D(int(channels * 0.5), 1, use_bias=False, name=name + "_conv")(x)
    return layers.AveragePooling2D(2, strides=2, name=name + "_pool")(x)


def _densenet(depth, *arguments):
    a = Arguments(*arguments)
    image = a.image(224, 32)
    x = layers.ZeroPadding2D(padding=((3, 3), (3, 3)))(image)
    x = layers.Conv2D(64, 7, strides=2, use_bias=False, name="conv1/conv")(x)
    x = relu(bn(x, "conv1/bn", epsilon=_EPSILON), "conv1/relu")
    x = layers.ZeroPadding2D(padding=((1, 1), (1, 1)))(x)
    x = layers.MaxPooling2D(3, strides=2, name="pool1")(x)
    for stage, blocks in enumerate(_BLOCKS[depth], 2):
        x = x if stage == 2 else _transition(x, "pool%d" % (stage - 1))
        for i in range(1, blocks + 1):
            x = _block(x, "conv%d_block%d" % (stage, i))
    x = relu(bn(x, "bn", epsilon=_EPSILON), "relu")
    if a.include_top:
        x = a.classify(layers.GlobalAveragePooling2D(name="avg_pool")(x))
    else:
        x = a.pooled(x, avg="avg_pool", max="max_pool")
    return a.model(image, x, "densenet%d" % depth, "densenet")


def DenseNet121(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    return _densenet(121, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)


def DenseNet169(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    return _densenet(169, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)


def DenseNet201(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
                classifier_activation="softmax"):
    return _densenet(201, include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
