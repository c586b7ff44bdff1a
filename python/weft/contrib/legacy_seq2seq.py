"""tf.contrib.legacy_seq2seq: losses of sequences given as lists, and a decoder unrolled over one."""
from weft._core.contrib.legacy_seq2seq import basic_rnn_seq2seq, rnn_decoder, sequence_loss, sequence_loss_by_example
from weft._core.public import publish as _publish

__all__ = ["basic_rnn_seq2seq", "rnn_decoder", "sequence_loss", "sequence_loss_by_example"]
__getattr__ = _publish(__name__)
