"""tf.estimator.RunConfig: where and how often a job writes files, and which task of which cluster this process is."""
import copy
import json
import os

from weft import _weft
from weft._core.distribute.strategy import Strategy
from weft._core.framework import protos
from weft._core.framework.absent import Named
from weft._core.platform import logging
from weft._core.train.server import ClusterSpec


class TaskType(metaclass=Named):
    MASTER, PS, WORKER, CHIEF, EVALUATOR = "master", "ps", "worker", "chief", "evaluator"


_UNSET = object()
_SETTABLE = ("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
             "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
             "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
             "experimental_max_worker_delay_secs", "session_creation_timeout_secs", "checkpoint_save_graph_def")


def default_session_config():
    """Returns the configuration of an estimator whose RunConfig has none."""
    rewrites = protos.RewriterConfig(meta_optimizer_iterations=protos.RewriterConfig.ONE)
    return protos.ConfigProto(allow_soft_placement=True, graph_options=protos.GraphOptions(rewrite_options=rewrites))


def environment():
    """Returns TF_CONFIG as a dict. Without it, returns the cluster of Slurm or MPI in the same form."""
    text = os.environ.get("TF_CONFIG")
    if text:
        try:
            config = json.loads(text)
            if config:
                logging.info("TF_CONFIG environment variable: %s", config)
            return config
        except json.JSONDecodeError as e:
            raise json.JSONDecodeError("TF_CONFIG is not JSON: %s" % e.msg, e.doc, e.pos) from None
    cluster, job, task = _weft.role([])
    if cluster is None:
        return {}
    jobs = {j.name: [j.tasks[i] for i in sorted(j.tasks)] for j in protos.ClusterDef.FromString(cluster).job}
    return {"cluster": jobs, "task": {"type": job, "index": task}}


def _global_id(spec, task_type, task_id):
    """Returns the index among all tasks: the chief first, then workers, then ps."""
    if task_type == TaskType.EVALUATOR:
        return None
    order = [TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER]
    jobs = [j for j in order if j in spec.jobs] + [j for j in spec.jobs if j not in order and j != TaskType.PS]
    jobs += [TaskType.PS] if TaskType.PS in spec.jobs else []
    return sum(spec.num_tasks(j) for j in jobs[:jobs.index(task_type)]) + task_id


class RunConfig(metaclass=Named):
    def __init__(self, model_dir=None, tf_random_seed=None, save_summary_steps=100, save_checkpoints_steps=_UNSET,
                 save_checkpoints_secs=_UNSET, session_config=None, keep_checkpoint_max=5,
                 keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, train_distribute=None, device_fn=None,
                 protocol=None, eval_distribute=None, experimental_distribute=None,
                 experimental_max_worker_delay_secs=None, session_creation_timeout_secs=7200, checkpoint_save_graph_def=True):
        steps, secs = save_checkpoints_steps, save_checkpoints_secs
        if steps is _UNSET and secs is _UNSET:
            steps, secs = None, 600
        elif secs is _UNSET:
            secs = None
        elif steps is _UNSET:
            steps = None
        elif steps is not None and secs is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        if experimental_distribute is not None:
            if train_distribute is not None or eval_distribute is not None:
                raise ValueError("Either `experimental_distribute` or `train_distribute`/`eval_distribute` can be given to RunConfig")
            if getattr(experimental_distribute, "remote_cluster", None) is not None:
                raise NotImplementedError("tf.estimator.RunConfig(experimental_distribute): remote_cluster is not in Weft; give the "
                                          "cluster in TF_CONFIG and start the program in each task")
            train_distribute = experimental_distribute.train_distribute
            eval_distribute = experimental_distribute.eval_distribute
        for name, value in (("train_distribute", train_distribute), ("eval_distribute", eval_distribute)):
            if value is not None and not isinstance(value, Strategy):
                raise TypeError("tf.estimator.RunConfig(%s=%r): it must be a tf.distribute.Strategy" % (name, value))
        given = environment()
        self._take_task(given)
        if model_dir is None:
            model_dir = given.get("model_dir")
        if model_dir == "":
            raise ValueError("model_dir should be non-empty")
        self._values = dict(zip(_SETTABLE, (
            model_dir, tf_random_seed, save_summary_steps, steps, secs, session_config or self._default_session_config(),
            keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps, train_distribute, device_fn, protocol,
            eval_distribute, experimental_distribute, experimental_max_worker_delay_secs, session_creation_timeout_secs,
            checkpoint_save_graph_def)))
        self._check()

    def _check(self):
        for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max",
                     "log_step_count_steps"):
            value = self._values[name]
            if value is not None and value < 0:
                raise ValueError("%s should be >= 0" % name)
        if self._values["session_config"] is not None and not isinstance(self._values["session_config"], protos.ConfigProto):
            raise ValueError("session_config must be instance of ConfigProto, given: %s" % self._values["session_config"])

    def _take_task(self, environment):
        task = environment.get("task") or {}
        self.service = environment.get("service")
        spec = self._cluster_spec = ClusterSpec(environment.get("cluster") or {})
        kind, index = task.get("type"), int(task.get("index", 0) or 0)
        if not spec.jobs:
            kind = kind or TaskType.WORKER
            if kind not in (TaskType.WORKER, TaskType.EVALUATOR, TaskType.CHIEF, TaskType.MASTER):
                raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER; got %s' % kind)
            self._set_task(kind, index, kind != TaskType.EVALUATOR, 0, 0 if kind == TaskType.EVALUATOR else 1, "")
            return
        chief = next((j for j in (TaskType.MASTER, TaskType.CHIEF) if j in spec.jobs), None)
        if kind is None:
            raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
        if kind == TaskType.EVALUATOR:
            if index:
                raise ValueError("Only one `evaluator` task is supported: TF_CONFIG asks for index %d." % index)
            self._set_task(kind, index, False, 0, 0, "")
            self._cluster_spec = ClusterSpec({})
            self._global_id = None
            return
        if chief is None and TaskType.WORKER not in spec.jobs:
            raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "chief" node.')
        if chief is not None and spec.num_tasks(chief) > 1:
            raise ValueError('The "cluster" in TF_CONFIG must have only one "chief" node.')
        if kind not in spec.jobs:
            raise ValueError('TF_CONFIG: task type "%s" is not in the cluster, which has %s.' % (kind, ", ".join(spec.jobs)))
        if index >= spec.num_tasks(kind):
            raise ValueError("%d is not a valid task_id for task_type %s in the cluster_spec: %s" % (index, kind, spec))
        count = {j: spec.num_tasks(j) if j in spec.jobs else 0 for j in (TaskType.PS, TaskType.WORKER)}
        # The rule is that of weft launch and Slurm.
        leads = kind == chief or chief is None and (kind, index) == (TaskType.WORKER, 0)
        self._set_task(kind, index, leads, count[TaskType.PS], count[TaskType.WORKER] + (chief is not None),
                       "grpc://" + spec.task_address(kind, index))
        self._global_id = _global_id(spec, kind, index)

    def _set_task(self, kind, index, is_chief, ps, workers, master):
        self._task_type, self._task_id, self._is_chief, self._master = kind, index, is_chief, master
        self._num_ps, self._num_workers, self._evaluation_master, self._global_id = ps, workers, "", 0

    def _default_session_config(self):
        """Returns a config with which a task waits only for itself and the ps tasks, or None without a cluster."""
        if self._task_type == TaskType.EVALUATOR or not self._cluster_spec.jobs:
            return None
        own = ["%s/task:%d" % (self._task_type, self._task_id)]
        if self._task_type in (TaskType.CHIEF, TaskType.MASTER):
            own = [self._task_type]
        elif self._task_type == TaskType.PS:
            own = ["worker", "chief", "master"]
        made = default_session_config()
        made.device_filters.extend(["/job:ps"] + ["/job:" + job for job in own])
        return made

    def replace(self, **kwargs):
        """Returns a copy in which some values are replaced."""
        made = copy.copy(self)
        made._values = dict(self._values)
        for name, value in kwargs.items():
            if name not in _SETTABLE:
                raise ValueError("Replacing %s is not supported. Allowed properties are %s." % (name, sorted(_SETTABLE)))
            made._values[name] = value
        if kwargs.get("save_checkpoints_steps") is not None and kwargs.get("save_checkpoints_secs") is not None:
            raise ValueError("`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set.")
        for one, other in (("save_checkpoints_steps", "save_checkpoints_secs"), ("save_checkpoints_secs", "save_checkpoints_steps")):
            if kwargs.get(one) is not None:
                made._values[other] = None
        made._check()
        return made

    cluster_spec = property(lambda self: self._cluster_spec)
    task_type = property(lambda self: self._task_type)
    task_id = property(lambda self: self._task_id)
    is_chief = property(lambda self: self._is_chief)
    master = property(lambda self: self._master)
    evaluation_master = property(lambda self: self._evaluation_master)
    num_ps_replicas = property(lambda self: self._num_ps)
    num_worker_replicas = property(lambda self: self._num_workers)
    global_id_in_cluster = property(lambda self: self._global_id)

    def _shown(self):
        """Returns the values as TensorFlow logs them."""
        made = {"_" + n: self._values[n] for n in _SETTABLE}
        made.update({"_" + n: getattr(self, n) for n in (
            "service", "cluster_spec", "task_type", "task_id", "global_id_in_cluster", "master", "evaluation_master",
            "is_chief", "num_ps_replicas", "num_worker_replicas")})
        return made


def _setting(name):
    return property(lambda self: self._values[name])


for _name in _SETTABLE:
    if _name != "experimental_distribute":  # It is stored in train_distribute and eval_distribute.
        setattr(RunConfig, _name, _setting(_name))
