"""tf.signal: transforms, frames and windows of signals."""
from weft._core.ops.fftnd_ops import fftnd, ifftnd, irfftnd, rfftnd
from weft._core.ops.signal_ops import (
    dct,
    fft,
    fft2d,
    fft3d,
    fftshift,
    frame,
    hamming_window,
    hann_window,
    idct,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    inverse_stft,
    inverse_stft_window_fn,
    irfft,
    irfft2d,
    irfft3d,
    linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms,
    overlap_and_add,
    rfft,
    rfft2d,
    rfft3d,
    stft,
    vorbis_window,
)
from weft._core.ops.signal_windows import inverse_mdct, kaiser_bessel_derived_window, kaiser_window, mdct
from weft._core.public import publish as _publish

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftnd", "fftshift", "frame", "hamming_window", "hann_window", "idct", "ifft",
    "ifft2d", "ifft3d", "ifftnd", "ifftshift", "inverse_mdct", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "irfftnd", "kaiser_bessel_derived_window", "kaiser_window", "linear_to_mel_weight_matrix",
    "mdct", "mfccs_from_log_mel_spectrograms", "overlap_and_add", "rfft", "rfft2d", "rfft3d", "rfftnd", "stft",
    "vorbis_window",
]
__getattr__ = _publish(__name__)
