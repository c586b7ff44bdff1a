"""Readers of time series, and the input functions that cut windows out of them.

A reader gives a data set of records, each with a time (int64) and a vector of values.  Training takes windows of records
that follow each other; evaluation takes the whole series as one batch of one window.
"""
import numpy as np

import weft as tf
from weft._core.contrib.timeseries.keys import PredictionFeatures, TrainEvalFeatures
from weft._core.framework.absent import Named

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesReader(metaclass=Named):
    """The base of readers: `records` gives the series once, in order."""

    def records(self):
        """Returns a data set of dicts: a time, a vector of values, and numbers or text for other features."""
        raise NotImplementedError("a reader of time series defines records()")

    def read_full(self):
        """Returns the whole series as a dict of tensors whose first dimension is time."""
        count = self.records().reduce(tf.constant(0, tf.int64), lambda n, _: n + 1)
        return tf.data.experimental.get_single_element(self.records().batch(count))


class CSVReader(TimeSeriesReader):
    """Reads a series from files of comma-separated values.

    Args:
      filenames: a file, or a list of files that are read one after the other.
      column_names: what each column is: 'times', 'values' (once for each variable), or the name of another feature.
      column_dtypes: the type of each column; by default int64 for times and float32 for everything else.
      skip_header_lines: how many lines of each file to skip.
      read_num_records_hint: how many records to parse at a time.
    """

    def __init__(self, filenames, column_names=(_TIMES, _VALUES), column_dtypes=None, skip_header_lines=None,
                 read_num_records_hint=4096):
        for needed in (_TIMES, _VALUES):
            if needed not in column_names:
                raise ValueError("column_names %s have no %r, which a time series needs" % (tuple(column_names), needed))
        if column_names.count(_TIMES) != 1:
            raise ValueError("column_names %s have more than one %r" % (tuple(column_names), _TIMES))
        if column_dtypes is None:
            column_dtypes = [tf.int64 if name == _TIMES else tf.float32 for name in column_names]
        if len(column_dtypes) != len(column_names):
            raise ValueError("%d column_dtypes are given for %d column_names" % (len(column_dtypes), len(column_names)))
        self._files = [filenames] if isinstance(filenames, str) else list(filenames)
        self._names, self._kinds = list(column_names), [tf.as_dtype(d) for d in column_dtypes]
        self._skip, self._hint = skip_header_lines or 0, read_num_records_hint

    def _parsed(self, lines):
        fields = tf.decode_csv(lines, [[kind.as_numpy_dtype()] if kind != tf.string else [""] for kind in self._kinds])
        made = {}
        for name, field in zip(self._names, fields):
            made.setdefault(name, []).append(field)
        values = tf.stack([tf.cast(v, self._kinds[self._names.index(_VALUES)]) for v in made[_VALUES]], axis=1)
        return {name: values if name == _VALUES else parts[0] if len(parts) == 1 else tf.stack(parts, axis=1)
                for name, parts in made.items()}

    def records(self):
        files = tf.data.Dataset.from_tensor_slices(self._files)
        lines = files.flat_map(lambda file: tf.data.TextLineDataset(file).skip(self._skip))
        return lines.batch(self._hint).map(self._parsed).apply(tf.data.experimental.unbatch())


class NumpyReader(TimeSeriesReader):
    """Reads a series from arrays.

    Args:
      data: a dict with 'times' (a vector of whole numbers), 'values' (a vector, or a row for each time) and other features.
      read_num_records_hint: how many records to read at a time.
    """

    def __init__(self, data, read_num_records_hint=4096):
        times, values = np.asarray(data[_TIMES], np.int64), np.asarray(data[_VALUES])
        if times.ndim != 1 or values.ndim not in (1, 2) or len(times) != len(values):
            raise ValueError("data needs a vector of times and as many values, got the shapes %s and %s" % (times.shape, values.shape))
        self._data = {name: np.asarray(column) for name, column in data.items()}
        self._data.update({_TIMES: times, _VALUES: values.reshape(len(times), -1)})
        self._hint = read_num_records_hint

    def records(self):
        return tf.data.Dataset.from_tensor_slices(self._data).prefetch(self._hint)


def _in_order(times):
    return tf.reduce_all(times[1:] >= times[:-1])


class RandomWindowInputFn(metaclass=Named):
    """Makes batches of windows of consecutive records, in random order and without end.

    Args:
      time_series_reader: the reader.
      window_size: how many records a window has.
      batch_size: how many windows a batch has.
      queue_capacity_multiplier: how many batches of windows are shuffled at most.
      shuffle_min_after_dequeue_multiplier: how many batches of windows are shuffled at least.
      discard_out_of_order: drops a window in which a time is less than the one before it, as where the series starts anew.
      discard_consecutive_batches_limit: how many windows may be dropped in a row.
      jitter: skips a random number of records before each window, so that the windows are not the same ones each time.
      num_threads: how many threads cut windows.
      shuffle_seed: a seed for the order of the windows.
    """

    def __init__(self, time_series_reader, window_size, batch_size, queue_capacity_multiplier=1000,
                 shuffle_min_after_dequeue_multiplier=2, discard_out_of_order=True, discard_consecutive_batches_limit=1000,
                 jitter=True, num_threads=2, shuffle_seed=None):
        self._reader, self._window, self._batch = time_series_reader, window_size, batch_size
        self._capacity = min(queue_capacity_multiplier, max(shuffle_min_after_dequeue_multiplier, 1) * 16) * batch_size
        self._discard, self._limit = discard_out_of_order, discard_consecutive_batches_limit
        self._jitter, self._threads, self._seed = jitter, num_threads, shuffle_seed

    def _cut(self, records):
        """Returns a window of twice as many records, at a random place."""
        if not self._jitter:
            return records
        start = tf.random_uniform([], 0, self._window + 1, tf.int64, seed=self._seed)
        return {name: tf.reshape(column[start:start + self._window], tf.concat([[self._window], tf.shape(column)[1:]], 0))
                for name, column in records.items()}

    def _judged(self, dropped, window):
        """Counts the windows that were dropped in a row."""
        fine = _in_order(window[_TIMES])
        dropped = tf.where(fine, 0, dropped + 1)
        check = tf.Assert(dropped < self._limit, [
            "%d windows of %d records were dropped because their times were out of order: give times in order, or a smaller "
            "window_size" % (self._limit, self._window)])
        with tf.control_dependencies([check]):
            return tf.identity(dropped), (fine, window)

    def create_batch(self):
        """Returns (features, None) for an Estimator."""
        records = self._reader.records().repeat().batch((2 if self._jitter else 1) * self._window, drop_remainder=True)
        windows = records.map(self._cut, num_parallel_calls=self._threads)
        if self._discard:
            judged = windows.apply(tf.data.experimental.scan(tf.constant(0), self._judged))
            windows = judged.filter(lambda fine, window: fine).map(lambda fine, window: window)
        windows = windows.shuffle(self._capacity, seed=self._seed).batch(self._batch, drop_remainder=True)
        return tf.data.make_one_shot_iterator(windows).get_next(), None

    def __call__(self):
        return self.create_batch()


class WholeDatasetInputFn(metaclass=Named):
    """Makes one window of the whole series, again and again: evaluate with steps=1.

    Args:
      time_series_reader: the reader.
    """

    def __init__(self, time_series_reader):
        self._reader = time_series_reader

    def __call__(self):
        return {name: tf.expand_dims(column, 0) for name, column in self._reader.read_full().items()}, None


def _continued(last, steps, times):
    """Returns the times to predict, one row for each series."""
    if (steps is None) == (times is None):
        raise ValueError("give either steps or times to predict_continuation_input_fn, got steps=%s and times=%s" % (steps, times))
    if times is not None:
        times = np.asarray(times, np.int64)
        return times[None] if times.ndim == 1 else times
    return last[:, None] + 1 + np.arange(steps)[None]


def predict_continuation_input_fn(evaluation, steps=None, times=None, exogenous_features=None):
    """Returns an input function that predicts what follows an evaluated series.

    Args:
      evaluation: what the evaluate method of a model of time series returned.
      steps: how many steps after the last time to predict; give this or times.
      times: the times to predict: a vector, or a row for each series.
      exogenous_features: features of the times to predict, a dict of arrays [series, times, ...].
    """
    times = _continued(np.asarray(evaluation["times"])[:, -1], steps, times)
    features = {PredictionFeatures.TIMES: times, **{k: np.asarray(v) for k, v in (exogenous_features or {}).items()}}

    def input_fn():
        made = {name: tf.convert_to_tensor(column) for name, column in features.items()}
        made[PredictionFeatures.STATE_TUPLE] = tuple(tf.convert_to_tensor(part) for part in evaluation["start_tuple"])
        return tf.data.Dataset.from_tensors(made)
    return input_fn
