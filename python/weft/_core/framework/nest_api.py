"""The public functions of tf.nest and tensorflow.python.util.nest.

The package itself calls the functions of nest.py, which check less and are faster.
"""
from weft._core.framework import nest

# The views of a dict are nests too, as in TensorFlow, but are packed as lists.
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


def _leaf_parts(leaf):
    return leaf._parts() if hasattr(leaf, "_parts") else [leaf]


def is_nested(seq):
    return nest.is_nested(seq) or isinstance(seq, _VIEWS)


def _listed(structure):
    """Returns the nest with lists in place of dict views."""
    return list(structure) if isinstance(structure, _VIEWS) else structure


def flatten(structure, expand_composites=False):
    structure = _listed(structure)
    return nest.parts(structure) if expand_composites else nest.flatten(structure)


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    if not is_nested(flat_sequence):
        raise TypeError("Attempted to pack value:\n  %s\ninto a structure, but found incompatible type `%s` instead." % (
            flat_sequence, type(flat_sequence)))
    structure, values = _listed(structure), list(_listed(flat_sequence))
    leaves = nest.flatten(structure)
    needed = sum(len(_leaf_parts(leaf)) for leaf in leaves) if expand_composites else len(leaves)
    if needed != len(values):
        if not nest.is_nested(structure) and needed == 1:
            raise ValueError("The target structure is of type `%s`\n  %s\nHowever the input is a sequence (%s) of length %d.\n  %s\n"
                             "nest cannot guarantee that it is safe to map one to the other." % (
                                 type(structure), structure, type(flat_sequence), len(values), flat_sequence))
        raise ValueError("Could not pack sequence. Structure had %d atoms, but flat_sequence had %d items.  Structure: %s, "
                         "flat_sequence: %s." % (needed, len(values), structure, flat_sequence))
    return nest.pack_parts(structure, values) if expand_composites else nest.pack_like(structure, values)


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    nest1, nest2 = _listed(nest1), _listed(nest2)
    nest.assert_same_structure(nest1, nest2, check_types)
    if expand_composites:
        for a, b in zip(nest.flatten(nest1), nest.flatten(nest2)):
            if len(_leaf_parts(a)) != len(_leaf_parts(b)) or hasattr(a, "_parts") != hasattr(b, "_parts"):
                raise ValueError("The two structures don't have the same nested structure: %s and %s do not consist of the same "
                                 "number of tensors" % (a, b))


def map_structure(func, *structure, **kwargs):
    if not callable(func):
        raise TypeError("func must be callable, got: %s" % func)
    if not structure:
        raise ValueError("Must provide at least one structure")
    unknown = sorted(set(kwargs) - {"check_types", "expand_composites"})
    if unknown:
        raise ValueError("Only valid keyword arguments are `check_types` and `expand_composites`, not: `%s`" % "`, `".join(unknown))
    expand = kwargs.get("expand_composites", False)
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True), expand)
    return pack_sequence_as(structure[0], [func(*xs) for xs in zip(*[flatten(s, expand) for s in structure])], expand)
