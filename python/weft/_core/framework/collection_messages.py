"""How programs write the items of their own collections to a MetaGraphDef: as messages, with functions that convert both ways."""

_messages = {}


def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """Registers the message of a collection's items and the functions that convert between both."""
    if to_proto is not None and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto is not None and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    if collection_name in _messages:
        raise KeyError("Registering two proto functions with name '%s'!" % collection_name)
    _messages[collection_name] = (proto_type, to_proto, from_proto)


def _message(collection_name, which):
    return _messages.get(collection_name, (None, None, None))[which]


def get_collection_proto_type(collection_name):
    """Returns the message class that is registered for a collection, or None."""
    return _message(collection_name, 0)


def get_to_proto_function(collection_name):
    """Returns the function that makes a message of an item of a collection, or None."""
    return _message(collection_name, 1)


def get_from_proto_function(collection_name):
    """Returns the function that makes an item of a message, or None."""
    return _message(collection_name, 2)
