"""tf.Print and tf.print write what TensorFlow's do, where TensorFlow's do: as it is on stderr and stdout, and into files."""
import re
import sys

import pytest

from both import oracle, weft

STREAMS = {"stderr": {}, "stdout": {"output_stream": sys.__stdout__}, "end": {"end": "|"}, "parts": {"sep": ", ", "summarize": 1}}


def run(tf, make):
    with tf.Graph().as_default(), tf.Session() as sess:
        sess.run(make(tf))


def printed(capfd, tf, make):
    capfd.readouterr()
    run(tf, make)
    return capfd.readouterr()


def both(capfd, make):
    ours, theirs = printed(capfd, weft, make), printed(capfd, oracle, make)
    assert ours.out == theirs.out
    assert ours.err == theirs.err
    assert ours.out + ours.err
    return ours


def test_old_print(capfd):
    said = both(capfd, lambda tf: tf.Print(tf.constant([1.0, 2.0]), [tf.constant([1, 2, 3, 4]), "a"], "here: "))
    assert said.err == "here: [1 2 3...][a]\n"


@pytest.mark.parametrize("kind", STREAMS)
def test_print(capfd, kind, monkeypatch):
    given = dict(STREAMS[kind])
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    both(capfd, lambda tf: tf.print("x is", tf.constant([[1.0, 2.5]] * 9), [tf.constant(3)], **given))


def test_print_into_a_file(tmp_path):
    texts = []
    for tf in (weft, oracle):
        path = tmp_path / tf.__name__
        for i in range(2):
            run(tf, lambda tf: tf.print("line", tf.constant(i), output_stream=f"file://{path}"))
        texts.append(path.read_text())
    assert texts[0] == texts[1] == "line 0\nline 1\n"


def test_a_file_is_named_by_all_that_follows_the_scheme(tmp_path, monkeypatch):
    """Here "file://" has no host: the path may be relative."""
    monkeypatch.chdir(tmp_path)
    texts = []
    for tf in (weft, oracle):
        run(tf, lambda tf: tf.print("line", output_stream=f"file://{tf.__name__}"))
        texts.append((tmp_path / tf.__name__).read_text())
    assert texts[0] == texts[1] == "line\n"


@pytest.mark.parametrize("stream", ["file:///no/such/folder/file", "paper", "log(nothing)"])
def test_streams_that_are_not_there(stream):
    said = []
    for tf in (weft, oracle):
        with pytest.raises(tf.errors.OpError) as e:
            run(tf, lambda tf: tf.raw_ops.PrintV2(input="a", output_stream=stream))
        found = re.search(r"Unknown output stream: .*|/no/such.*", str(e.value))
        said.append((type(e.value).__name__, found.group(0).split("\n")[0].strip() if found else str(e.value)))
    assert said[0] == said[1]
