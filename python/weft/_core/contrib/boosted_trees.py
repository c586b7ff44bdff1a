"""tf.contrib.boosted_trees: the older estimators of boosted trees, which a LearnerConfig describes."""
import weft as tf
from weft._core.contrib.learn_models import Learner, _Classifier, _Regressor
from weft._core.estimator import canned
from weft._core.estimator.boosted_trees import model_function, tree_hparams
from weft._core.framework.proto import enumeration, message

TreeRegularizationConfig = message("TreeRegularizationConfig", "1 float l1", "2 float l2", "3 float tree_complexity")
TreeConstraintsConfig = message("TreeConstraintsConfig", "1 int32 max_tree_depth", "2 float min_node_weight",
                                "3 int max_number_of_unique_feature_columns")
LearningRateFixedConfig = message("LearningRateFixedConfig", "1 float learning_rate")
LearningRateDropoutDrivenConfig = message("LearningRateDropoutDrivenConfig", "1 float dropout_probability",
                                          "2 float probability_of_skipping_dropout", "3 float learning_rate")
LearningRateLineSearchConfig = message("LearningRateLineSearchConfig", "1 float max_learning_rate", "2 int32 num_steps")
LearningRateConfig = message("LearningRateConfig", (1, LearningRateFixedConfig, "fixed"), (2, LearningRateDropoutDrivenConfig, "dropout"),
                             (3, LearningRateLineSearchConfig, "line_search"))
AveragingConfig = message("AveragingConfig", "1 float average_last_n_trees", "2 float average_last_percent_trees")
_ENUMS = {"PruningMode": ("PRUNING_MODE_UNSPECIFIED", "PRE_PRUNE", "POST_PRUNE"),
          "GrowingMode": ("GROWING_MODE_UNSPECIFIED", "WHOLE_TREE", "LAYER_BY_LAYER"),
          "MultiClassStrategy": ("MULTI_CLASS_STRATEGY_UNSPECIFIED", "TREE_PER_CLASS", "FULL_HESSIAN", "DIAGONAL_HESSIAN"),
          "WeakLearnerType": ("NORMAL_DECISION_TREE", "OBLIVIOUS_DECISION_TREE")}
LearnerConfig = message("LearnerConfig", "1 int32 num_classes", "2 float feature_fraction_per_tree", "3 float feature_fraction_per_level",
                        (4, TreeRegularizationConfig, "regularization"), (5, TreeConstraintsConfig, "constraints"),
                        (6, LearningRateConfig, "learning_rate_tuner"), "8 enum pruning_mode", "9 enum growing_mode",
                        "10 enum multi_class_strategy", (11, AveragingConfig, "averaging_config"), "12 enum weak_learner_type",
                        **{key: i for keys in _ENUMS.values() for i, key in enumerate(keys)})
for _name, _keys in _ENUMS.items():
    enumeration(LearnerConfig, _name, *_keys)

_FIRST_DEPTH, _FIRST_RATE, _ENDLESS = 6, 0.1, 1 << 30


def _refuse(what, instead):
    raise NotImplementedError("tf.contrib.boosted_trees: %s is not in Weft: %s" % (what, instead))


def _rate(config):
    tuner = config.learning_rate_tuner.WhichOneof("tuner")
    if tuner not in (None, "fixed"):
        _refuse("LearnerConfig.learning_rate_tuner.%s" % tuner, "use learning_rate_tuner.fixed")
    return (config.learning_rate_tuner.fixed.learning_rate if tuner else 0) or _FIRST_RATE


def _tree_hparams(config, num_trees, center_bias, num_quantiles, logits):
    """Returns the parameters of the trees that a LearnerConfig describes; what it leaves out is as in TensorFlow."""
    if config.growing_mode == LearnerConfig.WHOLE_TREE:
        _refuse("LearnerConfig.growing_mode WHOLE_TREE", "use LAYER_BY_LAYER")
    if logits > 1 and config.multi_class_strategy in (LearnerConfig.TREE_PER_CLASS, LearnerConfig.FULL_HESSIAN):
        _refuse("LearnerConfig.multi_class_strategy TREE_PER_CLASS or FULL_HESSIAN", "use DIAGONAL_HESSIAN")
    if config.weak_learner_type == LearnerConfig.OBLIVIOUS_DECISION_TREE:
        _refuse("LearnerConfig.weak_learner_type OBLIVIOUS_DECISION_TREE", "use NORMAL_DECISION_TREE")
    for name, given in (("feature_fraction_per_tree", config.feature_fraction_per_tree not in (0, 1)),
                        ("feature_fraction_per_level", config.feature_fraction_per_level not in (0, 1)),
                        ("constraints.max_number_of_unique_feature_columns", config.constraints.max_number_of_unique_feature_columns > 0),
                        ("averaging_config", config.averaging_config.WhichOneof("config"))):
        if given:
            _refuse("LearnerConfig.%s" % name, "leave it out")
    return tree_hparams(_ENDLESS if num_trees is None else num_trees, config.constraints.max_tree_depth or _FIRST_DEPTH, _rate(config),
                        config.regularization.l1, config.regularization.l2, config.regularization.tree_complexity,
                        config.constraints.min_node_weight, center_bias,
                        "pre" if config.pruning_mode == LearnerConfig.PRE_PRUNE else "post", 1.0 / num_quantiles)


class _Trees(Learner):
    """The base of the estimators, whose arguments they share."""

    def _make(self, head, learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, model_dir, config,
              feature_engineering_fn, logits_modifier_function, center_bias, output_leaf_index, override_global_step_value,
              num_quantiles, label_name=None):
        for name, given in (("logits_modifier_function", logits_modifier_function), ("output_leaf_index", output_leaf_index),
                            ("override_global_step_value", override_global_step_value),
                            ("examples_per_layer", callable(examples_per_layer))):
            if given:
                _refuse("%s(%s=%r)" % (type(self).__name__, name, given), "leave it out, or give a number of examples")
        if num_quantiles < 2:
            raise ValueError("num_quantiles must be at least 2, got: %s" % num_quantiles)
        if examples_per_layer < 1:
            raise ValueError("examples_per_layer must be positive, got: %s" % examples_per_layer)
        self._head = head
        hparams = _tree_hparams(learner_config, num_trees, center_bias, num_quantiles, head.logits)
        made = model_function(feature_columns, head, hparams, examples_per_layer, weight_column_name, False, by_examples=True)

        def model_fn(features, labels, mode, config):
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            if isinstance(labels, dict) and label_name is not None:
                if label_name not in labels:
                    raise ValueError("label_name %r is not among the labels: %s" % (label_name, sorted(labels)))
                labels = labels[label_name]
            return made(features, labels, mode, config)
        super().__init__(model_fn, model_dir, config)


class GradientBoostedDecisionTreeClassifier(_Trees, _Classifier):
    """A classifier by boosted trees.

    Args:
      learner_config: a LearnerConfig.
      examples_per_layer: after how many examples a layer grows.
      n_classes: the number of classes.
      num_trees: the number of trees; without it they grow until the training ends.
      feature_columns: numeric, bucketized and indicator columns; without them all features are numbers.
      weight_column_name: the feature that is the weight of an example.
      model_dir: the folder of the checkpoints.
      config: a RunConfig.
      label_keys: the labels, if they are strings.
      feature_engineering_fn: changes features and labels before the model sees them.
      logits_modifier_function: None.
      center_bias: whether the first leaf starts at the best constant.
      use_core_libs: has no effect: the heads are those of tf.estimator.
      output_leaf_index: False.
      override_global_step_value: None.
      num_quantiles: the buckets of a number.
    """

    def __init__(self, learner_config, examples_per_layer, n_classes=2, num_trees=None, feature_columns=None, weight_column_name=None,
                 model_dir=None, config=None, label_keys=None, feature_engineering_fn=None, logits_modifier_function=None,
                 center_bias=True, use_core_libs=False, output_leaf_index=False, override_global_step_value=None, num_quantiles=100):
        head = canned._class_head(n_classes, weight_column_name, label_keys, tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
        self._make(head, learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, model_dir, config,
                   feature_engineering_fn, logits_modifier_function, center_bias, output_leaf_index, override_global_step_value,
                   num_quantiles)


class GradientBoostedDecisionTreeRegressor(_Trees, _Regressor):
    """A regression by boosted trees. The arguments are those of the classifier.

    Args:
      label_dimension: how many numbers are predicted.
      label_name: the key of the labels, if they are a dict.
      learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, model_dir, config, feature_engineering_fn,
        logits_modifier_function, center_bias, use_core_libs, output_leaf_index, override_global_step_value, num_quantiles: as there.
    """

    def __init__(self, learner_config, examples_per_layer, label_dimension=1, num_trees=None, feature_columns=None, label_name=None,
                 weight_column_name=None, model_dir=None, config=None, feature_engineering_fn=None, logits_modifier_function=None,
                 center_bias=True, use_core_libs=False, output_leaf_index=False, override_global_step_value=None, num_quantiles=100):
        head = canned._RegressionHead(label_dimension, weight_column_name, tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
        self._make(head, learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, model_dir, config,
                   feature_engineering_fn, logits_modifier_function, center_bias, output_leaf_index, override_global_step_value,
                   num_quantiles, label_name)


class GradientBoostedDecisionTreeEstimator(_Trees):
    """Boosted trees with a head of the program. The other arguments are those of the classifier.

    Args:
      head: a head of tf.estimator or tf.contrib.estimator.
      learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, model_dir, config, feature_engineering_fn,
        logits_modifier_function, center_bias, use_core_libs, output_leaf_index, override_global_step_value, num_quantiles: as there.
    """

    def __init__(self, learner_config, examples_per_layer, head, num_trees=None, feature_columns=None, weight_column_name=None,
                 model_dir=None, config=None, feature_engineering_fn=None, logits_modifier_function=None, center_bias=True,
                 use_core_libs=False, output_leaf_index=False, override_global_step_value=None, num_quantiles=100):
        self._make(canned._Given(head), learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, model_dir,
                   config, feature_engineering_fn, logits_modifier_function, center_bias, output_leaf_index, override_global_step_value,
                   num_quantiles)
