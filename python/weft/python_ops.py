"""tensorflow.python.framework.ops, as programs import it."""
from .build import convert_to_tensor, register_tensor_conversion_function  # noqa: F401
from .client import get_default_session  # noqa: F401
from .graph import *  # noqa: F401,F403
from .graph import get_default_graph, name_scope, reset_default_graph  # noqa: F401
