"""tf.contrib.stat_summarizer: where the steps of a graph spend their time."""
from weft._core.contrib.stat_summarizer import DeleteStatSummarizer, NewStatSummarizer, StatSummarizer
from weft._core.public import publish as _publish

__all__ = ["DeleteStatSummarizer", "NewStatSummarizer", "StatSummarizer"]
__getattr__ = _publish(__name__)
