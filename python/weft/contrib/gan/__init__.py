"""tf.contrib.gan: generators and discriminators, their losses, and the loop that trains them."""
from weft._core.contrib.gan import (
    GANLoss,
    GANModel,
    GANTrainOps,
    GANTrainSteps,
    RunTrainOpsHook,
    gan_loss,
    gan_model,
    gan_train,
    gan_train_ops,
    get_joint_train_hooks,
    get_sequential_train_hooks,
)
from weft._core.public import publish as _publish
from weft.contrib.gan import losses

__all__ = [
    "GANLoss", "GANModel", "GANTrainOps", "GANTrainSteps", "RunTrainOpsHook", "gan_loss", "gan_model", "gan_train",
    "gan_train_ops", "get_joint_train_hooks", "get_sequential_train_hooks", "losses",
]
__getattr__ = _publish(__name__)
