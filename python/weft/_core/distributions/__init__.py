"""tf.distributions and tf.contrib.distributions: random variables with densities, samples and divergences."""
