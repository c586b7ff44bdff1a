"""tf.contrib.summary: nodes that write to an event file themselves, in those steps that record.

A writer is a resource of the graph.  The functions below add a node that writes to the default writer, under a
condition which is constant or a tensor.
"""
import contextlib
import getpass
import os
import re
import threading
import time

from weft._core.distribute import context
from weft._core.framework import dtypes
from weft._core.framework.absent import Named
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import Graph, Tensor, control_dependencies, device, get_default_graph, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.control_flow import no_op, smart_cond

_OPS, _WRITERS = "_SUMMARY_V2", "_SUMMARY_WRITER_V2"


class _State(threading.local):
    def __init__(self):
        self.writer, self.condition = None, False


_state = _State()


class SummaryWriter(metaclass=Named):
    """An event file or database to which nodes of the graph write; without a folder, nothing is written."""

    def __init__(self, resource, init_op_fn):
        self._resource, self._init_op_fn = resource, init_op_fn

    def set_as_default(self):
        _state.writer = self

    @contextlib.contextmanager
    def as_default(self):
        """Makes nodes added inside write to this writer, and adds an op that flushes it at the end."""
        before, _state.writer = _state.writer, self
        try:
            yield self
            self.flush()
        finally:
            _state.writer = before

    def init(self):
        """Returns an op that creates the file."""
        return no_op() if self._resource is None else self._init_op_fn(self._resource)

    def flush(self):
        """Returns an op that writes all events to the disk."""
        return no_op() if self._resource is None else _flush(self._resource)

    def close(self):
        """Returns an op that flushes and closes the file."""
        if self._resource is None:
            return no_op()
        with control_dependencies([self.flush()]), device("cpu:0"):
            return op("CloseSummaryWriter", None, writer=self._resource)


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None):
    """Returns a writer for the folder logdir that flushes after max_queue events or flush_millis milliseconds."""
    if logdir is None:
        return SummaryWriter(None, None)
    logdir = os.fspath(logdir)
    with device("cpu:0"):
        queue = constant(10) if max_queue is None else max_queue
        millis = constant(2 * 60 * 1000) if flush_millis is None else flush_millis
        suffix = constant(".v2") if filename_suffix is None else filename_suffix

        def init(writer):
            return op("CreateSummaryFileWriter", None, writer=writer, logdir=logdir, max_queue=queue, flush_millis=millis,
                      filename_suffix=suffix)
        resource = op("SummaryWriter", None, shared_name="logdir:" + logdir if name is None else name)
        get_default_graph().add_to_collection(_WRITERS, init(resource))
    return SummaryWriter(resource, init)


create_summary_file_writer = create_file_writer

_NAMES = {"experiment_name": re.compile(r"^[^\x00-\x1F<>]{0,256}$"), "run_name": re.compile(r"^[^\x00-\x1F<>]{0,512}$"),
          "user_name": re.compile(r"^[a-z]([-a-z0-9]{0,29}[a-z0-9])?$", re.I)}


def create_db_writer(db_uri, experiment_name=None, run_name=None, user_name=None, name=None):
    """Returns a writer that fills a SQLite database.

    Args:
      db_uri: the path of the database, which is created if it is missing.
      experiment_name: by default the date; a run without an experiment has "".
      run_name: by default the time of day; with "" the summaries belong to no run.
      user_name: by default the user who runs the program.
      name: the shared name of the writer, which graphs of one session find it by.
    """
    now = time.localtime()
    given = {"experiment_name": time.strftime("%Y-%m-%d", now) if experiment_name is None else experiment_name,
             "run_name": time.strftime("%H:%M:%S", now) if run_name is None else run_name,
             "user_name": getpass.getuser() if user_name is None else user_name}
    for key, value in given.items():
        if isinstance(value, str) and not _NAMES[key].search(value):
            raise ValueError("create_db_writer: %s=%r must match %s" % (key, value, _NAMES[key].pattern))
    with device("cpu:0"):
        def init(writer):
            return op("CreateSummaryDbWriter", None, writer=writer, db_uri=db_uri, **given)
        resource = op("SummaryWriter", None, shared_name="" if name is None else name)
        get_default_graph().add_to_collection(_WRITERS, init(resource))
    return SummaryWriter(resource, init)


# ---- recording conditions ----

def should_record_summaries():
    """Returns a bool tensor that says whether summaries added here are written."""
    condition = _state.condition() if callable(_state.condition) else _state.condition
    return math_ops.logical_and(not context.copy_now(), condition)


@contextlib.contextmanager
def _record_if(condition):
    before, _state.condition = _state.condition, condition
    try:
        yield
    finally:
        _state.condition = before


def always_record_summaries():
    return _record_if(True)


def never_record_summaries():
    return _record_if(False)


def record_summaries_every_n_global_steps(n, global_step=None):
    """Makes summaries be recorded when the global step is a multiple of n."""
    if global_step is None:
        from weft._core.train.training_util import get_or_create_global_step
        global_step = get_or_create_global_step()
    with device("cpu:0"):
        return _record_if(lambda: math_ops.equal(global_step % n, 0))


# ---- nodes that write ----

def _step(step):
    if step is None:
        from weft._core.train.training_util import get_or_create_global_step
        step = get_or_create_global_step()
    if hasattr(step, "dtype") and hasattr(step, "graph"):
        return step
    return constant(step, dtypes.int64)


def _clean(name):
    return re.sub(r"[^-/\w\.]", "_", name).lstrip("/")


@contextlib.contextmanager
def _tagged(name, family, values):
    """Yields (tag, scope) of a summary; the tag is the name of the scope, after the family if there is one."""
    name = _clean(name)
    base = name if family is None else "%s/%s" % (_clean(family), name)
    with name_scope(base, None, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else "%s/%s" % (_clean(family), tag)), scope


def _write(name, tensor, make, family):
    writer, graph = _state.writer, get_default_graph()
    if writer is None or writer._resource is None:
        return no_op()
    outer = graph.get_name_scope()

    def record():
        with name_scope(outer + "/" if outer else None), _tagged(name, family, [tensor]) as (tag, scope), \
                control_dependencies([make(writer._resource, tag, scope)]):
            return constant(True)
    with device("cpu:0"):
        made = smart_cond(should_record_summaries(), record, lambda: constant(False), name="")
    graph.add_to_collection(_OPS, made)
    return made


def scalar(name, tensor, family=None, step=None):
    def make(writer, tag, scope):
        return op("WriteScalarSummary", scope, writer=writer, step=_step(step), tag=tag, value=array_ops.identity(tensor))
    return _write(name, tensor, make, family)


def histogram(name, tensor, family=None, step=None):
    def make(writer, tag, scope):
        return op("WriteHistogramSummary", scope, writer=writer, step=_step(step), tag=tag, values=array_ops.identity(tensor))
    return _write(name, tensor, make, family)


def image(name, tensor, bad_color=None, max_images=3, family=None, step=None):
    def make(writer, tag, scope):
        color = constant([255, 0, 0, 255], dtypes.uint8) if bad_color is None else bad_color
        return op("WriteImageSummary", scope, writer=writer, step=_step(step), tag=tag, tensor=array_ops.identity(tensor),
                  bad_color=color, max_images=max_images)
    return _write(name, tensor, make, family)


def audio(name, tensor, sample_rate, max_outputs, family=None, step=None):
    def make(writer, tag, scope):
        return op("WriteAudioSummary", scope, writer=writer, step=_step(step), tag=tag, tensor=array_ops.identity(tensor),
                  sample_rate=sample_rate, max_outputs=max_outputs)
    return _write(name, tensor, make, family)


def generic(name, tensor, metadata=None, family=None, step=None):
    """Writes any tensor, with a SummaryMetadata that says which plugin shows it."""
    def make(writer, tag, scope):
        data = constant("") if metadata is None else metadata
        if hasattr(data, "SerializeToString"):
            data = constant(data.SerializeToString())
        return op("WriteSummary", scope, writer=writer, step=_step(step), tag=tag, tensor=array_ops.identity(tensor),
                  summary_metadata=data)
    return _write(name, tensor, make, family)


def graph(param, step=None, name=None):
    """Writes a serialized GraphDef, given as a tensor."""
    if not isinstance(param, Tensor):
        raise TypeError("graph() needs a argument `param` to be tf.Tensor (e.g. tf.placeholder) in graph mode, but received "
                        "param=%s of type %s." % (param, type(param).__name__))
    writer = _state.writer
    if writer is None or writer._resource is None:
        return no_op()
    with device("cpu:0"):
        return op("WriteGraphSummary", name, writer=writer._resource, tensor=array_ops.identity(param), step=_step(step))


def import_event(tensor, name=None):
    """Writes a serialized Event unchanged."""
    return op("ImportEvent", name, writer=_default()._resource, event=convert_to_tensor(tensor))


def _default():
    if _state.writer is None or _state.writer._resource is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    return _state.writer


def _flush(resource, name=None):
    with device("cpu:0"):
        return op("FlushSummaryWriter", name, writer=resource)


def flush(writer=None, name=None):
    """Returns an op that flushes a writer, or the default one."""
    writer = _state.writer if writer is None else writer
    resource = writer._resource if isinstance(writer, SummaryWriter) else writer
    return no_op() if resource is None else _flush(resource, name)


# ---- all summaries of a graph ----

def all_summary_ops():
    """Returns the nodes of the default graph that these functions made."""
    return get_default_graph().get_collection(_OPS)


all_v2_summary_ops = all_summary_ops


def summary_writer_initializer_op():
    """Returns the ops that create the files of the default graph's writers."""
    return get_default_graph().get_collection(_WRITERS)


def initialize(graph=None, session=None):
    """Creates the files of all writers in a session; with a graph, writes it too."""
    if _state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    if session is None:
        from weft._core.session.client import get_default_session
        session = get_default_session()
        if session is None:
            raise ValueError("Argument `session must be passed if no default session exists")
    session.run(summary_writer_initializer_op())
    if graph is not None:
        data = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
        if not hasattr(data, "SerializeToString"):
            raise TypeError("graph must be a tf.Graph or a tf.GraphDef, not %s" % type(graph).__name__)
        given = array_ops.placeholder(dtypes.string)
        session.run(globals()["graph"](given, 0), feed_dict={given: data.SerializeToString()})


def eval_dir(model_dir, name=None):
    """Returns the folder for summaries of an evaluation."""
    return os.path.join(model_dir, "eval" if not name else "eval_" + name)
