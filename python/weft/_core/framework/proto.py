"""Messages of protobuf, declared as tables of fields; the extension reads and writes their bytes.

A class is made by `message(name, field...)`; a field is "number kind name", with kind one of int (64 bits), int32,
bool, float, double, fixed64, string, bytes, enum, or a message class; "repeated" before the kind makes a list, "map" a dict with text for
keys, "imap" one with ints.  Unset fields read as their default, as in protobuf; fields that the table does not know are kept.
"""
import struct

from weft import _weft
from weft._core.framework.absent import Named, lacks
from weft._core.framework.proto_descriptor import Descriptor, EnumTypeWrapper
from weft._core.framework.proto_fields import DEFAULT, KINDS, MapField, Repeated, checked, copied

_SHAPES = ("one", "repeated", "map", "imap")


def _decode_error():
    """Returns the class of errors for invalid bytes: protobuf's if it can be imported, else ValueError."""
    try:
        from google.protobuf.message import DecodeError
    except ImportError:
        return ValueError
    return type("DecodeError", (DecodeError, ValueError), {})


# Groups (oneofs) of which only one field is set; () means all fields of the message.
ONEOF = {("TensorInfo", "encoding"): ("name", "coo_sparse", "composite_tensor"),
          ("AttrValue", "value"): (), ("Feature", "kind"): (), ("CollectionDef", "kind"): (),
          ("Value", "value"): ("simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor"),
          ("Event", "what"): ("file_version", "graph_def", "summary", "log_message", "session_log", "tagged_run_metadata",
                              "meta_graph_def"),
          ("LearningRateConfig", "tuner"): (), ("AveragingConfig", "config"): (),
          ("LearnerConfig", "feature_fraction"): ("feature_fraction_per_tree", "feature_fraction_per_level")}


class Message(metaclass=Named):
    FIELDS = {}  # name -> (number, kind, shape) with shape "one", "repeated", "map" or "imap"
    _codec_made = _group_table = None  # made on first use
    # _given: whether the message is set even if it is empty; merely looking it up does not set it. See
    # python/ext/message.h.
    __slots__ = ("_values", "_rest", "_given")

    def __init__(self, *args, **fields):
        if args:
            raise TypeError("No positional arguments allowed")
        put = object.__setattr__
        put(self, "_values", {})
        put(self, "_rest", [])
        put(self, "_given", False)
        for name, value in fields.items():
            if name not in self.FIELDS:
                raise ValueError("Protocol message %s has no \"%s\" field." % (type(self).__name__, name))
            if value is not None:
                self._start(name, value)

    def _start(self, name, value):
        """Sets a field that was not set before."""
        _, kind, shape = self.FIELDS[name]
        if shape == "repeated":
            self._values[name] = held = Repeated(kind)
            held.extend(value)
        elif shape != "one":
            self._values[name] = held = MapField(kind)
            held.MergeFrom(value)
        elif isinstance(kind, str):
            setattr(self, name, value)
        elif not isinstance(value, (dict, Message)) and not hasattr(value, "SerializeToString"):
            raise TypeError("Message must be initialized with a dict: %s" % self.DESCRIPTOR.full_name)
        else:
            if self._values:
                self._forget_group(name)
            self._values[name] = made = copied(kind, value)
            made.SetInParent()

    def __getattr__(self, name):
        field = self.FIELDS.get(name)
        if field is None:
            raise lacks(type(self), name, [*self.FIELDS, *dir(type(self))])
        if self._groups():
            self._settle()
        if name not in self._values:
            _, kind, shape = field
            if shape == "one" and isinstance(kind, str):
                return DEFAULT[kind]
            self._values[name] = Repeated(kind) if shape == "repeated" else MapField(kind) if shape in ("map", "imap") else kind()
        return self._values[name]

    def __setattr__(self, name, value):
        field = self.FIELDS.get(name)
        if field is None:
            raise AttributeError("Protocol message %s has no \"%s\" field." % (type(self).__name__, name))
        _, kind, shape = field
        if shape != "one" or not isinstance(kind, str):
            raise AttributeError("Assignment not allowed to message, map, or repeated field \"%s\" in protocol message object." % name)
        if kind == "enum" and isinstance(value, str):
            value = self._enum_number(name, value)
        value = checked(kind, value)
        self._forget_group(name)
        if value == DEFAULT[kind] and not self._in_group(name):
            self._values.pop(name, None)  # Setting a field outside a group to its default unsets it, as in protobuf.
        else:
            self._values[name] = value

    # ---- groups (oneofs) ----

    @classmethod
    def _groups(cls):
        """Returns {name of a group: its fields} of the message."""
        if cls._group_table is None:
            cls._group_table = {group: members or tuple(cls.FIELDS) for (message, group), members in ONEOF.items()
                                if message == cls.__name__}
        return cls._group_table

    @classmethod
    def _in_group(cls, name):
        return any(name in members for members in cls._groups().values())

    def _forget_group(self, name):
        """Unsets the other fields of a field's group, because the field is about to be set."""
        for members in self._groups().values():
            if name in members:
                for other in members:
                    if other != name:
                        self._values.pop(other, None)

    def _settle(self):
        """Keeps only one field of each group.

        Setting a field unsets the others of its group, except when a program fills a message through a reference. That
        message was looked up after the others were set, so the message that was looked up last is kept.
        """
        for members in self._groups().values():
            found = [n for n in self._values if n in members and self._has(n)]
            if len(found) > 1:
                last = [n for n in found if isinstance(self._values[n], Message)][-1]
                for other in found:
                    if other != last:
                        del self._values[other]

    def HasField(self, name):
        """Returns whether a message, or a field of a group, is set."""
        field = self._field_or_error(name)
        if field[2] != "one" or isinstance(field[1], str) and not self._in_group(name):
            raise ValueError("Field %s.%s does not have presence." % (self.DESCRIPTOR.full_name, name))
        self._settle()
        return self._has(name)

    def _field_or_error(self, name):
        if name not in self.FIELDS:
            raise ValueError("Protocol message %s has no \"%s\" field." % (type(self).__name__, name))
        return self.FIELDS[name]

    def _has(self, name):
        value = self._values.get(name)
        return value is not None and (not isinstance(value, Message) or value._is_set())

    # ---- enumerations ----

    @classmethod
    def enum_numbers(cls, name):
        """Returns {name: number} of the enumeration of a field."""
        if name in ("dtype", "type"):
            from weft._core.framework.dtypes import datatype_numbers
            return datatype_numbers()
        listed = getattr(cls, "ENUM_NAMES", {}).get(name)
        return {n: i for i, n in enumerate(listed)} if listed else {
            k: v for k, v in vars(cls).items() if k.isupper() and isinstance(v, int)}

    def _enum_number(self, field, name):
        numbers = self.enum_numbers(field)
        if name not in numbers:
            raise ValueError("unknown enum label \"%s\"" % name)
        return numbers[name]

    def _is_set(self):
        return self._given or bool(self._rest) or any(v._is_set() if isinstance(v, Message) else
                                       bool(v) if isinstance(v, (list, dict)) else True for v in self._values.values())

    def ListFields(self):
        """Returns (descriptor with .name and .number, value) of every field that is set."""
        self._settle()
        set_here = [(n, f[0]) for n, f in self.FIELDS.items() if self._has(n) and (f[2] == "one" or self._values[n])]
        described = self.DESCRIPTOR.fields_by_name
        return [(described[n], self._values[n]) for n, _ in sorted(set_here, key=lambda f: f[1])]

    def WhichOneof(self, oneof_group):
        """Returns the field of a group that is set, or None."""
        members = self._groups().get(oneof_group)
        if members is None:
            raise ValueError("Protocol message %s has no oneof \"%s\" field." % (type(self).__name__, oneof_group))
        self._settle()
        return next((n for n in members if n in self.FIELDS and self._has(n)), None)

    def ClearField(self, name):
        self._field_or_error(name)
        self._values.pop(name, None)

    def Clear(self):
        object.__setattr__(self, "_given", False)
        self._values.clear()
        self._rest.clear()

    def _check_same(self, other, method):
        if type(other).__name__ != type(self).__name__:
            raise TypeError("Parameter to %s() must be instance of same class: expected %s got %s." % (method, type(self), type(other)))

    def CopyFrom(self, other):
        self._check_same(other, "CopyFrom")
        data = other.SerializeToString()
        self.Clear()
        self.MergeFromString(data)
        self.SetInParent()

    def MergeFrom(self, other):
        self._check_same(other, "MergeFrom")
        self.MergeFromString(other.SerializeToString())

    def SetInParent(self):
        object.__setattr__(self, "_given", True)

    @classmethod
    def _codec(cls):
        """Returns the extension's table of the class."""
        if cls._codec_made is None:
            others = {name: tuple(o for group in cls._groups().values() if name in group
                                  for o in group if o != name and o in cls.FIELDS) for name in cls.FIELDS}
            rows = [(number, KINDS.index(kind) if isinstance(kind, str) else len(KINDS), _SHAPES.index(shape), name,
                     None if isinstance(kind, str) else kind, others[name]) for name, (number, kind, shape) in cls.FIELDS.items()]
            cls._codec_made = _weft.message_codec(cls, Repeated, MapField, sorted(rows, key=lambda row: row[0]))
        return cls._codec_made

    def SerializeToString(self, deterministic=None):
        """Returns the bytes of the message. Their order never varies, so `deterministic` has no effect."""
        return _weft.message_write(self._codec(), self)

    def MergeFromString(self, data):
        if isinstance(data, str):
            raise TypeError("expected bytes, str found")
        try:
            _weft.message_read(self._codec(), self, data)
        except (ValueError, TypeError) as e:
            raise _decode_error()("Error parsing message with type '%s': %s" % (self.DESCRIPTOR.full_name, e)) from None
        return len(data)

    def ParseFromString(self, data):
        self.Clear()
        return self.MergeFromString(data)

    @classmethod
    def FromString(cls, data):
        made = cls()
        made.MergeFromString(data)
        return made

    def SerializePartialToString(self, deterministic=None):
        return self.SerializeToString()

    def DiscardUnknownFields(self):
        """Drops the fields that are not in the table of the message."""
        self._rest.clear()

    def FindInitializationErrors(self):
        """Returns an empty list, because no field is required."""
        return []

    def ByteSize(self):
        return len(self.SerializeToString())

    def IsInitialized(self):
        return True

    def __eq__(self, other):
        return type(self) is type(other) and self.SerializeToString() == other.SerializeToString()

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __bool__(self):
        return True

    def __str__(self):
        return "".join(_text_lines(self, ""))

    __repr__ = __str__

    def __deepcopy__(self, memo):
        return type(self).FromString(self.SerializeToString())

    def __reduce__(self):
        return _from_bytes, (type(self), self.SerializeToString())


def _from_bytes(cls, data):
    return cls.FromString(data)


def _short(value):
    """Returns the shortest digits from which a 32-bit float can be read back."""
    for digits in range(6, 10):
        text = "%.*g" % (digits, value)
        if struct.pack("<f", float(text)) == struct.pack("<f", value):
            break
    return repr(float(text))


def _text(value, kind=None):
    if kind == "float" and abs(value) < 3.4e38:
        return _short(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return '"%s"' % "".join(chr(b) if 32 <= b < 127 and b not in (34, 92) else "\\%03o" % b for b in value)
    return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"') if isinstance(value, str) else repr(value)


def _enum_text(m, name, value):
    """Returns the name of an enumeration value, of a type or of a constant of the message."""
    if name in ("dtype", "type"):
        from weft._core.framework.dtypes import datatype_name
        return datatype_name(value)
    # ENUM_NAMES lists the values of each field in messages with several enumerations.
    listed = getattr(type(m), "ENUM_NAMES", {}).get(name, ())
    if 0 <= value < len(listed):
        return listed[value]
    found = [k for k, v in vars(type(m)).items() if k.isupper() and v == value]
    return found[0] if len(found) == 1 else str(value)


def _text_lines(m, indent):
    for name, (_, kind, shape) in sorted(m.FIELDS.items(), key=lambda f: f[1][0]):
        value = m._values.get(name)
        if value is None or (shape != "one" and not value) or (isinstance(value, Message) and not value._is_set()):
            continue
        rows = value if shape == "repeated" else [value]
        if shape in ("map", "imap"):
            for key in sorted(value):
                inside = value[key]
                yield "%s%s {\n%s  key: %s\n" % (indent, name, indent, _text(key))
                if isinstance(inside, Message):
                    yield "%s  value {\n%s%s  }\n" % (indent, "".join(_text_lines(inside, indent + "    ")), indent)
                else:
                    yield "%s  value: %s\n" % (indent, _text(inside))
                yield "%s}\n" % indent
            continue
        for row in rows:
            if isinstance(row, Message):
                yield "%s%s {\n%s%s}\n" % (indent, name, "".join(_text_lines(row, indent + "  ")), indent)
            else:
                yield "%s%s: %s\n" % (indent, name, _enum_text(m, name, row) if kind == "enum" else _text(row, kind))


class _Described:
    """Makes Message.DESCRIPTOR when it is first read."""

    def __get__(self, instance, owner):
        if "_descriptor" not in vars(owner) or len(owner._descriptor.fields) != len(owner.FIELDS):
            owner._descriptor = Descriptor(owner, groups=owner._groups())
        return owner._descriptor


Message.DESCRIPTOR = _Described()


def enumeration(cls, name, *keys):
    """Adds an enumeration, by its name, to a message that already has its constants."""
    setattr(cls, name, EnumTypeWrapper(name, {key: getattr(cls, key) for key in keys}))


def message(name, *fields, **extra):
    """Returns a new message class, as in message("GPUOptions", "1 double per_process_gpu_memory_fraction", (5, Cls,
    "nested"), ...).
    """
    table = {}
    for field in fields:
        if isinstance(field, str):
            words = field.split()
            shape = words[1] if words[1] in ("repeated", "map", "imap") else "one"
            table[words[-1]] = (int(words[0]), words[-2], shape)
        else:
            number, kind, label = field[:3]
            table[label] = (number, kind, field[3] if len(field) > 3 else "one")
    return type(name, (Message,), {"FIELDS": table, "__slots__": (), "__module__": "weft._core.framework.protos", **extra})


def add_field(cls, name, number, kind, shape="one"):
    """Adds a field to a class that is not in use yet, such as one whose messages contain messages of the same class."""
    assert cls._codec_made is None, cls
    cls.FIELDS[name] = (number, kind, shape)
