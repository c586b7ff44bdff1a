"""The implementation of tf.contrib.rnn, except for the cells of tf.nn.rnn_cell."""
