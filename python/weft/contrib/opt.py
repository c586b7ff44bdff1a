"""tf.contrib.opt: optimizers beside those of tf.train."""
from weft._core.contrib.opt.adam import AdaMaxOptimizer, AdamGSOptimizer, LazyAdamGSOptimizer, LazyAdamOptimizer, NadamOptimizer
from weft._core.contrib.opt.averaging import (
    AGNCustomGetter,
    AGNOptimizer,
    ElasticAverageCustomGetter,
    ElasticAverageOptimizer,
    ModelAverageCustomGetter,
    ModelAverageOptimizer,
    MovingAverageOptimizer,
)
from weft._core.contrib.opt.external import ExternalOptimizerInterface, ScipyOptimizerInterface
from weft._core.contrib.opt.ggt import GGTOptimizer
from weft._core.contrib.opt.shampoo import ShampooOptimizer
from weft._core.contrib.opt.signs import (
    AddSignOptimizer,
    PowerSignOptimizer,
    get_cosine_decay_fn,
    get_linear_decay_fn,
    get_restart_decay_fn,
)
from weft._core.contrib.opt.weight_decay import (
    AdamWOptimizer,
    DecoupledWeightDecayExtension,
    LARSOptimizer,
    MomentumWOptimizer,
    extend_with_decoupled_weight_decay,
)
from weft._core.contrib.opt.wrappers import (
    DropStaleGradientOptimizer,
    MultitaskOptimizerWrapper,
    RegAdagradOptimizer,
    VariableClippingOptimizer,
    clip_gradients_by_global_norm,
)
from weft._core.public import publish as _publish

__all__ = [
    "AGNCustomGetter", "AGNOptimizer", "AdaMaxOptimizer", "AdamGSOptimizer", "AdamWOptimizer", "AddSignOptimizer",
    "DecoupledWeightDecayExtension", "DropStaleGradientOptimizer", "ElasticAverageCustomGetter",
    "ElasticAverageOptimizer", "ExternalOptimizerInterface", "GGTOptimizer", "LARSOptimizer", "LazyAdamGSOptimizer",
    "LazyAdamOptimizer", "ModelAverageCustomGetter", "ModelAverageOptimizer", "MomentumWOptimizer",
    "MovingAverageOptimizer", "MultitaskOptimizerWrapper", "NadamOptimizer", "PowerSignOptimizer",
    "RegAdagradOptimizer", "ScipyOptimizerInterface", "ShampooOptimizer", "VariableClippingOptimizer", "clip_gradients_by_global_norm",
    "extend_with_decoupled_weight_decay", "get_cosine_decay_fn", "get_linear_decay_fn", "get_restart_decay_fn",
]
__getattr__ = _publish(__name__)
