"""Saves the state of an iterator: how many elements were read from its data set."""
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.build import op


class IteratorSaveable:
    """The position of an iterator, which a Saver saves and restores.

    The iterator must be initialized before it is saved or restored.  Restoring reads the data set again from its beginning
    up to the position.
    """

    class _Spec:
        def __init__(self, tensor, name):
            self.tensor, self.name, self.slice_spec, self.dtype = tensor, name, "", dtypes.int64

    def __init__(self, iterator_resource, external_state_policy=0):
        self.op, self.name = iterator_resource, iterator_resource.name
        state = op("SerializeIterator", resource_handle=iterator_resource, external_state_policy=external_state_policy)
        self.exported = op("OptionalGetValue", optional=state, output_types=[dtypes.int64],
                           output_shapes=[tensor_shape.TensorShape([2])])
        self.specs = [self._Spec(self.exported[0], self.name + "_STATE")]

    @property
    def device(self):
        return self.op.device

    def restore(self, restored_tensors, restored_shapes, name=None):
        """Returns the op that sets the iterator to the saved position."""
        state = op("OptionalFromValue", components=[restored_tensors[0]])
        return op("DeserializeIterator", resource_handle=self.op, serialized=state)
