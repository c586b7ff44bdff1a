"""The same Python, once with Weft as `tf` and once with TensorFlow, and what came out compared."""
import os
import pathlib
import sys

import pytest

pytest.register_assert_rewrite("both")
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
sys.path.insert(0, os.environ.get("WEFT_PYTHON", str(ROOT / "build" / "python")))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
