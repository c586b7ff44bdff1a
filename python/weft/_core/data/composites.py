"""tf.data: batches of tensors of different sizes, the structure of data sets, and data sets as variants."""
from weft._core.data.components import TensorSpec, kind_of
from weft._core.data.dataset import Dataset, Iterator, _int64, constant_value
from weft._core.data.structure import Structure
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.function import trace
from weft._core.framework.type_spec import RaggedTensorSpec, SparseTensorSpec, TensorArraySpec


def _row_shape(given):
    """Returns a row shape as a tensor, with -1 for unknown sizes, and its static form."""
    if isinstance(given, tensor_shape.TensorShape) or not hasattr(given, "op"):
        shape = tensor_shape.TensorShape([None if d in (-1, None) else int(getattr(d, "value", d)) for d in given])
        return convert_to_tensor([-1 if d is None else d for d in shape.as_list()], dtypes.int64, name="row_shape"), shape
    value = constant_value(given)
    if value is None:
        count = given.shape[0].value if given.shape.ndims else None
        return given, tensor_shape.TensorShape(None if count is None else [None] * count)
    return given, tensor_shape.TensorShape([None if d < 0 else int(d) for d in value])


def sparse_batch(dataset, batch_size, row_shape, name=None):
    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError("`dense_to_sparse_batch` requires an input dataset whose elements have a single component, but the "
                        "given dataset has the following component types: %s." % (dataset.output_types,))
    rows, known = _row_shape(row_shape)
    form = Structure.of(SparseTensorSpec(tensor_shape.TensorShape([None]).concatenate(known), spec.dtype))
    return dataset._derived("DenseToSparseBatchDataset", form, batch_size=_int64(batch_size, "batch_size"), row_shape=rows)


def dense_to_sparse_batch(batch_size, row_shape):
    """Batches elements of different sizes as SparseTensors.

    Args:
      batch_size: how many elements a batch has.
      row_shape: the shape of the rows of a batch; None or -1: as long as the longest element.
    """
    return lambda dataset: sparse_batch(dataset, batch_size, row_shape)


def _ragged_spec(spec, row_splits_dtype):
    """Returns the spec of the ragged form of a component, whose batches may have different sizes."""
    if not isinstance(spec, TensorSpec):
        return spec
    if spec.shape.ndims is None or spec.shape.is_fully_defined():
        return spec
    return RaggedTensorSpec(spec.shape, spec.dtype, spec.shape.ndims - 1, row_splits_dtype)


def ragged_batch(dataset, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
    from weft._core.ragged.ragged_tensor import RaggedTensor
    form = dataset._form
    ragged = form.with_specs([_ragged_spec(spec, dtypes.as_dtype(row_splits_dtype)) for spec in form.flat_specs])

    def body(*args):
        values, rest = [], list(args)
        for spec, to in zip(form.flat_specs, ragged.flat_specs):
            n = len(kind_of(spec).wire(spec))
            value = kind_of(spec).from_tensors(spec, rest[:n])
            rest = rest[n:]
            if to is not spec and to.ragged_rank > 0:
                value = RaggedTensor.from_tensor(value, ragged_rank=to.ragged_rank, row_splits_dtype=to.row_splits_dtype)
            values.extend(kind_of(to).to_tensors(to, value))
        return values, None
    f, _ = trace(body, form.flat_types, form.flat_shapes, "Dataset_ragged")
    return dataset._derived("MapDataset", ragged, other_arguments=f.captured, f=f).batch(batch_size, drop_remainder, name=name)


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64):
    """Batches elements of different sizes as RaggedTensors.

    Args:
      batch_size: how many elements a batch has.
      drop_remainder: whether a last batch of fewer elements is left out.
      row_splits_dtype: the type of the row splits, tf.int32 or tf.int64.
    """
    return lambda dataset: ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype)


# ---- structures ----

def get_structure(dataset_or_iterator):
    """Returns the specs of the elements."""
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise TypeError("Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
                        "object, but got %s." % type(dataset_or_iterator))
    return dataset_or_iterator.element_spec


def to_variant(dataset):
    """Returns the variant tensor that holds a data set."""
    return dataset._variant_tensor


def from_variant(variant, structure):
    """Returns the data set that a variant tensor holds.

    Args:
      variant: a scalar of tf.variant.
      structure: the specs of its elements, as get_structure gives them.
    """
    return Dataset(variant, Structure.of(structure))


def TensorStructure(dtype, shape):
    """Returns a tf.TensorSpec; the arguments are in another order."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype, shape):
    """Returns a tf.SparseTensorSpec; the arguments are in another order."""
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype, shape, ragged_rank):
    """Returns a tf.RaggedTensorSpec; the arguments are in another order."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):
    """Returns a tf.TensorArraySpec; the arguments are in another order."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
