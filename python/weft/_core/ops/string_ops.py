"""tf.strings: functions of text under the names that are newer than TensorFlow 1.4."""
from weft._core.framework import wrap
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import string
from weft._core.framework.graph import Tensor, name_scope
from weft._core.ops.io_ops import rows_of_split, string_join, string_strip, string_to_hash_bucket_fast, string_to_hash_bucket_strong
from weft._core.ops.sparse import SparseTensor

wrap.functions("""
string_lower StringLower input encoding=''
string_upper StringUpper input encoding=''
""", globals())

join, strip = string_join, string_strip
lower, upper = string_lower, string_upper  # noqa: F821
to_hash_bucket_fast, to_hash_bucket_strong = string_to_hash_bucket_fast, string_to_hash_bucket_strong


def length(input, name=None, unit="BYTE"):
    """Returns the length of each string.

    Args:
      input: a tensor of text.
      name: a name for the operation.
      unit: 'BYTE' counts bytes, 'UTF8_CHAR' the characters of UTF-8.
    """
    return op("StringLength", name, input=input, unit=unit)


def regex_full_match(input, pattern, name=None):
    """Returns whether the whole of each string matches a regular expression in the syntax of RE2.

    Args:
      input: a tensor of text.
      pattern: the expression.
      name: a name for the operation.
    """
    if isinstance(pattern, (str, bytes)):
        return op("StaticRegexFullMatch", name, input=input, pattern=pattern)
    return op("RegexFullMatch", name, input=input, pattern=pattern)


def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Returns the words of each string, with a row for each string.

    Args:
      input: a vector of text; for ragged results a tensor of any rank, or a ragged tensor.
      sep: the separator of words; by default any white space.
      maxsplit: how often to split at most; -1 is no limit.
      result_type: 'SparseTensor' or 'RaggedTensor'.
      source: another name of `input`.
      name: a name for the operation.
    """
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'SparseTensor' or 'RaggedTensor', got %r." % (result_type,))
    if input is None and source is None:
        raise ValueError("tf.strings.split() needs the argument 'input'")
    given = source if input is None else input
    with name_scope(name, "StringSplit", [given]):
        if result_type == "RaggedTensor":
            return _split_ragged(given, sep, maxsplit)
        if hasattr(given, "nested_row_splits"):
            return _split_ragged(given, sep, maxsplit).to_sparse()
        text = convert_to_tensor(given, string)
        if text.shape.ndims is not None and text.shape.ndims > 1:
            return _split_ragged(text, sep, maxsplit).to_sparse()
        if text.shape.ndims == 0:
            from weft._core.ops.array_ops import expand_dims
            text = expand_dims(text, 0)
        made = _split_vector(text, sep, maxsplit)
    indices, values, shape = made
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def _split_vector(text, sep, maxsplit):
    return op("StringSplitV2", input=text, sep=convert_to_tensor("" if sep is None else sep, string), maxsplit=maxsplit)


def _split_ragged(given, sep, maxsplit):
    from weft._core.ops.array_ops import expand_dims
    from weft._core.ragged.ragged_tensor import convert
    text = convert(given, string)
    return of_vectors(expand_dims(text, 0) if text.shape.ndims == 0 else text,
                      lambda rows: rows_of_split(*_split_vector(rows, sep, maxsplit)))


def of_vectors(given, function):
    """Makes a function from a vector to ragged rows work on a scalar, a tensor of any rank or a ragged tensor of text.
    """
    from weft._core.ops import array_ops
    from weft._core.ragged.ragged_tensor import RaggedTensor, convert
    text = convert(given, string)
    if isinstance(text, RaggedTensor):
        return text.with_flat_values(of_vectors(text.flat_values, function))
    rank = text.shape.ndims
    if rank is None:
        raise ValueError("input must have a known rank.")
    if rank == 0:
        return function(array_ops.stack([text])).values
    if rank == 1:
        return function(text)
    rows = function(array_ops.reshape(text, [-1]))
    return RaggedTensor.from_tensor(text, ragged_rank=rank - 1).with_flat_values(rows)


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """Returns a text with tensors printed into it.

    Args:
      template: the text, with a place for each tensor.
      inputs: a tensor or a list of tensors.
      placeholder: what marks a place in the template.
      summarize: how many elements to print at either end of each dimension; -1 is all.
      name: a name for the operation.
    """
    if isinstance(inputs, Tensor) or not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if template.count(placeholder) != len(inputs):
        raise ValueError("%s placeholder(s) in template does not match %s tensor(s) provided as input" % (
            template.count(placeholder), len(inputs)))
    return op("StringFormat", name, inputs=list(inputs), template=template, placeholder=placeholder, summarize=summarize)
