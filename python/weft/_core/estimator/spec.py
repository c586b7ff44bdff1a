"""The result of a model_fn (EstimatorSpec) and the arguments of train_and_evaluate (TrainSpec, EvalSpec)."""
import collections

from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import Operation, Tensor
from weft._core.ops.array_ops import reshape
from weft._core.ops.variables import Variable
from weft._core.train.hooks import SessionRunHook
from weft._core.train.monitored import Scaffold


class ModeKeys(metaclass=Named):
    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def _scalar_loss(loss):
    loss = convert_to_tensor(loss)
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError("Loss must be scalar, given: %s" % loss)
    return loss if loss.shape.ndims == 0 else reshape(loss, [])


def _checked_metrics(given, mode):
    found = {}
    if given is not None and not isinstance(given, dict):
        raise TypeError("eval_metric_ops must be a dict, given: %s" % given)
    for key, pair in (given or {}).items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Values of eval_metric_ops must be (metric_value, update_op) tuples, given: %s for key: %s" % (
                pair, key))
        found[key] = pair
    return found


def _checked_hooks(hooks, name):
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError("All hooks must be SessionRunHook instances, given %s: %s" % (name, hook))
    return hooks


_FIELDS = ("mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs", "training_chief_hooks",
           "training_hooks", "scaffold", "evaluation_hooks", "prediction_hooks")


class EstimatorSpec(collections.namedtuple("EstimatorSpec", _FIELDS), metaclass=Named):
    """The ops and tensors of a model in one mode."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None,
                prediction_hooks=None):
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, (Operation, Tensor)):
            raise TypeError("train_op must be Operation or Tensor, given: %s" % (train_op,))
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if predictions is None and mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        if scaffold is not None and not isinstance(scaffold, Scaffold):
            raise TypeError("scaffold must be tf.train.Scaffold. Given: %s" % scaffold)
        return super().__new__(
            cls, mode, {} if predictions is None else predictions, None if loss is None else _scalar_loss(loss), train_op,
            _checked_metrics(eval_metric_ops, mode), export_outputs, _checked_hooks(training_chief_hooks, "training_chief_hooks"),
            _checked_hooks(training_hooks, "training_hooks"), scaffold or Scaffold(),
            _checked_hooks(evaluation_hooks, "evaluation_hooks"), _checked_hooks(prediction_hooks, "prediction_hooks"))


def as_fetch(value):
    """Returns a metric's value or update in a form that a session can fetch; a value may be a tuple or a list."""
    if isinstance(value, (tuple, list)) and any(isinstance(part, (Tensor, Variable)) for part in value):
        return type(value)(as_fetch(part) for part in value)
    return value if isinstance(value, (Tensor, Operation, Variable)) else convert_to_tensor(value, dtypes.float32)


class TrainSpec(collections.namedtuple("TrainSpec", ("input_fn", "max_steps", "hooks", "saving_listeners")), metaclass=Named):
    def __new__(cls, input_fn, max_steps=None, hooks=None, saving_listeners=None):
        if not callable(input_fn):
            raise TypeError("`input_fn` must be callable, given: %s" % (input_fn,))
        if max_steps is not None and max_steps <= 0:
            raise ValueError("Must specify max_steps > 0, given: %s" % max_steps)
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks, "hooks"), tuple(saving_listeners or ()))


_EVAL_FIELDS = ("input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs")


class EvalSpec(collections.namedtuple("EvalSpec", _EVAL_FIELDS), metaclass=Named):
    def __new__(cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, throttle_secs=600):
        from weft._core.estimator.exporter import Exporter
        if not callable(input_fn):
            raise TypeError("`input_fn` must be callable, given: %s" % (input_fn,))
        if steps is not None and steps <= 0:
            raise ValueError("Must specify steps > 0, given: %s" % steps)
        if name is not None and not isinstance(name, str):
            raise TypeError("`name` must be string, given: %s" % name)
        if start_delay_secs < 0 or throttle_secs < 0:
            raise ValueError("Must specify start_delay_secs >= 0 and throttle_secs >= 0, given: %s, %s" % (
                start_delay_secs, throttle_secs))
        exporters = () if exporters is None else (exporters,) if isinstance(exporters, Exporter) else tuple(exporters)
        for exporter in exporters:
            if not isinstance(exporter, Exporter):
                raise TypeError("`exporters` must be an Exporter, an iterable of Exporter, or `None`, found %s." % exporter)
        if len({e.name for e in exporters}) != len(exporters):
            raise ValueError("`exporters` must have unique names. Such a name cannot be `None`. All exporter names: %s" %
                             [e.name for e in exporters])
        return super().__new__(cls, input_fn, steps, name, _checked_hooks(hooks, "hooks"), exporters, start_delay_secs,
                               throttle_secs)


class WarmStartSettings(collections.namedtuple("WarmStartSettings", [
        "ckpt_to_initialize_from", "vars_to_warm_start", "var_name_to_vocab_info", "var_name_to_prev_var_name"])):
    """Describes which variables of an Estimator start with values of a checkpoint; see tf.train.warm_start."""

    def __new__(cls, ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None, var_name_to_prev_var_name=None):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
                               var_name_to_prev_var_name or {})


def warm_start_settings(given):
    """Returns the settings for an Estimator's `warm_start_from`, which is the settings or the path of a checkpoint."""
    if isinstance(given, (str, bytes)):
        return WarmStartSettings(ckpt_to_initialize_from=given)
    if isinstance(given, WarmStartSettings):
        return given
    raise ValueError("warm_start_from must be a string or a WarmStartSettings, instead got %s" % type(given))
