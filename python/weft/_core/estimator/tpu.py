"""tf.estimator.tpu and tf.contrib.tpu: programs for TPUs, which run with use_tpu=False on CPUs and GPUs.

TPUEstimator gives model_fn and input_fn the batch size in `params`, and takes metrics and host calls as functions of tensors.
"""
import collections
import re

from weft._core.estimator.estimator import Estimator
from weft._core.estimator.run_config import RunConfig as _RunConfig
from weft._core.estimator.spec import EstimatorSpec, ModeKeys
from weft._core.framework import absent
from weft._core.framework.absent import Named
from weft._core.framework.graph import control_dependencies
from weft._core.ops.array_ops import identity
from weft._core.platform import logging
from weft._core.train.hooks import SessionRunHook

_RESERVED = ["batch_size", "context"]


def needs_tpu(name):
    """Returns the error for a feature that needs a TPU."""
    return NotImplementedError("%s is not in Weft%s: it needs a TPU, and Weft runs on CPUs and GPUs: use_tpu=False, or "
                               "tf.estimator.Estimator" % (name, absent.where()))


class InputPipelineConfig(metaclass=Named):
    """How the hosts of TPUs share the input."""

    PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = 1, 2, 3, 4, 5


_FIELDS = ["iterations_per_loop", "num_shards", "num_cores_per_replica", "per_host_input_for_training", "tpu_job_name",
           "initial_infeed_sleep_secs", "input_partition_dims", "eval_training_input_configuration",
           "experimental_host_call_every_n_steps", "experimental_allow_per_host_v2_parallel_get_next", "experimental_feed_hook"]


class TPUConfig(collections.namedtuple("TPUConfig", _FIELDS), metaclass=Named):
    """Settings for TPUs, which Weft keeps and checks."""

    def __new__(cls, iterations_per_loop=2, num_shards=None, num_cores_per_replica=None, per_host_input_for_training=True,
                tpu_job_name=None, initial_infeed_sleep_secs=None, input_partition_dims=None,
                eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1, experimental_host_call_every_n_steps=1,
                experimental_allow_per_host_v2_parallel_get_next=False, experimental_feed_hook=None):
        if isinstance(iterations_per_loop, str):
            good = re.fullmatch(r"[1-9]\d*[smh]", iterations_per_loop)
        else:
            good = iterations_per_loop >= 1
        if not good:
            raise ValueError("Invalid TPUConfig `iterations_per_loop` value %r. Value must be positive integer value or time-based "
                             "value `<N><s|m|h>`." % (iterations_per_loop,))
        if num_shards is not None and num_shards < 1:
            raise ValueError("num_shards must be positive, given: %s" % num_shards)
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError("eval_training_input_configuration must be PER_HOST_V1 or SLICED; got %s"
                             % eval_training_input_configuration)
        if per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        elif per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        if input_partition_dims is not None and per_host_input_for_training != InputPipelineConfig.PER_HOST_V2:
            raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        return super().__new__(
            cls, iterations_per_loop, num_shards, num_cores_per_replica, per_host_input_for_training, tpu_job_name,
            initial_infeed_sleep_secs, input_partition_dims, eval_training_input_configuration,
            experimental_host_call_every_n_steps, experimental_allow_per_host_v2_parallel_get_next, experimental_feed_hook)


class RunConfig(_RunConfig):
    """A RunConfig with settings for TPUs."""

    def __init__(self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs):
        if cluster is not None:
            raise needs_tpu("tf.estimator.tpu.RunConfig(cluster=...)")
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        if master:
            self._master = master
        self._evaluation_master = evaluation_master if evaluation_master is not None else master or ""

    tpu_config = property(lambda self: self._tpu_config)
    cluster = property(lambda self: None)

    def replace(self, **kwargs):
        """Returns a copy in which some values are replaced."""
        if "tpu_config" not in kwargs:
            return super().replace(**kwargs)
        tpu_config = kwargs.pop("tpu_config")
        made = super().replace(**kwargs)
        made._tpu_config = tpu_config
        return made


_SPEC = ["mode", "predictions", "loss", "train_op", "eval_metrics", "export_outputs", "scaffold_fn", "host_call", "training_hooks",
         "evaluation_hooks", "prediction_hooks"]


def _check_call(name, value):
    """Checks that a value is a pair of a function and its tensors, as a list or by name."""
    if not isinstance(value, (tuple, list)):
        raise ValueError("%s should be tuple or list" % name)
    if len(value) != 2:
        raise ValueError("%s should have two elements." % name)
    if not callable(value[0]):
        raise TypeError("%s[0] should be callable." % name)
    if not isinstance(value[1], (tuple, list, dict)):
        raise ValueError("%s[1] should be tuple or list, or dict." % name)


def _called(value):
    function, tensors = value
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


class TPUEstimatorSpec(collections.namedtuple("TPUEstimatorSpec", _SPEC), metaclass=Named):
    """What the model_fn of a TPUEstimator returns."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None, scaffold_fn=None,
                host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None):
        for name, value in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if value is not None:
                _check_call(name, value)
        if export_outputs is not None and not isinstance(export_outputs, dict):
            raise TypeError("`export_outputs` must be dict, received: %s." % (export_outputs,))
        for hook in (*(training_hooks or ()), *(evaluation_hooks or ()), *(prediction_hooks or ())):
            if not isinstance(hook, SessionRunHook):
                raise TypeError("All hooks must be SessionRunHook instances, given: %s" % (hook,))
        return super().__new__(cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn, host_call,
                               tuple(training_hooks or ()), tuple(evaluation_hooks or ()), tuple(prediction_hooks or ()))

    def as_estimator_spec(self):
        """Returns the spec for an Estimator, with the metrics made and the host call run before the training op."""
        host = [] if self.host_call is None else [t for t in _flat(_called(self.host_call)) if t is not None]
        train_op = self.train_op
        if host and train_op is not None:
            with control_dependencies(host):
                train_op = _after(train_op)
        metrics = None if self.eval_metrics is None else _called(self.eval_metrics)
        return EstimatorSpec(
            mode=self.mode, predictions=self.predictions, loss=self.loss, train_op=train_op, eval_metric_ops=metrics,
            export_outputs=self.export_outputs, scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks, evaluation_hooks=self.evaluation_hooks, prediction_hooks=self.prediction_hooks)


def _flat(made):
    if isinstance(made, (list, tuple)):
        return [part for one in made for part in _flat(one)]
    return [made]


def _after(train_op):
    """Returns the training op, which also waits for the ops that were made before."""
    from weft._core.framework.graph import Operation
    from weft._core.ops.control_flow import group
    return group(train_op) if isinstance(train_op, Operation) else identity(train_op)


class TPUEstimator(Estimator):
    """An Estimator whose functions find the batch size in params["batch_size"]. It runs on CPUs and GPUs, with use_tpu=False."""

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, train_batch_size=None,
                 eval_batch_size=None, predict_batch_size=None, batch_axis=None, eval_on_tpu=True, export_to_tpu=True,
                 export_to_cpu=True, warm_start_from=None, embedding_config_spec=None):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(k in params for k in _RESERVED):
            raise ValueError("%s are reserved keys but existed in params %s." % (_RESERVED, params))
        if use_tpu:
            raise needs_tpu("tf.estimator.tpu.TPUEstimator(use_tpu=True)")
        if embedding_config_spec is not None:
            raise needs_tpu("tf.estimator.tpu.TPUEstimator(embedding_config_spec=...)")
        self._batch_sizes = {ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size, ModeKeys.PREDICT: predict_batch_size}
        self._mode = None
        super().__init__(model_fn, model_dir, config, params if params is not None or "params" not in _arguments(model_fn) else {},
                         warm_start_from)

    @property
    def params(self):
        found = dict(self._params or {}) if isinstance(self._params, (dict, type(None))) else self._params
        size = self._batch_sizes.get(self._mode)
        if size is not None:
            if hasattr(found, "add_hparam"):
                found = type(found)(**found.values())
                found.add_hparam("batch_size", size)
            else:
                found["batch_size"] = size
        return found

    def _call_input_fn(self, input_fn, mode):
        self._mode = mode
        return super()._call_input_fn(input_fn, mode)

    def _call_model_fn(self, features, labels, mode, config=None):
        from weft._core.estimator.estimator import _names
        self._mode = mode
        params, takes = self.params, _names(self._model_fn)
        if isinstance(params, dict):
            params["use_tpu"] = False
        given = {"labels": labels, "mode": mode, "params": params, "config": config or self._config}
        logging.info("Calling model_fn.")
        logging.info("Running %s on CPU/GPU", mode)
        if "labels" not in takes and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        made = self._model_fn(features=features, **{k: v for k, v in given.items() if k in takes})
        if isinstance(made, TPUEstimatorSpec):
            made = made.as_estimator_spec()
        logging.info("Done calling model_fn.")
        if not isinstance(made, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec or a TPUEstimatorSpec, not %s" % type(made).__name__)
        return made


def _arguments(model_fn):
    from weft._core.estimator.estimator import _names
    return _names(model_fn) if callable(model_fn) else ()


class CrossShardOptimizer(metaclass=Named):
    """Raises an error, because it sums gradients over the cores of a TPU and needs one."""

    def __init__(self, opt, reduction="weighted_mean", name="CrossShardOptimizer", group_assignment=None):
        raise needs_tpu("tf.tpu.CrossShardOptimizer")


def TPUClusterResolver(*args, **kwargs):
    """Raises an error, because Weft does not support TPUs."""
    raise needs_tpu("TPUClusterResolver")


def initialize_system(*args, **kwargs):
    """Raises an error, because Weft does not support TPUs."""
    raise needs_tpu("tf.tpu.initialize_system")


def shutdown_system(*args, **kwargs):
    """Raises an error, because Weft does not support TPUs."""
    raise needs_tpu("tf.tpu.shutdown_system")
