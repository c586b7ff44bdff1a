"""tf.TypeSpec and its subclasses: static types and shapes of values."""
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.graph import Tensor
from weft._core.framework.indexed_slices import IndexedSlices


class TypeSpec:
    """Describes a value: its class, and the types and shapes of its parts."""

    __slots__ = ()

    @property
    def value_type(self):
        raise NotImplementedError("%s.value_type" % type(self).__name__)

    def _serialize(self):
        raise NotImplementedError("%s._serialize" % type(self).__name__)

    def is_compatible_with(self, spec_or_value):
        """Returns whether a value, or every value of another spec, conforms to this spec."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return type(self) is type(other) and _compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other):
        """Returns whether every value of this spec conforms to the other."""
        return type(self) is type(other) and _within(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others):
        """Returns the narrowest spec that includes the values of all specs, or None if there is none."""
        found = self
        for other in others:
            if type(found) is not type(other):
                return None
            parts = _common(found._serialize(), other._serialize())
            if parts is None:
                return None
            found = type(self)._deserialize(parts)
        return found

    def most_specific_compatible_type(self, other):
        """Returns the narrowest spec that includes the values of both."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError("No TypeSpec is compatible with both %s and %s" % (self, other))
        return found

    @classmethod
    def _deserialize(cls, parts):
        return cls(*parts)

    def __eq__(self, other):
        return type(other) is type(self) and _key(self._serialize()) == _key(other._serialize())

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self).__name__, _key(self._serialize())))

    def __reduce__(self):
        return type(self)._deserialize, (self._serialize(),)

    def __repr__(self):
        return "%s%s" % (type(self).__name__, self._serialize())


def _key(value):
    if isinstance(value, tensor_shape.TensorShape):
        return ("shape", None if value.ndims is None else tuple(value.as_list()))
    if isinstance(value, (list, tuple)):
        return tuple(_key(v) for v in value)
    if isinstance(value, dict):
        return tuple(sorted((k, _key(v)) for k, v in value.items()))
    return value


def _compatible(a, b):
    if isinstance(a, TypeSpec):
        return a.is_compatible_with(b)
    if isinstance(a, tensor_shape.TensorShape):
        return a.is_compatible_with(b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_compatible, a, b))
    return a == b


def _within(a, b):
    if isinstance(a, TypeSpec):
        return a.is_subtype_of(b)
    if isinstance(a, tensor_shape.TensorShape):
        if b.ndims is None:
            return True
        return a.ndims == b.ndims and all(y is None or x == y for x, y in zip(a.as_list(), b.as_list()))
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_within, a, b))
    return a == b


def _common(a, b):
    """Returns the common supertype of two parts of specs, or None if there is none."""
    if isinstance(a, tuple):
        if not isinstance(b, tuple) or len(a) != len(b):
            return None
        parts = [_common(x, y) for x, y in zip(a, b)]
        return None if any(p is None and x is not None for p, x in zip(parts, a)) else tuple(parts)
    if isinstance(a, TypeSpec):
        return a.most_specific_common_supertype([b])
    if isinstance(a, tensor_shape.TensorShape):
        if a.ndims is None or b.ndims != a.ndims:
            return tensor_shape.TensorShape(None)
        return tensor_shape.TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list())])
    return a if a == b else None


class TensorSpec(TypeSpec):
    """Describes a tensor of a shape and a type."""

    __slots__ = ("_shape", "_dtype", "_name")

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape, self._dtype, self._name = tensor_shape.TensorShape(shape), dtypes.as_dtype(dtype), name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    value_type = property(lambda self: Tensor)

    @classmethod
    def from_spec(cls, spec, name=None):
        """Returns the spec under another name."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """Returns the spec of a tensor."""
        return cls(tensor.shape, tensor.dtype.base_dtype, name or tensor.op.name)

    def is_compatible_with(self, spec_or_tensor):
        """Returns whether a tensor, or a tensor of another spec, may have this type and shape."""
        other = spec_or_tensor
        if not isinstance(other, (Tensor, TensorSpec)) and not hasattr(other, "dtype"):
            return False
        return self._dtype.is_compatible_with(dtypes.as_dtype(other.dtype).base_dtype) and self._shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other):
        """Returns whether every tensor of this spec conforms to the other."""
        return isinstance(other, TensorSpec) and _within((self._shape, self._dtype), (other.shape, other.dtype)) and (
            self._name == other.name)

    def _serialize(self):
        return self._shape, self._dtype, self._name

    def most_specific_common_supertype(self, others):
        """Returns the narrowest spec that includes the tensors of all specs, or None if there is none."""
        found = self
        for other in others:
            if not isinstance(other, TensorSpec) or found.dtype != other.dtype or found.name != other.name:
                return None
            found = TensorSpec(_common(found.shape, other.shape), found.dtype, found.name)
        return found

    def __repr__(self):
        return "TensorSpec(shape=%s, dtype=%r, name=%r)" % (self._shape, self._dtype, self._name)


class SparseTensorSpec(TypeSpec):
    """Describes a SparseTensor of a shape and a type."""

    __slots__ = ("_shape", "_dtype")

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape, self._dtype = tensor_shape.TensorShape(shape), dtypes.as_dtype(dtype)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)

    @property
    def value_type(self):
        from weft._core.ops.sparse import SparseTensor
        return SparseTensor

    @classmethod
    def from_value(cls, value):
        """Returns the spec of a SparseTensor."""
        return cls(value.shape if hasattr(value, "get_shape") else list(value.dense_shape),
                   value.dtype.base_dtype if hasattr(value, "get_shape") else value.values.dtype)

    def _serialize(self):
        return self._shape, self._dtype


class RaggedTensorSpec(TypeSpec):
    """Describes a RaggedTensor by shape, type, number of ragged dimensions and type of the row splits."""

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype", "_flat_values_spec")

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64, flat_values_spec=None):
        self._shape = tensor_shape.TensorShape(shape)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            if dtype is not None and dtypes.as_dtype(dtype) != flat_values_spec.dtype and dtype is not dtypes.float32:
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
            dtype = flat_values_spec.dtype
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._dtype, self._flat_values_spec = dtypes.as_dtype(dtype), flat_values_spec
        if ragged_rank is None:
            if self._shape.ndims is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.ndims - 1
        if not isinstance(ragged_rank, int):
            raise TypeError("Argument `ragged_rank` must be an int. Received ragged_rank=%r." % (ragged_rank,))
        if self._shape.ndims is not None and ragged_rank >= self._shape.ndims:
            raise ValueError("Argument `ragged_rank` (%d) must be less than rank (%d)." % (ragged_rank, self._shape.ndims))
        self._ragged_rank = ragged_rank

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)
    flat_values_spec = property(lambda self: self._flat_values_spec)

    @property
    def value_type(self):
        from weft._core.ragged.ragged_tensor import RaggedTensor
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value):
        """Returns the spec of a RaggedTensor or of a RaggedTensorValue."""
        return cls(value.shape, value.dtype.base_dtype if hasattr(value.dtype, "base_dtype") else value.dtype, value.ragged_rank,
                   value.row_splits.dtype.base_dtype if hasattr(value.row_splits.dtype, "base_dtype") else value.row_splits.dtype)

    def _serialize(self):
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)


class IndexedSlicesSpec(TypeSpec):
    """Describes IndexedSlices by shape, type, and the types of indices and dense shape."""

    __slots__ = ("_shape", "_values_dtype", "_indices_dtype", "_dense_shape_dtype", "_indices_shape")

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None, indices_shape=None):
        self._shape = tensor_shape.TensorShape(shape)
        self._values_dtype, self._indices_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = tensor_shape.TensorShape(indices_shape).with_rank(1)

    value_type = property(lambda self: IndexedSlices)

    def _serialize(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape


class TensorArraySpec(TypeSpec):
    """Describes a TensorArray by element shape and type."""

    __slots__ = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape")

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape, self._dtype = tensor_shape.TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def value_type(self):
        from weft._core.ops.tensor_array import TensorArray
        return TensorArray

    @classmethod
    def from_value(cls, value):
        """Returns the spec of a TensorArray."""
        if not hasattr(value, "_parts"):
            raise TypeError("Expected value to be a TensorArray, but got: %s." % type(value))
        return cls(value.element_shape, value.dtype, value.dynamic_size, getattr(value, "_infer_shape", True))

    def is_compatible_with(self, other):
        """Returns whether a TensorArray, or one of another spec, may have this type and element shape."""
        if not isinstance(other, TypeSpec):
            other = type_spec_from_value(other)
        return isinstance(other, TensorArraySpec) and self._dtype.is_compatible_with(other._dtype) and (
            self._element_shape.is_compatible_with(other._element_shape)) and self._dynamic_size == other._dynamic_size

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape


class OptionalSpec(TypeSpec):
    """Describes a value that may be absent, by a spec or a nest of specs."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec):
        self._element_spec = element_spec

    @property
    def value_type(self):
        from weft._core.data.optional import Optional
        return Optional

    @staticmethod
    def from_value(value):
        """Returns the spec of an optional value."""
        return OptionalSpec(value.element_spec)

    def _serialize(self):
        return (self._element_spec,)


def type_spec_from_value(value):
    """Returns the spec of a value.

    Args:
      value: a tensor, a SparseTensor, a RaggedTensor, IndexedSlices, a TensorArray, or what a tensor can be made of.
    """
    from weft._core.framework.build import convert_to_tensor
    from weft._core.ops.sparse import SparseTensor, SparseTensorValue
    from weft._core.ops.tensor_array import TensorArray
    from weft._core.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensorSpec.from_value(value)
    if isinstance(value, (RaggedTensor, RaggedTensorValue)):
        return RaggedTensorSpec.from_value(value)
    if isinstance(value, IndexedSlices):
        rows = tensor_shape.TensorShape([None]).concatenate(value.values.shape[1:])
        return IndexedSlicesSpec(rows if value.dense_shape is None else value.shape, value.values.dtype.base_dtype,
                                 value.indices.dtype.base_dtype,
                                 None if value.dense_shape is None else value.dense_shape.dtype.base_dtype, value.indices.shape)
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    if hasattr(value, "_variant_tensor"):
        return value._spec
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    try:
        made = convert_to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError("Could not build a TypeSpec for %s with type %s" % (value, type(value).__name__)) from None
    return TensorSpec(made.shape, made.dtype.base_dtype)
