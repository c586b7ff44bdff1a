"""The implementation of the public modules of this package; weft/__init__.py says what each folder holds."""
import importlib.util
import os
import sys

# Stack frames of files in this folder do not belong to the program.
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _refuse(said):
    if sys.argv[:1] == ["-m"]:  # For python -m weft and weft run, the error is one line without a traceback.
        sys.exit("weft: " + said)
    raise ImportError("weft: " + said) from None


try:
    import numpy  # noqa: F401
except ModuleNotFoundError:
    _refuse(f"{sys.executable} has no numpy: install python3-numpy, or name another Python with WEFT_PYTHON_PROGRAM")
if importlib.util.find_spec("weft._weft") is None:
    _refuse(f"the compiled part is not in {PACKAGE}: run scripts/setup, or build the target weft_python")

from weft import _weft  # noqa: E402
from weft._core.run import stand_in  # noqa: E402

stand_in.install()
_weft.log_to_stderr(int(os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") or 0))
