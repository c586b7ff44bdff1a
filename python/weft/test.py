"""tf.test: a TestCase with the comparisons that programs' tests use."""
from weft._core.platform.test import (
    TestCase,
    get_temp_dir,
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_built_with_xla,
    is_gpu_available,
    main,
    test_src_dir_path,
)
from weft._core.public import publish as _publish

__all__ = [
    "TestCase", "get_temp_dir", "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm",
    "is_built_with_xla", "is_gpu_available", "main", "test_src_dir_path",
]
__getattr__ = _publish(__name__)
