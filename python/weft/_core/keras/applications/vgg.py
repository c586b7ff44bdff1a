"""VGG16 and VGG19: blocks of 3 x 3 convolutions, each block ended by a pooling layer."""
from weft._core.keras import layers
from weft._core.keras.applications.common import Arguments

_WIDTHS = (64, 128, 256, 512, 512)
_DEPTHS = {"vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}


def _vgg(name, *arguments):
    a = Arguments(*arguments)
    x = image = a.image(224, 32)
    for i, (width, depth) in enumerate(zip(_WIDTHS, _DEPTHS[name]), 1):
        for j in range(1, depth + 1):
            x = layers.Conv2D(width, (3, 3), activation="relu", padding="same", name="block%d_conv%d" % (i, j))(x)
        x = layers.MaxPooling2D((2, 2), strides=(2, 2), name="block%d_pool" % i)(x)
    if a.include_top:
        x = layers.Flatten(name="flatten")(x)
        for fc in ("fc1", "fc2"):
            x = layers.Dense(4096, activation="relu", name=fc)(x)
        x = a.classify(x)
    else:
        x = a.pooled(x)
    return a.model(image, x, name, name)


def VGG16(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
          classifier_activation="softmax"):
    return _vgg("vgg16", include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)


def VGG19(include_top=True, weights="imagenet", input_tensor=None, input_shape=None, pooling=None, classes=1000,
          classifier_activation="softmax"):
    return _vgg("vgg19", include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
