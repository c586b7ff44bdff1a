"""tf.contrib.learn: its data sets."""
from .. import mnist as _mnist


class ModeKeys:
    TRAIN, EVAL, INFER = "train", "eval", "infer"


class TaskType:
    MASTER, PS, WORKER, EVALUATOR, CHIEF = "master", "ps", "worker", "evaluator", "chief"


class datasets:  # noqa: N801 - contrib's name
    mnist = _mnist

    @staticmethod
    def load_dataset(name, *args, **kwargs):
        raise NotImplementedError("tf.contrib.learn.datasets.load_dataset(%r) is not in Weft; read_data_sets is" % name)


def __getattr__(name):
    raise AttributeError("tf.contrib.learn.%s is not in Weft: tf.train and tf.losses have what it stood on" % name)
