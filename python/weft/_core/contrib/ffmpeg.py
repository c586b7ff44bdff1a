"""tf.contrib.ffmpeg: sound and video files of many formats."""
import weft as tf
from weft._core.framework.build import op


def decode_audio(contents, file_format=None, samples_per_second=None, channel_count=None, stream=None):
    """Returns the samples of a sound file, a float tensor of time by channels with values from -1 to 1.

    WAV files of 16-bit samples are decoded here; other files need the program ffmpeg. A file that it cannot decode gives a
    tensor with no samples and a line in the log.

    Args:
      contents: the bytes of the file, a string scalar.
      file_format: "mp3", "mp4", "ogg" or "wav", as a string or a string tensor.
      samples_per_second: the sample rate of the result; the sound is resampled if it has another one.
      channel_count: the number of channels of the result; the sound is mixed if it has another one.
      stream: which stream of the file to decode, as a number in a string; without it, its first sound.
    """
    for name, given in (("file_format", file_format), ("samples_per_second", samples_per_second), ("channel_count", channel_count)):
        if given is None:
            raise ValueError("decode_audio needs %s" % name)
    return op("DecodeAudioV2", None, contents=tf.convert_to_tensor(contents, tf.string), file_format=_lower(file_format),
              samples_per_second=samples_per_second, channel_count=channel_count, stream="" if stream is None else stream)


def decode_video(contents):
    """Returns the frames of a video file, decoded by the program ffmpeg: a uint8 tensor of frames, height, width and 3 colors.

    Args:
      contents: the bytes of the file, a string scalar.
    """
    return op("DecodeVideo", None, contents=tf.convert_to_tensor(contents, tf.string))


def encode_audio(audio, file_format=None, samples_per_second=None):
    """Returns the bytes of a sound file.

    Args:
      audio: the samples, a float tensor of time by channels; values beyond -1 and 1 are clipped.
      file_format: "wav", the only format that can be written, as a string or a string tensor.
      samples_per_second: the sample rate of the file.
    """
    for name, given in (("file_format", file_format), ("samples_per_second", samples_per_second)):
        if given is None:
            raise ValueError("encode_audio needs %s" % name)
    return op("EncodeAudioV2", None, sampled_audio=tf.convert_to_tensor(audio, tf.float32), file_format=_lower(file_format),
              samples_per_second=samples_per_second, bits_per_second=-1)


def _lower(file_format):
    return file_format.lower() if isinstance(file_format, str) else file_format
