"""six on Python 3: the parts that programs for Python 2 and 3 use."""
import builtins
import configparser
import copyreg
import functools
import html.parser
import http.client
import importlib
import io
import itertools
import operator
import os
import pickle
import queue
import shlex
import sys
import types
import urllib.error
import urllib.parse
import urllib.request

__version__ = "1.16.0"
PY2, PY3, PY34, MAXSIZE = False, True, True, sys.maxsize
string_types, integer_types, class_types, text_type, binary_type = (str,), (int,), (type,), str, bytes
StringIO, BytesIO, Iterator = io.StringIO, io.BytesIO, object
wraps, callable, unichr, int2byte = functools.wraps, builtins.callable, chr, operator.methodcaller("to_bytes", 1, "big")
get_function_code, get_function_globals = operator.attrgetter("__code__"), operator.attrgetter("__globals__")
get_method_function, get_method_self = operator.attrgetter("__func__"), operator.attrgetter("__self__")
next = advance_iterator = builtins.next
indexbytes, iterbytes, byte2int = operator.getitem, iter, operator.itemgetter(0)


def iterkeys(d, **kw):
    return iter(d.keys(**kw))


def itervalues(d, **kw):
    return iter(d.values(**kw))


def iteritems(d, **kw):
    return iter(d.items(**kw))


def viewkeys(d):
    return d.keys()


def viewvalues(d):
    return d.values()


def viewitems(d):
    return d.items()


def b(s):
    return s.encode("latin-1")


def u(s):
    return s


def ensure_binary(s, encoding="utf-8", errors="strict"):
    return s.encode(encoding, errors) if isinstance(s, str) else s


def ensure_text(s, encoding="utf-8", errors="strict"):
    return s.decode(encoding, errors) if isinstance(s, bytes) else s


ensure_str = ensure_text


def print_(*args, **kwargs):
    builtins.print(*args, **kwargs)


def exec_(code, globs=None, locs=None):
    frame = sys._getframe(1)
    exec(code, frame.f_globals if globs is None else globs, locs if locs is not None else frame.f_locals if globs is None else globs)


def reraise(tp, value, tb=None):
    raise (tp() if value is None else value).with_traceback(tb)


def raise_from(value, from_value):
    raise value from from_value


def with_metaclass(meta, *bases):
    return types.new_class("temporary_class", bases, {"metaclass": meta}) if bases else meta("temporary_class", (), {})


def add_metaclass(metaclass):
    def wrapper(cls):
        kept = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
        return metaclass(cls.__name__, cls.__bases__, kept)
    return wrapper


def python_2_unicode_compatible(cls):
    return cls


class _Moves(types.ModuleType):
    __path__ = []


moves = _Moves("six.moves")
vars(moves).update(
    xrange=range, range=range, zip=zip, map=map, filter=filter, input=input, reduce=functools.reduce, cStringIO=io.StringIO,
    StringIO=io.StringIO, cPickle=pickle, queue=queue, configparser=configparser, urllib=urllib, http_client=http.client,
    html_parser=html.parser, copyreg=copyreg, builtins=builtins, intern=sys.intern, reload_module=importlib.reload,
    getcwd=os.getcwd, zip_longest=itertools.zip_longest, filterfalse=itertools.filterfalse, shlex_quote=shlex.quote)
_NAMES = {"": moves, ".urllib": urllib, ".urllib.request": urllib.request, ".urllib.parse": urllib.parse, ".urllib.error": urllib.error,
          ".urllib_parse": urllib.parse, ".cPickle": pickle, ".queue": queue, ".configparser": configparser, ".builtins": builtins,
          ".http_client": http.client}
for _name, _module in _NAMES.items():
    sys.modules.setdefault("six.moves" + _name, _module)
__path__ = []
