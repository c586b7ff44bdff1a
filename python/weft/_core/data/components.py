"""Describes how each kind of value is represented in elements of a data set: its tensors, and its spec in batches.

A Tensor represents itself. A SparseTensor is a vector of three variants. A RaggedTensor, a data set and an optional
value are one variant each.  Each kind is a class of functions of a spec; kind_of() finds it by the spec.
"""
import numpy as np

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import Tensor, name_scope
from weft._core.framework.type_spec import OptionalSpec, RaggedTensorSpec, SparseTensorSpec, TensorArraySpec, TensorSpec, TypeSpec
from weft._core.ops.sparse import SparseTensor, SparseTensorValue
from weft._core.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue, convert as convert_to_ragged


class DatasetSpec(TypeSpec):
    """Describes a data set by the spec, or nest of specs, of its elements."""

    __slots__ = ("_element_spec", "_dataset_shape")

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec, self._dataset_shape = element_spec, tensor_shape.TensorShape(dataset_shape)

    element_spec = property(lambda self: self._element_spec)

    @property
    def value_type(self):
        from weft._core.data.dataset import Dataset
        return Dataset

    @staticmethod
    def from_value(value):
        """Returns the spec of a data set."""
        return DatasetSpec(value.element_spec)

    def _serialize(self):
        return self._element_spec, self._dataset_shape


class NoneTensorSpec(TypeSpec):
    """Describes a component that is None and has no tensor."""

    __slots__ = ()
    value_type = property(lambda self: type(None))

    def _serialize(self):
        return ()


def rows_and(rows, shape):
    """Returns a shape with a first dimension of `rows`, or an unknown one for None."""
    first = tensor_shape.TensorShape([None if rows is None else int(rows)])
    return tensor_shape.TensorShape(None) if shape.ndims is None else first.concatenate(shape)


def _below(shape):
    return shape[1:] if shape.ndims else tensor_shape.TensorShape(None)


def _check_element(dtype, value):
    """Raises TypeError if TensorFlow converts no such value to the type: a float to an integer, a number to a bool, None to either."""
    takes = "iub" if dtype.is_integer else "b" if dtype.is_bool else None
    found = np.asarray(value)
    wrong = takes is not None and found.size and found.dtype.kind not in takes
    if wrong or value is None or (found.dtype.kind == "O" and dtype != dtypes.string):
        raise TypeError("%s cannot hold %s" % (dtype.name, value))


class _Dense:
    """Represents a Tensor."""

    @staticmethod
    def legacy(spec):
        return spec.dtype, spec.shape, Tensor

    @staticmethod
    def wire(spec):
        return [(spec.dtype, spec.shape)]

    @staticmethod
    def to_tensors(spec, value):
        return [convert_to_tensor(value, spec.dtype)]

    to_rows = to_tensors

    @staticmethod
    def from_tensors(spec, tensors):
        return tensors[0]

    @staticmethod
    def batched(spec, rows):
        return TensorSpec(rows_and(rows, spec.shape), spec.dtype)

    @staticmethod
    def unbatched(spec):
        if spec.shape.ndims == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(_below(spec.shape), spec.dtype)

    @staticmethod
    def arrays(spec, value):
        """Returns a value of a Python generator as arrays for py_func."""
        try:
            if not isinstance(value, (np.ndarray, np.generic)):
                _check_element(spec.dtype, value)
            array = np.asarray(value, dtype=object if spec.dtype == dtypes.string else spec.dtype.as_numpy_dtype)
        except (TypeError, ValueError):
            raise TypeError("`generator` yielded an element that could not be converted to the expected type. The "
                            "expected type was %s, but the yielded element was %s." % (spec.dtype.name, value)) from None
        if not spec.shape.is_compatible_with(array.shape):
            raise ValueError("`generator` yielded an element of shape %s where an element of shape %s was expected."
                             % (array.shape, spec.shape))
        return [array]

    @staticmethod
    def array_types(spec):
        return [spec.dtype]

    @staticmethod
    def from_arrays(spec, tensors):
        tensors[0].set_shape(spec.shape)
        return tensors[0]


def _with_known_sizes(tensor, shape):
    """Returns the tensor of a dense shape with its known sizes as constants, so that shape rules see them."""
    from weft._core.ops import array_ops
    if shape.ndims is None or not any(d is not None for d in shape.as_list()):
        return tensor
    if shape.is_fully_defined():
        return convert_to_tensor(shape.as_list(), dtypes.int64, name="shape")
    parts = [part if size is None else convert_to_tensor(size, dtypes.int64)
             for part, size in zip(array_ops.unstack(tensor), shape.as_list())]
    return array_ops.stack(parts)


class _Sparse:
    """Represents a SparseTensor as three variants: indices, values and shape."""

    @staticmethod
    def legacy(spec):
        return spec.dtype, spec.shape, SparseTensor

    @staticmethod
    def wire(spec):
        return [(dtypes.variant, tensor_shape.TensorShape(None))]

    @staticmethod
    def to_tensors(spec, value, kind="SerializeSparse"):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError("expected a SparseTensor of %s, got %r" % (spec, value))
        value = SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value
        return [op(kind, sparse_indices=value.indices, sparse_values=value.values, sparse_shape=value.dense_shape,
                   out_type=dtypes.variant)]

    @staticmethod
    def to_rows(spec, value):
        return _Sparse.to_tensors(spec, value, "SerializeManySparse")

    @staticmethod
    def from_tensors(spec, tensors):
        return _Sparse.from_arrays(spec, op("DeserializeSparse", serialized_sparse=tensors[0], dtype=spec.dtype))

    @staticmethod
    def batched(spec, rows):
        return SparseTensorSpec(rows_and(rows, spec.shape), spec.dtype)

    @staticmethod
    def unbatched(spec):
        return SparseTensorSpec(_below(spec.shape), spec.dtype)

    @staticmethod
    def arrays(spec, value):
        try:
            return [np.asarray(value.indices, np.int64), _Dense.arrays(TensorSpec([None], spec.dtype), value.values)[0],
                    np.asarray(value.dense_shape, np.int64)]
        except AttributeError:
            raise TypeError("`generator` yielded %r where a tf.SparseTensorValue of %s was expected." % (value, spec)) from None

    @staticmethod
    def array_types(spec):
        return [dtypes.int64, spec.dtype, dtypes.int64]

    @staticmethod
    def from_arrays(spec, tensors):
        indices, values, shape = tensors
        for tensor, known in zip(tensors, ([None, spec.shape.ndims], [None], [spec.shape.ndims])):
            tensor.set_shape(known)
        return SparseTensor(indices, values, _with_known_sizes(shape, spec.shape))


class _Ragged:
    """Represents a RaggedTensor as one variant."""

    @staticmethod
    def legacy(spec):
        return spec.dtype, spec.shape, spec

    @staticmethod
    def wire(spec):
        return [(dtypes.variant, tensor_shape.TensorShape(None))]

    @staticmethod
    def to_tensors(spec, value, batched=False):
        with name_scope(None, "RaggedToVariant"):
            value = convert_to_ragged(value)
            if (value.ragged_rank if isinstance(value, RaggedTensor) else 0) != spec.ragged_rank and not batched:
                raise ValueError("Ragged rank of value %s does not match ragged rank of type %d" % (value, spec.ragged_rank))
            splits = list(value.nested_row_splits) if isinstance(value, RaggedTensor) else []
            return [op("RaggedTensorToVariant", rt_nested_splits=splits, batched_input=batched, RAGGED_RANK=len(splits),
                       rt_dense_values=value.flat_values if splits else value, Tsplits=spec.row_splits_dtype)]

    @staticmethod
    def to_rows(spec, value):
        return _Ragged.to_tensors(spec, value, True)

    @staticmethod
    def from_tensors(spec, tensors):
        with name_scope(None, "RaggedFromVariant"):
            made = op("RaggedTensorFromVariant", encoded_ragged=tensors[0], input_ragged_rank=-1,
                      output_ragged_rank=spec.ragged_rank, Tvalues=spec.dtype, Tsplits=spec.row_splits_dtype)
            *splits, values = made[0] + [made[1]] if isinstance(made[0], list) else made
        return _Ragged.joined(spec, splits, values)

    @staticmethod
    def joined(spec, splits, values):
        shape, rank = spec.shape, spec.ragged_rank
        if not splits:
            values.set_shape(shape)
            return values
        if shape.ndims is not None:
            values.set_shape(rows_and(None, shape[rank + 1:]))
            splits[0].set_shape([None if shape[0].value is None else shape[0].value + 1])
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)

    @staticmethod
    def batched(spec, rows):
        return RaggedTensorSpec(rows_and(rows, spec.shape), spec.dtype, spec.ragged_rank + 1, spec.row_splits_dtype)

    @staticmethod
    def unbatched(spec):
        return RaggedTensorSpec(_below(spec.shape), spec.dtype, spec.ragged_rank - 1, spec.row_splits_dtype)

    @staticmethod
    def arrays(spec, value):
        splits = list(value.nested_row_splits) if isinstance(value, RaggedTensorValue) else []
        if len(splits) != spec.ragged_rank:
            raise TypeError("`generator` yielded %r where a ragged value of %s was expected." % (value, spec))
        flat = value.flat_values if splits else value
        return [np.asarray(s, spec.row_splits_dtype.as_numpy_dtype) for s in splits] + _Dense.arrays(
            TensorSpec(None, spec.dtype), flat)

    @staticmethod
    def array_types(spec):
        return [spec.row_splits_dtype] * spec.ragged_rank + [spec.dtype]

    @staticmethod
    def from_arrays(spec, tensors):
        for splits in tensors[:-1]:
            splits.set_shape([None])
        return _Ragged.joined(spec, list(tensors[:-1]), tensors[-1])


class _Variant:
    """Represents a data set or an optional value as one variant."""

    @staticmethod
    def legacy(spec):
        return spec, spec, spec

    @staticmethod
    def wire(spec):
        return [(dtypes.variant, spec._dataset_shape if isinstance(spec, DatasetSpec) else tensor_shape.TensorShape([]))]

    @staticmethod
    def to_tensors(spec, value):
        return [value._variant_tensor]

    to_rows = to_tensors

    @staticmethod
    def from_tensors(spec, tensors):
        if isinstance(spec, OptionalSpec):
            from weft._core.data.optional import _OptionalValue
            return _OptionalValue(tensors[0], spec._element_spec)
        from weft._core.data.dataset import Dataset
        from weft._core.data.structure import Structure
        return Dataset(tensors[0], Structure.of(spec.element_spec))

    @staticmethod
    def batched(spec, rows):
        if isinstance(spec, OptionalSpec):
            raise NotImplementedError("batch() of optional values is not in Weft: take the value with get_value() first")
        return DatasetSpec(spec.element_spec, rows_and(rows, spec._dataset_shape))

    @staticmethod
    def unbatched(spec):
        if isinstance(spec, OptionalSpec) or spec._dataset_shape.ndims == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(spec.element_spec, spec._dataset_shape[1:])

    @staticmethod
    def array_types(spec):
        raise TypeError("a generator cannot yield values of %s" % (spec,))


class _Nothing:
    """Represents None."""

    @staticmethod
    def legacy(spec):
        return spec, spec, spec

    @staticmethod
    def nothing(spec, value=None):
        return []

    wire = to_tensors = to_rows = arrays = array_types = nothing

    @staticmethod
    def from_tensors(spec, tensors):
        return None

    from_arrays = from_tensors

    @staticmethod
    def batched(spec, rows):
        return spec

    @staticmethod
    def unbatched(spec):
        return spec


_KINDS = {TensorSpec: _Dense, SparseTensorSpec: _Sparse, RaggedTensorSpec: _Ragged, DatasetSpec: _Variant,
          OptionalSpec: _Variant, NoneTensorSpec: _Nothing}


def kind_of(spec):
    """Returns the class of functions for values of a spec; raises TypeError for an unknown spec."""
    for base in type(spec).__mro__:
        if base in _KINDS:
            return _KINDS[base]
    raise TypeError("values of %s cannot be components of a data set's elements in Weft: use tensors" % (spec,))


def spec_of(value, name="component"):
    """Returns the spec of a component and the value from which its tensors are made, which may be a tensor of it."""
    if value is None:
        return NoneTensorSpec(), None
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        value = SparseTensor.from_value(value) if isinstance(value, SparseTensorValue) else value
        return SparseTensorSpec(value.shape, value.dtype.base_dtype), value
    if isinstance(value, (RaggedTensor, RaggedTensorValue)):
        value = convert_to_ragged(value)
        return RaggedTensorSpec.from_value(value), value
    if hasattr(value, "_variant_tensor"):
        return value._spec, value
    tensor = convert_to_tensor(value, name=name)
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype), tensor


def spec_from_legacy(dtype, shape, cls):
    """Returns the spec for TensorFlow 1's type, shape and class of a component."""
    if isinstance(cls, TypeSpec):
        return cls
    if isinstance(dtype, TypeSpec):  # The component is a data set or an optional value.
        return dtype
    if isinstance(cls, type) and issubclass(cls, SparseTensor):
        return SparseTensorSpec(shape, dtype)
    if isinstance(cls, type) and issubclass(cls, Tensor):
        return TensorSpec(shape, dtype)
    from weft._core.ops.tensor_array import TensorArray
    if isinstance(cls, type) and issubclass(cls, TensorArray):
        return TensorArraySpec(shape, dtype)
    raise TypeError("Could not build a structure for output class %s. Make sure any component class in `output_classes` "
                    "inherits from one of the following classes: `tf.TypeSpec`, `tf.sparse.SparseTensor`, `tf.Tensor`, "
                    "`tf.TensorArray`." % getattr(cls, "__name__", cls))
