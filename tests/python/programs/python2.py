#!/usr/bin/env python2
# What Python 2 programs do; most of it parses or runs in Python 3, too, and means something else.

print "== map"
m = map(str, [1, 2])
m.append("x")
print m, len(map(None, [1])), map(lambda a, b: a + b, [1], [2])[0]
print sum(map(int, "12")), sorted(map(abs, [-2, 1]))

print "== filter"
f = filter(lambda x: x > 1, [1, 2, 3])
print f, len(f), filter(None, [0, 5])[0]

print "== zip"
z = zip([1, 2], "ab")
print z, z[0], len(z)
a, b = zip(*z)
print a, b
import random
random.shuffle(z)

print "== range"
r = range(4)
r.remove(2)
print r, range(2) + [5], range(3)[1:], xrange(3)[1], len(xrange(4))
import random
idx = range(5)
random.shuffle(idx)
print sorted(idx)
print list(xrange(3))

print "== dict"
d = {"b": 2, "a": 1}
k = d.keys()
k.sort()
print k, d.keys()[0] in d, sorted(d.values()), d.items()[0] in d.items(), d.has_key("a")
for k, v in sorted(d.iteritems()): print k, v
print sorted(d.iterkeys()), sorted(d.itervalues()), len(d.viewkeys())
print d.keys() == list(d.keys())
for k in d.keys():
    del d[k]
print d

print "== division"
import numpy as np
print 7 / 2, -7 / 2, 7 / 2.0, 7 // 2, 1 / 2 * 4
x = 5
x /= 2
print x
print np.int64(7) / 2, (np.array([7, 8]) / 2).tolist(), (np.array([7.0]) / 2).tolist(), np.arange(4).sum() / 4
d = {"n": 9}
d["n"] /= 2
print d["n"], True / 2
def f(): return [9]
f()[0] /= 2
print (10L / 3)

print "== tensor_division"
import tensorflow as tf
with tf.Session() as s: print s.run([tf.constant(7) / 2, tf.constant(7.0) / 2, 7 / tf.constant(2), tf.constant([7]) / tf.constant([2])])

print "== user_division"
class V(object):
    def __init__(self, x): self.x = x
    def __div__(self, o): return V(self.x / o)
    def __rdiv__(self, o): return V(o / self.x)
    def __idiv__(self, o): return V(self.x / o + 100)
v = V(9)
print (v / 2).x, (100 / v).x
v /= 2
print v.x

print "== print"
import sys
print
print "a", "b",
print "c"
print "%d%%" % 5
print ("x", 1)
print("y")
print >>sys.stdout, "to", "out"
print >>sys.stdout, "z",
print >>sys.stdout
if 1: print "t"; print "u"
print "a\tb"
print "end",
sys.stdout.write("!\n")

print "== text"
print unicode("u"), u"x" == "x", isinstance(u"x", unicode), isinstance("s", basestring), unichr(65), type(u"") == unicode, ur"\d"
print "abc".decode("utf-8"), len("abc".encode("utf-8")), "%s" % u"h\xe9"
print repr("a".decode("ascii"))

print "== reduce"
print reduce(lambda a, b: a * b, [1, 2, 3], 10), apply(max, (1, 2)), cmp(2, 1), intern("a"), long("5"), sorted([3, 1], cmp=lambda a, b: b - a), sorted([3, 1, 2], lambda a, b: cmp(a, b))
l = [3, 1, 2]
l.sort(lambda a, b: cmp(b, a))
print l
l.sort(cmp=cmp)
print l, max(l), sum(l) / len(l)

print "== except"
try:
    raise ValueError, "bad %d" % 3
except (ValueError, TypeError), e:
    print e, e.message, e.args[0]
try:
    raise IOError(2, "x")
except IOError, (n, s):
    print n, s
try:
    1 / 0
except ZeroDivisionError, err: print "zero", str(err)[:7]
class E(StandardError): pass
try: raise E
except E: print "E"

print "== modules"
import cPickle, urllib2, StringIO, Queue, ConfigParser, cStringIO, urllib, urlparse, httplib, thread, commands, __builtin__, copy_reg, SocketServer, HTMLParser
from StringIO import StringIO as S
from cStringIO import StringIO as C
from Queue import Queue as Q, Empty
import cPickle as pickle
b = StringIO.StringIO()
b.write("text")
print b.getvalue()
c = C("abc")
print c.read()
q = Queue.Queue()
q.put(1)
print q.get(), Q().empty(), ConfigParser.ConfigParser().sections()
print cPickle.loads(cPickle.dumps({"a": 1})), pickle.load(open("old.pkl", "rb"))
print pickle.load(open("old.pkl"))
print urllib.quote("a b"), urllib.urlencode({"a": 1}), urlparse.urlparse("http://h/p").netloc, urllib2.Request("http://h").get_full_url()
print __builtin__.len([1]), urllib2.HTTPError.__name__
z = S()
z.write(b"\x89PNG")
print len(z.getvalue())

print "== octal"
import os
print 0777, 0o17, 0L, 0xFFL, 10L, 1e3, 00, oct(8)[-2:], 017 + 1

print "== old"
print 1 <> 2, `5`, round(2.5), round(1.234, 2), round(7)
exec "y = 5" in {}
exec "z = 6"
print z
d = {}
exec "w = 7" in d
print d["w"]
class M(type): pass
class A:
    __metaclass__ = M
    def f(self): pass
print type(A) is M, A.f.im_func.func_name if hasattr(A.f, "im_func") else A.f.__name__
g = (i for i in [1, 2])
print g.next()
class B(object):
    def __nonzero__(self): return False
    def __iter__(self): return self
    def next(self): raise StopIteration
print bool(B()), list(B())
def h((a, b), c): return a + b + c
print h((1, 2), 3), h.func_name, (lambda (x, y): x * y)((2, 3))
assert isinstance(3, (int, long))

print "== sys"
import sys, time, os, string, types, itertools
reload(sys)
sys.setdefaultencoding("utf-8")
print sys.maxint > 2 ** 31, time.clock() >= 0, os.getcwdu() == os.getcwd(), string.letters[:2], string.join(["a", "b"], "-"), string.atoi("3"), types.ListType, types.StringType
print list(itertools.izip([1], [2])), list(itertools.imap(abs, [-1])), list(itertools.ifilter(None, [0, 1])), list(itertools.izip_longest([1], [2, 3]))
print string.maketrans("a", "b") is not None, string.upper("x"), string.uppercase[:2], "abc".translate(string.maketrans("a", "z"))

print "== files"
f = open("x.txt", "w")
print >>f, "line", 1
f.write("two\n")
f.close()
for l in file("x.txt"): print l.strip()
print open("x.txt").next(),
with open("b.bin", "wb") as g: g.write("ab\x00c")
print len(open("b.bin", "rb").read())
import csv
with open("c.csv", "wb") as h: csv.writer(h).writerow([1, "a"])
print list(csv.reader(open("c.csv", "rb")))

print "== numpy"
import numpy as np
print np.float is float, np.int(3), np.zeros(2, np.bool).tolist(), np.array(map(int, ["1", "2"])), np.array(zip([1], [2])).shape, np.mean(xrange(3))

print "== nested"
class A(object):
    def m(self):
        keys = self.d.keys()
        keys.sort()
        return keys
    d = dict(b=1, a=2)
print A().m(), [k for k in A.d.keys()], dict((k, v / 2) for k, v in A.d.iteritems())["a"], max(A.d.values()), "-".join(sorted(A.d.keys())), A.d.keys() + ["c"]
