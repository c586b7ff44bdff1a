"""Names that are not here: one error for all of them, with the symbol, what to use instead, and the program's line."""
import importlib
import os
import sys

from weft._core import PACKAGE

_FORK = "it is of DeepRec, a fork of TensorFlow: use "
# Of a name the longest beginning that is here says what to use.
_INSTEAD = {
    "tf": "`python -m weft --names` lists what is",
    "tf.CBFFilter": _FORK + "tf.get_variable, whose rows are all kept",
    "tf.CounterFilter": _FORK + "tf.get_variable, whose rows are all kept",
    "tf.EmbeddingVariableOption": _FORK + "tf.get_variable with a partitioner for a table of fixed size",
    "tf.GlobalStepEvict": _FORK + "tf.get_variable, whose rows are all kept",
    "tf.L2WeightEvict": _FORK + "tf.get_variable, whose rows are all kept",
    "tf.config": "give a tf.ConfigProto to tf.Session, and tf.train.replica_device_setter to tf.device",
    "tf.contrib": "tf.layers, tf.nn, tf.train, tf.data and tf.estimator have the successors of contrib",
    "tf.contrib.layers": "tf.layers has most layers",
    "tf.contrib.learn": "tf.estimator has its successor",
    "tf.contrib.metrics": "tf.metrics has what is",
    "tf.contrib.slim.nets": "build the network of slim.conv2d, slim.max_pool2d and slim.fully_connected, or put its file beside "
                            "the program",
    "tf.data.experimental.ops": _FORK + "tf.data.TFRecordDataset",
    "tf.estimator": "write its model as the model_fn of a tf.estimator.Estimator",
    "tf.feature_column": "numeric, bucketized, hashed, listed and identity columns, embeddings and indicators are",
    "tf.feature_column.categorical_column_with_adaptive_embedding": _FORK + "categorical_column_with_hash_bucket",
    "tf.feature_column.categorical_column_with_embedding": _FORK + "categorical_column_with_hash_bucket",
    "tf.feature_column.group_embedding_column_scope": _FORK + "embedding_column for each column, without a scope",
    "tf.keras": "tf.layers, tf.nn and tf.train have what it stands on",
    "tf.keras.applications": "build the network of tf.layers or tf.keras.layers",
    "tf.keras.backend": "use the op of that name in tf",
    "tf.keras.layers": "tf.layers and tf.nn have layers",
    "tf.keras.models": "tf.keras.models.Model(inputs, outputs) is",
    "tf.keras.optimizers": "use the optimizer of that name in tf.train (Adagrad: tf.train.AdagradOptimizer)",
    "tf.keras.preprocessing": "use tf.image in the input pipeline",
    "tf.lite": "save a checkpoint or a SavedModel; Weft's own library serves it",
    "tf.make_prefetch_hook": _FORK + "tf.data.Dataset.prefetch, which needs no hook",
    "tf.ops.work_queue": _FORK + "tf.train.string_input_producer, or tf.data.Dataset.shard by task index",
    "tf.staged": _FORK + "tf.data.Dataset.prefetch, or a tf.FIFOQueue with a queue runner",
    "tf.train.AdagradDecayOptimizer": _FORK + "tf.train.AdagradOptimizer",
    "tf.train.AdamAsyncOptimizer": _FORK + "tf.train.AdamOptimizer",
}


def where():
    """The program's line that asks, as " (FILE, line N)"."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((PACKAGE, "<frozen", os.path.dirname(importlib.__file__))):
            return " (%s, line %d)" % (name, frame.f_lineno)
        frame = frame.f_back
    return ""


def instead(name):
    while name not in _INSTEAD:
        name = name.rpartition(".")[0] or "tf"
    return _INSTEAD[name]


def said(name, near=()):
    """What to tell of a name as TensorFlow spells it; `near`: names beside it, for one that is misspelt."""
    short = "tf" + name.removeprefix("tensorflow").removeprefix("tf")
    use, found = instead(short.replace("tf.python.", "tf.", 1)), []
    if near and not use.startswith(_FORK):
        import difflib
        found = difflib.get_close_matches(short.rpartition(".")[2], [n for n in near if not n.startswith("_")], 2, 0.8)
    use = "did you mean %s?" % " or ".join(found) if found else use
    return "%s is not in Weft%s: %s" % (short, where(), use)


def said_of_op(kind):
    """What to tell of an op that has no kernel; `weft ops` knows those that have."""
    use = {"ResizeBicubic": "tf.image.resize_bilinear", "ResizeArea": "tf.image.resize_bilinear"}.get(kind)
    return "Weft has no op %s%s: %s" % (kind, where(), "use " + use if use else "`weft ops` lists those that are")
