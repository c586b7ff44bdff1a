"""tf.signal and tf.spectral, with the gradients of the transforms."""
import numpy as np

from machine import case

RANDOM = np.random.RandomState(5)
X = RANDOM.randn(2, 8).astype(np.float32)
Y = RANDOM.randn(3, 4, 6).astype(np.float32)
Z = (RANDOM.randn(2, 6) + 1j * RANDOM.randn(2, 6)).astype(np.complex64)


@case
def plain_transforms(tf):
    return [tf.signal.fft(Z), tf.signal.ifft(Z, name="i"), tf.signal.fft2d(Z), tf.signal.ifft2d(Z),
            tf.signal.fft3d(Z[None]), tf.signal.ifft3d(Z[None]),
            tf.fft(Z), tf.ifft2d(Z), tf.spectral.fft(Z), tf.spectral.ifft3d(Z[None])]


@case(nodes=False)
def real_transforms(tf):
    return [tf.signal.rfft(X), tf.signal.rfft(X, [6]), tf.signal.rfft(X, fft_length=[11]), tf.signal.irfft(Z),
            tf.signal.irfft(Z, [7]),
            tf.signal.irfft(Z, [16]), tf.signal.rfft2d(Y), tf.signal.rfft2d(Y, [3, 9]), tf.signal.irfft2d(Z),
            tf.signal.rfft3d(Y),
            tf.spectral.rfft(X), tf.spectral.irfft2d(Z), tf.signal.irfft3d(Z[None])]


@case(nodes=False, tolerance=1e-4)
def transforms_backwards(tf):
    x, y, z = tf.constant(X), tf.constant(Y), tf.constant(Z)
    found = []
    for made, of in ((tf.signal.rfft(x), x), (tf.signal.rfft2d(y), y),
                     (tf.signal.irfft(z), z),
                     (tf.signal.irfft2d(z), z), (tf.signal.fft(z), z),
                     (tf.signal.ifft2d(z), z)):
        loss = tf.reduce_sum(tf.square(tf.abs(made)) * tf.cast(tf.range(tf.shape(made)[-1]), tf.float32))
        found.append(tf.identity(tf.gradients(loss, of)[0]))
    return found


@case(nodes=False)
def shifted(tf):
    return [tf.identity(tf.signal.fftshift(X)), tf.identity(tf.signal.ifftshift(X, axes=1)),
            tf.identity(tf.signal.fftshift(Y, axes=(0, 2)))]


@case(nodes=False)
def windows(tf):
    return [tf.identity(w) for w in (tf.signal.hann_window(8), tf.signal.hann_window(7),
                                     tf.signal.hann_window(8, periodic=False),
                                     tf.signal.hamming_window(5, dtype=tf.float64), tf.signal.hamming_window(6),
                                     tf.signal.vorbis_window(6),
                                     tf.signal.hann_window(1))]


@case(nodes=False)
def frames(tf):
    signal = tf.constant(RANDOM.randn(2, 20).astype(np.float32) * 0 + np.arange(20, dtype=np.float32))
    cut = tf.signal.frame(signal, 6, 4)
    return [tf.identity(cut), tf.identity(tf.signal.frame(signal, 6, 4, pad_end=True, pad_value=-1)),
            tf.identity(tf.signal.frame(signal, 2, 1, axis=0)),
            tf.identity(tf.signal.overlap_and_add(cut, 4)), tf.identity(tf.signal.frame(signal, 30, 4))]


@case(nodes=False, tolerance=1e-4)
def spectrograms(tf):
    signal = tf.constant(np.sin(np.arange(100, dtype=np.float32) / 3)[None])
    made = tf.signal.stft(signal, 16, 8)
    back = tf.signal.inverse_stft(made, 16, 8, window_fn=tf.signal.inverse_stft_window_fn(8))
    return [tf.identity(x) for x in (made, back,
                                     tf.signal.stft(signal, 12, 6, fft_length=32, window_fn=tf.signal.hamming_window,
                                                    pad_end=True),
                                     tf.signal.inverse_stft(made, 16, 8, window_fn=None),
                                     tf.signal.linear_to_mel_weight_matrix(),
                                     tf.signal.linear_to_mel_weight_matrix(10, 65, 16000, 80.0, 7600.0),
                                     tf.signal.mfccs_from_log_mel_spectrograms(tf.constant(X)))]


@case(nodes=False, tolerance=1e-4)
def cosines(tf):
    x = tf.constant(X)
    return [tf.identity(c) for c in (tf.signal.dct(x), tf.signal.dct(x, norm="ortho"), tf.signal.dct(x, type=1),
                                     tf.signal.dct(x, type=3),
                                     tf.signal.dct(x, type=3, norm="ortho"), tf.signal.dct(x, type=4),
                                     tf.signal.dct(x, n=5), tf.signal.dct(x, n=12),
                                     tf.signal.idct(x), tf.signal.idct(x, type=2, norm="ortho"), tf.spectral.dct(x),
                                     tf.spectral.idct(x, type=3))]
