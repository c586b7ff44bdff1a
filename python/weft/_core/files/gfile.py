"""tf.gfile: access to files of this machine."""
import glob as _glob
import os
import shutil

from weft import _weft
from weft._core.framework import errors
from weft._core.framework.absent import Named


def local(path):
    """Returns the local path: "file:///tmp/x" is "/tmp/x".

    Raises UnimplementedError for "hdfs://..." and other file systems.
    """
    path = os.fspath(path)
    path = path.decode() if isinstance(path, bytes) else str(path)
    return _weft.path_local(path) if "://" in path else path


def _is_local(path):
    """Returns whether a path is local.

    For other file systems some questions, such as whether a file exists, are answered no.
    """
    try:
        local(path)
    except errors.UnimplementedError:
        return False
    return True


def _missing(path):
    return errors.NotFoundError(None, None, "%s; No such file or directory" % path)


class GFile(metaclass=Named):
    """A file that is opened on its first use."""

    def __init__(self, name, mode="r"):
        name = os.fspath(name)
        self._name, self._mode, self._file = name.decode() if isinstance(name, bytes) else name, mode, None

    @property
    def name(self):
        return self._name

    @property
    def mode(self):
        return self._mode

    def _open(self):
        if self._file is None:
            try:
                self._file = open(local(self._name), self._mode, **({} if "b" in self._mode else {"encoding": "utf-8"}))
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

    def write(self, file_content):
        self._open().write(file_content)

    def seek(self, offset=None, whence=0, position=None):
        self._open().seek(position if offset is None else offset, whence)

    def seekable(self):
        """Returns True, because seek and tell always work."""
        return True

    def tell(self):
        return self._open().tell()

    def size(self):
        return os.path.getsize(local(self._name))

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
    return os.path.exists(local(filename))


def IsDirectory(dirname):
    return _is_local(dirname) and os.path.isdir(local(dirname))


def MakeDirs(dirname):
    os.makedirs(local(dirname), exist_ok=True)


def MkDir(dirname):
    try:
        os.mkdir(local(dirname))
    except FileExistsError:
        raise errors.AlreadyExistsError(None, None, "%s; File exists" % dirname) from None
    except FileNotFoundError:
        raise _missing(dirname) from None


def ListDirectory(dirname):
    if not IsDirectory(dirname):
        raise errors.NotFoundError(None, None, "Could not find directory %s" % dirname)
    return os.listdir(local(dirname))


def Remove(filename):
    try:
        os.remove(local(filename))
    except FileNotFoundError:
        raise _missing(filename) from None


def DeleteRecursively(dirname):
    if not os.path.exists(local(dirname)):
        raise _missing(dirname)
    shutil.rmtree(local(dirname)) if os.path.isdir(local(dirname)) else os.remove(local(dirname))


def Copy(oldpath, newpath, overwrite=False):
    # The source is checked first, as in TensorFlow, because its file system may not be supported.
    source = local(oldpath)
    _may_write(newpath, overwrite)
    try:
        shutil.copyfile(source, local(newpath))
    except FileNotFoundError:
        raise _missing(newpath if os.path.exists(source) else oldpath) from None


def Rename(oldname, newname, overwrite=False):
    source = local(oldname)
    _may_write(newname, overwrite)
    try:
        os.replace(source, local(newname))
    except FileNotFoundError:
        raise _missing(newname if os.path.exists(source) else oldname) from None


def _may_write(path, overwrite):
    if os.path.exists(local(path)) and not overwrite:
        raise errors.AlreadyExistsError(None, None, "file already exists: %s" % path)


def Glob(filename):
    patterns = [filename] if isinstance(filename, (str, bytes, os.PathLike)) else filename
    return [_as_given(p, path) for p in map(os.fsdecode, patterns) for path in _matching(local(p))]


def _matching(pattern):
    """Returns the sorted paths that match a pattern.

    As in TensorFlow, they begin with ./ if the first part has a wildcard.
    """
    here = "./" if _glob.has_magic(pattern.partition("/")[0]) else ""
    return [here + path for path in sorted(_glob.glob(pattern))]


def _as_given(given, path):
    """Returns a path that was found, with the scheme of the path that was searched."""
    return given[:len(given) - len(local(given))] + path


def Stat(filename):
    class FileStatistics:
        def __init__(self, s):
            self.length, self.mtime_nsec, self.is_directory = s.st_size, s.st_mtime_ns, os.path.isdir(local(filename))
    try:
        return FileStatistics(os.stat(local(filename)))
    except FileNotFoundError:
        raise _missing(filename) from None


def Walk(top, in_order=True):
    for folder, folders, files in os.walk(local(top), topdown=in_order):
        yield _as_given(top, folder), folders, files


# The names of tensorflow.python.lib.io.file_io and tf.io.gfile.
file_exists, is_directory, recursive_create_dir, create_dir = Exists, IsDirectory, MakeDirs, MkDir
list_directory, delete_file, delete_recursively, copy, rename = ListDirectory, Remove, DeleteRecursively, Copy, Rename
get_matching_files, stat, walk, FileIO = Glob, Stat, Walk, GFile
exists, isdir, makedirs, mkdir, listdir, remove, rmtree = Exists, IsDirectory, MakeDirs, MkDir, ListDirectory, Remove, DeleteRecursively
glob = Glob
