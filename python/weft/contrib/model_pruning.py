"""tf.contrib.model_pruning: layers whose small weights become zero during the training."""
from weft._core.contrib.pruning.layers import (
    MaskedBasicLSTMCell,
    MaskedLSTMCell,
    apply_mask,
    masked_conv2d,
    masked_convolution,
    masked_fully_connected,
)
from weft._core.contrib.pruning.stripping import graph_def_from_checkpoint, strip_pruning_vars_fn
from weft._core.contrib.pruning.updates import (
    Pruning,
    get_masked_weights,
    get_masks,
    get_pruning_hparams,
    get_thresholds,
    get_weight_sparsity,
    get_weights,
    train,
)
from weft._core.public import publish as _publish

__all__ = [
    "MaskedBasicLSTMCell", "MaskedLSTMCell", "Pruning", "apply_mask", "get_masked_weights", "get_masks", "get_pruning_hparams",
    "get_thresholds", "get_weight_sparsity", "get_weights", "graph_def_from_checkpoint", "masked_conv2d", "masked_convolution",
    "masked_fully_connected", "strip_pruning_vars_fn", "train",
]
__getattr__ = _publish(__name__)
