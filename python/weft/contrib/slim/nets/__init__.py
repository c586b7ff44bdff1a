"""tf.contrib.slim.nets: known networks for images."""
from weft._core.public import publish as _publish
from weft.contrib.slim.nets import alexnet, inception, overfeat, resnet_utils, resnet_v1, resnet_v2, vgg

__all__ = ["alexnet", "inception", "overfeat", "resnet_utils", "resnet_v1", "resnet_v2", "vgg"]
__getattr__ = _publish(__name__)
