"""Training with TensorFlow or Weft as each task: the same programs, every mix."""
import os
import pathlib
import re
import sys

import pytest

import tasks

HERE = pathlib.Path(__file__).parent
# Of MNIST; Fashion-MNIST, which is there where MNIST is not, is harder.
ENOUGH = 0.90 if os.environ.get("WEFT_MNIST") or pathlib.Path("../shared/data/mnist").exists() else 0.78
MORE = pytest.mark.every_mix


def mixes(*telling, more=()):
    """Parameters: the telling ones always, the others with --every-mix."""
    return [pytest.param(*t, id="-".join(t)) for t in telling] + [pytest.param(*t, id="-".join(t), marks=MORE) for t in more]


PACKAGE = {"PYTHONPATH": str(tasks.BUILD / "python")}


def start(cluster, framework, program, *arguments):
    return cluster.add(f"{framework}-{program}", sys.executable, HERE / f"{program}.py", *arguments, **PACKAGE)


def serve(cluster, framework, job, index):
    if framework == "weft":
        return cluster.serve(job, index)
    return start(cluster, framework, "serve", *cluster.flags(job, index))


def work(cluster, framework, index, *more):
    return start(cluster, framework, "softmax", framework, *cluster.flags("worker", index), *more)


@pytest.mark.parametrize("worker,ps", mixes(("weft", "tensorflow"), ("tensorflow", "weft"), ("weft", "weft"),
                                            more=[("tensorflow", "tensorflow")]))
def test_a_worker_trains_asynchronously(cluster, worker, ps):
    c = cluster(ps=2, workers=1)
    for i in range(2):
        serve(c, ps, "ps", i)
    task = work(c, worker, 0, "--steps=1000")
    assert task.wait(120) == 0, task.output
    assert float(re.search(r"accuracy ([0-9.]+)", task.output).group(1)) > ENOUGH


@pytest.mark.parametrize("worker,ps", mixes(("weft", "tensorflow"), ("tensorflow", "weft"), more=[("weft", "weft")]))
def test_a_worker_trains_resource_variables(cluster, worker, ps):
    c = cluster(ps=2, workers=1)
    for i in range(2):
        serve(c, ps, "ps", i)
    task = work(c, worker, 0, "--steps=1000", "--resource")
    assert task.wait(120) == 0, task.output
    assert float(re.search(r"accuracy ([0-9.]+)", task.output).group(1)) > ENOUGH


@pytest.mark.parametrize("chief,other,ps", mixes(("weft", "tensorflow", "tensorflow"), more=[
    ("tensorflow", "weft", "weft"), ("weft", "weft", "tensorflow"), ("weft", "tensorflow", "weft")]))
def test_workers_train_resource_variables_synchronously(cluster, chief, other, ps):
    c = cluster(ps=1, workers=2)
    serve(c, ps, "ps", 0)
    tasks_ = [work(c, framework, i, "--sync", "--resource", "--steps=40") for i, framework in enumerate([chief, other])]
    assert [t.wait(120) for t in tasks_] == [0, 0], "\n".join(t.output for t in tasks_)


@pytest.mark.parametrize("chief,other,ps", mixes(("tensorflow", "weft", "weft"), ("weft", "weft", "weft"), more=[
    ("tensorflow", "weft", "tensorflow"), ("weft", "tensorflow", "weft"), ("weft", "tensorflow", "tensorflow"),
    ("weft", "weft", "tensorflow"), ("tensorflow", "tensorflow", "weft")]))
def test_workers_train_synchronously(cluster, chief, other, ps):
    c = cluster(ps=1, workers=2)
    serve(c, ps, "ps", 0)
    tasks_ = [work(c, framework, i, "--sync", "--steps=40") for i, framework in enumerate([chief, other])]
    assert [t.wait(120) for t in tasks_] == [0, 0], "\n".join(t.output for t in tasks_)


@pytest.mark.parametrize("client,first,second", mixes(("weft", "tensorflow", "weft"), ("tensorflow", "weft", "weft"), more=[
    ("tensorflow", "tensorflow", "weft"), ("tensorflow", "weft", "tensorflow"), ("weft", "weft", "tensorflow"),
    ("weft", "weft", "weft")]))
def test_one_client_uses_two_tasks(cluster, client, first, second):
    c = cluster(ps=0, workers=2)
    for i, framework in enumerate([first, second]):
        serve(c, framework, "worker", i)
    task = start(c, client, "ingraph", client, "grpc://" + c.hosts["worker"][0])
    assert task.wait(120) == 0, task.output


@pytest.mark.parametrize("client,other", mixes(("weft", "tensorflow"), ("tensorflow", "weft"), more=[
    ("weft", "weft"), ("tensorflow", "tensorflow")]))
def test_a_server_has_the_devices_of_its_config(cluster, client, other):
    c = cluster(ps=0, workers=2)
    workers = ",".join(c.hosts["worker"])
    start(c, other, "devices", other, "--worker_hosts", workers, "--task_index=1")
    task = start(c, client, "devices", client, "--worker_hosts", workers, "--task_index=0")
    assert task.wait(120) == 0, task.output
    assert "devices " + " ".join(f"/task:{t}/device:CPU:{i}" for t in range(2) for i in range(3)) in task.output
    assert "totals 4.0 6.0" in task.output
