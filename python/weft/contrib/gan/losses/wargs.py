"""tf.contrib.gan.losses.wargs: losses of the discriminator's outputs."""
from weft._core.contrib.gan_losses import (
    least_squares_discriminator_loss,
    least_squares_generator_loss,
    minimax_discriminator_loss,
    minimax_generator_loss,
    modified_discriminator_loss,
    modified_generator_loss,
    wasserstein_discriminator_loss,
    wasserstein_generator_loss,
    wasserstein_gradient_penalty,
)
from weft._core.public import publish as _publish

__all__ = [
    "least_squares_discriminator_loss", "least_squares_generator_loss", "minimax_discriminator_loss",
    "minimax_generator_loss", "modified_discriminator_loss", "modified_generator_loss",
    "wasserstein_discriminator_loss", "wasserstein_generator_loss", "wasserstein_gradient_penalty",
]
__getattr__ = _publish(__name__)
