"""tf.io.gfile: the functions of tf.gfile under their later names."""
import os

from weft._core.files import gfile
from weft._core.files.gfile import GFile  # noqa: F401 - shown beside the functions


def copy(src, dst, overwrite=False):
    """Copies a file.

    Args:
      src: its path.
      dst: the path of the copy.
      overwrite: whether the copy may replace a file.
    """
    gfile.Copy(src, dst, overwrite)


def exists(path):
    """Whether a file or folder exists.

    Args:
      path: its path.
    """
    return gfile.Exists(path)


def glob(pattern):
    """The paths that match a pattern, in order.

    Args:
      pattern: a pattern with * and ?, or a list of patterns.
    """
    return gfile.Glob(pattern)


def isdir(path):
    """Whether a path is a folder.

    Args:
      path: the path.
    """
    return gfile.IsDirectory(path)


def join(path, *paths):
    """Paths put together, with a slash between them.

    Args:
      path: the first path.
      *paths: more paths; one that begins with a slash drops what is before it.
    """
    return os.path.join(path, *paths)


def listdir(path):
    """The names in a folder.

    Args:
      path: the folder.
    """
    return gfile.ListDirectory(path)


def makedirs(path):
    """Makes a folder and those above it; one that exists is no error.

    Args:
      path: the folder.
    """
    gfile.MakeDirs(path)


def mkdir(path):
    """Makes a folder in one that exists.

    Args:
      path: the folder.
    """
    gfile.MkDir(path)


def remove(path):
    """Deletes a file.

    Args:
      path: its path.
    """
    gfile.Remove(path)


def rename(src, dst, overwrite=False):
    """Gives a file or folder another path.

    Args:
      src: its path.
      dst: its new path.
      overwrite: whether it may replace a file.
    """
    gfile.Rename(src, dst, overwrite)


def rmtree(path):
    """Deletes a folder with all that is in it.

    Args:
      path: the folder.
    """
    gfile.DeleteRecursively(path)


def stat(path):
    """The length and the time of the last change of a file.

    Args:
      path: its path.
    """
    return gfile.Stat(path)


def walk(top, topdown=True, onerror=None):
    """For each folder below one: its path, the names of its folders, and those of its files.

    Args:
      top: the folder to begin at.
      topdown: whether a folder comes before those inside of it.
      onerror: a function that is called with the error of a folder that cannot be read.
    """
    yield from os.walk(str(top), topdown=topdown, onerror=onerror)


def get_registered_schemes():
    """The kinds of paths that can be opened: plain ones and file://."""
    return ["file", ""]
