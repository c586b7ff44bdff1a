"""tf.contrib.saved_model: writes Keras models as SavedModels."""
from weft._core.keras.saved_models import load_model, save_model


def save_keras_model(model, saved_model_path, custom_objects=None, as_text=None, input_signature=None, serving_only=False):
    """Writes a Keras model as a SavedModel, and returns its path.

    Args:
      model: the model.
      saved_model_path: the folder.
      custom_objects: functions and classes by name; they are needed when the model is loaded.
      as_text: whether the graph is written as text, which Weft does not do here.
      input_signature: the shapes and types of the inputs, which Weft takes from the model.
      serving_only: whether only the graph of predictions is written; Weft leaves the optimizer out then.
    """
    for name, value in (("as_text", as_text), ("input_signature", input_signature)):
        if value:
            raise NotImplementedError("tf.contrib.saved_model.save_keras_model(%s=%r) is not in Weft: leave it out" % (name, value))
    save_model(model, saved_model_path, save_format="tf", include_optimizer=not serving_only)
    return saved_model_path


def load_keras_model(saved_model_path, custom_objects=None):
    """Returns the Keras model of a SavedModel.

    Args:
      saved_model_path: the folder.
      custom_objects: functions and classes by name.
    """
    return load_model(saved_model_path, custom_objects=custom_objects)
