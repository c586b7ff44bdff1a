"""TensorShape and Dimension: static shapes, which may be known in part."""


class Dimension:
    """One dimension; its value may be None."""

    __slots__ = ("_value",)

    def __init__(self, value):
        if isinstance(value, Dimension):
            value = value._value
        if value is not None:
            # TensorFlow 1 accepts 3.0 as 3, which programs of Python 2 get from Python 3's division.
            if not hasattr(value, "__index__") and not (isinstance(value, float) and value.is_integer()):
                raise TypeError("Dimension value must be integer or None or have an __index__ method, got %r" % (value,))
            value = int(value)
            if value < 0:
                raise ValueError("Dimension %d must be >= 0" % value)
        self._value = value

    @property
    def value(self):
        return self._value

    def is_compatible_with(self, other):
        other = Dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError("Dimensions %s and %s are not compatible" % (self, other))

    def merge_with(self, other):
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self

    def _apply(self, other, fn):
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(fn(self._value, other._value))

    def __add__(self, other):
        return self._apply(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._apply(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return Dimension(other) - self

    def __mul__(self, other):
        return self._apply(other, lambda a, b: a * b)

    def __floordiv__(self, other):
        return self._apply(other, lambda a, b: a // b)

    def __rfloordiv__(self, other):
        return Dimension(other) // self

    def __mod__(self, other):
        return self._apply(other, lambda a, b: a % b)

    __radd__, __rmul__, __div__, __truediv__ = __add__, __mul__, __floordiv__, __floordiv__

    def __eq__(self, other):
        try:
            other = Dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return self._value == other._value

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is None or equal is NotImplemented else not equal

    def __lt__(self, other):
        return None if None in (self._value, Dimension(other)._value) else self._value < Dimension(other)._value

    def __gt__(self, other):
        return None if None in (self._value, Dimension(other)._value) else self._value > Dimension(other)._value

    def __le__(self, other):
        return None if None in (self._value, Dimension(other)._value) else self._value <= Dimension(other)._value

    def __ge__(self, other):
        return None if None in (self._value, Dimension(other)._value) else self._value >= Dimension(other)._value

    def __hash__(self):
        return hash(self._value)

    def __int__(self):
        return self._value

    __index__ = __int__

    def __long__(self):
        return self._value

    def __repr__(self):
        return "Dimension(%r)" % (self._value,)

    def __str__(self):
        return "?" if self._value is None else str(self._value)


class TensorShape:
    """A list of dimensions, or a shape of unknown rank."""

    __slots__ = ("_dims",)

    def __init__(self, dims):
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, Dimension):
            self._dims = (dims.value,)
        elif hasattr(dims, "unknown_rank"):  # a TensorShapeProto, ours or protobuf's
            self._dims = None if dims.unknown_rank else tuple(None if d.size < 0 else int(d.size) for d in dims.dim)
        elif hasattr(dims, "__iter__"):
            self._dims = tuple(_known(d) for d in dims)
        else:
            self._dims = (_known(dims),)

    @property
    def dims(self):
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def rank(self):
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self):
        return self.rank

    def as_list(self):
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self):
        if not self.is_fully_defined():
            return None
        n = 1
        for d in self._dims:
            n *= d
        return n

    def is_fully_defined(self):
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError("Shape %s is not fully defined" % (self,))

    def is_compatible_with(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError("Shapes %s and %s are incompatible" % (self, as_shape(other)))

    def assert_same_rank(self, other):
        other = as_shape(other)
        if None not in (self.ndims, other.ndims) and self.ndims != other.ndims:
            raise ValueError("Shapes %s and %s must have the same rank" % (self, other))

    def assert_has_rank(self, rank):
        if self.ndims not in (None, rank):
            raise ValueError("Shape %s must have rank %d" % (self, rank))

    def with_rank(self, rank):
        if self.ndims not in (None, rank):
            raise ValueError("Shape %s must have rank %d" % (self, rank))
        return self.merge_with(unknown_shape(rank))

    def with_rank_at_least(self, rank):
        if self.ndims is not None and self.ndims < rank:
            raise ValueError("Shape %s must have rank at least %d" % (self, rank))
        return self

    def with_rank_at_most(self, rank):
        if self.ndims is not None and self.ndims > rank:
            raise ValueError("Shape %s must have rank at most %d" % (self, rank))
        return self

    def merge_with(self, other):
        other = as_shape(other)
        if not self.is_compatible_with(other):
            raise ValueError("Shapes %s and %s are not compatible" % (self, other))
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def most_specific_compatible_shape(self, other):
        """Returns the most specific shape that is compatible with both; dimensions that differ become unknown."""
        other = as_shape(other)
        if self.ndims is None or other.ndims is None or self.ndims != other.ndims:
            return unknown_shape()
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def as_proto(self):
        """Returns the shape as a TensorShapeProto."""
        from weft._core.framework.protos import TensorShapeProto
        if self._dims is None:
            return TensorShapeProto(unknown_rank=True)
        return TensorShapeProto(dim=[{"size": -1 if d is None else d} for d in self._dims])

    def concatenate(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return unknown_shape()
        return TensorShape(self._dims + other._dims)

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    __nonzero__ = __bool__

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self.dims)

    def __getitem__(self, key):
        if self._dims is None:
            return unknown_shape() if isinstance(key, slice) else Dimension(None)
        if isinstance(key, slice):
            return TensorShape(self._dims[key])
        return Dimension(self._dims[key])

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __eq__(self, other):
        try:
            return self._dims == as_shape(other)._dims
        except TypeError:
            return NotImplemented

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        return "TensorShape(%s)" % (None if self._dims is None else [Dimension(d) for d in self._dims])

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        text = ", ".join("?" if d is None else str(d) for d in self._dims)
        return "(%s,)" % text if len(self._dims) == 1 else "(%s)" % text


def _known(d):
    if isinstance(d, Dimension):
        return d.value
    return None if d is None else Dimension(d).value


def as_shape(shape):
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(ndims=None):
    return TensorShape(None) if ndims is None else TensorShape([None] * ndims)


def scalar():
    return TensorShape([])


def dims_of(shape):
    """Returns a shape in the form that the extension takes: None or a tuple."""
    return as_shape(shape)._dims
