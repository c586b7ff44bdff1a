"""tensorflow.python.tools.inspect_checkpoint: prints the tensors of a checkpoint."""
import re

import numpy as np

from weft._core.train.saver import NewCheckpointReader


def _count(shapes, pattern):
    """Prints how many numbers the tensors have, excluding those whose names match a pattern."""
    left_out = {n for n in shapes if pattern and re.match(pattern, n)}
    sizes = {n: int(np.prod(shape, dtype=np.int64)) for n, shape in shapes.items()}
    if left_out:
        print("# Excluding %d tensors (%d params) that match %s when counting." % (
            len(left_out), sum(sizes[n] for n in left_out), pattern))
    print("# Total number of params: %d" % sum(size for n, size in sizes.items() if n not in left_out))


def print_tensors_in_checkpoint_file(file_name, tensor_name, all_tensors, all_tensor_names=False, count_exclude_pattern=""):
    """Prints the names, types, shapes and values of the tensors of a checkpoint.

    Args:
      file_name: the prefix of the checkpoint.
      tensor_name: the one tensor to print; an empty text prints a line for each.
      all_tensors: whether all tensors are printed with their values.
      all_tensor_names: whether all tensors are printed without their values.
      count_exclude_pattern: a regular expression of names that are not counted.
    """
    try:
        reader = NewCheckpointReader(file_name)
        shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        if all_tensors or all_tensor_names:
            for name in sorted(shapes):
                print("tensor: %s (%s) %s" % (name, types[name].name, shapes[name]))
                if all_tensors:
                    print(reader.get_tensor(name))
        elif not tensor_name:
            print(reader.debug_string().decode("utf-8", errors="ignore"))
        else:
            if not reader.has_tensor(tensor_name):
                print("Tensor %s not found in checkpoint" % tensor_name)
                return
            print("tensor: %s (%s) %s" % (tensor_name, types[tensor_name].name, shapes[tensor_name]))
            print(reader.get_tensor(tensor_name))
        _count(shapes, count_exclude_pattern)
    except Exception as e:  # noqa: BLE001 - the tool prints the error
        print(str(e))
        if "corrupted compressed block contents" in str(e):
            print("It's likely that your checkpoint file has been compressed with SNAPPY.")
        if "Data loss" in str(e) and any(part in file_name for part in (".index", ".meta", ".data")):
            print("It's likely that this is a V2 checkpoint and you need to provide the filename *prefix*.  Try removing the '.' and "
                  "extension.  Try: inspect checkpoint --file_name = %s" % file_name.rpartition(".")[0])
