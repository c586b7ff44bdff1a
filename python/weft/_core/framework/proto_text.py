"""Reads messages from text, such as .pbtxt files; str(message) writes it."""
import re

from weft._core.framework import dtypes

_TOKEN = re.compile(r"""\s*(?:\#[^\n]*\s*)*("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[-+]?[\w.]+|[{}<>\[\]:,;]|\S)""", re.DOTALL)
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_LETTER = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


class ParseError(ValueError):
    """The error for text that is not a message of the expected class."""


def _unescaped(match):
    code = match.group(1)
    if code[:1] == b"x" and len(code) > 1:
        return bytes([int(code[1:], 16)])
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 255])
    return _LETTER.get(code, code)


def _is_text(token):
    return token[:1] in ("\"", "'")


class _Reader:
    def __init__(self, text):
        self.tokens = [m.group(1) for m in _TOKEN.finditer(text) if m.group(1)]
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self):
        token = self.peek()
        if not token:
            raise ParseError("the text ends inside a message")
        self.at += 1
        return token

    def skips(self, *tokens):
        if self.peek() in tokens:
            self.at += 1
            return True
        return False

    def bytes(self):
        """Returns the bytes of one string, or of several adjacent ones."""
        out = b""
        while _is_text(self.peek()):
            out += _ESCAPE.sub(_unescaped, self.next()[1:-1].encode())
        return out

    def scalar(self, kind):
        if kind in ("string", "bytes"):
            if not _is_text(self.peek()):
                raise ParseError("expected a string, got %s" % self.peek())
            made = self.bytes()
            return made.decode() if kind == "string" else made
        token = self.next()
        if kind == "bool":
            return token in ("true", "True", "t", "1")
        if kind in ("float", "double"):
            return float(token.rstrip("fF") if token[-1] in "fF" and "inf" not in token.lower() else token)
        return int(token, 0)

    def enum(self, message, name):
        token = self.next()
        if re.match(r"[-+]?\d", token):
            return int(token, 0)
        if name in ("dtype", "type") and token.startswith("DT_"):
            return dtypes.as_dtype(token[3:].lower().removesuffix("_ref")).as_datatype_enum + 100 * token.endswith("_REF")
        value = getattr(type(message), token, None)
        if value is None:
            raise ParseError("%s is not a value of %s.%s" % (token, type(message).__name__, name))
        return value

    def skip_value(self):
        """Skips the value of a field that the message class does not have."""
        self.skips(":")
        if self.peek() in ("{", "<", "["):
            depth = 0
            while True:
                token = self.next()
                depth += (token in "{<[") - (token in "}>]")
                if depth == 0:
                    return
        elif _is_text(self.peek()):
            self.bytes()
        else:
            self.next()

    def message(self, made, end):
        while not self.skips(*end):
            if not self.peek():
                if end:
                    raise ParseError("the text ends inside a %s" % type(made).__name__)
                return made
            self.field(made, self.next())
            self.skips(",", ";")
        return made

    def field(self, made, name):
        if name not in made.FIELDS:
            self.skip_value()
            return
        _, kind, shape = made.FIELDS[name]
        self.skips(":")
        if shape in ("map", "imap"):
            self.entry(getattr(made, name), kind, shape)
        elif self.peek() == "[" and shape == "repeated":
            self.next()
            while not self.skips("]"):
                getattr(made, name).append(self.value(made, name, kind))
                self.skips(",")
        elif shape == "repeated":
            getattr(made, name).append(self.value(made, name, kind))
        elif isinstance(kind, str):
            setattr(made, name, self.value(made, name, kind))
        else:
            inside = getattr(made, name)
            inside.SetInParent()
            self.inside(inside)

    def value(self, made, name, kind):
        if not isinstance(kind, str):
            return self.inside(kind())
        return self.enum(made, name) if kind == "enum" else self.scalar(kind)

    def inside(self, made):
        if not self.skips("{", "<"):
            raise ParseError("expected { before the fields of a %s, got %s" % (type(made).__name__, self.peek()))
        return self.message(made, ("}", ">"))

    def entry(self, into, kind, shape):
        if not self.skips("{", "<"):
            raise ParseError("expected { before an entry, got %s" % self.peek())
        key = value = None
        while not self.skips("}", ">"):
            name = self.next()
            self.skips(":")
            if name == "key":
                key = self.scalar("string" if shape == "map" else "int")
            elif isinstance(kind, str):
                value = self.scalar(kind)
            else:
                value = self.inside(kind())
            self.skips(",", ";")
        into.MergeFrom({key: kind() if value is None and not isinstance(kind, str) else value})


def parse(text, message):
    """Fills a message from its text form, and returns it."""
    return _Reader(text).message(message, ())
