"""tf.data: data sets and iterators.  The library implements them; this module builds their ops.

A function given to map, filter and so on is called once, to make a graph of its own (function.py).
"""
import threading

import numpy as np

from weft._core.data import structure as structure
from weft._core.data.components import DatasetSpec, TensorSpec, kind_of, rows_and
from weft._core.data.options import Options
from weft._core.data.padding import padded_shape, padding_values as padding
from weft._core.data.policies import SHARD_HINT
from weft._core.data.structure import SCALAR_STRING, Structure
from weft._core.framework import dtypes, errors, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import add_op, constant_value, convert_to_tensor, op
from weft._core.framework.function import computing, trace
from weft._core.framework.graph import Tensor, get_default_graph
from weft._core.framework.type_spec import TypeSpec
from weft._core.ops.random_ops import own_seed, seeds
from weft._core.ops.sparse import SparseTensor

AUTOTUNE = -1


def _int64(value, name):
    return convert_to_tensor(value, dtypes.int64, name=name)


def _strings(value, name):
    return convert_to_tensor(value, dtypes.string, name=name)


# ---- functions of elements ----

def _call(fn, form, args):
    """Calls fn with an element; the parts of a tuple become its arguments."""
    packed = form.pack(args)
    return fn(*packed) if isinstance(packed, tuple) and not hasattr(packed, "_fields") else fn(packed)


def _traced(fn, form, name):
    """Returns the traced Function from elements to elements, and the structure of its results."""
    if not callable(fn):
        raise ValueError("a data set is transformed by a function, got %r" % (fn,))
    def body(*args):
        made = _call(fn, form, args)
        return structure.tensors(tuple(made) if isinstance(made, list) else made)  # A list usually comes from py_func.
    return trace(body, form.flat_types, form.flat_shapes, name)


def _traced_dataset(fn, form, name):
    """Returns the traced Function from elements to data sets, and the structure of their elements."""
    if not callable(fn):
        raise ValueError("a data set is transformed by a function, got %r" % (fn,))
    def body(*args):
        made = _call(fn, form, args)
        if not isinstance(made, Dataset):
            raise TypeError("`map_func` must return a `Dataset` object. Got %s" % type(made))
        return [made._variant_tensor], made._form
    return trace(body, form.flat_types, form.flat_shapes, name)


def _order(deterministic):
    return "default" if deterministic is None else "true" if deterministic else "false"


def _named(name):
    """Returns the attribute in which TensorFlow keeps the name of a transformation, a message with the name as field 1.
    """
    if not name:
        return {}
    text, size = name.encode(), b""
    n = len(text)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return {"metadata": b"\n" + size + bytes([n]) + text}


class Dataset(metaclass=Named):
    """A sequence of elements, each a tensor or a nest of tensors."""

    def __init__(self, variant, form, options=None):
        self._variant_tensor, self._form, self._options = variant, form, options

    @property
    def output_types(self):
        return self._form.types

    @property
    def output_shapes(self):
        return self._form.shapes

    @property
    def output_classes(self):
        return self._form.classes

    @property
    def element_spec(self):
        return self._form.specs

    @property
    def _spec(self):
        return DatasetSpec(self._form.specs)

    def _as_variant_tensor(self):
        return self._variant_tensor

    def __repr__(self):
        return "<%s element_spec=%s>" % (type(self).__name__, self.element_spec)

    def __iter__(self):
        raise RuntimeError("dataset.__iter__() is only supported when eager execution is enabled: make an iterator "
                           "with make_one_shot_iterator() or make_initializable_iterator()")

    def _derived(self, kind, form=None, name=None, **given):
        form = form or self._form
        return Dataset(op(kind, input_dataset=self._variant_tensor, **form.attrs(), **_named(name), **given), form,
                       self._options)

    # ---- sources ----

    @staticmethod
    def from_tensors(tensors, name=None):
        flat, form = structure.tensors(tensors)
        return Dataset(op("TensorDataset", components=flat, output_shapes=form.flat_shapes, **_named(name)), form)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        values, form = structure.described(tensors)
        rows = None
        for spec in form.flat_specs:
            shape = getattr(spec, "shape", tensor_shape.TensorShape(None))
            first = shape[0].value if shape.ndims else None
            if rows is not None and first is not None and rows != first:
                raise ValueError("Dimensions %s and %s are not compatible" % (rows, first))
            rows = first if first is not None else rows
        element = form.unbatched()
        flat = [t for spec, v in zip(form.flat_specs, values) for t in kind_of(spec).to_rows(spec, v)]
        return Dataset(op("TensorSliceDataset", components=flat, output_shapes=element.flat_shapes, **_named(name)), element)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """Returns a data set of the rows of a SparseTensor, each a tuple of indices, values and dense shape."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError("Invalid `sparse_tensor`. `sparse_tensor` must be a `tf.sparse.SparseTensor`. Got %s." % type(
                sparse_tensor))
        rank = sparse_tensor.dense_shape.shape[0].value if sparse_tensor.dense_shape.shape.ndims else None
        below = None if rank is None else rank - 1
        form = Structure((dtypes.int64, sparse_tensor.dtype.base_dtype, dtypes.int64), ([None, below], [None], [below]))
        return Dataset(op("SparseTensorSliceDataset", indices=sparse_tensor.indices, values=sparse_tensor.values,
                          dense_shape=sparse_tensor.dense_shape), form)

    @staticmethod
    def range(*args, **kwargs):
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid `args`. The length of `args` should be between 1 and 3 but was %d." % len(args))
        start, stop, step = {1: (0,) + args + (1,), 2: args + (1,), 3: args}[len(args)]
        form = Structure(kwargs.get("output_type", dtypes.int64), [])
        return Dataset(op("RangeDataset", start=_int64(start, "start"), stop=_int64(stop, "stop"),
                          step=_int64(step, "step"), **form.attrs(), **_named(kwargs.get("name"))), form)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        for what, given in (("output_types", output_types), ("output_shapes", output_shapes)):
            if output_signature is not None and given is not None:
                raise TypeError("The `%s` argument can not be used together with the `output_signature` argument." % what)
        if output_signature is None and output_types is None:
            raise TypeError("To specify the output signature you need to provide either the `output_signature` argument or "
                            "the `output_types` argument.")
        if output_signature is None:
            return _Generator(generator, Structure(output_types, output_shapes), args).dataset(name)
        for spec in structure.flatten(output_signature):
            if not isinstance(spec, TypeSpec):
                raise TypeError("`output_signature` must contain objects that are subclass of `tf.TypeSpec` but found %s which "
                                "is not." % type(spec))
        return _Generator(generator, Structure.of(output_signature), args).dataset(name)

    @staticmethod
    def zip(datasets, name=None):
        flat = structure.flatten(datasets)
        for d in flat:
            if not isinstance(d, Dataset):
                raise TypeError("The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Got %s"
                                % (type(d),))
        form = Structure.of(structure.map_leaves(lambda d: d.element_spec, datasets))
        return Dataset(op("ZipDataset", input_datasets=[d._variant_tensor for d in flat], **form.attrs(),
                          **_named(name)), form)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        with get_default_graph().name_scope("list_files"):
            names = _matching_files(_strings(file_pattern, "file_pattern"))
            files = Dataset.from_tensor_slices(names, name)
            if shuffle is None or shuffle:
                from weft._core.ops import array_ops, math_ops
                count = array_ops.shape(names, out_type=dtypes.int64)[0]
                files = files.shuffle(math_ops.maximum(count, 1), seed, name=name)
            return files

    # ---- transformations ----

    def map(self, map_func, num_parallel_calls=None, deterministic=None, name=None, num_threads=None, output_buffer_size=None):
        num_parallel_calls = num_threads if num_parallel_calls is None else num_parallel_calls
        f, form = _traced(map_func, self._form, "Dataset_map")
        given = {"other_arguments": f.captured, "f": f}
        if num_parallel_calls is None:
            made = self._derived("MapDataset", form, name, **given)
        else:
            made = self._derived("ParallelMapDatasetV2", form, name, num_parallel_calls=_int64(
                num_parallel_calls, "num_parallel_calls"), **given)
        return made if output_buffer_size is None else made.prefetch(output_buffer_size)

    def flat_map(self, map_func, name=None):
        f, form = _traced_dataset(map_func, self._form, "Dataset_flat_map")
        return self._derived("FlatMapDataset", form, name=name, other_arguments=f.captured, f=f)

    def interleave(self, map_func, cycle_length=AUTOTUNE, block_length=1, num_parallel_calls=None, deterministic=None,
                   name=None):
        f, form = _traced_dataset(map_func, self._form, "Dataset_interleave")
        given = {"cycle_length": _int64(cycle_length, "cycle_length"),
                 "block_length": _int64(block_length, "block_length"), "other_arguments": f.captured, "f": f}
        if num_parallel_calls is None:
            return self._derived("InterleaveDataset", form, name, **given)
        return self._derived("ParallelInterleaveDatasetV2", form, name, num_parallel_calls=_int64(
            num_parallel_calls, "num_parallel_calls"), **given)

    def filter(self, predicate, name=None):
        f, form = _traced(predicate, self._form, "Dataset_filter")
        if not TensorSpec([], dtypes.bool).is_compatible_with(form.specs):
            raise ValueError("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                             "%s." % (form.specs,))
        return self._derived("FilterDataset", name=name, other_arguments=f.captured, predicate=f)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Stacks elements into batches. The order is kept, also with num_parallel_calls."""
        size, drop = _int64(batch_size, "batch_size"), convert_to_tensor(drop_remainder, dtypes.bool,
                                                                        name="drop_remainder")
        rows = constant_value(size) if constant_value(drop) else None
        form = self._form.batched(rows)
        if num_parallel_calls is None:
            return self._derived("BatchDatasetV2", form, name, batch_size=size, drop_remainder=drop)
        return self._derived("ParallelBatchDataset", form, name, batch_size=size, drop_remainder=drop,
                             num_parallel_calls=_int64(num_parallel_calls, "num_parallel_calls"),
                             deterministic=_order(deterministic))

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        for spec in self._form.flat_specs:
            if not isinstance(spec, TensorSpec):
                raise TypeError("`padded_batch` is only supported for datasets that produce tensor elements but type spec of "
                                "elements in the input dataset is not a subclass of TensorSpec: `%s`." % (spec,))
        size, drop = _int64(batch_size, "batch_size"), convert_to_tensor(drop_remainder, dtypes.bool,
                                                                        name="drop_remainder")
        shapes = [padded_shape(s, known) for s, known in zip(
            self._form.flat_shapes if padded_shapes is None else structure.along(self._form.specs, padded_shapes),
            self._form.flat_shapes)]
        values = padding(self._form, padding_values)
        rows = constant_value(size) if constant_value(drop) else None
        form = self._form.with_shapes([rows_and(rows, s) for _, s in shapes])
        return Dataset(op("PaddedBatchDatasetV2", input_dataset=self._variant_tensor, batch_size=size,
                          padded_shapes=[t for t, _ in shapes], padding_values=values, drop_remainder=drop,
                          output_shapes=form.flat_shapes, **_named(name)), form)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Batches elements of different sizes as SparseTensors."""
        from weft._core.data import composites
        return composites.sparse_batch(self, batch_size, row_shape, name)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
        """Batches elements of different sizes as RaggedTensors."""
        from weft._core.data import composites
        return composites.ragged_batch(self, batch_size, drop_remainder, row_splits_dtype, name)

    def unbatch(self, name=None):
        if self._form.is_dense:
            return self._derived("UnbatchDataset", self._form.unbatched(), name=name)
        f, rows = trace(lambda *args: (self._form.rows(self._form.pack(args)), None), self._form.flat_types,
                        self._form.flat_shapes, "Dataset_rows")
        attrs = {"output_types": f.types, "output_shapes": f.shapes}
        rows = op("MapDataset", input_dataset=self._variant_tensor, other_arguments=f.captured, f=f, **attrs)
        form = self._form.unbatched()
        return Dataset(op("UnbatchDataset", input_dataset=rows, **form.attrs(), **_named(name)), form, self._options)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        first, second = seeds(seed)
        return self._derived("ShuffleDataset", name=name, buffer_size=_int64(buffer_size, "buffer_size"),
                             seed=_int64(first, "seed"), seed2=_int64(second, "seed2"),
                             reshuffle_each_iteration=reshuffle_each_iteration is not False)

    def repeat(self, count=None, name=None):
        return self._derived("RepeatDataset", name=name, count=_int64(-1 if count is None else count, "count"))

    def take(self, count, name=None):
        return self._derived("TakeDataset", name=name, count=_int64(count, "count"))

    def skip(self, count, name=None):
        return self._derived("SkipDataset", name=name, count=_int64(count, "count"))

    def shard(self, num_shards, index, name=None):
        hint = not isinstance(num_shards, Tensor) and num_shards == SHARD_HINT
        for what, value in (() if hint else (("num_shards", num_shards), ("index", index))):
            known = constant_value(value) if isinstance(value, Tensor) else value
            if known is not None and known < (1 if what == "num_shards" else 0):
                raise ValueError("%s must be >= %d; got %s" % (what, 1 if what == "num_shards" else 0, known))
        if not hint and not isinstance(index, Tensor) and not isinstance(num_shards, Tensor) and index >= num_shards:
            raise ValueError("index must be <= num_shards; %s is not < %s" % (index, num_shards))
        return self._derived("ShardDataset", name=name, num_shards=_int64(num_shards, "num_shards"),
                             index=_int64(index, "index"))

    def concatenate(self, dataset, name=None):
        form = self._form.merged(dataset._form)
        if form is None:
            raise TypeError("Incompatible dataset elements:\n  %s vs.   %s" % (self.element_spec, dataset.element_spec))
        return self._derived("ConcatenateDataset", form, name=name, another_dataset=dataset._variant_tensor)

    def prefetch(self, buffer_size=None, name=None):
        return self._derived("PrefetchDataset", name=name,
                             buffer_size=_int64(-1 if buffer_size is None else buffer_size,
                                                                   "buffer_size"))

    def cache(self, filename="", name=None):
        return self._derived("CacheDataset", name=name, filename=_strings(filename, "filename"))

    def enumerate(self, start=0, name=None):
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max, name=name), self), name=name)

    def apply(self, transformation_func):
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError("`transformation_func` must return a Dataset. Got %s" % (made,))
        return made

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Returns the op that saves the elements in a folder, from which load() reads them."""
        from weft._core.data import snapshots
        return snapshots.save(self, path, compression, shard_func, checkpoint_args)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None):
        """Returns the data set that save() wrote to a folder."""
        from weft._core.data import snapshots
        return snapshots.load(path, element_spec, compression, reader_func)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Returns the same elements; the first pass saves them in a folder, and later passes read them from there."""
        from weft._core.data import snapshots
        return snapshots.snapshot(self, path, compression, reader_func, shard_func)

    def options(self):
        """Returns the settings that with_options gave to this data set and those before it."""
        return Options() if self._options is None else self._options

    def with_options(self, options, name=None):
        """Returns the same elements with settings that options() returns."""
        if not isinstance(options, Options):
            raise AttributeError("with_options() takes tf.data.Options, not %r" % (options,))
        return Dataset(self._variant_tensor, self._form, self.options().merge(options))

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Groups elements: each element of the result is a data set, or a nest of data sets, of `size` elements."""
        form = self._form.with_specs([DatasetSpec(spec) for spec in self._form.flat_specs])
        return Dataset(op("WindowDataset", name, input_dataset=self._variant_tensor, size=_int64(size, "size"),
                          shift=_int64(size if shift is None else shift, "shift"), stride=_int64(stride, "stride"),
                          drop_remainder=convert_to_tensor(drop_remainder, dtypes.bool, name="drop_remainder"),
                          **form.attrs()), form, self._options)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Groups elements by key and reduces each group to a data set."""
        from weft._core.data import experimental
        return self.apply(experimental.group_by_window(key_func, reduce_func, window_size, window_size_func))

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False,
                                  name=None):
        """Returns batches of elements of similar length."""
        from weft._core.data import experimental
        return self.apply(experimental.bucket_by_sequence_length(
            element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values, pad_to_bucket_boundary,
            no_padding, drop_remainder))

    def ignore_errors(self, log_warning=False, name=None):
        """Returns the elements that can be computed without an error."""
        from weft._core.data import experimental
        return self.apply(experimental.ignore_errors(log_warning))

    def get_single_element(self, name=None):
        """Returns the only element."""
        from weft._core.data import experimental
        return experimental.get_single_element(self)

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """Returns the numbers from start on, without end."""
        from weft._core.data import experimental
        return experimental.Counter(start, step, dtype)

    def cardinality(self):
        """Returns the number of elements, or tf.data.INFINITE_CARDINALITY or tf.data.UNKNOWN_CARDINALITY."""
        return op("DatasetCardinality", input_dataset=self._variant_tensor)

    def unique(self, name=None):
        """Returns the elements without repetitions."""
        for dtype in structure.flatten(self._form.types):
            if dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
                raise TypeError("`tf.data.Dataset.unique` does not support type %s -- only `tf.int32`, `tf.int64`, and "
                                "`tf.string` are supported." % (dtype,))
        return self._derived("UniqueDataset", name=name)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Returns random numbers without end."""
        from weft._core.data.mixing import RandomDataset
        return RandomDataset(seed, rerandomize_each_iteration, name)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Returns elements of several data sets, chosen at random."""
        from weft._core.data import mixing
        return mixing.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Returns elements of several data sets; choice_dataset yields the number of the next data set."""
        from weft._core.data import mixing
        return mixing.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Drops elements at random so that their classes have the target distribution."""
        from weft._core.data import mixing
        return self.apply(mixing.rejection_resample(class_func, target_dist, initial_dist, seed))

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Returns the rows of batches in batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None):
        """Works as map does."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate):
        """Works as filter does."""
        return self.filter(predicate)

    def reduce(self, initial_state, reduce_func, name=None):
        first, form = structure.tensors(initial_state, "initial_state_%d")
        n = len(first)

        def make(state):
            return trace(lambda *args: structure.tensors(reduce_func(state.pack(args[:n]), self._form.pack(args[n:]))),
                         state.flat_types + self._form.flat_types, state.flat_shapes + self._form.flat_shapes, "Dataset_reduce")
        f, state = structure.settled(form, make, "The element %s for the new state must match the initial state. Expected %s "
                                     "but got %s.")
        out = op("ReduceDataset", input_dataset=self._variant_tensor, initial_state=first, other_arguments=f.captured,
                 f=f, **state.attrs(), **_named(name))
        return state.pack(out)

    def scan(self, initial_state, scan_func, name=None):
        first, form = structure.tensors(initial_state, "initial_state_%d")
        n, found = len(first), []

        def make(state):
            def body(*args):
                made = scan_func(state.pack(args[:n]), self._form.pack(args[n:]))
                if not isinstance(made, (tuple, list)) or len(made) != 2:
                    raise TypeError("Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output "
                                    "value but its return type is %s." % (structure.tensors(made)[1].specs,))
                flat, new = structure.tensors(made[0])
                more, out = structure.tensors(made[1])
                found[:] = [out]
                return flat + more, new
            return trace(body, state.flat_types + self._form.flat_types, state.flat_shapes + self._form.flat_shapes,
                         "Dataset_scan")
        f, _ = structure.settled(form, make, "Invalid `scan_func`. The element %s for the new state must match the initial "
                                 "state. Expected %s, got %s.")
        return self._derived("ScanDataset", found[0], name=name, initial_state=first, other_arguments=f.captured, f=f,
                             preserve_cardinality=True)

    def take_while(self, predicate, name=None):
        f, _ = _traced(predicate, self._form, "Dataset_take_while")
        return self._derived("TakeWhileDataset", name=name, other_arguments=f.captured, predicate=f)

    # ---- iterators ----

    def make_one_shot_iterator(self):
        _check_one_shot(self._variant_tensor)
        own_seed(None)  # TensorFlow draws a seed for the function, so that later ops draw other numbers.
        made = add_op("OneShotIterator", dataset_factory=computing(self._variant_tensor, "make_dataset"),
                      **self._form.attrs())
        return Iterator(made.outputs[0], None, self._form)

    def _make_one_shot_iterator(self):
        return self.make_one_shot_iterator()

    def make_initializable_iterator(self, shared_name=None):
        graph = get_default_graph()
        if self._variant_tensor.graph is not graph:
            raise ValueError("Failed to create initializable iterator: the data set is of another graph")
        handle = op("IteratorV2", container="", shared_name=shared_name or "", **self._form.attrs())
        with graph.colocate_with(handle.op):
            init = add_op("MakeIterator", dataset=self._variant_tensor, iterator=handle)
        return Iterator(handle, init, self._form)


_FORBIDDEN = {"Placeholder": "a placeholder", "PlaceholderV2": "a placeholder", "VariableV2": "a stateful node",
              "Variable": "a stateful node", "VarHandleOp": "a stateful node", "HashTableV2": "a stateful node"}


def _check_one_shot(tensor):
    """Raises ValueError for a data set that reads variables or feeds, because a function cannot make it again."""
    seen, todo = set(), [tensor.op]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.type in _FORBIDDEN:
            raise ValueError("Failed to create a one-shot iterator for a dataset. `Dataset.make_initializable_iterator()`"
                             " is more general. Original error: Cannot capture %s (name:%s, type:%s) by value." % (
                                 _FORBIDDEN[node.type], node.name, node.type))
        todo.extend(t.op for t in node.inputs)


def _ragged_alike(mine, theirs):
    """Returns whether the classes are equal, or differ only in the specs of ragged components."""
    return [type(a) for a in mine.flat_specs] == [type(b) for b in theirs.flat_specs]


def _matching_files(patterns):
    """Returns the names of the files that match; a step that finds none fails."""
    from weft._core.ops import array_ops, io_ops, math_ops
    from weft._core.ops.control_flow import Assert
    names = op("MatchingFiles", pattern=patterns)
    some = math_ops.greater(array_ops.shape(names)[0], 0, name="match_not_empty")
    message = math_ops.add("No files matched pattern: ", io_ops.reduce_join(patterns, separator=", "), name="message")
    with get_default_graph().control_dependencies([Assert(some, [message], summarize=1, name="assert_not_empty")]):
        return array_ops.identity(names)


# ---- Python generators ----

class _Generator:
    """The three functions of a GeneratorDataset: begin, next, end. Python keeps the generators by number."""

    def __init__(self, generator, form, args):
        self.generator, self.form = generator, form
        self.args = [convert_to_tensor(a, name="args") for a in (args or ())]
        self.running, self.count, self.lock = {}, 0, threading.Lock()

    def begin(self, *args):
        made = iter(self.generator(*args))
        with self.lock:
            self.count += 1
            self.running[self.count] = made
            return np.int64(self.count)

    def next(self, number):
        try:
            value = next(self.running[int(number)])
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "the generator is at its end") from None
        parts = zip(self.form.flat_specs, structure.along(self.form.specs, value))
        return [array for spec, v in parts for array in kind_of(spec).arrays(spec, v)]

    def end(self, number):
        with self.lock:
            made = self.running.pop(int(number), None)
        if hasattr(made, "close"):
            made.close()
        return np.int64(0)

    def following(self, i):
        """Returns the tensors of the next element of the Python generator."""
        from weft._core.ops.script_ops import py_func
        kinds = [(spec, kind_of(spec), len(kind_of(spec).array_types(spec))) for spec in self.form.flat_specs]
        made = list(py_func(self.next, [i], [t for spec, kind, _ in kinds for t in kind.array_types(spec)]))
        values = []
        for spec, kind, n in kinds:
            values.append(kind.from_arrays(spec, made[:n]))
            made = made[n:]
        return self.form.unpack(structure.pack_like(self.form.specs, values)), None

    def dataset(self, name=None):
        from weft._core.ops.script_ops import py_func
        number = ([dtypes.int64], [tensor_shape.TensorShape([])])

        def first():
            made = py_func(self.begin, self.args, dtypes.int64)
            made.set_shape([])
            return [made], None
        init, _ = trace(first, [], [], "generator_begin")
        step, _ = trace(self.following, *number, "generator_next")
        last, _ = trace(lambda i: ([py_func(self.end, [i], dtypes.int64)], None), *number, "generator_end")
        return Dataset(op("GeneratorDataset", init_func_other_args=init.captured, next_func_other_args=step.captured,
                          finalize_func_other_args=last.captured, init_func=init, next_func=step, finalize_func=last,
                          **self.form.attrs(), **_named(name)), self.form)


# ---- files ----

def _read(filenames, make, num_parallel_reads=None):
    """Returns one data set over all files, which are read in turns with num_parallel_reads."""
    if isinstance(filenames, Dataset) or num_parallel_reads is not None:
        names = filenames if isinstance(filenames, Dataset) else Dataset.from_tensor_slices(
            _vector(_strings(filenames, "filenames")))
        if num_parallel_reads is None:
            return names.flat_map(make)
        return names.interleave(make, cycle_length=num_parallel_reads, num_parallel_calls=num_parallel_reads)
    return make(_strings(filenames, "filenames"))


def _vector(names):
    from weft._core.ops.array_ops import reshape
    return names if names.shape.ndims == 1 else reshape(names, [-1])


class _Files(Dataset):
    def __init__(self, filenames, make, num_parallel_reads=None):
        made = _read(filenames, lambda names: Dataset(make(names), SCALAR_STRING), num_parallel_reads)
        super().__init__(made._variant_tensor, SCALAR_STRING)


class TFRecordDataset(_Files):
    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        super().__init__(filenames, lambda names: op(
            "TFRecordDataset", filenames=names, compression_type=_strings(compression_type or "", "compression_type"),
            buffer_size=_int64(256 * 1024 if buffer_size is None else buffer_size, "buffer_size")), num_parallel_reads)


class TextLineDataset(_Files):
    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        super().__init__(filenames, lambda names: op(
            "TextLineDataset", filenames=names, compression_type=_strings(compression_type or "", "compression_type"),
            buffer_size=_int64(256 * 1024 if buffer_size is None else buffer_size, "buffer_size")), num_parallel_reads)


class FixedLengthRecordDataset(_Files):
    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None):
        super().__init__(filenames, lambda names: op(
            "FixedLengthRecordDatasetV2", filenames=names, header_bytes=_int64(header_bytes or 0, "header_bytes"),
            record_bytes=_int64(record_bytes, "record_bytes"), footer_bytes=_int64(footer_bytes or 0, "footer_bytes"),
            buffer_size=_int64(256 * 1024 if buffer_size is None else buffer_size, "buffer_size"),
            compression_type=_strings(compression_type or "", "compression_type")), num_parallel_reads)


# ---- iterators ----

class Iterator(metaclass=Named):
    """A position in a data set."""

    def __init__(self, iterator_resource, initializer, form):
        self._iterator_resource, self._initializer, self._form = iterator_resource, initializer, form
        self._string_handle = op("IteratorToStringHandle", resource_handle=iterator_resource)
        get_default_graph().add_to_collection("iterators", iterator_resource)  # TensorFlow's name of the collection

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        form = Structure(output_types, output_shapes, output_classes)
        return Iterator(op("IteratorV2", container="", shared_name=shared_name or "", **form.attrs()), None, form)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        form = Structure(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, dtypes.string, name="string_handle")
        return Iterator(op("IteratorFromStringHandleV2", string_handle=handle, **form.attrs()), None, form)

    @property
    def initializer(self):
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. This means it was likely created using "
                             "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                             "`tf.data.Dataset.make_initializable_iterator()` instead.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        theirs = dataset._form
        structure.check_alike(self.output_types, theirs.types)
        if theirs.types != self.output_types:
            raise TypeError("Expected output types %r but got dataset with output types %r." % (
                self.output_types, theirs.types))
        if theirs.classes != self.output_classes and not _ragged_alike(self._form, theirs):
            raise TypeError("Expected output classes %r but got dataset with output classes %r." % (
                self.output_classes, theirs.classes))
        if not all(a.is_compatible_with(b) for a, b in zip(self._form.flat_specs, theirs.flat_specs)):
            raise TypeError("Expected output shapes compatible with %r but got dataset with output shapes %r." % (
                self.output_shapes, theirs.shapes))
        with self._iterator_resource.graph.colocate_with(self._iterator_resource.op):
            return add_op("MakeIterator", name or "make_initializer", dataset=dataset._variant_tensor, iterator=self._iterator_resource)

    def get_next(self, name=None):
        made = op("IteratorGetNext", name, iterator=self._iterator_resource, **self._form.attrs())
        return self._form.pack(made)

    def get_next_as_optional(self):
        """Returns the next element as an Optional, which has no value at the end."""
        from weft._core.data.optional import _OptionalValue
        made = op("IteratorGetNextAsOptional", iterator=self._iterator_resource, **self._form.attrs())
        return _OptionalValue(made, self._form.specs)

    @property
    def element_spec(self):
        return self._form.specs

    def string_handle(self, name=None):
        if name is None:
            return self._string_handle
        return op("IteratorToStringHandle", name, resource_handle=self._iterator_resource)

    @property
    def output_types(self):
        return self._form.types

    @property
    def output_shapes(self):
        return self._form.shapes

    @property
    def output_classes(self):
        return self._form.classes


def make_one_shot_iterator(dataset):
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator):
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator):
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    return dataset_or_iterator.output_classes
