"""tf.data: data sets and iterators.  What they do is the library's; here their ops are put together.

A function given to map, filter and so on is called once, to make a graph of its own (function.py).
"""
import threading

import numpy as np

from weft._core.data import structure as structure
from weft._core.data.structure import SCALAR_STRING, Structure
from weft._core.framework import dtypes, errors, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import add_op, constant_value, convert_to_tensor, op
from weft._core.framework.function import computing, trace
from weft._core.framework.graph import Tensor, get_default_graph
from weft._core.ops.random_ops import seeds

AUTOTUNE = -1


def _int64(value, name):
    return convert_to_tensor(value, dtypes.int64, name=name)


def _strings(value, name):
    return convert_to_tensor(value, dtypes.string, name=name)


class _Settings:
    """Named settings of a group, each None until it is set."""

    def __init__(self, **kinds):
        self.__dict__.update(_kinds=kinds, _values={})

    def __getattr__(self, name):
        if name.startswith("__") or name not in self._kinds:
            raise AttributeError("%s has no setting %s" % (type(self).__name__, name))
        return self._values.get(name)

    def __setattr__(self, name, value):
        if name not in self._kinds:
            raise AttributeError("Cannot set the property %s on %s." % (name, type(self).__name__))
        if not isinstance(value, self._kinds[name]):
            raise TypeError("Property \"%s\" must be of type %s, got: %r (type: %s)" % (
                name, self._kinds[name], value, type(value)))
        self._values[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and self._values == other._values

    __hash__ = None


class ThreadingOptions(_Settings):
    """How many threads a data set uses: TensorFlow's settings, which change no element."""

    def __init__(self):
        super().__init__(max_intra_op_parallelism=int, private_threadpool_size=int)


_OPTIMIZATIONS = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
                  "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
                  "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion", "warm_start")


class OptimizationOptions(_Settings):
    """How TensorFlow rewrites a data set: settings that change no element."""

    def __init__(self):
        super().__init__(**dict.fromkeys(_OPTIMIZATIONS, bool))


class AutotuneOptions(_Settings):
    """How TensorFlow chooses numbers of threads: settings that change no element."""

    def __init__(self):
        super().__init__(enabled=bool, cpu_budget=int, ram_budget=int, autotune_algorithm=object)


_ALIASES = {"experimental_deterministic": "deterministic", "experimental_threading": "threading"}
_GROUPS = {"threading": ThreadingOptions, "experimental_optimization": OptimizationOptions, "autotune": AutotuneOptions}


class Options(_Settings, metaclass=Named):
    """Settings of TensorFlow's runtime.  Weft keeps them; they change no element, and the order is always the same."""

    def __init__(self):
        super().__init__(deterministic=bool, experimental_slack=bool, experimental_symbolic_checkpoint=bool,
                         experimental_warm_start=bool, experimental_external_state_policy=object,
                         experimental_distribute=object, **{n: k for n, k in _GROUPS.items()})
        self._values.update({n: k() for n, k in _GROUPS.items()})

    def __getattr__(self, name):
        return super().__getattr__(_ALIASES.get(name, name))

    def __setattr__(self, name, value):
        super().__setattr__(_ALIASES.get(name, name), value)

    def merge(self, options):
        """These settings, and over them those that the other ones set."""
        made = Options()
        for source in (self, options):
            for name, value in source._values.items():
                if name in _GROUPS:
                    made._values[name]._values.update(value._values)
                else:
                    made._values[name] = value
        return made


# ---- functions over elements ----

def _call(fn, form, args):
    """fn with an element: the parts of a tuple are its arguments."""
    packed = form.pack(args)
    return fn(*packed) if isinstance(packed, tuple) and not hasattr(packed, "_fields") else fn(packed)


def _traced(fn, form, name):
    """The Function that makes elements of elements, and the structure of what it makes."""
    def body(*args):
        made = _call(fn, form, args)
        return structure.tensors(tuple(made) if isinstance(made, list) else made)  # most lists are py_func's
    return trace(body, form.flat_types, form.flat_shapes, name)


def _traced_dataset(fn, form, name):
    """The Function that makes data sets of elements, and the structure of their elements."""
    def body(*args):
        made = _call(fn, form, args)
        if not isinstance(made, Dataset):
            raise TypeError("`map_func` must return a `Dataset` object. Got %s" % type(made))
        return [made._variant_tensor], made._form
    return trace(body, form.flat_types, form.flat_shapes, name)


def _order(deterministic):
    return "default" if deterministic is None else "true" if deterministic else "false"


def _named(name):
    """The attribute in which TensorFlow keeps the name of a transformation: a message whose field 1 it is."""
    if not name:
        return {}
    text, size = name.encode(), b""
    n = len(text)
    while n > 127:
        size, n = size + bytes([n & 127 | 128]), n >> 7
    return {"metadata": b"\n" + size + bytes([n]) + text}


class Dataset(metaclass=Named):
    """A row of elements, each a tensor or a nest of tensors."""

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
        return self._form.pack(list(zip(self._form.flat_types, self._form.flat_shapes)))

    def _as_variant_tensor(self):
        return self._variant_tensor

    def __repr__(self):
        return "<%s shapes: %s, types: %s>" % (type(self).__name__, self.output_shapes, self.output_types)

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
        flat, form = structure.tensors(tensors)
        rows = None
        for t in flat:
            if t.shape.ndims == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
            first = t.shape[0].value if t.shape.ndims else None
            if rows is not None and first is not None and rows != first:
                raise ValueError("Dimensions %s and %s are not compatible" % (rows, first))
            rows = first if first is not None else rows
        form = form.with_shapes([t.shape[1:] if t.shape.ndims else None for t in flat])
        return Dataset(op("TensorSliceDataset", components=flat, output_shapes=form.flat_shapes, **_named(name)), form)

    @staticmethod
    def range(*args, **kwargs):
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid `args`. The length of `args` should be between 1 and 3 but was %d." % len(args))
        start, stop, step = {1: (0,) + args + (1,), 2: args + (1,), 3: args}[len(args)]
        form = Structure(kwargs.get("output_type", dtypes.int64), [])
        return Dataset(op("RangeDataset", start=_int64(start, "start"), stop=_int64(stop, "stop"),
                          step=_int64(step, "step"), **form.attrs(), **_named(kwargs.get("name"))), form)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        return _Generator(generator, Structure(output_types, output_shapes), args).dataset()

    @staticmethod
    def zip(datasets, name=None):
        flat = structure.flatten(datasets)
        for d in flat:
            if not isinstance(d, Dataset):
                raise TypeError("The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Got %s"
                                % (type(d),))
        form = Structure(structure.map_leaves(lambda d: d.output_types, datasets),
                         structure.map_leaves(lambda d: d.output_shapes, datasets))
        return Dataset(op("ZipDataset", input_datasets=[d._variant_tensor for d in flat], **form.attrs(),
                          **_named(name)), form)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        names = op("MatchingFiles", pattern=_strings(file_pattern, "file_pattern"))
        files = Dataset.from_tensor_slices(names, name)
        if shuffle is None or shuffle:
            from weft._core.ops.array_ops import shape
            count = shape(names, out_type=dtypes.int64)[0]
            from weft._core.ops.math_ops import maximum
            files = files.shuffle(maximum(count, _int64(1, "one")), seed, name=name)
        return files

    # ---- elements made, chosen, put in order ----

    def map(self, map_func, num_parallel_calls=None, deterministic=None, num_threads=None, output_buffer_size=None,
            name=None):
        num_parallel_calls = num_threads if num_parallel_calls is None else num_parallel_calls
        f, form = _traced(map_func, self._form, "Dataset_map")
        given = {"other_arguments": f.captured, "f": f}
        if num_parallel_calls is None:
            made = self._derived("MapDataset", form, **given)
        else:
            made = self._derived("ParallelMapDatasetV2", form, num_parallel_calls=_int64(
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
        if form.flat_types != [dtypes.bool] or not form.flat_shapes[0].is_compatible_with([]):
            raise ValueError("`predicate` return type must be convertible to a scalar boolean tensor, got %s of shape %s"
                             % (form.types, form.shapes))
        return self._derived("FilterDataset", name=name, other_arguments=f.captured, predicate=f)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Elements stacked; the order stays, also with num_parallel_calls."""
        size, drop = _int64(batch_size, "batch_size"), convert_to_tensor(drop_remainder, dtypes.bool,
                                                                        name="drop_remainder")
        rows = constant_value(size) if constant_value(drop) else None
        form = self._form.with_shapes([_rows_of(rows, s) for s in self._form.flat_shapes])
        if num_parallel_calls is None:
            return self._derived("BatchDatasetV2", form, name, batch_size=size, drop_remainder=drop)
        return self._derived("ParallelBatchDataset", form, name, batch_size=size, drop_remainder=drop,
                             num_parallel_calls=_int64(num_parallel_calls, "num_parallel_calls"),
                             deterministic=_order(deterministic))

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        size, drop = _int64(batch_size, "batch_size"), convert_to_tensor(drop_remainder, dtypes.bool,
                                                                        name="drop_remainder")
        shapes = [_padded_shape(s, known) for s, known in zip(
            self._form.flat_shapes if padded_shapes is None else structure.along(self._form.types, padded_shapes),
            self._form.flat_shapes)]
        values = _padding(self._form, padding_values)
        rows = constant_value(size) if constant_value(drop) else None
        form = self._form.with_shapes([_rows_of(rows, s) for _, s in shapes])
        return Dataset(op("PaddedBatchDatasetV2", input_dataset=self._variant_tensor, batch_size=size,
                          padded_shapes=[t for t, _ in shapes], padding_values=values, drop_remainder=drop,
                          output_shapes=form.flat_shapes, **_named(name)), form)

    def unbatch(self, name=None):
        form = self._form.with_shapes([s[1:] if s.ndims else None for s in self._form.flat_shapes])
        return self._derived("UnbatchDataset", form, name=name)

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
        for what, value in (("num_shards", num_shards), ("index", index)):
            known = constant_value(value) if isinstance(value, Tensor) else value
            if known is not None and known < (1 if what == "num_shards" else 0):
                raise ValueError("%s must be >= %d; got %s" % (what, 1 if what == "num_shards" else 0, known))
        if not isinstance(index, Tensor) and not isinstance(num_shards, Tensor) and index >= num_shards:
            raise ValueError("index must be <= num_shards; %s is not < %s" % (index, num_shards))
        return self._derived("ShardDataset", name=name, num_shards=_int64(num_shards, "num_shards"),
                             index=_int64(index, "index"))

    def concatenate(self, dataset, name=None):
        if dataset.output_types != self.output_types:
            raise TypeError("Two datasets to concatenate have different types %s and %s" % (
                self.output_types, dataset.output_types))
        form = self._form.with_shapes([_most_specific(a, b) for a, b in zip(self._form.flat_shapes,
                                                                          dataset._form.flat_shapes)])
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

    def options(self):
        """The settings of with_options, here and further up."""
        return Options() if self._options is None else self._options

    def with_options(self, options, name=None):
        """The same elements, with settings that options() gives."""
        if not isinstance(options, Options):
            raise AttributeError("with_options() takes tf.data.Options, not %r" % (options,))
        return Dataset(self._variant_tensor, self._form, self.options().merge(options))

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Elements side by side: each element of the result is a data set, or a nest of data sets, of `size` elements."""
        inner = [Structure(t, s) for t, s in zip(self._form.flat_types, self._form.flat_shapes)]
        form = Structure(self._form.pack([dtypes.variant] * len(inner)), self._form.pack([[]] * len(inner)), inner)
        return Dataset(op("WindowDataset", name, input_dataset=self._variant_tensor, size=_int64(size, "size"),
                          shift=_int64(size if shift is None else shift, "shift"), stride=_int64(stride, "stride"),
                          drop_remainder=convert_to_tensor(drop_remainder, dtypes.bool, name="drop_remainder"),
                          **form.attrs()), form, self._options)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Elements of one key together, reduced to data sets."""
        from weft._core.data import experimental
        return self.apply(experimental.group_by_window(key_func, reduce_func, window_size, window_size_func))

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False,
                                  name=None):
        """Batches of elements of about the same length."""
        from weft._core.data import experimental
        return self.apply(experimental.bucket_by_sequence_length(
            element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values, pad_to_bucket_boundary,
            no_padding, drop_remainder))

    def ignore_errors(self, log_warning=False, name=None):
        """The elements that can be computed."""
        from weft._core.data import experimental
        return self.apply(experimental.ignore_errors(log_warning))

    def get_single_element(self, name=None):
        """The only element."""
        from weft._core.data import experimental
        return experimental.get_single_element(self)

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """The numbers from start on."""
        from weft._core.data import experimental
        return experimental.Counter(start, step, dtype)

    def cardinality(self):
        """How many elements there are: tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY or a number."""
        return op("DatasetCardinality", input_dataset=self._variant_tensor)

    def unique(self, name=None):
        """The elements that did not come before."""
        for dtype in self._form.flat_types:
            if dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
                raise TypeError("unique() takes elements of tf.int32, tf.int64 or tf.string, not %s" % dtype.name)
        return self._derived("UniqueDataset", name=name)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None):
        """Random numbers without end."""
        from weft._core.data.mixing import RandomDataset
        return RandomDataset(seed, rerandomize_each_iteration)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Elements of several data sets, chosen at random."""
        from weft._core.data import mixing
        return mixing.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of several data sets; a data set of numbers says whose turn it is."""
        from weft._core.data import mixing
        return mixing.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Elements left out at random until their classes have the target distribution."""
        from weft._core.data import mixing
        return self.apply(mixing.rejection_resample(class_func, target_dist, initial_dist, seed))

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """The rows of batches in batches of another size."""
        return self.unbatch().batch(batch_size, drop_remainder)

    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None):
        """As map."""
        return self.map(map_func, num_parallel_calls, deterministic)

    def filter_with_legacy_function(self, predicate):
        """As filter."""
        return self.filter(predicate)

    def reduce(self, initial_state, reduce_func, name=None):
        first, form = structure.tensors(initial_state, "initial_state_%d")
        n = len(first)

        def body(*args):
            element = self._form.pack(args[n:])
            flat, made = structure.tensors(reduce_func(form.pack(args[:n]), element))
            if made.flat_types != form.flat_types:
                raise TypeError("The element types for the new state must match the initial state. Expected %s; got %s"
                                % (form.types, made.types))
            return flat, made
        f, made = trace(body, form.flat_types + self._form.flat_types,
                        [None] * n + self._form.flat_shapes, "Dataset_reduce")
        out = op("ReduceDataset", input_dataset=self._variant_tensor, initial_state=first, other_arguments=f.captured,
                 f=f, **made.attrs())
        return form.pack(out)

    def scan(self, initial_state, scan_func, name=None):
        first, form = structure.tensors(initial_state, "initial_state_%d")
        n = len(first)

        def body(*args):
            made = scan_func(form.pack(args[:n]), self._form.pack(args[n:]))
            if not isinstance(made, tuple) or len(made) != 2:
                raise TypeError("The scan function must return a pair comprising the new state and the output value.")
            state, _ = structure.tensors(made[0])
            flat, out = structure.tensors(made[1])
            return state + flat, out
        f, out = trace(body, form.flat_types + self._form.flat_types, form.flat_shapes + self._form.flat_shapes,
                       "Dataset_scan")
        return self._derived("ScanDataset", out, name=name, initial_state=first, other_arguments=f.captured, f=f,
                             preserve_cardinality=True)

    def take_while(self, predicate, name=None):
        f, _ = _traced(predicate, self._form, "Dataset_take_while")
        return self._derived("TakeWhileDataset", name=name, other_arguments=f.captured, predicate=f)

    # ---- iterators ----

    def make_one_shot_iterator(self):
        _check_one_shot(self._variant_tensor)
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
    """A data set that reads what the program feeds or trains cannot be made again by a function."""
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


def _rows_of(rows, shape):
    first = tensor_shape.TensorShape([None if rows is None else int(rows)])
    return None if shape.ndims is None else first.concatenate(shape)


def _most_specific(a, b):
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return None
    return [x if x == y else None for x, y in zip(a.as_list(), b.as_list())]


def _padded_shape(given, known):
    """A padded shape as a tensor, and as far as it is known."""
    if isinstance(given, Tensor):
        value = constant_value(given)
        dims = None if value is None else [None if d < 0 else int(d) for d in value]
        if dims is None and known.ndims is not None:
            dims = [None] * known.ndims
        return given, tensor_shape.TensorShape(dims)
    shape = tensor_shape.as_shape([None if d in (-1, None) else d for d in given] if isinstance(given, (list, tuple))
                                  else given)
    if shape.ndims is None:
        raise ValueError("You must provide `padded_shapes` for elements of unknown rank")
    return convert_to_tensor([-1 if d is None else d for d in shape.as_list()], dtypes.int64), shape


def _padding(form, given):
    if given is None:
        given = form.pack([None] * len(form.flat_types))
    elif not isinstance(given, (tuple, dict)) and len(form.flat_types) > 1:
        given = form.pack([given] * len(form.flat_types))
    out = []
    for value, dtype in zip(structure.along(form.types, given), form.flat_types):
        if value is None:
            value = b"" if dtype == dtypes.string else np.zeros([], dtype.as_numpy_dtype)
        out.append(convert_to_tensor(value, dtype, name="padding_value"))
    return out


# ---- generators of the program ----

class _Generator:
    """The three functions of a GeneratorDataset: begin, next, end.  Python keeps the generators by number."""

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
        flat = structure.along(self.form.types, value)
        out = []
        for v, dtype, shape in zip(flat, self.form.flat_types, self.form.flat_shapes):
            try:
                array = np.asarray(v, dtype=object if dtype == dtypes.string else dtype.as_numpy_dtype)
            except (TypeError, ValueError):
                raise TypeError("`generator` yielded an element that could not be converted to the expected type. The "
                                "expected type was %s, but the yielded element was %s." % (dtype.name, v)) from None
            if not shape.is_compatible_with(array.shape):
                raise ValueError("`generator` yielded an element of shape %s where an element of shape %s was expected."
                                 % (array.shape, shape))
            out.append(array)
        return out

    def end(self, number):
        with self.lock:
            made = self.running.pop(int(number), None)
        if hasattr(made, "close"):
            made.close()
        return np.int64(0)

    def dataset(self):
        from weft._core.ops.script_ops import py_func
        number = ([dtypes.int64], [tensor_shape.TensorShape([])])

        def first():
            made = py_func(self.begin, self.args, dtypes.int64)
            made.set_shape([])
            return [made], None

        def following(i):
            made = py_func(self.next, [i], self.form.flat_types)
            for t, shape in zip(made, self.form.flat_shapes):
                t.set_shape(shape)
            return made, None
        init, _ = trace(first, [], [], "generator_begin")
        step, _ = trace(following, *number, "generator_next")
        last, _ = trace(lambda i: ([py_func(self.end, [i], dtypes.int64)], None), *number, "generator_end")
        return Dataset(op("GeneratorDataset", init_func_other_args=init.captured, next_func_other_args=step.captured,
                          finalize_func_other_args=last.captured, init_func=init, next_func=step, finalize_func=last,
                          **self.form.attrs()), self.form)


# ---- files ----

def _read(filenames, make, num_parallel_reads=None):
    """One data set over all files, or some files in turns."""
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
    """Where a program is in a data set."""

    def __init__(self, iterator_resource, initializer, form):
        self._iterator_resource, self._initializer, self._form = iterator_resource, initializer, form
        self._string_handle = None

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        form = Structure(output_types, output_shapes)
        return Iterator(op("IteratorV2", container="", shared_name=shared_name or "", **form.attrs()), None, form)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        form = Structure(output_types, output_shapes)
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
        if dataset.output_types != self.output_types:
            raise TypeError("Expected output types %r but got dataset with output types %r." % (
                self.output_types, dataset.output_types))
        for mine, theirs in zip(self._form.flat_shapes, dataset._form.flat_shapes):
            if not mine.is_compatible_with(theirs):
                raise TypeError("Expected output shapes compatible with %r but got dataset with output shapes %r." % (
                    self.output_shapes, dataset.output_shapes))
        with self._iterator_resource.graph.colocate_with(self._iterator_resource.op):
            return add_op("MakeIterator", name, dataset=dataset._variant_tensor, iterator=self._iterator_resource)

    def get_next(self, name=None):
        made = op("IteratorGetNext", name, iterator=self._iterator_resource, **self._form.attrs())
        return self._form.pack(made)

    def string_handle(self, name=None):
        if self._string_handle is None or name is not None:
            self._string_handle = op("IteratorToStringHandle", name, resource_handle=self._iterator_resource)
        return self._string_handle

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
