"""tf.contrib.learn.datasets.base: tables of values as files."""
from weft._core.contrib.learn_data import Dataset, Datasets, load_csv_with_header, load_csv_without_header, maybe_download, shrink_csv
from weft._core.public import publish as _publish

__all__ = ["Dataset", "Datasets", "load_csv_with_header", "load_csv_without_header", "maybe_download", "shrink_csv"]
__getattr__ = _publish(__name__)
