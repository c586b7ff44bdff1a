"""Hooks around the runs of a monitored session, and the adapter through which the library calls them."""
import collections
import functools
import os
import time

import numpy as np

from weft._core.files.gfile import local
from weft._core.framework import protos
from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.run.timeline import Timeline
from weft._core.session import client
from weft._core.train.training_util import get_global_step

SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])


class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"]), metaclass=Named):
    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


class SessionRunContext(metaclass=Named):
    def __init__(self, original_args, session):
        self._original_args, self._session, self._stop_requested = original_args, session, False

    original_args = property(lambda self: self._original_args)
    session = property(lambda self: self._session)
    stop_requested = property(lambda self: self._stop_requested)

    def request_stop(self):
        self._stop_requested = True


class SessionRunHook(metaclass=Named):
    def begin(self):
        pass

    def after_create_session(self, session, coord):
        pass

    def before_run(self, run_context):
        return None

    def after_run(self, run_context, run_values):
        pass

    def end(self, session):
        pass


def _kept(method):
    """Keeps an exception of the hook, or about what it gave, so that the program sees it instead of the library's error."""
    @functools.wraps(method)
    def call(self, *args):
        try:
            return method(self, *args)
        except BaseException as e:
            self.owner._exc = e
            raise
    return call


class Adapter:
    """Presents one hook of one monitored session to the library, which calls it."""

    def __init__(self, hook, owner):
        self.hook, self.owner = hook, owner
        self.context = self.fetch = None
        self.begun = False
        self.sync = hook._in_library() if isinstance(hook, SyncReplicasHook) else None

    def _in_graph(self, fn, *args):
        with self.owner._graph.as_default():
            return fn(*args)

    def _session(self, c_session):
        return self.owner._lent(c_session)

    @_kept
    def begin(self):
        if not self.begun:
            self.begun = True
            self._in_graph(self.hook.begin)
            self.owner._graph._sync_lists()

    @_kept
    def created(self, c_session, coordinator):
        from weft._core.train.supervisor import borrowed_coordinator
        coord = None if coordinator is None else borrowed_coordinator(coordinator)
        self.owner._coordinator = coord
        self._in_graph(self.hook.after_create_session, self._session(c_session), coord)

    @_kept
    def before(self, c_session):
        self.context = SessionRunContext(self.owner._args, self._session(c_session))
        args = self._told(self.hook.before_run)
        self.fetch = None
        if args is None:
            return (), (), (), False, False, self.context.stop_requested
        graph = self.owner._graph
        self.fetch = client._Fetch(graph, args.fetches) if args.fetches is not None else None
        feeds = client._feeds(graph, {}, args.feed_dict or {})
        self._in_graph(self.owner._check_hook_feeds, [graph._tensor(out) for out, _ in feeds])
        options = args.options or protos.RunOptions()
        outs, targets = (self.fetch.outs, self.fetch.targets) if self.fetch else ((), ())
        return outs, targets, feeds, options.trace_level > 0, options.output_partition_graphs, self.context.stop_requested

    @_kept
    def after(self, c_session, values, metadata):
        results = self.fetch.rebuild(values) if self.fetch is not None else None
        run_metadata = protos.RunMetadata.FromString(metadata) if metadata else protos.RunMetadata()
        options = self.owner._args.options or protos.RunOptions()
        self._told(self.hook.after_run, SessionRunValues(results, options, run_metadata))
        return self.context.stop_requested

    def _told(self, fn, *args):
        """Calls the hook with its context, in which a request to stop by an earlier hook of this run is set."""
        self.context._stop_requested |= self.owner._stop_asked
        made = self._in_graph(fn, self.context, *args)
        self.owner._stop_asked = self.context.stop_requested
        return made

    @_kept
    def end(self, c_session):
        self._in_graph(self.hook.end, self._session(c_session))


# ---- the hooks that TensorFlow provides ----

class SecondOrStepTimer(metaclass=Named):
    def __init__(self, every_secs=None, every_steps=None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs, self._every_steps = every_secs, every_steps
        self.reset()

    def reset(self):
        self._last_triggered_step = self._last_triggered_time = None

    def should_trigger_for_step(self, step):
        if self._last_triggered_step is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_triggered_time + self._every_secs
        return step >= self._last_triggered_step + self._every_steps

    def update_last_triggered_step(self, step):
        now, last = time.time(), self._last_triggered_step
        gone = (None, None) if last is None else (now - self._last_triggered_time, step - last)
        self._last_triggered_step, self._last_triggered_time = step, now
        return gone

    def last_triggered_step(self):
        return self._last_triggered_step


class _StepHook(SessionRunHook):
    """The base of hooks that read the global step."""

    def begin(self):
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use %s." % type(self).__name__)


class StopAtStepHook(_StepHook):
    def __init__(self, num_steps=None, last_step=None):
        if (num_steps is None) == (last_step is None):
            raise ValueError("Exactly one of num_steps and last_step must be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    def after_create_session(self, session, coord):
        if self._last_step is None:
            self._last_step = int(session.run(self._global_step_tensor)) + self._num_steps

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if step + 1 < self._last_step:
            return
        if step + 1 >= self._last_step and int(run_context.session.run(self._global_step_tensor)) >= self._last_step:
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError, metaclass=Named):
    def __str__(self):
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def before_run(self, run_context):
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context, run_values):
        if np.isnan(run_values.results).any():
            from weft._core.platform import logging
            if self._fail_on_nan_loss:
                logging.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            logging.warning("Model diverged with loss = NaN.")
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError("invalid every_n_iter=%s." % every_n_iter)
        if not isinstance(tensors, dict):
            self._tag_order = list(tensors)
            tensors = dict(zip(tensors, tensors))
        else:
            self._tag_order = sorted(tensors)
        self._tensors, self._log_at_end, self._formatter = tensors, at_end, formatter
        self._timer = SecondOrStepTimer(every_n_secs, every_n_iter) if (every_n_iter or every_n_secs) else None

    def begin(self):
        if self._timer is not None:
            self._timer.reset()
        self._iter_count, graph = 0, get_default_graph()
        self._current_tensors = {tag: graph.as_graph_element(t) for tag, t in self._tensors.items()}

    def before_run(self, run_context):
        self._should_trigger = self._timer is not None and self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def _log_tensors(self, values):
        from weft._core.platform import logging
        secs = self._timer.update_last_triggered_step(self._iter_count)[0] if self._timer is not None else None
        if self._formatter:
            logging.info(self._formatter(values))
            return
        text = ", ".join("%s = %s" % (tag, values[tag]) for tag in self._tag_order)
        logging.info("%s (%.3f sec)", text, secs) if secs is not None else logging.info("%s", text)

    def after_run(self, run_context, run_values):
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session):
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


def as_saver(found):
    """Returns the saver for an item of the collection SAVERS, in which the library keeps its own savers as SaverDefs.

    A saver made from a SaverDef replaces it in the collection: savers list the checkpoints that they keep, so all users
    must share one.
    """
    from weft._core.train.saver import Saver
    if not isinstance(found, bytes):
        return found
    made, savers = Saver(saver_def=protos.SaverDef.FromString(found)), get_default_graph().get_collection_ref(GraphKeys.SAVERS)
    savers[:] = [made if s == found else s for s in savers]
    return made


class CheckpointSaverListener(metaclass=Named):
    def begin(self):
        pass

    def before_save(self, session, global_step_value):
        pass

    def after_save(self, session, global_step_value):
        pass

    def end(self, session, global_step_value):
        pass


class CheckpointSaverHook(_StepHook):
    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
                 scaffold=None, listeners=None, save_graph_def=True):
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._checkpoint_dir, self._save_path = checkpoint_dir, os.path.join(checkpoint_dir, checkpoint_basename)
        self._save_graph_def, self._steps_per_run = save_graph_def, 1
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._saver, self._scaffold, self._listeners = saver, scaffold, list(listeners or [])
        from weft._core.platform import logging
        logging.info("Create CheckpointSaverHook.")

    def begin(self):
        from weft._core.files.summary import FileWriterCache
        super().begin()
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        for listener in self._listeners:
            listener.begin()

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None and self._scaffold.saver is not None:
            return self._scaffold.saver
        savers = get_default_graph().get_collection(GraphKeys.SAVERS)
        if not savers:
            raise RuntimeError("No items in collection SAVERS. Please add a saver to the collection or provide a saver or "
                               "scaffold.")
        if len(savers) > 1:
            raise RuntimeError("More than one item in collection SAVERS. Please indicate which one to use by passing it to the "
                               "constructor.")
        return as_saver(savers[0])

    def _write_graph(self, graph):
        from weft._core.files.graph_io import write_graph
        from weft._core.train.meta_graph import export_meta_graph
        write_graph(graph.as_graph_def(add_shapes=True), self._checkpoint_dir, "graph.pbtxt")
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(export_meta_graph(graph=graph))

    def _save(self, session, step):
        from weft._core.platform import logging
        logging.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        for listener in self._listeners:
            listener.before_save(session, step)
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._get_saver().save(session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def)
        self._summary_writer.add_session_log(protos.SessionLog(
            status=protos.SessionLog.CHECKPOINT, checkpoint_path=self._save_path), step)
        logging.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                logging.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
                stop = True
        return stop

    def after_create_session(self, session, coord):
        step = int(session.run(self._global_step_tensor))
        if self._save_graph_def:
            self._write_graph(get_default_graph())
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._global_step_tensor))
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session):
        step = int(session.run(self._global_step_tensor))
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)
        self._summary_writer.flush()


class SummarySaverHook(_StepHook):
    def __init__(self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None, summary_op=None):
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op, self._scaffold = summary_op, scaffold
        self._output_dir, self._summary_writer = output_dir, summary_writer
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self):
        from weft._core.files.summary import FileWriterCache
        super().begin()
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step = None

    def _get_summary_op(self):
        """Returns the summary ops to run as a list, or None if there are none."""
        found = self._summary_op if self._summary_op is not None else self._scaffold.summary_op
        return found if found is None or isinstance(found, list) else [found]

    def before_run(self, run_context):
        found = self._get_summary_op()
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(self._next_step)
        fetches = {"global_step": self._global_step_tensor}
        if self._request_summary and found is not None:
            fetches["summary"] = found
        return SessionRunArgs(fetches)

    def after_run(self, run_context, run_values):
        if self._summary_writer is None:
            return
        step, first = int(run_values.results["global_step"]), self._next_step is None
        if self._request_summary:
            step = int(run_context.session.run(self._global_step_tensor))
        elif step < self._next_step:
            step += 1  # It was read before the run's update, or nothing updates it.
        if first:
            self._summary_writer.add_session_log(protos.SessionLog(status=protos.SessionLog.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session):
        if self._summary_writer is not None:
            self._summary_writer.flush()


class StepCounterHook(_StepHook):
    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._output_dir, self._summary_writer = output_dir, summary_writer
        self._summary_tag, self._last_global_step, self._steps_per_run = "global_step/sec", None, 1

    def begin(self):
        from weft._core.files.summary import FileWriterCache
        super().begin()
        self._summary_tag = self._global_step_tensor.op.name + "/sec"
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        from weft._core.platform import logging
        rate = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            self._summary_writer.add_summary(protos.Summary(value=[protos.Summary.Value(
                tag=self._summary_tag, simple_value=rate)]), global_step)
        logging.info("%s: %g", self._summary_tag, rate)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if self._timer.should_trigger_for_step(step + 1):
            step = int(run_context.session.run(self._global_step_tensor))
            if self._timer.should_trigger_for_step(step):
                secs, steps = self._timer.update_last_triggered_step(step)
                if secs is not None:
                    self._log_and_record(steps, secs, step)
        seen = int(run_values.results)
        if seen == self._last_global_step:
            from weft._core.platform import logging
            logging.log_first_n(logging.WARN, "It seems that global step (tf.train.get_global_step) has not been increased. Current value "
                                "(could be stable): %s vs previous value: %s. You could increase the global step by passing "
                                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.", 5, seen, seen)
        self._last_global_step = seen


class GlobalStepWaiterHook(_StepHook):
    def __init__(self, wait_until_step):
        self._wait_until_step, self._waiting = wait_until_step, True

    def before_run(self, run_context):
        from weft._core.platform import logging
        logged = False
        while self._waiting and self._wait_until_step > 0:
            if int(run_context.session.run(self._global_step_tensor)) >= self._wait_until_step:
                break
            if not logged:
                logging.info("Waiting for global step %d before starting training.", self._wait_until_step)
            logged = True
            time.sleep(0.5)
        self._waiting = False


class FinalOpsHook(SessionRunHook):
    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops, self._final_ops_feed_dict, self._final_ops_values = final_ops, final_ops_feed_dict, None

    final_ops_values = property(lambda self: self._final_ops_values)

    def end(self, session):
        if self._final_ops is not None:
            self._final_ops_values = session.run(self._final_ops, feed_dict=self._final_ops_feed_dict)


class FeedFnHook(SessionRunHook):
    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class ProfilerHook(_StepHook):
    """Writes timelines (timeline-STEP.json) at regular intervals of steps or seconds."""

    def __init__(self, save_steps=None, save_secs=None, output_dir="", show_dataflow=True, show_memory=False):
        self._output_dir, self._summary_writer, self._shown = output_dir, None, (show_dataflow, show_memory)
        os.makedirs(local(output_dir or "."), exist_ok=True)
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._timer, self._next_step = SecondOrStepTimer(save_secs, save_steps), None

    def begin(self):
        from weft._core.files.summary import FileWriterCache
        super().begin()
        if self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)

    def after_create_session(self, session, coord):
        if self._next_step is None:  # The timer counts from the step before the first run.
            self._timer.update_last_triggered_step(int(session.run(self._global_step_tensor)))

    def before_run(self, run_context):
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(self._next_step)
        options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs(self._global_step_tensor, options=options)

    def after_run(self, run_context, run_values):
        from weft._core.platform import logging
        step = int(run_values.results)
        if self._request_summary:
            step = int(run_context.session.run(self._global_step_tensor))
            self._timer.update_last_triggered_step(step)
            path = self._output_file.format(step)
            logging.info("Saving timeline for %d into '%s'.", step, path)
            with open(local(path), "w") as f:
                f.write(Timeline(run_values.run_metadata.step_stats).generate_chrome_trace_format(*self._shown))
            if self._summary_writer is not None:
                self._summary_writer.add_run_metadata(run_values.run_metadata, "step_%d" % step)
        self._next_step = step + 1


class SyncReplicasHook(SessionRunHook):
    """The hook of SyncReplicasOptimizer.make_session_run_hook; the library implements it (see Adapter)."""

    def __init__(self, sync, is_chief, num_tokens):
        self._sync, self._is_chief, self._tokens = sync, is_chief, num_tokens

    def _in_library(self):
        return self._sync._capsule_made("make_session_run_hook"), bool(self._is_chief), self._tokens
