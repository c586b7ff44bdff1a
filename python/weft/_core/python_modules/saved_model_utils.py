"""tensorflow.python.tools.saved_model_utils: the graphs of a SavedModel."""
import os

from weft._core.files.gfile import local
from weft._core.framework import protos, text_format


def read_saved_model(saved_model_dir):
    """Returns the SavedModel message of a folder."""
    base = os.path.join(os.fspath(saved_model_dir), "saved_model.pb")
    if os.path.exists(local(base)):
        with open(local(base), "rb") as f:
            return protos.SavedModel.FromString(f.read())
    if os.path.exists(local(base + "txt")):
        with open(local(base + "txt")) as f:
            return text_format.Parse(f.read(), protos.SavedModel())
    raise OSError("SavedModel file does not exist at: %s" % saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir):
    """Returns the tags of each graph of a SavedModel."""
    return [list(m.meta_info_def.tags) for m in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir, tag_set):
    """Returns the graph of a SavedModel that has these tags, a text with commas."""
    found, wanted = read_saved_model(saved_model_dir).meta_graphs, set(tag_set.split(","))
    for meta in found:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    raise RuntimeError("MetaGraphDef associated with tag-set %s could not be found in the SavedModel. Please use one of the following "
                       "tag-sets: %s" % (tag_set, [", ".join(m.meta_info_def.tags) for m in found]))
