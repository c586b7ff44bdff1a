"""tensorflow.python.framework.ops, as programs import it."""
from weft._core.framework import dtypes  # noqa: F401
from weft._core.framework.build import convert_to_tensor, register_tensor_conversion_function  # noqa: F401
from weft._core.framework.gradient_registry import (  # noqa: F401
    NoGradient,
    NotDifferentiable,
    RegisterGradient,
    get_gradient_function,
    registry as _gradient_registry,  # noqa: F401
    registry as gradient_registry,  # noqa: F401
)
from weft._core.framework.graph import *  # noqa: F403
from weft._core.framework.graph import get_default_graph, name_scope, reset_default_graph  # noqa: F401
from weft._core.session.client import get_default_session  # noqa: F401
