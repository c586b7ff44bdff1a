"""tensorflow.python.lib.io.file_io: reads and writes whole files."""
import os
import uuid
import zlib

from weft._core.files import gfile
from weft._core.platform.compat import as_bytes


def read_file_to_string(filename, binary_mode=False):
    """Returns the contents of a file, as text or as bytes."""
    with gfile.GFile(filename, "rb" if binary_mode else "r") as f:
        return f.read()


def write_string_to_file(filename, file_content):
    """Writes a file."""
    with gfile.GFile(filename, "wb") as f:
        f.write(as_bytes(file_content))


def atomic_write_string_to_file(filename, contents, overwrite=True):
    """Writes a temporary file and moves it into place, so that no reader sees a part of it."""
    if not has_atomic_move(filename):
        write_string_to_file(filename, contents)
        return
    other = os.fspath(filename) + ".tmp" + uuid.uuid4().hex
    write_string_to_file(other, contents)
    try:
        gfile.Rename(other, filename, overwrite)
    except Exception:
        gfile.Remove(other)
        raise


def has_atomic_move(path):
    """Returns whether a file system moves files in one step."""
    return True


def filecmp(filename_a, filename_b):
    """Returns whether two files have the same bytes."""
    if gfile.Stat(filename_a).length != gfile.Stat(filename_b).length:
        return False
    return read_file_to_string(filename_a, True) == read_file_to_string(filename_b, True)


def file_crc32(filename, block_size=1 << 24):
    """Returns the CRC-32 of a file, as hexadecimal text."""
    crc = 0
    with gfile.GFile(filename, "rb") as f:
        while chunk := f.read(block_size):
            crc = zlib.crc32(chunk, crc)
    return hex(crc & 0xFFFFFFFF)
