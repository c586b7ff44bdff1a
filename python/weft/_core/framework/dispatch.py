"""Dispatch for ragged tensors: which public functions accept one, and which functions they call for it.

A function in one of these lists is wrapped when its module becomes public.  The wrapper checks the arguments, and calls
the original function unless one of them is ragged.
"""
import functools
import importlib
import inspect

# Functions of one tensor: they are applied to the flat values, and the row partition is kept.
UNARY = frozenset("""
abs acos acosh angle asin asinh atan atanh bitcast cast ceil check_numerics clip_by_value conj cos cosh digamma erf erfc exp expm1
floor identity imag invert is_finite is_inf is_nan lgamma log log1p log_sigmoid logical_not negative ones_like real reciprocal rint
round rsqrt saturate_cast sigmoid sign sin sinh sqrt square tan tanh zeros_like
to_double to_float to_int32 to_int64
as_string decode_base64 decode_raw encode_base64 length lower regex_full_match regex_replace strip substr to_hash_bucket
to_hash_bucket_fast to_hash_bucket_strong to_number unicode_script unicode_transcode upper string_strip string_lower string_upper
string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong string_to_number string_length one_hot
dropout elu embedding_lookup leaky_relu relu relu6 selu softplus softsign
""".split())
# Functions of two tensors: the other one is broadcast to the rows.
BINARY = frozenset("""
add atan2 bitwise_and bitwise_or bitwise_xor complex div div_no_nan divide equal floor_div floordiv floormod greater greater_equal
left_shift less less_equal logical_and logical_or logical_xor maximum minimum mod multiply not_equal pow realdiv right_shift
squared_difference subtract truediv truncatediv truncatemod xdivy xlogy zeta
""".split())
# Functions of a list of tensors with the same rows.
LISTS = frozenset(["add_n", "join", "string_join"])
# Functions that _core/ragged implements under the same names.
OWN = frozenset("""
boolean_mask concat expand_dims gather gather_nd rank reduce_all reduce_any reduce_join reduce_max reduce_mean reduce_min reduce_prod
reduce_std reduce_sum reduce_variance reverse size squeeze stack tile where
""".split())
# Only functions of these modules are wrapped; functions of the same names in other modules differ.
_FROM = ("weft._core.ops.", "weft._core.nn.nn")

_wrapped = {}  # The key is the function, so that it has the same wrapper under all its names.


def _is_ragged(value):
    return hasattr(value, "nested_row_splits")


def _holds_ragged(values):
    for v in values:
        if _is_ragged(v) or (isinstance(v, (list, tuple)) and any(_is_ragged(item) for item in v)):
            return True
    return False


def _of_ragged(name, function, args, kwargs):
    ragged = importlib.import_module("weft._core.ragged.ragged_ops")
    if name in OWN:
        return getattr(ragged, name)(*args, **kwargs)
    if name in BINARY:
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        x, y, *_ = given
        rest = {k: v for k, v in given.items() if k not in (x, y)}
        return ragged.elementwise(function, given[x], given[y], **rest)
    return ragged.map_flat_values(function, *args, **kwargs)


def published(name, function):
    """Returns the function, or a wrapper that handles ragged arguments."""
    if not inspect.isfunction(function) or function in _wrapped:
        return _wrapped.get(function, function) if inspect.isfunction(function) else function
    module = function.__module__ or ""
    if name not in UNARY | BINARY | LISTS | OWN or not module.startswith(_FROM) or module.endswith(".sparse"):
        return function

    @functools.wraps(function)
    def call(*args, **kwargs):
        if _holds_ragged(args) or (kwargs and _holds_ragged(kwargs.values())):
            return _of_ragged(name, function, args, kwargs)
        return function(*args, **kwargs)

    _wrapped[function] = call
    return call
