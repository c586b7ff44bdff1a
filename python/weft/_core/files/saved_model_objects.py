"""tf.saved_model's names for object-based models, and MethodNameUpdater.

TensorFlow writes such models from functions that it traces in eager mode. Weft has no eager mode, so save and load_v2
raise an error.
"""
import enum
import os
import shutil

from weft._core.files.gfile import local
from weft._core.framework import protos
from weft._core.framework.absent import Named, where
from weft._core.framework.trackable import Trackable

DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "debug", "saved_model_debug_info.pb"


class VariablePolicy(enum.Enum):
    """How variables of strategies are saved."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"


class SaveOptions(metaclass=Named):
    """Options of tf.saved_model.save."""

    def __init__(self, namespace_whitelist=None, save_debug_info=False, function_aliases=None, experimental_io_device=None,
                 experimental_variable_policy=None, experimental_custom_gradients=True, experimental_image_format=False,
                 experimental_skip_saver=False):
        if experimental_image_format:
            raise ValueError("The option `experimental_image_format` is disabled in OSS.")
        self.namespace_whitelist = None if namespace_whitelist is None else [str(n) for n in namespace_whitelist]
        self.save_debug_info, self.function_aliases = save_debug_info, function_aliases or {}
        self.experimental_io_device = experimental_io_device
        policy = experimental_variable_policy
        self.experimental_variable_policy = policy if isinstance(policy, VariablePolicy) else VariablePolicy(policy and policy.lower())
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format, self.experimental_skip_saver = experimental_image_format, experimental_skip_saver


class Asset(Trackable, metaclass=Named):
    """A file that belongs to a model."""

    def __init__(self, path):
        from weft._core.framework.build import constant
        from weft._core.framework.graph import GraphKeys, get_default_graph
        graph = get_default_graph()
        with graph.device("/cpu:*"):
            self._path = constant(os.path.abspath(os.fspath(path)), name="asset_path")
        graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, self._path)

    asset_path = property(lambda self: self._path)


def save(obj, export_dir, signatures=None, options=None):
    """Raises an error, because it needs eager mode."""
    raise NotImplementedError("tf.saved_model.save is not in Weft%s: it traces functions in eager mode; use "
                              "tf.saved_model.simple_save or tf.saved_model.Builder with a session" % where())


def load_v2(export_dir, tags=None, options=None):
    """Raises an error, because it needs eager mode."""
    folder = os.path.join(local(os.fspath(export_dir)), "saved_model.pb")
    if not os.path.exists(folder) and not os.path.exists(folder + "txt"):
        raise OSError("SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}" % export_dir)
    raise NotImplementedError("tf.saved_model.load_v2 is not in Weft%s: its functions need eager mode; use "
                              "tf.saved_model.load(sess, tags, export_dir)" % where())


class MethodNameUpdater(metaclass=Named):
    """Changes the names of methods in the signatures of a saved model."""

    def __init__(self, export_dir):
        self._folder = local(os.fspath(export_dir))
        path = os.path.join(self._folder, "saved_model.pb")
        if not os.path.exists(path):
            raise OSError("SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}" % export_dir)
        with open(path, "rb") as f:
            self._model = protos.SavedModel.FromString(f.read())

    def replace_method_name(self, signature_key, method_name, tags=None):
        """Changes a method name in the graphs that have all the tags, or in all graphs."""
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        tags = [tags] if isinstance(tags, str) else tags
        found = False
        for graph in self._model.meta_graphs:
            if tags and set(tags) != set(graph.meta_info_def.tags):
                continue
            if signature_key not in graph.signature_def:
                raise ValueError("MetaGraphDef associated with tags %r does not have a signature_def with key: '%s'. This means "
                                 "either you specified the wrong signature key or forgot to put the signature_def with the "
                                 "corresponding key in your SavedModel." % (tags, signature_key))
            graph.signature_def[signature_key].method_name = method_name
            found = True
        if not found:
            raise ValueError("MetaGraphDef associated with tags %r could not be found in SavedModel. This means either you specified "
                             "the wrong tags or forgot to put them in your SavedModel." % (tags,))

    def save(self, new_export_dir=None):
        """Writes the graphs, to another folder if one is given. A new folder gets all files of the model."""
        folder = self._folder
        if new_export_dir:
            folder = local(os.fspath(new_export_dir))
            if not os.path.exists(folder):
                shutil.copytree(self._folder, folder)
        path = os.path.join(folder, "saved_model.pb")
        with open(path + ".tmp", "wb") as f:
            f.write(self._model.SerializeToString())
        os.replace(path + ".tmp", path)
