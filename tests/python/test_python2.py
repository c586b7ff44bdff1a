"""Programs in Python 2: what `weft run` makes of their syntax and of what it meant."""
import os
import subprocess
import sys

import pytest

import scripts

PROGRAM = '''import os, sys
import tensorflow as tf
import helper, tools
import Queue, cPickle as pickle, ConfigParser, StringIO

class A:
\tdef f(self):
        \treturn 1

def g(x):
    if x:
\treturn 2
    return 3

print "a", 7 / 2, 7.0 / 2
print >>sys.stderr, "to stderr"
print "one",
print "line"
for i in xrange(2):
    print i
d = {"k": 1}
for k, v in d.iteritems():
    print k, v, d.has_key("k"), d.values()[0], d.items()[0]
print map(abs, [-1])[0], filter(None, [0, 3])[0], zip([1], [2])[0], range(3) + [4], len(map(str, range(4)))
a = A()
a.n, l, x = 9, [9, 8], 9
x /= 2
a.n /= 2
l[0] /= 2
print x, a.n, l
print 0777, 10L, 1 <> 2, `5`, unicode("u"), isinstance("s", basestring), long(3), cmp(1, 2)
try:
    raise ValueError, "old"
except ValueError, e:
    print "caught", e
exec "y = 5"
print y, reduce(lambda a, b: a + b, [1, 2, 3]), (lambda (a, b): a + b)((1, 2))
print helper.greet("you"), tools.sibling.show()
sess = tf.Session()
print "%s" % sess.run(tf.constant("text")), sess.run(tf.constant(["a", "b"]))[0] + "c", sess.run(tf.constant(range(3)))
print g(1), A().f(), sys.maxint > 0
raise RuntimeError, "at the end"
'''
SAID = """a 3 3.5
one line
0
1
k 1 True 1 ('k', 1)
1 3 (1, 2) [0, 1, 2, 4] 4
4 4 [4, 8]
511 10 True 5 u True 3 -1
caught old
5 6 3
hello you
2 sibling 3.0
text ac [0 1 2]
2 1 True
"""


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def test_syntax_and_meaning_and_lines(tmp_path):
    write(tmp_path, {"old.py": PROGRAM, "helper.py": 'def greet(name):\n    print "hello", name\n    return 5 / 2\n',
                     "tools/__init__.py": "import sibling\n", "tools/other.py": "VALUE = 7 / 2\n",
                     "tools/sibling.py": 'from other import VALUE\n\n\ndef show():\n    return "sibling %.1f" % VALUE\n'})
    code, out, err = scripts.run(tmp_path / "old.py", cwd=tmp_path)
    assert (code, out) == (1, SAID), err
    lines = PROGRAM.count("\n")
    assert 'old.py", line %d, in <module>' % lines in err and err.endswith("RuntimeError: at the end\n")
    assert err.count("is Python 2; running it translated") == 2 and "to stderr\n" in err  # the program, and its helper


def test_a_program_that_parses_is_asked_for(tmp_path):
    write(tmp_path, {"new.py": "print(7 / 2)\nimport helper\nprint(len(map(abs, [-1])), range(2) + [2])\n",
                     "helper.py": "print(9 / 2)\n"})
    task = scripts.start("--python2", str(tmp_path / "new.py"), cwd=tmp_path)
    out, err = task.communicate(timeout=120)
    assert (task.returncode, out) == (0, "3\n4\n(1, [0, 1, 2])\n"), err
    code, out, err = scripts.run(tmp_path / "helper.py", cwd=tmp_path)
    assert (code, out, err) == (0, "4.5\n", "")


def test_division_that_the_program_asked_for(tmp_path):
    write(tmp_path, {"new.py": "from __future__ import division\nprint 7 / 2\n"})
    code, out, err = scripts.run(tmp_path / "new.py", cwd=tmp_path)
    assert (code, out) == (0, "3.5\n"), err


def test_what_is_neither_is_told_with_its_line(tmp_path):
    write(tmp_path, {"bad.py": "x = 1\ndef f(:\n    pass\n"})
    code, out, err = scripts.run(tmp_path / "bad.py", cwd=tmp_path)
    assert code == 1 and 'bad.py", line 2' in err and "SyntaxError" in err


def test_names_operators_and_modules_mean_what_they_meant(tmp_path):
    """The first line of the program names python2, so that what parses is Python 2 as well."""
    (tmp_path / "old.pkl").write_bytes(b"\x80\x02}q\x00U\x04dataq\x01U\x03abcq\x02s.")  # as Python 2 wrote {'data': 'abc'}
    code, out, err = scripts.run(scripts.PROGRAMS / "python2.py", cwd=tmp_path)
    assert (code, out) == (0, (scripts.PROGRAMS / "python2.txt").read_text()), err


@pytest.mark.parametrize("line, python2", [
    ("#!/usr/bin/python2", True), ("#!/usr/bin/env python2.7", True), ("#! /usr/local/bin/python2 -u", True), ("# python2", False),
    ("#!/usr/bin/env python", False), ("#!/usr/bin/python3", False), ("#!/opt/python2to3/bin/python3", False)])
def test_the_first_line_may_ask_for_python_2(tmp_path, line, python2):
    write(tmp_path, {"script.py": line + "\nprint(7 / 2)\n"})
    code, out, err = scripts.run(tmp_path / "script.py", cwd=tmp_path)
    assert (code, out) == (0, "3\n" if python2 else "3.5\n"), err
    assert ("is Python 2; running it translated" in err) == python2


def without_lib2to3(tmp_path, *hidden):
    """Runs old.py where these packages cannot be imported."""
    write(tmp_path, {"old.py": "print 7 / 2, map(str, [1])\n"})
    program = "import sys\nfor n in %r: sys.modules[n] = None\nfrom weft.__main__ import main\nsys.exit(main(['old.py']))" % (hidden,)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([scripts.PACKAGE, os.environ.get("PYTHONPATH", "")]))
    return subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120)


def test_fissix_translates_where_python_has_no_lib2to3(tmp_path):
    pytest.importorskip("fissix")
    found = without_lib2to3(tmp_path, "lib2to3", "lib2to3.refactor")
    assert (found.returncode, found.stdout) == (0, "3 ['1']\n"), found.stderr


def test_what_to_install_is_told_where_there_is_no_translator(tmp_path):
    found = without_lib2to3(tmp_path, "lib2to3", "lib2to3.refactor", "fissix", "fissix.refactor")
    assert found.returncode == 1 and "pip install fissix" in found.stderr and "old.py" in found.stderr


def test_names_that_python_and_numpy_dropped_are_there(tmp_path):
    write(tmp_path, {"new.py": "import collections, fractions, inspect, time\nimport numpy as np\n"
                               "print(np.zeros(2, np.int).dtype == int, np.float(3), np.array([True], dtype=np.bool), time.clock() >= 0)\n"
                               "print(isinstance({}, collections.Mapping), fractions.gcd(4, 6),\n"
                               "      inspect.getargspec(lambda a, b=1: a).args)\n"})
    code, out, err = scripts.run(tmp_path / "new.py", cwd=tmp_path)
    assert (code, out) == (0, "True 3.0 [ True] True\nTrue 2 ['a', 'b']\n"), err


def test_packages_ask_for_a_translator():
    root = scripts.HERE.parent.parent
    assert "\"fissix; python_version >= '3.12'\"" in (root / "pyproject.toml").read_text()
    assert "python3-lib2to3 | python3-fissix" in (root / "cmake" / "WeftInstall.cmake").read_text()
