"""tf.gfile: files of this machine."""
import glob as _glob
import os
import shutil

from weft._core.framework import errors


def _missing(path):
    return errors.NotFoundError(None, None, "%s; No such file or directory" % path)


class GFile:
    """A file that is opened when it is first used."""

    def __init__(self, name, mode="r"):
        self._name, self._mode, self._file = str(name), mode, None

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _open(self):
        if self._file is None:
            try:
                self._file = open(self._name, self._mode, **({} if "b" in self._mode else {"encoding": "utf-8"}))
            except FileNotFoundError:
                raise _missing(self._name) from None
            except PermissionError:
                raise errors.PermissionDeniedError(None, None, "%s; Permission denied" % self._name) from None
            except IsADirectoryError:
                raise errors.FailedPreconditionError(None, None, "%s; Is a directory" % self._name) from None
        return self._file

    def read(self, n=-1):
        return self._open().read(n)

    def readline(self):
        return self._open().readline()

    def readlines(self):
        return self._open().readlines()

    def write(self, content):
        self._open().write(content)

    def seek(self, offset=None, whence=0, position=None):
        self._open().seek(position if offset is None else offset, whence)

    def tell(self):
        return self._open().tell()

    def size(self):
        return os.path.getsize(self._name)

    def flush(self):
        if self._file is not None:
            self._file.flush()

    def close(self):
        if self._file is not None:
            self._file.close()
            self._file = None

    def next(self):
        return next(self._open())

    __next__ = next

    def __iter__(self):
        return iter(self._open())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


Open = FastGFile = GFile


def Exists(filename):
    return os.path.exists(str(filename))


def IsDirectory(dirname):
    return os.path.isdir(str(dirname))


def MakeDirs(dirname):
    os.makedirs(str(dirname), exist_ok=True)


def MkDir(dirname):
    try:
        os.mkdir(str(dirname))
    except FileExistsError:
        raise errors.AlreadyExistsError(None, None, "%s; File exists" % dirname) from None
    except FileNotFoundError:
        raise _missing(dirname) from None


def ListDirectory(dirname):
    if not os.path.isdir(str(dirname)):
        raise errors.NotFoundError(None, None, "Could not find directory %s" % dirname)
    return os.listdir(str(dirname))


def Remove(filename):
    try:
        os.remove(str(filename))
    except FileNotFoundError:
        raise _missing(filename) from None


def DeleteRecursively(dirname):
    if not os.path.exists(str(dirname)):
        raise _missing(dirname)
    shutil.rmtree(str(dirname)) if os.path.isdir(str(dirname)) else os.remove(str(dirname))


def Copy(oldpath, newpath, overwrite=False):
    _may_write(newpath, overwrite)
    try:
        shutil.copyfile(str(oldpath), str(newpath))
    except FileNotFoundError:
        raise _missing(oldpath) from None


def Rename(oldname, newname, overwrite=False):
    _may_write(newname, overwrite)
    try:
        os.replace(str(oldname), str(newname))
    except FileNotFoundError:
        raise _missing(oldname) from None


def _may_write(path, overwrite):
    if os.path.exists(str(path)) and not overwrite:
        raise errors.AlreadyExistsError(None, None, "file already exists: %s" % path)


def Glob(filename):
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    return [path for p in patterns for path in _matching(os.fsdecode(p))]


def _matching(pattern):
    """The paths that a pattern matches, in order; TensorFlow puts ./ before those of this folder."""
    here = "" if "/" in pattern or not _glob.has_magic(pattern) else "./"
    return [here + path for path in sorted(_glob.glob(pattern))]


def Stat(filename):
    class FileStatistics:
        def __init__(self, s):
            self.length, self.mtime_nsec, self.is_directory = s.st_size, s.st_mtime_ns, os.path.isdir(str(filename))
    try:
        return FileStatistics(os.stat(str(filename)))
    except FileNotFoundError:
        raise _missing(filename) from None


def Walk(top, in_order=True):
    yield from os.walk(str(top), topdown=in_order)


# The names of tensorflow.python.lib.io.file_io and tf.io.gfile.
file_exists, is_directory, recursive_create_dir, create_dir = Exists, IsDirectory, MakeDirs, MkDir
list_directory, delete_file, delete_recursively, copy, rename = ListDirectory, Remove, DeleteRecursively, Copy, Rename
get_matching_files, stat, walk, FileIO = Glob, Stat, Walk, GFile
exists, isdir, makedirs, mkdir, listdir, remove, rmtree = Exists, IsDirectory, MakeDirs, MkDir, ListDirectory, Remove, DeleteRecursively
glob = Glob
