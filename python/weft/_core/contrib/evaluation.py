"""tf.contrib.training's evaluation: restores a checkpoint, runs ops and reports results. slim.evaluation uses it."""
import math
import time

import weft as tf
from weft._core.train.checkpoints import checkpoints_iterator
from weft._core.train.training_util import get_global_step

_USE_DEFAULT = 0  # slim's default for the summaries: all summaries of the graph


def get_or_create_eval_step():
    """Returns the variable that counts the evaluation steps of this session."""
    graph = tf.get_default_graph()
    found = graph.get_collection(tf.GraphKeys.EVAL_STEP)
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    return tf.get_variable("eval_step", shape=[], dtype=tf.int64, initializer=tf.zeros_initializer(), trainable=False,
                           collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.EVAL_STEP])


class StopAfterNEvalsHook(tf.train.SessionRunHook):
    """Ends a session after a number of evaluation steps."""

    def __init__(self, num_evals, log_progress=True):
        self._num_evals, self._log_progress, self._evals_completed = num_evals, log_progress, None
        self._log_frequency = 1 if num_evals is None or num_evals < 20 else math.floor(num_evals / 10.)

    def _set_evals_completed_tensor(self, updated_eval_step):
        self._evals_completed = updated_eval_step

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context, run_values):
        done = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                tf.logging.info("Evaluation [%d]", done)
            elif done % self._log_frequency == 0 or self._num_evals == done:
                tf.logging.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(tf.train.SessionRunHook):
    """Writes summaries when a session ends."""

    def __init__(self, log_dir=None, summary_writer=None, summary_op=None, feed_dict=None):
        self._summary_op, self._replace_summary_op = summary_op, summary_op is None
        self._feed_dict, self._summary_writer, self._log_dir = feed_dict, summary_writer, log_dir
        if log_dir is None and summary_writer is None:
            raise ValueError("exactly one of log_dir or summary_writer should be specified")

    def begin(self):
        if self._replace_summary_op:
            self._summary_op = tf.summary.merge_all()
        self._global_step = tf.train.get_or_create_global_step()

    def after_create_session(self, session, coord):
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = tf.summary.FileWriterCache.get(self._log_dir)

    def end(self, session):
        step = tf.train.global_step(session, self._global_step)
        if self._summary_op is not None:
            self._summary_writer.add_summary(session.run(self._summary_op, self._feed_dict), step)
        if self._summary_writer:
            self._summary_writer.flush()


def _with_step(eval_ops, hooks):
    """Returns the ops to run, followed by one that counts the steps; hooks that stop after some steps get the counter.
    """
    eval_step = get_or_create_eval_step()
    hooks = list(hooks or [])
    if eval_ops is None:
        update = eval_step
    else:
        update = tf.assign_add(eval_step, tf.cast(1, eval_step.dtype.base_dtype), use_locking=True)
        if isinstance(eval_ops, dict):
            eval_ops = dict(eval_ops, update_eval_step=update)
        elif isinstance(eval_ops, (tuple, list)):
            eval_ops = list(eval_ops) + [update]
        else:
            eval_ops = [eval_ops, update]
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(update)
    return eval_ops, hooks


def _run(checkpoint_path, master, scaffold, eval_ops, feed_dict, final, hooks, config):
    tf.logging.info("Starting evaluation at " + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    creator = tf.train.ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master,
                                           config=config)
    with tf.train.MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    tf.logging.info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values


def evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                  final_ops_feed_dict=None, hooks=None, config=None):
    """Restores a checkpoint, runs the ops until a hook stops the session, and returns the values of final_ops."""
    eval_ops, hooks = _with_step(eval_ops, hooks)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    return _run(checkpoint_path, master, scaffold, eval_ops, feed_dict, final, hooks + [final], config)


def evaluate_repeatedly(checkpoint_dir, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                        final_ops_feed_dict=None, eval_interval_secs=60, hooks=None, config=None, max_number_of_evaluations=None,
                        timeout=None, timeout_fn=None):
    """Runs evaluate_once for each new checkpoint of a folder; returns the values of final_ops of the last one."""
    eval_ops, hooks = _with_step(eval_ops, hooks)
    final = tf.train.FinalOpsHook(final_ops, final_ops_feed_dict)
    scaffold, count = scaffold or tf.train.Scaffold(), 0
    for checkpoint_path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        _run(checkpoint_path, master, scaffold, eval_ops, feed_dict, final, hooks + [final], config)
        count += 1
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            return final.final_ops_values
    return final.final_ops_values



def _slim_hooks(num_evals, summary_op, summary_op_feed_dict, logdir, hooks):
    if summary_op is _USE_DEFAULT:
        summary_op = tf.summary.merge_all()
    found = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        found.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=summary_op_feed_dict))
    return found + list(hooks or [])


def _slim_scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore):
    saver = None if variables_to_restore is None else tf.train.Saver(variables_to_restore)
    return tf.train.Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn, saver=saver)


def slim_evaluate_once(master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, eval_op=None,
                       eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
                       summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks=None):
    """Evaluates the model of a checkpoint in num_evals steps, and returns the values of final_op."""
    hooks = _slim_hooks(num_evals, summary_op, summary_op_feed_dict, logdir, hooks)
    return evaluate_once(
        checkpoint_path, master=master, scaffold=_slim_scaffold(initial_op, initial_op_feed_dict, None, variables_to_restore),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op, final_ops_feed_dict=final_op_feed_dict, hooks=hooks,
        config=session_config)


def slim_evaluation_loop(master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, init_fn=None,
                         eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
                         summary_op_feed_dict=None, variables_to_restore=None, eval_interval_secs=60,
                         max_number_of_evaluations=None, session_config=None, timeout=None, timeout_fn=None, hooks=None):
    """Evaluates each new checkpoint of a folder, and returns the values of final_op of the last one."""
    hooks = _slim_hooks(num_evals, summary_op, summary_op_feed_dict, logdir, hooks)
    return evaluate_repeatedly(
        checkpoint_dir, master=master, scaffold=_slim_scaffold(initial_op, initial_op_feed_dict, init_fn, variables_to_restore),
        eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op, final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs, hooks=hooks, config=session_config,
        max_number_of_evaluations=max_number_of_evaluations, timeout=timeout, timeout_fn=timeout_fn)


def evaluate(session, initial_op=None, eval_op=None, num_evals=1, final_op=None, summary_op=None, summary_writer=None,
             global_step=None):
    """Runs an initial op, eval_op num_evals times and final_op in a session that is there; the value of final_op."""
    if summary_op is not None and summary_writer is None:
        raise ValueError("evaluate(summary_op=...) needs a summary_writer")
    if initial_op is not None:
        session.run(initial_op)
    if eval_op is not None:
        for i in range(num_evals):
            tf.logging.info("Executing eval_op %d/%d", i + 1, num_evals)
            session.run(eval_op)
    value = session.run(final_op) if final_op is not None else None
    if summary_op is not None:
        step = get_global_step() if global_step is None else global_step
        summary_writer.add_summary(session.run(summary_op), session.run(step))
    return value


for _function in (slim_evaluate_once, slim_evaluation_loop):
    _function.__name__ = _function.__qualname__ = _function.__name__.removeprefix("slim_")
