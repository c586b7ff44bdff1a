"""The stack frames of the program, without those of this package and of its launcher."""
import contextlib
import sys
import threading

from weft._core import PACKAGE

_OWN = (PACKAGE, "<frozen ", contextlib.__file__, threading.__file__)  # files whose frames are not the program's
_shown = {}  # code object -> does it belong to the program?
_filtering = True


def enable_traceback_filtering():
    """The stack of a node shows only the program's own frames."""
    global _filtering
    _filtering = True


def disable_traceback_filtering():
    """The stack of a node shows the frames of this package, too."""
    global _filtering
    _filtering = False


def is_traceback_filtering_enabled():
    """Whether the stack of a node shows only the program's own frames."""
    return _filtering


def made_at():
    """The stack of the program that calls us, the innermost frame last: (file, line, function) of each."""
    frames, frame = [], sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        shown = _shown.get(code)
        if shown is None:
            shown = _shown[code] = not code.co_filename.startswith(_OWN)
        if shown or not _filtering:
            frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    frames.reverse()
    return tuple(frames)
