"""tf.contrib.slim.learning: builds a training op with its update ops, and runs it in a supervisor's loop."""
import os
import time

from weft._core.files import gfile, summary
from weft._core.framework import protos
from weft._core.framework.build import constant, op
from weft._core.framework.errors import OutOfRangeError
from weft._core.framework.graph import GraphKeys, IndexedSlices, Tensor, control_dependencies, get_collection, get_default_graph, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import group, with_dependencies
from weft._core.ops.gradients import clip_by_norm, global_norm
from weft._core.platform import logging
from weft._core.run import timeline
from weft._core.train.supervisor import Supervisor
from weft._core.train.training_util import get_or_create_global_step

_USE = object()  # the default of arguments for which None has another meaning


def clip_gradient_norms(gradients_to_variables, max_norm):
    return [(g if g is None else IndexedSlices(clip_by_norm(g.values, max_norm), g.indices, g.dense_shape)
             if isinstance(g, IndexedSlices) else clip_by_norm(g, max_norm), v) for g, v in gradients_to_variables]


def multiply_gradients(grads_and_vars, gradient_multipliers):
    """Returns the gradients, of which those of some variables (by themselves or by name) are multiplied by a number or
    a tensor.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")

    def times(g, v):
        key = v if v in gradient_multipliers else v.op.name
        if key not in gradient_multipliers:
            return g
        if g is None:
            raise ValueError("Requested multiple of `None` gradient.")
        by = gradient_multipliers[key]
        by = by if isinstance(by, Tensor) else constant(by, dtype=g.dtype.base_dtype)
        return IndexedSlices(g.values * by, g.indices, g.dense_shape) if isinstance(g, IndexedSlices) else g * by
    return [(times(g, v), v) for g, v in grads_and_vars]


def add_gradients_summaries(grads_and_vars):
    made = []
    for g, v in grads_and_vars:
        if g is not None:
            values = g.values if isinstance(g, IndexedSlices) else g
            made.append(summary.histogram(v.op.name + "_gradient", values))
            made.append(summary.scalar(v.op.name + "_gradient_norm", global_norm([values])))
        else:
            logging.info("Var %s has no gradient", v.op.name)
    return made


def create_training_op(total_loss, optimizer, global_step=_USE, update_ops=None, variables_to_train=None, transform_grads_fn=None,
                       summarize_gradients=False, gate_gradients=1, aggregation_method=None,
                       colocate_gradients_with_ops=False, check_numerics=True):
    """Works as tf.contrib.training.create_train_op: returns the loss after the gradients are applied; update ops come
    before it.
    """
    step = get_or_create_global_step() if global_step is _USE else global_step
    known = get_collection(GraphKeys.UPDATE_OPS)
    updates = list(known if update_ops is None else update_ops)
    if not set(known).issubset(updates):
        logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if updates:
        with control_dependencies(updates):
            total_loss = array_ops.identity(total_loss)
    trained = get_collection(GraphKeys.TRAINABLE_VARIABLES)
    for v in () if variables_to_train is None else variables_to_train:
        if v not in trained:
            raise AssertionError("variables_to_train has %s, which is not a trainable variable" % v.op.name)
    pairs = optimizer.compute_gradients(total_loss, variables_to_train, gate_gradients=gate_gradients,
                                        aggregation_method=aggregation_method,
                                        colocate_gradients_with_ops=colocate_gradients_with_ops)
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=step)
    if check_numerics:
        total_loss = op("CheckNumerics", tensor=total_loss, message="LossTensor is inf or nan")
    with name_scope("train_op"):
        made = with_dependencies([applied], total_loss)
    trains = get_default_graph().get_collection_ref(GraphKeys.TRAIN_OP)
    if made not in trains:
        trains.append(made)
    return made


def create_train_op(total_loss, optimizer, global_step=_USE, update_ops=None, variables_to_train=None, clip_gradient_norm=0,
                    summarize_gradients=False, gate_gradients=1, aggregation_method=None, colocate_gradients_with_ops=False,
                    gradient_multipliers=None, check_numerics=True):
    """Returns the loss, once the gradients have been applied; update ops (of batch norm) come before it."""
    def transform(pairs):
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs
    return create_training_op(total_loss, optimizer, global_step, update_ops, variables_to_train, transform, summarize_gradients,
                              gate_gradients, aggregation_method, colocate_gradients_with_ops, check_numerics)


def _write_trace(found, step, kwargs):
    """Writes a step's trace as a file for chrome://tracing, and its metadata to the summaries if there is a writer."""
    path = os.path.join(kwargs.get("logdir") or "", "tf_trace-%d.json" % step)
    logging.info("Writing trace to %s", path)
    with gfile.GFile(path, "w") as f:
        f.write(timeline.Timeline(found.step_stats).generate_chrome_trace_format())
    if kwargs.get("summary_writer") is not None:
        kwargs["summary_writer"].add_run_metadata(found, "run_metadata-%d" % step)


def train_step(sess, train_op, global_step, train_step_kwargs):
    """Runs one step and returns (loss, whether to stop)."""
    began = time.time()
    trace, options, found = train_step_kwargs.get("should_trace"), None, None
    if trace is not None and sess.run(trace):
        options, found = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE), protos.RunMetadata()
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=found)
    if found is not None:
        _write_trace(found, step, train_step_kwargs)
    logs, stop = train_step_kwargs.get("should_log"), train_step_kwargs.get("should_stop")
    if logs is not None and sess.run(logs):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, loss, time.time() - began)
    return loss, bool(sess.run(stop)) if stop is not None else False


def _check_asked(logdir, summary_op, saver, trace, sync_optimizer, delay, number_of_steps):
    for name, given in (("summary_op", summary_op is not _USE), ("saver", saver is not None), ("trace_every_n_steps", trace is not None)):
        if logdir is None and given:
            raise ValueError("Cannot provide %s because logdir=None" % name)
    if sync_optimizer is not None and delay > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _asked(step, number_of_steps, log_every_n_steps, trace_every_n_steps, logdir):
    with control_dependencies(None):
        made = {}
        if number_of_steps:
            made["should_stop"] = math_ops.greater_equal(step, number_of_steps)
        if log_every_n_steps > 0:
            made["should_log"] = math_ops.equal(math_ops.mod(step, log_every_n_steps), 0)
        if trace_every_n_steps is not None:
            made["should_trace"] = math_ops.equal(math_ops.mod(step, trace_every_n_steps), 0)
            made["logdir"] = logdir
        return made


def train(train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE, log_every_n_steps=1, graph=None, master="",
          is_chief=True, global_step=None, number_of_steps=None, init_op=_USE, init_feed_dict=None, local_init_op=_USE,
          init_fn=None, ready_op=_USE, summary_op=_USE, save_summaries_secs=600, summary_writer=_USE, startup_delay_steps=0,
          saver=None, save_interval_secs=600, sync_optimizer=None, session_config=None, session_wrapper=None,
          trace_every_n_steps=None, ignore_live_threads=False):
    """Runs training steps under a Supervisor until the stop condition, and returns the last loss."""
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    _check_asked(logdir, summary_op, saver, trace_every_n_steps, sync_optimizer, startup_delay_steps, number_of_steps)
    graph = graph or get_default_graph()
    with graph.as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        kwargs = train_step_kwargs or {}
        if train_step_kwargs is _USE:
            kwargs = _asked(step, number_of_steps, log_every_n_steps, trace_every_n_steps if is_chief else None, logdir)
        given = {"init_op": init_op, "ready_op": ready_op, "summary_op": summary_op, "local_init_op": local_init_op,
                 "summary_writer": summary_writer}
        runners = []
        if sync_optimizer is not None:
            for one in sync_optimizer if isinstance(sync_optimizer, (list, tuple)) else [sync_optimizer]:
                given.update(_of_sync(one, is_chief, given["local_init_op"]))
                runners += [(one.get_init_tokens_op(), one.get_chief_queue_runner())] if is_chief else []
        sv = Supervisor(graph=graph, is_chief=is_chief, logdir=logdir, init_feed_dict=init_feed_dict, init_fn=init_fn,
                        saver=saver if saver is not None else Supervisor.USE_DEFAULT, global_step=step,
                        save_summaries_secs=save_summaries_secs, save_model_secs=save_interval_secs,
                        **{k: v for k, v in given.items() if v is not _USE})
        with sv.managed_session(master, start_standard_services=False, config=session_config) as sess:
            sess = session_wrapper(sess) if session_wrapper else sess
            return _loop(sv, sess, is_chief, runners, train_step_fn, train_op, step, kwargs,
                         min(startup_delay_steps, number_of_steps or startup_delay_steps), logdir, ignore_live_threads)


def _of_sync(one, is_chief, local):
    first = one.chief_init_op if is_chief else one.local_step_init_op
    return {"local_init_op": first if local is _USE or local is None else group(local, first),
            "ready_for_local_init_op": one.ready_for_local_init_op}


def _loop(sv, sess, is_chief, runners, step_fn, train_op, step, kwargs, delay, logdir, ignore_live_threads):
    logging.info("Starting Session.")
    if is_chief:
        if logdir:
            sv.start_standard_services(sess)
        for tokens, runner in runners:
            sess.run(tokens)
            sv.start_queue_runners(sess, [runner])
    elif delay > 0:
        _wait_for_step(sess, step, delay)
    threads = sv.start_queue_runners(sess)
    logging.info("Starting Queues.")
    loss = None
    try:
        while not sv.should_stop():
            loss, stop = step_fn(sess, train_op, step, kwargs)
            if stop:
                logging.info("Stopping Training.")
                sv.request_stop()
                break
    except OutOfRangeError:
        logging.info("Caught OutOfRangeError. Stopping Training.")
    if logdir and is_chief:
        logging.info("Finished training! Saving model to disk.")
        sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
    sv.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)
    return loss


def _wait_for_step(sess, global_step, step):
    while sess.run(global_step) < step:
        time.sleep(1)
