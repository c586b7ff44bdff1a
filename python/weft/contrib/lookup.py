"""tf.contrib.lookup: tables of keys and values."""
from weft._core.ops.lookup import (
    FastHashSpec,
    HasherSpec,
    HashTable,
    IdTableWithHashBuckets,
    KeyValueTensorInitializer,
    LookupInterface,
    MutableDenseHashTable,
    MutableHashTable,
    StrongHashSpec,
    TableInitializerBase,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileInitializer,
    TextFileStringTableInitializer,
    index_table_from_file,
    index_table_from_file as string_to_index_table_from_file,
    index_table_from_tensor,
    index_table_from_tensor as string_to_index_table_from_tensor,
    index_to_string,
    index_to_string_table_from_file,
    index_to_string_table_from_tensor,
    string_to_index,
)
from weft._core.public import publish as _publish

__all__ = [
    "FastHashSpec", "HashTable", "HasherSpec", "IdTableWithHashBuckets", "KeyValueTensorInitializer",
    "LookupInterface", "MutableDenseHashTable", "MutableHashTable", "StrongHashSpec", "TableInitializerBase",
    "TextFileIdTableInitializer", "TextFileIndex", "TextFileInitializer", "TextFileStringTableInitializer",
    "index_table_from_file", "index_table_from_tensor", "index_to_string", "index_to_string_table_from_file",
    "index_to_string_table_from_tensor", "string_to_index", "string_to_index_table_from_file",
    "string_to_index_table_from_tensor",
]
__getattr__ = _publish(__name__)
