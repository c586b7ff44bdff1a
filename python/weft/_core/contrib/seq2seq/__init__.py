"""The code of tf.contrib.seq2seq: decoders, helpers, attention, beam search and the loss of sequences."""
