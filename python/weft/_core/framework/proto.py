"""Protobuf's wire format in a page: messages declared as a table of fields.

A class is made by `message(name, field...)`; a field is "number kind name", with kind one of int (64 bits), int32,
bool, float, double, fixed64, string, bytes, enum, or a message class; "repeated" before the kind makes a list, "map" a dict with text for
keys, "imap" one with ints.  Unset fields read as their default, as in protobuf; fields that the table does not know are kept.
"""
import struct

from weft._core.framework.absent import Named
from weft._core.framework.proto_descriptor import Descriptor, EnumTypeWrapper
from weft._core.framework.proto_fields import DEFAULT, MapField, Repeated, checked, copied, in_range


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def read_varint(data, at):
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def signed(n):
    return n - (1 << 64) if n >= 1 << 63 else n


def walk(data):
    """Yields (number, wire type, value) of each field: ints, or bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire == 2:
            size, at = read_varint(data, at)
            value = bytes(data[at:at + size])
            if len(value) != size:
                raise ValueError("a message ends in the middle of field %d" % number)
            at += size
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value = bytes(data[at:at + size])
            at += size
        else:
            raise ValueError("field %d has wire type %d" % (number, wire))
        yield number, wire, value


def put(number, wire, value):
    """One field on the wire; value is an int for wire 0, else bytes."""
    head = varint(number << 3 | wire)
    if wire == 0:
        return head + varint(value)
    return head + (varint(len(value)) if wire == 2 else b"") + value


def _encode(number, kind, value):
    if kind in ("int", "int32", "enum"):
        return put(number, 0, in_range(kind, value))
    if kind == "bool":
        return put(number, 0, int(value))
    if kind == "fixed64":
        return put(number, 1, struct.pack("<Q", value))
    if kind in ("float", "double"):
        return put(number, 5 if kind == "float" else 1, struct.pack("<f" if kind == "float" else "<d", value))
    if kind == "string":
        return put(number, 2, value if isinstance(value, bytes) else value.encode())
    if kind == "bytes":
        return put(number, 2, value.encode() if isinstance(value, str) else bytes(value))
    return put(number, 2, value.SerializeToString())


def _decode(kind, value):
    if kind in ("int", "int32", "enum"):
        return signed(value)
    if kind == "bool":
        return bool(value)
    if kind == "fixed64":
        return struct.unpack("<Q", value)[0]
    if kind in ("float", "double"):
        return struct.unpack("<f" if kind == "float" else "<d", value)[0]
    if kind == "string":
        return value.decode("utf-8", "replace")
    if kind == "bytes":
        return value
    return kind.FromString(value)


def _unpacked(kind, wire, value):
    """A repeated number may come packed."""
    if wire != 2 or not isinstance(kind, str) or kind in ("string", "bytes"):
        return [_decode(kind, value)]
    out, at = [], 0
    while at < len(value):
        if kind in ("float", "double"):
            size = 4 if kind == "float" else 8
            out.append(_decode(kind, value[at:at + size]))
            at += size
        else:
            number, at = read_varint(value, at)
            out.append(_decode(kind, number))
    return out


def _decode_error():
    """The class of errors for bytes that are no message: protobuf's, where a program can catch it."""
    try:
        from google.protobuf.message import DecodeError
    except ImportError:
        return ValueError
    return type("DecodeError", (DecodeError, ValueError), {})


# Groups of which one field is set; (): all fields of the message.
_ONEOF = {("AttrValue", "value"): (), ("Feature", "kind"): (), ("CollectionDef", "kind"): (),
          ("Value", "value"): ("simple_value", "obsolete_old_style_histogram", "image", "histo", "audio", "tensor"),
          ("Event", "what"): ("file_version", "graph_def", "summary", "log_message", "session_log", "tagged_run_metadata",
                              "meta_graph_def")}


class Message(metaclass=Named):
    FIELDS = {}  # name -> (number, kind, shape) with shape "one", "repeated", "map" or "imap"

    def __init__(self, *args, **fields):
        if args:
            raise TypeError("No positional arguments allowed")
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_rest", [])
        object.__setattr__(self, "_given", False)  # there, though nothing be in it; one that was only looked up is not
        for name, value in fields.items():
            if name not in self.FIELDS:
                raise ValueError("Protocol message %s has no \"%s\" field." % (type(self).__name__, name))
            _, kind, shape = self.FIELDS[name]
            if value is None:
                continue
            if shape == "repeated":
                getattr(self, name).extend(value)
            elif shape in ("map", "imap"):
                getattr(self, name).MergeFrom(value)
            elif isinstance(kind, str):
                setattr(self, name, value)
            elif not isinstance(value, (dict, Message)) and not hasattr(value, "SerializeToString"):
                raise TypeError("Message must be initialized with a dict: %s" % self.DESCRIPTOR.full_name)
            else:
                self._forget_group(name)
                self._values[name] = copied(kind, value)
                self._values[name].SetInParent()

    def __getattr__(self, name):
        field = self.FIELDS.get(name)
        if field is None:
            raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))
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
            self._values.pop(name, None)  # a default outside of a group is the same as an unset field, as in protobuf
        else:
            self._values[name] = value

    # ---- groups of fields of which one is set ----

    @classmethod
    def _groups(cls):
        """{name of a group: its fields} of the message."""
        if "_group_table" not in vars(cls):
            cls._group_table = {group: members or tuple(cls.FIELDS) for (message, group), members in _ONEOF.items()
                                if message == cls.__name__}
        return cls._group_table

    @classmethod
    def _in_group(cls, name):
        return any(name in members for members in cls._groups().values())

    def _forget_group(self, name):
        """Unsets the other fields of a field's group: it is about to be set."""
        for members in self._groups().values():
            if name in members:
                for other in members:
                    if other != name:
                        self._values.pop(other, None)

    def _settle(self):
        """Keeps one field of each group.

        Whatever is set drops the others, except a message that the program fills through a reference.  It was looked up
        after the others were set, or they would have dropped it: so the message that was looked up last is the one."""
        for members in self._groups().values():
            found = [n for n in self._values if n in members and self._has(n)]
            if len(found) > 1:
                last = [n for n in found if isinstance(self._values[n], Message)][-1]
                for other in found:
                    if other != last:
                        del self._values[other]

    def HasField(self, name):
        """Whether a message, or a field of a group, is set."""
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
        """{name: number} of the enumeration of a field."""
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
        """(a name that has .name and .number, the value) of every field that is set."""
        self._settle()
        set_here = [(n, f[0]) for n, f in self.FIELDS.items() if self._has(n) and (f[2] == "one" or self._values[n])]
        described = self.DESCRIPTOR.fields_by_name
        return [(described[n], self._values[n]) for n, _ in sorted(set_here, key=lambda f: f[1])]

    def WhichOneof(self, oneof_group):
        """The field of a group that is set, or None."""
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

    def SerializeToString(self, deterministic=None):
        """The bytes of the message; they are always in the same order, with `deterministic` or without."""
        out = []
        self._settle()
        for name, (number, kind, shape) in sorted(self.FIELDS.items(), key=lambda f: f[1][0]):
            value = self._values.get(name)
            if value is None:
                continue
            if shape == "repeated":
                if value and isinstance(kind, str) and kind not in ("string", "bytes"):
                    body = b"".join(_encode(1, kind, v)[1:] for v in value)
                    out.append(put(number, 2, body))
                else:
                    out.extend(_encode(number, kind, v) for v in value)
            elif shape in ("map", "imap"):
                for key in sorted(value):
                    head = _encode(1, "string" if isinstance(key, str) else "int32", key)
                    out.append(put(number, 2, head + _encode(2, kind, value[key])))
            elif isinstance(value, Message):
                if value._is_set():
                    out.append(put(number, 2, value.SerializeToString()))
            else:
                out.append(_encode(number, kind, value))
        out.extend(put(*field) for field in self._rest)
        return b"".join(out)

    def MergeFromString(self, data):
        if isinstance(data, str):
            raise TypeError("expected bytes, str found")
        try:
            return self._merge(data)
        except (ValueError, IndexError, TypeError, struct.error) as e:
            raise _decode_error()("Error parsing message with type '%s': %s" % (self.DESCRIPTOR.full_name, e)) from None

    def _merge(self, data):
        known = {number: (name, kind, shape) for name, (number, kind, shape) in self.FIELDS.items()}
        for number, wire, value in walk(data):
            if number not in known:
                self._rest.append((number, wire, value))
                continue
            name, kind, shape = known[number]
            if shape == "repeated":
                list.extend(getattr(self, name), _unpacked(kind, wire, value))
            elif shape in ("map", "imap"):
                entry = {n: v for n, _, v in walk(value)}
                key = signed(entry.get(1, 0)) if shape == "imap" else entry.get(1, b"").decode()
                raw = entry.get(2, 0 if kind in ("int", "int32", "enum", "bool") else b"")
                dict.__setitem__(getattr(self, name), key, _decode(kind, raw))
            else:
                self._forget_group(name)
                if isinstance(kind, str):
                    self._values[name] = _decode(kind, value)
                else:
                    getattr(self, name).MergeFromString(value)
                    self._values[name].SetInParent()
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
        """Drops the fields that the table of the message does not know."""
        self._rest.clear()

    def FindInitializationErrors(self):
        """The required fields that are not set: there are none."""
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
    """The shortest digits that give a float of 32 bits again."""
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
    """TensorFlow's name of a number: a type's, or a constant of the message."""
    if name in ("dtype", "type"):
        from weft._core.framework.dtypes import datatype_name
        return datatype_name(value)
    listed = getattr(type(m), "ENUM_NAMES", {}).get(name, ())  # where a message has several enumerations
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
    """Message.DESCRIPTOR: made when it is first asked for."""

    def __get__(self, instance, owner):
        if "_descriptor" not in vars(owner) or len(owner._descriptor.fields) != len(owner.FIELDS):
            owner._descriptor = Descriptor(owner, groups=owner._groups())
        return owner._descriptor


Message.DESCRIPTOR = _Described()


def enumeration(cls, name, *keys):
    """Gives a message an enumeration by its name, of constants that the message has."""
    setattr(cls, name, EnumTypeWrapper(name, {key: getattr(cls, key) for key in keys}))


def message(name, *fields, **extra):
    """message("GPUOptions", "1 double per_process_gpu_memory_fraction", (5, Cls, "nested"), ...)"""
    table = {}
    for field in fields:
        if isinstance(field, str):
            words = field.split()
            shape = words[1] if words[1] in ("repeated", "map", "imap") else "one"
            table[words[-1]] = (int(words[0]), words[-2], shape)
        else:
            number, kind, label = field[:3]
            table[label] = (number, kind, field[3] if len(field) > 3 else "one")
    made = type(name, (Message,), {"FIELDS": table, "__module__": "weft._core.framework.protos", **extra})
    return made
