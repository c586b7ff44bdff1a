"""tf.contrib.legacy_seq2seq: losses of sequences given as lists, and a decoder unrolled over one."""
from weft._core.contrib.legacy_models import (
    attention_decoder,
    embedding_attention_decoder,
    embedding_attention_seq2seq,
    embedding_rnn_decoder,
    embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq,
    model_with_buckets,
    one2many_rnn_seq2seq,
    tied_rnn_seq2seq,
)
from weft._core.contrib.legacy_seq2seq import basic_rnn_seq2seq, rnn_decoder, sequence_loss, sequence_loss_by_example
from weft._core.public import publish as _publish

__all__ = [
    "attention_decoder", "basic_rnn_seq2seq", "embedding_attention_decoder", "embedding_attention_seq2seq",
    "embedding_rnn_decoder", "embedding_rnn_seq2seq", "embedding_tied_rnn_seq2seq", "model_with_buckets",
    "one2many_rnn_seq2seq", "rnn_decoder", "sequence_loss", "sequence_loss_by_example", "tied_rnn_seq2seq",
]
__getattr__ = _publish(__name__)
