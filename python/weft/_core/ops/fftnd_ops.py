"""Fourier transforms of tf.signal along any axes.

Like TensorFlow on CPUs, Weft has no kernels for them, but can build and export them.
"""
import numpy as np

from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.dtypes import complex64, complex128, float32, float64
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops
from weft._core.ops.special_math import get_static_value

_DOC = """%s along any axes.

    Args:
      input_tensor: a tensor of %s numbers.
      fft_length: the length along each axis; the input's own if it is None.
      axes: the axes; all of them if it is None.
      norm: "ortho" scales by the square root of the number of elements, "forward" by the number: a transform divides its
        input, an inverse one multiplies it, as in TensorFlow. None and "backward" do not scale.
      name: a name for the op.
    """


def _scaled(x, lengths, norm, kind):
    known = get_static_value(lengths)
    if known is None:
        raise ValueError("tf.signal.%s(norm=%r): the lengths must be known when the graph is built" % (kind.lower(), norm))
    n = float(np.prod(known, dtype=np.float64))
    n = np.sqrt(n) if norm == "ortho" else n
    return x * n if kind.startswith("I") else x / n


def _padded(x, lengths):
    """Returns the input with zeros behind its last dimensions where a length is larger, as far as shapes are known.

    As in TensorFlow the lengths count for the last dimensions here, whatever the axes are.
    """
    lengths = get_static_value(lengths)
    if lengths is None or x.shape.ndims is None or len(lengths) > x.shape.ndims:
        return x
    sizes = x.shape.as_list()
    more = [[0, 0] for _ in sizes]
    for axis, length in enumerate(lengths.tolist(), len(sizes) - len(lengths)):
        more[axis][1] = max(0, length - sizes[axis]) if sizes[axis] is not None else 0
    return array_ops.pad(x, more) if any(n for _, n in more) else x


def _made(kind, what, numbers):
    name_of = kind.lower()

    def transform(input_tensor, fft_length=None, axes=None, norm=None, name=None):
        if norm not in (None, "backward", "ortho", "forward"):
            raise ValueError("tf.signal.%s(norm=%r): None, \"backward\", \"ortho\" and \"forward\" are known" % (name_of, norm))
        with name_scope(name, name_of, [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor)
            real, whole = (float64, complex128) if x.dtype in (float64, complex128) else (float32, complex64)
            rank = x.shape.ndims
            if axes is None and rank is None:
                raise ValueError("tf.signal.%s(axes=None): the rank of the input is not known" % name_of)
            chosen = convert_to_tensor(axes if axes is not None else list(range(rank)), name="Const")
            if fft_length is not None:
                lengths = convert_to_tensor(fft_length, name="fft_length")
            elif kind == "IRFFTND":
                sizes = x.shape.as_list()
                lengths = constant(sizes[:-1] + [max(0, 2 * (sizes[-1] - 1))], name="fft_length")
            else:
                lengths = array_ops.shape(x)[-chosen.shape.as_list()[0]:]
            if fft_length is not None and kind != "IRFFTND":
                x = _padded(x, lengths)
            if norm in ("ortho", "forward"):
                x = _scaled(x, lengths, norm, kind)
            more = {"RFFTND": {"Tcomplex": whole}, "IRFFTND": {"Treal": real}}.get(kind, {})
            return op(kind, scope, input=x, fft_length=lengths, axes=chosen, **more)
    transform.__name__ = transform.__qualname__ = name_of
    transform.__doc__ = _DOC % (what, numbers)
    return transform


fftnd = _made("FFTND", "The Fourier transform", "complex")
ifftnd = _made("IFFTND", "The inverse of the Fourier transform", "complex")
rfftnd = _made("RFFTND", "The Fourier transform of real numbers", "real")
irfftnd = _made("IRFFTND", "The inverse of the Fourier transform of real numbers", "complex")
