"""tf.load_op_library and similar functions raise errors that say what to do instead of loading a plug-in."""
import errno
import os

from weft._core.framework import absent


def _error(name, path):
    return NotImplementedError(
        "tf.%s(%r) is not in Weft%s: a library of ops for TensorFlow calls TensorFlow's C++ code, which is not here. Write the op "
        "in C (docs/adding-an-op.md), or as a function of tf.py_func, or of ops that Weft has (`weft ops`)." % (name, path, absent.where()))


def load_op_library(library_filename):
    """Raises an error, because Weft cannot load ops from TensorFlow's shared libraries."""
    raise _error("load_op_library", library_filename)


def load_library(library_location):
    """Raises an error, because Weft cannot load ops from TensorFlow's shared libraries."""
    raise _error("load_library", library_location)


def load_file_system_library(library_filename):
    """Raises an error, because Weft cannot load file systems from TensorFlow's shared libraries."""
    raise NotImplementedError("tf.load_file_system_library(%r) is not in Weft%s: copy the files to a local or mounted file system"
                              % (library_filename, absent.where()))


def register_filesystem_plugin(plugin_location):
    """Raises an error, because Weft cannot load file systems from TensorFlow's shared libraries.

    Args:
      plugin_location: the path of the library.  FileNotFoundError if it is not there.
    """
    if not os.path.exists(plugin_location):
        raise FileNotFoundError(errno.ENOENT, "The file to load file system plugin from does not exist.", plugin_location)
    raise NotImplementedError("tf.experimental.register_filesystem_plugin(plugin_location=%r) is not in Weft%s: copy the files to a "
                              "local or mounted file system" % (plugin_location, absent.where()))


def do_quantize_training_on_graphdef(input_graph, num_bits):
    """Raises an error, because Weft does not rewrite graphs for quantized training."""
    raise NotImplementedError("tf.train.do_quantize_training_on_graphdef is not in Weft%s: put "
                              "tf.fake_quant_with_min_max_vars into the model" % absent.where())
