"""tensorflow.python.training.monitored_session._HookedSession: hooks around the runs of a session that the program made."""
import collections

import weft as tf
from weft._core.train.hooks import SessionRunContext, SessionRunValues

_OPTIONS = ("trace_level", "timeout_in_ms", "output_partition_graphs", "report_tensor_allocations_upon_oom")


def _merge_options(into, asked):
    """Merges the options that a hook asks for: the highest trace level, the longest limit, and what any of them switches on."""
    for name in _OPTIONS:
        setattr(into, name, max(getattr(into, name), getattr(asked, name)))
    into.debug_options.debug_tensor_watch_opts.extend(asked.debug_options.debug_tensor_watch_opts)


class _HookedSession:
    """Calls before_run() and after_run() of hooks at each run of a session."""

    def __init__(self, sess, hooks):
        self._sess, self._hooks, self._stopped = sess, hooks, False

    graph = property(lambda self: self._sess.graph)
    sess_str = property(lambda self: self._sess.sess_str)

    def should_stop(self):
        """Returns whether a hook asked to stop, or the session did."""
        return self._stopped or (hasattr(self._sess, "should_stop") and self._sess.should_stop())

    def close(self):
        """Closes the session."""
        self._sess.close()

    def _ask(self, context, fetches, feeds, options):
        """Calls before_run of each hook, and merges what they ask for into the fetches, feeds and options of the run."""
        for hook in self._hooks:
            asked = hook.before_run(context)
            if asked is None:
                continue
            if asked.fetches is not None:
                fetches[hook] = asked.fetches
            for tensor, value in (asked.feed_dict or {}).items():
                if tensor in feeds:
                    raise RuntimeError("Same tensor is fed by two hooks or by the program and a hook: %r" % (tensor,))
                feeds[tensor] = value
            if asked.options is not None:
                _merge_options(options, asked.options)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs the fetches with what the hooks ask for, and tells the hooks their values."""
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        asked = collections.OrderedDict(caller=fetches)
        feeds, merged = dict(feed_dict or {}), tf.RunOptions()
        if options is not None:
            merged.CopyFrom(options)
        context = SessionRunContext(tf.train.SessionRunArgs(fetches, feed_dict), self._sess)
        self._ask(context, asked, feeds, merged)
        metadata = run_metadata if run_metadata is not None else tf.RunMetadata()
        values = self._sess.run(asked, feed_dict=feeds, options=merged, run_metadata=metadata)
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(values.get(hook), merged, metadata))
        self._stopped = self._stopped or context.stop_requested
        return values["caller"]

    def run_step_fn(self, step_fn, raw_session, run_with_hooks):
        """Calls step_fn with a context whose run_with_hooks is this session's run."""
        return step_fn(tf.train.MonitoredSession.StepContext(raw_session, run_with_hooks or self.run))
