"""`weft run`: the modules under which programs import TensorFlow, and Python 2."""
