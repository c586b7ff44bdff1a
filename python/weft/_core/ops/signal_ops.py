"""tf.signal: Fourier and cosine transforms, frames and windows of signals, spectrograms."""
import math

import numpy as np

from weft._core.framework import dtypes, wrap
from weft._core.framework.build import constant, constant_value, convert_to_tensor, op
from weft._core.framework.dtypes import as_dtype
from weft._core.framework.graph import Tensor, name_scope
from weft._core.ops import array_ops, math_ops

wrap.functions("""
fft FFT input
ifft IFFT input
fft2d FFT2D input
ifft2d IFFT2D input
fft3d FFT3D input
ifft3d IFFT3D input
""", globals())


def _complex_of(dtype):
    return dtypes.complex128 if dtype == dtypes.float64 else dtypes.complex64


def _real_of(dtype):
    return dtypes.float64 if dtype == dtypes.complex128 else dtypes.float32


def _fit(x, axes, wanted):
    """Returns x padded with zeros where its last dimensions are shorter than wanted, which lists numbers or tensors."""
    known = x.shape.as_list() if x.shape.ndims is not None else None
    lengths = [constant_value(w) if not isinstance(w, int) else w for w in wanted]
    if known is None:
        raise ValueError("a Fourier transform needs an input of known rank, got %s" % x)
    pads = []
    for have, length, tensor, at in zip(known[-axes:], lengths, wanted, range(-axes, 0)):
        if have is not None and length is not None:
            pads.append(max(0, int(length) - have))
        else:
            pads.append(math_ops.maximum(0, tensor - array_ops.shape(x)[at]))
    if all(isinstance(p, int) and p == 0 for p in pads):
        return x
    return array_ops.pad(x, [[0, 0]] * (len(known) - axes) + [[0, p] for p in pads])


def _real_transform(public, kind, axes, inverse):
    def call(input_tensor, fft_length=None, name=None):
        with name_scope(name, public, [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor, preferred_dtype=dtypes.complex64 if inverse else dtypes.float32, name="input_tensor")
            if x.shape.ndims is not None and x.shape.ndims < axes:
                raise ValueError("Shape %s must have rank at least %d" % (x.shape, axes))
            if inverse and not x.dtype.base_dtype.is_complex:
                raise ValueError("IRFFT requires tf.complex64 or tf.complex128 inputs, got: %s" % x)
            if fft_length is None:
                inner = x.shape.as_list()[-axes:] if x.shape.ndims is not None else [None] * axes
                if None in inner:
                    whole = array_ops.shape(x)
                    lengths = [whole[a] for a in range(-axes, 0)]
                    if inverse:
                        lengths[-1] = math_ops.maximum(0, 2 * (lengths[-1] - 1))
                else:
                    lengths = inner[:-1] + [max(0, 2 * (inner[-1] - 1)) if inverse else inner[-1]]
                length = convert_to_tensor(lengths, dtypes.int32)
            else:
                length = convert_to_tensor(fft_length, dtypes.int32)
                known = constant_value(length)
                lengths = [int(n) for n in known] if known is not None else [length[a] for a in range(axes)]
                needed = list(lengths)
                if inverse:
                    needed[-1] = needed[-1] // 2 + 1
                x = _fit(x, axes, needed)
            kinds = {"Tcomplex": x.dtype.base_dtype, "Treal": _real_of(x.dtype.base_dtype)} if inverse else {
                "Treal": x.dtype.base_dtype, "Tcomplex": _complex_of(x.dtype.base_dtype)}
            return op(kind, scope, input=x, fft_length=length, **kinds)
    call.__name__ = call.__qualname__ = public
    call.__module__ = __name__
    call.__doc__ = """The %sFourier transform of real numbers over the last %s.

    Args:
      input_tensor: the %s.
      fft_length: the length of the transform in each of these dimensions; by default that of the input.
      name: a name for the operation.
    """ % ("inverse " if inverse else "", "dimension" if axes == 1 else "%d dimensions" % axes, "spectrum" if inverse else "signal")
    return call


rfft, irfft = _real_transform("rfft", "RFFT", 1, False), _real_transform("irfft", "IRFFT", 1, True)
rfft2d, irfft2d = _real_transform("rfft2d", "RFFT2D", 2, False), _real_transform("irfft2d", "IRFFT2D", 2, True)
rfft3d, irfft3d = _real_transform("rfft3d", "RFFT3D", 3, False), _real_transform("irfft3d", "IRFFT3D", 3, True)


def _shift(public, forward):
    def call(x, axes=None, name=None):
        with name_scope(name, public) as scope:
            x = convert_to_tensor(x)
            if axes is None:
                axes = tuple(range(x.shape.ndims))
            axes = [axes] if isinstance(axes, int) else list(axes)
            lengths = [x.shape[a].value if x.shape[a].value is not None else array_ops.shape(x)[a] for a in axes]
            by = [n // 2 if forward else -(n // 2) for n in lengths]
            return op("Roll", scope, input=x, shift=by, axis=axes)
    call.__name__ = call.__qualname__ = public
    call.__module__ = __name__
    call.__doc__ = """Moves the zero frequency %s.

    Args:
      x: a spectrum.
      axes: the dimensions to move it in; None is all.
      name: a name for the operation.
    """ % ("to the middle" if forward else "back to the start")
    return call


fftshift, ifftshift = _shift("fftshift", True), _shift("ifftshift", False)


# ---- windows ----

def _raised_cosine(public, a, b, doc):
    def window(window_length, periodic=True, dtype=dtypes.float32, name=None):
        with name_scope(name, public, [window_length, periodic]):
            dtype = as_dtype(dtype)
            if not dtype.is_floating:
                raise ValueError("dtype must be a floating point type. Found %s" % dtype)
            length = math_ops.cast(convert_to_tensor(window_length, name="window_length"), dtypes.int32)
            if constant_value(length) == 1:
                return array_ops.ones([1], dtype)
            # A periodic window of even length is a symmetric one of one more element, without the last.
            periodic = math_ops.cast(convert_to_tensor(periodic, dtypes.bool, name="periodic"), dtypes.int32)
            even = 1 - math_ops.mod(length, 2)
            whole = math_ops.cast(length + periodic * even - 1, dtype)
            at = math_ops.cast(math_ops.range(length), dtype)
            angle = constant(2 * np.pi, dtype) * at / whole
            return math_ops.cast(a - b * math_ops.cos(angle), dtype)
    window.__name__ = window.__qualname__ = public
    window.__module__ = __name__
    window.__doc__ = """%s

    Args:
      window_length: the number of elements.
      periodic: whether the window is one period of a periodic function, or symmetric.
      dtype: the type of the elements.
      name: a name for the operation.
    """ % doc
    return window


hann_window = _raised_cosine("hann_window", 0.5, 0.5, "The Hann window.")
hamming_window = _raised_cosine("hamming_window", 0.54, 0.46, "The Hamming window.")


def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    """Returns the window of the Vorbis format.

    Args:
      window_length: the number of elements.
      dtype: the type of the elements.
      name: a name for the operation.
    """
    with name_scope(name, "vorbis_window"):
        at = math_ops.cast(math_ops.range(0, convert_to_tensor(window_length, dtypes.int32)), as_dtype(dtype))
        half = math_ops.sin(math.pi / math_ops.cast(window_length, as_dtype(dtype)) * (at + 0.5))
        return math_ops.sin(math.pi / 2.0 * half * half)


# ---- frames ----

def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Returns a signal divided into frames that may overlap.

    Args:
      signal: the signals.
      frame_length: the number of samples in a frame.
      frame_step: the distance of the starts of frames.
      pad_end: whether the end is filled up so that every step has a frame.
      pad_value: what it is filled up with.
      axis: the dimension to cut.
      name: a name for the operation.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        rank = signal.shape.ndims
        if rank is None:
            raise ValueError("tf.signal.frame needs a signal of known rank, got %s" % signal)
        if rank == 0:
            raise ValueError("Shape %s must have rank at least 1" % signal.shape)
        axis = axis + rank if axis < 0 else axis
        length = array_ops.shape(signal)[axis] if signal.shape[axis].value is None else signal.shape[axis].value
        known = all(isinstance(v, int) for v in (length, frame_length, frame_step))
        if pad_end:
            frames = -(-length // frame_step) if known else -((-length) // frame_step)
            missing = (frame_length + frame_step * (frames - 1)) - length
            missing = max(0, missing) if known else math_ops.maximum(0, missing)
            signal = array_ops.pad(signal, [[0, missing if a == axis else 0] for a in range(rank)], constant_values=pad_value)
        else:
            frames = 1 + (length - frame_length) // frame_step
            frames = max(0, frames) if known else math_ops.maximum(0, frames)
        if known:
            at = np.arange(frames)[:, None] * frame_step + np.arange(frame_length)[None, :]
            at = convert_to_tensor(at.astype(np.int32).reshape(frames, frame_length))
        else:
            at = array_ops.expand_dims(math_ops.range(frames) * frame_step, 1) + array_ops.expand_dims(math_ops.range(frame_length), 0)
        return array_ops.gather(signal, at, axis=axis)


def overlap_and_add(signal, frame_step, name=None):
    """Returns the signal that these frames form, summed where they overlap.

    Args:
      signal: the frames: a tensor [..., frames, frame_length] of known rank.
      frame_step: the distance of the starts of frames.
      name: a name for the operation.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        if signal.shape.ndims is None or signal.shape.ndims < 2:
            raise ValueError("Shape %s must have rank at least 2" % signal.shape)
        shape = array_ops.shape(signal)
        frames, length = shape[-2], shape[-1]
        total = (frames - 1) * frame_step + length
        at = array_ops.expand_dims(math_ops.range(frames) * frame_step, 1) + array_ops.expand_dims(math_ops.range(length), 0)
        flat = array_ops.reshape(signal, array_ops.concat([[-1], [frames * length]], 0))
        summed = math_ops.unsorted_segment_sum(array_ops.transpose(flat), array_ops.reshape(at, [-1]), total)
        made = array_ops.reshape(array_ops.transpose(summed), array_ops.concat([shape[:-2], [total]], 0))
        known = signal.shape.as_list()
        if isinstance(frame_step, int) and known[-1] is not None and known[-2] is not None:
            made.set_shape(known[:-2] + [(known[-2] - 1) * frame_step + known[-1]])
        return made


# ---- spectrograms ----

def _enclosing_power_of_two(n):
    known = n if isinstance(n, int) else constant_value(n)
    if known is not None:
        return 1 << max(0, (int(known) - 1).bit_length())
    return math_ops.cast(math_ops.pow(2.0, math_ops.ceil(math_ops.log(math_ops.cast(n, dtypes.float32)) / math.log(2.0))), dtypes.int32)


def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """Returns the short-time Fourier transform: the spectrum of each frame of a signal.

    Args:
      signals: the signals, along the last dimension.
      frame_length: the number of samples in a frame.
      frame_step: the distance of the starts of frames.
      fft_length: the length of the transforms; by default the next power of two.
      window_fn: a function that makes a window of a length and a type, or None.
      pad_end: whether the end is filled up with zeros so that every step has a frame.
      name: a name for the operation.
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        framed = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            framed = framed * window_fn(frame_length, dtype=framed.dtype)
        return rfft(framed, [fft_length])


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """Returns a function that makes the window with which inverse_stft undoes stft.

    Args:
      frame_step: the distance of the starts of frames.
      forward_window_fn: the window of stft.
      name: a name for the operation.
    """
    def inverse_window(frame_length, dtype):
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            window = forward_window_fn(frame_length, dtype=dtype)
            overlaps = -((-frame_length) // frame_step)
            total = math_ops.square(window)
            total = array_ops.pad(total, [[0, overlaps * frame_step - frame_length]])
            total = math_ops.reduce_sum(array_ops.reshape(total, [overlaps, frame_step]), 0, keepdims=True)
            total = array_ops.reshape(array_ops.tile(total, [overlaps, 1]), [overlaps * frame_step])
            return window / total[:frame_length]
    return inverse_window


def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    """Returns the signal of a short-time Fourier transform.

    Args:
      stfts: what stft gave: a complex tensor [..., frames, fft_length / 2 + 1].
      frame_length: the number of samples in a frame.
      frame_step: the distance of the starts of frames.
      fft_length: the length of the transforms; by default the next power of two.
      window_fn: a function that makes a window of a length and a type, or None.
      name: a name for the operation.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        real = irfft(stfts, [fft_length])[..., :frame_length]
        short = frame_length - fft_length
        if short > 0:
            real = array_ops.pad(real, [[0, 0]] * (real.shape.ndims - 1) + [[0, short]])
        if window_fn is not None:
            real = real * window_fn(frame_length, dtype=_real_of(stfts.dtype.base_dtype))
        return overlap_and_add(real, frame_step)


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32, name=None):
    """Returns a matrix that turns spectra of linear frequency into spectra of the mel scale.

    Args:
      num_mel_bins: the number of columns.
      num_spectrogram_bins: the number of rows: fft_length / 2 + 1.
      sample_rate: the samples per second.
      lower_edge_hertz: the lowest frequency of the mel scale.
      upper_edge_hertz: the highest one.
      dtype: the type of the elements.
      name: a name for the operation.
    """
    if num_mel_bins <= 0:
        raise ValueError("num_mel_bins must be positive. Got: %s" % num_mel_bins)
    if lower_edge_hertz < 0.0 or lower_edge_hertz >= upper_edge_hertz:
        raise ValueError("lower_edge_hertz must be at least 0 and below upper_edge_hertz. Got: %s, %s" % (
            lower_edge_hertz, upper_edge_hertz))
    if upper_edge_hertz > sample_rate / 2:
        raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got %s for %s" % (
            upper_edge_hertz, sample_rate))

    def mel(hertz):
        return 1127.0 * np.log1p(hertz / 700.0)
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        rows = mel(np.linspace(0.0, sample_rate / 2, num_spectrogram_bins)[1:])[:, None]  # the row of 0 Hz stays zero
        edges = np.linspace(mel(lower_edge_hertz), mel(upper_edge_hertz), num_mel_bins + 2)
        low, middle, high = edges[:-2][None], edges[1:-1][None], edges[2:][None]
        weights = np.maximum(0.0, np.minimum((rows - low) / (middle - low), (high - rows) / (high - middle)))
        return convert_to_tensor(np.pad(weights, [[1, 0], [0, 0]]).astype(as_dtype(dtype).as_numpy_dtype), name=scope)


# ---- cosine transforms ----

def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """Returns the discrete cosine transform of type 1, 2, 3 or 4 over the last dimension.

    Args:
      input: a tensor of floating-point numbers.
      type: 1, 2, 3 or 4.
      n: the length of the transform: the input is cut or filled up with zeros.
      axis: -1.
      norm: None or 'ortho'.
      name: a name for the operation.
    """
    _check_dct(type, axis, n, norm, "DCT")
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input)
        if not x.dtype.base_dtype.is_floating:
            raise TypeError("tf.signal.dct needs floating-point numbers, got %s of type %s" % (x.name, x.dtype.base_dtype.name))
        if n is not None:
            have = array_ops.shape(x)[-1] if x.shape[-1].value is None else x.shape[-1].value
            missing = math_ops.maximum(n - have, 0) if isinstance(have, Tensor) else max(n - have, 0)
            x = array_ops.pad(x[..., :n], [[0, 0]] * (x.shape.ndims - 1) + [[0, missing]])
            x.set_shape([None] * (x.shape.ndims - 1) + [n])
        known = x.shape[-1].value
        if known is not None and (known <= _MATRIX_DCT or x.dtype.base_dtype not in (dtypes.float32, dtypes.float64)):
            return _dct_matrix(x, type, norm)
        return _dct_fourier(x, type, norm)


def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """Returns the inverse discrete cosine transform, up to a factor: types 2 and 3 are inverse to each other.

    Args:
      input: a tensor of floating-point numbers.
      type: 1, 2, 3 or 4.
      n: None.
      axis: -1.
      norm: None or 'ortho'.
      name: a name for the operation.
    """
    _check_dct(type, axis, n, norm, "IDCT")
    if n is not None:
        raise ValueError("Inverse DCT does not support the parameter n, got %s" % n)
    return dct(input, type={1: 1, 2: 3, 3: 2, 4: 4}[type], norm=norm, name=name)


def _check_dct(kind, axis, n, norm, what):
    if axis != -1:
        raise NotImplementedError("axis must be -1. Got: %s" % axis)
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if kind not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported, got %s for %s." % (kind, what))
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError("Unknown normalization. Expected None or 'ortho', got: %s" % norm)


_MATRIX_DCT = 256  # the longest transform that is a product with a matrix: that is exact and fast, but its cost is quadratic


def _dct_fourier(x, kind, norm):
    """Returns the transform as the real part of a Fourier transform of twice the length."""
    real = x.dtype.base_dtype
    length = array_ops.shape(x)[-1] if x.shape[-1].value is None else x.shape[-1].value
    n, k = math_ops.cast(length, real), math_ops.cast(math_ops.range(length), real)
    zero = convert_to_tensor(0, real)
    turned = lambda angle: math_ops.exp(math_ops.complex(zero * angle, -angle))  # noqa: E731
    scale = math_ops.sqrt(0.5 / n) if norm == "ortho" else convert_to_tensor(1, real)
    first = math_ops.cast(math_ops.equal(k, 0), real)
    if kind == 1:
        made = math_ops.real(rfft(array_ops.concat([x, x[..., -2:0:-1]], -1)))
    elif kind == 2:
        made = 2 * math_ops.real(rfft(x, [2 * length])[..., :length] * turned(math.pi * k / (2 * n)))
        made = made * scale * (1 - (1 - math.sqrt(0.5)) * first if norm == "ortho" else 1)
    else:
        if kind == 3:
            x = x * (1 - (1 - (math.sqrt(0.5) if norm == "ortho" else 0.5)) * first)
        waves = math_ops.complex(x, array_ops.zeros_like(x)) * turned(math.pi * k / (2 * n))
        spectrum = op("FFT", input=array_ops.concat([waves, array_ops.zeros_like(waves)], -1))[..., :length]
        if kind == 4:
            spectrum = spectrum * turned(math.pi * (2 * k + 1) / (4 * n))
        made = 2 * math_ops.real(spectrum) * scale
    made.set_shape(x.shape)
    return made


def _dct_matrix(x, kind, norm):
    """Returns the product with a matrix of cosines."""
    n = x.shape[-1].value
    k, j = np.arange(n)[None, :], np.arange(n)[:, None]
    if kind == 1:
        if n < 2:
            raise ValueError("Type-I DCT requires at least 2 elements, got %d" % n)
        matrix = 2 * np.cos(np.pi * j * k / (n - 1))
        matrix[0], matrix[-1] = matrix[0] / 2, matrix[-1] / 2
    elif kind == 2:
        matrix = 2 * np.cos(np.pi * (2 * j + 1) * k / (2 * n))
        if norm == "ortho":
            matrix = matrix * math.sqrt(0.5 / n) * np.where(k == 0, math.sqrt(0.5), 1.0)
    elif kind == 3:
        matrix = 2 * np.cos(np.pi * j * (2 * k + 1) / (2 * n))
        if norm == "ortho":
            matrix = matrix * math.sqrt(0.5 / n)
            matrix[0] = matrix[0] * math.sqrt(0.5)
        else:
            matrix[0] = matrix[0] / 2
    else:
        matrix = 2 * np.cos(np.pi * (2 * j + 1) * (2 * k + 1) / (4 * n)) * (math.sqrt(0.5 / n) if norm == "ortho" else 1.0)
    return math_ops.tensordot(x, convert_to_tensor(matrix.astype(x.dtype.as_numpy_dtype)), 1)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Returns the mel-frequency cepstral coefficients of log mel spectrograms.

    Args:
      log_mel_spectrograms: the spectrograms, along the last dimension.
      name: a name for the operation.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms)
        n = x.shape[-1].value
        if not n:
            raise ValueError("num_mel_bins must be positive and known. Got: %s" % x)
        return dct(x, type=2) * (1.0 / math.sqrt(2.0 * n))
