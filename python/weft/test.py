"""tf.test: a TestCase with the comparisons that programs' tests use."""
from unittest import mock

from weft._core.platform.gradient_checker import compute_gradient, compute_gradient_error
from weft._core.platform.test import (
    Benchmark,
    StubOutForTesting,
    TestCase,
    assert_equal_graph_def,
    benchmark_config,
    create_local_cluster,
    disable_with_predicate,
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
    "Benchmark", "StubOutForTesting", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient",
    "compute_gradient_error", "create_local_cluster", "disable_with_predicate", "get_temp_dir", "gpu_device_name",
    "is_built_with_cuda", "is_built_with_gpu_support", "is_built_with_rocm", "is_built_with_xla", "is_gpu_available",
    "main", "mock", "test_src_dir_path",
]
__getattr__ = _publish(__name__)
