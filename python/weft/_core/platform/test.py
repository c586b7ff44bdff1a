"""tf.test: TestCase with the comparisons that tests of programs use."""
import os
import shutil
import sys
import tempfile
import unittest

import numpy as np

from weft._core.framework.absent import Named
from weft._core.platform.absl_case import AbslCase
from weft._core.platform.test_sessions import SessionCase


class TestCase(SessionCase, AbslCase):
    _folder = None

    def setUp(self):
        super().setUp()
        self.begin_graph()

    def tearDown(self):
        self.drop_session()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        super().tearDown()

    def get_temp_dir(self):
        if not self._folder:
            self._folder = tempfile.mkdtemp(dir=get_temp_dir())
        return self._folder

    def _value(self, x):
        return self.evaluate(x) if hasattr(x, "graph") else x

    def _array(self, x):
        return np.asarray(self._value(x))

    def _nested(self, value):
        return value._asdict() if hasattr(value, "_asdict") else value

    def _compare(self, a, b, check, path=""):
        """Calls check(a, b, where) for the arrays of two structures, which must have the same form."""
        a, b = self._nested(a), self._nested(b)
        if isinstance(a, dict):
            self.assertIsInstance(b, dict)
            self.assertCountEqual(a, b, "The keys differ%s" % (path and " in " + path))
            for key in a:
                self._compare(a[key], b[key], check, "%s[%r]" % (path, key))
        elif isinstance(a, (list, tuple)) and any(isinstance(x, (dict, list, tuple)) or hasattr(x, "_asdict") for x in a) and \
                self._array_or_none(a) is None:
            self.assertEqual(len(a), len(b))
            for i, (x, y) in enumerate(zip(a, b)):
                self._compare(x, y, check, "%s[%d]" % (path, i))
        else:
            check(self._array(a), self._array(b), path)

    def _array_or_none(self, a):
        try:
            found = np.asarray(self._value(a) if hasattr(a, "graph") else [self._value(x) for x in a])
        except ValueError:
            return None
        return found if found.dtype != object else None

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Asserts that two structures of arrays are equal within a tolerance."""
        def check(x, y, path):
            self.assertEqual(x.shape, y.shape, "Shape mismatch%s: %s" % (path and " in " + path, msg or ""))
            np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg="%s %s" % (path, msg or ""))
        self._compare(a, b, check)

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3,
                                      half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """Works as assertAllClose does, with a larger tolerance for types of less precision."""
        a, b = self._array(a), self._array(b)
        kinds = {str(a.dtype), str(b.dtype)}
        for names, r, t in (({"float32", "complex64"}, float_rtol, float_atol), ({"float16"}, half_rtol, half_atol),
                            ({"bfloat16"}, bfloat16_rtol, bfloat16_atol)):
            if kinds & names:
                rtol, atol = max(rtol, r), max(atol, t)
        if "bfloat16" in kinds:
            a, b = a.astype(np.float32), b.astype(np.float32)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Asserts that two arrays are not equal within a tolerance."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements. %s" % (msg or ""))

    def assertAllEqual(self, a, b, msg=None):
        """Asserts that two arrays have the same shape and elements."""
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, "Shape mismatch: expected %s, got %s. %s" % (a.shape, b.shape, msg or ""))
        np.testing.assert_array_equal(a, b, err_msg=msg or "")

    def assertNotAllEqual(self, a, b, msg=None):
        """Asserts that two arrays differ."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError("The two values are equal at all elements. %s" % (msg or ""))

    def _all(self, a, good, said):
        a = self._array(a)
        if not good(a).all():
            raise AssertionError("%s: %s" % (said, a[~good(a)] if a.ndim else a))

    def assertAllGreater(self, a, comparison_target):
        """Asserts that all elements are greater."""
        self._all(a, lambda x: x > comparison_target, "Elements are not greater than %s" % comparison_target)

    def assertAllGreaterEqual(self, a, comparison_target):
        """Asserts that all elements are greater or equal."""
        self._all(a, lambda x: x >= comparison_target, "Elements are less than %s" % comparison_target)

    def assertAllLess(self, a, comparison_target):
        """Asserts that all elements are less."""
        self._all(a, lambda x: x < comparison_target, "Elements are not less than %s" % comparison_target)

    def assertAllLessEqual(self, a, comparison_target):
        """Asserts that all elements are less or equal."""
        self._all(a, lambda x: x <= comparison_target, "Elements are greater than %s" % comparison_target)

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        """Asserts that all elements are in an interval."""
        def good(x):
            low = x > lower_bound if open_lower_bound else x >= lower_bound
            return low & (x < upper_bound if open_upper_bound else x <= upper_bound)
        if self._array(target).dtype.kind not in "fiu":
            raise AssertionError("The value of %s does not have an ordered numeric type" % (target,))
        self._all(target, good, "Elements are not between %s and %s" % (lower_bound, upper_bound))

    def assertAllInSet(self, target, expected_set):
        """Asserts that all elements are in a set."""
        self._all(target, lambda x: np.isin(x, list(expected_set)), "Elements are not in %s" % (expected_set,))

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """Asserts that two lists of numbers differ by at most `err` at each position."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2):
            self.assertNear(float(a), float(b), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Asserts that the norm of the difference of two arrays is less than `err`."""
        self.assertTrue(np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2)) < err, msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """Asserts that an array has a type."""
        self.assertEqual(self._array(target).dtype, np.dtype(getattr(expected_dtype, "as_numpy_dtype", expected_dtype)))

    def assertDeviceEqual(self, device1, device2, msg=None):
        """Asserts that two devices are the same."""
        from weft._core.framework.device_spec import DeviceSpec
        one, other = (DeviceSpec.from_string(d or "").to_string() if not hasattr(d, "to_string") else d.to_string()
                      for d in (device1, device2))
        self.assertEqual(one, other, msg or "Devices %s and %s are not equal." % (device1, device2))

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):
        """Asserts that two messages are equal; the expected one may be text."""
        from weft._core.framework import text_format
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            expected = text_format.Parse(expected.decode() if isinstance(expected, bytes) else expected, type(message)())
        self.assertEqual(text_format.MessageToString(expected), text_format.MessageToString(message), msg)

    def assertShapeEqual(self, input_a, input_b, msg=None):
        """Asserts that two arrays or tensors have the same shape."""
        self.assertEqual(*([int(d) for d in x.shape] if isinstance(x, np.ndarray) else x.get_shape().as_list() for x in (input_a, input_b)),
                         msg)

    def assertNear(self, f1, f2, err, msg=None):
        """Asserts that two numbers differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, "%f != %f +/- %f %s" % (f1, f2, err, msg or ""))

    def assertStartsWith(self, actual, expected_start, msg=None):
        """Asserts that a text starts with a prefix."""
        if not actual.startswith(expected_start):
            self.fail("%r does not start with %r %s" % (actual, expected_start, msg or ""))

    def assertLen(self, container, expected_len, msg=None):
        """Asserts that a container has a number of elements."""
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container, msg=None):
        """Asserts that a container is empty."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container, msg=None):
        """Asserts that a container is not empty."""
        self.assertGreater(len(container), 0, msg)

    assertItemsEqual = unittest.TestCase.assertCountEqual

    def assertSameElements(self, expected_seq, actual_seq, msg=None):
        """Asserts that two lists have the same elements, in any order and number."""
        self.assertEqual(set(expected_seq), set(actual_seq), msg)

    def assertBetween(self, value, minv, maxv, msg=None):
        """Asserts that a number is in an interval."""
        self.assertTrue(minv <= value <= maxv, msg or "%r is not between %r and %r" % (value, minv, maxv))

    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """Asserts that the block raises an error whose text matches, or that a function accepts."""
        return _Raises(self, exception_type, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(self, exception_type=None):
        """Asserts that the block raises an error for incompatible shapes."""
        from weft._core.framework import errors
        said = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        return self.assertRaisesWithPredicateMatch(exception_type or errors.InvalidArgumentError, said)

    def evaluate_if_both_tensors(self, a, b):
        """Returns the values of two tensors; if one of the arguments is not a tensor, returns both unchanged."""
        from weft._core.framework.graph import Tensor
        return (self.evaluate(a), self.evaluate(b)) if isinstance(a, Tensor) and isinstance(b, Tensor) else (a, b)

    def assertProtoEqualsVersion(self, expected, actual, producer=None, min_consumer=0, msg=None):
        """Asserts that a graph equals a text to which the versions are added."""
        from weft._core.framework import versions
        number = versions.GRAPH_DEF_VERSION if producer is None else producer
        extra = " min_consumer: %d" % min_consumer if min_consumer else ""
        self.assertProtoEquals("versions { producer: %d%s };\n%s" % (number, extra, expected), actual, msg)

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """Asserts that the block raises an error of an op."""
        from weft._core.framework import errors
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def checkedThread(self, target, args=None, kwargs=None):
        """Returns a thread whose errors join() raises."""
        return _CheckedThread(self, target, args or (), kwargs or {})


class _Raises:
    def __init__(self, case, kind, expected):
        self._case, self._kind, self._expected = case, kind, expected

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        if kind is None:
            self._case.fail("%s was not raised" % self._kind.__name__)
        if not issubclass(kind, self._kind):
            return False
        good = self._expected
        if isinstance(good, str):
            import re
            said = str(value) + "".join("\n" + str(o) for o in getattr(value, "op", None) and [value.op.name] or [])
            if not re.search(good, said):
                self._case.fail("%r does not match %r" % (said, good))
        elif not good(value):
            self._case.fail("%r does not satisfy the predicate" % (value,))
        return True


class _CheckedThread:
    def __init__(self, case, target, args, kwargs):
        import threading
        self._case, self._error = case, None

        def run():
            try:
                target(*args, **kwargs)
            except BaseException as e:  # noqa: BLE001 - join() raises it
                self._error = e
        self._thread = threading.Thread(target=run, daemon=True)

    def start(self):
        self._thread.start()

    def is_alive(self):
        return self._thread.is_alive()

    def join(self):
        self._thread.join()
        if self._error is not None:
            self._case.fail("Error in checkedThread: %s" % self._error)


class Benchmark(metaclass=Named):
    """The base of benchmarks: methods that begin with `benchmark` call report_benchmark."""

    def _name(self, name):
        import inspect
        caller = next((f.function for f in inspect.stack()[2:] if f.function.startswith("benchmark")), "benchmark")
        return "%s.%s" % (type(self).__name__, name or caller)

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None, metrics=None):
        """Prints the measurements as one line."""
        given = dict(iters=iters, cpu_time=cpu_time, wall_time=wall_time, throughput=throughput, extras=extras, metrics=metrics)
        print("entry {%s}" % ", ".join(["name: %s" % self._name(name)] + ["%s: %s" % p for p in given.items() if p[1] is not None]))

    def evaluate(self, tensors):
        """Returns the values of tensors in the default session."""
        from weft._core.session.client import get_default_session
        return get_default_session().run(tensors)

    def run_op_benchmark(self, sess, op_or_tensor, feed_dict=None, burn_iters=2, min_iters=10, store_trace=False,
                         store_memory_usage=True, name=None, extras=None, mbs=0):
        """Runs an op many times, reports the median of the times, and returns the figures."""
        import time
        if store_trace:
            raise NotImplementedError("tf.test.Benchmark.run_op_benchmark(store_trace=True) is not in Weft: run the op with "
                                      "tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)")
        op = getattr(op_or_tensor, "op", op_or_tensor)
        for _ in range(burn_iters):
            sess.run(op, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            began = time.time()
            sess.run(op, feed_dict=feed_dict)
            times.append(time.time() - began)
        median = float(np.median(times)) if times else -1.0
        figures = dict(extras or {}, wall_time_mean=float(np.mean(times)) if times else 0.0)
        found = {"iters": min_iters, "wall_time": median, "extras": figures, "name": self._name(name),
                 "throughput": mbs / median if median > 0 and mbs else 0.0}
        self.report_benchmark(**{**found, "name": name})
        return found


def benchmark_config():
    """Returns the configuration of sessions that measure: no rewriting of the graph."""
    from weft._core.framework import protos
    return protos.ConfigProto()


class StubOutForTesting(metaclass=Named):
    """Replaces attributes temporarily."""

    def __init__(self):
        self._saved = []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.CleanUp()

    def Set(self, parent, child_name, new_child):
        """Replaces an attribute until UnsetAll."""
        self._saved.append((parent, child_name, vars(parent).get(child_name, getattr(parent, child_name))))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj, attr_name, new_attr):
        """Replaces an attribute that must exist."""
        if not hasattr(obj, attr_name):
            raise AttributeError("%r has no attribute %r" % (obj, attr_name))
        self.Set(obj, attr_name, new_attr)

    def UnsetAll(self):
        """Restores the attributes."""
        for parent, name, old in reversed(self._saved):
            setattr(parent, name, old)
        self._saved = []

    SmartUnsetAll = CleanUp = UnsetAll


def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """Asserts that two GraphDefs have the same nodes, in any order."""
    for name, given in (("actual", actual), ("expected", expected)):
        if type(given).__name__ != "GraphDef":
            raise TypeError("Expected tf.GraphDef for %s, got %s" % (name, type(given).__name__))
    one, other = ({n.name: n for n in g.node} for g in (actual, expected))
    for kind, names in (("expected", set(other) - set(one)), ("unexpected", set(one) - set(other))):
        if names:
            raise AssertionError("%s nodes: %s" % ("missing" if kind == "expected" else "unexpected", sorted(names)))
    for name, node in one.items():
        if checkpoint_v2 and "save/" in name or hash_table_shared_name and "HashTable" in node.op:
            continue
        if node.op != other[name].op or sorted(node.input) != sorted(other[name].input) or node.device != other[name].device or \
                {k: v.SerializeToString() for k, v in node.attr.items()} != {
                    k: v.SerializeToString() for k, v in other[name].attr.items()}:
            raise AssertionError("node %s differs: %s is not %s" % (name, node, other[name]))


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """Returns (worker servers, ps servers) of a cluster in this process, on free ports."""
    import socket

    from weft._core.session.cluster import Server
    from weft._core.train.server import ClusterSpec
    held = [socket.socket() for _ in range(num_workers + num_ps)]
    for s in held:
        s.bind(("localhost", 0))
    ports = ["localhost:%d" % s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    spec = ClusterSpec({"worker": ports[:num_workers], "ps": ports[num_workers:]} if num_ps else {"worker": ports})
    workers = [Server(spec, job_name="worker", task_index=i, protocol=protocol, config=worker_config) for i in range(num_workers)]
    return workers, [Server(spec, job_name="ps", task_index=i, protocol=protocol, config=ps_config) for i in range(num_ps)]


def disable_with_predicate(pred, skip_message):
    """Returns a decorator of tests that are skipped where a function returns true."""
    def mark(method):
        import functools

        @functools.wraps(method)
        def call(self, *args, **kwargs):
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)
        return call
    return mark


def main(argv=None):
    unittest.main(argv=argv)


_temporary = []


def get_temp_dir():
    """Returns a folder of this process, empty at first: that of TEST_TMPDIR, or one below the system's folder for
    temporary files.
    """
    if not _temporary:
        script = os.path.basename(sys.argv[0]) if sys.argv else ""
        _temporary.append(os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp(prefix=script))
    return _temporary[0]


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
