"""Programs in Python 2: what `weft run` makes of their syntax and of what it meant."""
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
