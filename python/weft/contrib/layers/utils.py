"""tf.contrib.layers.utils: outputs of layers by name, and small checks of arguments."""
from weft._core.contrib.layer_utils import (
    NamedOutputs,
    append_tensor_alias,
    channel_dimension,
    collect_named_outputs,
    constant_value,
    convert_collection_to_dict,
    gather_tensors_aliases,
    get_tensor_aliases,
    get_variable_collections,
    last_dimension,
    n_positive_integers,
    smart_cond,
    static_cond,
    two_element_tuple,
)
from weft._core.public import publish as _publish

__all__ = [
    "NamedOutputs", "append_tensor_alias", "channel_dimension", "collect_named_outputs", "constant_value",
    "convert_collection_to_dict", "gather_tensors_aliases", "get_tensor_aliases", "get_variable_collections",
    "last_dimension", "n_positive_integers", "smart_cond", "static_cond", "two_element_tuple",
]
__getattr__ = _publish(__name__)
