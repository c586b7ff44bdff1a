"""tf.data: mixes the elements of several data sets, resamples them, and reduces them by key."""
from weft._core.data import structure
from weft._core.data.dataset import Dataset, _int64, _named, _traced
from weft._core.data.structure import Structure
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.function import trace
from weft._core.ops.random_ops import seeds

INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2
_NUMBER = Structure(dtypes.int64, [])


def cardinality(dataset):
    """Returns the number of elements of a data set, or one of the negative tf.data.INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY.
    """
    return dataset.cardinality()


def assert_cardinality(expected_cardinality):
    """Returns a transformation that raises an error if there are more or fewer elements."""
    return lambda dataset: dataset._derived("AssertCardinalityDataset", cardinality=_int64(
        expected_cardinality, "expected_cardinality"))


def unique():
    """Returns a transformation that removes repeated elements."""
    return lambda dataset: dataset.unique()


class RandomDataset(Dataset):
    """Random numbers from 0 to 2**32 - 1, without end."""

    def __init__(self, seed=None, rerandomize_each_iteration=None, name=None):
        if rerandomize_each_iteration:
            raise NotImplementedError("RandomDataset(rerandomize_each_iteration=True) is not in Weft: TensorFlow has it "
                                      "in eager mode only")
        first, second = seeds(seed)
        super().__init__(op("RandomDataset", seed=_int64(first, "seed"), seed2=_int64(second, "seed2"),
                            **_NUMBER.attrs(), **_named(name)), _NUMBER)


# ---- several data sets ----

def _same_structure(datasets):
    """Returns the common structure of the elements; raises TensorFlow's error if there is none."""
    form = datasets[0]._form
    for i, d in enumerate(datasets):
        merged = form.merged(d._form)
        if merged is None:
            raise TypeError("Invalid `datasets`. `datasets` must have compatible element specs.\n Dataset 0 "
                            "element_spec=%s.\nDataset %d element_spec=%s." % (
                                datasets[0].element_spec, i, d.element_spec))
        form = merged
    return form


def _directed(selector, datasets, stop_on_empty_dataset):
    form = _same_structure(datasets)
    made = op("DirectedInterleaveDataset", selector_input_dataset=selector._variant_tensor,
              data_input_datasets=[d._variant_tensor for d in datasets], stop_on_empty_dataset=stop_on_empty_dataset,
              **form.attrs())
    return Dataset(made, form)


def _draw(logits, seed):
    """Returns the number of a data set, drawn with a seed from a data set of random numbers."""
    made = op("StatelessMultinomial", logits=logits, num_samples=convert_to_tensor(1), seed=seed,
              output_dtype=dtypes.int64)
    return op("Squeeze", input=made, squeeze_dims=[0, 1])


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                         rerandomize_each_iteration=None):
    """Returns elements of several data sets, chosen at random.

    Args:
      datasets: a list of data sets whose elements have the same types.
      weights: how likely each is chosen: a list, a tensor, or a data set of such lists; None: alike.
      seed: an op's seed, as tf.set_random_seed explains.
      stop_on_empty_dataset: whether to end when a chosen data set has no more elements.
      rerandomize_each_iteration: eager mode only.
    """
    from weft._core.ops.math_ops import log
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    numbers = RandomDataset(seed, rerandomize_each_iteration).batch(2)
    if isinstance(weights, Dataset):
        logits = weights.map(lambda *p: log(p[0] if len(p) == 1 else p, name="logits"))
        selector = Dataset.zip((logits, numbers)).map(lambda each, drawn: _draw(op(
            "ExpandDims", input=each, dim=convert_to_tensor(0)), drawn))
        return _directed(selector, datasets, stop_on_empty_dataset)
    if weights is None:
        row = convert_to_tensor([[1.0] * len(datasets)], name="logits")
    else:
        weights = convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError("Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is %s."
                            % weights.dtype)
        count = weights.shape[0].value if weights.shape.ndims else None
        if count is not None and count != len(datasets):
            raise ValueError("Invalid `weights`. `weights` should have the same length as `datasets` but got "
                             "`len(weights)=%d` vs. `len(datasets)=%d`." % (count, len(datasets)))
        row = op("ExpandDims", input=log(weights, name="logits"), dim=convert_to_tensor(0))
    if len(datasets) == 1:
        return datasets[0]
    return _directed(numbers.map(lambda drawn: _draw(row, drawn)), datasets, stop_on_empty_dataset)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Returns elements of several data sets; choice_dataset yields the number of the next one as an int64 scalar."""
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if choice_dataset._form.flat_types != [dtypes.int64] or choice_dataset.output_types != dtypes.int64 \
            or not choice_dataset._form.flat_shapes[0].is_compatible_with([]):
        raise TypeError("Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                        "%s." % (choice_dataset.element_spec,))
    return _directed(choice_dataset, datasets, stop_on_empty_dataset)


# ---- resampling ----

def _acceptance(initial, target):
    """Returns the probabilities to keep an element of each class, and to take one without regard to its class."""
    from weft._core.ops.math_ops import reduce_max, reduce_min
    ratio = target / (initial + 1.1754943508222875e-38)
    least = reduce_min(ratio)
    return (ratio - least) / (reduce_max(ratio) - least), least


def _distribution_of(classes, n, dtype):
    """Returns a data set of distributions, each estimated from the classes seen so far."""
    from weft._core.ops.array_ops import one_hot
    from weft._core.ops.math_ops import cast, reduce_sum
    first = convert_to_tensor([1] * n, dtypes.int64, name="initial_example_counts")

    def count(seen, label):
        seen = seen + one_hot(label, n, dtype=dtypes.int64)
        return seen, cast(cast(seen, dtypes.float32) / cast(reduce_sum(seen), dtypes.float32), dtype)
    return classes.scan(first, count)


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """Drops elements at random so that their classes have the target distribution; the results are (class, element).

    Args:
      class_func: makes the class of an element, an int32.
      target_dist: how often each class should come.
      initial_dist: how often each class comes; estimated when it is not given.
      seed: an op's seed.
    """
    from weft._core.ops.array_ops import gather
    from weft._core.ops.math_ops import cast, log
    from weft._core.ops.random_ops import random_uniform

    def apply(dataset):
        target = convert_to_tensor(target_dist, name="target_dist")
        n = target.shape[0].value
        classes = dataset.map(lambda *e: cast(class_func(*e), dtypes.int32))
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            kept, least = _acceptance(initial, target)
            kept, least = Dataset.from_tensors(kept).repeat(), Dataset.from_tensors(least).repeat()
        else:
            both = _distribution_of(classes, n, target.dtype).map(lambda initial: _acceptance(initial, target))
            kept, least = both.map(lambda k, _: k), both.map(lambda _, m: m)

        def pair(probabilities, label, element):
            return label, gather(probabilities, label), element

        def is_kept(label, probability, element):
            return random_uniform([], seed=seed, dtype=probability.dtype) < probability
        labeled = Dataset.zip((classes, dataset))
        chosen = Dataset.zip((kept, labeled)).map(lambda p, both: pair(p, *both)).filter(is_kept)
        chosen = chosen.map(lambda label, _, element: (label, element)).prefetch(3)
        unchanged = labeled
        turns = least.map(lambda m: op("Pack", values=[log(op("Pack", values=[m, 1 - m]))]))
        numbers = RandomDataset(seed).batch(2)
        selector = Dataset.zip((turns, numbers)).map(_draw)
        return _directed(selector, [unchanged, chosen], True)
    return apply


# ---- reducing by key ----

class Reducer(metaclass=Named):
    """Holds three functions: key to state, (state, element) to state, and state to result."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    @property
    def init_func(self):
        return self._init_func

    @property
    def reduce_func(self):
        return self._reduce_func

    @property
    def finalize_func(self):
        return self._finalize_func


def group_by_reducer(key_func, reducer):
    """Reduces all elements with the same key, an int64 that key_func returns, to one result of the reducer."""
    def apply(dataset):
        key, made = _traced(key_func, dataset._form, "group_by_reducer_key")
        if made.flat_types != [dtypes.int64] or not made.flat_shapes[0].is_compatible_with([]):
            raise ValueError("Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but instead "
                             "`key_func` has return type %s and shape %s." % (made.types, made.shapes))
        first, state = _traced(reducer.init_func, _NUMBER, "group_by_reducer_init")
        n = len(state.flat_types)

        def make(state):
            return trace(lambda *args: structure.tensors(reducer.reduce_func(state.pack(args[:n]), dataset._form.pack(args[n:]))),
                         state.flat_types + dataset._form.flat_types, state.flat_shapes + dataset._form.flat_shapes,
                         "group_by_reducer_reduce")
        step, state = structure.settled(state, make, "Invalid `reducer`. The output %s of `reducer.reduce_func()` should match "
                                        "those of the state. Expected %s, got %s.")
        last, form = _traced(reducer.finalize_func, state, "group_by_reducer_finalize")
        return dataset._derived(
            "ExperimentalGroupByReducerDataset", form, key_func=key, init_func=first, reduce_func=step, finalize_func=last,
            key_func_other_arguments=key.captured, init_func_other_arguments=first.captured,
            reduce_func_other_arguments=step.captured, finalize_func_other_arguments=last.captured)
    return apply
