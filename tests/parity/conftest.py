import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # the plain kernels are the oracle
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import tensorflow as tf  # noqa: E402

tf.compat.v1.disable_eager_execution()
tf.compat.v1.disable_control_flow_v2()
