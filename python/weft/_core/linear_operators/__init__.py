"""tf.linalg.LinearOperator and its subclasses: matrices with a known structure."""
