"""tensorflow.python.ops.summary_op_util: names and collections of summaries that programs make themselves."""
import contextlib
import re

import weft as tf


def skip_summary():
    """Returns whether summaries are left out here, which only happens in replicas of a strategy of TPUs."""
    return False


def collect(val, collections, default_collections):
    """Adds a summary to collections, or to default_collections if that is None."""
    for key in default_collections if collections is None else collections:
        tf.add_to_collection(key, val)


def clean_tag(name):
    """Returns a tag with an underscore for each character that a name cannot have, and no slash in front."""
    if name is None:
        return None
    cleaned = re.sub(r"[^-/\w\.]", "_", name, flags=re.ASCII).lstrip("/")
    if cleaned != name:
        tf.logging.info("Summary name %s is illegal; using %s instead.", name, cleaned)
    return cleaned


@contextlib.contextmanager
def summary_scope(name, family=None, default_name=None, values=None):
    """Opens a name scope for a summary and gives its tag and the scope; a family stands once more before the tag."""
    name, family = clean_tag(name), clean_tag(family)
    with tf.name_scope(name if family is None else "%s/%s" % (family, name), default_name, values) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else "%s/%s" % (family, tag)), scope
