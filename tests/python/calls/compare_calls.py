"""Where two descriptions of what a case did differ; None if nowhere."""
import numpy as np


def difference(ours, theirs, tolerance):
    if isinstance(theirs, str):
        return "TensorFlow failed:\n" + theirs
    if isinstance(ours, str):
        return "Weft failed:\n" + ours
    found = within(ours[0], theirs[0], tolerance, "result") or within(ours[2], theirs[2], tolerance, "variables") or \
        within(ours[3], theirs[3], tolerance, "draws")
    if found or theirs[1] is None:
        return found
    more = sorted(set(ours[1]) - set(theirs[1])), sorted(set(theirs[1]) - set(ours[1]))
    return "nodes only in one: %s, TensorFlow %s" % more if any(more) else None


def within(a, b, tolerance, at):
    if isinstance(b, dict):
        if not isinstance(a, dict) or a.keys() != b.keys():
            return "%s: %r, TensorFlow has %r" % (at, a, b)
        pairs = [(a[k], b[k], "%s[%r]" % (at, k)) for k in b]
    elif isinstance(b, (list, tuple)):
        if not isinstance(a, (list, tuple)) or len(a) != len(b):
            return "%s: %r, TensorFlow has %r" % (at, a, b)
        pairs = [(x, y, "%s[%d]" % (at, i)) for i, (x, y) in enumerate(zip(a, b))]
    else:
        return None if same(a, b, tolerance) else "%s: %r, TensorFlow has %r" % (at, a, b)
    return next(filter(None, (within(x, y, tolerance, p) for x, y, p in pairs)), None)


def same(a, b, tolerance):
    if not isinstance(b, (np.ndarray, np.generic)):
        return type(a) is type(b) and (a == b or isinstance(b, float) and abs(a - b) <= tolerance * max(1, abs(b)))
    if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
        return False
    if b.dtype.kind in "fc":
        return np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    return np.array_equal(a, b)
