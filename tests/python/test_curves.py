"""One file, run by `python -m weft` and by TensorFlow: the same losses, step by step, from the same seeds."""
import os
import subprocess
import sys

import scripts

# What 2.15 lacks of 1.x for a program to run as it stands: its name, and graphs by default.
AS_TENSORFLOW = '''import runpy, sys
import tensorflow.compat.v1 as tf
tf.disable_eager_execution(); tf.disable_control_flow_v2(); tf.disable_resource_variables()
sys.modules["tensorflow"] = tf
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
'''


def losses(out):
    return [(name, value) for name, value in (line.split()[:2] for line in out.splitlines() if line) if name != "done"]


def test_losses_are_tensorflows(tmp_path):
    script = scripts.PROGRAMS / "curves.py"
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore", TF_ENABLE_ONEDNN_OPTS="0")
    (tmp_path / "tf").mkdir()
    (tmp_path / "weft").mkdir()
    theirs = subprocess.Popen([sys.executable, "-c", AS_TENSORFLOW, str(script)], cwd=tmp_path / "tf", env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        code, out, err = scripts.run(script, cwd=tmp_path / "weft")
        assert code == 0, err
        said, complaint = theirs.communicate(timeout=240)
        assert theirs.returncode == 0, complaint[-3000:]
    finally:
        theirs.kill()
    ours, expected = losses(out), losses(said)
    assert [name for name, _ in ours] == [name for name, _ in expected] and len(ours) > 60
    for (name, a), (_, b) in zip(ours, expected):
        assert a == b or abs(float(a) - float(b)) < 2e-3 * max(1.0, abs(float(b))), (name, ours, expected)
