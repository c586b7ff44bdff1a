"""The loops over batches of arrays, tensors and data sets."""
import inspect

import numpy as np

import weft as tf
from weft._core.keras import backend as K, callbacks as callbacks_module, training_data
from weft._core.keras.generators import Sequence
from weft._core.platform import logging


def is_dataset(x):
    return isinstance(x, tf.data.Dataset)


def is_iterator(x):
    return isinstance(x, tf.data.Iterator)


def is_generator(x):
    """Returns a generator, a Sequence, or another object that yields batches."""
    if is_dataset(x) or is_iterator(x):
        return False
    return inspect.isgenerator(x) or isinstance(x, Sequence) or (hasattr(x, "__next__") and not isinstance(x, (np.ndarray, tf.Tensor)))


class Feed:
    """The data of a loop: arrays that are cut into batches, or tensors that every step computes."""

    def __init__(self, model, x, y=None, sample_weight=None, class_weight=None, batch_size=None, steps=None, predicting=False):
        self.model, self.steps, self.dataset, self.initializer, self.sized = model, steps, is_dataset(x) or is_iterator(x), None, None
        if self.dataset:
            if y is not None:
                raise ValueError("You passed a dataset or dataset iterator (%s) as input `x` to your model. In that case, you should not "
                                 "specify a target (`y`) argument, since the dataset or dataset iterator generates both input data and "
                                 "target data. Received: %s" % (x, y))
            if batch_size is not None:
                raise ValueError("The `batch_size` argument must not be specified for the given input type. Received input: %s, "
                                 "batch_size: %s" % (x, batch_size))
            if sample_weight is not None:
                raise ValueError("`sample_weight` argument is not supported when input `x` is a dataset or a dataset iterator.")
            self._count(x)
            x, y, sample_weight = self._elements(x)
        if y is None and not predicting and not self.dataset and model._training_state.endpoints and any(
                e.feed_target for e in model._training_state.endpoints):
            raise ValueError("You must provide `y` to train or evaluate a model whose outputs have losses.")
        found = model._standardized(x, None if predicting else y, sample_weight, class_weight, check=steps is None)
        self.inputs, self.targets, self.weights = found if not predicting else (found[0], [], [])
        self.values = self.inputs + self.targets + self.weights
        arrays = [v for v in self.values if isinstance(v, np.ndarray) or isinstance(v, tf.SparseTensorValue)]
        self.samples = _length(arrays[0]) if arrays and steps is None else None
        if self.samples is None and self.steps is None:
            if not any(isinstance(v, (tf.Tensor, tf.Variable)) for v in self.values) and self.values:
                raise ValueError("The data has no examples: %s" % (self.values,))
            if not self.dataset and self.values:
                raise ValueError("When passing input data as tensors, you must specify the `steps_per_epoch` or `steps` argument.")
        self.batch_size = self._chosen_size(batch_size) if self.samples is not None else batch_size

    def _chosen_size(self, given):
        """Returns the size of batches: the given one, that of the input layer, or 32.

        Raises an error if a stateful layer needs another.

        Refuses what a layer with states could not take.
        """
        fixed = next((t.shape.as_list()[0] for t in getattr(self.model, "inputs", None) or () if t.shape.ndims), None)
        if given and fixed is not None and fixed != given:
            raise ValueError("The `batch_size` argument value %s is incompatible with the specified batch size of your Input Layer: %s"
                             % (given, fixed))
        size = given or fixed or 32
        if self.model.stateful and self.samples % size:
            raise ValueError("In a stateful network, you should only pass inputs with a number of samples that can be divided by the batch "
                             "size. Found: %s samples" % self.samples)
        return size

    def _count(self, dataset):
        """Returns the number of batches of a data set, if it can be known."""
        if self.steps is not None or not is_dataset(dataset):
            return
        count = _cardinality(dataset)
        if count == -1:
            raise ValueError("When passing an infinitely repeating dataset, you must specify the `steps_per_epoch` argument.")
        self.steps = count if count >= 0 else None

    def _elements(self, dataset):
        """Returns (x, y, weights) as tensors of the next element."""
        iterator = dataset
        if is_dataset(dataset):
            iterator = tf.data.make_initializable_iterator(dataset)
            self.initializer = iterator.initializer
        found = iterator.get_next()
        if not isinstance(found, tuple):
            return found, None, None
        if len(found) > 3:
            raise ValueError("Please provide model inputs as a list or tuple of 2 or 3 elements: (input, target) or (input, target, "
                             "sample_weights) Received %s" % (found,))
        return (*[list(x) if isinstance(x, tuple) else x for x in found], *[None] * (3 - len(found)))

    def start(self):
        """Restarts a data set."""
        if self.initializer is not None:
            K.get_session().run(self.initializer)

    def batches(self, index):
        """Yields (values, first, past the last) of each batch, in the order of an index of the examples."""
        for start in range(0, self.samples, self.batch_size):
            end = min(self.samples, start + self.batch_size)
            yield training_data.sliced(self.values, index[start:end]), start, end


def _length(value):
    return value.shape[0] if isinstance(value, np.ndarray) else int(value.dense_shape[0])


def _cardinality(dataset):
    """Returns the number of elements; -1 if there is no end, -2 if it is not known."""
    try:
        return int(K.get_session().run(tf.data.experimental.cardinality(dataset)))
    except (AttributeError, NotImplementedError):
        return -2


class _Sums:
    """The loss averaged over a loop, and the last values of metrics."""

    def __init__(self):
        self.results, self.seen = None, 0

    def add(self, found, count):
        if self.results is None:
            self.results = [0.0] * len(found)
        self.results[0] += found[0] * count
        self.results[1:] = found[1:]
        self.seen += count

    def finish(self):
        if self.results is not None and self.seen:
            self.results[0] /= self.seen
        return self.results or []


class _Rows:
    """The outputs of batches, one after the other."""

    def __init__(self):
        self.parts = None

    def add(self, found, count):
        if self.parts is None:
            self.parts = [[] for _ in found]
        for part, value in zip(self.parts, found):
            part.append(value)

    def finish(self):
        return [np.concatenate(part, axis=0) for part in self.parts or []]


def run(model, mode, feed, function, callbacks, shuffle=False, epoch_logs=None):
    """Returns one pass over the data; returns what its batches gave together."""
    collected, training = _Rows() if mode == "predict" else _Sums(), mode == "train"
    if feed.samples is None:
        _run_steps(model, mode, feed, function, callbacks, collected, training)
        return collected.finish()
    index = np.arange(feed.samples)
    if shuffle == "batch":
        index = _shuffled_batches(index, feed.batch_size)
    elif shuffle:
        np.random.shuffle(index)
    for number, (values, start, end) in enumerate(feed.batches(index)):
        logs = {"batch": number, "size": end - start}
        getattr(callbacks, "on_%s_batch_begin" % mode)(number, logs)
        found = function(model._phased(values, training))
        collected.add(found, end - start)
        getattr(callbacks, "on_%s_batch_end" % mode)(number, _logged(model, logs, found, mode))
        if callbacks.model.stop_training and training:
            break
    return collected.finish()


def _run_steps(model, mode, feed, function, callbacks, collected, training):
    number = 0
    while feed.steps is None or number < feed.steps:
        logs = {"batch": number, "size": 1}
        getattr(callbacks, "on_%s_batch_begin" % mode)(number, logs)
        try:
            found = function(model._phased(feed.values, training))
        except tf.errors.OutOfRangeError:
            if feed.steps is not None:
                logging.warning("Your dataset iterator ran out of data; interrupting training. Make sure that your dataset can generate at "
                                "least `%s` batches (in this case, %d batches). You may need to use the repeat() function when building "
                                "your dataset.", "steps_per_epoch * epochs" if training else "steps", feed.steps)
                callbacks.model.stop_training = callbacks.model.stop_training or training
            elif number == 0:
                raise
            break
        collected.add(found, 1)
        getattr(callbacks, "on_%s_batch_end" % mode)(number, _logged(model, logs, found, mode))
        number += 1
        if callbacks.model.stop_training and training:
            break


def _shuffled_batches(index, size):
    """Returns whole batches in a random order; remaining examples stay at the end."""
    count = int(len(index) / size)
    rest = index[count * size:]
    index = index[:count * size].reshape((count, size))
    np.random.shuffle(index)
    return np.append(index.flatten(), rest)


def _logged(model, logs, found, mode):
    if mode == "predict":
        logs["outputs"] = found
        return logs
    logs.update(zip(model.metrics_names, found))
    return logs


def validation_of(model, data, batch_size, steps):
    """Returns the Feed of validation data: a tuple of arrays, a data set or an iterator."""
    if is_dataset(data) or is_iterator(data):
        return Feed(model, data, steps=steps)
    if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
        raise ValueError("When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items (x_val, "
                         "y_val, val_sample_weights), or alternatively it could be a dataset or a dataset or a dataset iterator. However "
                         "we received `validation_data=%s`" % (data,))
    return Feed(model, data[0], data[1], data[2] if len(data) == 3 else None, batch_size=batch_size, steps=steps)


def _split_off(model, feed, fraction, batch_size):
    """Returns a Feed of the last part of another's arrays, which are cut."""
    if feed.samples is None:
        raise ValueError("`validation_split` is only supported for arrays; got tensors or a data set. Give validation_data.")
    kept, rest = training_data.split(feed.values, fraction)
    other = Feed.__new__(Feed)
    other.__dict__.update(feed.__dict__, values=rest, samples=_length(next(v for v in rest if v is not None)))
    feed.values, feed.samples = kept, _length(next(v for v in kept if v is not None))
    return other


def wanted(frequency, epoch):
    """Returns whether an epoch, from 1, ends with validation."""
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return epoch % frequency == 0
    return epoch in frequency


def fit(model, x, y, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle, class_weight, sample_weight,
        initial_epoch, steps_per_epoch, validation_steps, validation_freq):
    given = (model, x, y, sample_weight, class_weight, batch_size, steps_per_epoch)
    feed, check = Feed(*given), None
    if validation_data is not None:
        check = validation_of(model, validation_data, batch_size, validation_steps)
        if len(check.weights) > len(feed.weights):  # Outputs that only the validation weighs need weights of one in training.
            feed = Feed(*given)
    elif validation_split and 0.0 < validation_split < 1.0:
        check = _split_off(model, feed, validation_split, batch_size)
    function = model._make_train_function()
    if verbose:
        said = "Train on %s %s" % (feed.samples or feed.steps, "steps" if feed.dataset else "samples")
        if check is not None and (check.samples or check.steps):
            said += ", validate on %s %s" % (check.samples or check.steps, "steps" if feed.dataset else "samples")
        print(said)
    count_mode = "samples" if feed.samples is not None else "steps"
    calls = callbacks_module.configure(callbacks, model, check is not None, feed.batch_size, epochs, feed.steps, feed.samples, verbose,
                                       count_mode)
    model.stop_training = False
    calls.on_train_begin({})
    for epoch in range(initial_epoch, epochs):
        if model.stop_training:
            break
        model.reset_metrics()
        logs = {}
        calls.on_epoch_begin(epoch, logs)
        if epoch == initial_epoch or steps_per_epoch is None:
            feed.start()
        found = run(model, "train", feed, function, calls, shuffle)
        logs.update(zip(model.metrics_names, found))
        if check is not None and wanted(validation_freq, epoch + 1) and not model.stop_training:
            if check.samples is not None:  # Keras draws an order for the validation data too
                np.random.shuffle(np.arange(check.samples))
            found = tested(model, check, calls)
            logs.update(("val_" + n, v) for n, v in zip(model.metrics_names, found))
        calls.on_epoch_end(epoch, logs)
    calls.on_train_end({})
    return model.history


def tested(model, feed, calls):
    """Returns the loss and the metrics of data, with the callbacks of a test."""
    function = model._make_test_function()
    model.reset_metrics()
    feed.start()
    calls.on_test_begin({})
    found = run(model, "test", feed, function, calls)
    calls.on_test_end({})
    return found


def evaluate(model, x, y, batch_size, verbose, sample_weight, steps, callbacks):
    feed = Feed(model, x, y, sample_weight, None, batch_size, steps)
    calls = callbacks_module.configure(callbacks, model, False, feed.batch_size, 1, feed.steps, feed.samples, verbose, "samples", False)
    found = tested(model, feed, calls)
    return found[0] if len(found) == 1 else found


def predict(model, x, batch_size, verbose, steps, callbacks):
    feed = Feed(model, x, batch_size=batch_size, steps=steps, predicting=True)
    calls = callbacks_module.configure(callbacks, model, False, feed.batch_size, 1, feed.steps, feed.samples, verbose, "samples", False)
    function = model._make_predict_function()
    feed.start()
    calls.on_predict_begin({})
    found = run(model, "predict", feed, function, calls)
    calls.on_predict_end({})
    return found[0] if len(found) == 1 else found
