"""absl: flags, app and logging, which are tf.flags, tf.app and tf.logging."""
