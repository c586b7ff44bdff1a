"""tf.io.gfile: the functions of tf.gfile under their later names."""
import os

from weft._core.files import gfile
from weft._core.files.gfile import GFile  # noqa: F401 - part of this module's public names


def copy(src, dst, overwrite=False):
    """Copies a file.

    Args:
      src: its path.
      dst: the path of the copy.
      overwrite: whether the copy may replace a file.
    """
    gfile.Copy(src, dst, overwrite)


def exists(path):
    """Returns whether a file or folder exists.

    Args:
      path: its path.
    """
    return gfile.Exists(path)


def glob(pattern):
    """Returns the sorted paths that match a pattern.

    Args:
      pattern: a pattern with * and ?, or a list of patterns.
    """
    return gfile.Glob(pattern)


def isdir(path):
    """Returns whether a path is a folder.

    Args:
      path: the path.
    """
    return gfile.IsDirectory(path)


def join(path, *paths):
    """Joins paths with slashes.

    Args:
      path: the first path.
      *paths: more paths; one that begins with a slash drops what is before it.
    """
    return os.path.join(path, *paths)


def listdir(path):
    """Returns the names in a folder.

    Args:
      path: the folder.
    """
    return gfile.ListDirectory(path)


def makedirs(path):
    """Makes a folder and its parents. It is no error if the folder exists.

    Args:
      path: the folder.
    """
    gfile.MakeDirs(path)


def mkdir(path):
    """Makes a folder in an existing one.

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
    """Moves a file or folder to another path.

    Args:
      src: its path.
      dst: its new path.
      overwrite: whether it may replace a file.
    """
    gfile.Rename(src, dst, overwrite)


def rmtree(path):
    """Deletes a folder and its contents.

    Args:
      path: the folder.
    """
    gfile.DeleteRecursively(path)


def stat(path):
    """Returns the length and the time of the last change of a file.

    Args:
      path: its path.
    """
    return gfile.Stat(path)


def walk(top, topdown=True, onerror=None):
    """Yields for each folder below `top`: its path, the names of its folders, and those of its files.

    Args:
      top: the folder to begin at.
      topdown: whether a folder comes before those inside of it.
      onerror: a function that is called with the error of a folder that cannot be read.
    """
    yield from os.walk(str(top), topdown=topdown, onerror=onerror)


def get_registered_schemes():
    """Returns the kinds of paths that can be opened: plain ones and file://."""
    return ["file", ""]
