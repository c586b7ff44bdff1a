"""tf.train.init_from_checkpoint and tf.train.warm_start: initialize variables with values of a checkpoint."""
import collections
import re

from weft._core.framework.build import op
from weft._core.framework.graph import GraphKeys, get_collection, get_default_graph
from weft._core.ops.partitioned import PartitionedVariable
from weft._core.ops.variables import Variable, global_variables
from weft._core.platform import logging
from weft._core.train.saver import _prefix, load_checkpoint


class VocabInfo(collections.namedtuple("VocabInfo", [
        "new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer", "axis"])):
    """Describes where the rows of a variable of one vocabulary are in a checkpoint of another vocabulary."""

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1, backup_initializer=None, axis=0):
        if axis not in (0, 1):
            raise ValueError("The only supported values for the axis argument are 0 and 1.  Provided axis: %s" % axis)
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis)


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Makes the initializers of variables take their values from a checkpoint.

    Args:
      ckpt_dir_or_file: a folder of checkpoints or the prefix of one.
      assignment_map: a dict or a list of pairs from names in the checkpoint to variables, lists of pieces of a
        partitioned variable, or names of variables. 'a/': 'b/' takes each variable of scope b from scope a; '/' is
        the whole checkpoint.
    """
    reader, path = load_checkpoint(ckpt_dir_or_file), _prefix(ckpt_dir_or_file)
    shapes = reader.get_variable_to_shape_map()
    pairs = assignment_map.items() if isinstance(assignment_map, dict) else assignment_map
    for ours, theirs in sorted(((current, name) for name, current in pairs), key=str):
        found = _variables(ours)
        if found is not None:
            _check(ckpt_dir_or_file, found, theirs, shapes)
            _initialize(found, path, theirs)
        else:
            _initialize_scope(ours, theirs, shapes, ckpt_dir_or_file, path)


def _variables(given):
    """Returns the variable, or the pieces, that a value of the map names, or None if it names a scope."""
    if isinstance(given, (Variable, PartitionedVariable)):
        return given
    if isinstance(given, (list, tuple)) and given and all(isinstance(v, Variable) for v in given):
        return list(given)
    found = _by_name().get(given)
    return found


def _made_by_name():
    """Returns the variables that get_variable made here: names mean no others, neither imported ones nor those of tf.Variable."""
    return list(get_default_graph()._variable_store.values())


def _by_name():
    """Returns {name: variable}, in which a partitioned variable is a list of its pieces."""
    found, pieces = {}, collections.defaultdict(list)
    for variable in _made_by_name():
        info = variable._save_slice_info
        if info is not None:
            pieces[info.full_name].append(variable)
        found[variable.op.name] = variable
    found.update(pieces)
    return found


def _check(checkpoint, variable, name, shapes):
    if name not in shapes:
        raise ValueError("Tensor %s is not found in %s checkpoint %s" % (name, checkpoint, shapes))
    if isinstance(variable, Variable) and variable._save_slice_info is None and not variable.shape.is_compatible_with(shapes[name]):
        raise ValueError("Shape of variable %s (%s) doesn't match with shape of tensor %s (%s) from checkpoint reader." % (
            variable.name, variable.shape, name, shapes[name]))


def _initialize_scope(ours, theirs, shapes, checkpoint, path):
    """Maps the scope `theirs` of a checkpoint to the scope `ours` of the graph."""
    if not theirs.endswith("/") or not ours.endswith("/"):
        raise ValueError("Assignment map with scope only name %s should map to scope only %s. Should be 'scope/': 'other_scope/'." % (
            ours.rpartition("/")[0], theirs))
    ours = "" if ours == "/" else ours
    theirs = "" if theirs == "/" else theirs
    done = set()
    for variable in _made_by_name():
        info = variable._save_slice_info
        whole = variable.op.name if info is None else info.full_name
        if not whole.startswith(ours) or whole in done:
            continue
        done.add(whole)
        tensor = theirs + whole[len(ours):]
        if tensor not in shapes:
            short = whole[len(ours):]
            raise ValueError("Tensor %s (%s in %s) is not found in %s checkpoint" % (tensor, short, theirs or "/", checkpoint))
        _initialize(_by_name()[whole], path, tensor)


def _initialize(variable, path, name):
    """Gives a variable, or the pieces of one, an initializer that reads the checkpoint."""
    pieces = list(variable) if isinstance(variable, (list, PartitionedVariable)) else [variable]
    for piece in pieces:
        info = piece._save_slice_info
        wanted = info.spec if info is not None and len(pieces) > 1 else ""
        graph = get_default_graph()
        with graph.device(piece.device), graph.device("/cpu:0"), graph.control_dependencies(None):
            value = op("RestoreV2", "checkpoint_initializer", prefix=path, tensor_names=[name], shape_and_slices=[wanted],
                       dtypes=[piece.dtype.base_dtype])[0]
        value.set_shape(piece.shape)
        if hasattr(piece, "handle"):
            with graph.control_dependencies(None), graph.device(piece.device):
                piece._initializer_op = op("AssignVariableOp", resource=piece.handle, value=op("Identity", input=value))
        else:
            with graph.control_dependencies(None), graph.colocate_with(piece.op):
                piece._initializer_op = op("Assign", ref=piece._variable, value=value).op
        piece._initial_value = value
        # The library's own init op would still run the original initializers of these variables.
        graph._initializers_replaced = True


def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None, var_name_to_prev_var_name=None):
    """Initializes variables with the values of a checkpoint.

    Args:
      ckpt_to_initialize_from: a folder of checkpoints or the prefix of one.
      vars_to_warm_start: a regular expression for names of trainable variables, a list of names or of expressions for
        any global variable, a list of variables, or None for none.
      var_name_to_vocab_info: VocabInfo for variables whose vocabulary changed; not in Weft.
      var_name_to_prev_var_name: {name of a variable: its name in the checkpoint} where they differ.
    """
    if var_name_to_vocab_info:
        raise NotImplementedError("tf.train.warm_start(var_name_to_vocab_info) is not in Weft: map the rows of %s in a "
                                  "tf.train.Scaffold(init_fn=...)" % sorted(var_name_to_vocab_info))
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    renamed, found = dict(var_name_to_prev_var_name or {}), {}
    for variable in _chosen(vars_to_warm_start):
        info = variable._save_slice_info
        found.setdefault(variable.op.name if info is None else info.full_name, []).append(variable)
    unused = set(renamed) - set(found)
    if unused and found:
        logging.warning("You provided the following variables in var_name_to_prev_var_name that were not used: %s. Perhaps you misspelled "
                        "them?  Here is the list of viable variable names: %s", unused, sorted(found))
    for name in sorted(found):
        pieces = found[name]
        init_from_checkpoint(ckpt_to_initialize_from, {renamed.get(name, name): pieces if len(pieces) > 1 else pieces[0]})


def _chosen(wanted):
    if wanted is None:
        return []
    if isinstance(wanted, str):
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=wanted)
    if not isinstance(wanted, list):
        raise ValueError("`vars_to_warm_start must be a `list` or `str`.  Found type %s" % type(wanted))
    if all(isinstance(w, str) for w in wanted):
        chosen = []
        for pattern in wanted:
            chosen += [v for v in global_variables() if re.match(pattern, v.op.name) and v not in chosen]
        return chosen
    if all(isinstance(w, Variable) for w in wanted):
        return wanted
    raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are %s" % [
        type(w) for w in wanted])
