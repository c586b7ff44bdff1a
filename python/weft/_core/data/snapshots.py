"""Data sets in folders: Dataset.save, Dataset.load and Dataset.snapshot, in TensorFlow's format.

A folder contains the elements, which the library writes and reads, and `dataset_spec.pb`, the specs of an element as a
serialized StructuredValue.  This module writes and reads that message, for tensors in tuples, lists and dicts.
"""
import hashlib
import os
import re

from weft._core.data.components import DatasetSpec, TensorSpec
from weft._core.data.dataset import AUTOTUNE, Dataset, _int64, _traced, _traced_dataset
from weft._core.data.structure import Structure
from weft._core.files import gfile
from weft._core.framework import dtypes, errors, tensor_shape
from weft._core.framework.build import add_op, constant, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph_util import extract_sub_graph

SPEC_FILE = "dataset_spec.pb"
_TENSOR, _LIST, _TUPLE, _DICT = 33, 51, 52, 53  # fields of StructuredValue


# ---- specs as StructuredValue ----

def _varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def _field(number, content):
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def encoded(spec):
    """Returns the serialized StructuredValue of a nest of tensor specs."""
    if isinstance(spec, dict):
        pairs = (_field(1, _field(1, key.encode()) + _field(2, encoded(spec[key]))) for key in sorted(spec))
        return _field(_DICT, b"".join(pairs))
    if isinstance(spec, (tuple, list)) and not hasattr(spec, "_fields"):
        return _field(_LIST if isinstance(spec, list) else _TUPLE, b"".join(_field(1, encoded(s)) for s in spec))
    if type(spec) is not TensorSpec:
        raise NotImplementedError("Dataset.save() saves tensors in tuples, lists and dicts, not %r" % (spec,))
    name = _field(1, spec.name.encode()) if spec.name else b""
    return _field(_TENSOR, name + _field(2, spec.shape.as_proto().SerializeToString()) + b"\x18" + _varint(spec.dtype.as_datatype_enum))


def _read_varint(text, at):
    n = shift = 0
    while True:
        n, shift, at = n | (text[at] & 127) << shift, shift + 7, at + 1
        if text[at - 1] < 128:
            return n, at


def _fields(text):
    """Returns (number, value) of each field; the value is bytes or an integer."""
    at = 0
    while at < len(text):
        tag, at = _read_varint(text, at)
        n, at = _read_varint(text, at)
        if tag & 7 == 2:
            yield tag >> 3, text[at:at + n]
            at += n
        elif tag & 7 == 0:
            yield tag >> 3, n
        else:
            raise ValueError("field %d" % (tag >> 3))


def decoded(text):
    """Returns the nest of tensor specs that encoded() serialized."""
    for number, value in _fields(text):
        if number == _DICT:
            pairs = [dict(_fields(pair)) for _, pair in _fields(value)]
            return {pair[1].decode(): decoded(pair[2]) for pair in sorted(pairs, key=lambda pair: pair[1])}
        if number in (_LIST, _TUPLE):
            return (list if number == _LIST else tuple)(decoded(part) for _, part in _fields(value))
        if number == _TENSOR:
            parts = dict(_fields(value))
            proto = tensor_shape.TensorShape(None).as_proto()
            proto.ParseFromString(parts.get(2, b""))
            return TensorSpec(tensor_shape.TensorShape(proto), as_dtype(parts[3]), parts[1].decode() if 1 in parts else None)
    raise NotImplementedError("%s describes more than tensors in tuples, lists and dicts: give element_spec" % SPEC_FILE)


# ---- save and load ----

def _path(path):
    return os.fspath(path) if isinstance(path, os.PathLike) else path


def _is_none(compression):
    return "" if compression is None else compression


def _interleaved(shards):
    return shards.interleave(lambda shard: shard, cycle_length=os.cpu_count() or 1, num_parallel_calls=AUTOTUNE)


def _reader(reader_func, form, name):
    """Returns the Function that makes one data set of the data sets of all shards."""
    shards = Structure.of(DatasetSpec(DatasetSpec(form.specs)))
    f, made = _traced_dataset(reader_func or _interleaved, shards, name)
    if made.flat_types != form.flat_types:
        raise TypeError("`reader_func` must return a `Dataset` of elements %s. Got %s" % (form.specs, made.specs))
    return {"reader_func": f, "reader_func_other_args": f.captured}


def _sharder(shard_func, form, name):
    f, _ = _traced(shard_func, form, name)
    return {"shard_func": f, "shard_func_other_args": f.captured}


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Returns the op that saves the elements of a data set in a folder.

    Args:
      dataset: the data set.
      path: the folder.
      compression: None, 'GZIP' or 'SNAPPY'.
      shard_func: makes the number of its shard of an element; None: there is one shard.
      checkpoint_args: not supported: it needs eager mode.
    """
    if checkpoint_args is not None:
        raise NotImplementedError("Dataset.save(): checkpoint_args needs eager mode")
    path = _path(path)
    gfile.MakeDirs(path)
    with gfile.GFile(path + "/" + SPEC_FILE, "wb") as f:
        f.write(encoded(dataset.element_spec))
    shard = _sharder(shard_func or (lambda *x: constant(0, dtypes.int64)), dataset._form, "save")
    return add_op("SaveDataset", input_dataset=dataset._variant_tensor, path=convert_to_tensor(path, dtypes.string, name="path"),
                  compression=_is_none(compression), use_shard_func=shard_func is not None, **shard)


def load(path, element_spec=None, compression=None, reader_func=None):
    """Returns the data set that was saved in a folder.

    Args:
      path: the folder.
      element_spec: the specs of an element; None: those that were saved.
      compression: None, 'GZIP' or 'SNAPPY', as it was saved.
      reader_func: makes one data set of a data set of data sets, one for each shard; None: takes elements in turn.
    """
    path = _path(path)
    if element_spec is None:
        if not gfile.Exists(path + "/" + SPEC_FILE):
            raise errors.NotFoundError(None, None, "Could not find the saved element_spec: %s/%s does not exist" % (path, SPEC_FILE))
        with gfile.GFile(path + "/" + SPEC_FILE, "rb") as f:
            element_spec = decoded(f.read())
    form = Structure.of(element_spec)
    return Dataset(op("LoadDataset", path=path, compression=_is_none(compression), **form.attrs(),
                      **_reader(reader_func, form, "load")), form)


# ---- snapshots ----

def _described(nodes):
    """Returns a text of nodes with numbers in place of their names."""
    number = {node.name: "%d" % i for i, node in enumerate(nodes)}
    return "".join("%s(%s)%s\n" % (node.op, ", ".join(re.sub(r"[^:^]+", lambda m: number.get(m.group(), m.group()), i, count=1)
                                                     for i in node.input),
                                   "".join(" %s=%s" % (key, node.attr[key]) for key in sorted(node.attr))) for node in nodes)


def _hash_of(dataset):
    """Returns a number that is equal for the same pipeline in every run of a program."""
    tensor = dataset._variant_tensor
    whole = tensor.graph.as_graph_def()
    functions = {f.signature.name: f for f in whole.library.function}
    text = _described(extract_sub_graph(whole, [tensor.op.name]).node)
    seen, names = [], re.compile(r'name: "([^"]+)"')
    waiting = [n for n in names.findall(text) if n in functions]
    while waiting:
        name = waiting.pop(0)
        if name not in seen:
            seen.append(name)
            body = str(functions[name])
            text += body
            waiting += [n for n in names.findall(body) if n in functions]
    for i, name in enumerate(seen):  # The numbers in their names count all functions of the process.
        text = text.replace('"%s"' % name, '"function %d"' % i)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little", signed=True)


def _snapshot(dataset, path, compression, reader_func, shard_func, hash_of):
    form = dataset._form
    return Dataset(op("SnapshotDatasetV2", input_dataset=dataset._variant_tensor, path=_path(path), compression=_is_none(compression),
                      hash=hash_of, hash_valid=True, **form.attrs(), **_reader(reader_func, form, "Dataset_snapshot_reader_func"),
                      **_sharder(shard_func, form, "Dataset_snapshot_shard_func")), form, dataset._options)


def snapshot(dataset, path, compression="AUTO", reader_func=None, shard_func=None):
    """Returns the same elements; the first pass saves them in a folder, and later passes and programs read them from
    there.

    Args:
      dataset: the data set.
      path: the folder; each pipeline has a folder of its own inside.
      compression: 'AUTO', 'GZIP', 'SNAPPY' or None.
      reader_func: makes one data set of a data set of data sets, one for each shard.
      shard_func: makes the number of its shard of an element.
    """
    hash_of = _hash_of(dataset)
    if shard_func is not None:
        return _snapshot(dataset, path, compression, reader_func, shard_func, hash_of)
    numbered = dataset.enumerate()
    cores = os.cpu_count() or 1
    given = None if reader_func is None else lambda shards: reader_func(shards)
    made = _snapshot(numbered, path, compression, given, lambda index, *element: _int64(index % cores, "shard"), hash_of)
    return made.map(lambda index, *element: element[0] if len(element) == 1 else element)
