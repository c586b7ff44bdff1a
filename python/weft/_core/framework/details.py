"""Attributes of graphs, operations and tensors that programs use although they are not in TensorFlow's public API.

Each has the meaning it has in TensorFlow 1.  Data that the library holds, such as the nodes and the names, is returned
as a read-only view, because changes to it would have no effect.
"""
import contextlib
import types

from weft._core.framework import protos

OVERLOADABLE_OPERATORS = frozenset("__%s__" % name for name in (
    "add radd sub rsub mul rmul div rdiv truediv rtruediv floordiv rfloordiv mod rmod lt le gt ge ne eq and rand or ror xor "
    "rxor getitem pow rpow invert neg abs matmul rmatmul").split())


class Reference:
    """A hashable key that stands for one object; Tensor.ref() and Variable.ref() return it."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        return self._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __repr__(self):
        return "<Reference wrapping %r>" % (self._wrapped,)


class TensorDetails:
    """The non-public attributes of Tensor."""

    __slots__ = ()
    OVERLOADABLE_OPERATORS = set(OVERLOADABLE_OPERATORS)  # libraries change it

    _op = property(lambda self: self.op)
    _dtype = property(lambda self: self.dtype)
    _name = property(lambda self: self.name)
    _value_index = property(lambda self: self.value_index)
    _id = property(lambda self: self._out)
    _shape_val = property(lambda self: self.shape)
    ndim = property(lambda self: self.shape.ndims)

    def _rank(self):
        return self.shape.ndims

    def _shape_tuple(self):
        dims = self._shape_as_list()
        return None if dims is None else tuple(dims)

    def _consumers(self):
        return self.consumers()

    def ref(self):
        return Reference(self)

    experimental_ref = ref

    @classmethod
    def _override_operator(cls, operator, func):
        setattr(cls, operator, func)


class OperationDetails:
    """The non-public attributes of Operation."""

    __slots__ = ()

    _graph = property(lambda self: self.graph)
    _name = property(lambda self: self.name)
    _inputs = property(lambda self: self.inputs)
    _outputs = property(lambda self: self.outputs)
    _control_inputs = property(lambda self: self.control_inputs)
    _node_def = property(lambda self: self.node_def)
    _op_def = property(lambda self: self.op_def)
    _device = property(lambda self: self.device)
    _traceback = property(lambda self: self.traceback)
    _input_types = property(lambda self: [t.dtype.base_dtype for t in self.inputs])
    _input_dtypes = property(lambda self: [t.dtype for t in self.inputs])
    _output_types = property(lambda self: [t.dtype.as_datatype_enum for t in self.outputs])
    _control_flow_context = property(lambda self: self._context)

    @property
    def _control_outputs(self):
        """The operations that wait for this one."""
        c, mine = self.graph._c, self._id
        return [self.graph._operation(i) for i in range(c.size()) if any(o >> 16 == mine for o in c.controls(i))]

    def _get_control_flow_context(self):
        return self._context

    def _set_control_flow_context(self, ctx):
        self._context = ctx


class DeviceStack(tuple):
    """The devices and device functions that are in effect, the outermost first."""

    __slots__ = ()

    def peek_objs(self):
        return list(reversed(self))


class GraphDetails:
    """The non-public attributes of Graph."""

    _nodes_by_name = property(lambda self: types.MappingProxyType({op.name: op for op in self.get_operations()}))
    _nodes_by_id = property(lambda self: types.MappingProxyType({op._id: op for op in self.get_operations()}))
    _last_id = property(lambda self: self.version)
    _next_id_counter = property(lambda self: self.version)
    _version = property(lambda self: self.version)
    _name_stack = property(lambda self: self.get_name_scope())
    _seed = property(lambda self: self.seed)
    _device_function_stack = property(lambda self: DeviceStack(self._devices))
    _device_functions_outer_to_inner = property(lambda self: DeviceStack(self._devices))
    building_function = property(lambda self: self.outer is not None)
    operations = property(lambda self: self.get_operations())

    @property
    def _names_in_use(self):
        """The names that a new node may not have, in lower case: those of nodes and of the scopes around them."""
        names = {}
        for op in self.get_operations():
            parts = op.name.lower().split("/")
            names.update(dict.fromkeys("/".join(parts[:i + 1]) for i in range(len(parts))))
        return types.MappingProxyType(dict.fromkeys(names, 1))

    def num_operations(self):
        return self.version

    def _get_control_flow_context(self):
        return self._context

    def _set_control_flow_context(self, ctx):
        self._context = ctx

    def _apply_device_functions(self, op):
        """Sets the device that a new node with the op's name and type would get in the current scope."""
        from weft._core.framework.device_spec import DeviceSpec
        for given in reversed(self._devices):
            if given is None:
                break
            merged = DeviceSpec.from_string(op.device or "")
            if callable(given):
                merged = given(op)
            else:
                text = given if isinstance(given, str) else given.to_string()
                merged = DeviceSpec.from_string(text)
                merged.merge_from(DeviceSpec.from_string(op.device or ""))
            op._set_device(merged)

    @contextlib.contextmanager
    def _attr_scope(self, attr_map):
        """Gives every node made inside these attributes: {name: AttrValue, or a function of the node's definition}."""
        if not isinstance(attr_map, dict):
            raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers")
        for name, value in attr_map.items():
            if not isinstance(name, str) or not (value is None or callable(value) or isinstance(value, protos.AttrValue)):
                raise TypeError("attr_map must be a dictionary mapping strings to AttrValue protocol buffers or callables "
                                "that emit AttrValue protocol buffers")
        before, self._extra_attrs = self._extra_attrs, {**self._extra_attrs, **attr_map}
        try:
            yield
        finally:
            self._extra_attrs = before

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map):
        """Gives nodes of these ops made inside the attribute _kernel: {type of op: label}."""
        if not isinstance(op_to_kernel_label_map, dict) or not all(
                isinstance(k, str) and isinstance(v, str) for k, v in op_to_kernel_label_map.items()):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")

        def label(node):
            found = op_to_kernel_label_map.get(node.op)
            return None if found is None else protos.AttrValue(s=found.encode())
        with self._attr_scope({"_kernel": label}):
            yield

    def _add_extra_attrs(self, op):
        for name, value in self._extra_attrs.items():
            if callable(value):
                value = value(op.node_def)
            if value is not None:
                op._set_attr(name, value)


def device_text(device):
    """Returns a device in the form that the library takes; a program may leave out the first slash ("cpu:0")."""
    if isinstance(device, str) and device and not device.startswith("/"):
        return "/" + device
    if device is None or isinstance(device, str):
        return device
    return device.to_string()
