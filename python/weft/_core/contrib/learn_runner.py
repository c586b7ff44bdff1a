"""tf.contrib.learn.Experiment and learn_runner, the predecessors of train_and_evaluate, which implements them."""
import math
import time

from weft._core.estimator.exporter import Exporter
from weft._core.estimator.run_config import RunConfig, TaskType
from weft._core.estimator.server import start_server
from weft._core.estimator.spec import EvalSpec, TrainSpec
from weft._core.estimator.training import train_and_evaluate
from weft._core.framework.absent import Named
from weft._core.platform import logging
from weft._core.train.hooks import GlobalStepWaiterHook, SessionRunArgs, SessionRunHook
from weft._core.train.saver import latest_checkpoint
from weft._core.train.training_util import get_or_create_global_step


class _Strategy(Exporter):
    """Adapts an ExportStrategy to an exporter of tf.estimator."""

    def __init__(self, strategy):
        self._strategy = strategy

    name = property(lambda self: self._strategy.name)

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        return self._strategy.export(estimator, export_path, checkpoint_path, eval_result)


class _EvaluateEvery(SessionRunHook):
    """Evaluates the newest checkpoint every so many steps, if it is another one than the last time."""

    def __init__(self, experiment, steps):
        self._experiment, self._every, self._last = experiment, steps, None

    def begin(self):
        self._step, self._next = get_or_create_global_step(), self._every

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step, newest = int(run_values.results), None
        if step >= self._next:
            self._next, newest = step + self._every, latest_checkpoint(self._experiment.estimator.model_dir)
        if newest is not None and newest != self._last:
            self._last = newest
            self._experiment.evaluate(delay_secs=0)


def _wait(secs, before):
    if secs:
        logging.info("Waiting %d secs before starting %s.", secs, before)
        time.sleep(secs)


class Experiment(metaclass=Named):
    """An estimator with the inputs of its training and evaluation."""

    def __init__(self, estimator, train_input_fn, eval_input_fn, eval_metrics=None, train_steps=None, eval_steps=100,
                 train_monitors=None, eval_hooks=None, local_eval_frequency=None, eval_delay_secs=120,
                 continuous_eval_throttle_secs=60, min_eval_frequency=None, delay_workers_by_global_step=False,
                 export_strategies=None, train_steps_per_iteration=None, checkpoint_and_export=False):
        if train_steps_per_iteration is not None or checkpoint_and_export:
            raise NotImplementedError("Experiment(train_steps_per_iteration=..., checkpoint_and_export=...) are of the schedule "
                                      "continuous_train_and_eval, which is not in Weft: use train_and_evaluate")
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
        self._throttle, self._by_step = continuous_eval_throttle_secs, delay_workers_by_global_step
        self._local_every, self._every = local_eval_frequency, min_eval_frequency
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
        """Trains, as a task of the cluster if there is one.

        Args:
          delay_secs: how long the task waits before it starts. By default five seconds for each worker before it, at most
            60; none with delay_workers_by_global_step, which lets each worker wait for a global step.
        """
        self._start_server()
        task, hooks = self._estimator.config.task_id or 0, list(self._train_hooks)
        if delay_secs is None and self._by_step:
            hooks.append(GlobalStepWaiterHook(int(8000.0 * math.log(task + 1))))
        elif delay_secs is None:
            delay_secs = min(60, 5 * task)
        _wait(delay_secs, "training")
        return self._estimator.train(self._train_fn, hooks, max_steps=self._train_steps)

    def evaluate(self, delay_secs=None, name=None):
        """Evaluates the newest checkpoint after `delay_secs`, by default eval_delay_secs of the constructor."""
        _wait(self._delay if delay_secs is None else delay_secs, "eval")
        return self._estimator.evaluate(self._eval_fn, self._eval_steps, self._eval_hooks, name=name)

    def local_run(self):
        """As train_and_evaluate, with an evaluation every local_eval_frequency steps."""
        return self._train_and_evaluate(self._local_every)

    def train_and_evaluate(self):
        """Trains, and evaluates new checkpoints: at least every min_eval_frequency steps if that was given."""
        return self._train_and_evaluate(self._every)

    def _train_and_evaluate(self, every):
        hooks = [*self._train_hooks, _EvaluateEvery(self, every)] if every else self._train_hooks
        return train_and_evaluate(
            self._estimator, TrainSpec(self._train_fn, self._train_steps, hooks),
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
