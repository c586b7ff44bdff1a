"""absl, six and google.protobuf: an installed one is found and works with our messages, and a program runs without them."""
import os
import subprocess
import sys

import pytest

import scripts

HIDE = """import sys, importlib.machinery as machinery
real, hidden = machinery.PathFinder.find_spec, ("absl", "google", "six", "tensorboard", "tensorflow")
def find_spec(name, path=None, target=None):
    ours = any("stand_in" in str(p) for p in path or ())
    return None if name.partition(".")[0] in hidden and not ours else real(name, path, target)
if %r:
    machinery.PathFinder.find_spec = find_spec
    for name in [n for n in sys.modules if n.partition(".")[0] in hidden]:
        del sys.modules[name]
"""
ARGS = ["--name=n", "--steps", "7", "--fast", "--mode=eval", "--sizes=3,4,5", "--rate=0.5", "--more=b", "--more=c", "--old=z",
        "--old_number=4", "rest"]
SAID = """n 7 True eval ['3', '4', '5'] 0.5 ['b', 'c'] ['rest']
z z 5 7 n
True True True [('a', 1)] b'x' [0, 1] [(1, 0)] h a%20b z
2 [1.5, -2.0] b"A Identity ['a', '^a']
True type 24
True False producer: 24
1 True False
True
features { feature { key: "n" value { int64_list { value: 3 } } } } int64_list
['tag', 'simple_value'] TensorProto AttrValue SaverDef MetaGraphDef
True True True True True True
"""


def run(tmp_path, hidden, code):
    env = dict(os.environ, PYTHONPATH=scripts.PACKAGE)
    return subprocess.run([sys.executable, "-c", HIDE % hidden + code], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "installed"])
@pytest.mark.parametrize("by", [[], ["--by_tf"]], ids=["absl.app", "tf.app"])
def test_a_program_runs_with_and_without_the_packages(tmp_path, hidden, by):
    found = run(tmp_path, hidden, "from weft.__main__ import main\nsys.exit(main(%r))" % (
        [str(scripts.PROGRAMS / "packages.py")] + ARGS + by,))
    assert (found.returncode, found.stdout) == (0, SAID), found.stderr
    assert "step 3" in found.stderr


def test_a_flag_that_is_wrong_ends_the_program(tmp_path):
    for hidden in (True, False):
        found = run(tmp_path, hidden, "from weft.__main__ import main\nsys.exit(main(%r))" % (
            [str(scripts.PROGRAMS / "packages.py"), "--steps=100"],))
        assert found.returncode == 1 and "too many" in found.stderr + found.stdout, (hidden, found)


def test_programs_that_import_weft_have_them_too(tmp_path):
    code = ("import weft as tf\nfrom absl import flags, app, logging\nimport six\nfrom google.protobuf import text_format\n"
            "print(text_format.Merge('node { name: \"a\" }', tf.GraphDef()).node[0].name, six.PY3, flags.FLAGS is not None)\n")
    for hidden in (True, False):
        found = run(tmp_path, hidden, code)
        assert (found.returncode, found.stdout) == (0, "a True True\n"), found.stderr


def test_an_installed_package_is_the_one_that_is_found(tmp_path):
    code = "import weft\nimport absl.flags, six, google.protobuf.text_format as t\n" \
        "print('stand_in' in absl.flags.__file__ + six.__file__ + t.__file__)"
    assert run(tmp_path, False, code).stdout == "False\n"
    assert run(tmp_path, True, code).stdout == "True\n"


def test_tensorboard_is_found_where_it_is_installed(tmp_path):
    (tmp_path / "board.py").write_text("import tensorboard\nfrom tensorboard.plugins import projector\nimport tensorflow as tf\n"
                                       "print(tensorboard.__version__ > '1', tf.weft_version is not None)\n")
    found = run(tmp_path, False, "from weft.__main__ import main\nsys.exit(main(['board.py']))")
    assert (found.returncode, found.stdout) == (0, "True True\n"), found.stderr


def test_text_of_tensorflows_graphs_is_read_and_written_alike():
    from google.protobuf import text_format

    from both import oracle, weft
    with oracle.Graph().as_default() as graph:
        oracle.constant([["a\"b\\c\n\x00\u00e9", "'"]]), oracle.constant([1.5, float("inf"), -2e-30])
        x = oracle.placeholder(oracle.int64, [None, 3])
        oracle.layers.dense(oracle.cast(x, oracle.float32), 2, kernel_initializer=oracle.zeros_initializer())
        oracle.train.Saver()
        theirs = graph.as_graph_def()
    ours = text_format.Parse(text_format.MessageToString(theirs), weft.GraphDef())
    assert oracle.GraphDef.FromString(ours.SerializeToString()) == theirs
    assert text_format.Parse(text_format.MessageToString(ours), oracle.GraphDef()) == theirs
