"""tf.keras.applications: the well-known image classifiers, one file per family of architectures."""
