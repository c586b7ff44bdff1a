"""tf.test: TestCase with the comparisons that programs' tests use."""
import contextlib
import os
import shutil
import tempfile
import unittest

import numpy as np

from weft._core.framework.absent import Named


class TestCase(unittest.TestCase, metaclass=Named):
    def setUp(self):
        from weft._core.framework.graph import reset_default_graph
        super().setUp()
        self._folder = None
        reset_default_graph()

    def tearDown(self):
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        super().tearDown()

    def get_temp_dir(self):
        if not self._folder:
            self._folder = tempfile.mkdtemp()
        return self._folder

    @contextlib.contextmanager
    def test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        from weft._core.session.client import Session
        with Session(graph=graph, config=config) as sess:
            yield sess

    session = cached_session = test_session

    def evaluate(self, tensors):
        from weft._core.session.client import get_default_session
        return get_default_session().run(tensors)

    def _value(self, x):
        return self.evaluate(x) if hasattr(x, "graph") else x

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        np.testing.assert_allclose(self._value(a), self._value(b), rtol=rtol, atol=atol, err_msg=msg or "")

    def assertAllEqual(self, a, b, msg=None):
        np.testing.assert_array_equal(self._value(a), self._value(b), err_msg=msg or "")

    def assertShapeEqual(self, np_array, tf_tensor):
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list())

    def assertNear(self, f1, f2, err, msg=None):
        self.assertTrue(abs(f1 - f2) <= err, msg or "%f != %f +/- %f" % (f1, f2, err))

    def assertRaisesOpError(self, expected):
        from weft._core.framework import errors
        return self.assertRaisesRegex(errors.OpError, expected)


def main(argv=None):
    unittest.main(argv=argv)


def get_temp_dir():
    return tempfile.gettempdir()


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    from weft._core.session.cluster import list_local_devices
    return any(d.device_type == "GPU" for d in list_local_devices())


def is_built_with_cuda():
    return False


def is_built_with_gpu_support():
    return is_built_with_cuda()


def is_built_with_rocm():
    return False


def is_built_with_xla():
    return False


def gpu_device_name():
    from weft._core.session.cluster import list_local_devices
    return next((d.name for d in list_local_devices() if d.device_type == "GPU"), "")


def test_src_dir_path(relative_path):
    return os.path.abspath(relative_path)
