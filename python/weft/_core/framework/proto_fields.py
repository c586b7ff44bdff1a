"""The fields of messages: types of values, and the lists and dicts of repeated fields.

A value is checked when it is stored, as in protobuf, so that a wrong type raises an error at the line that sets it and
not when the message is written.
"""
import operator
import struct

from weft import _weft

# The order is that of the numbers in python/ext/message.h.
KINDS = ("int", "int32", "enum", "bool", "fixed64", "float", "double", "string", "bytes")
DEFAULT = {"int": 0, "int32": 0, "fixed64": 0, "enum": 0, "bool": False, "float": 0.0, "double": 0.0, "string": "", "bytes": b""}
# "int" holds signed and unsigned integers.
_RANGE = {"int": (-2**63, 2**64), "int32": (-2**31, 2**31), "enum": (-2**31, 2**31), "fixed64": (0, 2**64)}


def in_range(kind, value):
    """Returns the integer; raises protobuf's error if the field cannot hold it, because writing would wrap it."""
    value = operator.index(value.item() if type(value).__name__ in ("bool_", "bool") and hasattr(value, "item") else value)
    least, end = _RANGE[kind]
    if not least <= value < end:
        raise ValueError("Value out of range: %d" % value)
    return value


def _real(kind, value):
    """Returns a number as the field holds it; a float is rounded to 32 bits."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise TypeError("must be real number, not %s" % type(value).__name__)
    value = float(value)
    if kind == "double":
        return value
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def checked(kind, value):
    """Returns a value as a field of this kind holds it; raises TypeError or ValueError if it cannot."""
    if kind in _RANGE:
        return in_range(kind, value)
    if kind == "bool":
        return bool(in_range("int", value))
    if kind in ("float", "double"):
        return _real(kind, value)
    if kind == "string":
        if not isinstance(value, (str, bytes)):
            raise TypeError("%r has type %s, but expected one of: bytes, str" % (value, type(value).__name__))
        return value.decode() if isinstance(value, bytes) else str(value)
    if kind == "bytes":  # Text is encoded as UTF-8, because programs of Python 2 pass text here.
        if not isinstance(value, (str, bytes, bytearray, memoryview)):
            raise TypeError("expected bytes, %s found" % type(value).__name__)
        return value.encode() if isinstance(value, str) else bytes(value)
    return copied(kind, value)


def copied(kind, value):
    """Returns a new message with the contents of another message or a dict."""
    if type(value) is kind:
        return _weft.message_copy(kind._codec(), value)
    if isinstance(value, dict):
        return kind(**value)
    made = kind()
    made.CopyFrom(value)
    return made


def _all_checked(kind, values):
    """Returns the items of an iterable as a field of this kind holds them."""
    if not isinstance(kind, str):
        return [copied(kind, value) for value in values]
    if getattr(values, "ndim", 0) == 1 and hasattr(values, "tolist"):
        values = values.tolist()  # Converts numpy's numbers to Python's.
    return _weft.message_values(KINDS.index(kind), values, lambda value: checked(kind, value))


class Repeated(list):
    """The values of a repeated field. Each is checked when it is added, and messages are copied."""

    __slots__ = ("_kind",)

    def __init__(self, kind):
        super().__init__()
        self._kind = kind

    def append(self, value):
        """Puts a value, or a copy of a message, at the end."""
        super().append(checked(self._kind, value))

    def extend(self, values):
        """Puts values, or copies of messages, at the end."""
        if values is None:
            return
        if not hasattr(values, "__iter__") and not hasattr(values, "__getitem__"):
            raise TypeError("Value must be iterable")
        super().extend(_all_checked(self._kind, values))

    MergeFrom = extend

    def __iadd__(self, values):
        self.extend(values)
        return self

    def insert(self, index, value):
        """Puts a value before another one."""
        super().insert(index, checked(self._kind, value))

    def __setitem__(self, index, value):
        if not isinstance(self._kind, str):
            raise TypeError("does not support assignment")
        several = isinstance(index, slice)
        super().__setitem__(index, _all_checked(self._kind, value) if several else checked(self._kind, value))

    def replace_all(self, values):
        """Replaces all values without copying messages. Only this package uses it."""
        super().__setitem__(slice(None), values)

    def __getattr__(self, name):
        if name == "add" and not isinstance(self._kind, str):
            return self._add
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))

    def _add(self, *args, **fields):
        """Appends a new message with these fields, and returns it."""
        made = self._kind(*args, **fields)
        super().append(made)
        return made


class MapField(dict):
    """The values of a map field by key. As in protobuf, reading a missing key adds it."""

    __slots__ = ("_kind",)

    def __init__(self, kind):
        super().__init__()
        self._kind = kind

    def __missing__(self, key):
        made = DEFAULT[self._kind] if isinstance(self._kind, str) else self._kind()
        super().__setitem__(key, made)
        return made

    def __setitem__(self, key, value):
        if not isinstance(self._kind, str):
            raise ValueError("Message objects may not be assigned")
        super().__setitem__(key, checked(self._kind, value))

    def MergeFrom(self, other):
        """Copies the entries of another dict into this one."""
        for key in other:
            super().__setitem__(key, checked(self._kind, other[key]))

    def update(self, *others, **more):
        """Sets entries from other dicts; messages are merged instead of assigned."""
        for key, value in dict(*others, **more).items():
            self[key] = value

    def get_or_create(self, key):
        """Returns the message of a key, which is made if there is none."""
        return self[key]
