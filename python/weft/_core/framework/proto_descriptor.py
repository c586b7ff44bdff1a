"""Descriptors of messages, as in protobuf: DESCRIPTOR, the fields, and enumerations by name.

google.protobuf.json_format and programs that walk the fields of a message read these.
"""
import re

_TYPES = {"double": (1, 5), "float": (2, 6), "int": (3, 2), "int32": (5, 1), "fixed64": (6, 4), "bool": (8, 7), "string": (9, 9),
          "bytes": (12, 9), "enum": (14, 8)}  # protobuf's numbers of the type and of the C++ type
_MESSAGE = (11, 10)
_OPTIONAL, _REPEATED = 1, 3
FULL_NAMES = {}  # {class: "tensorflow.GraphDef"}, filled when the table of messages is complete


class EnumTypeWrapper:
    """The names and numbers of an enumeration."""

    def __init__(self, name, numbers):
        self._name, self._numbers = name, dict(numbers)
        for key, number in numbers.items():
            setattr(self, key, number)

    def Name(self, number):
        """Returns the name of a number."""
        for name, value in self._numbers.items():
            if value == number:
                return name
        raise ValueError("Enum %s has no name defined for value %r" % (self._name, number))

    def Value(self, name):
        """Returns the number of a name."""
        if name not in self._numbers:
            raise ValueError("Enum %s has no value defined for name %r" % (self._name, name))
        return self._numbers[name]

    def keys(self):
        """Returns the names."""
        return list(self._numbers)

    def values(self):
        """Returns the numbers."""
        return list(self._numbers.values())

    def items(self):
        """Returns all (name, number) pairs."""
        return list(self._numbers.items())


class _EnumValue:
    def __init__(self, name, number):
        self.name, self.number = name, number


class EnumDescriptor:
    """The values of the enumeration that a field has."""

    is_closed = False

    def __init__(self, field, names):
        self.name = self.full_name = field
        self.values = [_EnumValue(name, number) for name, number in names.items()]
        self.values_by_name = {v.name: v for v in self.values}
        self.values_by_number = {v.number: v for v in reversed(self.values)}


class _Options:
    def __init__(self, map_entry):
        self.map_entry = map_entry


class _File:
    name, package = "tensorflow", "tensorflow"


class OneofDescriptor:
    """A group of fields (oneof) of which only one is set."""

    def __init__(self, name, fields):
        self.name, self.fields = name, fields


class FieldDescriptor:
    """A field: its name, number, type and label, as protobuf numbers them."""

    is_extension = has_default_value = False

    def __init__(self, owner, name, number, kind, shape):
        self.name, self.number = name, number
        self.full_name = "%s.%s" % (owner.full_name, name)
        self.json_name = self.camelcase_name = re.sub(r"_(.)", lambda m: m.group(1).upper(), name)
        self.label = _OPTIONAL if shape == "one" else _REPEATED
        self.containing_type, self.containing_oneof = owner, None
        self._kind, self._shape = kind, shape
        plain = isinstance(kind, str) and shape not in ("map", "imap")
        self.type, self.cpp_type = _TYPES[kind] if plain else _MESSAGE

    @property
    def default_value(self):
        """The value of the field if it is not set."""
        from weft._core.framework.proto_fields import DEFAULT
        return [] if self.label == _REPEATED else DEFAULT[self._kind] if isinstance(self._kind, str) else None

    @property
    def has_presence(self):
        """Whether a field that is set to its default differs from one that is not set."""
        return self.label != _REPEATED and (not isinstance(self._kind, str) or self.containing_oneof is not None)

    @property
    def message_type(self):
        """The Descriptor of the messages in the field, or None."""
        if self._shape in ("map", "imap"):
            return _entry(self)
        return None if isinstance(self._kind, str) else self._kind.DESCRIPTOR

    @property
    def enum_type(self):
        """The EnumDescriptor of the field, or None."""
        return EnumDescriptor(self.name, self.containing_type._class.enum_numbers(self.name)) if self._kind == "enum" else None


class Descriptor:
    """A message's name and fields."""

    has_options = is_extendable = False
    file, nested_types, extensions = _File, (), ()

    def __init__(self, cls, full_name=None, fields=None, groups=None):
        self._class, self.full_name = cls, full_name or FULL_NAMES.get(cls, "tensorflow." + cls.__name__)
        self.name = self.full_name.rpartition(".")[2]
        table = cls.FIELDS if fields is None else fields
        self.fields = [FieldDescriptor(self, name, *spec) for name, spec in table.items()]
        self.fields_by_name = {f.name: f for f in self.fields}
        self.fields_by_number = {f.number: f for f in self.fields}
        self.fields_by_camelcase_name = {f.json_name: f for f in self.fields}
        self.oneofs = []
        for name, members in (groups or {}).items():
            made = OneofDescriptor(name, [f for f in self.fields if f.name in members])
            self.oneofs.append(made)
            for field in made.fields:
                field.containing_oneof = made
        self.oneofs_by_name = {o.name: o for o in self.oneofs}

    def GetOptions(self):
        """Returns the options of the message: whether it is an entry of a map."""
        return _Options(self.has_options)


def _entry(field):
    """Returns the message of one entry of a map: its key and its value."""
    key = "int32" if field._shape == "imap" else "string"
    name = "%s.%sEntry" % (field.containing_type.full_name, field.name.title().replace("_", ""))
    made = Descriptor(field.containing_type._class, name, {"key": (1, key, "one"), "value": (2, field._kind, "one")})
    made.has_options = True
    return made


def name_all(table, outside):
    """Sets the full names of the messages in a table; those of nested messages begin with the outer names."""
    def walk(cls, full):
        if FULL_NAMES.setdefault(cls, full) == full:
            for name, inner in vars(cls).items():
                if isinstance(inner, type) and hasattr(inner, "FIELDS"):
                    walk(inner, "%s.%s" % (full, name))
    found = {name: cls for name, cls in table.items() if isinstance(cls, type) and hasattr(cls, "FIELDS")}
    for name in sorted(found, key=lambda n: ("_" in n, n)):
        walk(found[name], ("google.protobuf." if name in outside else "tensorflow.") + name.replace("_", "."))
