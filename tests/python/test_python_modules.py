"""The table of modules of tensorflow.python and tensorflow.contrib that programs import by their whole path."""
import importlib.util
import pathlib
import subprocess
import sys

import pytest

import scripts
from weft._core.run.modules import MODULES

PROGRAM = """
import importlib, sys
from weft._core.run import runner
from weft._core.run.modules import MODULES
runner.install()
for name in MODULES:
    importlib.import_module(name)
from tensorflow.python.util import deprecation
deprecation._PRINT_DEPRECATION_WARNINGS = False
old = deprecation.deprecated(None, "Use g.")(lambda: 3)
assert old() == 3
try:
    from tensorflow.python.ops import gen_nonsense_ops
except ImportError as e:
    assert "gen_nonsense_ops is not in Weft" in str(e), e
try:
    from tensorflow.python.ops.gen_nn_ops import max_pol
except ImportError as e:
    assert "max_pool" in str(e) and "line" in str(e), e
try:
    from tensorflow.python.eager import context
    context.eager_mode()
except NotImplementedError as e:
    assert "tf.Session" in str(e)
print("imported", len(MODULES))
"""


def test_every_module_of_the_table_is_imported():
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={"PYTHONPATH": scripts.PACKAGE}, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.stdout == "imported %d\n" % len(MODULES), done.stderr[-3000:]
    assert "is deprecated" not in done.stderr


def test_modules_of_the_table_are_tensorflows():
    """A path that TensorFlow never had would be ours alone: 2.15 has most, and the rest are of 1.x."""
    found = importlib.util.find_spec("tensorflow")
    if found is None:
        pytest.skip("TensorFlow is not installed")
    root = pathlib.Path(found.origin).parent
    python = [n for n in MODULES if n.startswith("tensorflow.python.") and n.count(".") > 2]
    there = [n for n in python if (root / "/".join(n.split(".")[1:])).with_suffix(".py").exists() or
             (root / "/".join(n.split(".")[1:])).is_dir()]
    assert len(there) > 0.7 * len(python)
