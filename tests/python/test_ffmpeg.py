"""tf.contrib.ffmpeg: WAV files, other formats by the program ffmpeg, and its absence.

A program of this test stands in for ffmpeg, so that what is passed to it is checked on every machine; where ffmpeg itself is
installed, it decodes real files too.
"""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import wave

import numpy as np
import pytest

import weft as tf

FFMPEG = shutil.which("ffmpeg")
needs_ffmpeg = pytest.mark.skipif(FFMPEG is None, reason="ffmpeg is not installed")
# It gives the arguments back as samples: channels, rate, and the bytes of the file, each as 16 bits.
STAND_IN = """#!%s
import os, struct, sys
args = sys.argv[1:]
with open(args[args.index("-i") + 1], "rb") as f:
    data = f.read()
assert data == os.read(0, 1 << 20), "standard input is the file too"
if data == b"broken":
    sys.exit("cannot decode this")
if data == b"slow":
    import time
    time.sleep(600)
if "-ac" in args:
    assert args[args.index("-f") + 1] == "mp3" and "-protocol_whitelist" in args
    seen = [int(args[args.index("-ac") + 1]), int(args[args.index("-ar") + 1]) // 1000, *data, len(args[args.index("-map") + 1])]
    sys.stdout.buffer.write(struct.pack("<%%dh" %% len(seen), *seen))
else:
    for i in range(3):
        sys.stdout.buffer.write(b"P6\\n2 1\\n255\\n" + bytes([i, 1, 2, 3, 4, 10]))
"""


def sound(frames=4000, channels=1, rate=8000, hertz=440):
    t = np.arange(frames)[:, None] / rate
    return (0.5 * np.sin(2 * np.pi * hertz * t + np.arange(channels))).astype(np.float32)


def wav(samples, rate=8000, width=2):
    """The bytes of a WAV file, by Python's own module."""
    import io
    made = io.BytesIO()
    with wave.open(made, "wb") as f:
        f.setnchannels(samples.shape[1])
        f.setsampwidth(width)
        f.setframerate(rate)
        f.writeframes((samples * 32768).astype("<i2").tobytes() if width == 2 else b"\x80" * samples.size)
    return made.getvalue()


def decoded(contents, *args, **kwargs):
    with tf.Graph().as_default(), tf.Session() as sess:
        out = tf.contrib.ffmpeg.decode_audio(contents, *args, **kwargs)
        assert out.dtype == tf.float32 and out.shape.ndims == 2
        return sess.run(out)


@pytest.fixture
def path(monkeypatch, tmp_path):
    """PATH is one empty folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def stand_in(path):
    program = path / "ffmpeg"
    program.write_text(STAND_IN % sys.executable)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_wav_files_need_no_program(path):
    x = sound(channels=2)
    found = decoded(wav(x), "wav", 8000, 2)
    np.testing.assert_allclose(found, x, atol=1 / 32768)
    np.testing.assert_allclose(decoded(wav(x), "WAV", 8000, 1)[:, 0], x.mean(1), atol=1 / 32768)
    np.testing.assert_allclose(decoded(wav(x[:, :1]), file_format="wav", samples_per_second=8000, channel_count=2, stream="0"),
                               np.repeat(x[:, :1], 2, 1) * np.sqrt(0.5), atol=1 / 32768)


@pytest.mark.parametrize("rate", [16000, 11025, 44100, 4000])
def test_resampling_keeps_the_sound(path, rate):
    """A sine at another rate is the sine of that rate, away from the ends; above half the rate nothing is left."""
    found = decoded(wav(sound(frames=8000)), "wav", rate, 1)
    assert found.shape == (rate, 1)
    inner = slice(rate // 10, -rate // 10)
    np.testing.assert_allclose(found[inner], sound(rate, rate=rate)[inner], atol=2e-3)
    high = decoded(wav(sound(frames=8000, hertz=3000)), "wav", rate, 1)
    assert np.abs(high[inner]).max() == pytest.approx(0.5 if rate > 6000 else 0, abs=0.02)


def test_encoded_audio_is_a_wav_file(path):
    x = sound(channels=2)
    with tf.Graph().as_default(), tf.Session() as sess:
        contents = tf.contrib.ffmpeg.encode_audio(x, file_format="wav", samples_per_second=8000)
        back = tf.contrib.ffmpeg.decode_audio(contents, "wav", 8000, 2)
        data, back, same = sess.run([contents, back, tf.audio.decode_wav(contents).audio])
    assert back.shape == x.shape and (back == same).all()
    np.testing.assert_allclose(back, x, atol=1 / 32768)
    import io
    with wave.open(io.BytesIO(data)) as f:
        assert (f.getnchannels(), f.getframerate(), f.getnframes()) == (2, 8000, 4000)


def test_without_the_program_other_formats_are_an_error(path):
    for contents, file_format, channels in ((b"x", "mp3", 1), (wav(sound(), width=1), "wav", 1), (wav(sound(channels=2)), "wav", 5)):
        with pytest.raises(tf.errors.NotFoundError, match="FFmpeg must be installed"):
            decoded(contents, file_format, 8000, channels)


def test_arguments_are_checked(path):
    for args, kwargs in ((("wma", 8000, 1), {}), (("wav", 0, 1), {}), (("wav", 8000, 1), {"stream": "-f"})):
        with pytest.raises(tf.errors.InvalidArgumentError):
            decoded(wav(sound()), *args, **kwargs)
    with pytest.raises(ValueError, match="channel_count"):
        decoded(wav(sound()), "wav", 8000, 0)
    with pytest.raises(ValueError, match="file_format"):
        decoded(wav(sound()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="wav"), tf.Graph().as_default(), tf.Session() as sess:
        sess.run(tf.contrib.ffmpeg.encode_audio(sound(), "mp3", 8000))


def test_the_program_gets_the_file_and_the_arguments(stand_in):
    found = decoded(b"ABC", "mp3", 16000, 2) * 32768
    assert found.tolist() == [[2, 16], [65, 66], [67, 5]]
    assert (decoded(b"ABC", "mp3", 8000, 1, stream="12") * 32768).ravel().tolist() == [1, 8, 65, 66, 67, 4]
    with tf.Graph().as_default(), tf.Session() as sess:
        frames = sess.run(tf.contrib.ffmpeg.decode_video(b"v"))
    assert frames.dtype == np.uint8 and frames.tolist() == [[[[i, 1, 2], [3, 4, 10]]] for i in range(3)]


def test_a_file_that_cannot_be_decoded_gives_no_samples(stand_in):
    assert decoded(b"broken", "mp3", 8000, 3).shape == (0, 3)


def test_a_process_with_confined_files_does_not_start_the_program(stand_in, tmp_path):
    program = """
import weft as tf
with tf.Session() as sess:
    try:
        sess.run(tf.contrib.ffmpeg.decode_audio(b"ABC", "mp3", 16000, 2))
    except tf.errors.PermissionDeniedError as e:
        print("refused", "WEFT_ALLOW_DIRS" in str(e))
"""
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "WEFT_ALLOW_DIRS": str(tmp_path)},
                          capture_output=True, text=True, timeout=120, cwd=pathlib.Path(tf.__file__).parents[1])
    assert done.stdout == "refused True\n", done.stdout + done.stderr


def test_a_run_with_a_time_limit_ends_the_program(stand_in):
    with tf.Graph().as_default(), tf.Session() as sess:
        out = tf.contrib.ffmpeg.decode_audio(b"slow", "mp3", 8000, 1)
        with pytest.raises((tf.errors.DeadlineExceededError, tf.errors.CancelledError)):
            sess.run(out, options=tf.RunOptions(timeout_in_ms=1500))


@needs_ffmpeg
@pytest.mark.parametrize("file_format", ["mp3", "ogg", "mp4"])
def test_ffmpeg_decodes_real_files(tmp_path, file_format):
    (tmp_path / "a.wav").write_bytes(wav(sound(8000, rate=16000), 16000))
    made = tmp_path / ("a." + file_format)
    codec = {"mp3": ["-ar", "44100"], "ogg": ["-ar", "44100"], "mp4": ["-c:a", "aac"]}[file_format]
    subprocess.run([FFMPEG, "-loglevel", "error", "-i", str(tmp_path / "a.wav"), *codec, str(made)], check=True,
                   stdin=subprocess.DEVNULL)
    found = decoded(made.read_bytes(), file_format, 16000, 1)
    spectrum = np.abs(np.fft.rfft(found[2000:6000, 0]))
    assert abs(len(found) - 8000) < 3000 and spectrum.argmax() == 110 and np.abs(found).max() == pytest.approx(0.5, abs=0.1)
    assert decoded(wav(sound(), width=1), "wav", 8000, 1).shape == (4000, 1)


@needs_ffmpeg
def test_ffmpeg_decodes_real_videos(tmp_path):
    made = tmp_path / "v.mp4"
    subprocess.run([FFMPEG, "-loglevel", "error", "-f", "lavfi", "-i", "color=red:size=16x12:rate=5:duration=1", str(made)],
                   check=True, stdin=subprocess.DEVNULL)
    with tf.Graph().as_default(), tf.Session() as sess:
        frames = sess.run(tf.contrib.ffmpeg.decode_video(made.read_bytes()))
    assert frames.shape == (5, 12, 16, 3) and np.abs(frames.astype(int) - [255, 0, 0]).max() < 30
