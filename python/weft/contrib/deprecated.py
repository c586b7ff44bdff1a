"""tf.contrib.deprecated: the summaries of before 1.0."""
from weft._core.files.summary import histogram_summary, image_summary, merge_all_summaries, merge_summary, scalar_summary
from weft._core.public import publish as _publish

__all__ = ["histogram_summary", "image_summary", "merge_all_summaries", "merge_summary", "scalar_summary"]
__getattr__ = _publish(__name__)
