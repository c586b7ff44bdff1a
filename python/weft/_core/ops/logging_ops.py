"""tf.Print and tf.print."""
import os
import sys

from weft._core.framework.build import convert_to_tensor, is_tensor, op
from weft._core.framework.dtypes import string
from weft._core.ops import string_ops
from weft._core.ops.sparse import SparseTensor
from weft._core.platform import logging


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    return op("Print", name, input=input_, data=list(data), message=message or "", first_n=-1 if first_n is None else first_n,
              summarize=3 if summarize is None else summarize)


def print(*inputs, **kwargs):
    """An op that prints its inputs when it runs.

    Args:
      *inputs: tensors, Python values, and lists, tuples and dicts of them, printed with a space between them.
      **kwargs: `output_stream` is sys.stderr (the default), sys.stdout, a level of tf.logging or a path
        "file:///..."; `summarize` is how many elements to print at either end of each dimension (3; -1 is all); `sep`
        stands between inputs (" ") and `end` after the last ("\\n"); `name` is a name for the operation.
    """
    stream, name = kwargs.pop("output_stream", sys.stderr), kwargs.pop("name", None)
    summarize, sep, end = kwargs.pop("summarize", 3), kwargs.pop("sep", " "), kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError("Unrecognized keyword arguments for tf.print: %s" % kwargs)
    parts = [_template(value) for value in inputs]
    if len(inputs) == 1 and is_tensor(inputs[0]) and inputs[0].dtype.base_dtype == string and inputs[0].shape.ndims == 0:
        text = inputs[0]
    else:
        text = string_ops.format(sep.join(t for t, _ in parts), [v for _, vs in parts for v in vs], placeholder=_MARK,
                                 summarize=summarize, name=name and name + "_format")
    return op("PrintV2", name, input=text, output_stream=_stream(stream), end=end)


_MARK = "{\N{ZERO WIDTH SPACE}}"  # marks the place of a tensor in a template; it does not occur in programs' text


def _template(value):
    """Returns a value as (template, tensors); the template has a mark for each tensor."""
    if isinstance(value, SparseTensor):
        return "SparseTensor(indices=%s, values=%s, shape=%s)" % (_MARK, _MARK, _MARK), [value.indices, value.values, value.dense_shape]
    if is_tensor(value) or hasattr(value, "_as_graph_element"):
        return _MARK, [convert_to_tensor(value)]
    if isinstance(value, dict):
        parts = [(_quoted(k), *_template(v)) for k, v in sorted(value.items())]
        return "{%s}" % ", ".join("%s: %s" % (k, t) for k, t, _ in parts), [v for _, _, vs in parts for v in vs]
    if isinstance(value, (list, tuple)):
        parts = [_template(v) if not isinstance(v, str) else (_quoted(v), []) for v in value]
        text = ", ".join(t for t, _ in parts)
        return ("[%s]" if isinstance(value, list) else "(%s,)" if len(value) == 1 else "(%s)") % text, [v for _, vs in parts for v in vs]
    return str(value), []


def _quoted(value):
    return "'%s'" % value if isinstance(value, str) else str(value)


def _stream(stream):
    """Returns the name of an output stream as PrintV2 expects it."""
    known = {sys.stdout: "stdout", sys.stderr: "stderr"}
    try:
        found = known.get(stream)
    except TypeError:
        found = None
    if found is None and callable(stream):
        found = {logging.info: "log(info)", logging.warning: "log(warning)", logging.error: "log(error)"}.get(stream)
    if found is None and isinstance(stream, str):
        found = stream if stream.startswith("file://") or stream in ("stdout", "stderr") else None
    if found is None:
        raise ValueError("Unsupported output stream, logging level, or file: %s. Supported streams are sys.stdout, sys.stderr, "
                         "tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of "
                         "'file://<filepath>'." % (stream,))
    return found
