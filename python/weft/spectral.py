"""tf.spectral: Fourier and cosine transforms."""
from weft._core.ops.signal_ops import dct, fft, fft2d, fft3d, idct, ifft, ifft2d, ifft3d, irfft, irfft2d, irfft3d, rfft, rfft2d, rfft3d
from weft._core.public import publish as _publish

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "idct", "ifft", "ifft2d", "ifft3d", "irfft", "irfft2d", "irfft3d", "rfft",
    "rfft2d", "rfft3d",
]
__getattr__ = _publish(__name__)
