"""tf.python_io: files of records."""
from weft._core.files.python_io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator
from weft._core.public import publish as _publish

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]
__getattr__ = _publish(__name__)
