"""tf.contrib.tensorrt.create_inference_graph: a graph that runs, from a GraphDef or a SavedModel, and checked arguments."""
import logging

import numpy as np
import pytest

import weft

create = weft.contrib.tensorrt.create_inference_graph


def graph_def():
    with weft.Graph().as_default() as graph:
        x = weft.placeholder(weft.float32, [2], name="x")
        weft.multiply(x, 3.0, name="y")
    return graph.as_graph_def()


def computed(made, out="y:0"):
    with weft.Graph().as_default(), weft.Session() as sess:
        weft.import_graph_def(made, name="")
        return sess.run(out, {"x:0": [1.0, 2.0]}).tolist()


def saved_model(folder):
    with weft.Graph().as_default(), weft.Session() as sess:
        x = weft.placeholder(weft.float32, [2], name="x")
        y = weft.multiply(weft.Variable([4.0, 5.0]), x, name="y")
        sess.run(weft.global_variables_initializer())
        weft.saved_model.simple_save(sess, str(folder), {"x": x}, {"y": y})
    return str(folder)


class Kept(logging.Handler):
    """Keeps what is logged."""

    def __init__(self):
        super().__init__()
        self.said = []

    def emit(self, record):
        self.said.append((record.levelname, record.getMessage()))


def test_a_graph_comes_back_and_one_warning_says_so():
    kept, given = Kept(), graph_def()
    weft.get_logger().addHandler(kept)
    try:
        made = create(given, ["y:0"], precision_mode="fp16", max_batch_size=8, is_dynamic_op=True)
    finally:
        weft.get_logger().removeHandler(kept)
    assert made == given and made is not given and computed(made) == [3.0, 6.0]
    assert [level for level, _ in kept.said] == ["WARNING"] and "nothing was converted" in kept.said[0][1]


def test_a_saved_model_comes_back_frozen(tmp_path):
    folder, out = saved_model(tmp_path / "in"), str(tmp_path / "out")
    made = create(None, None, input_saved_model_dir=folder, output_saved_model_dir=out)
    assert not [n for n in made.node if "Variable" in n.op or n.op == "VarHandleOp"]
    assert computed(made) == [4.0, 10.0]
    with weft.Graph().as_default(), weft.Session() as sess:
        meta = weft.saved_model.loader.load(sess, ["serve"], out)
        signature = meta.signature_def["serving_default"]
        found = sess.run(signature.outputs["y"].name, {signature.inputs["x"].name: [1.0, 2.0]})
    np.testing.assert_array_equal(found, [4.0, 10.0])


@pytest.mark.parametrize("given, word", [
    ({"precision_mode": "FP8"}, "precision_mode"), ({"max_batch_size": 0}, "max_batch_size"),
    ({"max_workspace_size_bytes": 1.5}, "max_workspace_size_bytes"), ({"minimum_segment_size": -1}, "minimum_segment_size"),
    ({"maximum_cached_engines": True}, "maximum_cached_engines"), ({"outputs": []}, "outputs"), ({"outputs": ["z"]}, "node z"),
    ({"input_graph_def": None}, "either"), ({"input_saved_model_dir": "m"}, "either"), ({"output_saved_model_dir": "m"}, "output_saved")])
def test_wrong_arguments_are_named(given, word):
    with pytest.raises(ValueError, match=word):
        create(**{"input_graph_def": graph_def(), "outputs": ["y"], **given})


def test_a_saved_model_needs_its_signature(tmp_path):
    folder = saved_model(tmp_path / "in")
    with pytest.raises(ValueError, match="no signature 'other'; it has serving_default"):
        create(None, None, input_saved_model_dir=folder, input_saved_model_signature_key="other")
    with pytest.raises(RuntimeError, match="extra"):
        create(None, None, input_saved_model_dir=folder, input_saved_model_tags=["extra"])
    with pytest.raises(TypeError, match="must be a GraphDef"):
        create(b"", ["y"])
