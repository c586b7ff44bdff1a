"""tf.contrib.training: hyperparameters, and where to put variables."""
from weft._core.contrib.evaluation import StopAfterNEvalsHook, SummaryAtEndHook, evaluate_once, evaluate_repeatedly, get_or_create_eval_step
from weft._core.contrib.sampling import (
    FeedingQueueRunner,
    bucket,
    bucket_by_sequence_length,
    rejection_sample,
    resample_at_rate,
    stratified_sample,
    weighted_resample,
)
from weft._core.contrib.sequence_states import NextQueuedSequenceBatch, SequenceQueueingStateSaver, batch_sequences_with_states
from weft._core.contrib.training import (
    HParams,
    RandomStrategy,
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    parse_values,
    train,
)
from weft._core.public import publish as _publish
from weft._core.train.checkpoints import checkpoints_iterator, wait_for_new_checkpoint
from weft._core.train.device_setter import GreedyLoadBalancingStrategy, byte_size_load_fn

__all__ = [
    "FeedingQueueRunner", "GreedyLoadBalancingStrategy", "HParams", "NextQueuedSequenceBatch", "RandomStrategy",
    "SequenceQueueingStateSaver", "StopAfterNEvalsHook", "SummaryAtEndHook", "add_gradients_summaries",
    "batch_sequences_with_states", "bucket", "bucket_by_sequence_length", "byte_size_load_fn",
    "checkpoints_iterator", "clip_gradient_norms", "clip_gradient_norms_fn", "create_train_op", "evaluate_once",
    "evaluate_repeatedly", "get_or_create_eval_step", "multiply_gradients", "parse_values", "rejection_sample",
    "resample_at_rate", "stratified_sample", "train", "wait_for_new_checkpoint", "weighted_resample",
]
__getattr__ = _publish(__name__)
