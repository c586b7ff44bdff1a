"""The implementation of tf.contrib.seq2seq: decoders, helpers, attention, beam search and sequence loss."""
