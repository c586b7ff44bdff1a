"""Sound, signals, CTC with dense labels, dilation of images, floats rounded as integers."""
import numpy as np

from machine import case

R = np.random.RandomState(8)
SOUND = R.uniform(-1, 1, (40, 2)).astype(np.float32)
SIGNAL = R.randn(2, 16).astype(np.float32)
LOGITS = R.randn(4, 2, 5).astype(np.float32)
IMAGE = R.randn(1, 5, 6, 2).astype(np.float32)


@case
def wav(tf):
    file = tf.audio.encode_wav(SOUND, 8000)
    return [file, tf.audio.decode_wav(file), tf.audio.decode_wav(file, 1, desired_samples=50, name="one"),
            tf.raw_ops.AudioSpectrogram(input=SOUND, window_size=10, stride=5),
            tf.raw_ops.Mfcc(spectrogram=np.abs(SOUND[None]).repeat(20, 2), sample_rate=8000, dct_coefficient_count=5)]


@case(nodes=False)
def windows(tf):
    with tf.Session() as sess:
        return sess.run([tf.signal.kaiser_window(5), tf.signal.kaiser_window(6, 3.0, tf.float64), tf.signal.kaiser_window(1),
                         tf.signal.kaiser_bessel_derived_window(6, 4.0), tf.signal.mdct(SIGNAL, 8), tf.signal.mdct(SIGNAL, 8, norm="ortho"),
                         tf.signal.mdct(SIGNAL, 8, window_fn=None, pad_end=True), tf.signal.inverse_mdct(tf.signal.mdct(SIGNAL, 8)),
                         tf.signal.inverse_mdct(tf.signal.mdct(SIGNAL, 8, norm="ortho"), norm="ortho"),
                         tf.signal.inverse_mdct(tf.signal.mdct(SIGNAL, 8, window_fn=None), window_fn=None)])


@case(nodes=False, tolerance=1e-4)
def ctc(tf):
    nn, logits, labels = tf.nn, tf.constant(LOGITS), [[1, 3], [3, 0]]
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1, 3, 3], [2, 2])
    losses = [nn.ctc_loss_v2(labels, logits, [2, 1], [4, 3], blank_index=2), nn.ctc_loss_v2(labels, logits, [2, 0], [4, 3]),
              nn.ctc_loss_v2(labels, tf.transpose(logits, [1, 0, 2]), [2, 1], [4, 3], logits_time_major=False, blank_index=-1),
              nn.ctc_loss_v2(sparse, logits, None, [4, 3], blank_index=0),
              nn.ctc_loss_v2(labels, logits, [2, 1], [4, 3], unique=nn.ctc_unique_labels(labels))]
    with tf.Session() as sess:
        return sess.run([losses, tf.gradients(losses[0], logits), nn.collapse_repeated([[1, 1, 2, 2, 0], [3, 3, 3, 1, 1]], [4, 5]),
                         nn.ctc_unique_labels([[3, 4, 4, 3], [5, 5, 6, 0]]),
                         nn.ctc_beam_search_decoder_v2(logits, [4, 3], beam_width=5, top_paths=2)])


@case(nodes=False)
def averages(tf):
    with tf.Session() as sess:
        return sess.run([tf.nn.compute_average_loss([1.0, 2.0, 3.0]), tf.nn.compute_average_loss([1, 2, 3], [1.0, 0.0, 2.0], 6),
                         tf.nn.compute_average_loss([[1.0, 2.0], [3.0, 4.0]]), tf.nn.scale_regularization_loss([1.0, 2.0]),
                         tf.nn.experimental.stateless_dropout(SIGNAL, 0.5, [1, 2]),
                         tf.nn.experimental.stateless_dropout(SIGNAL, 0.25, [1, 2], noise_shape=[2, 1])])


@case
def dilations(tf):
    f = np.linspace(-1, 1, 12).reshape(2, 3, 2).astype(np.float32)
    return [tf.nn.dilation2d(IMAGE, f, [1, 1, 2, 1], [1, 2, 1, 1], "SAME"), tf.nn.erosion2d(IMAGE, f, [1, 1, 1, 1], [1, 1, 1, 1], "VALID"),
            tf.nn.dilation2d(IMAGE, filters=f, strides=[1, 1, 1, 1], dilations=[1, 1, 2, 1], padding="SAME", name="d"),
            tf.quantization.quantize_and_dequantize(IMAGE, 0.0, 0.0, num_bits=4),
            tf.quantization.quantize_and_dequantize_v2(IMAGE, [-1.0, -0.5], [1.0, 0.7], range_given=True, axis=3)]


@case
def samplers(tf):
    tf.set_random_seed(3)
    with open("counts.csv", "w") as f:
        f.write("a,1\nb,2\nc,5\n")
    true = tf.constant([[1], [2]], tf.int64)
    return [tf.nn.all_candidate_sampler(true, 1, 4, True, name="all"),
            tf.nn.fixed_unigram_candidate_sampler(true, 1, 8, False, 4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=5),
            tf.nn.fixed_unigram_candidate_sampler(true, 1, 2, True, 4, "counts.csv", num_reserved_ids=1, distortion=0.75, seed=6)]
