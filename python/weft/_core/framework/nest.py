"""Nests of lists, tuples and dicts: taken apart in a fixed order and put together again."""


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
    """`flat` in the shape of `structure`."""
    return _pack(structure, iter(flat))


pack_sequence_as = pack_like


def map_structure(fn, *structures):
    return pack_like(structures[0], [fn(*xs) for xs in zip(*[flatten(s) for s in structures])])


def is_sequence(x):
    return is_nested(x)


def assert_same_structure(a, b, check_types=True):
    if is_nested(a) != is_nested(b) or len(flatten(a)) != len(flatten(b)):
        raise ValueError("The two structures don't have the same nested structure: %s, %s" % (a, b))
