"""What the elements of a data set look like: nests of tuples and dicts with a type and a shape at each leaf.

Unlike in the rest of the package a list is a leaf: it becomes one tensor.
"""
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor
from weft._core.ops.sparse import SparseTensor


def flatten(x):
    if isinstance(x, dict):
        return [f for k in sorted(x) for f in flatten(x[k])]
    if isinstance(x, tuple):
        return [f for v in x for f in flatten(v)]
    return [x]


def pack_like(structure, flat):
    items = iter(flat)

    def pack(s):
        if isinstance(s, dict):
            made = {k: pack(s[k]) for k in sorted(s)}
            return type(s)((k, made[k]) for k in s)
        if isinstance(s, tuple):
            parts = [pack(v) for v in s]
            return type(s)(*parts) if hasattr(s, "_fields") else tuple(parts)
        return next(items)
    return pack(structure)


def map_leaves(fn, structure):
    return pack_like(structure, [fn(v) for v in flatten(structure)])


def along(structure, value):
    """The parts of `value` that stand where `structure` has leaves, whatever they are."""
    if isinstance(structure, dict):
        if not isinstance(value, dict) or set(value) != set(structure):
            raise ValueError("expected a dict with the keys %s, got %r" % (sorted(structure), value))
        return [v for k in sorted(structure) for v in along(structure[k], value[k])]
    if isinstance(structure, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(structure):
            raise ValueError("expected %d parts, got %r" % (len(structure), value))
        return [v for s, p in zip(structure, value) for v in along(s, p)]
    return [value]


class Structure(metaclass=Named):
    """The types and shapes of elements, both as nests and flat."""

    def __init__(self, types, shapes=None, inner=None):
        """inner: for each leaf the Structure of its elements, when it is a data set; None for tensors."""
        self.types = map_leaves(as_dtype, types)
        self.flat_types = flatten(self.types)
        given = [None] * len(self.flat_types) if shapes is None else along(self.types, shapes)
        self.flat_shapes = [tensor_shape.TensorShape(s) for s in given]
        self.shapes = pack_like(self.types, self.flat_shapes)
        self.inner = inner or [None] * len(self.flat_types)

    @property
    def classes(self):
        return map_leaves(lambda _: Tensor, self.types)

    def pack(self, flat):
        if any(self.inner):
            from weft._core.data.dataset import Dataset
            flat = [v if form is None else Dataset(v, form) for v, form in zip(flat, self.inner)]
        return pack_like(self.types, flat)

    def with_shapes(self, flat):
        return Structure(self.types, pack_like(self.types, flat), self.inner)

    def attrs(self):
        return {"output_types": self.flat_types, "output_shapes": self.flat_shapes}


def tensors(value, name="component_%d"):
    """The leaves of a value as tensors, and their Structure."""
    flat, inner = [], []
    for i, v in enumerate(flatten(value)):
        inner.append(getattr(v, "_form", None))
        if inner[-1] is not None:
            flat.append(v._variant_tensor)
            continue
        if isinstance(v, SparseTensor):
            raise NotImplementedError("a tf.SparseTensor cannot be an element of a data set in Weft: make it dense "
                                      "with tf.sparse_tensor_to_dense first")
        if v is None:
            raise TypeError("a function of a data set returned None: it must return tensors")
        flat.append(convert_to_tensor(v, name=name % i))
    types = pack_like(value, [t.dtype.base_dtype for t in flat])
    return flat, Structure(types, pack_like(value, [t.shape for t in flat]), inner)


SCALAR_STRING = Structure(dtypes.string, [])
