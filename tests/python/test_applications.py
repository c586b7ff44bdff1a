"""tf.keras.applications: the networks are TensorFlow's.

applications.txt has a line per model, recorded from TensorFlow 2.15.1 by `python test_applications.py FILE`: the name of the
function, the name of the model, its parameters, layers, sum of dropout rates, input shape, and a digest of the names, classes and
shapes of weights of its layers.  Building all of them takes minutes, so that each run builds the smallest model of each family.
"""
import hashlib
import inspect
import pathlib
import sys

import pytest

RECORDED = pathlib.Path(__file__).resolve().parent / "applications.txt"
EACH_RUN = ("ConvNeXtTiny", "EfficientNetB0", "EfficientNetV2B0", "InceptionV3", "MobileNetV2", "MobileNetV3Small", "RegNetY004",
            "ResNet50", "ResNet50V2", "VGG16", "Xception")


def figures(tf, name):
    """The line of a model."""
    tf.keras.backend.clear_session()
    model = getattr(tf.keras.applications, name)(weights=None)
    lines = ["%s %s %s" % (layer.name, type(layer).__name__, [tuple(w.shape.as_list()) for w in layer.weights]) for layer in model.layers]
    dropped = sum(layer.rate for layer in model.layers if type(layer).__name__ == "Dropout")
    return "%s %s %d %d %.6f %s %s" % (name, model.name, model.count_params(), len(model.layers), dropped,
                                       str(model.input_shape).replace(" ", ""), hashlib.md5("\n".join(lines).encode()).hexdigest()[:12])


def recorded():
    return {line.split()[0]: line for line in RECORDED.read_text().splitlines() if line[0] != "#"}


@pytest.mark.parametrize("name", EACH_RUN)
def test_a_network_is_tensorflows(name):
    import weft
    assert figures(weft, name) == recorded()[name]


def test_weights_that_cannot_be_downloaded_name_the_file(monkeypatch, tmp_path):
    import weft
    from weft._core.keras.applications import common
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))

    def offline(*_, **__):
        raise OSError("no network")
    monkeypatch.setattr(common, "get_file", offline)
    with pytest.raises(OSError, match=r"models/mobilenet_2_5_128_tf_no_top\.h5 from https://.*/mobilenet/mobilenet_2_5_128_tf_no_top.h5"):
        weft.keras.applications.MobileNet(alpha=0.25, include_top=False, input_shape=(128, 128, 3))


def test_weights_of_a_file_are_loaded(tmp_path):
    pytest.importorskip("h5py")
    import weft
    weft.keras.backend.clear_session()
    build = weft.keras.applications.MobileNet
    first = build(weights=None, alpha=0.25, input_shape=(32, 32, 3), classes=3)
    first.save_weights(str(tmp_path / "w.h5"))
    second = build(weights=str(tmp_path / "w.h5"), alpha=0.25, input_shape=(32, 32, 3), classes=3)
    assert all((a == b).all() for a, b in zip(first.get_weights(), second.get_weights()))


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    with open(sys.argv[1], "w") as out:
        print("# Recorded from TensorFlow %s; test_applications.py says what the columns are." % tf.__version__, file=out)
        for each in sorted(n for n in dir(tf.keras.applications) if inspect.isfunction(getattr(tf.keras.applications, n))):
            print(figures(tf, each), file=out, flush=True)
