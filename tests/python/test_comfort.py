"""What a user sees beside results: where an op was made, versions, and the files of the package."""
import collections
import enum
import inspect
import os
import pydoc
import re
import subprocess
import sys

import pytest

import scripts
import test_namespaces
import weft
from both import oracle
from weft._core import docs

MODEL = """
import tensorflow as tf


def layer(x, w):
    return tf.matmul(x, w, name="product")


def model():
    with tf.variable_scope("net"):
        x = tf.placeholder(tf.float32, [None, None], name="x")
        return x, layer(x, tf.ones([3, 2]))


def main(_):
    x, y = model()
    with tf.Session() as sess:
        sess.run(y, {x: [[1.0, 2.0]]})


tf.app.run()
"""


def test_an_error_shows_the_programs_whole_stack(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(MODEL)
    code, out, err = scripts.run(script, cwd=tmp_path)
    assert code != 0
    _, _, stack = err.rpartition("Caused by op 'net/product', defined at:\n")
    frames = re.findall(r'File "(.*)", line \d+, in (\S+)\n    (.*)', stack)
    assert [f[0] for f in frames] == [str(script)] * 4  # and no frame of the runner
    assert [f[1:] for f in frames] == [("<module>", "tf.app.run()"), ("main", "x, y = model()"),
                                       ("model", "return x, layer(x, tf.ones([3, 2]))"),
                                       ("layer", 'return tf.matmul(x, w, name="product")')]


def make_product(x):
    return weft.matmul(x, weft.ones([3, 2]), name="product")


def make_gradient(y, x, dy):
    return weft.gradients(y, x, dy)


def test_an_error_in_a_gradient_shows_both_stacks():
    with weft.Graph().as_default(), weft.Session() as sess:
        x, dy = weft.placeholder(weft.float32, [1, 3]), weft.placeholder(weft.float32)
        made = make_gradient(make_product(x), x, dy)
        with pytest.raises(weft.errors.InvalidArgumentError) as e:
            sess.run(made, {x: [[1.0, 2.0, 3.0]], dy: [[1.0, 2.0, 3.0, 4.0]]})
    first, _, second = str(e.value).partition("...which was originally created as op 'product', defined at:\n")
    assert "Caused by op 'gradients/product_grad/" in first and "in make_gradient" in first and "in make_product" in second
    assert e.value.op._original_op.name == "product" and e.value.op._original_op._original_op is None


def test_an_operation_knows_its_stack():
    with weft.Graph().as_default():
        stack = make_product(weft.ones([1, 3])).op.traceback
    file, line, function, text = stack[-1]
    assert (os.path.basename(file), function) == ("test_comfort.py", "make_product") and "weft.matmul" in text and line > 0
    assert not any(os.sep + os.path.join("weft", "_core") in frame.filename for frame in stack)


def test_a_variable_that_exists_says_where_it_was_made():
    with weft.Graph().as_default():
        weft.get_variable("v", [2])
        with pytest.raises(ValueError, match="Originally defined at:\n\n(.|\n)*test_comfort.py(.|\n)*get_variable\\(\"v\""):
            weft.get_variable("v", [2])


def test_the_package_says_where_and_what_it_is():
    assert os.path.exists(weft.__file__) and os.path.dirname(weft.__file__) == weft.__path__[0]
    assert weft.__version__ == weft.VERSION == weft.version.VERSION and weft.__compiler_version__ == weft.COMPILER_VERSION
    assert weft.GRAPH_DEF_VERSION == weft.Graph().as_graph_def().versions.producer
    assert os.path.exists(os.path.join(weft.sysconfig.get_include(), "weft", "weft.h"))
    assert any(f.startswith("libweft.so") for f in os.listdir(weft.sysconfig.get_lib()))
    assert weft.sysconfig.get_link_flags() == ["-L" + weft.sysconfig.get_lib(), "-lweft"]
    assert weft.test.is_gpu_available() is bool(weft.test.gpu_device_name())


def test_a_script_sees_the_same(tmp_path):
    script = tmp_path / "where.py"
    script.write_text("import os\nimport tensorflow as tf\nimport tensorflow.contrib.slim as slim\n"
                      "print(os.path.exists(tf.__file__), os.path.isdir(tf.__path__[0]), tf.__version__, 'dense' in dir(tf.layers),\n"
                      "      'layers' in dir(tf), 'sysconfig' in dir(tf), 'conv2d' in dir(slim),\n"
                      "      tf.compat.v1.layers.dense is tf.layers.dense)\n")
    code, out, err = scripts.run(script, cwd=tmp_path)
    assert (code, out) == (0, "True True %s True True True True True\n" % weft.VERSION), err


# ---- help() ----

def callables():
    """{name: function or class} of every public module, each once."""
    found, seen = {}, set()
    for namespace, module in test_namespaces.MODULES.items():
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isfunction(value) or inspect.isclass(value)) and id(value) not in seen:
                seen.add(id(value))
                found["%s.%s" % (namespace, name)] = value
    return found


def test_every_docstring_names_every_parameter():
    found = callables()
    assert len(found) > 1500
    for name, value in found.items():
        if not (value.__module__ or "").startswith("weft"):
            continue
        text = value.__doc__ or ""
        assert text.strip() and "weft._core" not in text, name
        for parameter, _ in docs.parameters(value):
            assert re.search(r"^  %s: ." % re.escape(parameter), text, re.M), (name, parameter)


def test_parameters_that_programs_use_are_described():
    known = [n for name, value in callables().items() if not name.startswith("tf.raw_ops.") for n, _ in docs.parameters(value)]
    described = [n for n in known if docs.words(n) is not None]
    assert len(described) > 0.75 * len(known), collections.Counter(n for n in known if docs.words(n) is None).most_common(20)
    for value in (weft.layers.dense, weft.layers.conv2d, weft.losses.softmax_cross_entropy, weft.train.AdamOptimizer, weft.get_variable,
                  weft.while_loop, weft.train.batch, weft.nn.dynamic_rnn, weft.train.MonitoredTrainingSession):
        assert all(docs.words(n) for n, _ in docs.parameters(value)), value


@pytest.mark.parametrize("name", ["layers.dense", "layers.conv2d", "losses.huber_loss", "train.AdamOptimizer", "train.batch", "matmul",
                                  "reshape", "train.Saver", "while_loop", "nn.dynamic_rnn"])
def test_help_shows_tensorflows_parameters(name):
    ours, theirs = weft, oracle
    for part in name.split("."):
        ours, theirs = getattr(ours, part), getattr(theirs, part)
    text = pydoc.render_doc(ours, renderer=pydoc.plaintext)
    for parameter in inspect.signature(theirs).parameters:
        assert re.search(r"^ *(\| *)?%s: " % parameter, text, re.M), parameter


def test_raw_ops_have_signatures_and_docstrings():
    assert list(inspect.signature(weft.raw_ops.MatMul).parameters) == ["a", "b", "transpose_a", "transpose_b", "name"]
    assert "transpose_a: Of kind bool. The default is false." in weft.raw_ops.MatMul.__doc__


def test_an_enumeration_is_described_whatever_its_python_version_puts_in_it():
    """From Python 3.12.3 on `__signature__` of an enumeration is a function, and `import weft` failed on it."""
    class Kind(enum.Enum):
        FIRST = 1

    Kind.__signature__ = lambda *args: "(*values)"
    assert docs.parameters(Kind) == docs.parameters(Kind.__init__)[1:]


@pytest.mark.parametrize("text", ["def f(x):\n    return 1 // x\nprint(__file__)\ntry:\n    f(0)\nexcept ZeroDivisionError as e:\n"
                                  "    raise ValueError('bad') from e\n", "x = 1\nif x\n    y\n", "import sys\nsys.exit('over')\n"],
                         ids=["raised", "syntax", "exit"])
def test_a_script_ends_as_under_python(text, tmp_path):
    """The same traceback, without frames of the runner, and the same exit code."""
    (tmp_path / "script.py").write_text(text)
    env = dict(os.environ, PYTHONPATH=scripts.PACKAGE)
    said = [subprocess.run([sys.executable, *runner, "script.py"], cwd=tmp_path, env=env, capture_output=True, text=True)
            for runner in ((), ("-m", "weft"))]
    assert said[1].returncode == said[0].returncode == 1
    assert (said[1].stdout, said[1].stderr) == (said[0].stdout, said[0].stderr)


FLAGS = '''"""Docs of the program: %s.
"""
{imports}
flags.DEFINE_integer("steps", 10, "Number of steps that are done until the program says that it is over and ends, at least one.",
                     lower_bound=1, short_name="s")
flags.DEFINE_string("data_dir", None, "Where.")
flags.DEFINE_boolean("fast", True, "Go fast.\\\\n\\\\nOr not.")
flags.DEFINE_float("rate", .1, "Rate.", upper_bound=1.0)
flags.DEFINE_list("names", ["a", "b"], "List.")
flags.DEFINE_enum("kind", "x", ["x", "y"], "")
app.run(lambda argv: 0)
'''


@pytest.mark.parametrize("option", ["--help", "--helpshort"])
@pytest.mark.parametrize("documented", [True, False])
def test_help_on_flags(option, documented, tmp_path):
    """What absl prints, which TensorFlow's flags are."""
    said = []
    for imports, runner in (("from absl import app, flags", ()),
                            ("import tensorflow as tf\nflags, app = tf.flags, tf.app", ("-m", "weft"))):
        text = FLAGS.format(imports=imports)
        (tmp_path / "script.py").write_text(text if documented else text[text.index('"""\n', 3) + 4:])
        found = subprocess.run([sys.executable, *runner, "script.py", option], cwd=tmp_path, capture_output=True, text=True,
                               env=dict(os.environ, PYTHONPATH=scripts.PACKAGE))
        said.append((found.returncode, found.stdout, found.stderr))
    assert said[0] == said[1]
    assert "a positive integer" in said[0][1]
