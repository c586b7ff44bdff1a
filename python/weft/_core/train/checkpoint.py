"""tf.train.Checkpoint: checkpoints whose keys are paths of attributes, written and read in a session.

The nodes that save are made once for an object graph. restore() makes assignment nodes for all objects that it finds.
Objects that the program adds later get their nodes when a method of the status is next called.
"""
import inspect
import os

from weft._core.framework import protos
from weft._core.framework.absent import Named
from weft._core.framework.build import constant, op
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.graph import get_default_graph
from weft._core.framework.trackable import AutoTrackable, PythonState, children_of, is_container, is_trackable, saveables_of
from weft._core.ops.variables import Variable
from weft._core.platform import logging
from weft._core.train.object_graph import OBJECT_GRAPH_KEY, ObjectGraph, path_names, read_proto, slot_of
from weft._core.train.saver import NewCheckpointReader


class CheckpointOptions(metaclass=Named):
    """Options for reading and writing checkpoints: the device on which the files are read and written."""

    def __init__(self, experimental_io_device=None, experimental_enable_async_checkpoint=False,
                 experimental_write_callbacks=None, enable_async=False):
        if experimental_enable_async_checkpoint or enable_async:
            raise NotImplementedError("tf.train.CheckpointOptions(enable_async=True) needs eager mode, which Weft has not: "
                                      "leave it out; save() returns when the files are written")
        for callback in experimental_write_callbacks or ():
            if len(inspect.signature(callback).parameters) > 1:
                raise AssertionError("tf.train.CheckpointOptions(experimental_write_callbacks): %s takes more than the path of "
                                     "the checkpoint" % callback)
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = self.enable_async = False
        self.experimental_write_callbacks = experimental_write_callbacks


def session_or_default(session):
    if session is not None:
        return session
    from weft._core.keras.backend import get_session
    return get_session()


def _host(variable):
    """Returns the CPU of the task that holds a variable; its part of the checkpoint files is written and read there."""
    found = DeviceSpec.from_string(variable.device or "")
    return DeviceSpec(found.job, found.replica, found.task, "CPU", 0).to_string() if found.job is not None else ""


# ---- writing ----

class _SaveNodes:
    """The nodes that write a checkpoint of one object graph."""

    def __init__(self, values, io_device):
        self.python, hosts = [], {}
        self.graph_text = constant("", name="object_graph")
        self.prefix = constant("model", name="prefix")
        for _, _, key, saved in values:
            if isinstance(saved, PythonState):
                text = constant("", name="python_state")
                self.python.append((text, saved))
                rows = [(key, "", text)]
            elif isinstance(saved, Variable):
                info = saved._save_slice_info
                rows = [(key, "" if info is None else info.spec, saved.value())]
            else:
                rows = [(key + s.name[len(saved.name):], s.slice_spec, s.tensor) for s in saved.specs]
            hosts.setdefault(io_device or (_host(saved) if isinstance(saved, Variable) else ""), []).extend(rows)
        hosts.setdefault(io_device or "", []).append((OBJECT_GRAPH_KEY, "", self.graph_text))
        self.done = self._merged(hosts)

    def _merged(self, hosts):
        graph = get_default_graph()
        folder = op("StringJoin", inputs=[self.prefix, constant("_temp/part")])
        parts, saves = [], []
        for shard, (host, rows) in enumerate(sorted(hosts.items())):
            with graph.device(host or None):
                part = op("ShardedFilename", basename=folder, shard=shard, num_shards=len(hosts))
                saves.append(op("SaveV2", prefix=part, tensor_names=[r[0] for r in rows], shape_and_slices=[r[1] for r in rows],
                                tensors=[r[2] for r in rows]))
            parts.append(part)
        with graph.device(sorted(hosts)[-1] or None), graph.control_dependencies(saves):
            merged = op("MergeV2Checkpoints", checkpoint_prefixes=op("Pack", values=parts), destination_prefix=self.prefix)
            with graph.control_dependencies([merged]):
                return op("Identity", input=self.prefix)

    def run(self, session, prefix, text):
        feeds = {self.prefix: prefix, self.graph_text: text}
        feeds.update({held: state.serialize() for held, state in self.python})
        return _text(session.run(self.done, feeds))


def _text(value):
    value = getattr(value, "item", lambda: value)()
    return value.decode() if isinstance(value, bytes) else value


def write_state(folder, newest, kept, times=None, last_preserved=None):
    """Writes the file `checkpoint` of a folder; its paths are relative to the folder."""
    def near(path):
        return os.path.relpath(path, folder or ".")
    made = protos.CheckpointState(model_checkpoint_path=near(newest), all_model_checkpoint_paths=[near(p) for p in kept],
                                  all_model_checkpoint_timestamps=times or [])
    if last_preserved is not None:
        made.last_preserved_timestamp = last_preserved
    path = os.path.join(folder, "checkpoint")
    with open(path + ".tmp", "w") as f:
        f.write(str(made))
    os.replace(path + ".tmp", path)


# ---- reading ----

class _Restoration:
    """The state of one restore: which object matches which part of the checkpoint, and the ops that assign the values.
    """

    def __init__(self, root, path, reader, proto):
        self.root, self.path, self.reader, self.proto, self.graph = root, path, reader, proto, get_default_graph()
        self.objects, self.ops, self.unused, self._file = {}, [], {}, None

    def match(self):
        """Finds the objects that match the nodes of the checkpoint, and makes the assignment ops of those that are new.
        """
        fresh, waiting = [], [(0, self.root)]
        seen = set()
        while waiting:
            for number, value in waiting:
                self._bind(number, value, fresh)
                seen.add(number)
            waiting = [(child.node_id, found) for number, value in waiting for child, found in self._below(number, value)
                       if child.node_id not in seen]
        for number, optimizer in list(self.objects.items()):
            for slot in self.proto.nodes[number].slot_variables:
                original = self.objects.get(slot.original_variable_node_id)
                found = None if original is None else slot_of(optimizer, original, slot.slot_name)
                if found is not None:
                    self._bind(slot.slot_variable_node_id, found, fresh)
        if fresh:
            with self.graph.as_default(), self.graph.control_dependencies(None):
                self._assign(fresh)
        return self

    def _below(self, number, value):
        names = None if not is_container(value) else children_of(value)
        for child in self.proto.nodes[number].children:
            found = value._lookup_dependency(child.local_name) if names is None else names.get(child.local_name)
            if found is not None:
                yield child, found

    def _bind(self, number, value, fresh):
        bound = self.objects.get(number)
        if bound is None:
            self.objects[number] = value
            held = saveables_of(value)
            for attribute in self.proto.nodes[number].attributes:
                if attribute.name in held:
                    fresh.append((attribute.checkpoint_key, held[attribute.name]))
                elif attribute.name != "OBJECT_CONFIG_JSON":
                    self.unused.setdefault(number, []).append(attribute.name)
        elif bound is not value and not is_container(value):
            logging.warning("Inconsistent references when loading the checkpoint into this object graph. For example, in the "
                            "saved checkpoint object, `model.layer.weight` and `model.layer_copy.weight` reference the same "
                            "variable, while in the current object these are two different variables. The referenced "
                            "variables are:(%s and %s).", bound, value)

    def _assign(self, fresh):
        hosts = {}
        if self._file is None:
            self._file = constant(self.path)
        for key, saved in fresh:
            if isinstance(saved, PythonState):
                saved.deserialize(self.reader.get_tensor(key))
            elif isinstance(saved, Variable):
                hosts.setdefault(_host(saved), []).append((key, saved))
            else:
                self.ops.append(self._restore_saveable(key, saved))
        for host, rows in sorted(hosts.items()):
            with self.graph.device(host or None):
                read = restored(self._file, [key for key, _ in rows], [_slice(v) for _, v in rows],
                                [v.dtype.base_dtype for _, v in rows])
            self.ops += [assigned(v, value) for (_, v), value in zip(rows, read)]

    def _restore_saveable(self, key, saved):
        names = [key + s.name[len(saved.name):] for s in saved.specs]
        return saved.restore(restored(self._file, names, [s.slice_spec for s in saved.specs], [s.dtype for s in saved.specs]),
                             None)


def _slice(variable):
    return "" if variable._save_slice_info is None else variable._save_slice_info.spec


def restored(path, names, slices, types):
    made = op("RestoreV2", prefix=path, tensor_names=names, shape_and_slices=slices, dtypes=types)
    return list(made) if isinstance(made, (list, tuple)) else [made]


def assigned(variable, value):
    """Returns the op that assigns the value that was read to a variable."""
    graph = variable.graph
    if hasattr(variable, "handle"):
        with graph.colocate_with(None, True), graph.device(variable.device or None):
            return op("AssignVariableOp", resource=variable.handle, value=op("Identity", input=value))
    with graph.colocate_with(variable.op):
        return op("Assign", ref=variable._ref(), value=value, validate_shape=variable.shape.is_fully_defined()).op


# ---- the statuses that restore() returns ----

def _initializers(values):
    found = (getattr(v, "initializer", None) for v in values if not is_container(v))
    return [x for x in found if x is not None and not callable(x)]


class CheckpointLoadStatus:
    """The result of restore(). Nothing is read until run_restore_ops() or initialize_or_restore() is called."""

    def __init__(self, restoration):
        self._restoration = restoration

    def assert_consumed(self):
        """Raises AssertionError unless each value of the checkpoint and each object of the program has its counterpart."""
        found = self._restoration.match()
        self.assert_existing_objects_matched()
        names = path_names(found.proto)
        for number, node in enumerate(found.proto.nodes):
            if node.attributes and number not in found.objects:
                raise AssertionError("Unresolved object in checkpoint %s: %s" % (names.get(number, number), node))
        if found.unused:
            raise AssertionError("Unused attributes in these objects (the attributes exist in the checkpoint but were not "
                                 "restored):\n%s" % "\n".join("%s (%s): %s" % (names.get(n, n), found.objects[n], a)
                                                              for n, a in found.unused.items()))
        return self

    def _unmatched(self):
        found = self._restoration.match()
        bound = {id(v) for v in found.objects.values()}
        return [v for v in ObjectGraph(found.root).objects
                if id(v) not in bound and not (is_container(v) and not children_of(v))]

    def assert_existing_objects_matched(self):
        """Raises AssertionError unless each object of the program has its counterpart in the checkpoint."""
        missing = self._unmatched()
        if missing:
            raise AssertionError("Found %d Python objects that were not bound to checkpointed values, likely due to changes in "
                                 "the Python program. Showing %d of %d unmatched objects: %s"
                                 % (len(missing), min(10, len(missing)), len(missing), missing[:10]))
        return self

    def assert_nontrivial_match(self):
        """Raises AssertionError if only the root was found in the checkpoint."""
        found = self._restoration.match()
        if len(found.objects) <= 1:
            missing = self._unmatched()
            raise AssertionError(
                "Nothing to load. No dependencies have been added to %s yet." % (found.root,) if not missing else
                "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not "
                "match the Python program. The following objects have no matching checkpointed value: %s" % missing)
        return self

    def run_restore_ops(self, session=None):
        """Assigns the values of the checkpoint."""
        session_or_default(session).run(self._restoration.match().ops)

    def initialize_or_restore(self, session=None):
        """Assigns the values of the checkpoint, and initializes the variables that are not in it."""
        session = session_or_default(session)
        missing = self._unmatched()
        self.run_restore_ops(session)
        session.run(_initializers(missing))

    def expect_partial(self):
        """Declares that only a part of the checkpoint will be used, so that no warning is needed."""
        return self


class InitializationOnlyStatus:
    """The status that restore(None) returns."""

    def __init__(self, root):
        self._root = root

    def _nothing(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self):
        self._nothing()

    def assert_existing_objects_matched(self):
        self._nothing()

    def assert_nontrivial_match(self):
        self._nothing()

    def run_restore_ops(self, session=None):
        raise AssertionError("No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).")

    def initialize_or_restore(self, session=None):
        session_or_default(session).run(_initializers(ObjectGraph(self._root).objects))

    def expect_partial(self):
        return self


class NameBasedSaverStatus:
    """The status of a checkpoint that tf.train.Saver wrote; variables are matched by their names."""

    def __init__(self, root, path, reader, optional):
        self._root, self._path, self._reader, self._optional, self._ops = root, path, reader, optional, {}

    def _variables(self):
        held = (saved for _, _, _, saved in ObjectGraph(self._root).values())
        return [v for v in held if isinstance(v, Variable)]

    def assert_consumed(self):
        raise AssertionError("Object not restored: %s" % (self._root,))

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        """Assigns each variable the value that is saved under its name. The checkpoint may lack a save counter."""
        missing = object()
        wanted = [v for v in self._variables()
                  if self._reader.has_tensor(v._shared_name) or v is not getattr(self._root, self._optional, missing)]
        if not wanted:
            raise ValueError("No variables to save")
        fresh = [v for v in wanted if v not in self._ops]
        if fresh:
            graph = fresh[0].graph
            with graph.as_default(), graph.control_dependencies(None):
                read = restored(constant(self._path), [v._shared_name for v in fresh], [_slice(v) for v in fresh],
                                [v.dtype.base_dtype for v in fresh])
                self._ops.update({v: assigned(v, value) for v, value in zip(fresh, read)})
        session_or_default(session).run([self._ops[v] for v in wanted])

    def initialize_or_restore(self, session=None):
        session = session_or_default(session)
        session.run(_initializers(self._variables()))
        self.run_restore_ops(session)

    def expect_partial(self):
        return self


def _restore(root, save_path, optional):
    if save_path is None:
        return InitializationOnlyStatus(root)
    save_path = os.fspath(save_path)
    reader = NewCheckpointReader(save_path)
    proto = read_proto(reader)
    if proto is None:
        logging.warning("Restoring a name-based tf.train.Saver checkpoint using the object-based restore API. This mode uses "
                        "global names to match variables, and so is somewhat fragile. Prefer re-encoding training checkpoints "
                        "in the object-based format: run save() on the object-based saver, and use that checkpoint.")
        return NameBasedSaverStatus(root, save_path, reader, optional)
    return CheckpointLoadStatus(_Restoration(root, save_path, reader, proto).match())


class Checkpoint(AutoTrackable, metaclass=Named):
    """Saves and restores all objects that are reachable from the given ones: tf.train.Checkpoint(name=object, ...)."""

    _NOT_TRACKED = frozenset(["_save_counter", "_nodes", "_count"])

    def __init__(self, **kwargs):
        self._save_counter = self._nodes = self._count = None
        for name, value in sorted(kwargs.items()):
            if not is_trackable(value):
                raise ValueError("`Checkpoint` was expecting a trackable object (an object derived from `Trackable`), got %s. "
                                 "If you believe this object should be trackable (i.e. it is part of the TensorFlow Python API "
                                 "and manages state), please open an issue." % (value,))
            setattr(self, name, value)

    def _trackable_children(self):
        made = super()._trackable_children()
        if self._save_counter is not None:
            made["save_counter"] = self._save_counter
        return made

    @property
    def save_counter(self):
        """A variable that counts the calls of save(); restore() and save() make it."""
        self._make_counter()
        return self._save_counter

    def _make_counter(self):
        if self._save_counter is None:
            graph = get_default_graph()
            with graph.control_dependencies(None), graph.device("cpu:0"):
                self._save_counter = Variable(lambda: constant(0, "int64", name="initial_value"), name="save_counter",
                                              trainable=False, use_resource=True)

    def _incremented(self, session):
        """Adds one to the save counter, and initializes the counter first if it is new."""
        if self._save_counter is None:
            self._make_counter()
            session.run(self._save_counter.initializer)
        if self._count is None:
            self._count = self._save_counter.assign_add(1, read_value=True)
        return int(session.run(self._count))

    def write(self, file_prefix, session=None, options=None):
        """Writes a checkpoint under exactly this name, without changing the save counter or the file `checkpoint`."""
        options = options or CheckpointOptions()
        session, prefix = session_or_default(session), os.fspath(file_prefix)
        found = ObjectGraph(self)
        values, text = found.values(), found.to_proto().SerializeToString()
        wanted = (get_default_graph(), options.experimental_io_device, [(key, id(saved)) for _, _, key, saved in values])
        if self._nodes is None or self._nodes[0] != wanted:
            self._nodes = wanted, _SaveNodes(values, options.experimental_io_device)
        os.makedirs(os.path.dirname(prefix) or ".", exist_ok=True)
        path = self._nodes[1].run(session, prefix, text)
        for callback in options.experimental_write_callbacks or ():
            callback(*[path][:len(inspect.signature(callback).parameters)])
        return path

    def save(self, file_prefix, session=None, options=None):
        """Writes a checkpoint named PREFIX-COUNT, and names it in the file `checkpoint`."""
        session, prefix = session_or_default(session), os.fspath(file_prefix)
        path = self.write("%s-%d" % (prefix, self._incremented(session)), session, options)
        write_state(os.path.dirname(prefix), path, [path])
        return path

    def restore(self, save_path):
        """Finds the objects of a checkpoint, and returns a status whose methods assign the values."""
        status = _restore(self, save_path, "_save_counter")
        self._make_counter()
        return status
