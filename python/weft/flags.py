"""tf.flags: options of the command line."""
from weft._core.platform.flags import (
    FLAGS,
    DEFINE_bool,
    DEFINE_boolean,
    DEFINE_enum,
    DEFINE_float,
    DEFINE_integer,
    DEFINE_list,
    DEFINE_multi_integer,
    DEFINE_multi_string,
    DEFINE_string,
    Error,
    Flag,
    IllegalFlagValueError,
    adopt_module_key_flags,
    declare_key_flag,
    mark_flag_as_required,
    mark_flags_as_required,
)
from weft._core.public import publish as _publish

__all__ = [
    "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_float", "DEFINE_integer", "DEFINE_list",
    "DEFINE_multi_integer", "DEFINE_multi_string", "DEFINE_string", "Error", "FLAGS", "Flag", "IllegalFlagValueError",
    "adopt_module_key_flags", "declare_key_flag", "mark_flag_as_required", "mark_flags_as_required",
]
__getattr__ = _publish(__name__)
