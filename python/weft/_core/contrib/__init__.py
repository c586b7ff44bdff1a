"""The implementation of tf.contrib, for programs of 2016 to 2019; weft/contrib has the public names."""
