"""The nodes of a Saver, made in Python: for SaveableObjects of programs, and for the builders that programs derive.

If a Saver saves only variables, the library makes these nodes.
"""
from weft._core.framework import dtypes, protos
from weft._core.framework.absent import Named
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.device_spec import DeviceSpec
from weft._core.framework.graph import control_dependencies, device, name_scope
from weft._core.ops import array_ops, string_ops
from weft._core.ops.control_flow import group, with_dependencies
from weft._core.ops.resource_variables import ResourceVariable


class SaveSpec(metaclass=Named):
    """One tensor of a checkpoint.

    tensor is a tensor or a function that makes one; slice_spec describes a slice, or is "".
    """

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        if callable(tensor) and (dtype is None or device is None):
            raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be provided.")
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        self.dtype = tensor.dtype if dtype is None else dtype
        self.device = tensor.device if device is None else device

    @property
    def tensor(self):
        """The tensor; if it was given as a function, each access calls it."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject(metaclass=Named):
    """An object that a Saver saves and restores as a whole: `specs` lists its tensors, and subclasses define restore().
    """

    def __init__(self, op, specs, name):
        self.op, self.specs, self.name = op, specs, name

    @property
    def device(self):
        """The device of the first tensor."""
        return self.specs[0].device

    def restore(self, restored_tensors, restored_shapes):
        """Returns the op that sets the object to the restored tensors.

        restored_shapes is None unless the Saver reshapes.
        """
        raise ValueError("Calling an abstract method.")


class VariableSaveable(SaveableObject):
    """Saves and restores a reference variable."""

    def __init__(self, var, slice_spec, name):
        self.var = var
        value = var if not slice_spec else var.value()
        super().__init__(var, [SaveSpec(value, slice_spec, name, dtype=var.dtype.base_dtype, device=var.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        """Assigns the tensor."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        with device(self.var.device):
            return op("Assign", ref=self.var._ref(), value=value,
                      validate_shape=restored_shapes is None and self.var.shape.is_fully_defined())


class ResourceVariableSaveable(SaveableObject):
    """Saves and restores a resource variable."""

    def __init__(self, var, slice_spec, name):
        self.var = var
        super().__init__(var, [SaveSpec(var._graph_element, slice_spec, name, dtype=var.dtype, device=var.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        """Assigns the tensor."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        with device(self.var.device):
            value = array_ops.identity(value)
            return op("AssignVariableOp", resource=self.var.handle, value=value)


def _on_cpu(name):
    """Returns the name of CPU 0 of the task of a device; an empty name is returned unchanged."""
    if not name:
        return name
    spec = DeviceSpec.from_string(name)
    return DeviceSpec(job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0).to_string()


def _of(value, name):
    """Returns the object that saves a variable; a SaveableObject is returned unchanged."""
    if isinstance(value, SaveableObject) or hasattr(value, "specs"):
        return value
    part = getattr(value, "_save_slice_info", None)
    kind = ResourceVariableSaveable if isinstance(value, ResourceVariable) else VariableSaveable
    return kind(value, part.spec if part else "", name or (part.full_name if part else value.op.name))


class BaseSaverBuilder(metaclass=Named):
    """Makes the nodes that save and restore. A subclass may override save_op, restore_op and bulk_restore."""

    SaveSpec, SaveableObject = SaveSpec, SaveableObject
    VariableSaveable, ResourceVariableSaveable = VariableSaveable, ResourceVariableSaveable

    def __init__(self, write_version=protos.SaverDef.V2):
        self._write_version = write_version

    def save_op(self, filename_tensor, saveables):
        """Returns the op that writes the tensors of saveables to one file."""
        specs = [s for saveable in saveables for s in saveable.specs]
        names, slices, tensors = [s.name for s in specs], [s.slice_spec for s in specs], [s.tensor for s in specs]
        tensors = [convert_to_tensor(t) if not hasattr(t, "_ref") else t._ref() for t in tensors]
        if self._write_version == protos.SaverDef.V1:
            return op("SaveSlices", "save", filename=filename_tensor, tensor_names=names, shapes_and_slices=slices, data=tensors)
        if self._write_version != protos.SaverDef.V2:
            raise RuntimeError("Unexpected write_version: %s" % (self._write_version,))
        return op("SaveV2", prefix=filename_tensor, tensor_names=names, shape_and_slices=slices, tensors=tensors)

    def restore_op(self, filename_tensor, saveable, preferred_shard):
        """Returns the tensors of one saveable, read from a file."""
        return self._read(filename_tensor, saveable.specs)

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        """Returns the tensors of all saveables, read from a file with one op for each saveable."""
        found = []
        for saveable in saveables:
            with device(_on_cpu(saveable.device)):
                found += self.restore_op(filename_tensor, saveable, preferred_shard)
        return found

    def sharded_filename(self, filename_tensor, shard, num_shards):
        """Returns the name of one file of a checkpoint with several files."""
        return op("ShardedFilename", basename=filename_tensor, shard=shard, num_shards=num_shards)

    @staticmethod
    def _read(filename_tensor, specs):
        return op("RestoreV2", prefix=filename_tensor, tensor_names=[s.name for s in specs],
                  shape_and_slices=[s.slice_spec for s in specs], dtypes=[dtypes.as_dtype(s.dtype).base_dtype for s in specs])

    def _save(self, filename_tensor, saveables):
        return with_dependencies([self.save_op(filename_tensor, saveables)], filename_tensor)

    def _restore(self, filename_tensor, saveables, sequentially, reshape, shard=-1, name="restore_all"):
        """Returns the op that reads the file and sets every saveable."""
        tensors, at, done = self.bulk_restore(filename_tensor, saveables, shard, sequentially), 0, []
        for saveable in saveables:
            shapes = None
            if reshape:
                values = [s.tensor for s in saveable.specs]
                shapes = [v.shape if v.shape.is_fully_defined() else array_ops.shape(v) for v in values]
            done.append(saveable.restore(tensors[at:at + len(saveable.specs)], shapes))
            at += len(saveable.specs)
        return group(*done, name=name)

    @staticmethod
    def _by_device(saveables):
        groups = {}
        for s in saveables:
            groups.setdefault(DeviceSpec.from_string(s.device or "").to_string(), []).append(s)
        return sorted(groups.items())

    def _save_shards(self, filename, groups):
        """Returns the name of a checkpoint to which each device writes a file; version 2 then merges their indices."""
        first = self._write_version == protos.SaverDef.V1
        with device("CPU"):
            part = filename if first else string_ops.string_join([filename, array_ops.where(
                string_ops.regex_full_match(filename, "^s3://.*"), constant(".part"), constant("_temp/part"))])
        count, names, done = constant(len(groups), name="num_shards"), [], []
        for i, (where, saveables) in enumerate(groups):
            with device(_on_cpu(where) or "/device:CPU:0"):
                names.append(self.sharded_filename(part, i, count))
                done.append(self._save(names[-1], saveables))
        if first:
            with control_dependencies([d.op for d in done]):
                return op("ShardedFilespec", basename=filename, num_shards=count)
        with control_dependencies([d.op for d in done]), device(_on_cpu(groups[-1][0]) or "/device:CPU:0"):
            merged = op("MergeV2Checkpoints", checkpoint_prefixes=names, destination_prefix=filename, delete_old_dirs=True)
            with control_dependencies([merged]):
                return array_ops.identity(filename)

    def _restore_shards(self, filename, groups, sequentially, reshape):
        done = []
        for i, (where, saveables) in enumerate(groups):
            with device(where):
                done.append(self._restore(filename, saveables, sequentially, reshape, i, "restore_shard"))
        return group(*done, name="restore_all")

    def build(self, names_to_saveables, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0,
              name=None, restore_sequentially=False, filename="model"):
        """Makes the nodes for a list of variables and SaveableObjects, or a dict with their names, and returns the
        SaverDef.
        """
        return self._build_internal(names_to_saveables, reshape, sharded, max_to_keep, keep_checkpoint_every_n_hours, name,
                                    restore_sequentially, filename)

    def _build_internal(self, names_to_saveables, reshape=False, sharded=False, max_to_keep=5,
                        keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False, filename="model",
                        build_save=True, build_restore=True):
        from weft._core.train.saver import _check_once, _named
        pairs = _named(names_to_saveables)
        _check_once(pairs)
        saveables = sorted((_of(v, n) for v, n in pairs), key=lambda s: s.name)
        with name_scope(name, "save", [s.op for s in saveables]):
            given = op("PlaceholderWithDefault", "filename", shape=[], input=constant(filename or "model", name="filename/input"))
            given = op("PlaceholderWithDefault", "Const", shape=[], input=given)
            saved = restored = None
            if sharded:
                groups = self._by_device(saveables)
                saved = self._save_shards(given, groups) if build_save else None
                restored = self._restore_shards(given, groups, restore_sequentially, reshape) if build_restore else None
            else:
                saved = self._save(given, saveables) if build_save else None
                restored = self._restore(given, saveables, restore_sequentially, reshape) if build_restore else None
        return protos.SaverDef(
            filename_tensor_name=given.name, save_tensor_name=saved.name if build_save else "",
            restore_op_name=restored.name if build_restore else "", max_to_keep=max_to_keep or 0, sharded=bool(sharded),
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours, version=self._write_version)


class BulkSaverBuilder(BaseSaverBuilder):
    """Reads all tensors with one op, as a Saver without a builder does."""

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        """Returns the tensors of all saveables, read from a file by one op."""
        with device("CPU:0"):
            return self._read(filename_tensor, [s for saveable in saveables for s in saveable.specs])
