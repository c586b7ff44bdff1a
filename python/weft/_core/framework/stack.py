"""Finds the stack frames of the program, without those of this package and its launcher."""
import contextlib
import sys
import threading

from weft._core import PACKAGE

# Frames of these files do not belong to the program.
_OWN = (PACKAGE, "<frozen ", contextlib.__file__, threading.__file__)
_shown = {}  # code object -> whether it belongs to the program
_filtering = True


def enable_traceback_filtering():
    """Makes the stacks of new nodes show only the program's own frames."""
    global _filtering
    _filtering = True


def disable_traceback_filtering():
    """Makes the stacks of new nodes show the frames of this package, too."""
    global _filtering
    _filtering = False


def is_traceback_filtering_enabled():
    """Returns whether the stack of a node shows only the program's own frames."""
    return _filtering


def made_at():
    """Returns the stack of the calling program as (file, line, function) of each frame, the innermost one last."""
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
