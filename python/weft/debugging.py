"""tf.debugging: checks of tensors."""
from weft._core.framework.numeric_checks import disable_check_numerics, enable_check_numerics
from weft._core.framework.stack import disable_traceback_filtering, enable_traceback_filtering, is_traceback_filtering_enabled
from weft._core.ops.array_ops import check_numerics
from weft._core.ops.check_ops import (
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_type,
    is_numeric_tensor,
)
from weft._core.ops.control_flow import Assert
from weft._core.ops.math_ops import is_finite, is_inf, is_nan
from weft._core.ops.shape_checks import assert_shapes
from weft._core.ops.special_math import is_non_decreasing, is_strictly_increasing
from weft._core.public import publish as _publish
from weft._core.session.device_config import get_log_device_placement, set_log_device_placement

__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank",
    "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes",
    "assert_type", "check_numerics", "disable_check_numerics", "disable_traceback_filtering",
    "enable_check_numerics", "enable_traceback_filtering",
    "get_log_device_placement", "is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing", "is_traceback_filtering_enabled", "set_log_device_placement",
]
__getattr__ = _publish(__name__)
