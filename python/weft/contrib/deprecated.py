"""tf.contrib.deprecated: the summaries of before 1.0, which tf itself had too."""
from ..summary import histogram_summary, image_summary, merge_all_summaries, merge_summary, scalar_summary  # noqa: F401
