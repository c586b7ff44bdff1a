"""tensorflow.python.util.nest: functions on the upper part of a nest and on paths to its leaves."""
from weft._core.framework.nest import flatten, is_nested, pack_like


def is_mapping(x):
    """Returns whether x is a dict."""
    return isinstance(x, dict)


def is_namedtuple(instance, strict=False):
    """Returns whether an object is a named tuple; `strict`: of a class that derives from tuple alone."""
    found = isinstance(instance, tuple) and hasattr(instance, "_fields")
    return found and (not strict or type(instance).__base__ is tuple)


is_sequence_or_composite = is_nested_or_composite = is_nested
_is_mapping = is_mapping


def _yield_value(iterable):
    """Yields the values of one nest, those of a dict by their sorted keys."""
    yield from (iterable[k] for k in sorted(iterable)) if isinstance(iterable, dict) else iterable


def _sequence_like(instance, args):
    """Returns the items as one nest of the type of another."""
    if isinstance(instance, dict):
        made = dict(zip(sorted(instance), args))
        return type(instance)((k, made[k]) for k in instance)
    return type(instance)(*args) if is_namedtuple(instance) else type(instance)(args)


def _keyed(x):
    """Returns (key, value) of one nest: the keys of a dict, the fields of a named tuple, or numbers."""
    if isinstance(x, dict):
        return [(k, x[k]) for k in sorted(x)]
    return list(zip(x._fields, x)) if is_namedtuple(x) else list(enumerate(x))


def _check_level(shallow, deep, check_types):
    if not is_nested(deep):
        raise TypeError("If shallow structure is a sequence, input must also be a sequence. Input has type: %s." % type(deep))
    both_dicts = isinstance(shallow, dict) and isinstance(deep, dict)
    if check_types and type(shallow) is not type(deep) and not both_dicts:
        raise TypeError("The two structures don't have the same sequence type. Input structure has type %s, while shallow structure "
                        "has type %s." % (type(deep), type(shallow)))
    if len(shallow) != len(deep):
        raise ValueError("The two structures don't have the same sequence length. Input structure has length %d, while shallow "
                         "structure has length %d." % (len(deep), len(shallow)))
    absent = sorted(set(shallow) - set(deep)) if both_dicts else []
    if absent:
        raise ValueError("The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the following keys "
                         "that are not in the input_tree: %s." % absent)


def _pairs(shallow, deep, check_types, path=()):
    """Returns (path, what `deep` has where `shallow` has a leaf)."""
    if not is_nested(shallow):
        return [(path, deep)]
    _check_level(shallow, deep, check_types)
    below = [v for _, v in _keyed(deep)] if isinstance(deep, dict) else list(deep)
    return [pair for (key, part), value in zip(_keyed(shallow), below) for pair in _pairs(part, value, check_types, (*path, key))]


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Raises TypeError or ValueError if the upper part of a nest does not match another nest."""
    _pairs(shallow_tree, input_tree, check_types)


def flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Returns (path as a tuple, value) for each leaf of the upper part."""
    return _pairs(shallow_tree, input_tree, check_types)


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Returns the parts of a nest at the leaves of another one."""
    return [value for _, value in _pairs(shallow_tree, input_tree, check_types)]


def yield_flattened_up_to(shallow_tree, input_tree):
    """Yields the results of flatten_up_to one by one."""
    yield from flatten_up_to(shallow_tree, input_tree)


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    """Returns the upper part with the results of a function of the path and the values there."""
    check_types = kwargs.pop("check_types", True)
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    columns = [_pairs(shallow_tree, each, check_types) for each in inputs]
    return pack_like(shallow_tree, [func(row[0][0], *(value for _, value in row), **kwargs) for row in zip(*columns)])


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """Returns the upper part with the results of a function of the values there."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *values, **more: func(*values, **more), *inputs, **kwargs)


def flatten_with_tuple_paths(structure, expand_composites=False):
    """Returns (path as a tuple, leaf) of a nest."""
    return _pairs(structure, structure, True)


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """Returns (path as a text, leaf) of a nest."""
    return [(separator.join(map(str, path)), leaf) for path, leaf in flatten_with_tuple_paths(structure)]


def yield_flattened_paths(nest, expand_composites=False):
    """Yields the paths of the leaves, one by one."""
    yield from (path for path, _ in flatten_with_tuple_paths(nest))


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """Returns a nest with the results of a function of the path and the leaves."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func, *structure, **kwargs):
    """Works as map_structure_with_tuple_paths, but the path is a text with slashes."""
    return map_structure_with_tuple_paths(lambda path, *leaves, **more: func("/".join(map(str, path)), *leaves, **more), *structure,
                                          **kwargs)


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """Returns the upper part of a nest: True for leaves, False for parts that the given function does not enter."""
    enter = traverse_fn(structure)
    if not is_nested(structure):
        if not isinstance(enter, bool):
            raise TypeError("traverse_fn returned: %s for a non-structure." % (enter,))
        return enter
    if not is_nested(enter):
        if not isinstance(enter, bool):
            raise TypeError("traverse_fn must return a bool or a structure of bools, not %s" % (enter,))
        return _sequence_like(structure, [get_traverse_shallow_structure(traverse_fn, part) for part in _yield_value(structure)]) \
            if enter else False
    assert_shallow_structure(enter, structure, check_types=False)
    return _sequence_like(structure, [get_traverse_shallow_structure(traverse_fn, part) if go else False
                                      for go, part in zip(_yield_value(enter), _yield_value(structure))])


def flatten_dict_items(dictionary):
    """Returns a dict whose keys and values are nests as a dict of their leaves."""
    if not isinstance(dictionary, dict):
        raise TypeError("FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of '%s'." %
                        type(dictionary).__name__)
    made = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError("Could not flatten dictionary. Key had %d elements, but value had %d elements. Key: %s, value: %s." % (
                len(keys), len(values), keys, values))
        for k, v in zip(keys, values):
            if k in made:
                raise ValueError("Could not flatten dictionary: key %s is not unique." % (k,))
            made[k] = v
    return made


def list_to_tuple(structure):
    """Returns a nest with tuples for its lists."""
    if isinstance(structure, list):
        return tuple(list_to_tuple(part) for part in structure)
    return _sequence_like(structure, [list_to_tuple(part) for part in _yield_value(structure)]) if is_nested(structure) else structure
