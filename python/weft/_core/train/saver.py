"""tf.train.Saver and the files of a checkpoint directory."""
import glob
import numbers
import os
import re

from weft import _weft
from weft._core.files import gfile
from weft._core.files.gfile import local
from weft._core.framework import errors, protos
from weft._core.framework.absent import Named
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.ops.gradients import _out
from weft._core.ops.lookup import DenseHashTable, MutableHashTable, TableSaveable
from weft._core.ops.saveable import IteratorSaveable
from weft._core.ops.variable_methods import VariableAggregation
from weft._core.ops.variables import Variable
from weft._core.platform import logging
from weft._core.train.meta_graph import _prefixed, export_meta_graph, in_scope, strip_scope
from weft._core.train.saver_builder import BaseSaverBuilder, BulkSaverBuilder, SaveableObject  # noqa: F401 - programs ask for the first


def _check_list(var_list):
    if not isinstance(var_list, (dict, list, tuple, set)) and not hasattr(var_list, "__iter__"):
        raise TypeError("Variables to save should be passed in a dict or a list. Got %s" % (var_list,))


def _saveable(value):
    """Returns the object to save for a value: a TableSaveable for a lookup table, else the value itself."""
    return TableSaveable(value, value.name) if isinstance(value, (MutableHashTable, DenseHashTable)) else value


def _node(value):
    """Returns the output to save: of a variable, of a table's export, or of an iterator's position."""
    return value.exported[0]._out if isinstance(value, (TableSaveable, IteratorSaveable)) else _out(value)


def _named(var_list):
    """Returns a (variable, name in the checkpoint) pair for each variable, piece, table or iterator in var_list."""
    _check_list(var_list)
    if isinstance(var_list, dict):
        pairs = [(v, k) for k, v in sorted(var_list.items())]
    else:
        pairs = [(v, None) for v in var_list]
    out = []
    for v, name in pairs:
        if hasattr(v, "_get_partitions"):
            out.extend((piece, name) for piece in v)
        elif isinstance(v, (list, tuple)):
            if name is not None and any(getattr(piece, "_save_slice_info", None) is None for piece in v):
                raise ValueError("Slices must all be slices: %s" % (v[0] if v else v,))
            out.extend((piece, name) for piece in v)
        elif isinstance(v, Variable):
            out.append((v, name))
        elif isinstance(_saveable(v), TableSaveable):
            out.append((_saveable(v), name or _saveable(v).name))
        elif isinstance(v, IteratorSaveable):
            out.append((v, name or v.specs[0].name))
        elif isinstance(v, SaveableObject):
            out.append((v, name))
        elif name is not None:
            raise TypeError("names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: "
                            "%s" % (v,))
        else:
            raise TypeError("Variable to save is not a Variable: %s" % (v,))
    return out


def _check_once(pairs):
    seen = {}
    for v, name in pairs:
        if id(v) in seen and name is not None:
            raise ValueError("The same saveable will be restored with two names: %s" % name)
        if id(v) in seen:
            raise ValueError("At least two variables have the same name: %s" % v.op.name)
        seen[id(v)] = name
    whole = {name or v.op.name for v, name in pairs if getattr(v, "_save_slice_info", None) is None}
    for v, name in pairs:
        info = getattr(v, "_save_slice_info", None)
        if name is None and info is not None and info.full_name in whole:
            raise ValueError("At least two variables have the same name: %s" % info.full_name)


_OBJECTS_MISSING = (
    "\n\nExisting variables not in the checkpoint: %s\n\nVariables names when this checkpoint was written which don't exist "
    "now: %s\n\n(%d variable name(s) did match)\n\nCould not find some variables in the checkpoint (see names above). Saver was "
    "attempting to load an object-based checkpoint (saved using tf.train.Checkpoint or tf.keras.Model.save_weights) using "
    "variable names. If the checkpoint was written with eager execution enabled, it's possible that variable names have changed "
    "(for example missing a '_1' suffix). It's also possible that there are new variables which did not exist when the "
    "checkpoint was written. You can construct a Saver(var_list=...) with only the variables which previously existed, and if "
    "variable names have changed you may need to make this a dictionary with the old names as keys.")


def _difference(wanted, held):
    return sorted(wanted - set(held)), sorted(set(held) - wanted)


def _check_parent(sess, path, made):
    """Raises ValueError if the folder of a checkpoint cannot be made.

    If `made` is true (one file, version 2), the last folder of the path is created when missing, but not its parents.
    Other checkpoints need an existing folder. TensorFlow does the same.
    """
    above = os.path.dirname(os.path.dirname(path) if made else path)
    if not getattr(sess, "_target", "") and above and "://" not in path and not gfile.Exists(above):
        raise ValueError("Parent directory of %s doesn't exist, can't save." % path)


class Saver(metaclass=Named):
    """Saves and restores variables. The library makes the nodes and writes the files."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                 name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False,
                 allow_empty=False, write_version=protos.SaverDef.V2, pad_step_number=False, save_relative_paths=False,
                 filename=None):
        """Makes the nodes that save and restore.

        restore_sequentially has no effect, as in TensorFlow since version 1.0: one op reads all variables.  builder is an
        object with TensorFlow's _build_internal, which makes the nodes and returns a SaverDef.  write_version V1 writes
        the files of TensorFlow before 0.12.
        """
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        if saver_def is not None and not isinstance(saver_def, protos.SaverDef):
            raise ValueError("saver_def must be a saver_pb2.SaverDef: %s" % (saver_def,))
        if write_version not in (protos.SaverDef.V1, protos.SaverDef.V2):
            raise ValueError("Saver(write_version=%r): it must be tf.train.SaverDef.V1 or tf.train.SaverDef.V2"
                             % (write_version,))
        self._var_list, self._allow_empty, self._sharded, self._name = var_list, allow_empty, sharded, name
        self._reshape, self._builder, self._write_version = reshape, builder, write_version
        self._max_to_keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._restore_sequentially, self._filename, self._relative = restore_sequentially, filename, save_relative_paths
        self._saver_def, self._made, self._graph, self._empty = saver_def, None, None, False
        self._pad = pad_step_number
        if not defer_build:
            self.build()
        elif saver_def is not None:
            self._check_def()

    def _check_def(self):
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self._saver_def, field):
                raise ValueError("saver_def must specify the %s: %s" % (field, self._saver_def))

    def build(self):
        """Makes the nodes of a saver that was made with defer_build."""
        if self._made is not None or self._empty:
            return
        graph = self._graph = get_default_graph()
        if self._saver_def is not None:
            self._check_def()
            self._adopt(self._saver_def)
            return
        graph._check_not_finalized()
        var_list = self._var_list
        if var_list is None:
            var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
        _check_list(var_list)
        if not var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._empty = True
            return
        builder = self._builder
        if builder is None and any(isinstance(v, SaveableObject) for v, _ in _named(var_list)):
            builder = BulkSaverBuilder(self._write_version)
        if builder is not None:
            self._adopt(builder._build_internal(
                var_list, reshape=self._reshape, sharded=self._sharded, max_to_keep=self._max_to_keep,
                keep_checkpoint_every_n_hours=self._every_hours, name=self._name,
                restore_sequentially=self._restore_sequentially, filename=self._filename, build_save=True,
                build_restore=True))
            return
        pairs = _named(var_list)
        _check_once(pairs)
        before = graph._c.size()
        self._made = _weft.saver_create(
            graph._c, [_node(v) for v, _ in pairs], [n for _, n in pairs], self._name,
            -1 if not self._max_to_keep else int(self._max_to_keep), float(self._every_hours) or -1.0,
            bool(self._sharded), bool(self._reshape), bool(self._relative), bool(self._pad), int(self._write_version),
            self._filename)
        copied = [v for v, _ in pairs if len(getattr(v, "_values", ())) > 1 or
                  hasattr(v, "_aggregate") and v.distribute_strategy.num_replicas_in_sync > 1]
        if copied:
            self._save_aggregates([v for v in copied if hasattr(v, "_aggregate")], before)
            self._restore_copies(copied)

    def _save_aggregates(self, variables, before):
        """Saves the aggregate of variables whose copies differ, in place of the first copy."""
        graph = self._graph
        found = {v._primary.handle._out: v._aggregate()._out for v in variables}
        for node in range(before, graph._c.size()):
            made = graph._operation(node)
            for i, tensor in enumerate(made.inputs if made.type in ("SaveV2", "SaveSlices") else ()):
                if tensor.op.type == "ReadVariableOp" and tensor.op.inputs[0]._out in found:
                    graph._set_input(node, i, found[tensor.op.inputs[0]._out])

    def _restore_copies(self, variables):
        """Makes a restore assign the value to all copies of a variable, one on each device of a strategy."""
        from weft._core.ops.control_flow import group
        made, graph = self.saver_def, self._graph
        with graph.as_default(), graph.control_dependencies([graph.as_graph_element(made.restore_op_name)]):
            with graph.name_scope(made.restore_op_name.rpartition("/")[0] + "/"):
                done = []
                for v in variables:
                    value = v._primary.value()
                    # Each copy gets an equal share, so that their sum is the saved value.
                    if hasattr(v, "_aggregate") and v.aggregation == VariableAggregation.SUM:
                        value = value / v.distribute_strategy.num_replicas_in_sync
                        done.append(v._primary.assign(value, read_value=False))
                    done += [copy.assign(value, read_value=False) for copy in v._values[1:]]
                made.restore_op_name = group(*done, name="restore_copies").name
        self._adopt(made)

    def _adopt(self, saver_def):
        self._made = _weft.saver_adopt(self._graph._c, saver_def.SerializeToString())

    @property
    def saver_def(self):
        if getattr(self, "_made", None) is None:
            return self.__dict__.get("_saver_def")
        return protos.SaverDef.FromString(_weft.saver_def(self._made))

    def as_saver_def(self):
        """Returns the SaverDef, or None before build()."""
        return self.saver_def

    def to_proto(self, export_scope=None):
        """Returns the SaverDef.

        With export_scope, its names are relative to that scope, and the result is None if it belongs to another one.
        """
        made = self.saver_def
        if export_scope is None or made is None:
            return made
        if not in_scope(made.filename_tensor_name, export_scope):
            return None
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(made, field, strip_scope(getattr(made, field), export_scope))
        return made

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        """Returns a saver for a SaverDef whose nodes are in the graph, below import_scope if one is given."""
        return Saver(saver_def=_prefixed(saver_def, import_scope))

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        """Writes a checkpoint and returns its name."""
        sess = _plain(sess)
        if self._made is None and not self._empty:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if os.path.split(latest_filename or "")[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if save_debug_info:
            raise NotImplementedError("Saver.save(save_debug_info=True) is not in Weft: it holds no stack traces in files; "
                                      "leave the argument out")
        save_path = os.fspath(save_path)
        if global_step is not None:
            global_step = _number(sess, global_step)
        elif os.path.basename(save_path) == (latest_filename or "checkpoint") and not self.__dict__.get("_sharded"):
            raise ValueError("'latest_filename' collides with 'save_path': '%s' and '%s'"
                             % (latest_filename or "checkpoint", save_path))
        if not save_path:
            raise ValueError("no path specified")
        if self._empty:
            self._write_meta(save_path, global_step, meta_graph_suffix, write_meta_graph, strip_default_attrs)
            return None
        made = self.saver_def
        _check_parent(sess, save_path, made.version == protos.SaverDef.V2 and not made.sharded)
        self._graph._sync_lists()
        saved = _weft.saver_save(self._made, sess._c, save_path, global_step, latest_filename,
                                 meta_graph_suffix, bool(write_meta_graph) and not strip_default_attrs, bool(write_state),
                                 bool(self.__dict__.get("_relative")), bool(self.__dict__.get("_pad")))
        if strip_default_attrs:
            self._write_meta(save_path, global_step, meta_graph_suffix, write_meta_graph, strip_default_attrs)
        return saved

    def _write_meta(self, save_path, global_step, suffix, wanted, strip_default_attrs):
        if wanted:
            step = "" if global_step is None else "-%0*d" % (8 if self.__dict__.get("_pad") else 0, global_step)
            self.export_meta_graph("%s%s.%s" % (save_path, step, suffix), strip_default_attrs=strip_default_attrs)

    def restore(self, sess, save_path):
        """Restores the variables from a checkpoint."""
        if self._empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if not checkpoint_exists(str(save_path)):
            raise ValueError("The passed save_path is not a valid checkpoint: %s" % save_path)
        if self._made is None:
            raise RuntimeError("`build()` should be called before restore if defer_build==True")
        try:
            _weft.saver_restore(self._made, _plain(sess)._c, str(save_path))
        except errors.NotFoundError:
            self._restore_objects(sess, str(save_path))

    def _restore_objects(self, sess, save_path):
        """Restores a checkpoint of tf.train.Checkpoint, which records the names that a Saver uses for the variables.

        Any other checkpoint raises the error that is being handled.
        """
        from weft._core.train.object_graph import read_proto
        reader = CheckpointReader(save_path)
        proto = read_proto(reader)
        if proto is None:
            raise  # noqa: PLE0704 - called while an error is handled
        keys = {a.full_name: a.checkpoint_key for node in proto.nodes for a in node.attributes}
        var_list = self.__dict__.get("_var_list") or self._graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        pairs = [(v, name or v._shared_name) for v, name in _named(var_list)]
        missing, unknown = _difference({name for _, name in pairs}, keys)
        if missing:
            raise errors.NotFoundError(None, None, _OBJECTS_MISSING % (", ".join(missing), ", ".join(unknown),
                                                                       len(keys) - len(unknown))) from None
        logging.warning("Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, and will "
                        "re-build the Saver. Instead, consider loading object-based checkpoints using tf.train.Checkpoint().")
        for v, name in pairs:
            v.load(reader.get_tensor(keys[name]), sess)

    @property
    def last_checkpoints(self):
        return [] if self._made is None else _weft.saver_kept(self._made)

    def set_last_checkpoints(self, last_checkpoints):
        """Sets the list of checkpoints, the newest last, of which the oldest are deleted.

        Their times count as infinite.
        """
        assert isinstance(last_checkpoints, list)
        self.set_last_checkpoints_with_time([(p, float("inf")) for p in last_checkpoints])

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Sets the list of checkpoints as (path, time of the save) pairs; keep_checkpoint_every_n_hours uses the times.
        """
        assert isinstance(last_checkpoints_with_time, list)
        if self._made is not None:
            _weft.saver_set(self._made, [p for p, _ in last_checkpoints_with_time],
                            [t for _, t in last_checkpoints_with_time])

    def recover_last_checkpoints(self, checkpoint_paths):
        """Sets the list of checkpoints, with the modification times of their files. Missing checkpoints are left out.
        """
        if self._made is not None:
            _weft.saver_recover(self._made, list(checkpoint_paths))

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False,
                          save_debug_info=False):
        """Returns a MetaGraphDef with this saver in it, and writes it to a file if one is named."""
        return export_meta_graph(
            filename, saver_def=self.saver_def, collection_list=collection_list, as_text=as_text, export_scope=export_scope,
            clear_devices=clear_devices, clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info)


def _number(sess, step):
    """Returns a global step as an int; a tensor or variable is run to get it."""
    if isinstance(step, numbers.Integral):
        return int(step)
    return int(sess.run(step))


def _plain(sess):
    """Returns the session that runs steps, which may be wrapped in monitored sessions."""
    while not hasattr(sess, "_c"):
        inner = getattr(sess, "_sess", None) or getattr(sess, "raw_session", lambda: None)()
        if inner is None:
            raise TypeError("'sess' must be a Session; %s" % (sess,))
        sess = inner
    return sess


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    return _weft.checkpoint_latest(str(checkpoint_dir), latest_filename)


def checkpoint_exists(checkpoint_prefix):
    local(checkpoint_prefix)  # Raises an error if the file system of the path is not supported.
    return _weft.checkpoint_exists(str(checkpoint_prefix))


def _times_in(path):
    """Returns the times in a state file, because the library reads only the paths."""
    with open(local(path)) as f:
        text = f.read()
    times = [float(x) for x in re.findall(r"^\s*all_model_checkpoint_timestamps:\s*(\S+)", text, re.M)]
    last = re.findall(r"^\s*last_preserved_timestamp:\s*(\S+)", text, re.M)
    return times, float(last[-1]) if last else None


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    found = _weft.checkpoint_state(str(checkpoint_dir), latest_filename)
    if found is None:
        return None
    made = protos.CheckpointState(model_checkpoint_path=found[0], all_model_checkpoint_paths=found[1])
    times, last = _times_in(os.path.join(str(checkpoint_dir), latest_filename or "checkpoint"))
    made.all_model_checkpoint_timestamps.extend(times)
    if last is not None:
        made.last_preserved_timestamp = last
    return made


def _relative(path, folder):
    """Returns a path as a state file stores it: relative to the folder if both are relative."""
    return path if os.path.isabs(folder) or os.path.isabs(path) else os.path.relpath(path, folder)


def generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None,
                                    all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """Returns the CheckpointState that update_checkpoint_state writes."""
    save_dir, latest = os.fspath(save_dir), os.fspath(model_checkpoint_path)
    paths = [os.fspath(p) for p in all_model_checkpoint_paths or []]
    if not paths or paths[-1] != latest:
        paths.append(latest)
    times = list(all_model_checkpoint_timestamps or [])
    if times and len(times) != len(paths):
        raise ValueError("Checkpoint timestamps, if provided, must match checkpoint paths (got paths %s and timestamps %s)"
                         % (paths, times))
    made = protos.CheckpointState(model_checkpoint_path=_relative(latest, save_dir),
                                  all_model_checkpoint_paths=[_relative(p, save_dir) for p in paths],
                                  all_model_checkpoint_timestamps=times)
    if last_preserved_timestamp is not None:
        made.last_preserved_timestamp = last_preserved_timestamp
    return made


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    """Records the newest checkpoint in a folder's state file."""
    made = generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths,
                                           all_model_checkpoint_timestamps, last_preserved_timestamp)
    path = os.path.join(local(save_dir), latest_filename or "checkpoint")
    with open(path + ".tmp", "w") as f:
        f.write(str(made))
    os.replace(path + ".tmp", path)


def _files_of(prefix):
    """Returns the files of a checkpoint: the index file of version 2, or the files that a V1 prefix or pattern matches.
    """
    prefix = local(prefix)
    return [prefix + ".index"] if os.path.exists(prefix + ".index") else sorted(glob.glob(prefix))


def get_checkpoint_mtimes(checkpoint_prefixes):
    return [os.path.getmtime(files[0]) for files in map(_files_of, checkpoint_prefixes) if files]


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=protos.SaverDef.V2, meta_graph_suffix="meta"):
    """Deletes the files of a checkpoint and its meta graph."""
    stem = re.sub(r"-[\d?]+-of-\d+$", "", checkpoint_prefix)
    found = glob.glob(glob.escape(local(stem)) + "." + meta_graph_suffix)
    if checkpoint_format_version == protos.SaverDef.V2:
        found += glob.glob(glob.escape(local(checkpoint_prefix)) + ".index")
        found += glob.glob(glob.escape(local(checkpoint_prefix)) + ".data-?????-of-?????")
    else:
        found += glob.glob(local(checkpoint_prefix))
    for path in found:
        os.remove(path)


# ---- reading the values of a checkpoint ----

def _prefix(ckpt_dir_or_file):
    path = os.fspath(ckpt_dir_or_file)
    if not os.path.isdir(local(path)):
        return path
    found = latest_checkpoint(path)
    if found is None:
        raise ValueError("Couldn't find 'checkpoint' file or checkpoints in given directory %s" % path)
    return found


class CheckpointReader(metaclass=Named):
    """Reads names, types, shapes and values of a checkpoint without a graph: tf.train.NewCheckpointReader."""

    def __init__(self, filepattern):
        self._path = os.fspath(filepattern)
        if not checkpoint_exists(self._path):
            raise errors.NotFoundError(None, None, "Unsuccessful TensorSliceReader constructor: Failed to find any matching "
                                       "files for %s" % self._path)
        self._rows = {name: (dtype, shape) for name, dtype, shape in _weft.checkpoint_list(self._path)}

    def get_variable_to_shape_map(self):
        return {name: list(shape) for name, (_, shape) in self._rows.items()}

    def get_variable_to_dtype_map(self):
        from weft._core.framework.dtypes import DType
        return {name: DType(dtype) for name, (dtype, _) in self._rows.items()}

    def has_tensor(self, name):
        return name in self._rows

    def get_tensor(self, name):
        return _weft.checkpoint_read(self._path, name)

    def debug_string(self):
        from weft._core.framework.dtypes import datatype_name
        types = self.get_variable_to_dtype_map()
        return "".join("%s (%s) [%s]\n" % (n, datatype_name(types[n].as_datatype_enum), ",".join(map(str, shape)))
                       for n, (_, shape) in self._rows.items()).encode()


NewCheckpointReader = CheckpointReader


def load_checkpoint(ckpt_dir_or_file):
    return CheckpointReader(_prefix(ckpt_dir_or_file))


def list_variables(ckpt_dir_or_file):
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name):
    name = name[:-2] if name.endswith(":0") else name
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
