"""Programs of the kinds people wrote for TensorFlow 1, run here and in TensorFlow, compared line by line.

Words are equal; numbers differ by a thousandth, or by the last digit printed.  A program that amplifies rounding has a
tolerance of its own, with the reason.
"""
import os
import pathlib
import re
import subprocess
import sys

import pytest

import scripts

HERE = pathlib.Path(__file__).resolve().parent
# slim_images and a3c have threads, so only their final figures agree
THREADED = [HERE / "programs" / "zoo" / "slim_images.py", HERE / "programs" / "a3c.py"]
ZOO = sorted(set((HERE / "programs" / "zoo").glob("*.py")) - set(THREADED))
# dcgan: two networks that play against each other, so that rounding grows with every step; beam_search: log
# probabilities of rare sequences after many steps of training, which differ between processors; attention_translate: losses
# after 200 steps, likewise
TOLERANCE = {"dcgan": 2e-2, "beam_search": 2e-2, "attention_translate": 2e-2}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """The folder in which TensorFlow ran all programs."""
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("zoo")
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", PYTHONWARNINGS="ignore")
    done = subprocess.run([sys.executable, str(HERE / "zoo_of_tf.py"), str(folder), *map(str, ZOO + THREADED)], env=env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
    assert done.returncode == 0, done.stdout[-3000:]
    return folder, done.stdout


def last_digit(text):
    """How much the last digit of a printed number is worth."""
    places = re.search(r"\.(\d*)", text)
    return 1.01 * 10.0 ** -len(places.group(1)) if places and "e" not in text.lower() else 0.0


def same_line(ours, theirs, tolerance):
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    for a, b in zip(NUMBER.findall(ours), NUMBER.findall(theirs)):
        x, y = float(a), float(b)
        if a != b and not abs(x - y) <= max(tolerance * max(abs(x), abs(y)), last_digit(b)):
            return False
    return True


def both(program, oracle, tmp_path):
    """What a program prints here, and what the program of the same name printed in TensorFlow."""
    folder, said = oracle
    theirs = (folder / (program.stem + ".txt")).read_text()
    assert (folder / (program.stem + ".code")).read_text() == "0", (theirs[-2000:], said[-2000:])
    code, ours, err = scripts.run(program, cwd=tmp_path)
    assert code == 0, (ours[-1000:], err[-3000:])
    return ours, theirs


def compare(program, oracle, tmp_path):
    ours, theirs = both(program, oracle, tmp_path)
    assert len(ours.splitlines()) == len(theirs.splitlines()) > 3, (ours, theirs)
    for a, b in zip(ours.splitlines(), theirs.splitlines()):
        assert same_line(a, b, TOLERANCE.get(program.stem, 1e-3)), "\nWeft:       %s\nTensorFlow: %s" % (a, b)


@pytest.mark.parametrize("program", ZOO, ids=lambda p: p.stem)
def test_program_prints_what_it_prints_in_tensorflow(program, oracle, tmp_path):
    compare(program, oracle, tmp_path)


def test_beam_search_of_contrib_prints_what_one_by_hand_prints_in_tensorflow(oracle, tmp_path):
    compare(HERE / "programs" / "beam_search.py", oracle, tmp_path)


def test_attention_and_beams_of_contrib_print_what_ones_by_hand_print_in_tensorflow(oracle, tmp_path):
    compare(HERE / "programs" / "attention_translate.py", oracle, tmp_path)


def figures(text):
    """{words before a number: the number} of all lines."""
    return {words.strip(): float(number) for words, number in re.findall(r"([a-z ]+?) ([-+]?\d+\.\d+)", text)}


@pytest.mark.parametrize("form", ["slim_images.py", "zoo/slim_images.py"], ids=["contrib", "layers"])
def test_pictures_of_queues_end_with_the_figures_of_tensorflow(form, oracle, tmp_path):
    """Two threads fill the queue, so batches differ: the last loss (0.69 at the start) agrees within 0.1, the accuracy within 0.05."""
    ours, theirs = both(HERE / "programs" / form, oracle, tmp_path)
    assert "7 ends" in ours and "7 ends" in theirs, (ours, theirs)
    assert figures(ours)["last loss"] == pytest.approx(figures(theirs)["last loss"], abs=0.1), (ours, theirs)
    assert figures(ours)["accuracy"] == pytest.approx(figures(theirs)["accuracy"], abs=0.05), (ours, theirs)
    assert (tmp_path / "slim" / "model.ckpt-40.index").exists()


def test_asynchronous_actors_end_with_the_figures_of_tensorflow(oracle, tmp_path):
    """Threads interleave differently in every run, so only the final figures agree, within 0.1 of a return of 0.84."""
    ours, theirs = both(HERE / "programs" / "a3c.py", oracle, tmp_path)
    for words in ("first return", "last return"):
        assert figures(ours)[words] == pytest.approx(figures(theirs)[words], abs=0.1), (ours, theirs)
    for text in (ours, theirs):
        assert "updates as episodes True" in text and "goes right in 7 of 7 cells" in text, (ours, theirs)
