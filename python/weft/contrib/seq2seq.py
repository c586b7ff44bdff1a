"""tf.contrib.seq2seq: decoders of sequences, attention and beam search."""
from weft._core.contrib.seq2seq.attention import (
    AttentionMechanism,
    BahdanauAttention,
    BahdanauMonotonicAttention,
    LuongAttention,
    LuongMonotonicAttention,
    hardmax,
    monotonic_attention,
    safe_cumprod,
)
from weft._core.contrib.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from weft._core.contrib.seq2seq.beam_search import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    gather_tree,
    gather_tree_from_array,
    tile_batch,
)
from weft._core.contrib.seq2seq.decoder import BasicDecoder, BasicDecoderOutput, Decoder, dynamic_decode
from weft._core.contrib.seq2seq.helpers import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)
from weft._core.contrib.seq2seq.loss import SequenceLoss, sequence_loss
from weft._core.public import publish as _publish

__all__ = [
    "AttentionMechanism", "AttentionWrapper", "AttentionWrapperState", "BahdanauAttention",
    "BahdanauMonotonicAttention", "BasicDecoder", "BasicDecoderOutput", "BeamSearchDecoder",
    "BeamSearchDecoderOutput", "BeamSearchDecoderState", "CustomHelper", "Decoder", "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper", "Helper", "InferenceHelper", "LuongAttention", "LuongMonotonicAttention",
    "SampleEmbeddingHelper", "ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper", "SequenceLoss",
    "TrainingHelper", "dynamic_decode", "gather_tree", "gather_tree_from_array", "hardmax", "monotonic_attention",
    "safe_cumprod", "sequence_loss", "tile_batch",
]
__getattr__ = _publish(__name__)
