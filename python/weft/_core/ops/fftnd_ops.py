"""tf.signal's transforms along any axes.  TensorFlow has no kernel of them for CPUs, nor has Weft: they can be built and exported."""
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.dtypes import complex64, complex128, float32, float64
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops

_DOC = """%s along any axes.

    Args:
      input_tensor: a tensor of %s numbers.
      fft_length: the length along each axis; the input's own if it is None.
      axes: the axes; all of them if it is None.
      norm: None or "backward"; other scales are refused.
      name: a name for the op.
    """


def _made(kind, what, numbers):
    name_of = kind.lower()

    def transform(input_tensor, fft_length=None, axes=None, norm=None, name=None):
        if norm not in (None, "backward"):
            raise ValueError("tf.signal.%s(norm=%r): None and \"backward\" are known; scale the result instead" % (name_of, norm))
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
            more = {"RFFTND": {"Tcomplex": whole}, "IRFFTND": {"Treal": real}}.get(kind, {})
            return op(kind, scope, input=x, fft_length=lengths, axes=chosen, **more)
    transform.__name__ = transform.__qualname__ = name_of
    transform.__doc__ = _DOC % (what, numbers)
    return transform


fftnd = _made("FFTND", "The Fourier transform", "complex")
ifftnd = _made("IFFTND", "The inverse of the Fourier transform", "complex")
rfftnd = _made("RFFTND", "The Fourier transform of real numbers", "real")
irfftnd = _made("IRFFTND", "The inverse of the Fourier transform of real numbers", "complex")
