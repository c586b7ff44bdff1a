"""tf.contrib.factorization: clusters of rows."""
from weft._core.contrib.factorization import COSINE_DISTANCE, KMEANS_PLUS_PLUS_INIT, RANDOM_INIT, SQUARED_EUCLIDEAN_DISTANCE, KMeans
from weft._core.contrib.mixture import GMM, GmmAlgorithm, gmm
from weft._core.contrib.wals import WALSModel
from weft._core.estimator.kmeans import KMeans as KMeansClustering
from weft._core.public import publish as _publish

__all__ = [
    "COSINE_DISTANCE", "GMM", "GmmAlgorithm", "KMEANS_PLUS_PLUS_INIT", "KMeans", "KMeansClustering", "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE", "WALSModel", "gmm",
]
__getattr__ = _publish(__name__)
