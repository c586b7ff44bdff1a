"""tf.summary: nodes that make summaries, and the files TensorBoard reads."""
from weft._core.files.summary import (
    FileWriter,
    FileWriterCache,
    audio,
    get_summary_description,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from weft._core.files.summary_writers import all_v2_summary_ops, initialize
from weft._core.framework.protos import Event, SessionLog, Summary, SummaryDescription, TaggedRunMetadata
from weft._core.public import publish as _publish

__all__ = [
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata",
    "all_v2_summary_ops", "audio", "get_summary_description", "histogram", "image", "initialize", "merge",
    "merge_all", "scalar", "tensor_summary", "text",
]
__getattr__ = _publish(__name__)
