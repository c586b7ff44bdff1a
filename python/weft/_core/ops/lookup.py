"""Lookup tables: tf.lookup and tf.contrib.lookup."""
import collections
import uuid

from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import GraphKeys, add_to_collection, get_collection, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.sparse import SparseTensor


class TextFileIndex(metaclass=Named):
    """The part of a line to use, if it is not a column by number."""
    WHOLE_LINE = -2
    LINE_NUMBER = -1


HasherSpec = collections.namedtuple("HasherSpec", ["hasher", "key"])
FastHashSpec = HasherSpec("fasthash", None)


def StrongHashSpec(key):
    if len(key) != 2:
        raise ValueError("key must have size 2, got %s." % len(key))
    return HasherSpec("stronghash", [int(k) for k in key])


# ---- initializers of tables ----

class TableInitializerBase(metaclass=Named):
    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)

    def _shared_name(self):
        return "hash_table_%s" % uuid.uuid4()

    def _listed(self, made):
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, made)
        return made


class KeyValueTensorInitializer(TableInitializerBase):
    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self._keys = convert_to_tensor(keys, key_dtype, name="keys")
        self._values = convert_to_tensor(values, value_dtype, name="values")
        self._name = name or "key_value_init"
        super().__init__(self._keys.dtype.base_dtype, self._values.dtype.base_dtype)

    def initialize(self, table):
        with name_scope(self._name):
            return self._listed(op("LookupTableImportV2", None, table_handle=table.resource_handle, keys=self._keys,
                                   values=self._values))


class TextFileInitializer(TableInitializerBase):
    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None,
                 value_index_offset=0):
        from weft._core.framework.graph import Tensor
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError("`filename` argument required for tf.lookup.TextFileInitializer")
        for what, index, dtype in (("key", key_index, as_dtype(key_dtype)), ("value", value_index, as_dtype(value_dtype))):
            if index < -2:
                raise ValueError("`%s_index` should be >= -2, received: %d." % (what, index))
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError("`%s_dtype` must be int64 if `%s_index` is %s, received: %s" % (what, what, index, dtype))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError("`vocab_size` should be > 0, received: %s" % vocab_size)
        self._filename, self._indices, self._vocab_size = filename, (key_index, value_index), vocab_size
        self._delimiter, self._name, self._offset = delimiter, name or "text_file_init", value_index_offset
        self._path = convert_to_tensor(filename, dtypes.string, name="asset_path") if isinstance(filename, str) else filename
        add_to_collection(GraphKeys.ASSET_FILEPATHS, self._path)
        super().__init__(key_dtype, value_dtype)

    def _shared_name(self):
        """Returns a name that tables over the same file share, so that they are one table."""
        parts = ["hash_table", self._filename] + ([str(self._vocab_size)] if self._vocab_size else [])
        return "_".join([str(p) for p in parts] + ["%d_%d" % self._indices] + ([str(self._offset)] if self._offset else []))

    def initialize(self, table):
        with name_scope(self._name):
            return self._listed(op("InitializeTableFromTextFileV2", None, table_handle=table.resource_handle, filename=self._path,
                                   key_index=self._indices[0], value_index=self._indices[1], vocab_size=self._vocab_size or -1,
                                   delimiter=self._delimiter, offset=self._offset))


class TextFileStringTableInitializer(TextFileInitializer):
    def __init__(self, filename, key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
                 vocab_size=None, delimiter="\t", name="text_file_string_table_init"):
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    def __init__(self, filename, key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
                 vocab_size=None, delimiter="\t", name="text_file_id_table_init", key_dtype=dtypes.string):
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name)


# ---- tables ----

class LookupInterface(metaclass=Named):
    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    resource_handle = property(lambda self: self._handle)
    table_ref = resource_handle
    default_value = property(lambda self: self._default_value)

    @property
    def name(self):
        return self._handle.op.name.rsplit("/", 1)[-1]

    def __getitem__(self, keys):
        """Looks up keys: table[keys]."""
        return self.lookup(keys)

    def _keys(self, keys):
        keys = convert_to_tensor(keys, None if hasattr(keys, "dtype") else self._key_dtype, name="keys")
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError("Signature mismatch. Keys must be dtype %s, got %s." % (self._key_dtype, keys.dtype))
        return keys

    def _find(self, keys, scope, default_value=None):
        values = keys.values if isinstance(keys, SparseTensor) else keys
        with name_scope(scope):
            found = op("LookupTableFindV2", None, table_handle=self._handle, keys=self._keys(values),
                       default_value=self._default_value if default_value is None else default_value)
        return found

    def size(self, name=None):
        with name_scope(name, "%s_Size" % self.name):
            return op("LookupTableSizeV2", None, table_handle=self._handle)

    def _export(self, scope):
        with name_scope(scope):
            return tuple(op("LookupTableExportV2", None, table_handle=self._handle, Tkeys=self._key_dtype,
                            Tvalues=self._value_dtype))


def _like(keys, values):
    """Returns the values that were found, as a SparseTensor if the keys are one."""
    return SparseTensor(keys.indices, values, keys.dense_shape) if isinstance(keys, SparseTensor) else values


class StaticHashTable(LookupInterface):
    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._initializer = initializer
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="Const")
        kind, shared = ("AnonymousHashTable", {}) if experimental_is_anonymous else (
            "HashTableV2", {"shared_name": initializer._shared_name()})
        self._handle = op(kind, name or "hash_table", key_dtype=self._key_dtype, value_dtype=self._value_dtype, **shared)
        self._init_op = initializer.initialize(self)

    initializer = init = property(lambda self: self._init_op)

    def lookup(self, keys, name=None):
        found = self._find(keys, name or "%s_Lookup" % self.name)
        found.set_shape((keys.values if isinstance(keys, SparseTensor) else convert_to_tensor(keys)).get_shape()
                        if hasattr(keys, "get_shape") or isinstance(keys, SparseTensor) else found.get_shape())
        return _like(keys, found)

    def export(self, name=None):
        keys, values = self._export(name or "%s_Export" % self.name)
        for t in (keys, values):
            t.set_shape([None])
        return keys, values


HashTable = StaticHashTable


class TableSaveable:
    """The keys and values of a mutable table, which a Saver saves."""

    class _Spec:
        def __init__(self, tensor, name):
            self.tensor, self.name, self.slice_spec, self.dtype = tensor, name, "", tensor.dtype.base_dtype

    def __init__(self, table, name):
        self.op, self.name = table._handle, name
        self.exported = table._export("%s_lookup_table_export_values" % table.name)
        self.specs = [self._Spec(t, "%s-%s" % (name, part)) for t, part in zip(self.exported, ("keys", "values"))]

    @property
    def device(self):
        return self.op.device

    def restore(self, restored_tensors, restored_shapes, name=None):
        """Returns the op that fills the table with the keys and values."""
        with name_scope(name, "%s_table_restore" % self.name):
            return op("LookupTableImportV2", table_handle=self.op, keys=restored_tensors[0], values=restored_tensors[1])


class _MutableTable(LookupInterface):
    """The base of mutable tables. Savers save them, unless they were made with checkpoint=False."""

    def _save(self):
        saveable = TableSaveable(self, self.name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def lookup(self, keys, dynamic_default_values=None, name=None):
        if dynamic_default_values is not None:
            dynamic_default_values = convert_to_tensor(dynamic_default_values, self._value_dtype)
        return _like(keys, self._find(keys, name or "%s_lookup_table_find" % self.name, dynamic_default_values))

    def insert(self, keys, values, name=None):
        with name_scope(name, "%s_lookup_table_insert" % self.name):
            return op("LookupTableInsertV2", None, table_handle=self._handle, keys=self._keys(keys),
                      values=convert_to_tensor(values, self._value_dtype, name="values"))

    def remove(self, keys, name=None):
        with name_scope(name, "%s_lookup_table_remove" % self.name):
            return op("LookupTableRemoveV2", None, table_handle=self._handle, keys=self._keys(keys))

    def export(self, name=None):
        return self._export(name or "%s_lookup_table_export_values" % self.name)


class MutableHashTable(_MutableTable):
    """A table that steps can change. Savers save its keys and values."""

    def __init__(self, key_dtype, value_dtype, default_value, shared_name=None, name="MutableHashTable", checkpoint=True,
                 experimental_is_anonymous=False):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="Const")
        shape = [d.value for d in self._default_value.get_shape()]
        kind, more = ("MutableHashTableOfTensors", {"value_shape": shape}) if shape else ("MutableHashTable", {})
        if not experimental_is_anonymous:
            more.update(shared_name=shared_name or "", use_node_name_sharing=bool(checkpoint and not shared_name))
        kind = "Anonymous" + kind if experimental_is_anonymous else kind + "V2"
        self._handle = op(kind, name, key_dtype=self._key_dtype, value_dtype=self._value_dtype, **more)
        if checkpoint:
            self._save()


class DenseHashTable(_MutableTable):
    """A table that steps can change, with keys of any shape. Two reserved keys mark empty and deleted entries."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets=None,
                 name="MutableDenseHashTable", checkpoint=True, experimental_is_anonymous=False):
        super().__init__(key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="default_value")
        self._empty_key = convert_to_tensor(empty_key, self._key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, self._key_dtype, name="deleted_key")
        given = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        if experimental_is_anonymous:
            kind = "AnonymousMutableDenseHashTable"
        else:
            kind = "MutableDenseHashTableV2"
            given["use_node_name_sharing"] = bool(checkpoint)
        self._handle = op(kind, name, empty_key=self._empty_key, deleted_key=self._deleted_key, value_dtype=self._value_dtype,
                          value_shape=[d.value for d in self._default_value.get_shape()], **given)
        if checkpoint:
            self._save()

    def lookup(self, keys, name=None):
        found = super().lookup(keys, name=name)
        if not isinstance(keys, SparseTensor):
            self._set_shape(found, convert_to_tensor(keys, self._key_dtype).shape if not hasattr(keys, "shape") else keys.shape)
        return found

    def _set_shape(self, found, keys):
        """Sets the shape of values: that of the keys, with a value's dimensions instead of a key's."""
        dims, size = tensor_shape.as_shape(keys), self._empty_key.shape.ndims
        if dims.ndims is not None and size is not None and dims.ndims >= size:
            found.set_shape(dims[:dims.ndims - size].concatenate(self._default_value.shape))

    erase = _MutableTable.remove
    insert_or_assign = _MutableTable.insert


class MutableDenseHashTable(DenseHashTable):
    """contrib's DenseHashTable: the deleted key is optional, and tables can share a name."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, initial_num_buckets=None, shared_name=None,
                 name="MutableDenseHashTable", checkpoint=True, deleted_key=None):
        LookupInterface.__init__(self, key_dtype, value_dtype)
        self._default_value = convert_to_tensor(default_value, self._value_dtype, name="default_value")
        self._empty_key = convert_to_tensor(empty_key, self._key_dtype, name="empty_key")
        if deleted_key is None:
            raise ValueError("tf.contrib.lookup.MutableDenseHashTable needs the argument 'deleted_key', a key that is never used "
                             "(TensorFlow 1.13 and later need it too)")
        self._deleted_key = convert_to_tensor(deleted_key, self._key_dtype, name="deleted_key")
        given = {} if initial_num_buckets is None else {"initial_num_buckets": initial_num_buckets}
        self._handle = op("MutableDenseHashTableV2", name, empty_key=self._empty_key, deleted_key=self._deleted_key,
                          shared_name=shared_name or "", use_node_name_sharing=bool(checkpoint and not shared_name),
                          value_dtype=self._value_dtype, value_shape=[d.value for d in self._default_value.get_shape()], **given)
        if checkpoint:
            self._save()


class IdTableWithHashBuckets(LookupInterface):
    """The ids of a table, followed by ids of hash buckets for words that are not in the table."""

    def __init__(self, table, num_oov_buckets, hasher_spec=FastHashSpec, name=None, key_dtype=None):
        self._table, self._num_oov_buckets, self._spec = table, num_oov_buckets, hasher_spec
        self._scope = name
        super().__init__(key_dtype or (table.key_dtype if table else dtypes.string), dtypes.int64)

    initializer = init = property(lambda self: self._table.initializer if self._table else None)
    resource_handle = property(lambda self: self._table.resource_handle if self._table else None)

    @property
    def name(self):
        return self._scope or (self._table.name if self._table else "string_to_hash_bucket")

    def size(self, name=None):
        with name_scope(name, "%s_Size" % self.name):
            if self._table:
                return self._table.size() + self._num_oov_buckets
            return convert_to_tensor(self._num_oov_buckets, dtypes.int64)

    def _bucket(self, values):
        if self._key_dtype != dtypes.string:
            values = op("AsString", None, input=values)
        if self._spec.hasher == "stronghash":
            return op("StringToHashBucketStrong", "hash_bucket", input=values, num_buckets=self._num_oov_buckets, key=self._spec.key)
        return op("StringToHashBucketFast", "hash_bucket", input=values, num_buckets=self._num_oov_buckets)

    def lookup(self, keys, name=None):
        with name_scope(name, "%s_Lookup" % self.name):
            values = self._keys(keys.values if isinstance(keys, SparseTensor) else keys)
            if self._table and self._num_oov_buckets == 0:
                return _like(keys, self._table.lookup(values))
            found = self._bucket(values)
            if self._table:
                if self._table.key_dtype != values.dtype.base_dtype:
                    values = math_ops.cast(values, self._table.key_dtype)
                ids = self._table.lookup(values)
                found = math_ops.add(found, self._table.size())
                known = math_ops.not_equal(ids, self._table.default_value)
                found = op("SelectV2", None, condition=known, t=ids, e=found)
            return _like(keys, found)


class StaticVocabularyTable(IdTableWithHashBuckets):
    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        if initializer is not None and initializer.value_dtype != dtypes.int64:
            raise TypeError("Invalid `value_dtype`, expected int64 but got %s." % initializer.value_dtype)
        table = StaticHashTable(initializer, -1, name, experimental_is_anonymous) if initializer else None
        super().__init__(table, num_oov_buckets, FastHashSpec, name, lookup_key_dtype)


# ---- tables of words and their ids ----

def index_table_from_tensor(vocabulary_list, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string,
                            name=None, mapping=None):
    vocabulary_list = mapping if vocabulary_list is None else vocabulary_list
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` must be specified.")
    if num_oov_buckets < 0:
        raise ValueError("num_oov_buckets must be greater or equal than 0, got %d." % num_oov_buckets)
    dtype = as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list, name="Const")
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError("Expected %s, got %s." % ("integer" if dtype.is_integer else "non-integer", keys.dtype))
        values = _numbers(keys)
        with name_scope("hash_table"):
            keys = math_ops.cast(keys, dtypes.int64) if dtype.is_integer else keys
            table = StaticHashTable(KeyValueTensorInitializer(keys, values, name="table_init"), default_value)
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype) if num_oov_buckets else table


def _numbers(keys):
    return math_ops.cast(math_ops.range(array_ops.size(keys)), dtypes.int64)


def index_table_from_file(vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=FastHashSpec,
                          key_dtype=dtypes.string, name=None, key_column_index=TextFileIndex.WHOLE_LINE,
                          value_column_index=TextFileIndex.LINE_NUMBER, delimiter="\t"):
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if num_oov_buckets < 0:
        raise ValueError("num_oov_buckets must be greater or equal than 0, got %d." % num_oov_buckets)
    key_dtype = as_dtype(key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope("hash_table"):
            init = TextFileIdTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
                                              "table_init", dtypes.int64 if key_dtype.is_integer else key_dtype)
            table = StaticHashTable(init, default_value)
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_dtype) if num_oov_buckets else table


def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK", name=None, mapping=None):
    vocabulary_list = mapping if vocabulary_list is None else vocabulary_list
    if vocabulary_list is None:
        raise ValueError("`vocabulary_list` argument must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(vocabulary_list, dtypes.string, name="Const")
        return StaticHashTable(KeyValueTensorInitializer(_numbers(values), values, name="table_init"), default_value)


def index_to_string_table_from_file(vocabulary_file, vocab_size=None, default_value="UNK", name=None,
                                    key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
                                    delimiter="\t"):
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    with name_scope(name, "index_to_string"):
        init = TextFileStringTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
                                              "table_init")
        return StaticHashTable(init, default_value)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def tables_initializer(name="init_all_tables"):
    from weft._core.ops.control_flow import group, no_op
    found = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*found, name=name) if found else no_op(name=name)
