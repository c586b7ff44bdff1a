"""Data sets of strategies: an element has a part for each replica."""
import enum

from weft._core.distribute.values import PerReplica
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import get_default_graph
from weft._core.framework.nest import flatten, pack_like
from weft._core.ops import array_ops


class InputReplicationMode(enum.Enum):
    """How often an input function is called: once for each worker, or for each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext(metaclass=Named):
    """Tells an input function how many input pipelines there are, which one it makes, and how many replicas there are.
    """

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._pipelines, self._pipeline, self._replicas = num_input_pipelines, input_pipeline_id, num_replicas_in_sync

    num_input_pipelines = property(lambda self: self._pipelines)
    input_pipeline_id = property(lambda self: self._pipeline)
    num_replicas_in_sync = property(lambda self: self._replicas)

    def get_per_replica_batch_size(self, global_batch_size):
        """Returns the batch size of one replica."""
        if global_batch_size % self._replicas:
            raise ValueError("The `global_batch_size` %r is not divisible by `num_replicas_in_sync` %r "
                             % (global_batch_size, self._replicas))
        return global_batch_size // self._replicas

    def __str__(self):
        return "tf.distribute.InputContext(input pipeline id {}, total: {})".format(self._pipeline, self._pipelines)


def _divided(element, count):
    """Returns the parts of a batch for `count` replicas; in a short batch, the last parts have fewer rows."""
    parts = []
    rows = [convert_to_tensor(x) for x in flatten(element)]
    for i in range(count):
        own = []
        for x in rows:
            known = x.shape.as_list()[0] if x.shape.ndims else None
            if known is not None and known % count == 0:
                size = known // count
                own.append(x[i * size:(i + 1) * size])
            else:
                size = (array_ops.shape(x)[0] + count - 1) // count
                own.append(x[i * size:(i + 1) * size])
        parts.append(pack_like(element, own))
    return parts


class DistributedDataset:
    """A data set for a strategy.

    With `split` its batches are divided among the replicas; otherwise each replica takes an element.
    """

    def __init__(self, strategy, dataset, split):
        self._strategy, self._dataset, self._split = strategy, dataset, split

    def make_initializable_iterator(self):
        return DistributedIterator(self._strategy, self)

    make_one_shot_iterator = make_initializable_iterator

    @property
    def element_spec(self):
        return self._dataset.element_spec

    def __iter__(self):
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled: use "
                           "make_initializable_iterator()")


class DistributedIterator:
    """An iterator whose get_next() returns values with a part for each replica."""

    def __init__(self, strategy, distributed):
        self._strategy, self._split, self._given = strategy, distributed._split, distributed._dataset
        graph = get_default_graph()
        self._iterator = None
        if hasattr(self._given, "make_initializable_iterator"):
            with graph.device("/cpu:0"):
                self._iterator = self._given.make_initializable_iterator()

    @property
    def initializer(self):
        from weft._core.ops.control_flow import no_op
        return no_op() if self._iterator is None else self._iterator.initializer

    def initialize(self):
        """Returns the ops that restart from the first element."""
        return [self.initializer]

    def _element(self):
        return self._given() if self._iterator is None and callable(self._given) else \
            self._given if self._iterator is None else self._iterator.get_next()

    def get_next(self, name=None):
        """Returns the next element."""
        from weft._core.distribute.values import regroup
        extended, graph = self._strategy.extended, get_default_graph()
        count, replicas = len(extended.worker_devices), self._strategy.num_replicas_in_sync
        with graph.device("/cpu:0"):
            if self._split:
                element = self._element()
                if replicas == 1:
                    return element
                own = _divided(element, replicas)[extended._first_replica:][:count]
                return own[0] if count == 1 else regroup(own, PerReplica)
            elements, before = [], []
            for _ in range(count):  # Elements are taken in sequence, so that the first replica has the first element.
                with graph.control_dependencies(before):
                    elements.append(self._element())
                before = [x.op for x in flatten(elements[-1]) if hasattr(x, "op")]
        return elements[0] if count == 1 else regroup(elements, PerReplica)


def numpy_dataset(value):
    from weft._core.data.dataset import Dataset
    return Dataset.from_tensor_slices(value)
