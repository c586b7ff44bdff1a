"""`tf` as a program under `weft run` sees it."""
import importlib
import os
import pathlib
import sys


def load():
    root = pathlib.Path(__file__).resolve().parents[3]
    sys.path.insert(0, os.environ.get("WEFT_PYTHON", str(root / "build" / "python")))
    from weft._core.run import runner
    runner.install()
    for name in ("python.client.timeline", "python.ops.variables", "examples.tutorials.mnist.input_data",
                 "examples.tutorials.mnist.mnist"):
        importlib.import_module("tensorflow." + name)
    return importlib.import_module("tensorflow")
