"""tf.train.Saver and the files of a checkpoint folder."""
import os

from weft import _weft
from weft._core.framework import protos
from weft._core.framework.graph import GraphKeys, get_default_graph
from weft._core.ops.gradients import _out
from weft._core.ops.variables import Variable


def _named(var_list):
    """(variable, name in the checkpoint) of each."""
    if isinstance(var_list, dict):
        pairs = [(v, k) for k, v in sorted(var_list.items())]
    else:
        pairs = [(v, None) for v in var_list]
    out = []
    for v, name in pairs:
        if hasattr(v, "_get_partitions"):
            out.extend((piece, name) for piece in v)
        elif isinstance(v, (list, tuple)):
            out.extend((piece, name) for piece in v)
        elif isinstance(v, Variable):
            out.append((v, name))
        else:
            raise TypeError("Variable to save is not a Variable: %s" % (v,))
    return out


class Saver:
    """Saves and restores variables; the nodes and the files are the library's."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
                 name=None, restore_sequentially=False, saver_def=None, builder=None, defer_build=False,
                 allow_empty=False, write_version=2, pad_step_number=False, save_relative_paths=False, filename=None):
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or "
                             "var_list=None.")
        self._var_list, self._allow_empty, self._sharded = var_list, allow_empty, sharded
        self._opts = (name, -1 if not max_to_keep else int(max_to_keep), float(keep_checkpoint_every_n_hours),
                      bool(sharded), bool(reshape), bool(save_relative_paths), bool(pad_step_number))
        self._saver_def, self._made, self._graph, self._empty = saver_def, None, None, False
        self._pad = pad_step_number
        if not defer_build:
            self.build()

    def build(self):
        if self._made is not None or self._empty:
            return
        graph = self._graph = get_default_graph()
        graph._check_not_finalized()
        if self._saver_def is not None:
            self._made = _weft.saver_adopt(graph._c, self._saver_def.SerializeToString())
            return
        var_list = self._var_list
        if var_list is None:
            var_list = graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)
        pairs = _named(var_list)
        if not pairs:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._empty = True
            return
        if len({id(v) for v, _ in pairs}) != len(pairs):
            raise ValueError("At least two variables have the same name: %s" % pairs[0][0].op.name)
        self._made = _weft.saver_create(graph._c, [_out(v) for v, _ in pairs], [n for _, n in pairs], *self._opts)

    @property
    def saver_def(self):
        if self._made is None:
            return protos.SaverDef()
        return protos.SaverDef.FromString(_weft.saver_def(self._made))

    def as_saver_def(self):
        return self.saver_def

    def to_proto(self, export_scope=None):
        return self.saver_def

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        return Saver(saver_def=saver_def)

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        sess = _plain(sess)
        if self._made is None and not self._empty:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if os.path.split(latest_filename or "")[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if global_step is not None and not isinstance(global_step, int):
            global_step = int(sess.run(global_step)) if hasattr(global_step, "_as_graph_element") else int(global_step)
        if self._empty:
            return None
        if not os.path.split(save_path)[1]:
            raise ValueError("save_path must end in a file name, got %r" % save_path)
        return _weft.saver_save(self._made, sess._c, save_path, global_step, latest_filename,
                                meta_graph_suffix, bool(write_meta_graph), bool(write_state))

    def restore(self, sess, save_path):
        if self._empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        if not checkpoint_exists(str(save_path)):
            raise ValueError("The passed save_path is not a valid checkpoint: %s" % save_path)
        _weft.saver_restore(self._made, _plain(sess)._c, str(save_path))

    @property
    def last_checkpoints(self):
        return [] if self._made is None else _weft.saver_kept(self._made)

    def set_last_checkpoints(self, last_checkpoints):
        self.recover_last_checkpoints(last_checkpoints)

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        self.recover_last_checkpoints([p for p, _ in last_checkpoints_with_time])

    def recover_last_checkpoints(self, checkpoint_paths):
        if self._made is not None:
            _weft.saver_recover(self._made, list(checkpoint_paths))

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False, export_scope=None,
                          clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False):
        return export_meta_graph(filename, saver_def=self.saver_def, as_text=as_text)


def _plain(sess):
    """The session that runs: monitored ones wrap one."""
    while not hasattr(sess, "_c"):
        inner = getattr(sess, "_sess", None) or getattr(sess, "raw_session", lambda: None)()
        if inner is None:
            raise TypeError("'sess' must be a Session; %s" % (sess,))
        sess = inner
    return sess


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None,
                      as_text=False, graph=None, export_scope=None, clear_devices=False, **kwargs):
    graph = graph or get_default_graph()
    made = protos.MetaGraphDef.FromString(graph._c.export_meta())
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if filename:
        with open(filename, "w" if as_text else "wb") as f:
            f.write(str(made) if as_text else made.SerializeToString())
    return made


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    if isinstance(meta_graph_or_file, protos.MetaGraphDef):
        made = meta_graph_or_file
    else:
        with open(meta_graph_or_file, "rb") as f:
            made = protos.MetaGraphDef.FromString(f.read())
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    graph = get_default_graph()
    graph._c.import_meta(made.SerializeToString(), import_scope)
    if made.HasField("saver_def"):
        saver_def = made.saver_def
        if import_scope:
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(saver_def, field, import_scope + "/" + getattr(saver_def, field))
        return Saver(saver_def=saver_def)
    return Saver() if graph.get_collection(GraphKeys.GLOBAL_VARIABLES) else None


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    return _weft.checkpoint_latest(str(checkpoint_dir), latest_filename)


def checkpoint_exists(checkpoint_prefix):
    return _weft.checkpoint_exists(str(checkpoint_prefix))


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    found = _weft.checkpoint_state(str(checkpoint_dir), latest_filename)
    if found is None:
        return None
    return protos.CheckpointState(model_checkpoint_path=found[0], all_model_checkpoint_paths=found[1])


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None, **kwargs):
    _weft.checkpoint_state_write(str(save_dir), model_checkpoint_path, list(all_model_checkpoint_paths or []),
                                 latest_filename, False)


def get_checkpoint_mtimes(checkpoint_prefixes):
    out = []
    for prefix in checkpoint_prefixes:
        for path in (prefix + ".index", prefix):
            if os.path.exists(path):
                out.append(os.path.getmtime(path))
                break
    return out


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    import glob
    for path in glob.glob(glob.escape(checkpoint_prefix) + ".*"):
        os.remove(path)


# ---- what a checkpoint holds ----

def _prefix(ckpt_dir_or_file):
    path = os.fspath(ckpt_dir_or_file)
    if not os.path.isdir(path):
        return path
    found = latest_checkpoint(path)
    if found is None:
        raise ValueError("Couldn't find 'checkpoint' file or checkpoints in given directory %s" % path)
    return found


class CheckpointReader:
    """tf.train.NewCheckpointReader: names, types, shapes and values, without a graph."""

    def __init__(self, filepattern):
        self._path = os.fspath(filepattern)
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
        types = self.get_variable_to_dtype_map()
        return "\n".join("%s (%s) %s" % (n, types[n].name, list(shape)) for n, (_, shape) in self._rows.items()).encode()


NewCheckpointReader = CheckpointReader


def load_checkpoint(ckpt_dir_or_file):
    return CheckpointReader(_prefix(ckpt_dir_or_file))


def list_variables(ckpt_dir_or_file):
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name):
    name = name[:-2] if name.endswith(":0") else name
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)
