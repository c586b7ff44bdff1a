"""Tensors that a session keeps between runs: tf.get_session_handle, and the ops that read and delete them."""
from weft._core.framework import dtypes, errors
from weft._core.framework.absent import Named
from weft._core.framework.build import op
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.graph import Tensor, colocate_with, device
from weft._core.ops.array_ops import placeholder


def _device_of(handle):
    return DeviceSpec.from_string(str(handle).split(";")[-1]).to_string()


class TensorHandle(metaclass=Named):
    """A tensor that a session keeps; a run of tf.get_session_handle's result returns it."""

    def __init__(self, handle, dtype, session):
        self._handle = handle.decode() if isinstance(handle, bytes) else handle
        self._dtype, self._session, self._collected = dtype, session, True

    def __str__(self):
        return self._handle

    handle = property(lambda self: self._handle)

    def get_raw_handle(self):
        """Returns the handle, and lets the session keep its tensor until it closes."""
        self._collected = False
        return self._handle

    def eval(self):
        """Returns the tensor as an array."""
        if not self._collected:
            raise TypeError("Persistent tensor %s may have already been deleted." % self._handle)
        holder, tensor = self._session._handle_node(get_session_tensor, self._handle, self._dtype)
        return self._session.run(tensor, {holder: self._handle})

    def _value_for(self, tensor):
        """Returns the tensor as the value of a feed."""
        if tensor.dtype.base_dtype != self._dtype:
            raise errors.InvalidArgumentError(None, None, "Expects %s to be %s but %s is provided" % (
                tensor.name, tensor.dtype.name, self._dtype.name))
        return self.eval()

    def delete(self):
        """Deletes the tensor."""
        if not self._collected:
            raise TypeError("Persistent tensor %s may have already been deleted." % self._handle)
        self._collected = False
        holder, deleter = self._session._handle_node(delete_session_tensor, self._handle)
        self._session.run(deleter, {holder: self._handle})

    def __del__(self):
        if self._collected and not self._session._closed:
            self._session._runner.dead_handles.append(self._handle)


def get_session_handle(data, name=None):
    """Returns a tensor whose fetched value is a TensorHandle; the session keeps the value of `data` under it.

    Args:
      data: a tensor.
      name: a name for the operation.
    """
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return op("GetSessionHandle", name, value=data)


def get_session_tensor(handle, dtype, name=None):
    """Returns (a placeholder for a handle, the tensor that the session keeps under it)

    Args:
      handle: a handle, as a string; it says on which device the tensor is.
      dtype: the type of the tensor.
      name: a name for the operation.
    """
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, op("GetSessionTensor", name, handle=holder, dtype=dtype)


def delete_session_tensor(handle, name=None):
    """Returns (a placeholder for a handle, an op that drops the tensor that the session keeps under it)

    Args:
      handle: a handle, as a string; it says on which device the tensor is.
      name: a name for the operation.
    """
    with device(_device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, op("DeleteSessionTensor", name, handle=holder)
