"""tf.contrib.slim.parallel_reader: several readers of the files of a data set."""
from weft._core.contrib.slim_data import ParallelReader, get_data_files, parallel_read, single_pass_read
from weft._core.public import publish as _publish

__all__ = ["ParallelReader", "get_data_files", "parallel_read", "single_pass_read"]
__getattr__ = _publish(__name__)
