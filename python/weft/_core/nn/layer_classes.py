"""tf.layers as classes: Keras layers whose variables come from tf.get_variable."""
from weft._core.keras import layers as keras
from weft._core.nn.base_layer import Layer
from weft._core.ops import init_ops


class Dense(keras.Dense, Layer):
    """A layer of units that are all connected to the last axis of the inputs: activation(inputs * kernel + bias)."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(units=units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                         bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
                         **kwargs)


class Conv1D(keras.Conv1D, Layer):
    """A convolution of sequences with filters that are learnt."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                         kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                         kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


class Conv2D(keras.Conv2D, Layer):
    """A convolution of images with filters that are learnt."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1),
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                         kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                         kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


class Conv3D(keras.Conv3D, Layer):
    """A convolution of volumes with filters that are learnt."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1,
                 1), activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding,
                         data_format=data_format, dilation_rate=dilation_rate, activation=activation, use_bias=use_bias,
                         kernel_initializer=kernel_initializer, bias_initializer=bias_initializer,
                         kernel_regularizer=kernel_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, kernel_constraint=kernel_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


class SeparableConv1D(keras.SeparableConv1D, Layer):
    """A convolution of each channel of sequences by itself, followed by one that mixes the channels."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None,
                 bias_initializer=init_ops.Zeros(), depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation, use_bias=use_bias,
                         depthwise_initializer=depthwise_initializer, pointwise_initializer=pointwise_initializer,
                         bias_initializer=bias_initializer, depthwise_regularizer=depthwise_regularizer,
                         pointwise_regularizer=pointwise_regularizer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, depthwise_constraint=depthwise_constraint,
                         pointwise_constraint=pointwise_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
                         **kwargs)


class SeparableConv2D(keras.SeparableConv2D, Layer):
    """A convolution of each channel of images by itself, followed by one that mixes the channels."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", dilation_rate=(1, 1),
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None, pointwise_initializer=None,
                 bias_initializer=init_ops.Zeros(), depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
                         dilation_rate=dilation_rate, depth_multiplier=depth_multiplier, activation=activation,
                         use_bias=use_bias, depthwise_initializer=depthwise_initializer,
                         pointwise_initializer=pointwise_initializer, bias_initializer=bias_initializer,
                         depthwise_regularizer=depthwise_regularizer, pointwise_regularizer=pointwise_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         depthwise_constraint=depthwise_constraint, pointwise_constraint=pointwise_constraint,
                         bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)


class Conv2DTranspose(keras.Conv2DTranspose, Layer):
    """A transposed convolution: it enlarges images where Conv2D makes them smaller."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last", activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(), kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding, data_format=data_format,
                         activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                         bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
                         **kwargs)


class Conv3DTranspose(keras.Conv3DTranspose, Layer):
    """A transposed convolution: it enlarges volumes where Conv3D makes them smaller."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last", activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=init_ops.Zeros(), kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(filters=filters, kernel_size=kernel_size, strides=strides, padding=padding,
                         data_format=data_format, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                         bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                         bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                         kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
                         **kwargs)


class MaxPooling1D(keras.MaxPooling1D, Layer):
    """The largest value of each window of a sequence."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


class MaxPooling2D(keras.MaxPooling2D, Layer):
    """The largest value of each window of an image."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


class MaxPooling3D(keras.MaxPooling3D, Layer):
    """The largest value of each window of a volume."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


class AveragePooling1D(keras.AveragePooling1D, Layer):
    """The mean of each window of a sequence."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


class AveragePooling2D(keras.AveragePooling2D, Layer):
    """The mean of each window of an image."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


class AveragePooling3D(keras.AveragePooling3D, Layer):
    """The mean of each window of a volume."""

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(pool_size=pool_size, strides=strides, padding=padding, data_format=data_format, name=name, **kwargs)


class Dropout(keras.Dropout, Layer):
    """Sets a random part of the inputs to zero while training, and scales the rest up."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(rate=rate, noise_shape=noise_shape, seed=seed, name=name, **kwargs)

    def call(self, inputs, training=False):
        return super().call(inputs, training=training)


class Flatten(keras.Flatten, Layer):
    """Reshapes each example of the batch into one row."""
