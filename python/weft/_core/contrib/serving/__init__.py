"""tf.contrib.session_bundle: models in the form that TensorFlow Serving read before SavedModel."""
