"""TensorFlow 2.15 in its 1.x mode, with tf-slim and the functions that contrib's names became."""
import importlib
import os
import types

from names_of_tf import Names


def contrib(tf, slim):
    writers = importlib.import_module("tensorflow.python.ops.summary_ops_v2")
    return types.SimpleNamespace(
        layers=slim, slim=Names(slim, layers=slim), framework=slim, metrics=slim.metrics,
        summary=Names(writers, all_summary_ops=writers.all_v2_summary_ops, graph=writers.graph_v1,
                      should_record_summaries=writers._legacy_contrib_should_record_summaries),
        training=Names(importlib.import_module("tf_slim.training.evaluation"),
                       **vars(importlib.import_module("tf_slim.training.training"))),
        rnn=Names(tf.nn.rnn_cell, static_rnn=tf.nn.static_rnn, static_bidirectional_rnn=tf.nn.static_bidirectional_rnn),
        data=Names(tf.data.experimental, Dataset=tf.data.Dataset, TFRecordDataset=tf.data.TFRecordDataset,
                   TextLineDataset=tf.data.TextLineDataset))


def mend_slim(tf):
    """Gives tf-slim the names that it looks for in modules of TensorFlow 2.15, where they are no more."""
    ops = importlib.import_module("tensorflow.python.framework.ops")
    scope = importlib.import_module("tensorflow.python.ops.variable_scope")
    ops.Tensor, ops.IndexedSlices, scope.variable = tf.Tensor, tf.IndexedSlices, tf.Variable


def load():
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")
    import tensorflow.compat.v1 as tf
    import tf_slim
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    tf.disable_resource_variables()
    importlib.import_module("tensorflow.python.tf2").disable()  # Keras asks this for its initializers and types
    mend_slim(tf)
    tf.logging.set_verbosity(tf.logging.ERROR)
    return Names(tf, contrib=contrib(tf, tf_slim), python=importlib.import_module("tensorflow.python"))
