"""tf.contrib.deprecated: the summaries of before 1.0, which tf itself had too."""
from .. import summary

merge_all_summaries, merge_summary = summary.merge_all, summary.merge


def scalar_summary(tags, values, collections=None, name=None):
    return summary.scalar(tags, values, collections)


def histogram_summary(tag, values, collections=None, name=None):
    return summary.histogram(tag, values, collections)


def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    return summary.image(tag, tensor, max_images, collections)
