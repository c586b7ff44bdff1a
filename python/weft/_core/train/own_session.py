"""The session of a SessionCreator that a program wrote itself, with hooks around its runs.

The library opens and recovers the sessions of its own creators. It cannot reopen a session that a program made, so this
module calls the hooks, in TensorFlow's order.
"""
import contextlib

from weft._core.framework import errors, protos
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.train.coordinator import Coordinator, start_queue_runners
from weft._core.train.hooks import SessionRunContext, SessionRunValues


class OwnSession:
    def __init__(self, creator, hooks, stop_grace_period_secs):
        self.hooks, self._grace = list(hooks or []), stop_grace_period_secs
        for hook in self.hooks:
            hook.begin()
        self.session, self.coord, self._stop = creator.create_session(), Coordinator(), False
        self._threads = []
        if get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            self._threads = start_queue_runners(self.session, self.coord)
        for hook in self.hooks:
            hook.after_create_session(self.session, self.coord)

    def run(self, args, run_metadata):
        """Runs the fetches of the program and of the hooks once. args is the program's SessionRunArgs."""
        fetches, feeds, context = {"program": args.fetches}, dict(args.feed_dict or {}), SessionRunContext(args, self.session)
        options = protos.RunOptions()
        if args.options is not None:
            options.CopyFrom(args.options)
        for i, hook in enumerate(self.hooks):
            asked = hook.before_run(context)
            if asked is not None:
                self._add(i, asked, fetches, feeds, options)
        metadata = protos.RunMetadata() if run_metadata is None else run_metadata
        found = self.session.run(fetches, feeds, options, metadata)
        for i, hook in enumerate(self.hooks):
            hook.after_run(context, SessionRunValues(found.get(i), options, metadata))
            self._stop = self._stop or context.stop_requested
        return found["program"]

    @staticmethod
    def _add(i, asked, fetches, feeds, options):
        if asked.fetches is not None:
            fetches[i] = asked.fetches
        both = [t for t in asked.feed_dict or {} if t in feeds]
        if both:
            raise RuntimeError("Same tensor is fed by a SessionRunHook and user. Conflict(s): %s" % both)
        feeds.update(asked.feed_dict or {})
        if asked.options is not None:
            options.trace_level = max(options.trace_level, asked.options.trace_level)

    def should_stop(self):
        return self._stop or self.coord.should_stop()

    def request_stop(self):
        self._stop = True

    def close(self, clean):
        """Ends the hooks, unless an error ended the program's loop, and closes the session."""
        try:
            if clean:
                for hook in self.hooks:
                    hook.end(self.session)
        finally:
            self.coord.request_stop()
            try:
                self.coord.join(self._threads, stop_grace_period_secs=self._grace, ignore_live_threads=True)
            finally:
                with contextlib.suppress(errors.AbortedError, errors.UnavailableError):  # The master has lost it already.
                    self.session.close()
