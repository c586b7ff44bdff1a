"""tf.estimator.train_and_evaluate: runs the part of a job that the task type of this process asks for."""
import os
import time

from weft._core.estimator.run_config import TaskType
from weft._core.estimator.server import start_server
from weft._core.estimator.spec import EvalSpec, TrainSpec
from weft._core.framework import errors
from weft._core.framework.graph import GraphKeys
from weft._core.platform import logging
from weft._core.train.hooks import CheckpointSaverListener
from weft._core.train.saver import checkpoint_exists

_POLL_SECS = 0.5


class _Evaluator:
    """Evaluates checkpoints that were not evaluated yet, and runs the exporters."""

    def __init__(self, estimator, eval_spec, max_steps):
        self._estimator, self._spec, self._max_steps = estimator, eval_spec, max_steps
        self._last, self._last_time, self.result = None, 0.0, (None, None)

    def due(self):
        return time.time() - self._last_time >= self._spec.throttle_secs

    def evaluate(self):
        """Evaluates the latest checkpoint if it is new; returns True if it is of the last training step."""
        path = self._estimator.latest_checkpoint()
        if not path or path == self._last:
            return False
        before, self._last, self._last_time = self._last, path, time.time()
        try:
            return self._evaluate(path)
        except (ValueError, errors.OpError):
            if checkpoint_exists(path):
                raise
            logging.warning("The checkpoint %s was deleted while it was evaluated (RunConfig: keep_checkpoint_max); the "
                            "evaluation is skipped.", path)
            self._last = before
            return False

    def _evaluate(self, path):
        spec = self._spec
        metrics = self._estimator.evaluate(spec.input_fn, spec.steps, spec.hooks, path, spec.name)
        final = self._max_steps is not None and int(metrics[GraphKeys.GLOBAL_STEP]) >= self._max_steps
        exported = [e.export(self._estimator, os.path.join(self._estimator.model_dir, "export", e.name), path, metrics, final)
                    for e in spec.exporters]
        self.result = metrics, exported
        return final


class _EvaluateAfterSaving(CheckpointSaverListener):
    """Evaluates between training steps, in a single process or in the master."""

    def __init__(self, evaluator):
        self._evaluator, self._first = evaluator, True

    def after_save(self, session, global_step_value):
        if self._first:  # A checkpoint from before the first step is not evaluated.
            self._first = False
            return
        if not self._evaluator.due():
            logging.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._evaluator._spec.throttle_secs)
            return
        self._evaluator.evaluate()

    def end(self, session, global_step_value):
        self._evaluator.evaluate()


def _train_here(estimator, train_spec, eval_spec):
    evaluator = _Evaluator(estimator, eval_spec, train_spec.max_steps)
    estimator.train(train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=[*train_spec.saving_listeners, _EvaluateAfterSaving(evaluator)])
    return evaluator.result


def _run_local(estimator, train_spec, eval_spec):
    logging.info("Running training and evaluation locally (non-distributed).")
    logging.info("Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
                 "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
                 estimator.config.save_checkpoints_steps, estimator.config.save_checkpoints_secs)
    return _train_here(estimator, train_spec, eval_spec)


def _is_mirrored(config):
    """Returns whether the workers of the cluster keep copies of the model equal, without ps tasks."""
    return config.train_distribute is not None and config.train_distribute.extended._in_multi_worker_mode()


def _run_ps(estimator, train_spec, eval_spec):
    start_server(estimator.config).join()


def _run_worker(estimator, train_spec, eval_spec):
    if not _is_mirrored(estimator.config):  # Its train() starts the server itself.
        start_server(estimator.config)
    estimator.train(train_spec.input_fn, train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=train_spec.saving_listeners)


def _run_master(estimator, train_spec, eval_spec):
    start_server(estimator.config)
    _train_here(estimator, train_spec, eval_spec)


def _wait(until):
    while time.time() < until:
        time.sleep(min(_POLL_SECS, max(until - time.time(), 0)))


def _run_evaluator(estimator, train_spec, eval_spec):
    """Evaluates each new checkpoint until one is of the last step."""
    if eval_spec.start_delay_secs:
        logging.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        _wait(time.time() + eval_spec.start_delay_secs)
    evaluator, warned = _Evaluator(estimator, eval_spec, train_spec.max_steps), None
    while not (train_spec.max_steps and estimator._saved_step() >= train_spec.max_steps and
               evaluator._last == estimator.latest_checkpoint()):
        started, before = time.time(), evaluator._last
        if evaluator.evaluate():
            break
        if evaluator._last == before and warned != before:
            warned = before
            logging.warning("No new checkpoint ready for evaluation. Skip the current evaluation pass as evaluation results are "
                         "expected to be same for the same checkpoint." if before else
                         "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
        elif evaluator._last == before:
            time.sleep(_POLL_SECS)
            continue
        until = started + (eval_spec.throttle_secs if evaluator._last != before else _POLL_SECS)
        if until > time.time():
            logging.info("Waiting %f secs before starting next eval run.", until - time.time())
        _wait(until)
    logging.info("Exiting evaluation, global_step=%s >= train max_steps=%s", estimator._saved_step(), train_spec.max_steps)


_ROLES = {TaskType.PS: _run_ps, TaskType.WORKER: _run_worker, TaskType.CHIEF: _run_worker, TaskType.MASTER: _run_master,
          TaskType.EVALUATOR: _run_evaluator}


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains and evaluates: in this process alone, or as the task that TF_CONFIG says.

    Alone it returns the results of the last evaluation and of the exporters; a task of a cluster returns None.
    """
    from weft._core.estimator.estimator import Estimator
    if not isinstance(estimator, Estimator):
        raise TypeError("`estimator` must have type `tf.estimator.Estimator`, given %s" % type(estimator))
    if not isinstance(train_spec, TrainSpec):
        raise TypeError("`train_spec` must have type `tf.estimator.TrainSpec`, given %s" % type(train_spec))
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError("`eval_spec` must have type `tf.estimator.EvalSpec`, given %s" % type(eval_spec))
    config = estimator.config
    logging.info("Not using Distribute Coordinator.")
    if not config.cluster_spec.jobs and config.task_type != TaskType.EVALUATOR:
        return _run_local(estimator, train_spec, eval_spec)
    role = _ROLES.get(config.task_type)
    if config.task_type == TaskType.WORKER and config.is_chief and not _is_mirrored(config):
        role = _run_master  # A cluster without a chief has no evaluator either, so its first worker also evaluates.
    if role is None:
        raise ValueError("Task type %s is not supported. Supported task types are %s" % (config.task_type, sorted(_ROLES)))
    role(estimator, train_spec, eval_spec)
    return None
