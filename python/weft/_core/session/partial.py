"""Session.partial_run: a step that is fed and fetched in several calls, which find it by its handle."""
import threading
import weakref

from weft._core.framework import errors
from weft._core.session.conversions import feed_keys


class PartialRuns:
    """Finds the partial runs of a session by their string handles."""

    def __init__(self, session):
        # A weak reference, because the session owns this object: a cycle would keep the session until a garbage
        # collection.
        self._owner, self._runs, self._count, self._lock = weakref.ref(session), {}, 0, threading.Lock()

    @property
    def _session(self):
        return self._owner()

    def setup(self, fetch, feeds):
        session = self._session
        graph = session.graph
        feeds = [] if feeds is None else feeds if isinstance(feeds, (list, tuple)) else [feeds]
        feeds = [key for feed in feeds for key in feed_keys(feed) or [feed]]
        outs = [graph.as_graph_element(f, allow_operation=False)._out for f in feeds]
        handle = self._handle(outs, fetch)
        try:
            made = session._c.prepare(outs, fetch.outs, fetch.targets, True)
        except errors.OpError as e:
            raise session._runner.placed(e) from None
        self._runs[handle] = made
        return handle

    def _handle(self, feeds, fetch):
        """Returns the text that TensorFlow's session gives: the names and a number in one process, otherwise a number.
        """
        with self._lock:
            number, self._count = self._count, self._count + 1
        if self._session.sess_str:
            return str(number)
        graph = self._session.graph
        names = [sorted(graph._tensor(o).name for o in outs) for outs in (feeds, fetch.outs)]
        names.append(sorted(graph._operation(o >> 16).name for o in fetch.targets))
        return "%s->%s/%s/1/;%d" % (*map(",".join, names), number)

    def run(self, handle, fetch, feeds):
        session = self._session
        if fetch.targets:
            raise RuntimeError("partial_run() requires empty `target_list`. Received: target_list=%s (non-empty)" % (
                [session.graph._operation(o >> 16) for o in fetch.targets],))
        made = self._runs.get(handle)
        if made is None:
            raise errors.InvalidArgumentError(None, None, "Must run PartialRunSetup before performing partial runs"
                                              if session.sess_str else "Must run 'setup' before performing partial runs!")
        try:
            values = made.partial_run(feeds, fetch.outs)
        except errors.OpError as e:
            raise session._runner.placed(e) from None
        finally:
            if made.over():
                self._runs.pop(handle, None)
        return fetch.rebuild(session._runner.as_text(values))

    def finish(self):
        self._runs.clear()
