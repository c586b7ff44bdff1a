"""tf.keras: layers, models, and their training."""
