"""Everything behind the public modules of the package; weft/__init__.py says what is where."""
import os
import sys

try:
    import numpy  # noqa: F401
except ModuleNotFoundError:
    said = f"{sys.executable} has no numpy: install python3-numpy, or name another Python with WEFT_PYTHON_PROGRAM"
    if sys.argv[:1] == ["-m"]:  # python -m weft, weft run: one line and no traceback
        sys.exit("weft: " + said)
    raise ImportError(f"weft needs numpy: {said}") from None

from weft import _weft
from weft._core.run import stand_in

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # the files below it are not the program's

stand_in.install()
_weft.log_to_stderr(int(os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") or 0))
