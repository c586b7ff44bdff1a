"""TensorFlow 2.15 as a program of 1.x knew it: tf.compat.v1, tf-slim as contrib and slim, and for names that are gone
the functions they stood for, in their old order of arguments."""
import importlib
import os
import sys
import types


class Names:
    """Attributes of its own, then those of a module, then the module's submodules."""

    def __init__(self, module, **own):
        self.__dict__.update(own, _module=module)

    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__version__", "__git_version__"):
            raise AttributeError(name)
        try:
            return getattr(self._module, name)
        except AttributeError:
            return importlib.import_module("%s.%s" % (self._module.__name__, name))


def experiment(tf):
    class Experiment:
        def __init__(self, estimator, train_input_fn, eval_input_fn, train_steps=None, eval_steps=100):
            self._estimator, self._train, self._eval = estimator, (train_input_fn, train_steps), (eval_input_fn, eval_steps)

        def train(self):
            self._estimator.train(self._train[0], max_steps=self._train[1])

        def evaluate(self, delay_secs=0):
            return self._estimator.evaluate(self._eval[0], steps=self._eval[1])
    return Experiment


def contrib(tf, slim):
    rnn = types.SimpleNamespace(BasicLSTMCell=tf.nn.rnn_cell.BasicLSTMCell, static_rnn=tf.nn.static_rnn)

    def streaming_auc(predictions, labels, *args, **kwargs):
        return tf.metrics.auc(labels, predictions, *args, **kwargs)
    layers = sys.modules["tf_slim.layers"]
    slim = Names(slim, layers=layers)
    writers = importlib.import_module("tensorflow.python.ops.summary_ops_v2")
    return types.SimpleNamespace(
        framework=types.SimpleNamespace(get_or_create_global_step=tf.train.get_or_create_global_step,
                                        arg_scope=slim.arg_scope),
        layers=layers, slim=slim, rnn=rnn, summary=Names(
            writers, all_summary_ops=writers.all_v2_summary_ops, graph=writers.graph_v1,
            should_record_summaries=writers._legacy_contrib_should_record_summaries),
        learn=types.SimpleNamespace(Experiment=experiment(tf)), data=tf.data,
        metrics=types.SimpleNamespace(streaming_auc=streaming_auc))


def old_optimizers(tf):
    def sync(opt, replicas_to_aggregate, *args, replica_id=None, **kwargs):
        return tf.train.SyncReplicasOptimizer(opt, replicas_to_aggregate, *args, **kwargs)
    return Names(tf.train, SyncReplicasOptimizer=sync, SyncReplicasOptimizerV2=sync, SummaryWriter=tf.summary.FileWriter)


def old_xent(tf):
    def softmax_cross_entropy_with_logits(*args, labels=None, logits=None, name=None):
        if args:
            logits, labels = args
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)

    def sigmoid_cross_entropy_with_logits(*args, labels=None, logits=None, name=None):
        if args:
            logits, labels = args
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
    return Names(tf.nn, softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits,
                 sigmoid_cross_entropy_with_logits=sigmoid_cross_entropy_with_logits)


def old_sparse(tf):
    class Kind(type):
        def __call__(cls, indices, values, dense_shape=None, shape=None):
            return tf.SparseTensor(indices, values, shape if dense_shape is None else dense_shape)

        def __instancecheck__(cls, x):
            return isinstance(x, tf.SparseTensor)
    return Kind("SparseTensor", (), {})


def keras(tf):
    """load_data of 2.15 takes only the file with the hash it knows; 1.x read what lay there."""
    import numpy as np

    def load_data(path="mnist.npz"):
        with np.load(path) as f:
            return (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])
    return Names(tf.keras, datasets=types.SimpleNamespace(mnist=types.SimpleNamespace(load_data=load_data)))


def examples(tf):
    """The tutorial's reader and network are not in 2.15; calls_mnist.py says what they did."""
    import calls_mnist
    return types.SimpleNamespace(tutorials=types.SimpleNamespace(mnist=calls_mnist.stand_in(tf)))


def load():
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    import tensorflow.compat.v1 as tf
    import tf_slim
    tf.disable_v2_behavior()
    return Names(
        tf, contrib=contrib(tf, tf_slim), train=old_optimizers(tf), nn=old_xent(tf), SparseTensor=old_sparse(tf),
        python=importlib.import_module("tensorflow.python"), examples=examples(tf),
        keras=keras(tf),
        mul=tf.multiply, unpack=tf.unstack, merge_all_summaries=tf.summary.merge_all,
        scalar_summary=lambda tag, value: tf.summary.scalar(tag, value),
        histogram_summary=lambda tag, value: tf.summary.histogram(tag, value),
        image_summary=lambda tag, value, max_images=3: tf.summary.image(tag, value, max_images))
