"""float8 and 4-bit integers: constants, casts, messages and checkpoints have them; arithmetic has not, as in TensorFlow."""
import numpy as np
import pytest

import weft
from both import oracle

SMALL = ("float8_e5m2", "float8_e4m3fn", "int4", "uint4")
OTHERS = ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
          "complex64", "qint8")


def kind(tf, name):
    return getattr(tf.dtypes.experimental, name) if name in SMALL else getattr(tf, name)


def each(run):
    """What a function gives with Weft and with TensorFlow."""
    found = []
    for tf in (weft, oracle):
        with tf.Graph().as_default(), tf.Session() as session:
            found.append(run(tf, session))
    return found


def bits(array):
    return np.asarray(array).view(np.uint8).tolist(), np.asarray(array).dtype.name


def tried(f, *errors):
    try:
        return f()
    except errors as e:
        return type(e).__name__


@pytest.mark.parametrize("name", SMALL)
def test_the_type(name):
    def run(tf, _):
        d = kind(tf, name)
        flags = d.is_floating, d.is_integer, d.is_unsigned, d.is_numpy_compatible, d.is_quantized
        assert d == tf.as_dtype(d.as_datatype_enum) == tf.as_dtype(name) == tf.as_dtype(d.as_numpy_dtype)
        limits = float(d.min), float(d.max), tried(lambda: d.limits, ValueError)
        return repr(d), str(d), d.size, d.as_datatype_enum, d.as_numpy_dtype, flags, limits
    ours, theirs = each(run)
    assert ours == theirs
    assert getattr(weft.experimental, name) is kind(weft, name)


@pytest.mark.parametrize("name", SMALL)
def test_constants_feeds_and_copies(name):
    def run(tf, session):
        d = kind(tf, name)
        x, fed = tf.constant([[1, 2], [7, 3]], d), tf.placeholder(d, [3])
        copies = [x, tf.reshape(x, [4]), tf.identity(x), tf.constant(2, d, [3]), tf.squeeze(x[:1] if d.is_floating else x), fed,
                  tf.py_func(lambda a: a, [x], d), *tf.split(x, 2), tf.constant(np.arange(3).astype(d.as_numpy_dtype))]
        found = [bits(v) for v in session.run(copies, {fed: np.ones(3, d.as_numpy_dtype)})]
        proto = tf.make_tensor_proto([1, 3], d)
        return found, bits(tf.make_ndarray(proto)), bits(tf.make_ndarray(x.op.get_attr("value"))), [v.dtype.name for v in copies]
    ours, theirs = each(run)
    assert ours == theirs


def values(name):
    if name in ("float32", "float64"):
        every = np.arange(256, dtype=np.uint8)
        exact = [every.view(kind(weft, n).as_numpy_dtype).astype(np.float64) for n in SMALL[:2]]
        exact = np.concatenate([e[np.isfinite(e)] for e in exact])
        near = np.concatenate([exact, exact * 1.03, (exact[1:] + exact[:-1]) / 2, [np.nan, np.inf, -np.inf, 1e9, -464, 465, 61440, 61441]])
        return near.astype(name)
    if name in SMALL[:2]:
        return np.arange(128, dtype=np.uint8)[:0x70].view(kind(weft, name).as_numpy_dtype)
    if name in SMALL[2:]:
        return np.arange(16).astype(kind(weft, name).as_numpy_dtype)
    return np.arange(-9, 120).astype(kind(weft, name).as_numpy_dtype)


@pytest.mark.parametrize("name", SMALL)
def test_casts(name):
    def cast(tf, session, value, given, wanted):
        x = tf.placeholder(kind(tf, given), value.shape)
        return tried(lambda: bits(session.run(tf.cast(x, kind(tf, wanted)), {x: value})), tf.errors.UnimplementedError)

    def run(tf, session):
        pairs = [pair for other in OTHERS + SMALL for pair in ((name, other), (other, name))]
        return {pair: cast(tf, session, values(pair[0]), *pair) for pair in pairs}
    ours, theirs = each(run)
    for pair in theirs:
        assert ours[pair] == theirs[pair], pair


@pytest.mark.parametrize("name", SMALL)
def test_checkpoints_are_read_by_both(name, tmp_path):
    def save(tf, session):
        prefix = str(tmp_path / tf.__name__)
        session.run(tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["a"], shape_and_slices=[""],
                                      tensors=[tf.constant([1, 3, 7], kind(tf, name))]))

    def read(tf, session):
        found = []
        for prefix in (str(tmp_path / t.__name__) for t in (weft, oracle)):
            got, = session.run(tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=["a"], shape_and_slices=[""], dtypes=[kind(tf, name)]))
            found += [bits(got), bits(tf.train.load_checkpoint(prefix).get_tensor("a"))]
        return found
    each(save)
    ours, theirs = each(read)
    assert ours == theirs and len(ours) == 4 and all(v == ours[0] for v in ours)


@pytest.mark.parametrize("name", SMALL)
def test_what_is_refused(name):
    def run(tf, session):
        d = kind(tf, name)
        x = tf.constant([1, 2], d)
        return [tried(f, TypeError) for f in (lambda: x + x, lambda: tf.reduce_sum(x), lambda: tf.matmul([x], [x], transpose_b=True))]
    ours, theirs = each(run)
    assert ours == theirs == ["TypeError"] * 3
    assert tried(lambda: weft.constant([1.5], kind(weft, name)).shape.rank, TypeError) == ("TypeError" if "int" in name else 1)


@pytest.mark.parametrize("name", [*OTHERS, *SMALL, "qint16", "quint16", "string"])
def test_limits_and_sizes(name):
    def run(tf, _):
        d = kind(tf, name)
        return d.size, [tried(lambda which=which: str(getattr(d, which)), TypeError, ValueError) for which in ("min", "max", "limits")]
    ours, theirs = each(run)
    assert ours == theirs


@pytest.mark.parametrize("name", ["bool", "string", "complex64", "qint8", "int4", "float8_e5m2"])
def test_types_that_ops_refuse(name):
    def run(tf, _):
        x = tf.placeholder(kind(tf, name), [])
        made = lambda: tf.summary.scalar("s", x), lambda: tf.summary.histogram("h", x), lambda: tf.random_normal([2], dtype=x.dtype)  # noqa: E731
        return [tried(f, TypeError, ValueError, tf.errors.OpError) for f in made]
    ours, theirs = each(run)
    assert ours == theirs


def test_quantized_numbers_as_text():
    def run(tf, session):
        wide = tf.constant([1, -3], tf.int16)
        return session.run([tf.strings.format("{}", tf.bitcast(wide, t)) for t in (tf.qint16, tf.quint16)])
    ours, theirs = each(run)
    assert ours == theirs


@pytest.mark.parametrize("name", [*OTHERS, *SMALL])
def test_real_parts(name):
    def run(tf, _):
        x = tf.placeholder(kind(tf, name), [])
        return tried(lambda: tf.real(x).dtype.name, TypeError)
    ours, theirs = each(run)
    assert ours == theirs
