"""Implements names and operators with their Python 2 meaning; python2_tree.py inserts calls of these functions."""
import builtins
import csv
import functools
import importlib
import io
import math
import string
import sys

import numpy as np

_INTEGERS = (int, np.integer, np.bool_)


def _whole(x):
    return isinstance(x, _INTEGERS) or isinstance(x, np.ndarray) and x.dtype.kind in "iub"


def divide(a, b):
    """Divides as Python 2's `/`: integers round down, and a class can define __div__."""
    if _whole(a) and _whole(b):
        return a // b
    for x, method, y in ((a, "__div__", b), (b, "__rdiv__", a)):
        found = getattr(type(x), method, None)
        if found is not None:
            made = found(x, y)
            if made is not NotImplemented:
                return made
    return a / b


def divide_into(a, b):
    """Returns the result of `a /= b`; arrays are divided in place."""
    if isinstance(a, np.ndarray):
        if _whole(a) and _whole(b):
            a //= b
        else:
            a /= b
        return a
    found = getattr(type(a), "__idiv__", None)
    return divide(a, b) if found is None else found(a, b)


def divide_item(owner, key, value):
    owner[key] = divide_into(owner[key], value)


def divide_attribute(owner, name, value):
    setattr(owner, name, divide_into(getattr(owner, name), value))


_waiting = set()  # files whose last print statement ended in a comma, so that the line continues


def show(*values, sep=" ", end="\n", file=None):
    """Implements the print statement; after one that ended in a comma, the next begins with a space."""
    file = sys.stdout if file is None else file
    text = sep.join(map(str, values))
    if id(file) in _waiting and values:
        text = " " + text
    _waiting.discard(id(file))
    file.write(text + ("" if end == " " else end))
    if end == " " and (not text[-1:].isspace() or text[-1:] == " "):
        _waiting.add(id(file))


def _watch(stream):
    """Makes other writes to the stream clear the pending space of a print statement."""
    write = stream.write

    def written(text):
        _waiting.discard(id(stream))
        return write(text)
    try:
        stream.write = written
    except AttributeError:  # The stream does not allow new attributes.
        pass


def round_away(number, ndigits=0):
    """Rounds halves away from zero, as Python 2 does: round(2.5) is 3.0."""
    if not isinstance(number, (int, float)):
        return round(number, ndigits)
    scale = 10.0 ** ndigits
    if ndigits > 0:
        near = round(float(number), ndigits)
        half = abs(abs(number * scale) % 1 - 0.5) < 1e-9
        return near if not half else math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number)
    return math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number)


def _by(args, kwargs):
    """Returns cmp, key and reverse of a sort, given by position or name, as keyword arguments of Python 3."""
    given = dict(zip(("cmp", "key", "reverse"), args), **kwargs)
    compare, key = given.pop("cmp", None), given.pop("key", None)
    if compare is not None:
        turned = functools.cmp_to_key(compare)
        given["key"] = turned if key is None else lambda x: turned(key(x))
    elif key is not None:
        given["key"] = key
    return given


def in_order(iterable, *args, **kwargs):
    return sorted(iterable, **_by(args, kwargs))


def sort(owner, *args, **kwargs):
    return owner.sort(**_by(args, kwargs)) if isinstance(owner, list) else owner.sort(*args, **kwargs)


def decode(owner, *args, **kwargs):
    """Decodes text. A str is returned unchanged, unless the codec works on bytes; its result is text again."""
    if not isinstance(owner, str):
        return owner.decode(*args, **kwargs)
    codec = str(args[0] if args else kwargs.get("encoding", "ascii")).lower().replace("-", "_")
    if codec in ("hex", "base64", "zlib", "bz2", "rot13", "string_escape", "unicode_escape"):
        import codecs
        if codec == "rot13":
            return codecs.decode(owner, codec)
        made = codecs.decode(owner.encode("latin1"), "unicode_escape" if codec == "string_escape" else codec)
        return made if isinstance(made, str) else made.decode("latin1")
    return owner


def message(error):
    """Returns error.message, which Python 3 dropped."""
    found = getattr(error, "message", None)
    return found if found is not None else error.args[0] if len(error.args) == 1 else ""


class _Binary:
    """A binary file that accepts text; characters beyond latin1 are written as UTF-8."""

    def write(self, data):
        if isinstance(data, str):
            try:
                data = data.encode("latin1")
            except UnicodeEncodeError:
                data = data.encode("utf-8")
        return super().write(data)


class _Writer(_Binary, io.BufferedWriter):
    pass


class _Random(_Binary, io.BufferedRandom):
    pass


def open_file(name, mode="r", buffering=-1, **kwargs):
    """Implements open() and file(): bytes that are not text are kept, and binary files accept text."""
    mode = mode.replace("U", "") or "r"
    if "r" not in mode and "w" not in mode and "a" not in mode and "x" not in mode:
        mode = "r" + mode
    if "b" in mode and ("w" in mode or "a" in mode or "+" in mode):
        raw = io.open(name, mode, buffering=0)
        return (_Random if "+" in mode else _Writer)(raw)
    if "b" in mode:
        return io.open(name, mode, buffering, **kwargs)
    return io.open(name, mode, 1 if buffering == 0 else buffering, **{"encoding": "utf-8", "errors": "surrogateescape", **kwargs})


def _is_binary(file):
    return isinstance(file, (io.BufferedIOBase, io.RawIOBase))


def _csv_reader(made):
    def reader(csvfile, *args, **kwargs):
        lines = (line.decode("utf-8", "surrogateescape") for line in csvfile) if _is_binary(csvfile) else csvfile
        return made(lines, *args, **kwargs)
    return reader


class _AsText:
    def __init__(self, file):
        self._file = file

    def write(self, text):
        return self._file.write(text.encode("utf-8", "surrogateescape"))


def _csv_writer(made):
    def writer(csvfile, *args, **kwargs):
        return made(_AsText(csvfile) if _is_binary(csvfile) else csvfile, *args, **kwargs)
    return writer


def compare(a, b):
    return (a > b) - (a < b)


def install():
    """Adds the names to the builtins that lib2to3 leaves, or would import in an extra line. It does so only once."""
    if hasattr(builtins, "__weft_div__"):
        return
    names = {"cmp": compare, "intern": sys.intern, "raw_input": input, "reduce": functools.reduce,
             "reload": importlib.reload, "unichr": chr, "file": open_file, "__weft_div__": divide, "__weft_idiv__": divide_into,
             "__weft_idiv_item__": divide_item, "__weft_idiv_attribute__": divide_attribute, "__weft_print__": show,
             "__weft_round__": round_away, "__weft_sorted__": in_order, "__weft_open__": open_file, "__weft_sort__": sort,
             "__weft_decode__": decode, "__weft_message__": message}
    for name, value in names.items():
        setattr(builtins, name, value)
    sys.maxint = sys.maxsize
    sys.setdefaultencoding = lambda name: None  # Text is always Unicode, so this does nothing.
    string.letters, string.lowercase, string.uppercase = string.ascii_letters, string.ascii_lowercase, string.ascii_uppercase
    string.join = string.joinfields = lambda words, sep=" ": sep.join(words)
    string.maketrans = str.maketrans
    string.atoi, string.atof, string.atol = int, float, int
    for name in ("split", "replace", "strip", "lstrip", "rstrip", "lower", "upper", "find", "rfind", "count", "zfill", "ljust",
                 "rjust", "center"):
        setattr(string, name, getattr(str, name))
    for stream in (sys.stdout, sys.stderr):
        _watch(stream)
    csv.reader, csv.writer = _csv_reader(csv.reader), _csv_writer(csv.writer)
