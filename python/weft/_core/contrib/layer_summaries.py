"""Adds summaries of tensors and collections, as tf.contrib.layers does."""
import re

import weft as tf


def summarize_tensor(tensor, tag=None):
    """Returns a scalar summary of a scalar, or a histogram of any other tensor."""
    tag = tag or "%s_summary" % tensor.op.name
    return (tf.summary.scalar if tensor.get_shape().ndims == 0 else tf.summary.histogram)(tag, tensor)


def summarize_activation(op):
    """Returns a histogram of an activation, with a summary of how many of its inputs relu sets to zero."""
    kind = op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        x = op.op.inputs[0]
        tf.summary.scalar("%s/zeros" % op.op.name, tf.reduce_mean(tf.cast(tf.less(x, tf.cast(0.0, x.dtype)), tf.float32)))
    if kind == "Relu6":
        tf.summary.scalar("%s/sixes" % op.op.name, tf.reduce_mean(tf.cast(tf.greater(x, tf.cast(6.0, x.dtype)), tf.float32)))
    return tf.summary.histogram("%s/activation" % op.op.name, op)


def summarize_tensors(tensors, summarizer=summarize_tensor):
    """Returns a summary of each tensor."""
    return [summarizer(t) for t in tensors]


def summarize_collection(collection, name_filter=None, summarizer=summarize_tensor):
    """Returns a summary of each tensor of a collection whose name matches a regular expression."""
    found = [t for t in tf.get_collection(collection) if name_filter is None or re.match(name_filter, t.op.name)]
    return summarize_tensors(found, summarizer)


def summarize_variables(name_filter=None, summarizer=summarize_tensor):
    """Returns a summary of each variable."""
    return summarize_collection(tf.GraphKeys.GLOBAL_VARIABLES, name_filter, summarizer)


def summarize_weights(name_filter=None, summarizer=summarize_tensor):
    """Returns a summary of each weight."""
    return summarize_collection(tf.GraphKeys.WEIGHTS, name_filter, summarizer)


def summarize_biases(name_filter=None, summarizer=summarize_tensor):
    """Returns a summary of each bias."""
    return summarize_collection(tf.GraphKeys.BIASES, name_filter, summarizer)


def summarize_activations(name_filter=None, summarizer=summarize_activation):
    """Returns a summary of each activation."""
    return summarize_collection(tf.GraphKeys.ACTIVATIONS, name_filter, summarizer)
