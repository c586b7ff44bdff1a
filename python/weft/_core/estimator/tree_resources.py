"""The resources of boosted trees: an ensemble and streams of quantiles. Savers save them.

Their ops run on the device of the handle, which in a cluster is a ps.
"""
import weft as tf
from weft._core.framework.build import op
from weft._core.python_modules import resources
from weft._core.train.saver_builder import SaveableObject, SaveSpec


class TreeEnsemble:
    """An ensemble of boosted trees, empty at first."""

    def __init__(self, name="boosted_trees", shared_name=None):
        self.handle = op("BoostedTreesEnsembleResourceHandleOp", name, container="", shared_name=shared_name or name)
        with tf.name_scope(name + "/ops/"):
            self.create = self.call("BoostedTreesCreateEnsemble", stamp_token=tf.constant(0, tf.int64), tree_ensemble_serialized="")
            self.is_set = self.call("IsBoostedTreesEnsembleInitialized")
            tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(self))
        resources.register_resource(self.handle, self.create, self.is_set)

    def call(self, kind, **given):
        """Adds a node that uses the ensemble, and returns its outputs."""
        with tf.device(self.handle.device):
            return op(kind, tree_ensemble_handle=self.handle, **given)

    def states(self):
        """(stamp, trees, finished trees, layers, nodes of the last layer): how far the ensemble has grown."""
        return self.call("BoostedTreesGetEnsembleStates")


class _EnsembleSaveable(SaveableObject):
    def __init__(self, ensemble):
        self.ensemble, name = ensemble, ensemble.handle.name
        stamp, data = ensemble.call("BoostedTreesSerializeEnsemble")
        super().__init__(ensemble.handle, [SaveSpec(stamp, "", name + "_stamp"), SaveSpec(data, "", name + "_serialized")], name)

    def restore(self, restored_tensors, restored_shapes):
        return self.ensemble.call("BoostedTreesDeserializeEnsemble", stamp_token=restored_tensors[0],
                                  tree_ensemble_serialized=restored_tensors[1])


class QuantileStreams:
    """Streams of numbers, which become the boundaries of buckets.

    Args:
      count: how many streams there are.
      epsilon: the error of the quantiles, as a part of all values.
      name: the name of the resource.
    """

    def __init__(self, count, epsilon, name):
        self.count, self.epsilon = count, epsilon
        self.handle = op("BoostedTreesQuantileStreamResourceHandleOp", name, container="", shared_name=name)
        with tf.name_scope(name + "/ops/"):
            self.create = self.call("BoostedTreesCreateQuantileStreamResource", epsilon=epsilon, num_streams=tf.constant(count, tf.int64))
            self.is_set = self.call("IsBoostedTreesQuantileStreamResourceInitialized")
            tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, _StreamsSaveable(self))
        resources.register_resource(self.handle, self.create, self.is_set)

    def call(self, kind, **given):
        """Adds a node that uses the streams, and returns its outputs."""
        with tf.device(self.handle.device):
            return op(kind, quantile_stream_resource_handle=self.handle, **given)

    def add(self, columns, weights):
        """Returns the op that adds a vector of numbers to each stream."""
        made = op("BoostedTreesMakeQuantileSummaries", float_values=columns, example_weights=weights, epsilon=self.epsilon)
        return self.call("BoostedTreesQuantileStreamResourceAddSummaries", summaries=made)

    def flush(self, buckets):
        """Returns the op that computes the boundaries."""
        return self.call("BoostedTreesQuantileStreamResourceFlush", num_buckets=tf.constant(buckets, tf.int64))

    def boundaries(self):
        """Returns the boundaries of each stream, a list of vectors."""
        return self.call("BoostedTreesQuantileStreamResourceGetBucketBoundaries", num_features=self.count)


class _StreamsSaveable(SaveableObject):
    def __init__(self, streams):
        self.streams, name = streams, streams.handle.name
        super().__init__(streams.handle, [SaveSpec(b, "", "%s_bucket_boundaries_%d" % (name, i))
                                          for i, b in enumerate(streams.boundaries())], name)

    def restore(self, restored_tensors, restored_shapes):
        with tf.control_dependencies([self.streams.create]):
            return self.streams.call("BoostedTreesQuantileStreamResourceDeserialize", bucket_boundaries=list(restored_tensors))


# ---- the bytes of an ensemble ----

def _fields(data):
    """Yields the fields of a message: (number, value), where a value is an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        yield tag >> 3, data[at:at + size]
        at += size


def _parts(data, number):
    return [value for n, value in _fields(data) if n == number]


def _floats(data):
    import numpy as np
    return np.frombuffer(data, "<f4").astype(float).tolist()


def _first(found, otherwise):
    return found[0] if found else otherwise


def split_gains(serialized):
    """Yields (feature, gain times the weight of the tree) of each split in a serialized TreeEnsemble."""
    weights = [w for part in _parts(serialized, 2) for w in _floats(part)]
    for i, tree in enumerate(_parts(serialized, 1)):
        for node in _parts(tree, 1):
            split = _parts(node, 2) + _parts(node, 3)
            if split:
                gain = _first(_parts(_first(_parts(node, 777), b""), 1), b"\0\0\0\0")
                yield _first(_parts(split[0], 1), 0), _floats(gain)[0] * (weights[i] if weights else 1.0)


def debug_path(serialized):
    """(features, logits): the splits that an example has passed, and the logits before and after each."""
    features = []
    for part in _parts(serialized, 1):
        at = value = shift = 0
        while at < len(part):
            value |= (part[at] & 127) << shift
            shift += 7
            if part[at] < 128:
                features.append(value)
                value = shift = 0
            at += 1
    return features, [v for part in _parts(serialized, 2) for v in _floats(part)]
