"""Collective ops of workers that have their own masters: a worker that cannot take part ends the step of the others."""
import pathlib
import sys

from tasks import BUILD

PROGRAM = pathlib.Path(__file__).with_name("ending.py")


def test_a_worker_whose_data_end_is_an_error_of_the_others(cluster, monkeypatch, tmp_path):
    """TensorFlow: InternalError.  Its own OutOfRangeError would end the loop of a worker that has data."""
    monkeypatch.chdir(tmp_path)
    c = cluster(ps=0, workers=2)
    first, second = [c.add(f"worker{i}", sys.executable, PROGRAM, *c.flags("worker", i), PYTHONPATH=str(BUILD / "python"))
                     for i in range(2)]
    for task in (first, second):
        assert task.wait(60) == 0, first.output + second.output
    for task, error in ((first, "InternalError /job:worker/replica:0/task:1 takes no part"), (second, "OutOfRangeError ")):
        assert task.output.count("sums [2, 4, 6]\n" + error) == 2, first.output + second.output
