"""tensorflow.core.protobuf.error_codes_pb2: the codes of errors by name."""
from weft._core.framework import errors
from weft._core.framework.proto_descriptor import EnumTypeWrapper

_CODES = {name: value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
_CODES["DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_"] = 20
globals().update(_CODES)
Code = EnumTypeWrapper("Code", _CODES)
