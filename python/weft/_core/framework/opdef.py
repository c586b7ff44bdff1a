"""The definitions of ops, read from the library's one-line form (`weft ops NAME` prints it).

    MatMul(a:T, b:T) -> (product:T) | transpose_a:bool=false T:type{float,double} ; stateful
"""
import collections
import re

from weft import _weft
from weft._core.framework import errors
from weft._core.framework.dtypes import _BY_NAME

_LINES = _weft.ops()
_parsed = {}


class Arg:
    """An input or output: its name and its type, given by one of a fixed type, type_attr, number_attr with either, or
    list_attr.
    """

    __slots__ = ("name", "type", "type_attr", "number_attr", "list_attr", "is_ref")

    def __init__(self, text):
        self.name, kind = text.strip().split(":", 1)
        self.type = self.type_attr = self.number_attr = self.list_attr = None
        self.is_ref = kind.startswith("&")
        kind = kind.lstrip("&")
        if "*" in kind:
            self.number_attr, kind = kind.split("*")
            self.is_ref = self.is_ref or kind.startswith("&")
            kind = kind.lstrip("&")
        if kind.startswith("@"):
            self.list_attr = kind[1:]
        elif kind in _BY_NAME:
            self.type = _BY_NAME[kind]
        else:
            self.type_attr = kind


class Attr:
    """An attribute. kind is int, float, bool, type, shape, tensor, string or func; without a default it must be given.
    """

    __slots__ = ("name", "kind", "is_list", "default", "allowed", "least")

    def __init__(self, name, kind, allowed, default, least=None):
        self.name = name
        self.is_list = kind.startswith("list(")
        self.kind = kind[5:-1] if self.is_list else kind
        self.allowed = allowed
        self.default = default
        self.least = least

    def allows(self, name):
        """Returns whether an attribute of kind type allows the type of that name."""
        return self.allowed is None or any(n == name or n in _BY_NAME and _BY_NAME[n].name == name for n in self.allowed[1:-1].split(","))


class OpDef:
    __slots__ = ("name", "inputs", "outputs", "attrs", "doc", "inferred", "is_stateful", "_result")

    def __init__(self, line, doc):
        head, _, rest = line.partition(" | ")
        if not rest:
            head, _, flags = head.partition(" ; ")
        ins, outs = re.match(r"\w+\((.*?)\) -> \((.*?)\)\s*$", head.strip()).groups()
        self.name = line[:line.index("(")]
        self.doc = doc
        self.inputs = [Arg(a) for a in ins.split(",") if a.strip()]
        self.outputs = [Arg(a) for a in outs.split(",") if a.strip()]
        self.attrs = {a.name: a for a in _attrs(rest)}
        self.inferred = {n for a in self.inputs for n in (a.type_attr, a.number_attr, a.list_attr) if n}
        self.is_stateful = "stateful" in line.rpartition(" ; ")[2].split() if " ; " in line else False
        self._result = None

    @property
    def result(self):
        """The named tuple class of an op with several outputs, with the name of the op and a field for each output."""
        if self._result is None:
            self._result = collections.namedtuple(self.name, [o.name for o in self.outputs])
        return self._result


_ATTR = re.compile(r"""(\w+):(list\(\w+\)|\w+)      # name:kind
                       (\{[^}]*\})?                 # {allowed}
                       (?:>=(-?\d+))?               # >=minimum
                       (?:=(\[(?:'[^']*'|[^\]'])*\]|'[^']*'|tensor\([^)]*\)|[^\s]+))?   # =default
                       \s*""", re.X)


def _attrs(text):
    at = 0
    text = text.strip()
    while at < len(text) and text[at] != ";":
        match = _ATTR.match(text, at)
        if not match:
            raise ValueError("cannot read the definition at '%s'" % text[at:])
        name, kind, allowed, least, default = match.groups()
        yield Attr(name, kind, allowed, default, least)
        at = match.end()


def get(name):
    """Returns the definition of an op; raises KeyError if there is none."""
    found = _parsed.get(name)
    if found is None:
        line, doc = _LINES[name]
        found = _parsed[name] = OpDef(line, doc)
    return found


def names():
    return list(_LINES)


def snake(name):
    """Returns an op name as TensorFlow names its generated functions: MatMul -> mat_mul."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


def refused_type(kind, error):
    """Returns TensorFlow's TypeError for an input or a type of its own that is wrong, or None if the library's error is another
    one.
    """
    said = None
    if error._facts & errors.Fact.TYPE_NOT_ALLOWED:
        said = re.match(r"Value for attr '(\w+)' of (\w+) is not", error.message)
    found = said and get(kind)
    if not found:
        return None
    parameter = next((a.name for a in found.inputs if a.type_attr == said.group(1)), said.group(1))
    attrs = found.attrs.values() if isinstance(found.attrs, dict) else found.attrs
    allowed = next(a.allowed for a in attrs if a.name == said.group(1))
    names = [_BY_NAME[n].name if n in _BY_NAME else n for n in allowed[1:-1].split(",")]
    given = _BY_NAME[said.group(2)].name if said.group(2) in _BY_NAME else said.group(2)
    return TypeError("Value passed to parameter '%s' has DataType %s not in list of allowed values: %s" % (
        parameter, given, ", ".join(names)))
