"""The fields of messages: types of values, and the lists and dicts of repeated fields.

A value is checked when it is stored, as in protobuf: one of a wrong type is an error at the line that gives it, and not when
the message is written.
"""
import operator
import struct

from weft import _weft

KINDS = ("int", "int32", "enum", "bool", "fixed64", "float", "double", "string", "bytes")  # as python/ext/message.h numbers them
DEFAULT = {"int": 0, "int32": 0, "fixed64": 0, "enum": 0, "bool": False, "float": 0.0, "double": 0.0, "string": "", "bytes": b""}
_RANGE = {"int": (-2**63, 2**64), "int32": (-2**31, 2**31), "enum": (-2**31, 2**31), "fixed64": (0, 2**64)}  # int: of either sign


def in_range(kind, value):
    """The integer, or protobuf's complaint about one that the field does not hold: on the wire it would wrap."""
    value = operator.index(value.item() if type(value).__name__ in ("bool_", "bool") and hasattr(value, "item") else value)
    least, end = _RANGE[kind]
    if not least <= value < end:
        raise ValueError("Value out of range: %d" % value)
    return value


def _real(kind, value):
    """A number as the field holds it: a float has 32 bits."""
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
    """The value as a field of a kind holds it; TypeError or ValueError if it cannot."""
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
    if kind == "bytes":  # text is taken for its UTF-8, as programs of Python 2 give it
        if not isinstance(value, (str, bytes, bytearray, memoryview)):
            raise TypeError("expected bytes, %s found" % type(value).__name__)
        return value.encode() if isinstance(value, str) else bytes(value)
    return copied(kind, value)


def copied(kind, value):
    """A message of its own with what another one, or a dict, has."""
    if type(value) is kind:
        return _weft.message_copy(kind._codec(), value)
    if isinstance(value, dict):
        return kind(**value)
    made = kind()
    made.CopyFrom(value)
    return made


def _all_checked(kind, values):
    """The values of something that can be iterated over, as a field of a kind holds them."""
    if not isinstance(kind, str):
        return [copied(kind, value) for value in values]
    if getattr(values, "ndim", 0) == 1 and hasattr(values, "tolist"):
        values = values.tolist()  # numpy's numbers as Python's
    return _weft.message_values(KINDS.index(kind), values, lambda value: checked(kind, value))


class Repeated(list):
    """The values of a field, each checked; messages are copied when they are put in."""

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
        """Holds these values and no others, without copies of messages: for this package's own use."""
        super().__setitem__(slice(None), values)

    def __getattr__(self, name):
        if name == "add" and not isinstance(self._kind, str):
            return self._add
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))

    def _add(self, *args, **fields):
        """A new message at the end, with these fields."""
        made = self._kind(*args, **fields)
        super().append(made)
        return made


class MapField(dict):
    """The values of a field by their keys; one that is looked up is there."""

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
        """Takes copies of what another dict has."""
        for key in other:
            super().__setitem__(key, checked(self._kind, other[key]))

    def update(self, *others, **more):
        """Takes values of other dicts; messages are not assigned but merged."""
        for key, value in dict(*others, **more).items():
            self[key] = value

    def get_or_create(self, key):
        """The message of a key, made if there is none."""
        return self[key]
