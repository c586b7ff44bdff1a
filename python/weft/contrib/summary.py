"""tf.contrib.summary: nodes that write to an event file themselves."""
from weft._core.files.summary_writers import (
    SummaryWriter,
    all_summary_ops,
    always_record_summaries,
    audio,
    create_db_writer,
    create_file_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    generic,
    graph,
    histogram,
    image,
    import_event,
    initialize,
    never_record_summaries,
    record_summaries_every_n_global_steps,
    scalar,
    should_record_summaries,
    summary_writer_initializer_op,
)
from weft._core.public import publish as _publish

__all__ = [
    "SummaryWriter", "all_summary_ops", "always_record_summaries", "audio", "create_db_writer", "create_file_writer",
    "create_summary_file_writer", "eval_dir", "flush", "generic", "graph", "histogram", "image", "import_event",
    "initialize", "never_record_summaries", "record_summaries_every_n_global_steps", "scalar",
    "should_record_summaries", "summary_writer_initializer_op",
]
__getattr__ = _publish(__name__)
