"""tf.contrib.slim's data sets: records that readers read in parallel, and decoders that convert them to named items."""
import abc

from weft._core.files import summary
from weft._core.files.gfile import Glob
from weft._core.framework import dtypes as types
from weft._core.framework.absent import Named
from weft._core.framework.graph import name_scope
from weft._core.ops.control_flow import group
from weft._core.ops.data_flow import FIFOQueue, RandomShuffleQueue
from weft._core.ops.io_ops import ReaderBase
from weft._core.ops.math_ops import add_n, cast
from weft._core.train.coordinator import QueueRunner, add_queue_runner
from weft._core.train.input import string_input_producer


class Dataset(metaclass=Named):
    """Describes where the records of a data set are, and how to read and decode them.

    Further keywords become attributes.
    """

    def __init__(self, data_sources, reader, decoder, num_samples, items_to_descriptions, **kwargs):
        kwargs.update(data_sources=data_sources, reader=reader, decoder=decoder, num_samples=num_samples,
                      items_to_descriptions=items_to_descriptions)
        self.__dict__.update(kwargs)


class DataDecoder(metaclass=Named):
    """The base of decoders, which convert a record to items."""

    @abc.abstractmethod
    def decode(self, data, items):
        """Returns the tensors of the items, in order."""

    @abc.abstractmethod
    def list_items(self):
        """Returns the names of the items that the decoder makes."""


class DataProvider(metaclass=Named):
    """Named tensors of one sample."""

    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors, self._num_samples = items_to_tensors, num_samples

    def get(self, items):
        """Returns the tensors of the items, in their order."""
        wrong = set(items).difference(self._items_to_tensors)
        if wrong:
            raise ValueError("Items %s not in %s" % (sorted(wrong), sorted(self._items_to_tensors)))
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        return self._items_to_tensors.keys()

    def num_samples(self):
        return self._num_samples


class DatasetDataProvider(DataProvider):
    """Provides samples of a Dataset, which readers enqueue and the data set's decoder decodes."""

    def __init__(self, dataset, num_readers=1, reader_kwargs=None, shuffle=True, num_epochs=None, common_queue_capacity=256,
                 common_queue_min=128, record_key="record_key", seed=None, scope=None):
        key, data = parallel_read(
            dataset.data_sources, reader_class=dataset.reader, num_epochs=num_epochs, num_readers=num_readers,
            reader_kwargs=reader_kwargs, shuffle=shuffle, capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min, seed=seed, scope=scope)
        items = dataset.decoder.list_items()
        tensors = dataset.decoder.decode(data, items)
        items_to_tensors = dict(zip(items, tensors))
        if record_key in items_to_tensors:
            raise ValueError("The item name used for `record_key` cannot also be used for a dataset item: %s" % record_key)
        items_to_tensors[record_key] = key
        super().__init__(items_to_tensors=items_to_tensors, num_samples=dataset.num_samples)


class ParallelReader(ReaderBase):
    """Runs several readers that fill one queue of (key, value)."""

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        if len(common_queue.dtypes) != 2:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        for dtype in common_queue.dtypes:
            if not dtype.is_compatible_with(types.string):
                raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    num_readers = property(lambda self: len(self._readers))
    common_queue = property(lambda self: self._common_queue)

    def read(self, queue, name=None):
        """Returns the next (key, value) that any of the readers read from the files of a queue."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """Returns the next records, at most num_records of them."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue):
        enqueue_ops = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueue_ops))

    def num_records_produced(self, name=None):
        """Returns how many records all readers read."""
        return add_n([r.num_records_produced() for r in self._readers], name=name)

    def num_work_units_completed(self, name=None):
        """Returns how many files all readers read to their end."""
        return add_n([r.num_work_units_completed() for r in self._readers], name=name)

    def reset(self, name=None):
        """Resets all readers to their beginning."""
        return group(*[r.reset() for r in self._readers], name=name)


def parallel_read(data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True, dtypes=None,
                  capacity=256, min_after_dequeue=128, seed=None, scope=None):
    """Returns (key, value) of the next record that one of several readers read."""
    data_files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        filename_queue = string_input_producer(data_files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [types.string, types.string]
        if shuffle:
            common_queue = RandomShuffleQueue(capacity=capacity, min_after_dequeue=min_after_dequeue, dtypes=dtypes, seed=seed,
                                              name="common_queue")
        else:
            common_queue = FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        summary.scalar("fraction_of_%d_full" % capacity, cast(common_queue.size(), types.float32) * (1. / capacity))
        return ParallelReader(reader_class, common_queue, num_readers=num_readers, reader_kwargs=reader_kwargs).read(filename_queue)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """Returns (key, value) of the next record; the files are read once, in order, by one reader."""
    data_files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        filename_queue = string_input_producer(data_files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(filename_queue)


def get_data_files(data_sources):
    """Returns the files of a path, of a pattern or of a list of these."""
    if isinstance(data_sources, (list, tuple)):
        data_files = [name for source in data_sources for name in get_data_files(source)]
    elif any(sign in data_sources for sign in "*?["):
        data_files = Glob(data_sources)
    else:
        data_files = [data_sources]
    if not data_files:
        raise ValueError("No data files found in %s" % (data_sources,))
    return data_files
