"""tf.data: reads CSV files, and files of Examples, as batches with named columns."""
import collections
import csv
import gzip
import io
import zlib

from weft._core.data.dataset import AUTOTUNE, Dataset, TFRecordDataset, _int64, _strings, _vector
from weft._core.data.structure import Structure
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


def _default(value):
    """Returns a record default as a tensor of zero or one values; a type means that the field is required."""
    if isinstance(value, (dtypes.DType, type)):
        value = convert_to_tensor([], as_dtype(value))
    elif not isinstance(value, Tensor):
        value = convert_to_tensor(value)
    if value.dtype.base_dtype not in _TYPES:
        raise TypeError("a record default must be of type %s, not %s" % (
            ", ".join(t.name for t in _TYPES), value.dtype.name))
    return value


def _columns(value, name):
    return convert_to_tensor([] if value is None else value, dtypes.int64, name=name)


class CsvDataset(Dataset):
    """The records of files of comma-separated values, each a tuple with a scalar for every column.

    Args:
      filenames: a name or names of files.
      record_defaults: for each column its type, if it is required, or a list with the value of an empty field.
      compression_type: "", "GZIP" or "ZLIB".
      buffer_size: how many bytes are read at once.
      header: whether each file begins with a line that is no record.
      field_delim: the character between fields.
      use_quote_delim: whether double quotes enclose fields.
      na_value: what else stands for an empty field.
      select_cols: the numbers of the columns wanted, in order; None: all.
      exclude_cols: the numbers of the columns not wanted.
    """

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("CsvDataset: give select_cols or exclude_cols, not both")
        defaults = [_default(d) for d in record_defaults]
        form = Structure(tuple(d.dtype.base_dtype for d in defaults), tuple([] for _ in defaults))
        super().__init__(op(
            "CSVDatasetV2", filenames=_vector(_strings(filenames, "filenames")),
            compression_type=_strings(compression_type or "", "compression_type"),
            buffer_size=_int64(4 * 1024 * 1024 if buffer_size is None else buffer_size, "buffer_size"),
            header=convert_to_tensor(header, dtypes.bool, name="header"), field_delim=_strings(field_delim, "field_delim"),
            use_quote_delim=convert_to_tensor(use_quote_delim, dtypes.bool, name="use_quote_delim"),
            na_value=_strings(na_value, "na_value"), select_cols=_columns(select_cols, "select_cols"),
            record_defaults=defaults, exclude_cols=_columns(exclude_cols, "exclude_cols"), **form.attrs()), form)


# ---- inferring the columns of a file ----

def _open(path, compression_type, encoding):
    if compression_type == "GZIP":
        return gzip.open(path, "rt", encoding=encoding, newline="")
    if compression_type == "ZLIB":
        with open(path, "rb") as f:
            return io.StringIO(zlib.decompress(f.read()).decode(encoding), newline="")
    return open(path, encoding=encoding, newline="")


class _Files:
    """The rows of CSV files as Python strings, for inspection before any op runs."""

    def __init__(self, paths, field_delim, use_quote_delim, compression_type, encoding):
        self.paths, self.compression_type, self.encoding = paths, compression_type, encoding
        self.form = {"delimiter": field_delim, "quoting": csv.QUOTE_MINIMAL if use_quote_delim else csv.QUOTE_NONE}

    def rows(self, path):
        with _open(path, self.compression_type, self.encoding) as f:
            yield from csv.reader(f, **self.form)

    def names(self):
        first = next(self.rows(self.paths[0]), None)
        if first is None:
            raise ValueError("Received StopIteration when reading the header line of %s.  Empty file?" % self.paths[0])
        for path in self.paths[1:]:
            if next(self.rows(path), None) != first:
                raise ValueError("All input CSV files should have the same column names in the header row. File %s has "
                                 "different column names." % path)
        return first

    def body(self, header):
        for path in self.paths:
            rows = self.rows(path)
            if header:
                next(rows, None)
            yield from rows


def _fits(text, kind):
    try:
        value = kind(text)
    except ValueError:
        return None
    return value


def _type_of(text, na_value, before):
    """Returns the narrowest type that holds both this field and the earlier ones."""
    order = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string]
    if text in ("", na_value):
        return before
    whole = _fits(text, int)
    if whole is not None and -2**31 <= whole < 2**31:
        now = dtypes.int32
    elif whole is not None and -2**63 <= whole < 2**63:
        now = dtypes.int64
    else:
        real = _fits(text, float)
        if real is None:
            now = dtypes.string
        else:
            now = dtypes.float32 if abs(real) < 3.4028235e38 or real != real else dtypes.float64
    return now if before is None or order.index(now) > order.index(before) else before


def _inferred(files, columns, na_value, header, rows_for_inference, n_columns):
    """Returns a default for each column, whose type is inferred from the first rows."""
    found = [None] * len(columns)
    for i, row in enumerate(files.body(header)):
        if rows_for_inference is not None and i >= rows_for_inference:
            break
        if len(row) != n_columns:
            raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
        found = [_type_of(row[c], na_value, t) for c, t in zip(columns, found)]
    return [convert_to_tensor([""] if t in (None, dtypes.string) else [0], t or dtypes.string) for t in found]


def _selected(select_columns, names):
    """Returns the numbers of the selected columns in ascending order."""
    if all(isinstance(c, int) for c in select_columns):
        numbers = list(select_columns)
    elif all(isinstance(c, str) for c in select_columns):
        for c in select_columns:
            if c not in names:
                raise ValueError("Value '%s' in `select_columns` is not a valid column name: the columns are %s" % (c, names))
        numbers = [names.index(c) for c in select_columns]
    else:
        raise ValueError("`select_columns` must be names or numbers of columns, not both: %r" % (select_columns,))
    if len(set(numbers)) != len(numbers) or any(not 0 <= n < len(names) for n in numbers):
        raise ValueError("`select_columns` must be distinct columns of the file: %r" % (select_columns,))
    return sorted(numbers)


# ---- batches ----

def _matched(file_pattern):
    """Returns the names of the matching files in sorted order."""
    from weft._core.files.gfile import Glob
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    found = []
    for pattern in patterns:
        names = Glob(pattern)
        if not names:
            raise ValueError("No files match `file_pattern` %s." % (pattern,))
        found.extend(names)
    return sorted(found)


def _shuffled_and_repeated(dataset, num_epochs, shuffle, buffer_size, seed):
    from weft._core.data.experimental import shuffle_and_repeat
    if num_epochs != 1 and shuffle:
        return dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    if shuffle:
        return dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                     compression_type=None, ignore_errors=False, encoding="utf-8"):
    """Returns batches of the rows of CSV files: a dict of columns, or (that dict, labels).

    Args:
      file_pattern: files, or patterns of their names.
      batch_size: how many rows are in a batch.
      column_names: the names of the columns; None: the first line has them.
      column_defaults: for each column wanted its type or the value of an empty field; None: inferred.
      label_name: the column that is the label.
      select_columns: the columns wanted, by name or number; None: all.
      field_delim: the character between fields.
      use_quote_delim: whether double quotes enclose fields.
      na_value: what else stands for an empty field.
      header: whether each file begins with a line of names.
      num_epochs: how often the rows come; None: without end.
      shuffle: whether rows and files are shuffled.
      shuffle_buffer_size: among how many rows one is drawn.
      shuffle_seed: the seed of that.
      prefetch_buffer_size: how many batches are made ahead of time.
      num_parallel_reads: how many files are read in turns.
      sloppy: whether rows may come in another order.
      num_rows_for_inference: how many rows are read to infer types; None: all.
      compression_type: "", "GZIP" or "ZLIB".
      ignore_errors: whether rows that cannot be read are left out.
      encoding: of the files.
    """
    from weft._core.data import experimental
    if num_parallel_reads is None:
        num_parallel_reads = 1
    paths = _matched(file_pattern)
    files = _Files(paths, field_delim, use_quote_delim, compression_type, encoding)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = files.names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names: %s" % (column_names,))
    selected = list(range(len(column_names))) if select_columns is None else _selected(select_columns, column_names)
    if column_defaults is None:
        defaults = _inferred(files, selected, na_value, header, num_rows_for_inference, len(column_names))
    else:
        defaults = [_default(d) for d in column_defaults]
    if len(defaults) != len(selected):
        raise ValueError("The files have %d columns that are wanted, and `column_defaults` has %d values" % (
            len(selected), len(defaults)))
    names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in names:
        raise ValueError("`label_name` provided must be one of the columns: %s is not in %s" % (label_name, names))
    dataset = Dataset.from_tensor_slices(paths)
    if shuffle:
        dataset = dataset.shuffle(len(paths), shuffle_seed)

    def read(path):
        rows = CsvDataset(path, defaults, compression_type=compression_type, field_delim=field_delim,
                          use_quote_delim=use_quote_delim, na_value=na_value, header=header,
                          select_cols=None if select_columns is None else selected)
        return rows.apply(experimental.ignore_errors()) if ignore_errors else rows

    def by_name(*columns):
        row = collections.OrderedDict(zip(names, columns))
        if label_name is None:
            return row
        label = row.pop(label_name)
        return row, label
    dataset = dataset.apply(experimental.parallel_interleave(read, cycle_length=num_parallel_reads, sloppy=sloppy))
    dataset = _shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(by_name)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """Parses elements that are batches of serialized Examples."""
    from weft._core.ops.parsing import parse_example
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def _apply_fn(dataset):
        return dataset.map(lambda serialized: parse_example(serialized, features), num_parallel_calls=num_parallel_calls)
    return _apply_fn


def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                  num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                  prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                  sloppy_ordering=False, drop_final_batch=False):
    """Returns batches of parsed Examples from files: a dict of features, or (that dict, labels).

    Args:
      file_pattern: files, or patterns of their names.
      batch_size: how many Examples are in a batch.
      features: a dict from names to tf.FixedLenFeature and its kin.
      reader: makes a data set of a file name; None: tf.data.TFRecordDataset.
      label_key: the feature that is the label.
      reader_args: more arguments for the reader.
      num_epochs: how often the Examples come; None: without end.
      shuffle: whether Examples and files are shuffled.
      shuffle_buffer_size: among how many Examples one is drawn.
      shuffle_seed: the seed of that.
      prefetch_buffer_size: how many batches are made ahead of time.
      reader_num_threads: how many files are read in turns.
      parser_num_threads: how many batches are parsed at the same time.
      sloppy_ordering: whether Examples may come in another order.
      drop_final_batch: whether a last batch that is smaller is left out.
    """
    from weft._core.data import experimental
    if not isinstance(features, dict):
        raise TypeError("`features` must be a dict, got %r" % (features,))
    if label_key is not None and label_key not in features:
        raise ValueError("The `label_key` provided (%r) must be one of the `features` keys: %s." % (
            label_key, sorted(features)))
    reader, given = reader or TFRecordDataset, reader_args or []
    dataset = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset = dataset.apply(experimental.parallel_interleave(
        lambda path: reader(path, *given), cycle_length=reader_num_threads or 1, sloppy=sloppy_ordering))
    if isinstance(dataset.output_types, tuple) and len(dataset.output_types) == 2:
        dataset = dataset.map(lambda _, value: value)  # The elements are pairs of a key and a value.
    dataset = _shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, num_parallel_calls=parser_num_threads or 2))
    if label_key:
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
