"""tf.estimator.experimental.make_stop_at_checkpoint_step_hook: stops a task when a checkpoint has reached a step."""
import time

from weft._core.framework.graph import GraphKeys
from weft._core.platform import logging
from weft._core.train.hooks import SessionRunArgs, SessionRunHook, StopAtStepHook
from weft._core.train.saver import load_checkpoint
from weft._core.train.training_util import get_global_step


class _StopAtCheckpointStep(SessionRunHook):
    """Waits at the last step until the chief has written a checkpoint of that step."""

    def __init__(self, model_dir, last_step, wait_after_file_check_secs):
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir, self._last_step, self._wait = model_dir, last_step, wait_after_file_check_secs

    def begin(self):
        self._step = get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def before_run(self, run_context):
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 < self._last_step:
            return
        if run_context.session.run(self._step) < self._last_step:
            return
        while True:
            try:
                if load_checkpoint(self._model_dir).get_tensor(GraphKeys.GLOBAL_STEP) >= self._last_step:
                    run_context.request_stop()
                    return
            except Exception as e:  # noqa: BLE001 - the chief may not have written it yet
                logging.info("No checkpoint of step %d yet: %s", self._last_step, e)
            time.sleep(self._wait)


def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs=30):
    """Returns a hook that stops at a step; tasks other than the chief wait until a checkpoint has reached it.

    Args:
      estimator: the estimator that is trained.
      last_step: the step.
      wait_after_file_check_secs: the seconds between two looks at the checkpoint.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator.model_dir, last_step, wait_after_file_check_secs)
