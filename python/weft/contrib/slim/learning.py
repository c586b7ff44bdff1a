"""tf.contrib.slim.learning: a training step, and the loop of a supervisor around it."""
from weft._core.contrib.learning import add_gradients_summaries, clip_gradient_norms, create_train_op, multiply_gradients, train, train_step
from weft._core.public import publish as _publish

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train", "train_step",
]
__getattr__ = _publish(__name__)
