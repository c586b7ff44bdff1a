"""Flattens nests of lists, tuples and dicts in a fixed order, and packs values into them again."""


def is_nested(x):
    return isinstance(x, (list, tuple, dict))


def flatten(x):
    if isinstance(x, dict):
        return [f for k in sorted(x) for f in flatten(x[k])]
    if isinstance(x, (list, tuple)):
        return [f for v in x for f in flatten(v)]
    return [x]


def _pack(structure, items):
    if isinstance(structure, dict):
        made = {k: _pack(structure[k], items) for k in sorted(structure)}
        return type(structure)((k, made[k]) for k in structure)
    if isinstance(structure, (list, tuple)):
        parts = [_pack(v, items) for v in structure]
        if hasattr(structure, "_fields"):
            return type(structure)(*parts)
        return parts if isinstance(structure, list) else tuple(parts)
    return next(items)


def pack_like(structure, flat):
    """Packs the list `flat` into the structure of `structure`."""
    return _pack(structure, iter(flat))


pack_sequence_as = pack_like


def map_structure(fn, *structures):
    return pack_like(structures[0], [fn(*xs) for xs in zip(*[flatten(s) for s in structures])])


def is_sequence(x):
    return is_nested(x)


def assert_same_structure(a, b, check_types=True):
    """Raises ValueError if two structures nest differently, and TypeError if the types of two nests differ."""
    try:
        _assert_same(a, b, check_types)
    except (ValueError, TypeError) as e:
        raise type(e)("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: "
                      "%s\n\nMore specifically: %s" % (_described(a), _described(b), e)) from None


def _described(x):
    return "type=%s str=%s" % (type(x).__name__, x)


def _assert_same(a, b, check_types):
    if is_nested(a) != is_nested(b):
        inner, outer = (a, b) if is_nested(a) else (b, a)
        raise ValueError('Substructure "%s" is a sequence, while substructure "%s" is not' % (_described(inner), _described(outer)))
    if not is_nested(a):
        return
    if check_types and type(a) is not type(b) and not (isinstance(a, dict) and isinstance(b, dict)):
        raise TypeError("The two namedtuples or sequences don't have the same sequence type. First structure has type %s, while "
                        "second structure has type %s." % (type(a).__name__, type(b).__name__))
    if isinstance(a, dict) != isinstance(b, dict) or len(a) != len(b):
        raise ValueError("The two structures don't have the same number of elements. First structure: %s. Second structure: %s" % (
            _described(a), _described(b)))
    if isinstance(a, dict):
        if set(a) != set(b):
            raise ValueError("The two dictionaries don't have the same set of keys. First structure has keys %s, while second "
                             "structure has keys %s" % (list(a), list(b)))
        a, b = [a[k] for k in sorted(a)], [b[k] for k in sorted(a)]
    for x, y in zip(a, b):
        _assert_same(x, y, check_types)


# ---- values that consist of several tensors: a SparseTensor, IndexedSlices, a TensorArray ----

def parts(x):
    """Returns the tensors in a nest."""
    return [t for leaf in flatten(x) for t in (leaf._parts() if hasattr(leaf, "_parts") else [leaf])]


def pack_parts(structure, tensors):
    """Returns a nest of the same structure with other tensors."""
    rest = iter(tensors)
    return pack_like(structure, [leaf._with_parts([next(rest) for _ in leaf._parts()]) if hasattr(leaf, "_parts") else next(rest)
                                 for leaf in flatten(structure)])
