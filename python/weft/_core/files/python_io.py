"""tf.python_io: record files written and read by the program itself."""
import gzip
import struct
import zlib

from weft._core.files.gfile import local
from weft._core.framework.absent import Named

_TABLE = []


def _table():
    if not _TABLE:
        for i in range(256):
            for _ in range(8):
                i = (i >> 1) ^ 0x82F63B78 if i & 1 else i >> 1
            _TABLE.append(i)
    return _TABLE


def masked_crc(data):
    """CRC-32C, rotated and offset as TFRecord has it."""
    crc, table = 0xFFFFFFFF, _table()
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class TFRecordCompressionType(metaclass=Named):
    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions(metaclass=Named):
    def __init__(self, compression_type=None, **kwargs):
        self.compression_type = compression_type
        self.compression = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}.get(compression_type, compression_type)


class TFRecordWriter(metaclass=Named):
    def __init__(self, path, options=None):
        self._zlib = getattr(options, "compression", options or "") == "ZLIB"
        gz = getattr(options, "compression", options or "") == "GZIP"
        self._file = gzip.open(local(path), "wb") if gz else open(local(path), "wb")
        self._pack = zlib.compressobj() if self._zlib else None

    def write(self, record):
        if isinstance(record, str):
            record = record.encode()
        head = struct.pack("<Q", len(record))
        data = head + struct.pack("<I", masked_crc(head)) + record + struct.pack("<I", masked_crc(record))
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


def tf_record_iterator(path, options=None):
    """The records of a file, one by one."""
    from weft._core.framework import errors
    with open(local(path), "rb") as f:
        data = f.read()
    kind = getattr(options, "compression", options or "")
    try:
        data = zlib.decompress(data) if kind == "ZLIB" else gzip.decompress(data) if kind == "GZIP" else data
    except (OSError, EOFError, zlib.error) as e:
        raise errors.DataLossError(None, None, "%s is not compressed by %s: %s" % (path, kind, e)) from None
    at = 0
    while at < len(data):
        if at + 12 > len(data):
            raise errors.DataLossError(None, None, "truncated record at %d" % at)
        size, = struct.unpack_from("<Q", data, at)
        record = data[at + 12:at + 12 + size]
        if len(record) != size:
            raise errors.DataLossError(None, None, "truncated record at %d" % at)
        yield record
        at += size + 16
