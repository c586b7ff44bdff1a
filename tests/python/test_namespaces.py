"""The public modules of the package show what TensorFlow's show: no helpers, no imported modules, nothing of our own.

Names that TensorFlow has and Weft lacks are not looked at here (test_names.py).
"""
import importlib
import inspect
import pathlib
import pickle
import pkgutil
import re

import pytest

from both import both, oracle, weft

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Public names that TensorFlow 2.15's compat.v1 lacks; docs/from-tensorflow.md says what they are.
ADDITIONS = {
    "tf": "batch_matmul complex_abs contrib histogram_summary image_summary inv merge_all_summaries merge_summary mul neg pack "
          "scalar_summary select sub unpack weft_version",
    "tf.errors": "JobOverError",
    "tf.estimator": "BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor",
    "tf.estimator.experimental": "boosted_trees_classifier_train_in_memory boosted_trees_regressor_train_in_memory",
    "tf.image": "per_image_whitening",
    "tf.nn": "bidirectional_rnn rnn state_saving_rnn",
    "tf.raw_ops": "BytesInUse BytesLimit DecodeAudio DecodeAudioV2 DecodeVideo EncodeAudio EncodeAudioV2 ForestGrow ForestPredict "
                  "GatherTree MaxBytesInUse ObtainNext",
    "tf.saved_model.tag_constants": "EVAL",
    "tf.train": "SummaryWriter SyncReplicasOptimizerV2",
}


def public_modules():
    """{namespace: module} of everything in the package that is not private."""
    found = {"tf": weft}
    for module in pkgutil.walk_packages(weft.__path__, "weft."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            found["tf" + module.name.removeprefix("weft")] = importlib.import_module(module.name)
    return found


MODULES = public_modules()


def shown(module):
    return {name for name in dir(module) if not name.startswith("_")}


def theirs(namespace):
    """TensorFlow's module, or None."""
    found = oracle
    for part in namespace.split(".")[1:]:
        found = getattr(found, part, None)
    return found if inspect.ismodule(found) else None


def additions():
    return {"%s.%s" % (namespace, name) for namespace, names in ADDITIONS.items() for name in names.split()}


def test_the_walk_finds_the_namespaces():
    assert {"tf", "tf.layers", "tf.data.experimental", "tf.contrib.slim.learning", "tf.saved_model.loader"} <= set(MODULES)
    assert len(MODULES) > 60


def test_only_contrib_is_a_namespace_that_tensorflow_lacks():
    assert [n for n in MODULES if theirs(n) is None and not n.startswith("tf.contrib")] == []


@pytest.mark.parametrize("namespace", [n for n in sorted(MODULES) if not n.startswith("tf.contrib")])
def test_nothing_is_shown_that_tensorflow_does_not_show(namespace):
    extra = {"%s.%s" % (namespace, name) for name in shown(MODULES[namespace]) - shown(theirs(namespace))}
    assert extra - additions() == set()


@pytest.mark.parametrize("namespace", sorted(MODULES))
def test_what_is_shown_is_what_is_listed(namespace):
    module = MODULES[namespace]
    assert shown(module) == set(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        ours = not inspect.ismodule(value) or value in MODULES.values() or value.__name__.startswith("weft.compat.v2.")
        assert ours or value is getattr(theirs(namespace), name), name  # tf.test.mock is Python's


def test_public_modules_list_their_names_and_run_nothing_else():
    """No names from globals(), and no process that begins anew: a reader and an editor see what a module shows."""
    for module in MODULES.values():
        text = pathlib.Path(inspect.getsourcefile(module)).read_text()
        assert not re.search(r"\bglobals\(\)|os\.exec|subprocess", text), module.__name__


def test_additions_are_documented_and_needed():
    text = (ROOT / "docs" / "from-tensorflow.md").read_text()
    for name in sorted(additions()):
        namespace, _, leaf = name.rpartition(".")
        assert leaf in shown(MODULES[namespace]) and leaf not in shown(theirs(namespace)), name
        assert "`%s`" % name in text, "docs/from-tensorflow.md does not name %s" % name


def test_classes_carry_a_public_name_and_can_be_pickled():
    private = []
    for namespace, module in MODULES.items():
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and value.__qualname__ == name:
                assert pickle.loads(pickle.dumps(value)) is value
                if value.__module__.startswith("weft._core"):
                    private.append("%s.%s" % (namespace, name))
    assert private == []
    assert weft.errors.NotFoundError.__module__ == "weft.errors" and repr(weft.Session) == "<class 'weft.Session'>"


def test_a_missing_name_is_told_under_its_public_name():
    for module, name in ((weft.layers, "tf.layers.hologram"), (weft.contrib.slim.learning, "tf.contrib.slim.learning.hologram")):
        with pytest.raises(AttributeError, match=name + r" is not in Weft \(%s, line " % __file__):
            module.hologram


def test_a_raw_op_with_a_tensor_as_default():
    with weft.Graph().as_default():
        made = weft.raw_ops.ImageSummary(tag="t", tensor=[[[[0.5], [1.0]]]])
        with weft.Session() as sess:
            found = weft.Summary.FromString(sess.run(made))
    assert [(v.image.height, v.image.width) for v in found.value] == [(1, 2)]


def test_initializers_have_their_short_names():
    both(lambda tf: [tf.initializers.constant(3.0)([2], tf.float32), tf.initializers.identity()([2, 2]), tf.initializers.ones()([2]),
                     tf.initializers.random_uniform(seed=3)([4]), tf.initializers.glorot_uniform(seed=3)([2, 2])], same_nodes=False)
