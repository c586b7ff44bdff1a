"""tf.contrib.slim.evaluation: evaluates checkpoints."""
from weft._core.contrib.evaluation import evaluate, slim_evaluate_once as evaluate_once, slim_evaluation_loop as evaluation_loop
from weft._core.public import publish as _publish
from weft._core.train.checkpoints import checkpoints_iterator, wait_for_new_checkpoint

__all__ = ["checkpoints_iterator", "evaluate", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]
__getattr__ = _publish(__name__)
