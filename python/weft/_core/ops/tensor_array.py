"""tf.TensorArray: an array of tensors, each of which is written once."""
import contextlib

from weft._core.framework import tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import constant_value, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import control_dependencies, get_default_graph, name_scope
from weft._core.ops import array_ops


class TensorArray(metaclass=Named):
    """An array of tensors, each of which is written once; `flow` orders the operations on it.

    An update returns an array with another flow. All these arrays share the known shape of the elements.
    """

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None and (tensor_array_name or size is not None or dynamic_size is not None or clear_after_read is not None):
            raise ValueError("Cannot provide both a handle and tensor_array_name, size, dynamic_size or clear_after_read")
        if handle is None and size is None:
            raise ValueError("Size must be declared either implicitly or explicitly")
        self._dtype, self._infer_shape = as_dtype(dtype), bool(infer_shape)
        self._known = [tensor_shape.TensorShape(element_shape)]  # shared by the arrays that updates give
        self._dynamic_size, self._size = bool(dynamic_size), size
        # shared; updates run on the device of its op
        self._first_written = [] if colocate_with_first_write_call else None
        if handle is not None:
            self._handle, self._flow = handle, flow
            return
        with name_scope(name, "TensorArray", [size]) as scope:
            self._handle, self._flow = op(
                "TensorArrayV3", scope, size=size, dtype=self._dtype, dynamic_size=self._dynamic_size,
                element_shape=self.element_shape, identical_element_shapes=self._infer_shape,
                clear_after_read=True if clear_after_read is None else clear_after_read, tensor_array_name=tensor_array_name or "")

    dtype = property(lambda self: self._dtype)
    handle = property(lambda self: self._handle)
    flow = property(lambda self: self._flow)
    dynamic_size = property(lambda self: self._dynamic_size)
    element_shape = property(lambda self: self._known[0])

    def _with(self, flow):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._flow = flow
        return made

    def _parts(self):
        return [self._flow]

    def _with_parts(self, parts):
        return self._with(parts[0])

    def _part_shapes(self, shape):
        return [tensor_shape.scalar()]

    def _merge_element_shape(self, shape):
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError("Inconsistent shapes: saw %s but expected %s " % (shape, self.element_shape))
        self._known[0] = self.element_shape.merge_with(shape)

    def _check_element_shape(self, shape):
        if self._infer_shape:
            self._merge_element_shape(shape)

    def _op(self, kind, name, **given):
        return op(kind, name, handle=self._handle, flow_in=self._flow, **given)

    def _value(self, value):
        return convert_to_tensor(value, preferred_dtype=self._dtype, name="value")

    def _checked(self, value):
        if value.dtype.base_dtype != self._dtype.base_dtype:
            raise ValueError("TensorArray dtype is %s but Op is trying to write dtype %s" % (
                self._dtype.name, value.dtype.base_dtype.name))
        return value

    def _beside(self, value):
        """Returns the scope of an op that writes: colocated with the first written value, unless the program turned
        that off.
        """
        if self._first_written is None:
            return contextlib.nullcontext()
        if not self._first_written:
            self._first_written.append(value)
        return get_default_graph().colocate_with(self._first_written[0].op)

    def identity(self):
        return self._with(array_ops.identity(self._flow))

    def grad(self, source, flow=None, name=None):
        """Returns the array that holds the gradients of this one, for one call of tf.gradients."""
        flow = self._flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]):
            handle, _ = op("TensorArrayGradV3", name, handle=self._handle, source=source, flow_in=flow)
            with control_dependencies([handle]):
                flow = op("Identity", "gradient_flow", input=flow)
            made = TensorArray(self._dtype, handle=handle, flow=flow, infer_shape=self._infer_shape,
                               colocate_with_first_write_call=False)
            made._known = self._known
            return made

    def read(self, index, name=None):
        made = self._op("TensorArrayReadV3", name, index=index, dtype=self._dtype)
        made.set_shape(self.element_shape)
        return made

    def write(self, index, value, name=None):
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._checked(self._value(value))
            self._check_element_shape(value.shape)
            with self._beside(value):
                return self._with(self._op("TensorArrayWriteV3", name, index=index, value=value))

    def gather(self, indices, name=None):
        made = self._op("TensorArrayGatherV3", name, indices=indices, dtype=self._dtype, element_shape=self.element_shape)
        if self.element_shape.ndims is not None:
            made.set_shape([None] + self.element_shape.as_list())
        return made

    def stack(self, name=None):
        from weft._core.ops.math_ops import range as range_of
        with get_default_graph().colocate_with(self._handle.op), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(range_of(0, self.size()), name=name)

    def scatter(self, indices, value, name=None):
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._checked(self._value(value))
            self._check_element_shape(value.shape[1:])
            with self._beside(value):
                return self._with(self._op("TensorArrayScatterV3", name, indices=indices, value=value))

    def unstack(self, value, name=None):
        from weft._core.ops.math_ops import range as range_of
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            return self.scatter(range_of(0, array_ops.shape(value)[0]), value, name=name)

    unpack, pack = unstack, stack

    def split(self, value, lengths, name=None):
        """Writes parts of a tensor, which have these lengths, as the elements."""
        from weft._core.framework import dtypes
        from weft._core.ops.math_ops import cast
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value, lengths = self._value(value), cast(lengths, dtypes.int64)
            known = constant_value(lengths)
            if self._infer_shape and known is not None and known.shape and known.max() == known.min():
                self._merge_element_shape(tensor_shape.TensorShape([int(known[0])]).concatenate(value.shape[1:]))
            with self._beside(value):
                return self._with(self._op("TensorArraySplitV3", name, value=self._checked(value), lengths=lengths))

    def concat(self, name=None):
        rest = self.element_shape[1:] if self.element_shape.ndims is not None else tensor_shape.unknown_shape()
        made, _ = self._op("TensorArrayConcatV3", name, dtype=self._dtype, element_shape_except0=rest)
        if rest.ndims is not None:
            count, each = constant_value(self.size()), self.element_shape.as_list()[0]
            made.set_shape([None if count is None or each is None else int(count) * each] + rest.as_list())
        return made

    def size(self, name=None):
        from weft._core.framework import dtypes
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtypes.int32)
        return self._op("TensorArraySizeV3", name)

    def close(self, name=None):
        return op("TensorArrayCloseV3", name, handle=self._handle)
