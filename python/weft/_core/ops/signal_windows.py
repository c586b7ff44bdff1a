"""tf.signal: Kaiser and Kaiser-Bessel-derived windows, and the modified discrete cosine transform."""
import numpy as np

from weft._core.framework import dtypes
from weft._core.framework.build import constant, convert_to_tensor, op
from weft._core.framework.graph import name_scope
from weft._core.ops import array_ops, math_ops, signal_ops


def _window_type(window_length, dtype):
    if not dtypes.as_dtype(dtype).is_floating:
        raise ValueError("dtype must be a floating point type. Found %s" % dtype)
    length = convert_to_tensor(window_length, dtypes.int32, name="window_length")
    length.shape.assert_has_rank(0)
    return length, dtypes.as_dtype(dtype)


def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Returns a Kaiser window.

    Args:
      window_length: its length.
      beta: its shape; a larger one has a wider main lobe and lower side lobes.
      dtype: a type of floats.
      name: a name for the operation.
    """
    with name_scope(name, "kaiser_window"):
        length, dtype = _window_type(window_length, dtype)
        half = math_ops.cast(length - 1, dtype) / 2
        beta = convert_to_tensor(beta, dtype)
        place = math_ops.cast(math_ops.range(length), dtype)
        # A window of length 1 has only its center.
        away = math_ops.div_no_nan(place - half, half)
        arg = beta * math_ops.sqrt(math_ops.maximum(1 - math_ops.square(away), convert_to_tensor(0, dtype)))
        i0e = lambda x: op("BesselI0e", x=x)  # noqa: E731
        return math_ops.exp(math_ops.abs(arg) - math_ops.abs(beta)) * i0e(arg) / i0e(beta)


def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    """Returns the Kaiser-Bessel-derived window, made from the running sums of a Kaiser window.

    Args:
      window_length: its length, which is even.
      beta: the shape of the window of Kaiser.
      dtype: a type of floats.
      name: a name for the operation.
    """
    with name_scope(name, "kaiser_bessel_derived_window"):
        length, dtype = _window_type(window_length, dtype)
        sums = math_ops.cumsum(kaiser_window(length // 2 + 1, beta, dtype))
        half = math_ops.sqrt(sums[:-1] / sums[-1])
        return array_ops.concat([half, array_ops.reverse_v2(half, [0])], 0)


def _check_norm(norm):
    if norm not in (None, "ortho"):
        raise ValueError("Unknown normalization. Expected None or 'ortho', got: %s" % norm)


def _weighted(frames, window_fn, length):
    """Returns the frames times the window, or without one times the factor that makes the transform invertible."""
    if window_fn is None:
        return frames * constant(1.0 / np.sqrt(2.0), frames.dtype)
    return frames * window_fn(length, dtype=frames.dtype)


def mdct(signals, frame_length, window_fn=signal_ops.vorbis_window, pad_end=False, norm=None, name=None):
    """Returns the modified discrete cosine transform of frames that overlap by half.

    Args:
      signals: a tensor whose last dimension is time.
      frame_length: the length of a frame, a multiple of 4.
      window_fn: a function of a length and `dtype` that makes the window of a frame, or None.
      pad_end: whether zeros fill the last frame.
      norm: None or 'ortho'.
      name: a name for the operation.
    """
    with name_scope(name, "mdct", [signals, frame_length]):
        _check_norm(norm)
        signals = convert_to_tensor(signals, name="signals")
        if frame_length % 4:
            raise ValueError("The frame length must be a multiple of 4.")
        frames = signal_ops.frame(signals, frame_length, frame_length // 2, pad_end)
        a, b, c, d = array_ops.split(_weighted(frames, window_fn, frame_length), 4, axis=-1)
        backward = [a.shape.ndims - 1]
        first = -array_ops.reverse_v2(c, backward) - d
        folded = array_ops.concat([first, a - array_ops.reverse_v2(b, backward)], -1)
        return signal_ops.dct(folded, type=4, norm=norm)


def inverse_mdct(mdcts, window_fn=signal_ops.vorbis_window, norm=None, name=None):
    """Returns the signals of given modified discrete cosine transforms.

    Args:
      mdcts: a tensor whose last two dimensions are frames and half the length of a frame.
      window_fn: a function of a length and `dtype` that makes the window of a frame, or None.
      norm: None or 'ortho'.
      name: a name for the operation.
    """
    with name_scope(name, "inverse_mdct", [mdcts]):
        _check_norm(norm)
        mdcts = convert_to_tensor(mdcts, name="mdcts")
        half = mdcts.shape.as_list()[-1]
        if half is None:
            raise ValueError("the last dimension of mdcts must be known, not %s" % mdcts.shape)
        folded = signal_ops.idct(mdcts, type=4, norm=norm)
        folded = folded * constant(0.5 / half, mdcts.dtype) if norm is None else folded
        first, second = array_ops.split(folded, 2, axis=-1)
        backward = [mdcts.shape.ndims - 1]
        frames = array_ops.concat([second, -array_ops.reverse_v2(second, backward), -array_ops.reverse_v2(first, backward), -first], -1)
        return signal_ops.overlap_and_add(_weighted(frames, window_fn, half * 2), half)
