"""tf.train.Supervisor: the library initializes, waits, saves and recovers. Python threads may run beside it."""
import contextlib

from weft import _weft
from weft._core.framework import errors
from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.ops.gradients import _out
from weft._core.ops.variables import global_variables_initializer
from weft._core.session import client, device_config
from weft._core.train.coordinator import Coordinator, LooperThread


def choice(given, default):
    """Returns an op or tensor in the form that the extension takes: None for the default, -1 for no op."""
    if given is default:
        return None
    return -1 if given is None else _out(given) if not hasattr(given, "outputs") else given._out


def wrap_session(c_session, graph, target, config, owner):
    """Returns a Session around one that the library made."""
    made = object.__new__(client.Session)
    made._begin(graph, target, config, c_session)
    made._entered, made._owner = [], owner
    return made


def borrowed_coordinator(capsule):
    made = Coordinator()
    made._made = capsule
    return made


@contextlib.contextmanager
def as_python_errors():
    """Converts the library's errors for a model that is not ready, or a checkpoint that is not there, to the errors that
    TensorFlow raises in Python: RuntimeError and ValueError.
    """
    try:
        yield
    except errors.InvalidArgumentError as e:
        if e._facts & errors.Fact.NO_CHECKPOINT:
            raise ValueError(e.message) from None
        raise
    except errors.FailedPreconditionError as e:
        if e._facts & errors.Fact.MODEL_NOT_READY:
            raise RuntimeError(e.message) from None
        raise


class SessionManager(metaclass=Named):
    """Returns sessions with a ready model: restored from a checkpoint, initialized, or initialized by the chief."""

    def __init__(self, local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None, recovery_wait_secs=30,
                 local_init_run_options=None, local_init_feed_dict=None):
        """Args: local_init_run_options and local_init_feed_dict are used in the run of local_init_op."""
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op [%s]" % (
                ready_for_local_init_op,))
        self._graph = graph if graph is not None else get_default_graph()
        self._ops = (ready_op, ready_for_local_init_op, local_init_op)
        self._recovery_wait_secs, self._run_options = recovery_wait_secs, local_init_run_options
        self._local_feed = local_init_feed_dict

    def _call(self, fn, master, config, init_op=None, saver=None, checkpoint_dir=None, checkpoint_path=None, wait=False,
              max_wait_secs=7200, init_feed_dict=None, init_fn=None):
        graph = self._graph
        feeds, local_feeds = (client._feeds(graph, {}, d or {}) for d in (init_feed_dict, self._local_feed))
        started = None if init_fn is None else (lambda c: init_fn(wrap_session(c, graph, master, config, self)))
        with as_python_errors():
            made, ready = fn(graph._c, master or "", device_config.session_config(config).SerializeToString(),
                             tuple(choice(op, 0) for op in (*self._ops, init_op)), feeds, local_feeds,
                             timeout_of(self._run_options), float(self._recovery_wait_secs), wait_secs(max_wait_secs),
                             started, None if saver is None else saver._made, checkpoint_dir, checkpoint_path, bool(wait))
        return wrap_session(made, graph, master, config, self), ready

    def prepare_session(self, master, init_op=None, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200, config=None, init_feed_dict=None, init_fn=None):
        """Returns a session of the chief; it restores a checkpoint, or runs init_op and init_fn."""
        _check_checkpoint(checkpoint_dir, checkpoint_filename_with_path)
        return self._call(_weft.manager_prepare, master, config, init_op, saver, checkpoint_dir,
                          checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, init_feed_dict, init_fn)[0]

    def recover_session(self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200, config=None):
        """Returns a session, and whether a checkpoint was restored and the model is ready. It initializes nothing."""
        _check_checkpoint(checkpoint_dir, checkpoint_filename_with_path)
        return self._call(_weft.manager_recover, master, config, None, saver, checkpoint_dir,
                          checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs)

    def wait_for_session(self, master, config=None, max_wait_secs=float("inf")):
        """Returns a session of another worker once the chief has initialized the model."""
        return self._call(_weft.manager_wait, master, config, max_wait_secs=max_wait_secs)[0]


def _check_checkpoint(folder, path):
    if folder and path:
        raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")


def timeout_of(run_options):
    """Returns the timeout in RunOptions, in ms; the other options concern traces, which are not used here."""
    return 0 if run_options is None else int(run_options.timeout_in_ms)


def wait_secs(max_wait_secs):
    """Returns the seconds as the library takes them; no limit is passed as 2**32 seconds (136 years)."""
    return 2.0 ** 32 if max_wait_secs is None else min(float(max_wait_secs), 2.0 ** 32)


class Supervisor(metaclass=Named):
    USE_DEFAULT = 0

    def __init__(self, graph=None, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT, is_chief=True,
                 init_op=USE_DEFAULT, init_feed_dict=None, local_init_op=USE_DEFAULT, logdir=None, summary_op=USE_DEFAULT,
                 saver=USE_DEFAULT, global_step=USE_DEFAULT, save_summaries_secs=120, save_model_secs=600,
                 recovery_wait_secs=30, stop_grace_secs=120, checkpoint_basename="model.ckpt", session_manager=None,
                 summary_writer=USE_DEFAULT, init_fn=None, local_init_run_options=None):
        from weft._core.platform import logging
        logging.follow_handlers()
        graph = self._graph = graph or get_default_graph()
        default = Supervisor.USE_DEFAULT
        logdir = logdir or None  # An empty name means no folder.
        self._is_chief, self._logdir, self._stop_grace = bool(is_chief), logdir, stop_grace_secs
        self._given = dict(init_op=init_op, ready_op=ready_op, local_init_op=local_init_op, summary_op=summary_op,
                           global_step=global_step, ready_for_local_init_op=ready_for_local_init_op)
        self._save_model_secs, self._save_summaries_secs = (save_model_secs, save_summaries_secs) if is_chief else (None, None)
        self._saver_given, self._writer_given = saver, summary_writer
        self._manager_given, self._init_feed_dict, self._init_fn = session_manager, init_feed_dict, init_fn
        self._recovery_wait_secs, self._local_init_run_options = recovery_wait_secs, local_init_run_options
        if init_op is default and graph._initializers_replaced:
            with graph.as_default():
                init_op = global_variables_initializer()
        ops = tuple(choice(v, default) for v in (init_op, local_init_op, ready_op, ready_for_local_init_op, summary_op,
                                                 global_step))
        feeds = client._feeds(graph, {}, init_feed_dict or {})
        started = None if init_fn is None else (
            lambda c: init_fn(wrap_session(c, graph, "", None, self)))
        first_tokens = graph.__dict__.get("_first_tokens", []) if is_chief else []
        # The program itself enqueues the first tokens of a SyncReplicasOptimizer, once; a ps that died has lost them.
        recovered = (lambda c: wrap_session(c, graph, "", None, self).run(first_tokens)) if first_tokens else None
        self._collect(graph)
        self._verify()
        graph._sync_lists()
        self._made = _weft.supervisor_create(
            graph._c, self._is_chief, logdir, ops, feeds, started, recovered, _part(saver, default), _part(summary_writer, default),
            float(save_summaries_secs) or -1.0, float(save_model_secs) or -1.0, float(recovery_wait_secs),
            float(stop_grace_secs), checkpoint_basename, timeout_of(local_init_run_options))
        coordinator, self._c_saver, self._c_writer, step, self._save_path = _weft.supervisor_parts(self._made)
        self._coord, self._step = borrowed_coordinator(coordinator), step
        self._runner_sessions = []
        graph.finalize()

    def _collect(self, graph):
        """Adds the global step that the program gave to the collection GLOBAL_STEP, where the library looks for it."""
        if not graph.get_collection(GraphKeys.GLOBAL_STEP) and self._given["global_step"] not in (0, None):
            step = self._given["global_step"]
            if hasattr(step, "name"):
                graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)

    def _verify(self):
        if not self._is_chief:
            for op in self._graph.get_operations():
                if op.type in ("Variable", "VariableV2") and not op.device:
                    raise ValueError("When using replicas, all Variables must have their device set: %s" % op.name)

    # ---- properties ----

    is_chief = property(lambda self: self._is_chief)
    coord = property(lambda self: self._coord)
    graph = property(lambda self: self._graph)
    save_path = property(lambda self: self._save_path)
    save_model_secs = property(lambda self: self._save_model_secs)
    save_summaries_secs = property(lambda self: self._save_summaries_secs)
    init_op = property(lambda self: self._part_of("init_op"))
    ready_op = property(lambda self: self._part_of("ready_op"))
    ready_for_local_init_op = property(lambda self: self._part_of("ready_for_local_init_op"))
    summary_op = property(lambda self: self._part_of("summary_op"))
    init_feed_dict = property(lambda self: self._init_feed_dict)

    def _part_of(self, name):
        """Returns what the program gave, or the item that the library put into the collection of that name."""
        given = self._given[name]
        if given is not Supervisor.USE_DEFAULT:
            return given
        found = self._graph.get_collection(name)
        return found[0] if found else None

    @property
    def session_manager(self):
        if self._manager_given is None:
            self._manager_given = SessionManager(
                local_init_op=self._part_of("local_init_op"), ready_op=self.ready_op,
                ready_for_local_init_op=self.ready_for_local_init_op, graph=self._graph,
                recovery_wait_secs=self._recovery_wait_secs, local_init_run_options=self._local_init_run_options)
            self._own_manager = True
        return self._manager_given

    @property
    def global_step(self):
        given = self._given["global_step"]
        if given is not Supervisor.USE_DEFAULT:
            return given
        from weft._core.ops.variables import variable_of
        return None if self._step < 0 else variable_of(self._graph, self._graph._tensor(self._step).name)

    @property
    def saver(self):
        from weft._core.train.saver import Saver
        if isinstance(self._saver_given, Saver) or self._c_saver is None:
            return self._saver_given or None
        made = object.__new__(Saver)
        made._made, made._graph, made._empty, made._owner = self._c_saver, self._graph, False, self
        return made

    @property
    def summary_writer(self):
        from weft._core.files.summary import FileWriter
        if isinstance(self._writer_given, FileWriter) or self._c_writer is None:
            return self._writer_given or None
        made = object.__new__(FileWriter)
        made._made, made._dir, made._closed, made._owner = self._c_writer, self._logdir, False, self
        return made

    # ---- sessions ----

    def _session(self, master, config, for_checkpoint, max_wait_secs, services):
        if self._manager_given is not None and not self.__dict__.get("_own_manager"):
            return self._session_of(self._manager_given, master, config, for_checkpoint, max_wait_secs, services)
        data = device_config.session_config(config).SerializeToString()
        with as_python_errors():
            made = _weft.supervisor_session(self._made, master or "", data, wait_secs(max_wait_secs), bool(for_checkpoint),
                                            bool(services))
        return wrap_session(made, self._graph, master, config, self)

    def _session_of(self, manager, master, config, for_checkpoint, max_wait_secs, services):
        """Returns a session that the program's own session manager makes."""
        from weft._core.platform import logging
        if self._is_chief:
            sess = manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn)
            if services:
                logging.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = manager.wait_for_session(master, config=config, max_wait_secs=max_wait_secs)
        if services:
            logging.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def prepare_or_wait_for_session(self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200,
                                    start_standard_services=True):
        self._coord.clear_stop()
        return self._session(master, config, wait_for_checkpoint, max_wait_secs, start_standard_services)

    PrepareSession = prepare_or_wait_for_session

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
            with sess.as_default():
                yield sess
        except Exception as e:
            self.request_stop(e)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    with contextlib.suppress(errors.OpError):
                        sess.close()

    def start_standard_services(self, sess):
        if not self.is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can write events.")
        _weft.supervisor_start_services(self._made, sess._c)
        return []

    StartStandardServices = start_standard_services

    def start_queue_runners(self, sess, queue_runners=None):
        if queue_runners is None:
            return [None] * _weft.supervisor_start_queue_runners(self._made, sess._c)
        own = sess
        # Closing the session ends waits that would never end. Without a server each session has its own variables. A runner of
        # SyncReplicasOptimizer uses the program's session, which recovers: without it no worker gets a token after a ps was lost.
        if sess._target and not self._graph.__dict__.get("_first_tokens"):
            own = client.Session(sess._target, sess.graph, sess._config)
            self._runner_sessions.append(own)
        return [t for qr in queue_runners for t in qr.create_threads(own, coord=self._coord, daemon=True, start=True)]

    StartQueueRunners = start_queue_runners

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        made = LooperThread(self._coord, timer_interval_secs, target, args, kwargs)
        made.start()
        return made

    Loop = loop

    # ---- the end ----

    def should_stop(self):
        return self._coord.should_stop()

    ShouldStop = should_stop

    def request_stop(self, ex=None):
        self._coord.request_stop(ex)

    RequestStop = request_stop

    def stop_on_exception(self):
        return self._coord.stop_on_exception()

    StopOnException = stop_on_exception

    def wait_for_stop(self):
        self._coord.wait_for_stop()

    WaitForStop = wait_for_stop

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        self._coord.request_stop()
        mine = list(self._coord._threads)
        for t in mine:
            t.join(self._stop_grace)
        try:
            _weft.supervisor_stop(self._made, not close_summary_writer, ignore_live_threads)
        except errors.OpError:
            if self._coord._exc is None:
                raise
        finally:  # The queue runners have closed their queues by now.
            while self._runner_sessions:
                self._runner_sessions.pop()._finish()
        if self._coord._exc is not None:
            ex, self._coord._exc = self._coord._exc, None
            raise ex

    Stop = stop

    def summary_computed(self, sess, summary, global_step=None):
        if not self.summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        data = summary.SerializeToString() if hasattr(summary, "SerializeToString") else bytes(summary)
        _weft.supervisor_add_summary(self._made, sess._c, data, None if global_step is None else int(global_step))

    SummaryComputed = summary_computed


def _part(given, default):
    """Returns a saver or writer in the form that the extension takes: None for the default, False for none."""
    return None if given is default else False if given is None else given._made


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls train_step_fn(session, *args, **kwargs) until the supervisor stops; after an error of a task it starts
    again.
    """
    from weft._core.framework import errors
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
                return
        except errors.AbortedError:
            continue
