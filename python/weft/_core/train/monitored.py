"""MonitoredTrainingSession and its kin: the library opens, recovers and closes; hooks are called through adapters."""
from weft import _weft
from weft._core.framework import errors, protos
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.session import client
from weft._core.train.hooks import Adapter, SessionRunArgs
from weft._core.train.supervisor import choice, wrap_session

USE_DEFAULT = object()


class Scaffold:
    """Ops and savers of a model, gathered for a session; what is not given, the library makes."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None):
        old = copy_from_scaffold
        self.init_op, self.init_feed_dict = init_op or getattr(old, "init_op", None), init_feed_dict
        self.init_fn = None if init_fn is None else lambda sess: init_fn(self, sess)
        self.ready_op = ready_op if ready_op is not None else getattr(old, "ready_op", None)
        self.ready_for_local_init_op, self.local_init_op = ready_for_local_init_op, local_init_op
        self.summary_op, self.saver = summary_op, saver if saver is not None else getattr(old, "saver", None)

    def finalize(self):
        from weft._core.ops.variables import global_variables_initializer
        from weft._core.train.saver import Saver
        if self.init_op is None:
            self.init_op = global_variables_initializer()
        if self.saver is None and get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES):
            self.saver = Saver(sharded=True, allow_empty=True)
        get_default_graph().finalize()
        return self

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        found = get_default_graph().get_collection(collection_key)
        if found:
            return found[0]
        made = default_constructor()
        get_default_graph().add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op():
        from weft._core.ops.control_flow import group
        from weft._core.ops.variables import local_variables_initializer
        return group(local_variables_initializer())


class SessionCreator:
    def create_session(self):
        raise NotImplementedError("create_session is not implemented for %s." % self)


class ChiefSessionCreator(SessionCreator):
    _chief = True

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold, self._master, self._config = scaffold or Scaffold(), master, config
        self._dir, self._path, self._wait = checkpoint_dir, checkpoint_filename_with_path, 7200


class WorkerSessionCreator(SessionCreator):
    _chief, _dir, _path = False, None, None

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        self._scaffold, self._master, self._config, self._wait = scaffold or Scaffold(), master, config, max_wait_secs


class MonitoredSession:
    """A session whose runs call hooks and survive the loss of a task."""

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120, **more):
        creator = session_creator or ChiefSessionCreator()
        self._graph = graph = get_default_graph()
        self._exc, self._args, self._sessions, self._coordinator = None, None, [], None
        self._target, self._config = creator._master or "", creator._config
        self._hooks = [Adapter(h, self) for h in hooks or []]
        self._chief_hooks = [Adapter(h, self) for h in more.pop("chief_only_hooks", None) or []]
        scaffold = creator._scaffold
        ops = tuple(choice(getattr(scaffold, n), None) for n in (
            "init_op", "local_init_op", "ready_op", "ready_for_local_init_op", "summary_op"))
        init_fn = None if scaffold.init_fn is None else (lambda c: scaffold.init_fn(self._lent(c)))
        config = (creator._config or protos.ConfigProto()).SerializeToString()
        options = dict(bare=True, save_secs=-1.0, save_steps=0, summary_steps=-1, summary_secs=0.0, log_steps=-1,
                       summary_dir=None)
        options.update(more)
        try:
            self._c, self._keeper = _weft.monitored_create(
                graph._c, creator._master or "", config, creator._chief, options["bare"], creator._dir, creator._path,
                self._hooks, self._chief_hooks, ops, init_fn, None if scaffold.saver is None else scaffold.saver._made,
                options["save_secs"], options["save_steps"], options["summary_steps"], options["summary_secs"],
                options["log_steps"], options["summary_dir"], float(creator._wait), float(stop_grace_period_secs))
        except errors.OpError:
            self._reraise()
            raise
        graph.finalize()
        self._sess = wrap_session(self._c, graph, creator._master, creator._config, self)
        self._scaffold, self._is_closed, self._entered = scaffold, False, []

    def _lent(self, c_session):
        """A session that the library lends to a hook."""
        made = wrap_session(c_session, self._graph, "", None, self)
        client._open_sessions.discard(made)
        self._sessions = self._sessions[-16:] + [made]
        return made

    def _reraise(self):
        exc, self._exc = self._exc, None
        if exc is not None:
            raise exc

    graph = property(lambda self: self._graph)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self._is_closed:
            raise RuntimeError("Attempted to use a closed Session.")
        before, self._args = self._args, SessionRunArgs(fetches, feed_dict, options)
        try:
            return self._sess.run(fetches, feed_dict, options, run_metadata)
        except errors.OpError:
            self._reraise()
            raise
        finally:
            self._args = before

    def run_step_fn(self, step_fn):
        owner = self

        class StepContext:
            session = property(lambda self: owner.raw_session())

            def run_with_hooks(self, *args, **kwargs):
                return owner.run(*args, **kwargs)

            def request_stop(self):
                _weft.monitored_request_stop(owner._c)
                raise StopIteration("step_fn has requested the iterations to stop.")
        return step_fn(StepContext())

    def raw_session(self):
        raw = _weft.monitored_raw(self._c)
        return None if raw is None else self._lent(raw)

    def should_stop(self):
        return self._is_closed or _weft.monitored_should_stop(self._c)

    def close(self):
        self._close(0)

    def _close(self, why):
        if self._is_closed:
            return
        self._is_closed = True
        try:
            _weft.monitored_close(self._c, why)
        except errors.OpError:
            self._reraise()
            raise
        finally:
            self._sess._closed = True

    def __enter__(self):
        graph, session = self._graph.as_default(), self._sess.as_default()
        graph.__enter__()
        session.__enter__()
        self._entered.append((graph, session))
        return self

    def __exit__(self, kind, value, trace):
        graph, session = self._entered.pop()
        clean = kind is not None and issubclass(kind, (errors.OutOfRangeError, StopIteration))
        try:
            why = errors.OUT_OF_RANGE if clean else 0 if kind is None else getattr(value, "error_code", errors.UNKNOWN)
            try:
                self._close(why)
            except Exception:
                if kind is None or clean:
                    raise
        finally:
            session.__exit__(None, None, None)
            graph.__exit__(None, None, None)
        return clean


class SingularMonitoredSession(MonitoredSession):
    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
                 checkpoint_filename_with_path=None):
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path), hooks,
                         stop_grace_period_secs)


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None,
                             chief_only_hooks=None, save_checkpoint_secs=USE_DEFAULT, save_summaries_steps=USE_DEFAULT,
                             save_summaries_secs=USE_DEFAULT, config=None, stop_grace_period_secs=120,
                             log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=USE_DEFAULT,
                             summary_dir=None):
    options = dict(bare=False, chief_only_hooks=chief_only_hooks, summary_dir=summary_dir)
    given = save_checkpoint_steps not in (USE_DEFAULT, None)
    options["save_steps"] = int(save_checkpoint_steps) if given else 0
    options["save_secs"] = (0.0 if not given else -1.0) if save_checkpoint_secs is USE_DEFAULT else float(
        save_checkpoint_secs or -1)
    if save_checkpoint_steps is None and save_checkpoint_secs is USE_DEFAULT:
        options["save_secs"] = 0.0
    by_secs = save_summaries_secs not in (USE_DEFAULT, None)
    options["summary_secs"] = float(save_summaries_secs) if by_secs else 0.0
    options["summary_steps"] = 0 if save_summaries_steps is USE_DEFAULT else int(save_summaries_steps or -1)
    options["log_steps"] = int(log_step_count_steps or -1)
    if is_chief:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
        creator._wait = max_wait_secs
    else:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
    return MonitoredSession(creator, hooks, stop_grace_period_secs, **options)
