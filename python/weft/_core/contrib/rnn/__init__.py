"""The code of tf.contrib.rnn beside the cells of tf.nn.rnn_cell."""
