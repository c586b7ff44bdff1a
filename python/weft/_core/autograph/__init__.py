"""tf.autograph: turns the `if`, `while` and `for` of a Python function into conditions and loops of the graph."""
