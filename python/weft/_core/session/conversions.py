"""Lets objects of a program's own classes, and of attrs classes, be fetches and feeds of Session.run."""
# (type, fetch function, feed function, feed function of partial runs); the last one registered comes first
_registered = []


def register_session_run_conversion_functions(tensor_type, fetch_function, feed_function=None, feed_function_for_partial_run=None):
    """Makes Session.run accept objects of tensor_type.

    fetch_function(object) returns the fetches and a function from the list of their values to the result.
    feed_function(object, value) returns the pairs to feed. feed_function_for_partial_run(object) returns the keys of a
    setup.
    """
    if any(issubclass(known, tensor_type) for known, *_ in _registered):
        raise ValueError("%s has already been registered so ignore it." % tensor_type)
    _registered.insert(0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def _functions(value):
    for row in _registered:
        if isinstance(value, row[0]):
            return row
    return None


def fetch_parts(value):
    """Returns (fetches, function from the list of their values to the result) for such an object, or None for other
    values.
    """
    row = _functions(value)
    if row is not None:
        return row[1](value)
    fields = getattr(type(value), "__attrs_attrs__", None)
    if fields is None:
        return None
    kind = type(value)
    return [getattr(value, f.name) for f in fields], lambda values: kind(*values)


def feed_pairs(key, value):
    """Returns the (key, value) pairs of a feed whose key is an object of a registered class, or None for other keys."""
    row = _functions(key)
    if row is None or row[2] is None:
        return None
    return row[2](key, value)


def feed_keys(key):
    """Returns the keys of a partial run's feed that is an object of a registered class, or None for other keys."""
    row = _functions(key)
    if row is None or row[3] is None:
        return None
    return row[3](key)
