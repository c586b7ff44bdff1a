"""tf.data: lookup tables that are filled from a data set."""
from weft._core.data.components import TensorSpec
from weft._core.framework import dtypes
from weft._core.framework.build import add_op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import name_scope
from weft._core.ops.lookup import FastHashSpec, HasherSpec, IdTableWithHashBuckets, StaticHashTable, TableInitializerBase

_FORM = ("Datasets used to initialize lookup tables must produce elements in the form (key, value), where the keys and values are "
         "scalar tensors. However, the given dataset produces %s")


def _check(spec):
    """Raises an error unless the elements are pairs of scalars."""
    if len(spec) != 2:
        raise ValueError(_FORM % "%d components instead of two (key, value) components. Full dataset element spec: %s."
                         % (len(spec), spec))
    for what, part in zip(("key", "value"), spec):
        if not isinstance(part, TensorSpec):
            raise ValueError(_FORM % "non-Tensor %ss of type %s." % (what, type(part)))
        if part.shape.ndims not in (None, 0):
            raise ValueError(_FORM % "non-scalar %s Tensors of rank %d." % (what, part.shape.ndims))


class DatasetInitializer(TableInitializerBase):
    """Fills a lookup table with the keys and values of a data set.

    Args:
      dataset: whose elements are pairs of a key and a value, both scalars.
    """

    def __init__(self, dataset):
        _check(dataset.element_spec)
        self.dataset = dataset
        key, value = dataset.element_spec
        super().__init__(key.dtype, value.dtype)

    def initialize(self, table):
        """Returns the op that fills the table."""
        return self._listed(add_op("InitializeTableFromDataset", table_handle=table.resource_handle,
                                   dataset=self.dataset._variant_tensor))


def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None, hasher_spec=FastHashSpec,
                       key_dtype=dtypes.string, name=None):
    """Returns a lookup table with the keys and values of a data set.

    Args:
      dataset: whose elements are pairs of a key and a value, both scalars.
      num_oov_buckets: how many further values keys that are not in the table are hashed to.
      vocab_size: how many elements are used; None: all.
      default_value: of keys that are not in the table; None: -1.
      hasher_spec: how keys that are not in the table are hashed.
      key_dtype: the type of the keys that are looked up, an integer or string.
      name: of the ops.
    """
    spec = dataset.element_spec
    _check(spec)
    if default_value is None:
        if not (spec[1].dtype.is_integer or spec[1].dtype.is_floating):
            raise ValueError("`default_value` must be specified when creating a table from a dataset that produces values of type "
                             "%s." % spec[1].dtype)
        default_value = -1
    if num_oov_buckets < 0:
        raise ValueError("`num_oov_buckets` must be greater than or equal to 0, got %d." % num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError("`vocab_size` must be greater than 0, got %d." % vocab_size)
    key_dtype = as_dtype(key_dtype)
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError("`key_dtype` must be either an integer or string type, but got %s" % key_dtype)
    if vocab_size is not None:
        from weft._core.data.mixing import assert_cardinality
        dataset = dataset.take(vocab_size).apply(assert_cardinality(vocab_size))
    with name_scope(name, "string_to_index"), name_scope("hash_table"):
        table = StaticHashTable(DatasetInitializer(dataset), default_value)
    if not num_oov_buckets:
        return table
    if not isinstance(hasher_spec, HasherSpec):
        raise TypeError("`hasher_spec` must be of type HasherSpec, got %s." % type(hasher_spec))
    if table.value_dtype != dtypes.int64:
        raise TypeError("Invalid `value_dtype`: expected int64 but got %s." % table.value_dtype)
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_dtype)


def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=FastHashSpec,
                             key_dtype=dtypes.string, name=None):
    """Returns a lookup table that maps the elements of a data set to their positions.

    Args:
      dataset: whose elements are the keys, scalars.
      num_oov_buckets: how many further numbers keys that are not in the table are hashed to.
      vocab_size: how many elements are used; None: all.
      default_value: of keys that are not in the table.
      hasher_spec: how keys that are not in the table are hashed.
      key_dtype: the type of the keys that are looked up, an integer or string.
      name: of the ops.
    """
    pairs = dataset.enumerate().map(lambda number, key: (key, number))
    return table_from_dataset(pairs, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
