"""tf.linalg.LinearOperator and its subclasses: matrices by what is known of their structure."""
