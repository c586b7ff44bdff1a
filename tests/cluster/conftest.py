import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, os.environ.get("WEFT_PYTHON", str(HERE.parents[1] / "build" / "python")))  # graphs for raw clients

from fixtures import cluster  # noqa: E402,F401
