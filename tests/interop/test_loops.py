"""While loops over two tasks: cut by Weft's master, run by tasks of both kinds, as TensorFlow runs them alone."""
import pytest

from test_training import mixes, serve, start

NUMBERS = "body 198.0 nested 29.8125 condition 128.0 branches 105.0 gradient 270.0".split()


@pytest.mark.every_mix
def test_tensorflow_alone_gives_these_numbers(cluster):
    alone = start(cluster(ps=1, workers=1), "tensorflow", "loops", "tensorflow")
    assert alone.wait() == 0, alone.output
    assert alone.output.split()[-10:] == NUMBERS


@pytest.mark.parametrize("client,worker,ps", mixes(("weft", "weft", "tensorflow"), ("weft", "weft", "weft"), more=[
    ("tensorflow", "tensorflow", "weft"), ("tensorflow", "weft", "tensorflow"), ("tensorflow", "weft", "weft")]))
def test_loops_iterate_on_two_tasks(cluster, client, worker, ps):
    c = cluster(ps=1, workers=1)
    serve(c, ps, "ps", 0), serve(c, worker, "worker", 0)
    task = start(c, client, "loops", client, "grpc://" + c.hosts["worker"][0])
    assert task.wait(150) == 0, task.output
    assert task.output.split()[-10:] == NUMBERS
