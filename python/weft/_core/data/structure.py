"""The structure of a data set's elements: nests of tuples and dicts with a spec at each leaf.

Unlike in the rest of the package, a list is a leaf and becomes one tensor.
"""
from weft._core.data.components import TensorSpec, kind_of, spec_from_legacy, spec_of
from weft._core.framework import dtypes, tensor_shape
from weft._core.framework.absent import Named
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor
from weft._core.framework.type_spec import TypeSpec
from weft._core.ops.sparse import SparseTensorValue


def flatten(x):
    if isinstance(x, dict):
        return [f for k in sorted(x) for f in flatten(x[k])]
    if isinstance(x, tuple) and not isinstance(x, SparseTensorValue):
        return [f for v in x for f in flatten(v)]
    return [x]


def pack_like(structure, flat):
    items = iter(flat)

    def pack(s):
        if isinstance(s, dict):
            made = {k: pack(s[k]) for k in sorted(s)}
            return type(s)((k, made[k]) for k in s)
        if isinstance(s, tuple) and not isinstance(s, SparseTensorValue):
            parts = [pack(v) for v in s]
            return type(s)(*parts) if hasattr(s, "_fields") else tuple(parts)
        return next(items)
    return pack(structure)


def map_leaves(fn, structure):
    return pack_like(structure, [fn(v) for v in flatten(structure)])


def along(structure, value):
    """Returns the parts of `value` at the leaves of `structure`, whatever they are."""
    if isinstance(structure, dict):
        if not isinstance(value, dict) or set(value) != set(structure):
            raise ValueError("expected a dict with the keys %s, got %r" % (sorted(structure), value))
        return [v for k in sorted(structure) for v in along(structure[k], value[k])]
    if isinstance(structure, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(structure):
            raise ValueError("expected %d parts, got %r" % (len(structure), value))
        return [v for s, p in zip(structure, value) for v in along(s, p)]
    return [value]


def check_alike(first, second):
    """Raises ValueError if two nests differ in more than their leaves."""
    def shape_of(x):
        return pack_like(x, [None] * len(flatten(x)))
    if shape_of(first) != shape_of(second):
        raise ValueError("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: %s" % (
            first, second))


class Structure(metaclass=Named):
    """The specs of an element's components as a nest, and the types and shapes of the tensors that represent them."""

    def __init__(self, types, shapes=None, classes=None):
        """Makes a structure from TensorFlow 1's nests of types, shapes and classes. Without classes, all are tensors.
        """
        types = map_leaves(lambda t: t if isinstance(t, TypeSpec) else as_dtype(t), types)
        flat = flatten(types)
        shapes = [None] * len(flat) if shapes is None else along(types, shapes)
        classes = [Tensor] * len(flat) if classes is None else along(types, classes)
        self._keep(pack_like(types, [spec_from_legacy(t, s if isinstance(s, TypeSpec) else tensor_shape.TensorShape(s), c)
                                     for t, s, c in zip(flat, shapes, classes)]))

    @classmethod
    def of(cls, specs):
        """Returns the structure with these specs."""
        made = cls.__new__(cls)
        made._keep(specs)
        return made

    def _keep(self, specs):
        self.specs, self.flat_specs = specs, flatten(specs)
        wires = [w for spec in self.flat_specs for w in kind_of(spec).wire(spec)]
        self.flat_types, self.flat_shapes = [t for t, _ in wires], [s for _, s in wires]

    def _legacy(self, which):
        return pack_like(self.specs, [kind_of(spec).legacy(spec)[which] for spec in self.flat_specs])

    types = property(lambda self: self._legacy(0))
    shapes = property(lambda self: self._legacy(1))
    classes = property(lambda self: self._legacy(2))

    @property
    def is_dense(self):
        """Whether all components are tensors."""
        return all(type(spec) is TensorSpec for spec in self.flat_specs)

    def pack(self, tensors):
        """Returns the element that the tensors represent."""
        rest, values = list(tensors), []
        for spec in self.flat_specs:
            kind = kind_of(spec)
            n = len(kind.wire(spec))
            values.append(kind.from_tensors(spec, rest[:n]))
            rest = rest[n:]
        return pack_like(self.specs, values)

    def unpack(self, value):
        """Returns the tensors that represent an element."""
        return [t for spec, v in zip(self.flat_specs, along(self.specs, value)) for t in kind_of(spec).to_tensors(spec, v)]

    def rows(self, value):
        """Returns the tensors whose rows are the rows of an element."""
        return [t for spec, v in zip(self.flat_specs, along(self.specs, value)) for t in kind_of(spec).to_rows(spec, v)]

    def with_specs(self, flat):
        return Structure.of(pack_like(self.specs, flat))

    def batched(self, rows):
        """Returns the structure of batches of `rows` elements, or of any number for None."""
        return self.with_specs([kind_of(spec).batched(spec, rows) for spec in self.flat_specs])

    def unbatched(self):
        """Returns the structure of the rows of an element."""
        return self.with_specs([kind_of(spec).unbatched(spec) for spec in self.flat_specs])

    def with_shapes(self, flat):
        """Returns the structure with other shapes of its components, all of which are tensors."""
        return self.with_specs([TensorSpec(shape, spec.dtype) for spec, shape in zip(self.flat_specs, flat)])

    def merged(self, other):
        """Returns the narrowest structure that includes the elements of both, or None if there is none."""
        if map_leaves(bool, self.specs) != map_leaves(bool, other.specs):
            return None
        specs = [a.most_specific_common_supertype([b]) for a, b in zip(self.flat_specs, other.flat_specs)]
        return None if any(spec is None for spec in specs) else self.with_specs(specs)

    def attrs(self):
        return {"output_types": self.flat_types, "output_shapes": self.flat_shapes}


def settled(state, make, message):
    """Traces a function of a state repeatedly, until the structure of the returned state equals that of the argument.

    make(state) returns its result and the structure of the new state; shapes that differ become unknown.  message: how
    the error begins that says which types differ.
    """
    while True:
        made, new = make(state)
        for what, theirs, mine in (("types", new.types, state.types), ("classes", new.classes, state.classes)):
            kinds = [type(spec) for spec in new.flat_specs] == [type(spec) for spec in state.flat_specs]
            if theirs != mine and not (what == "classes" and kinds):
                raise TypeError(message % (what, mine, theirs))
        merged = state.merged(new)
        if merged is None:
            raise TypeError(message % ("structure", state.specs, new.specs))
        if merged.flat_specs == state.flat_specs:
            return made, state
        state = merged


def described(value, name="component_%d"):
    """Returns the components of a value, converted to tensors where needed, and their Structure."""
    made = [spec_of(v, name % i) for i, v in enumerate(flatten(value))]
    return [v for _, v in made], Structure.of(pack_like(value, [spec for spec, _ in made]))


def tensors(value, name="component_%d"):
    """Returns the tensors that represent a value, and its Structure."""
    values, form = described(value, name)
    return [t for spec, v in zip(form.flat_specs, values) for t in kind_of(spec).to_tensors(spec, v)], form


SCALAR_STRING = Structure(dtypes.string, [])
