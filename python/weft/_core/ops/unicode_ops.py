"""tf.strings: functions on characters, n-grams and bytes of text."""
from weft._core.framework import dtypes, wrap
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops
from weft._core.ops.string_ops import of_vectors

wrap.functions("unicode_script UnicodeScript input", globals())


def unicode_transcode(input, input_encoding, output_encoding, errors="replace", replacement_char=0xFFFD,
                      replace_control_characters=False, name=None):
    """Returns strings converted to another encoding.

    Args:
      input: a tensor or a ragged tensor of text.
      input_encoding: the encoding of the text.
      output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors: what to do with bytes that are no character: 'strict', 'replace' or 'ignore'.
      replacement_char: what 'replace' puts there.
      replace_control_characters: whether control characters are replaced too.
      name: a name for the operation.
    """
    return op("UnicodeTranscode", name, input=input, input_encoding=input_encoding, output_encoding=output_encoding, errors=errors,
              replacement_char=replacement_char, replace_control_characters=replace_control_characters)


def bytes_split(input, name=None):
    """Returns the bytes of each string.

    Args:
      input: a tensor or a ragged tensor of text.
      name: a name for the operation.
    """
    from weft._core.ops.io_ops import rows_of_split

    def split(text):
        return rows_of_split(*op("StringSplit", input=text, delimiter=convert_to_tensor("", dtypes.string), skip_empty=True))
    with name_scope(name, "StringsByteSplit", [None]):
        return of_vectors(input, split)


def _decoded(text, encoding, errors, replacement, control, offsets):
    """Returns the characters of a vector of text as ragged rows, and their offsets."""
    from weft._core.ragged.ragged_tensor import RaggedTensor
    kind = "UnicodeDecodeWithOffsets" if offsets else "UnicodeDecode"
    made = op(kind, input=text, input_encoding=encoding, errors=errors, replacement_char=replacement,
              replace_control_characters=control)
    rows = [RaggedTensor.from_row_splits(values, made.row_splits, validate=False) for values in list(made)[1:]]
    return rows if offsets else rows[0]


def _of_any_rank(input, function, count):
    """Applies a function from a vector to `count` ragged rows to text of any rank."""
    from weft._core.ragged.ragged_tensor import RaggedTensor, convert
    text = convert(input, dtypes.string)
    if isinstance(text, RaggedTensor):
        return [text.with_flat_values(rows) for rows in _of_any_rank(text.flat_values, function, count)]
    rank = text.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank == 0:
        return [rows.values for rows in function(array_ops.stack([text]))]
    if rank == 1:
        return function(text)
    outer = RaggedTensor.from_tensor(text, ragged_rank=rank - 1)
    return [outer.with_flat_values(rows) for rows in function(array_ops.reshape(text, [-1]))]


def unicode_decode(input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False, name=None):
    """Returns the characters of each string as numbers.

    Args:
      input: a tensor or a ragged tensor of text.
      input_encoding: the encoding of the text.
      errors: what to do with bytes that are no character: 'strict', 'replace' or 'ignore'.
      replacement_char: what 'replace' puts there.
      replace_control_characters: whether control characters are replaced too.
      name: a name for the operation.
    """
    with name_scope(name, "UnicodeDecode", [None]):
        return _of_any_rank(input, lambda text: [_decoded(text, input_encoding, errors, replacement_char, replace_control_characters,
                                                          False)], 1)[0]


def unicode_decode_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False,
                                name=None):
    """Returns the characters of each string as numbers, and the byte where each begins.

    Args:
      input: a tensor or a ragged tensor of text.
      input_encoding: the encoding of the text.
      errors: what to do with bytes that are no character: 'strict', 'replace' or 'ignore'.
      replacement_char: what 'replace' puts there.
      replace_control_characters: whether control characters are replaced too.
      name: a name for the operation.
    """
    with name_scope(name, "UnicodeDecodeWithOffsets", [None]):
        return tuple(_of_any_rank(input, lambda text: _decoded(text, input_encoding, errors, replacement_char,
                                                               replace_control_characters, True), 2))


def unicode_encode(input, output_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """Returns the text of characters that are given as numbers.

    Args:
      input: a tensor or a ragged tensor of numbers; the last dimension is that of a string.
      output_encoding: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors: what to do with numbers that are no character: 'strict', 'replace' or 'ignore'.
      replacement_char: what 'replace' puts there.
      name: a name for the operation.
    """
    from weft._core.ragged.ragged_tensor import RaggedTensor, convert
    with name_scope(name, "UnicodeEncode", [None]):
        given = convert(input)
        if isinstance(given, RaggedTensor):
            if given.ragged_rank > 1:
                return given.with_values(unicode_encode(given.values, output_encoding, errors, replacement_char))
            if given.flat_values.shape.ndims > 1:
                return given.with_values(unicode_encode(given.flat_values, output_encoding, errors, replacement_char))
            return op("UnicodeEncode", input_values=given.values, input_splits=given.row_splits, output_encoding=output_encoding,
                      errors=errors, replacement_char=replacement_char)
        rank = given.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1:
            row = RaggedTensor.from_row_splits(given, array_ops.stack([convert_to_tensor(0, dtypes.int32), array_ops.size(given)]),
                                               validate=False)
            return array_ops.reshape(unicode_encode(row, output_encoding, errors, replacement_char), [])
        if rank == 2:
            return unicode_encode(RaggedTensor.from_tensor(given), output_encoding, errors, replacement_char)
        flat = array_ops.reshape(given, array_ops.concat([[-1], array_ops.shape(given)[-1:]], 0))
        made = unicode_encode(flat, output_encoding, errors, replacement_char)
        return array_ops.reshape(made, array_ops.shape(given)[:-1])


def unicode_split(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """Returns the characters of each string as strings.

    Args:
      input: a tensor or a ragged tensor of text.
      input_encoding: the encoding of the text: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors: what to do with bytes that are no character: 'strict', 'replace' or 'ignore'.
      replacement_char: what 'replace' puts there.
      name: a name for the operation.
    """
    with name_scope(name, "UnicodeSplit", [None]):
        return _encoded(unicode_decode(input, input_encoding, errors, replacement_char, False), input_encoding)


def _encoded(rows, encoding):
    from weft._core.ragged.ragged_tensor import RaggedTensor
    codes = rows.flat_values if isinstance(rows, RaggedTensor) else rows
    text = unicode_encode(array_ops.expand_dims(codes, -1), encoding)
    return rows.with_flat_values(text) if isinstance(rows, RaggedTensor) else text


def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """Returns the characters of each string as strings, and the byte where each begins.

    Args:
      input: a tensor or a ragged tensor of text.
      input_encoding: the encoding of the text: 'UTF-8', 'UTF-16-BE' or 'UTF-32-BE'.
      errors: what to do with bytes that are no character: 'strict', 'replace' or 'ignore'.
      replacement_char: what 'replace' puts there.
      name: a name for the operation.
    """
    with name_scope(name, "UnicodeSplitWithOffsets", [None]):
        codes, offsets = unicode_decode_with_offsets(input, input_encoding, errors, replacement_char, False)
        return _encoded(codes, input_encoding), offsets


def ngrams(data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None):
    """Returns the n-grams of words in each row.

    Args:
      data: a tensor or a ragged tensor of words.
      ngram_width: how many words stand together: a number, or several.
      separator: the text between them.
      pad_values: a word, or two, that stand before and after each row.
      padding_width: how often they do; as often as the width allows by default.
      preserve_short_sequences: whether a row that is shorter than the width stays as it is.
      name: a name for the operation.
    """
    from weft._core.ragged.ragged_tensor import RaggedTensor, convert
    with name_scope(name, "StringNGrams", [None]):
        if pad_values is None:
            left = right = ""
        elif isinstance(pad_values, (tuple, list)):
            if not all(isinstance(p, str) for p in pad_values):
                raise TypeError("pad_values must be a string, tuple of strings, or None.")
            left, right = pad_values
        elif isinstance(pad_values, str):
            left = right = pad_values
        else:
            raise TypeError("pad_values must be a string, tuple of strings, or None.")
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        text = convert(data, dtypes.string, name="data")
        if text.shape.ndims is None:
            raise ValueError("data must have a known rank")
        dense, flat = not isinstance(text, RaggedTensor), text.shape.ndims == 1
        if flat:
            text = array_ops.expand_dims(text, 0)
        if not isinstance(text, RaggedTensor):
            text = RaggedTensor.from_tensor(text, ragged_rank=text.shape.ndims - 1)
        if text.ragged_rank > 1:
            made = text.with_values(ngrams(text.values, ngram_width, separator, pad_values, padding_width, preserve_short_sequences))
            return made.to_tensor() if dense else made
        pad = 0 if pad_values is None else -1 if padding_width is None else padding_width
        widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        if any(w < 1 for w in widths):
            raise ValueError("All ngram_widths must be greater than 0. Got %s" % (ngram_width,))
        made = op("StringNGrams", data=text.flat_values, data_splits=text.row_splits, separator=separator, ngram_widths=widths,
                  left_pad=left, right_pad=right, pad_width=pad, preserve_short_sequences=preserve_short_sequences)
        rows = RaggedTensor.from_row_splits(made.ngrams, made.ngrams_splits, validate=False)
        return rows.flat_values if flat else rows.to_tensor() if dense else rows


def unsorted_segment_join(inputs, segment_ids, num_segments, separator="", name=None):
    """Returns the strings of each segment joined.

    Args:
      inputs: strings.
      segment_ids: the segment of each; their shape is the beginning of that of the inputs.
      num_segments: how many segments there are.
      separator: the text between joined strings.
      name: a name for the operation.
    """
    return op("UnsortedSegmentJoin", name, inputs=inputs, segment_ids=segment_ids, num_segments=num_segments, separator=separator)
