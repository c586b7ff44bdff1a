"""Selects which exports to keep: functions of a list of Path, for the argument exports_to_keep."""
import collections
import heapq
import os

from weft._core.files import gfile

Path = collections.namedtuple("Path", "path export_version")


def get_paths(base_dir, parser):
    """Returns the Paths of the folders in base_dir for which the parser gives one, by version.

    Args:
      base_dir: the folder of the exports.
      parser: a function of Path(path, None) that gives a Path with its version, or None.
    """
    found = []
    for name in gfile.ListDirectory(base_dir):
        path = os.path.join(base_dir, name.rstrip("/"))
        if gfile.IsDirectory(path):
            made = parser(Path(path, None))
            if made is not None:
                found.append(made)
    return sorted(found)


def largest_export_versions(n):
    """Returns a function that keeps the n newest versions."""
    def keep(paths):
        newest = heapq.nlargest(n, [(p.export_version, i) for i, p in enumerate(paths)])
        return sorted(paths[i] for _, i in newest)
    return keep


def one_of_every_n_export_versions(n):
    """Returns a function that keeps the newest version of each group of n: of (0, n], (n, 2n] and so on."""
    def keep(paths):
        best = {}
        for p in paths:
            slot = max((p.export_version - 1) // n, 0)
            if slot not in best or best[slot].export_version < p.export_version:
                best[slot] = p
        return [best[slot] for slot in sorted(best)]
    return keep


def mod_export_version(n):
    """Returns a function that keeps the versions divisible by n."""
    return lambda paths: [p for p in paths if p.export_version % n == 0]


def union(lf, rf):
    """Returns a function that keeps what either of two functions keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


def negation(f):
    """Returns a function that keeps what another function does not keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))
