"""tf.estimator.inputs: input functions of arrays."""
from weft._core.estimator.inputs import numpy_input_fn, pandas_input_fn
from weft._core.public import publish as _publish

__all__ = ["numpy_input_fn", "pandas_input_fn"]
__getattr__ = _publish(__name__)
