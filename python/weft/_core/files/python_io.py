"""tf.python_io: reads and writes record files in the program itself."""
import os
import zlib

from weft import _weft
from weft._core.files.gfile import GFile
from weft._core.framework import errors
from weft._core.framework.absent import Named

_HEAD = 12  # the number of bytes before a record; 4 bytes follow it

class TFRecordCompressionType(metaclass=Named):
    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions(metaclass=Named):
    """How a file of records is compressed."""

    compression_type_map = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None, window_bits=None,
                 compression_level=None, compression_method=None, mem_level=None, compression_strategy=None):
        self.get_compression_type_string(compression_type)
        self.compression_type, self.flush_mode, self.window_bits = compression_type, flush_mode, window_bits
        self.input_buffer_size, self.output_buffer_size = input_buffer_size, output_buffer_size
        self.compression_level, self.compression_method = compression_level, compression_method
        self.mem_level, self.compression_strategy = mem_level, compression_strategy

    @property
    def compression(self):
        return self.get_compression_type_string(self.compression_type)

    @classmethod
    def get_compression_type_string(cls, options):
        """Returns the name of the compression (GZIP, ZLIB or nothing) for options, a string or a number."""
        kind = options.compression_type if isinstance(options, TFRecordOptions) else options
        found = cls.compression_type_map.get(kind, kind) or ""
        if found not in ("", "ZLIB", "GZIP"):
            raise ValueError('Not a valid compression_type: "%s"' % (kind,))
        return found

    def _packer(self):
        """Returns a zlib compressor for the options, or None."""
        if not self.compression:
            return None
        bits = self.window_bits if self.window_bits is not None else 15
        given = [(self.compression_level, -1), (self.compression_method, zlib.DEFLATED), (
            bits + 16 if self.compression == "GZIP" and bits <= 15 else bits, 15), (self.mem_level, 9), (
            self.compression_strategy, zlib.Z_DEFAULT_STRATEGY)]
        return zlib.compressobj(*(default if value is None else int(value) for value, default in given))


class TFRecordWriter(metaclass=Named):
    def __init__(self, path, options=None):
        options = options if isinstance(options, TFRecordOptions) else TFRecordOptions(options)
        self._file, self._pack = GFile(os.fspath(path), "wb")._open(), options._packer()

    def write(self, record):
        if isinstance(record, str):
            record = record.encode()
        frame = _weft.record_frame(record)
        data = b"".join((frame[:_HEAD], record, frame[_HEAD:]))
        self._file.write(self._pack.compress(data) if self._pack else data)

    def flush(self):
        self._file.flush()

    def close(self):
        if not self._file.closed:
            if self._pack:
                self._file.write(self._pack.flush())
            self._file.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def _plain_record(file, end):
    """Returns the next record of an uncompressed file.

    None means the end of the file, or before the end a damaged record.
    """
    start = file.tell()
    head = file.read(_HEAD)
    size = int.from_bytes(head[:8], "little")
    if len(head) == _HEAD and start + _HEAD + size + 4 <= end:
        record = file.read(size)
        if _weft.record_frame(record) == head + file.read(4):
            return record
    file.seek(start)
    return None


def tf_record_iterator(path, options=None):
    """Returns the records of a file one by one, after checking their checksums.

    A data set reads compressed files, and reports damaged records.
    """
    compression, read = TFRecordOptions.get_compression_type_string(options), 0
    if not compression and os.path.isfile(path):
        with GFile(os.fspath(path), "rb")._open() as file:
            end = os.fstat(file.fileno()).st_size
            while (record := _plain_record(file, end)) is not None:
                read += 1
                yield record
            if file.tell() == end:
                return
    yield from _data_set_records(path, compression, read)


def _data_set_records(path, compression, skip):
    """Returns the records after the first `skip` ones, read by a data set in a separate session."""
    from weft._core.data.dataset import TFRecordDataset
    from weft._core.framework.graph import Graph
    from weft._core.session.client import Session
    with Graph().as_default() as graph:
        record = TFRecordDataset(path, compression).skip(skip).make_one_shot_iterator().get_next()
    session = Session(graph=graph)
    try:
        read = session.make_callable(record)
        while True:
            yield read()
    except errors.OutOfRangeError:
        return
    except errors.OpError as e:
        raise type(e)(None, None, e.message.split("\n")[0]) from None
    finally:
        session.close()
