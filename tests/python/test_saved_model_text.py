"""`weft inspect` of what Python programs and TensorFlow write: SavedModels and numpy's archives."""
import json
import pathlib
import subprocess

import numpy as np

import scripts
from both import oracle, weft


def inspect(*paths):
    weft_program = pathlib.Path(scripts.PACKAGE).parent / "bin" / "weft"
    return subprocess.run([str(weft_program), "inspect", *map(str, paths)], capture_output=True, text=True, timeout=60)


def save(tf, folder):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        s = tf.sparse_placeholder(tf.int64, name="s")
        y = tf.matmul(x, tf.get_variable("v", [3, 2]), name="y")
        sess.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder))
        info = tf.saved_model.utils.build_tensor_info
        signature = tf.saved_model.signature_def_utils.build_signature_def(
            {"x": info(x), "s": info(s)}, {"y": info(y)}, "tensorflow/serving/predict")
        builder.add_meta_graph_and_variables(sess, ["serve", "gpu"], {"serving_default": signature})
        builder.save()


def test_a_saved_model_of_either_system_is_described(tmp_path):
    for name, tf in (("weft", weft), ("tensorflow", oracle)):
        save(tf, tmp_path / name)
        for path in (tmp_path / name, tmp_path / name / "saved_model.pb"):
            told = inspect(path)
            assert told.returncode == 0, told
            lines = told.stdout.splitlines()
            assert lines[0] == "%s: a SavedModel" % (tmp_path / name)
            assert "tags 'serve' 'gpu':" in lines[1] or "tags 'gpu' 'serve':" in lines[1]
            assert "  signature 'serving_default', tensorflow/serving/predict" in lines
            assert "    input  'x': float32 [?,3], tensor x:0" in lines
            assert any(line.startswith("    input  's': int64") and ", sparse: s/indices:0, s/values:0, s/shape:0" in line
                       for line in lines), told.stdout
            assert "    output 'y': float32 [?,2], tensor y:0" in lines
    assert "v " in inspect(tmp_path / "weft" / "variables" / "variables").stdout


def test_a_saved_model_of_either_system_is_described_as_json(tmp_path):
    for name, tf in (("weft", weft), ("tensorflow", oracle)):
        save(tf, tmp_path / name)
        told = inspect(tmp_path / name, "--json")
        assert told.returncode == 0, told
        model, = json.loads(told.stdout)["files"]
        assert (model["kind"], model["path"]) == ("saved_model", str(tmp_path / name))
        graph, = model["graphs"]
        assert set(graph["tags"]) == {"serve", "gpu"} and graph["nodes"] > 5 and graph["assets"] == []
        signature, = graph["signatures"]
        assert (signature["key"], signature["method"]) == ("serving_default", "tensorflow/serving/predict")
        assert {"name": "x", "type": "float32", "shape": [None, 3], "tensor": "x:0"} in signature["inputs"]
        assert [s["tensor"] for s in signature["inputs"] if s["name"] == "s"] == [None]
        assert signature["outputs"] == [{"name": "y", "type": "float32", "shape": [None, 2], "tensor": "y:0"}]


def test_an_archive_of_numpy_is_listed(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones((2, 3), np.float32), y=np.arange(4))
    told = inspect(tmp_path / "a.npz")
    assert told.returncode == 0 and "2 arrays, 56 bytes" in told.stdout, told
    assert told.stdout.splitlines()[1].split() == ["x", "float32", "[2,3]", "24", "bytes"], told.stdout
    (tmp_path / "b.npz").write_bytes(b"PK rubbish")
    assert inspect(tmp_path / "b.npz").returncode == 1
