"""What programs of 2016 to 2019 take from tf.contrib."""
