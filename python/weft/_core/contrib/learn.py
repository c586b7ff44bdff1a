"""tf.contrib.learn: its data sets, and the estimators that preceded tf.estimator."""
import collections

from weft._core.contrib.learn_models import Learner
from weft._core.estimator.estimator import _names
from weft._core.estimator.run_config import RunConfig as _RunConfig, default_session_config, environment
from weft._core.estimator.spec import EstimatorSpec as _Spec, ModeKeys as _ModeKeys


class ModeKeys(_ModeKeys):
    """What a model_fn is called for; INFER is the name of tf.contrib.learn for PREDICT."""
    INFER = "infer"


class RunConfig(_RunConfig):
    """A RunConfig with the keywords of its time; those about devices are stored in session_config."""

    def __init__(self, master=None, num_cores=0, log_device_placement=False, gpu_memory_fraction=1, tf_random_seed=None,
                 save_summary_steps=100, save_checkpoints_secs=600, save_checkpoints_steps=None, keep_checkpoint_max=5,
                 keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, evaluation_master="", model_dir=None,
                 session_config=None):
        if save_checkpoints_steps is not None:
            save_checkpoints_secs = None
        super().__init__(model_dir, tf_random_seed, save_summary_steps, save_checkpoints_steps, save_checkpoints_secs,
                         session_config, keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps)
        if self.session_config is None:
            self._values["session_config"] = default_session_config()
        if log_device_placement:
            self.session_config.log_device_placement = True
        if num_cores:
            self.session_config.intra_op_parallelism_threads = self.session_config.inter_op_parallelism_threads = num_cores
        if gpu_memory_fraction != 1:
            self.session_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        if master:
            self._master = master
        self._evaluation_master = evaluation_master
        self._environment = environment().get("environment", "local")

    @property
    def environment(self):
        """The environment that TF_CONFIG names: "local", or "cloud" by convention."""
        return self._environment


ModelFnOps = collections.namedtuple("ModelFnOps", ("mode", "predictions", "loss", "train_op", "eval_metric_ops"))
ModelFnOps.__new__.__defaults__ = (None,) * 4


def _as_spec(made, mode):
    if isinstance(made, _Spec):
        return made
    if isinstance(made, ModelFnOps):
        return _Spec(mode, made.predictions, made.loss, made.train_op, made.eval_metric_ops)
    predictions, loss, train_op = made
    return _Spec(mode, predictions, loss, train_op)


class Estimator(Learner):
    """An Estimator of a model_fn(features, labels, ...) that returns (predictions, loss, train_op) or ModelFnOps."""

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, feature_engineering_fn=None):
        takes = _names(model_fn)

        def as_now(features, labels, mode, params, config):
            rest = dict(mode=mode, params=params, config=config)
            if isinstance(features, dict) and set(features) == {""}:
                features = features[""]
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            return _as_spec(model_fn(features, labels, **{k: v for k, v in rest.items() if k in takes}), mode)
        super().__init__(as_now, model_dir, config, params)


def load_dataset(name, *args, **kwargs):
    raise NotImplementedError("tf.contrib.learn.datasets.load_dataset(%r) is not in Weft; read_data_sets is" % name)
