"""Xception: separable convolutions with residual connections."""
from weft._core.keras import layers
from weft._core.keras.applications.common import Arguments, bn, relu


def _separable(x, filters, name):
    return bn(layers.SeparableConv2D(filters, (3, 3), padding="same", use_bias=False, name=name)(x), name + "_bn")


def _reducing(x, filters, index, first_relu=True):
    """Returns two separable convolutions and a pooling layer beside a convolution of stride 2."""
    name = "block%d" % index
    residual = bn(layers.Conv2D(filters[1], (1, 1), strides=(2, 2), padding="same", use_bias=False)(x))
    x = relu(x, name + "_sepconv1_act") if first_relu else x
    x = _separable(x, filters[0], name + "_sepconv1")
    x = _separable(relu(x, name + "_sepconv2_act"), filters[1], name + "_sepconv2")
    x = layers.MaxPooling2D((3, 3), strides=(2, 2), padding="same", name=name + "_pool")(x)
    return layers.Add()([x, residual])


def _body(image):
    x = layers.Conv2D(32, (3, 3), strides=(2, 2), use_bias=False, name="block1_conv1")(image)
    x = relu(bn(x, "block1_conv1_bn"), "block1_conv1_act")
    x = layers.Conv2D(64, (3, 3), use_bias=False, name="block1_conv2")(x)
    x = relu(bn(x, "block1_conv2_bn"), "block1_conv2_act")
    x = _reducing(x, (128, 128), 2, first_relu=False)
    x = _reducing(x, (256, 256), 3)
    x = _reducing(x, (728, 728), 4)
    for i in range(5, 13):
        residual = x
        for j in (1, 2, 3):
            name = "block%d_sepconv%d" % (i, j)
            x = _separable(relu(x, name + "_act"), 728, name)
        x = layers.Add()([x, residual])
    x = _reducing(x, (728, 1024), 13)
    for j, filters in ((1, 1536), (2, 2048)):
        name = "block14_sepconv%d" % j
        x = relu(_separable(x, filters, name), name + "_act")
    return x


def Xception(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
             classifier_activation="softmax"):
    a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    image = a.image(299, 71)
    x = _body(image)
    x = a.classify(layers.GlobalAveragePooling2D(name="avg_pool")(x)) if a.include_top else a.pooled(x)
    return a.model(image, x, "xception", "xception")
