"""tf.contrib.boosted_trees.proto.learner_pb2: the messages that configure a learner of boosted trees."""
from weft._core.contrib.boosted_trees import (
    AveragingConfig,
    LearnerConfig,
    LearningRateConfig,
    LearningRateDropoutDrivenConfig,
    LearningRateFixedConfig,
    LearningRateLineSearchConfig,
    TreeConstraintsConfig,
    TreeRegularizationConfig,
)
from weft._core.public import publish as _publish

__all__ = [
    "AveragingConfig", "LearnerConfig", "LearningRateConfig", "LearningRateDropoutDrivenConfig", "LearningRateFixedConfig",
    "LearningRateLineSearchConfig", "TreeConstraintsConfig", "TreeRegularizationConfig",
]
__getattr__ = _publish(__name__)
