"""tf.contrib.ndlstm: LSTMs over sequences and images."""
