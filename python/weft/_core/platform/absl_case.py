"""The assertions that tf.test.TestCase has from absl: containers, texts, numbers in structures, commands and temporary files."""
import collections.abc
import contextlib
import dataclasses
import itertools
import json
import os
import re
import subprocess
import tempfile
import unittest
import urllib.parse

_ABSENT = object()


def _first_difference(a, b, path):
    """Returns the path of the first difference between two structures, with the values there, or None if they are
    equal.
    """
    if isinstance(a, collections.abc.Mapping) and isinstance(b, collections.abc.Mapping):
        pairs = [("[%r]" % (k,), a.get(k, _ABSENT), b.get(k, _ABSENT)) for k in [*a, *(k for k in b if k not in a)]]
    elif all(isinstance(x, collections.abc.Sequence) and not isinstance(x, (str, bytes)) for x in (a, b)):
        pairs = [("[%d]" % i, *both) for i, both in enumerate(itertools.zip_longest(a, b, fillvalue=_ABSENT))]
    else:
        return None if a is not _ABSENT and b is not _ABSENT and a == b else (path, a, b)
    return next(filter(None, (_first_difference(x, y, path + at) for at, x, y in pairs)), None)


class TempFile:
    """A file of TestCase.create_tempfile."""

    def __init__(self, path):
        self.full_path = str(path)

    def __fspath__(self):
        return self.full_path

    def read_text(self, encoding="utf8", errors="strict"):
        """Returns the text in the file."""
        with self.open_text("r", encoding, errors) as f:
            return f.read()

    def read_bytes(self):
        """Returns the bytes in the file."""
        with self.open_bytes() as f:
            return f.read()

    def write_text(self, text, mode="w", encoding="utf8", errors="strict"):
        """Writes a text to the file."""
        with self.open_text(mode, encoding, errors) as f:
            f.write(text)

    def write_bytes(self, data, mode="wb"):
        """Writes bytes to the file."""
        with self.open_bytes(mode) as f:
            f.write(data)

    def open_text(self, mode="rt", encoding="utf8", errors="strict"):
        """Opens the file for text."""
        return open(self.full_path, mode, encoding=encoding, errors=errors)

    def open_bytes(self, mode="rb"):
        """Opens the file for bytes."""
        return open(self.full_path, mode if "b" in mode else mode + "b")


class TempDir:
    """A folder of TestCase.create_tempdir."""

    def __init__(self, path):
        self.full_path = str(path)

    def __fspath__(self):
        return self.full_path

    def create_file(self, file_path=None, content=None, mode="w", encoding="utf8", errors="strict"):
        """Returns a new file in the folder."""
        path = os.path.join(self.full_path, file_path or next(tempfile._get_candidate_names()))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        made = TempFile(path)
        if isinstance(content, bytes):
            made.write_bytes(content, mode if "b" in mode else "wb")
        else:
            made.write_text(content or "", mode, encoding, errors)
        return made

    def mkdir(self, dir_path=None):
        """Returns a new folder in the folder."""
        path = os.path.join(self.full_path, dir_path or next(tempfile._get_candidate_names()))
        os.makedirs(path, exist_ok=True)
        return TempDir(path)


class Containers(unittest.TestCase):
    """Assertions on containers and the order of their elements."""

    def assertContainsSubset(self, expected_subset, actual_set, msg=None):
        """Asserts that all elements of the first container are in the second."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail(self._formatMessage(msg, "Missing elements %s\nExpected: %s\nActual: %s" % (missing, expected_subset, actual_set)))

    def assertNoCommonElements(self, expected_seq, actual_seq, msg=None):
        """Asserts that no element is in both containers."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail(self._formatMessage(msg, "Common elements %s\nExpected: %s\nActual: %s" % (common, expected_seq, actual_seq)))

    def assertSequenceStartsWith(self, prefix, whole, msg=None):
        """Asserts that a sequence starts with these elements."""
        if not len(prefix):
            self.fail(self._formatMessage(msg, "Prefix length is 0."))
        self.assertSequenceEqual(prefix, whole[:len(prefix)], msg)

    def assertContainsSubsequence(self, container, subsequence, msg=None):
        """Asserts that the elements are in the container in this order, perhaps with others between them."""
        rest = iter(container)
        for i, wanted in enumerate(subsequence):
            if not any(wanted == found for found in rest):
                self.fail(self._formatMessage(msg, "%s not a subsequence of %s. First non-matching element: %s" % (
                    subsequence, container, subsequence[i])))

    def assertContainsExactSubsequence(self, container, subsequence, msg=None):
        """Asserts that the elements are in the container in this order, one directly after the other."""
        container, subsequence = list(container), list(subsequence)
        n = len(subsequence)
        if not any(container[i:i + n] == subsequence for i in range(len(container) - n + 1)):
            self.fail(self._formatMessage(msg, "%s not an exact subsequence of %s" % (subsequence, container)))

    def assertTotallyOrdered(self, *groups, **kwargs):
        """Asserts that the elements of a group are equal, and less than those of later groups, by all comparisons."""
        msg = kwargs.get("msg")
        for at, group in enumerate(groups):
            for a, b in itertools.combinations_with_replacement(group, 2):
                self._check_order(a, b, True, msg)
            for a, b in itertools.product(group, itertools.chain(*groups[at + 1:])):
                self._check_order(a, b, False, msg)

    def _check_order(self, a, b, equal, msg):
        self.assertEqual((a < b, a <= b, b > a, b >= a, a == b, a != b, b < a), (not equal, True, not equal, True, equal, not equal, False),
                         self._formatMessage(msg, "%r and %r are not ordered" % (a, b)))

    def assertSameStructure(self, a, b, aname="a", bname="b", msg=None):
        """Asserts that two structures of lists and dictionaries are equal; the error names the first difference."""
        found = _first_difference(a, b, "")
        if found is not None:
            said = ["is absent" if v is _ABSENT else repr(v) for v in found[1:]]
            self.fail(self._formatMessage(msg, "%s%s is %s but %s%s is %s" % (aname, found[0], said[0], bname, found[0], said[1])))

    def assertMappingEqual(self, a, b, msg=None, mapping_type=collections.abc.Mapping, check_values_equality=lambda a, b: a == b):
        """Asserts that two mappings have the same keys, and values that a function considers equal."""
        self.assertIsInstance(a, mapping_type, msg)
        self.assertIsInstance(b, mapping_type, msg)
        wrong = [k for k in [*a, *b] if k not in a or k not in b or not check_values_equality(a[k], b[k])]
        if wrong:
            self.fail(self._formatMessage(msg, "%r != %r: the entries of %s differ" % (a, b, wrong)))

    def assertDictEqual(self, a, b, msg=None):
        super().assertDictEqual(a, b, msg)

    def assertDictAlmostEqual(self, a, b, places=None, msg=None, delta=None):
        """Asserts that two dictionaries have the same keys and nearly equal numbers."""
        self.assertEqual(set(a), set(b), msg)
        for key in a:
            self.assertAlmostEqual(a[key], b[key], places=places, msg=msg, delta=delta)

    def assertSequenceAlmostEqual(self, expected_seq, actual_seq, places=None, msg=None, delta=None):
        """Asserts that two sequences have the same length and nearly equal numbers."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for a, b in zip(expected_seq, actual_seq):
            self.assertAlmostEqual(a, b, places=places, msg=msg, delta=delta)

    def assertDataclassEqual(self, first, second, msg=None):
        """Asserts that two objects of one dataclass have equal fields."""
        self.assertTrue(dataclasses.is_dataclass(first) and not isinstance(first, type), "First argument is not a dataclass instance.")
        self.assertTrue(dataclasses.is_dataclass(second) and not isinstance(second, type), "Second argument is not a dataclass instance.")
        self.assertIs(type(first), type(second), msg)
        self.assertEqual(first, second, msg)


class Texts(unittest.TestCase):
    """Assertions on texts, classes and errors."""

    def assertNotStartsWith(self, actual, unexpected_start, msg=None):
        """Asserts that a text does not start with a prefix."""
        if actual.startswith(unexpected_start):
            self.fail(self._formatMessage(msg, "%r does start with %r" % (actual, unexpected_start)))

    def assertEndsWith(self, actual, expected_end, msg=None):
        """Asserts that a text ends with a suffix."""
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, "%r does not end with %r" % (actual, expected_end)))

    def assertNotEndsWith(self, actual, unexpected_end, msg=None):
        """Asserts that a text does not end with a suffix."""
        if actual.endswith(unexpected_end):
            self.fail(self._formatMessage(msg, "%r does end with %r" % (actual, unexpected_end)))

    def assertContainsInOrder(self, strings, target, msg=None):
        """Asserts that these texts occur in the text in this order."""
        at = 0
        for wanted in [strings] if isinstance(strings, (str, bytes)) else strings:
            found = target.find(wanted, at)
            if found < 0:
                self.fail(self._formatMessage(msg, "Did not find %r after position %d of %r" % (wanted, at, target)))
            at = found + len(wanted)

    def assertRegexMatch(self, actual_str, regexes, message=None):
        """Asserts that one of the regular expressions matches somewhere in the text."""
        if isinstance(regexes, (str, bytes)):
            self.fail("regexes is a string; use assertRegex instead.")
        if not regexes:
            self.fail("No regexes specified.")
        if not any(re.search(r, actual_str) for r in regexes):
            self.fail(self._formatMessage(message, "%r does not match any of %r" % (actual_str, regexes)))

    def assertIsSubclass(self, cls, superclass, msg=None):
        """Asserts that a class is another one or is derived from it."""
        self.assertTrue(issubclass(cls, superclass), msg or "%r is not a subclass of %r" % (cls, superclass))

    def assertNotIsSubclass(self, cls, superclass, msg=None):
        """Asserts that a class is neither another one nor derived from it."""
        self.assertFalse(issubclass(cls, superclass), msg or "%r is a subclass of %r" % (cls, superclass))

    def assertJsonEqual(self, first, second, msg=None):
        """Asserts that two texts contain equal JSON."""
        parts = []
        for which, text in (("First", first), ("Second", second)):
            try:
                parts.append(json.loads(text))
            except ValueError as e:
                raise ValueError(self._formatMessage(msg, "could not decode %s JSON value %s: %s" % (which.lower(), text, e))) from None
        self.assertSameStructure(parts[0], parts[1], "first", "second", msg)

    def assertUrlEqual(self, a, b, msg=None):
        """Asserts that two URLs are equal; the order of their parameters does not matter."""
        a, b = urllib.parse.urlparse(a), urllib.parse.urlparse(b)
        for part in ("scheme", "netloc", "path", "fragment"):
            self.assertEqual(getattr(a, part), getattr(b, part), msg)
        self.assertEqual(sorted(a.params.split(";")), sorted(b.params.split(";")), msg)
        self.assertEqual(urllib.parse.parse_qs(a.query, True), urllib.parse.parse_qs(b.query, True), msg)

    def assertRaisesWithLiteralMatch(self, expected_exception, expected_exception_message, callable_obj=None, *args, **kwargs):
        """Returns the block or the call raises an error with exactly this text."""
        @contextlib.contextmanager
        def block():
            try:
                yield
            except expected_exception as e:
                self.assertEqual(str(e), expected_exception_message)
            else:
                self.fail("%s not raised" % getattr(expected_exception, "__name__", expected_exception))
        if callable_obj is None:
            return block()
        with block():
            callable_obj(*args, **kwargs)


class AbslCase(Containers, Texts):
    """The methods that tf.test.TestCase inherits from absl."""

    def fail(self, msg=None, user_msg=None):
        """Fails with a message, to which a second one is added."""
        super().fail(self._formatMessage(user_msg, msg))

    def _run_command(self, command, env, close_fds):
        done = subprocess.run(command, env=env, close_fds=close_fds, shell=isinstance(command, str), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def _check_output(self, output, regexes, msg):
        regexes = [r.encode() if isinstance(r, str) else r for r in ([regexes] if isinstance(regexes, (str, bytes)) else regexes)]
        if not any(re.search(r, output) for r in regexes):
            self.fail(self._formatMessage(msg, "The output %r does not match any of %r" % (output, regexes)))

    def assertCommandSucceeds(self, command, regexes=(b"",), env=None, close_fds=True, msg=None):
        """Asserts that a command exits with 0, and that its output matches."""
        code, output = self._run_command(command, env, close_fds)
        if code != 0:
            self.fail(self._formatMessage(msg, "%r ended with %d: %r" % (command, code, output)))
        self._check_output(output, regexes, msg)

    def assertCommandFails(self, command, regexes, env=None, close_fds=True, msg=None):
        """Asserts that a command does not exit with 0, and that its output matches."""
        code, output = self._run_command(command, env, close_fds)
        if code == 0:
            self.fail(self._formatMessage(msg, "%r was expected to fail: %r" % (command, output)))
        self._check_output(output, regexes, msg)

    def create_tempdir(self, name=None, cleanup=None):
        """Returns a folder that is there until the test ends."""
        self._refuse_cleanup("create_tempdir", cleanup)
        root = tempfile.TemporaryDirectory()
        self.addCleanup(root.cleanup)
        path = os.path.join(root.name, name or "tmp")
        os.makedirs(path)
        return TempDir(path)

    def create_tempfile(self, file_path=None, content=None, mode="w", encoding="utf8", errors="strict", cleanup=None):
        """Returns a file that is there until the test ends."""
        self._refuse_cleanup("create_tempfile", cleanup)
        return self.create_tempdir().create_file(file_path, content, mode, encoding, errors)

    @staticmethod
    def _refuse_cleanup(what, cleanup):
        if cleanup is not None and getattr(cleanup, "value", cleanup) != "always":
            raise NotImplementedError("TestCase.%s: cleanup=%r: files are always removed when the test ends" % (what, cleanup))

    def enter_context(self, manager):
        """Enters a context manager until the test ends, and returns its value."""
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def record_property(self, property_name, property_value):
        """Stores a value with the test's result."""
        self.__dict__.setdefault("_properties", {})[property_name] = property_value

    def get_recorded_properties(self, subtest=None):
        """Returns the values that were kept; those of the whole test."""
        return dict(self.__dict__.get("_properties", {}))
