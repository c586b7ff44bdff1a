"""Files that are no regular files: a pipe without a writer and a device without an end cost one step, not the process."""
import os
import threading
import time

import pytest

import weft as tf


def of(dataset):
    return dataset.make_one_shot_iterator().get_next()


READERS = {
    "file": tf.read_file,
    "lines": lambda path: of(tf.data.TextLineDataset(path)),
    "csv": lambda path: of(tf.data.experimental.CsvDataset(path, [tf.string])),
}


def read(reader, path, ms):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(READERS[reader](path), options=tf.RunOptions(timeout_in_ms=ms))


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_without_a_writer_ends_with_the_step(reader, tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    begin = time.monotonic()
    with pytest.raises(tf.errors.DeadlineExceededError, match="pipe"):
        read(reader, path, 300)
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("reader", READERS)
def test_a_device_without_an_end_is_refused_by_its_name(reader):
    with pytest.raises(tf.errors.ResourceExhaustedError, match="/dev/zero is no regular file, and had no end"):
        read(reader, "/dev/zero", 100_000)


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_read_when_its_writer_comes(reader, tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)

    def write():
        time.sleep(.2)
        with open(path, "wb") as f:
            f.write(b"some words")

    writer = threading.Thread(target=write)
    writer.start()
    got = read(reader, path, 100_000)
    writer.join()
    assert (got[0] if reader == "csv" else got) == b"some words"
