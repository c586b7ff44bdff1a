"""tf.contrib.learn.datasets.mnist: the digits, in batches."""
from weft._core.public import publish as _publish
from weft._core.run.mnist import DataSet, Datasets, dense_to_one_hot, extract_images, extract_labels, load_mnist, read_data_sets

__all__ = ["DataSet", "Datasets", "dense_to_one_hot", "extract_images", "extract_labels", "load_mnist", "read_data_sets"]
__getattr__ = _publish(__name__)
