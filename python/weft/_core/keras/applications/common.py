"""Helper functions of the image classifiers: arguments, the input, the last layers, and files of weights."""
import os
import warnings

from weft._core.keras import backend as K, layers
from weft._core.keras.models import Model
from weft._core.keras.summary_text import get_source_inputs
from weft._core.keras.utils import get_file

_ORIGIN = "https://storage.googleapis.com/tensorflow/keras-applications/"
_ORDERING = "_weights_tf_dim_ordering_tf_kernels"


def channel_axis():
    """Returns the axis of the channels in a batch of images."""
    return 1 if K.image_data_format() == "channels_first" else 3


def bn(x, name=None, **options):
    return layers.BatchNormalization(axis=channel_axis(), name=name, **options)(x)


def relu(x, name=None):
    return layers.Activation("relu", name=name)(x)


def correct_pad(x, kernel):
    """Returns the padding with which an unpadded convolution of stride 2 gives the result of "same", for odd and even
    sizes.
    """
    first = 2 if channel_axis() == 1 else 1
    sizes = K.int_shape(x)[first:first + 2]
    kernel = (kernel, kernel) if isinstance(kernel, int) else kernel
    less = [0 if s is None else 1 - s % 2 for s in sizes]
    return tuple((k // 2 - one, k // 2) for k, one in zip(kernel, less if None not in sizes else (1, 1)))


def rounded(value, divisor=8, least=None, whole=None):
    """Returns a count of channels as a multiple of `divisor`, at most a tenth below the value."""
    least = divisor if least is None else least
    found = max(least, int(value + divisor / 2) // divisor * divisor)
    found = found + divisor if found < 0.9 * value else found
    return int(found) if whole is None else whole(found)


class Arguments:
    """Checks the arguments that all builders have."""

    def __init__(self, include_top, weights, input_tensor, input_shape, pooling, classes, activation):
        self.include_top, self.weights, self.pooling = include_top, weights, pooling
        self.input_tensor, self.input_shape = input_tensor, input_shape
        self.classes, self.activation = classes, activation
        if weights not in ("imagenet", None) and not os.path.exists(weights):
            raise ValueError("The `weights` argument should be either `None` (random initialization), `imagenet` (pre-training on "
                             "ImageNet), or the path to the weights file to be loaded. Received: weights=%s" % weights)
        if weights == "imagenet" and include_top and classes != 1000:
            raise ValueError('If using `weights` as `"imagenet"` with `include_top` as true, `classes` should be 1000')
        if pooling not in ("avg", "max", None) and not include_top:
            warnings.warn("pooling=%r is neither 'avg' nor 'max' and has no effect" % (pooling,), stacklevel=4)

    def image(self, default_size, min_size, require_flatten=None):
        """Returns the input tensor, with the given shape or the default one."""
        self.input_shape = image_shape(self.input_shape, default_size, min_size, self.weights,
                                       self.include_top if require_flatten is None else require_flatten)
        if self.input_tensor is None:
            return layers.Input(shape=self.input_shape)
        if K.is_keras_tensor(self.input_tensor):
            return self.input_tensor
        return layers.Input(tensor=self.input_tensor, shape=self.input_shape)

    def pooled(self, x, **names):
        """Returns the features of a model without a classifier. names: the names of the layers, by kind of pooling."""
        kinds = {"avg": layers.GlobalAveragePooling2D, "max": layers.GlobalMaxPooling2D}
        return kinds[self.pooling](name=names.get(self.pooling))(x) if self.pooling in kinds else x

    def check_activation(self):
        """Raises an error if weights trained with a softmax are loaded into a model that ends in another function."""
        name = getattr(self.activation, "__name__", self.activation)
        if self.weights is not None and name not in ("softmax", "linear", None):
            raise ValueError("Only `None` and `softmax` activations are allowed for the `classifier_activation` argument when using "
                             "pretrained weights, with `include_top=True`; Received: classifier_activation=%s" % self.activation)

    def classify(self, x, name="predictions", **options):
        self.check_activation()
        return layers.Dense(self.classes, activation=self.activation, name=name, **options)(x)

    def model(self, inputs, x, name, folder="", file=None):
        """Returns the model with its weights. folder and file say where the weights trained on ImageNet are published.
        """
        inputs = get_source_inputs(self.input_tensor) if self.input_tensor is not None else inputs
        model = Model(inputs, x, name=name)
        if self.weights == "imagenet":
            model.load_weights(published(folder, file or name + _ORDERING, self.include_top))
        elif self.weights is not None:
            model.load_weights(self.weights)
        return model


def image_shape(given, default_size, min_size, weights, require_flatten):
    """Returns the shape of one image."""
    first = channel_axis() == 1
    channels = 3
    if weights != "imagenet" and given and len(given) == 3:
        channels = given[0] if first else given[-1]
        if channels not in (1, 3):
            warnings.warn("This model usually expects 1 or 3 input channels. However, it was passed an input_shape with %s input "
                          "channels." % channels, stacklevel=5)
    usual = (channels, default_size, default_size) if first else (default_size, default_size, channels)
    if weights == "imagenet" and require_flatten:
        if given is not None and tuple(given) != usual:
            raise ValueError("When setting `include_top=True` and loading `imagenet` weights, `input_shape` should be %s. "
                             "Received: input_shape=%s" % (usual, given))
        return usual
    if not given:
        given = usual if require_flatten else (3, None, None) if first else (None, None, 3)
    else:
        _check_shape(given, first, min_size, weights)
    if require_flatten and None in given:
        raise ValueError("If `include_top` is True, you should specify a static `input_shape`. Received: input_shape=%s" % (given,))
    return given


def _check_shape(given, first, min_size, weights):
    if len(given) != 3:
        raise ValueError("`input_shape` must be a tuple of three integers.")
    if weights == "imagenet" and given[0 if first else -1] != 3:
        raise ValueError("The input must have 3 channels; Received `input_shape=%s`" % (given,))
    sizes = given[1:] if first else given[:2]
    if any(s is not None and s < min_size for s in sizes):
        raise ValueError("Input size must be at least %dx%d; Received: input_shape=%s" % (min_size, min_size, given))


def published(folder, file, include_top):
    """Returns the path of a weights file in ~/.keras/models, which is downloaded if it is missing."""
    file += ("" if include_top else _notop(file)) + ".h5"
    origin = (folder if "://" in folder else _ORIGIN + folder) + "/" + file
    try:
        return get_file(file, origin, cache_subdir="models")
    except Exception as e:
        place = os.path.join(os.environ.get("KERAS_HOME", os.path.join("~", ".keras")), "models", file)
        raise OSError("cannot download the weights trained on ImageNet (%s); put the file %s from %s there, or give weights=None" % (
            e, place, origin)) from e


def _notop(file):
    return "_no_top" if file.startswith(("mobilenet_", "nasnet_", "NASNet")) or "_no_top" in file else "_notop"
