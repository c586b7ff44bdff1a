"""ResNet-RS: ResNet with a stem of four convolutions, squeeze-and-excitation, and pooling in the shortcuts."""
from weft._core.keras import backend as K, layers
from weft._core.keras.applications.common import Arguments, bn, channel_axis, relu
from weft._core.keras.applications.efficientnet import CONV_KERNEL, STDDEV, squeeze_excite

# blocks, dropout, rate of dropped blocks
_VARIANTS = {50: ((3, 4, 6, 3), 0.25, 0.0), 101: ((3, 4, 23, 3), 0.25, 0.0), 152: ((3, 8, 36, 3), 0.25, 0.0),
             200: ((3, 24, 36, 3), 0.25, 0.1), 270: ((4, 29, 53, 4), 0.25, 0.1), 350: ((4, 36, 72, 4), 0.4, 0.1),
             420: ((4, 44, 87, 4), 0.4, 0.1)}


def _norm(x, name):
    return bn(x, name, momentum=0.0, epsilon=1e-5)


def _conv(x, filters, kernel, stride, name):
    """Returns a convolution; with stride 2 the padding does not depend on the size of the image."""
    if stride > 1:
        x = layers.ZeroPadding2D(padding=((kernel - 1) // 2, (kernel - 1) // 2))(x)
    return layers.Conv2D(filters, kernel, strides=stride, padding="same" if stride == 1 else "valid", use_bias=False,
                         kernel_initializer=CONV_KERNEL, name=name)(x)


def _block(inputs, filters, stride, projected, rate, name):
    shortcut = inputs
    if projected:
        if stride == 2:
            shortcut = layers.AveragePooling2D(pool_size=(2, 2), strides=(2, 2), padding="same", name=name + "__projection_pooling")(inputs)
        shortcut = _norm(_conv(shortcut, 4 * filters, 1, 1, name + "__projection_conv"), name + "__projection_batch_norm")
    x = relu(_norm(_conv(inputs, filters, 1, 1, name + "__conv_1"), name + "_batch_norm_1"), name + "__act_1")
    x = relu(_norm(_conv(x, filters, 3, stride, name + "__conv_2"), name + "__batch_norm_2"), name + "__act_2")
    x = _norm(_conv(x, 4 * filters, 1, 1, name + "__conv_3"), name + "__batch_norm_3")
    x = squeeze_excite(x, 4 * filters, filters, name + "__se_", "relu")
    if rate:
        x = layers.Dropout(rate, noise_shape=(None, 1, 1, 1), name=name + "__drop")(x)
    return relu(layers.Add()([x, shortcut]), name + "__output_act")


def _stem(x):
    name = "stem_%d" % K.get_uid("stem_")
    for i, (filters, stride) in enumerate(((32, 2), (32, 1), (64, 1), (64, 2)), 1):
        x = _conv(x, filters, 3, stride, "%s_stem_conv_%d" % (name, i))
        x = relu(_norm(x, "%s_stem_batch_norm_%d" % (name, i)), "%s_stem_act_%d" % (name, i))
    return x


def _resnet(depth, include_preprocessing, a):
    blocks, dropout, drop_rate = _VARIANTS[depth]
    x = image = a.image(224, 32)
    if include_preprocessing and K.int_shape(x)[channel_axis()] == 3:
        x = layers.Rescaling(scale=1.0 / 255)(x)
        x = layers.Normalization(mean=[0.485, 0.456, 0.406], variance=[s ** 2 for s in STDDEV], axis=channel_axis())(x)
    x = _stem(x)
    for i, count in enumerate(blocks):
        for j in range(count):
            x = _block(x, 64 << i, 2 if i and not j else 1, not j, drop_rate * (i + 2) / 5, "BlockGroup%d__block_%d" % (i + 2, j))
    if a.include_top:
        x = layers.GlobalAveragePooling2D(name="avg_pool")(x)
        x = a.classify(layers.Dropout(dropout, name="top_dropout")(x))
    else:
        x = a.pooled(x, avg="avg_pool", max="max_pool")
    name = "resnet-rs-%d" % depth
    return a.model(image, x, name, "resnet_rs", name)


def _builder(depth):
    def build(include_top=True, weights="imagenet", classes=1000, input_shape=None, input_tensor=None, pooling=None,
              classifier_activation="softmax", include_preprocessing=True):
        a = Arguments(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
        return _resnet(depth, include_preprocessing, a)
    build.__name__ = build.__qualname__ = "ResNetRS%d" % depth
    return build


ResNetRS50, ResNetRS101, ResNetRS152, ResNetRS200, ResNetRS270, ResNetRS350, ResNetRS420 = map(_builder, _VARIANTS)
