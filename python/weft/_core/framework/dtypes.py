"""Types of tensors: tf.float32 and the rest, with TensorFlow's numbers and numpy's types."""
import numpy as np


class DType:
    """A type of tensors. Numbers above 100 are references to the type of the number minus 100."""

    __slots__ = ("_number",)
    _made = {}

    def __new__(cls, number):
        if isinstance(number, DType):
            return number
        if number not in cls._made:
            self = object.__new__(cls)
            self._number = number
            cls._made[number] = self
        return cls._made[number]

    @property
    def as_datatype_enum(self):
        return self._number

    @property
    def _is_ref_dtype(self):
        return self._number > 100

    @property
    def _as_ref(self):
        return self if self._is_ref_dtype else DType(self._number + 100)

    @property
    def base_dtype(self):
        return DType(self._number - 100) if self._is_ref_dtype else self

    @property
    def real_dtype(self):
        return {8: float32, 18: float64}.get(self.base_dtype._number, self)

    @property
    def name(self):
        return _NAMES[self._number % 100] + ("_ref" if self._is_ref_dtype else "")

    @property
    def as_numpy_dtype(self):
        kind = _NUMPY.get(self._number % 100)
        if kind is None:
            raise TypeError("%s has no type in numpy" % self.name)
        return kind

    @property
    def is_floating(self):
        return self.base_dtype._number in (1, 2, 14, 19, 24, 25)

    @property
    def is_integer(self):
        return self.base_dtype._number in (3, 4, 5, 6, 9, 17, 22, 23, 29, 30)

    @property
    def is_complex(self):
        return self.base_dtype._number in (8, 18)

    @property
    def is_bool(self):
        return self.base_dtype._number == 10

    @property
    def is_quantized(self):
        return self.base_dtype._number in (11, 12, 13, 15, 16)

    @property
    def is_unsigned(self):
        return self.base_dtype._number in (4, 17, 22, 23, 30)

    @property
    def is_numpy_compatible(self):
        return self._number % 100 in _NUMPY

    @property
    def size(self):
        known = {7: 0, 14: 2, 24: 1, 25: 1, 29: 1, 30: 1}.get(self.base_dtype._number)
        return np.dtype(self.as_numpy_dtype).itemsize if known is None else known

    def _limit(self, which):
        if self.base_dtype._number in _SMALL_LIMITS:
            return self.as_numpy_dtype(_SMALL_LIMITS[self.base_dtype._number][which == "max"])
        if self.base_dtype._number == 14:
            return _bfloat16(_BFLOAT16_MAX if which == "max" else -_BFLOAT16_MAX)
        kind = np.dtype(self.as_numpy_dtype)
        if self.is_quantized or kind.kind not in "fiu":
            raise TypeError("Cannot find %simum value of %s." % (which, self.name))
        return getattr(np.finfo(kind) if kind.kind == "f" else np.iinfo(kind), which)

    @property
    def min(self):
        return self._limit("min")

    @property
    def max(self):
        return self._limit("max")

    @property
    def limits(self):
        """(0, the greatest number) of a type of images: 1 for floats."""
        if self.base_dtype._number in (1, 2):
            return 0, 1
        if self.base_dtype._number not in (3, 4, 5, 6, 9, 10, 17, 22, 23):
            raise ValueError("%s does not have defined limits." % self)
        return 0, True if self.is_bool else int(self.max)

    @property
    def is_numeric(self):
        """Whether the type has numbers: not text, truth values, resources or variants."""
        return self.base_dtype._number not in (0, 7, 10, 20, 21)

    def is_compatible_with(self, other):
        other = as_dtype(other)
        return self._number in (other._number, other.base_dtype._number)

    def __eq__(self, other):
        if other is None:
            return False
        try:
            return self._number == as_dtype(other)._number
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._number

    def __int__(self):
        return self._number

    def __repr__(self):
        return "tf." + self.name

    def __str__(self):
        return "<dtype: %r>" % self.name

    def __reduce__(self):
        return DType, (self._number,)


_NAMES = ["invalid", "float32", "float64", "int32", "uint8", "int16", "int8", "string", "complex64", "int64", "bool",
          "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16", "complex128", "float16", "resource",
          "variant", "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", None, None, None, "int4", "uint4"]
_NUMBERS = [n for n, name in enumerate(_NAMES) if name]
_SMALL_LIMITS = {24: (-57344, 57344), 25: (-448, 448), 29: (-8, 7), 30: (0, 15)}
_BFLOAT16_MAX = float.fromhex("0x1.FEp127")
try:
    import ml_dtypes as _more  # as TensorFlow shows them
    _bfloat16 = _more.bfloat16
except ImportError:
    _more, _bfloat16 = None, np.float32  # float32 holds every bfloat16 exactly.

_NUMPY = {1: np.float32, 2: np.float64, 3: np.int32, 4: np.uint8, 5: np.int16, 6: np.int8, 7: np.object_,
          8: np.complex64, 9: np.int64, 10: np.bool_, 11: np.int8, 12: np.uint8, 13: np.int32, 14: _bfloat16,
          15: np.int16, 16: np.uint16, 17: np.uint16, 18: np.complex128, 19: np.float16, 22: np.uint32, 23: np.uint64}
_NUMPY.update({n: getattr(_more, _NAMES[n]) for n in _SMALL_LIMITS if hasattr(_more, _NAMES[n])})
# The names in definitions of ops and in TensorFlow's protos.
_SHORT = {"float": 1, "double": 2, "half": 19, "invalid": 0}

# In the order of _NAMES.
(float32, float64, int32, uint8, int16, int8, string, complex64, int64, bool, qint8, quint8, qint32, bfloat16,
 qint16, quint16, uint16, complex128, float16, resource, variant, uint32, uint64,
 float8_e5m2, float8_e4m3fn, int4, uint4) = (DType(n) for n in _NUMBERS[1:])
(float32_ref, float64_ref, int32_ref, uint8_ref, int16_ref, int8_ref, string_ref, complex64_ref, int64_ref,
 bool_ref, qint8_ref, quint8_ref, qint32_ref, bfloat16_ref, qint16_ref, quint16_ref, uint16_ref, complex128_ref,
 float16_ref, resource_ref, variant_ref, uint32_ref, uint64_ref, float8_e5m2_ref, float8_e4m3fn_ref, int4_ref,
 uint4_ref) = (DType(n + 100) for n in _NUMBERS[1:])
half, double = float16, float64

QUANTIZED_DTYPES = frozenset(DType(n) for n in (11, 12, 13, 15, 16))
_BY_NAME = {_NAMES[n]: DType(n) for n in _NUMBERS}
_BY_NAME.update({_NAMES[n] + "_ref": DType(n + 100) for n in _NUMBERS})
_BY_NAME.update({name: DType(n) for name, n in _SHORT.items()})
_FROM_NUMPY = {np.dtype(kind): DType(n) for n, kind in sorted(_NUMPY.items(), reverse=True) if n not in (11, 12, 13, 15, 16)}


def datatype_name(number):
    """Returns the name of a type's number in messages, such as DT_FLOAT."""
    short = {1: "FLOAT", 2: "DOUBLE", 19: "HALF"}.get(number % 100) or (
        _NAMES[number % 100].upper() if number % 100 in _NUMBERS else str(number % 100))
    return "DT_%s%s" % (short, "_REF" if number > 100 else "")


def datatype_numbers():
    """Returns {name such as DT_FLOAT: its number}."""
    return {datatype_name(n + more): n + more for more in (0, 100) for n in _NUMBERS if n or not more}


def datatype_number(name):
    """Returns the number of a name such as DT_FLOAT, or None for an unknown name."""
    return next((n + more for more in (0, 100) for n in _NUMBERS if datatype_name(n + more) == name), None)


def as_dtype(type_value):
    """Returns the DType for a DType, a number, a name or anything that numpy accepts as a type."""
    if isinstance(type_value, DType):
        return type_value
    if type_value is None:
        raise TypeError("Cannot convert value None to a TensorFlow DType.")
    # `bool` is a DType in this module, so it cannot be used in isinstance().
    if isinstance(type_value, int) and type_value is not True and type_value is not False:
        if type_value % 100 in _NUMBERS[1:]:
            return DType(type_value)
        raise TypeError("Cannot convert value %r to a TensorFlow DType." % (type_value,))
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    if type_value is float:
        return float32
    if type_value is int:
        return int64
    if type_value is str or type_value is bytes:
        return string
    if hasattr(type_value, "dtype") and not isinstance(type_value, type):
        return as_dtype(type_value.dtype)
    try:
        kind = np.dtype(type_value)
    except TypeError:
        kind = None
    if kind is not None and kind.kind in "SU":
        return string
    if kind is None or kind not in _FROM_NUMPY:
        raise TypeError("Cannot convert value %r to a TensorFlow DType." % (type_value,))
    return _FROM_NUMPY[kind]


def bfloat16_bits(array):
    """Returns the numbers as 16-bit patterns of bfloat16, rounded to nearest even, in the form that the extension
    takes.
    """
    if array.dtype.itemsize == 2 and array.dtype.kind == "V":
        return array.view(np.uint16)
    bits = np.ascontiguousarray(array, np.float32).reshape(array.shape).view(np.uint32)
    rounded = (bits + np.uint32(0x7fff) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    nan = np.isnan(bits.view(np.float32))
    return np.where(nan, np.uint32(0x7fc0), rounded).astype(np.uint16)


def numpy_table():
    """Returns {number: numpy type} for the extension, which gives the bytes of a fetched resource the type for them."""
    return {n: np.dtype(kind) for n, kind in [*_NUMPY.items(), (resource.as_datatype_enum, [("resource", np.ubyte)])]}
