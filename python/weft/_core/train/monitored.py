"""MonitoredTrainingSession and related classes: the library runs the session, and calls hooks through adapters."""
import inspect

from weft import _weft
from weft._core.framework import errors
from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.ops import array_ops
from weft._core.ops.control_flow import no_op
from weft._core.ops.variables import global_variables_initializer, report_uninitialized_variables
from weft._core.platform import logging
from weft._core.session import client, device_config
from weft._core.train.hooks import Adapter, CheckpointSaverHook, SessionRunArgs, StepCounterHook, SummarySaverHook, as_saver
from weft._core.train.own_session import OwnSession
from weft._core.train.supervisor import SessionManager, as_python_errors, choice, wrap_session

USE_DEFAULT = object()


class Scaffold(metaclass=Named):
    """Holds ops and savers of a model for a session; the library makes those that are not given."""

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None):
        """Args: copy_from_scaffold is another Scaffold, from which values that are not given are taken."""
        old = copy_from_scaffold
        if old is not None and not isinstance(old, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def chosen(value, name):
            return getattr(old, name) if value is None and old is not None else value
        self._user_init_fn = init_fn = chosen(init_fn, "_user_init_fn")
        self.init_fn = None if init_fn is None else lambda sess: init_fn(self, sess)
        self.init_op, self.init_feed_dict = chosen(init_op, "init_op"), chosen(init_feed_dict, "init_feed_dict")
        self.ready_op = chosen(ready_op, "ready_op")
        self.ready_for_local_init_op = chosen(ready_for_local_init_op, "ready_for_local_init_op")
        self.local_init_op = chosen(local_init_op, "local_init_op")
        self.local_init_feed_dict = chosen(local_init_feed_dict, "local_init_feed_dict")
        self.summary_op, self.saver = chosen(summary_op, "summary_op"), chosen(saver, "saver")

    def finalize(self):
        """Makes the ops that were not given, unless a collection of the graph has them, and finalizes the graph."""
        from weft._core.files.summary import merge_all
        from weft._core.train.saver import Saver

        defaults = dict(init_op=_initializer, ready_op=_uninitialized, ready_for_local_init_op=_uninitialized_global,
                        local_init_op=Scaffold.default_local_init_op, summary_op=merge_all)
        for name, make in defaults.items():
            if getattr(self, name) is None:
                setattr(self, name, Scaffold.get_or_default(name, name, make))
        if self.saver is None:
            self.saver = as_saver(Scaffold.get_or_default("saver", GraphKeys.SAVERS, lambda: Saver(
                sharded=True, allow_empty=True)))
        self.saver.build()
        get_default_graph().finalize()
        return self

    def _fill(self, graph):
        """Fills in the ops that the library made, once there is a session."""
        for name in ("init_op", "ready_op", "ready_for_local_init_op", "local_init_op", "summary_op"):
            found = graph.get_collection(name)
            if getattr(self, name) is None and found:
                setattr(self, name, found[0])
        found = graph.get_collection(GraphKeys.SAVERS)
        if self.saver is None and found:
            self.saver = as_saver(found[0])

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """Returns the only element of a collection.

        If it is empty, adds what the constructor makes to it and returns that.
        """
        found = get_default_graph().get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError("More than one item in collection %s. Please indicate which one to use by passing it to the "
                               "constructor (argument %s)." % (collection_key, arg_name))
        if found:
            return found[0]
        made = default_constructor()
        if made is not None:
            get_default_graph().add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op():
        """Returns an op that initializes local variables and tables."""
        from weft._core.ops.control_flow import group
        from weft._core.ops.lookup import tables_initializer
        from weft._core.ops.variables import local_variables_initializer
        return group(local_variables_initializer(), tables_initializer(), no_op(name="init"))


def _initializer():
    """Returns the op that initializes the variables and creates the resources that all tasks share."""
    from weft._core.ops.control_flow import group
    from weft._core.python_modules import resources
    return group(global_variables_initializer(), *[r.create for r in resources.shared_resources()], no_op(name="init"))


def _uninitialized():
    """Returns the names of the variables and resources that are not there."""
    from weft._core.python_modules import resources
    return array_ops.concat([report_uninitialized_variables(), resources.report_uninitialized_resources()], 0)


def _uninitialized_global():
    """Returns the names of those that all tasks share."""
    from weft._core.python_modules import resources
    found = report_uninitialized_variables(get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES))
    return array_ops.concat([found, resources.report_uninitialized_resources(resources.shared_resources())], 0)


def _make_ops_of_resources(scaffold):
    """Makes the ops that the library would make for variables alone, if the graph has resources."""
    if get_default_graph().get_collection(GraphKeys.RESOURCES):
        for name, make in (("init_op", _initializer), ("ready_op", _uninitialized), ("ready_for_local_init_op", _uninitialized_global)):
            if getattr(scaffold, name) is None and not get_default_graph().get_collection(name):
                setattr(scaffold, name, make())


_STOPPED = "Run called even after should_stop requested."


class SessionCreator(metaclass=Named):
    def create_session(self):
        raise NotImplementedError("create_session is not implemented for %s." % self)


class ChiefSessionCreator(SessionCreator):
    _chief = True

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        self._scaffold, self._master, self._config = scaffold or Scaffold(), master, config
        self._dir, self._path, self._wait = checkpoint_dir, checkpoint_filename_with_path, 7200

    def create_session(self):
        """Returns a session of the chief, which restores a checkpoint or runs the scaffold's init_op and init_fn."""
        made = self._scaffold.finalize()
        return _manager(made).prepare_session(
            self._master, made.init_op, made.saver, self._dir, self._path, config=self._config,
            init_feed_dict=made.init_feed_dict, init_fn=made.init_fn, max_wait_secs=self._wait)


class WorkerSessionCreator(SessionCreator):
    _chief, _dir, _path = False, None, None

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        self._scaffold, self._master, self._config, self._wait = scaffold or Scaffold(), master, config, max_wait_secs

    def create_session(self):
        """Returns a session of another worker, which waits until the chief has initialized the model."""
        return _manager(self._scaffold.finalize()).wait_for_session(self._master, self._config, self._wait)


def _manager(scaffold):
    return SessionManager(scaffold.local_init_op, scaffold.ready_op, scaffold.ready_for_local_init_op,
                          local_init_feed_dict=scaffold.local_init_feed_dict)


class _CoordinatedCreator:
    """The object that programs look for in a monitored session to reach the session that runs below the hooks."""

    def __init__(self, owner):
        self._owner = owner

    tf_sess = property(lambda self: self._owner._tf_sess())
    coord = property(lambda self: self._owner._coordinator)


class _WrappedSession:
    """One of the sessions that TensorFlow wraps around another; `_sess` is the next one inside."""

    def __init__(self, owner, inside):
        self._owner, self._inside = owner, inside

    _sess = property(lambda self: self._owner._tf_sess() if self._inside is None else self._inside)
    graph = property(lambda self: self._owner.graph)
    sess_str = property(lambda self: self._owner._tf_sess().sess_str)

    def run(self, *args, **kwargs):
        return self._owner.run(*args, **kwargs)

    def should_stop(self):
        return self._owner.should_stop()

    def close(self):
        self._owner.close()


def _chain(owner, names):
    inside = None
    for name in reversed(names):
        inside = type(name, (_WrappedSession,), {})(owner, inside)
    return inside


class MonitoredSession(metaclass=Named):
    """A session whose runs call hooks and survive the loss of a task."""

    _WRAPPERS = ("_RecoverableSession", "_CoordinatedSession", "_HookedSession")

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120, **more):
        logging.follow_handlers()
        creator = session_creator or ChiefSessionCreator()
        self._graph = graph = get_default_graph()
        self._was_finalized = graph.finalized
        self._exc, self._args, self._sessions, self._coordinator = None, SessionRunArgs(None), [], None
        self._fed_by_hooks, self._closed, self._entered, self._own, self._stop_asked = {}, False, [], None, False
        self._coordinated_creator, self._sess = _CoordinatedCreator(self), _chain(self, self._WRAPPERS)
        if type(creator).create_session not in (ChiefSessionCreator.create_session, WorkerSessionCreator.create_session):
            self._own = OwnSession(creator, hooks, stop_grace_period_secs)
            self._hooked, self._coordinator = self._own.session, self._own.coord
            return
        self._target, self._config = creator._master or "", creator._config
        self._hooks = [Adapter(h, self) for h in hooks or []]
        self._chief_hooks = [Adapter(h, self) for h in more.pop("chief_only_hooks", None) or []]
        scaffold = creator._scaffold
        if type(scaffold).finalize is not Scaffold.finalize:
            scaffold.finalize()  # Finalizes the scaffold that the program gave.
        if scaffold.init_op is None and graph._initializers_replaced:
            scaffold.init_op = global_variables_initializer()
        self._build_saver(scaffold, creator._chief)
        _make_ops_of_resources(scaffold)
        ops = tuple(choice(getattr(scaffold, n), None) for n in (
            "init_op", "local_init_op", "ready_op", "ready_for_local_init_op", "summary_op"))
        init_fn = None if scaffold.init_fn is None else (lambda c: scaffold.init_fn(self._lent(c)))
        config = device_config.session_config(creator._config).SerializeToString()
        options = dict(bare=True, save_secs=-1.0, save_steps=0, summary_steps=-1, summary_secs=0.0, log_steps=-1,
                       summary_dir=None)
        options.update(more)
        graph._sync_lists()
        try:
            with as_python_errors():
                self._c, self._keeper = _weft.monitored_create(
                    graph._c, creator._master or "", config, creator._chief, options["bare"], creator._dir, creator._path,
                    self._hooks, self._chief_hooks, ops, init_fn, None if scaffold.saver is None else scaffold.saver._made,
                    options["save_secs"], options["save_steps"], options["summary_steps"], options["summary_secs"],
                    options["log_steps"], options["summary_dir"], float(creator._wait), float(stop_grace_period_secs))
        except errors.OpError:
            self._reraise()
            raise
        scaffold._fill(graph)
        graph.finalize()
        self._hooked = wrap_session(self._c, graph, creator._master, creator._config, self)
        self._scaffold = scaffold

    def _build_saver(self, scaffold, chief):
        """Builds a saver whose build was deferred after all hooks have begun, because it also saves their variables."""
        waiting = [s for s in self._graph.get_collection(GraphKeys.SAVERS) if not isinstance(s, bytes)]
        saver = waiting[0] if scaffold.saver is None and len(waiting) == 1 else scaffold.saver
        if saver is None and not waiting and self._graph.get_collection(GraphKeys.SAVEABLE_OBJECTS):
            from weft._core.train.saver import Saver
            saver = Saver(sharded=True, allow_empty=True, defer_build=True)  # The library's saver would leave out the objects.
        if saver is None or saver._made is not None or saver._empty:
            return
        for hook in (self._chief_hooks if chief else []) + self._hooks:
            hook.begin()
        saver.build()
        scaffold.saver = saver

    def _lent(self, c_session):
        """Returns a Session for a session that the library lends to a hook."""
        made = wrap_session(c_session, self._graph, "", None, self)
        client._open_sessions.discard(made)
        self._sessions = self._sessions[-16:] + [made]
        return made

    def _reraise(self):
        exc, self._exc = self._exc, None
        if exc is not None:
            raise exc

    graph = property(lambda self: self._graph)

    def _is_closed(self):
        return self._closed

    def _tf_sess(self):
        """Returns the session below the hooks, or None if it is closed."""
        return None if self._closed else self.raw_session()

    def _check_hook_feeds(self, tensors):
        """Raises RuntimeError if a hook feeds a tensor that the program or another hook feeds too."""
        mine = {self._graph.as_graph_element(k, allow_operation=False)._out for k, _ in client._spread(self._args.feed_dict or {})}
        for by, fed in (("a SessionRunHook and user", mine), ("two hooks", self._fed_by_hooks)):
            conflicts = [t for t in tensors if t._out in fed]
            if conflicts:
                raise RuntimeError("Same tensor is fed by %s. Conflict(s): %s" % (by, conflicts))
        self._fed_by_hooks.update((t._out, t) for t in tensors)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        before, self._args = self._args, SessionRunArgs(fetches, feed_dict, options)
        self._fed_by_hooks, self._exc, self._stop_asked = {}, None, False
        try:
            if self._own is not None:
                return self._own.run(self._args, run_metadata)
            return self._hooked.run(fetches, feed_dict, options, run_metadata)
        except errors.OpError as e:
            self._reraise()
            if isinstance(e, errors.FailedPreconditionError) and e.message.startswith(_STOPPED):
                raise RuntimeError(_STOPPED) from None
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
                _weft.monitored_request_stop(owner._c) if owner._own is None else owner._own.request_stop()
                raise StopIteration("step_fn has requested the iterations to stop.")
        names = tuple(inspect.signature(step_fn).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if it's "
                             "an instance method. Got %s instead." % (names,))
        return step_fn(StepContext())

    def raw_session(self):
        if self._own is not None:
            return self._own.session
        raw = _weft.monitored_raw(self._c)
        return None if raw is None else self._lent(raw)

    def should_stop(self):
        return self._closed or (_weft.monitored_should_stop(self._c) if self._own is None else self._own.should_stop())

    def close(self):
        self._close(0)

    def _close(self, why):
        if self._closed:
            raise RuntimeError("Session is already closed.")
        self._closed = True
        try:
            self._close_session(why)
        finally:
            if not self._was_finalized:
                self._graph._unsafe_unfinalize()  # The program may extend the graph again, as in TensorFlow.

    def _close_session(self, why):
        if self._own is not None:
            self._own.close(why in (0, errors.OUT_OF_RANGE))
            return
        try:
            _weft.monitored_close(self._c, why)
        except errors.OpError:
            self._reraise()
            raise
        finally:
            self._hooked._closed = True

    def __enter__(self):
        graph, session = self._graph.as_default(), self._hooked.as_default()
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
    _WRAPPERS = ("_CoordinatedSession", "_HookedSession")

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
                 checkpoint_filename_with_path=None):
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path), hooks,
                         stop_grace_period_secs)


def _writes_beside(hooks, folder, summary_dir):
    """Is there, or will there be, another writer of events for a folder of a session?

    The library's hooks write to a file of the session.  A folder has one file at a time, as in TensorFlow: a reader
    such as TensorBoard goes on to the newest file and does not look for events that are added to an older one.
    """
    from weft._core.files.summary import FileWriterCache
    folders = {folder, summary_dir}
    used = {*FileWriterCache._writers, *(getattr(h, name, None) for h in hooks for name in ("_checkpoint_dir", "_output_dir"))}
    return folder != summary_dir or bool(folders & used)


def _writing_hooks(options, scaffold, folder, summary_dir):
    """Returns the hooks that count steps, write summaries and save checkpoints, written in Python: they share the
    writers of FileWriterCache. The options no longer ask the library for its own.
    """
    hooks, summaries = [], (options["summary_steps"], options["summary_secs"])
    if options["log_steps"] >= 0:
        hooks.append(StepCounterHook(options["log_steps"] or 100, output_dir=summary_dir))
    if summaries == (0, 0.0):
        summaries = (100, 0.0)
    if summaries[0] > 0 or summaries[1] > 0:
        hooks.append(SummarySaverHook(summaries[0] if summaries[0] > 0 else None, summaries[1] or None, summary_dir, scaffold=scaffold))
    secs = 600.0 if options["save_steps"] == 0 and options["save_secs"] == 0 else options["save_secs"]
    if folder and (options["save_steps"] > 0 or secs > 0):
        hooks.append(CheckpointSaverHook(folder, secs if secs > 0 else None, options["save_steps"] or None, scaffold=scaffold))
    options.update(log_steps=-1, summary_steps=-1, summary_secs=0.0, save_steps=0, save_secs=-1.0)
    return hooks


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
    summary_dir = summary_dir or checkpoint_dir
    if is_chief:
        scaffold = scaffold or Scaffold()
        if summary_dir and _writes_beside([*(chief_only_hooks or []), *(hooks or [])], checkpoint_dir, summary_dir):
            own = _writing_hooks(options, scaffold, checkpoint_dir, summary_dir)
            options["chief_only_hooks"] = [*(chief_only_hooks or []), *own]
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
        creator._wait = max_wait_secs
    else:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
    return MonitoredSession(creator, hooks, stop_grace_period_secs, **options)
