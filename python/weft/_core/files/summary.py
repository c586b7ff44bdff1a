"""tf.summary: adds nodes that make summaries, and writes the files that TensorBoard reads."""
import json
import re
import time

from weft import _weft
from weft._core.distribute import context
from weft._core.framework import errors, opdef, protos
from weft._core.framework.absent import Named
from weft._core.framework.build import convert_to_tensor, is_tensor
from weft._core.framework.graph import Graph, GraphKeys, get_default_graph, name_scope

Summary, Event, SessionLog = protos.Summary, protos.Event, protos.SessionLog
TaggedRunMetadata = protos.TaggedRunMetadata


def _node(kind, name, tensor, collections, family, max_outputs=0, extra=-1, metadata=b""):
    graph = get_default_graph()
    graph._check_not_finalized()
    if context.copy_now() or graph._skips_summaries:  # Only the first of several replicas writes summaries.
        return convert_to_tensor(b"")
    value = tensor.handle if hasattr(tensor, "handle") else _inside(name, family, tensor, "values")  # The library reads the variable.
    try:
        out = _weft.summary(graph._c, kind, name, value._out, family, max_outputs, extra, metadata)
    except errors.InvalidArgumentError as e:
        raise opdef.refused_type("%sSummary" % kind.capitalize(), e) or e from None
    made = graph._tensor(out)
    graph.add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, made)
    return made


def _inside(name, family, value, part, dtype=None):
    """Returns the value of a summary as a tensor. A constant is made in the scope that the summary will have."""
    if is_tensor(value):
        return convert_to_tensor(value, dtype)
    cleaned = "/".join(re.sub(r"[^-/_.A-Za-z0-9\x80-\U0010ffff]", "_", part).lstrip("/") for part in (family, name) if part)
    with name_scope(get_default_graph().unique_name(cleaned, mark_as_used=False) + "/"):
        return convert_to_tensor(value, dtype, name=part)


def scalar(name, tensor, collections=None, family=None):
    return _node("scalar", name, tensor, collections, family)


def histogram(name, values, collections=None, family=None):
    return _node("histogram", name, values, collections, family)


def image(name, tensor, max_outputs=3, collections=None, family=None):
    return _node("image", name, tensor, collections, family, max_outputs)


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    from weft._core.framework import dtypes
    rate = _inside(name, family, sample_rate, "sample_rate", dtypes.float32)
    return _node("audio", name, tensor, collections, family, max_outputs, rate._out)


def text(name, tensor, collections=None):
    return _node("text", name, tensor, collections, None)


def tensor_summary(name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None,
                   display_name=None):
    """Returns a summary of any tensor.

    Args:
      name: a name for the node and the tag.
      tensor: the tensor.
      summary_description: a text about the summary, for its metadata.
      collections: the collections to add it to; the default is [GraphKeys.SUMMARIES].
      summary_metadata: a SummaryMetadata, which says which plugin of TensorBoard shows it.
      family: a prefix of the tag.
      display_name: a name that TensorBoard shows, for its metadata.
    """
    made = protos.SummaryMetadata()
    if summary_metadata is not None:
        made.CopyFrom(summary_metadata)
    if summary_description is not None:
        made.summary_description = summary_description
    if display_name is not None:
        made.display_name = display_name
    return _node("tensor", name, tensor, collections, family, metadata=made.SerializeToString())


def merge(inputs, collections=None, name=None):
    if not inputs:
        raise ValueError("List argument 'inputs' to 'MergeSummary' Op with length 0 shorter than minimum length 1.")
    graph = get_default_graph()
    made = graph._tensor(_weft.summary_merge(graph._c, name, [convert_to_tensor(i)._out for i in inputs]))
    graph.add_to_collections(collections or [], made)
    return made


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def):
    if node_def.op != "TensorSummary":
        raise ValueError("Can't get_summary_description on %s" % node_def.op)
    text = node_def.attr["description"].s.decode()
    return protos.SummaryDescription(type_hint=json.loads(text).get("typeHint", "") if text else "")


class FileWriter(metaclass=Named):
    """Writes the events of a run to logdir/events.out.tfevents.*"""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None,
                 session=None):
        self._dir = str(logdir)
        self._made = _weft.writer_create(self._dir, int(max_queue), float(flush_secs), filename_suffix)
        self._closed = False
        if isinstance(graph, Graph):
            _weft.writer_add_graph(self._made, graph._c, 0)  # The meta graph is written, too.
        elif graph is not None or graph_def is not None:
            self._add_definition(graph if graph_def is None else graph_def)

    def _add_definition(self, graph_def):
        """Adds a GraphDef, and its meta graph."""
        from weft._core.train.meta_graph import export_meta_graph
        self.add_graph(None, graph_def=graph_def)
        graph = Graph()
        graph._c.import_graph(graph_def.SerializeToString(), None, (), ())
        self.add_meta_graph(export_meta_graph(graph=graph))

    def get_logdir(self):
        return self._dir

    def _add(self, what, data, step, tag=None):
        _weft.writer_add(self._made, what, data, 0 if step is None else int(step), tag)

    def add_summary(self, summary, global_step=None):
        data = summary.SerializeToString() if hasattr(summary, "SerializeToString") else bytes(summary)
        self._add("summary", data, global_step)

    def add_event(self, event):
        self._add("event", event.SerializeToString(), 0)

    def add_graph(self, graph, global_step=None, graph_def=None):
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if isinstance(graph, Graph):
            graph_def = graph.as_graph_def(add_shapes=True)
        elif graph is not None:
            graph_def = graph
        event = protos.Event(wall_time=time.time(), graph_def=graph_def.SerializeToString())
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        self._add("meta_graph", meta_graph_def.SerializeToString(), global_step)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        try:
            self._add("run_metadata", run_metadata.SerializeToString(), global_step, tag)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None

    def add_session_log(self, session_log, global_step=None):
        _weft.writer_add_session_log(self._made, session_log.status, session_log.checkpoint_path or None,
                                     session_log.msg or None, int(global_step or 0))

    def flush(self):
        _weft.writer_flush(self._made)

    def close(self):
        _weft.writer_close(self._made)
        self._closed = True

    def reopen(self):
        _weft.writer_reopen(self._made)
        self._closed = False

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


SummaryWriter = FileWriter


class FileWriterCache(metaclass=Named):
    """Keeps one writer for each folder."""

    _writers = {}

    @classmethod
    def get(cls, logdir):
        if logdir not in cls._writers:
            cls._writers[logdir] = FileWriter(logdir, graph=get_default_graph())
        return cls._writers[logdir]

    @classmethod
    def clear(cls):
        for writer in cls._writers.values():
            writer.close()
        cls._writers.clear()


def summary_iterator(path):
    """Yields the events of an event file."""
    from weft._core.files.python_io import tf_record_iterator
    return (protos.Event.FromString(record) for record in tf_record_iterator(path))


# ---- names before 1.0 ----

merge_all_summaries, merge_summary = merge_all, merge


def scalar_summary(tags, values, collections=None, name=None):
    return scalar(tags, values, collections)


def histogram_summary(tag, values, collections=None, name=None):
    return histogram(tag, values, collections)


def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    return image(tag, tensor, max_images, collections)
