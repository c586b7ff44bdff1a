"""Lookup tables: filled once or changed at will, from tensors and from files, and TensorFlow's words for what goes wrong."""
import numpy as np
import pytest
import tensorflow as tf

from scenario import Fails, check
from test_old_names import on_both, renamed

v1 = tf.compat.v1
raw = tf.raw_ops


def fed(value, dtype=None):
    """A value whose shape is known only when it runs."""
    return v1.placeholder_with_default(tf.constant(value, dtype), None)


def fixed(key=tf.string, value=tf.int64, **kw):
    return raw.HashTableV2(key_dtype=key, value_dtype=value, **kw)


def mutable(key=tf.string, value=tf.int64, **kw):
    return raw.MutableHashTableV2(key_dtype=key, value_dtype=value, **kw)


def find(h, keys, default=np.int64(-1)):
    return raw.LookupTableFindV2(table_handle=h, keys=keys, default_value=default)


def fill(h, keys, values):
    return raw.LookupTableImportV2(table_handle=h, keys=keys, values=tf.constant(values, tf.int64))


def insert(h, keys, values):
    return raw.LookupTableInsertV2(table_handle=h, keys=keys, values=tf.constant(values, tf.int64))


def size(h):
    return raw.LookupTableSizeV2(table_handle=h)


def export(h, key=tf.string, value=tf.int64):
    return list(raw.LookupTableExportV2(table_handle=h, Tkeys=key, Tvalues=value))


def in_order(h, key=tf.string, value=tf.int64):
    """All values, sorted: a table has no order that both would agree on."""
    return tf.sort(export(h, key, value)[1], axis=0)


def filled_once():
    h = fixed()
    return [find(h, ["a"]), size(h), export(h), fill(h, ["a", "a"], [1, 2]), find(h, ["a"]), size(h),
            fill(h, ["a", "b", "a"], [1, 2, 1]), find(h, [["a", "b"], ["z", "a"]]), find(h, "b"), size(h), in_order(h),
            fill(h, ["b", "a"], [2, 1]), fill(h, ["x", "y"], [7, 8]), find(h, ["a", "x"]), fill(h, ["a", "b", "c"], [1, 2, 3]),
            fill(h, ["a"], [1]), insert(h, ["a"], [1]), raw.LookupTableRemoveV2(table_handle=h, keys=["a"]),
            find(h, ["a", "q"], np.array([7, 8]))]


def wrong_arguments():
    h = fixed()
    return [fill(h, ["a"], [1]), raw.LookupTableFindV2(table_handle=h, keys=["a"], default_value=1.0),
            raw.LookupTableFindV2(table_handle=h, keys=[1], default_value=np.int64(1)), find(h, ["a"], fed([1, 2], tf.int64)),
            raw.LookupTableImportV2(table_handle=h, keys=["a"], values=fed([1, 2, 3], tf.int64)),
            raw.InitializeTableV2(table_handle=h, keys=["a"], values=fed([1, 2, 3], tf.int64)),
            raw.InitializeTableV2(table_handle=h, keys=["a"], values=[1.0]),
            raw.LookupTableRemoveV2(table_handle=mutable(), keys=[1]),
            Fails(raw.InitializeTableV2(table_handle=mutable(), keys=["a"], values=tf.constant([1], tf.int64)))]


def initialized():
    h, numbers, words = fixed(), fixed(tf.int64, tf.string), fixed(tf.string, tf.string)
    return [raw.InitializeTableV2(table_handle=h, keys=["a", "b"], values=tf.constant([3, 4], tf.int64)), find(h, ["b", "a", ""]),
            raw.InitializeTableV2(table_handle=numbers, keys=tf.constant([5, 6], tf.int64), values=["five", "six"]),
            find(numbers, tf.constant([6, 7, 5], tf.int64), "?"),
            raw.InitializeTableV2(table_handle=numbers, keys=tf.constant([5, 6, 7], tf.int64), values=["five", "six", "seven"]),
            raw.InitializeTableV2(table_handle=words, keys=["x", "x"], values=["y", "z"])]


def other_types():
    steps = []
    for key, value in ((tf.int64, tf.float32), (tf.int32, tf.int32), (tf.string, tf.bool), (tf.string, tf.float64),
                       (tf.int32, tf.string), (tf.int64, tf.int32)):
        h = fixed(key, value)
        steps += [raw.LookupTableImportV2(table_handle=h, keys=tf.cast([1, 2, 3], key) if key != tf.string else ["1", "2", "3"],
                                          values=tf.cast([0, 1, 5], value) if value != tf.string else ["0", "1", "5"]),
                  find(h, tf.cast([3, 9, 1], key) if key != tf.string else ["3", "9", "1"],
                       tf.cast(1, value) if value != tf.string else "1")]
    return steps


def changed():
    h = mutable()
    return [find(h, ["a"]), size(h), insert(h, ["a", "b", "a"], [1, 2, 3]), find(h, ["a", "b", "z"]),
            find(h, ["a", "b", "z"], np.array([7, 8, 9])), find(h, ["a", "b", "z"], fed([1, 2], tf.int64)),
            raw.LookupTableRemoveV2(table_handle=h, keys=["a", "q"]), size(h), fill(h, ["k", "l"], [5, 6]), in_order(h),
            insert(h, [["x", "y"]], [[1, 2]]), find(h, [["x", "q"]]), insert(h, "s", 4), find(h, "s"),
            raw.LookupTableInsertV2(table_handle=h, keys=["a"], values=fed([1, 2], tf.int64)),
            raw.LookupTableInsertV2(table_handle=h, keys=["a"], values=[1.]), size(h), in_order(h)]


def many():
    h = mutable(tf.int64)
    keys = tf.range(5000, dtype=tf.int64) * 7919 % 5003
    return [insert(h, keys, np.arange(5000)), size(h), find(h, tf.range(5003, dtype=tf.int64)),
            raw.LookupTableRemoveV2(table_handle=h, keys=keys[::3]), find(h, tf.range(5003, dtype=tf.int64)), in_order(h, tf.int64)]


def rows():
    h = raw.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[2])
    return [insert(h, ["a", "b"], [[1, 2], [3, 4]]), find(h, ["a", "z"], np.array([7, 8])),
            find(h, ["a", "z"], np.array([[7, 8], [9, 10]])), find(h, [["a", "z"]], np.array([7, 8])), find(h, ["a"], np.int64(7)),
            insert(h, ["a", "b"], [1, 2]), insert(h, "c", [1, 2]), in_order(h),
            size(raw.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[2, 2])),
            size(raw.MutableHashTableOfTensorsV2(key_dtype=tf.string, value_dtype=tf.int64))]


def shared():
    h, same = fixed(shared_name="s"), fixed(shared_name="s", name="same")
    return [fill(h, ["a"], [1]), find(same, ["a"]), size(fixed(value=tf.int32, shared_name="s", name="other")),
            size(mutable(shared_name="s", name="mutable")), size(fixed(shared_name="s", container="elsewhere", name="e")),
            size(fixed(name="n", use_node_name_sharing=True))]


def anonymous():
    steps = []
    for make in (raw.AnonymousHashTable, raw.AnonymousMutableHashTable):
        h = make(key_dtype=tf.string, value_dtype=tf.int64)
        with tf.control_dependencies([fill(h, ["a", "b"], [3, 4])]):
            steps += [find(h, ["b", "c"]), size(h)]
    h = raw.AnonymousMutableHashTableOfTensors(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[2])
    with tf.control_dependencies([insert(h, ["a"], [[3, 4]])]):
        return steps + [find(h, ["b", "a"], np.array([0, 1]))]


def old_handles():
    h, m = raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64), raw.MutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    r = raw.MutableHashTableOfTensors(key_dtype=tf.string, value_dtype=tf.int64, value_shape=[1])
    one, other = tf.constant([1], tf.int64), tf.constant([2], tf.int64)
    return [raw.InitializeTable(table_handle=h, keys=["a"], values=one),
            raw.LookupTableFind(table_handle=h, keys=["a", "b"], default_value=np.int64(9)),
            list(raw.LookupTableExport(table_handle=h, Tkeys=tf.string, Tvalues=tf.int64)),
            raw.LookupTableInsert(table_handle=m, keys=["b"], values=other), raw.LookupTableSize(table_handle=m),
            raw.LookupTableImport(table_handle=m, keys=["c"], values=one),
            list(raw.LookupTableExport(table_handle=m, Tkeys=tf.string, Tvalues=tf.int64)),
            raw.LookupTableFind(table_handle=h, keys=["a"], default_value=1.),
            raw.LookupTableInsert(table_handle=r, keys=["b"], values=[other]),
            raw.LookupTableFind(table_handle=r, keys=["b", "c"], default_value=one)]


def dense():
    """Tables with open addressing."""
    given = dict(value_dtype=tf.int64, value_shape=[], initial_num_buckets=4)
    keys, one = tf.constant([3, 4, 5, 6, 7], tf.int64), tf.constant([3], tf.int64)
    h = raw.MutableDenseHashTableV2(empty_key=np.int64(-1), deleted_key=np.int64(-2), **given)
    steps = [insert(h, keys, [1, 2, 3, 4, 5]), size(h), find(h, keys + 2), raw.LookupTableRemoveV2(table_handle=h, keys=one), size(h),
              find(h, keys), Fails(insert(h, tf.constant([-1], tf.int64), [1])), insert(h, one, [9]), find(h, keys)]
    h = raw.AnonymousMutableDenseHashTable(empty_key=np.int64(-1), deleted_key=np.int64(-2), **given)
    with tf.control_dependencies([insert(h, keys, [1, 2, 3, 4, 5])]):
        return steps + [find(h, keys + 1), size(h)]


@pytest.mark.parametrize("build", [filled_once, wrong_arguments, initialized, other_types, changed, many, rows, shared, anonymous,
                                   old_handles, dense])
def test_tables(build):
    check(build)


def test_dense_table_of_old():
    """TensorFlow's kernel of this name asks for an input that the op does not have, so the later name is the judge."""
    with tf.Graph().as_default() as g:
        keys = tf.constant([3, 4, 5, 6, 7], tf.int64)
        h = raw.MutableDenseHashTableV2(empty_key=np.int64(-1), deleted_key=np.int64(-2), value_dtype=tf.int64, value_shape=[],
                                        initial_num_buckets=4)
        steps = [raw.LookupTableInsertV2(table_handle=h, keys=keys, values=keys * 2).name, [size(h).name], [find(h, keys + 2).name]]
        graph_def = g.as_graph_def()
    older = renamed(graph_def, {"MutableDenseHashTableV2": "MutableDenseHashTable", **{
        f"LookupTable{o}V2": f"LookupTable{o}" for o in ("Insert", "Size", "Find")}})
    for node in older.node:
        if node.op == "MutableDenseHashTable":
            del node.input[1:]
    on_both(graph_def, steps, older)


TEXTS = {"lines": "a\nb\nc\n", "windows": "a\r\nb\r\n", "open": "a\nb", "columns": "a\t1\nb\t2\nc\t3\n", "short": "a\t1\nb\n",
         "twice": "a\t1\na\t2\n", "words": "a\tx\nb\t2\n"}
FILLS = [("lines", -2, -1, tf.string, tf.int64, {}), ("lines", -1, -2, tf.int64, tf.string, {}),
         ("windows", -2, -1, tf.string, tf.int64, {}), ("open", -2, -1, tf.string, tf.int64, {}),
         ("columns", 0, 1, tf.string, tf.int64, {}), ("columns", 1, 0, tf.int64, tf.string, {}),
         ("columns", 0, 1, tf.string, tf.float32, {}), ("columns", 0, 2, tf.string, tf.int64, {}),
         ("short", 0, 1, tf.string, tf.int64, {}), ("twice", 0, 1, tf.string, tf.int64, {}), ("words", 0, 1, tf.string, tf.int64, {}),
         ("lines", -2, -1, tf.string, tf.int64, {"vocab_size": 2}), ("lines", -2, -1, tf.string, tf.int64, {"vocab_size": 5}),
         ("lines", -2, -1, tf.string, tf.int64, {"offset": 1}), ("lines", -1, -1, tf.string, tf.int64, {}),
         ("lines", -2, -1, tf.string, tf.int32, {}), ("lines", -2, 0, tf.string, tf.int64, {}), ("lines", -2, -2, tf.string, tf.string, {}),
         ("columns", 0, 1, tf.string, tf.int64, {"delimiter": ","}), ("columns", 0, 1, tf.string, tf.int64, {"delimiter": "ab"}),
         ("columns", 1, 1, tf.int64, tf.int32, {}), ("columns", 0, 1, tf.string, tf.float64, {})]


@pytest.mark.parametrize("fill_", FILLS, ids=lambda f: "_".join(str(x) for x in (f[0], f[1], f[2], f[3].name, f[4].name, *f[5])))
def test_a_table_is_filled_from_a_file(fill_, tmp_path):
    name, key_index, value_index, key, value, more = fill_
    path = tmp_path / name
    path.write_bytes(TEXTS[name].encode())

    def build():
        h = fixed(key, value)
        keys = ["a", "b", "c", "d"] if key == tf.string else tf.constant([0, 1, 2, 3], key)
        return [raw.InitializeTableFromTextFileV2(table_handle=h, filename=str(path), key_index=key_index, value_index=value_index,
                                                  **more),
                find(h, keys, tf.cast(9, value) if value != tf.string else "?"), size(h)]
    check(build)


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "lines").write_bytes(b"a\nb\n")

    def build():
        def from_file(name):
            return raw.InitializeTableFromTextFileV2(table_handle=fixed(), filename=str(tmp_path / name), key_index=-2, value_index=-1)
        old = raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64)
        return [Fails(from_file("empty")), Fails(from_file("none")),
                raw.InitializeTableFromTextFile(table_handle=old, filename=str(tmp_path / "lines"), key_index=-2, value_index=-1),
                raw.LookupTableFind(table_handle=old, keys=["b", "c"], default_value=np.int64(9))]
    check(build)
