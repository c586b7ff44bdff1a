"""tf.contrib.learn.Experiment and learn_runner, the predecessors of train_and_evaluate, which implements them."""
from weft._core.estimator.exporter import Exporter
from weft._core.estimator.run_config import RunConfig, TaskType
from weft._core.estimator.server import start_server
from weft._core.estimator.spec import EvalSpec, TrainSpec
from weft._core.estimator.training import train_and_evaluate
from weft._core.framework.absent import Named


class _Strategy(Exporter):
    """Adapts an ExportStrategy to an exporter of tf.estimator."""

    def __init__(self, strategy):
        self._strategy = strategy

    name = property(lambda self: self._strategy.name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return self._strategy.export(estimator, export_path, checkpoint_path, eval_result)


class Experiment(metaclass=Named):
    """An estimator with the inputs of its training and evaluation."""

    def __init__(self, estimator, train_input_fn, eval_input_fn, eval_metrics=None, train_steps=None, eval_steps=100,
                 train_monitors=None, eval_hooks=None, local_eval_frequency=None, eval_delay_secs=120,
                 continuous_eval_throttle_secs=60, min_eval_frequency=None, delay_workers_by_global_step=False,
                 export_strategies=None, train_steps_per_iteration=None, checkpoint_and_export=False):
        if eval_metrics is not None:
            if not hasattr(estimator, "_always_measured"):
                raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`: give eval_metric_ops in the EstimatorSpec "
                                 "of the model_fn")
            estimator._always_measured = eval_metrics
        self._estimator, self._train_fn, self._eval_fn = estimator, train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps, self._delay = train_steps, eval_steps, eval_delay_secs
        self._train_hooks, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        for hook in self._train_hooks:
            if hasattr(hook, "set_estimator"):  # The hook is a monitor.
                hook.set_estimator(estimator)
        self._throttle = continuous_eval_throttle_secs
        given = export_strategies(estimator) if callable(export_strategies) and not hasattr(export_strategies, "export") else \
            export_strategies or []
        self._exporters = [_Strategy(s) for s in (given if isinstance(given, list) else [given])]

    estimator = property(lambda self: self._estimator)
    train_steps = property(lambda self: self._train_steps)
    eval_steps = property(lambda self: self._eval_steps)

    def extend_train_hooks(self, additional_hooks):
        self._train_hooks.extend(additional_hooks)

    def _start_server(self):
        config = self._estimator.config
        if config.cluster_spec.jobs and config.task_type != TaskType.EVALUATOR:
            return start_server(config)
        return None

    def run_std_server(self):
        self._start_server().join()

    def train(self, delay_secs=None):
        self._start_server()
        return self._estimator.train(self._train_fn, self._train_hooks, max_steps=self._train_steps)

    def evaluate(self, delay_secs=None, name=None):
        return self._estimator.evaluate(self._eval_fn, self._eval_steps, self._eval_hooks, name=name)

    local_run = property(lambda self: self.train_and_evaluate)

    def train_and_evaluate(self):
        return train_and_evaluate(
            self._estimator, TrainSpec(self._train_fn, self._train_steps, self._train_hooks),
            EvalSpec(self._eval_fn, self._eval_steps, hooks=self._eval_hooks, start_delay_secs=self._delay or 0,
                     throttle_secs=self._throttle, exporters=self._exporters))

    continuous_eval = train_and_evaluate

    def test(self):
        self._estimator.train(self._train_fn, self._train_hooks, steps=1)
        return self._estimator.evaluate(self._eval_fn, 1, self._eval_hooks)


_SCHEDULES = {TaskType.PS: "run_std_server", TaskType.WORKER: "train"}


def run(experiment_fn, output_dir=None, schedule=None, run_config=None, hparams=None):
    """Makes an experiment, and runs the part of this task."""
    if not callable(experiment_fn):
        raise TypeError('Experiment builder "%s" is not callable.' % (experiment_fn,))
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if run_config is None:
        config, experiment = RunConfig(model_dir=output_dir), experiment_fn(output_dir)
    else:
        config = run_config
        experiment = experiment_fn(run_config, hparams) if hparams is not None else experiment_fn(run_config, None)
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance, got %s instead." % type(experiment))
    if schedule is None:
        alone = not config.cluster_spec.jobs
        schedule = "train_and_evaluate" if alone else _SCHEDULES.get(config.task_type, "train_and_evaluate")
    task = getattr(experiment, schedule, None)
    if task is None or not callable(task):
        raise ValueError("Schedule references non-existent task %s" % schedule)
    return task()


def tune(experiment_fn, tuner):
    raise NotImplementedError("tf.contrib.learn.learn_runner.tune is not in Weft: call run() for each set of parameters")
