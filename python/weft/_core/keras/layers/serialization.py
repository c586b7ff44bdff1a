"""tf.keras.layers.serialize and deserialize: convert layers to configurations and back."""
from weft._core.keras.serialization import deserialize_keras_object, serialize_keras_object


def known():
    """Returns the classes of layers and models by name."""
    from weft._core.keras import layers, linear_model, models
    from weft._core.keras.op_layer import TensorFlowOpLayer
    found = {k: v for k, v in vars(layers).items() if isinstance(v, type)}
    found.update({k: v for k, v in vars(models).items() if isinstance(v, type)})
    found.update(TensorFlowOpLayer=TensorFlowOpLayer, LinearModel=linear_model.LinearModel, WideDeepModel=linear_model.WideDeepModel)
    return found


def serialize(layer, use_legacy_format=False):
    return serialize_keras_object(layer)


def deserialize(config, custom_objects=None, use_legacy_format=False):
    return deserialize_keras_object(config, known(), custom_objects, "layer")
