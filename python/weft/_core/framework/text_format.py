"""Parses and prints this package's messages as google.protobuf.text_format does."""
import re

from weft._core.framework.proto import Message

_TOKEN = re.compile(r"""\s*(?:#[^\n]*\s*)*(?:(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|"""
                    r"""(?P<word>[A-Za-z0-9_.+\-]+)|(?P<mark>[{}<>\[\]:;,]))""")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11}
_CLOSE = {"{": "}", "<": ">"}


class Error(Exception):
    pass


class ParseError(Error):
    pass


def _tokens(text):
    """Returns (kind, token, line) of each token."""
    at, found = 0, []
    end = len(re.sub(r"(\s|#[^\n]*(\n|\Z))+\Z", "", text))
    while at < end:
        m = _TOKEN.match(text, at)
        if m is None or m.end() == at:
            raise ParseError("%d : cannot read %r" % (text.count("\n", 0, at) + 1, text[at:at + 20].strip()))
        found.append((m.lastgroup, m.group(m.lastgroup), text.count("\n", at, m.end())))
        at = m.end()
    line = 1
    for i, (kind, token, more) in enumerate(found):
        line += more
        found[i] = kind, token, line
    return found


def _unquoted(token):
    """Returns the bytes of a quoted string."""
    def one(m):
        c = m.group(1)
        if c[0] in "01234567":
            return bytes([int(c, 8) & 255])
        if c[0] in "xX":
            return bytes([int(c[1:], 16)])
        return bytes([_ESCAPES[c]]) if c in _ESCAPES else c.encode("utf-8")
    body = token[1:-1].encode("utf-8").decode("latin1")
    parts = re.split(r"\\([0-7]{1,3}|[xX][0-9a-fA-F]{1,2}|.)", body)
    out = []
    for i, part in enumerate(parts):
        out.append(part.encode("latin1") if i % 2 == 0 else one(re.match(r"(?s)(.*)", part)))
    return b"".join(out)


class _Reader:
    def __init__(self, text):
        self._tokens, self._at = _tokens(text), 0

    def peek(self):
        return self._tokens[self._at][1] if self._at < len(self._tokens) else None

    def take(self):
        if self._at >= len(self._tokens):
            raise ParseError("the text ends within a message")
        self._at += 1
        return self._tokens[self._at - 1]

    def fail(self, said):
        line = self._tokens[min(self._at, len(self._tokens)) - 1][2] if self._tokens else 1
        raise ParseError("%d : %s" % (line, said))

    def skip(self, marks):
        while self.peek() is not None and self.peek() in marks and self._tokens[self._at][0] == "mark":
            self._at += 1

    def fields(self, m, end):
        while self.peek() != end:
            if self.peek() is None:
                self.fail("expected %r" % end) if end else None
                return
            self.field(m)
            self.skip(",;")
        if end:
            self.take()

    def field(self, m):
        name = self.take()[1]
        if name not in m.FIELDS:
            self.fail('Message type "tensorflow.%s" has no field named "%s".' % (type(m).__name__, name))
        _, kind, shape = m.FIELDS[name]
        self.skip(":")
        if self.peek() == "[":
            self.take()
            while self.peek() != "]":
                self.value(m, name, kind, shape)
                self.skip(",")
            self.take()
        else:
            self.value(m, name, kind, shape)

    def value(self, m, name, kind, shape):
        if shape in ("map", "imap"):
            self.entry(getattr(m, name), kind)
        elif not isinstance(kind, str):
            opened = self.take()[1]
            if opened not in _CLOSE:
                self.fail("expected a message for field %r, not %r" % (name, opened))
            inside = getattr(m, name).add() if shape == "repeated" else getattr(m, name)
            inside.SetInParent()
            self.fields(inside, _CLOSE[opened])
        elif shape == "repeated":
            getattr(m, name).append(self.scalar(m, name, kind))
        else:
            setattr(m, name, self.scalar(m, name, kind))

    def entry(self, into, kind):
        """Parses the key and the value of a map entry."""
        close, key, made = _CLOSE[self.take()[1]], None, None
        while self.peek() != close:
            part = self.take()[1]
            self.skip(":")
            if part == "key":
                what, token, _ = self.take()
                key = _unquoted(token).decode("utf-8") if what == "text" else int(token)
            elif isinstance(kind, str):
                made = self.scalar(None, "value", kind)
            else:
                made = kind()
                self.fields(made, _CLOSE[self.take()[1]])
            self.skip(",;")
        self.take()
        if made is None:
            made = into[key]
        into.MergeFrom({key: made})

    def scalar(self, m, name, kind):
        what, token, _ = self.take()
        if what == "text":
            data = _unquoted(token)
            while self._at < len(self._tokens) and self._tokens[self._at][0] == "text":
                data += _unquoted(self.take()[1])
            if kind not in ("string", "bytes"):
                self.fail("field %r is no text" % name)
            return data.decode("utf-8") if kind == "string" else data
        try:
            if kind == "bool":
                return {"true": True, "True": True, "t": True, "1": True, "false": False, "False": False, "f": False,
                        "0": False}[token]
            if kind in ("float", "double"):
                return float(token.rstrip("fF") if not token.lower().lstrip("-").startswith(("inf", "nan")) else token)
            return int(token, 0)
        except (KeyError, ValueError):
            if kind == "enum":
                return self.enum(m, token)
            self.fail("%r is no value of field %r, which is %s" % (token, name, kind))

    def enum(self, m, token):
        from weft._core.framework.dtypes import datatype_number
        found = getattr(type(m), token, None)
        found = datatype_number(token) if found is None else found
        if found is None:
            self.fail("%r is no number that has a name" % token)
        return found


def Merge(text, message, allow_unknown_extension=False, allow_field_number=False, descriptor_pool=None, allow_unknown_field=False):
    """Merges a text into a message, and returns the message."""
    _Reader(text.decode("utf-8") if isinstance(text, bytes) else text).fields(message, None)
    return message


def Parse(text, message, *args, **kwargs):
    return Merge(text, message, *args, **kwargs)


def MergeLines(lines, message, *args, **kwargs):
    return Merge("\n".join(x.decode("utf-8") if isinstance(x, bytes) else x for x in lines), message)


ParseLines = MergeLines


def MessageToString(message, as_utf8=True, as_one_line=False, **kwargs):
    return re.sub(r"\n\s*", " ", str(message)).strip() if as_one_line else str(message)


def MessageToBytes(message, **kwargs):
    return MessageToString(message, **kwargs).encode("utf-8")


def PrintMessage(message, out, **kwargs):
    out.write(MessageToString(message, **kwargs))


def is_ours(x):
    return isinstance(x, Message)
