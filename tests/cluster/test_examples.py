"""The distributed examples, whole: a launched cluster that learns."""
import os
import pathlib
import re
import struct
import subprocess

import pytest

import records
import tasks

FOLDERS = [os.environ.get("WEFT_MNIST"), "../shared/data/mnist", "/usr/share/datasets/fashion-mnist"]
DATA = next((f for f in FOLDERS if f and pathlib.Path(f).exists()), None)


def example(name, *arguments):
    return subprocess.run([tasks.BUILD / "examples" / name, *arguments], capture_output=True, text=True, timeout=60)


def test_a_local_server_says_hello():
    run = example("hello")
    assert run.returncode == 0 and run.stdout == "b'Hello, distributed TensorFlow!'\n", run.stderr
    port = re.search(r"Initialize GrpcChannelCache for job local -> \{0 -> localhost:(\d+)\}", run.stderr).group(1)
    assert f"Started server with target: grpc://localhost:{port}" in run.stderr
    assert re.search(r"Start master session [0-9a-f]{16} with config:", run.stderr)


def test_two_tasks_greet_and_end_by_themselves(tmp_path):
    hosts = [f"localhost:{port}" for port in tasks.free_ports(2)]
    both = []
    for i in range(2):
        both.append(tasks.Task(tmp_path / f"{i}.log", tasks.BUILD / "examples" / "two_task",
                               f"--hosts={','.join(hosts)}", f"--task_index={i}"))
        both[i].until("Started server with target: grpc://" + hosts[i])
    for i, task in enumerate(both):
        assert task.wait(30) == 0, task.output
        assert f"job local -> {{0 -> {hosts[0]}, 1 -> {hosts[1]}}}" in task.output
        assert "Const: (Const): /job:local/replica:0/task:0/device:CPU:0" in task.output
        assert f"b'Hello from server{i + 1}!'" in task.output
        assert re.search(r"Start master session [0-9a-f]{16} with config: log_device_placement: true", task.output)


def test_nodes_are_placed_on_devices_that_exist():
    cpu, gpu, soft = example("placement"), example("placement", "--gpu"), example("placement", "--soft")
    line = "add: (Add): /job:localhost/replica:0/task:0/device:CPU:0"
    assert cpu.returncode == 0 and cpu.stdout.startswith("Device mapping:") and line in cpu.stdout, cpu.stderr
    assert cpu.stdout.endswith("[ 2.  4.  6.]\n")
    assert soft.returncode == 0 and soft.stdout.endswith("[ 2.  4.  6.]\n" * 2), soft.stderr
    if gpu.returncode:  # no second GPU here
        assert "Cannot assign a device for operation add_1" in gpu.stderr and "/device:GPU:1" in gpu.stderr


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_three_workers_learn_digits_asynchronously(tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "3", "--style", "task_id", "--",
                          tasks.BUILD / "examples" / "dist_mnist_async", f"--data_dir={DATA}", f"--log_dir={tmp_path}/log",
                          "--training_steps=400", "--learning_rate=0.2"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    assert float(re.search(r"test accuracy ([0-9.]+)", run.stdout).group(1)) > 0.7
    assert len(set(re.findall(r"^(worker\d) .* After 100 training steps", run.stdout, re.M))) >= 1
    assert (tmp_path / "log" / "checkpoint").exists()


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
@pytest.mark.parametrize("in_step", [0, 1])
def test_two_workers_learn_digits_with_adam(in_step, tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "2", "--",
                          tasks.BUILD / "examples" / "distribute_mnist", f"--data_dir={DATA}", "--train_steps=200",
                          f"--issync={in_step}", f"--log_dir={tmp_path}/log"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    done = re.findall(r"Worker (\d): traing step (\d+) dome \(global step:(\d+)\)", run.stdout)
    assert {int(worker) for worker, _, _ in done} == {0, 1} and max(int(step) for _, _, step in done) >= 200
    assert re.search(r"^ps0 .*job_name : ps$", run.stdout, re.M)
    assert len(re.findall(r"Training elapsed time:[0-9.]+ s", run.stdout)) == 2
    found = re.findall(r"After 200 training step\(s\), validation cross entropy = ([0-9.]+)", run.stdout)
    assert len(found) == 2 and all(float(f) < 8000 for f in found)  # 11513 for 5000 guesses in ten
    extracted = re.findall(r"^worker1 .*Extracting (.*)$", run.stdout, re.M)
    assert [pathlib.Path(p).name.split(".")[0] for p in extracted] == [
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"]
    assert all(pathlib.Path(p).exists() for p in extracted)


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_parameters_on_two_ps_are_saved_and_summarized(tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "2", "--workers", "2", "--",
                          tasks.BUILD / "examples" / "mnist_dist", f"--data_dir={DATA}", f"--log_dir={tmp_path}/log",
                          "--train_steps=500", "--learning_rate=0.1"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    assert float(re.search(r"test accuracy ([0-9.]+)", run.stdout).group(1)) > 0.7
    names = [f.name for f in (tmp_path / "log").iterdir()]
    assert "checkpoint" in names and any(n.startswith("events.out.tfevents") for n in names)


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_the_docker_example_prints_what_its_page_shows(tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "2", "--style", "parameter_servers", "--",
                          tasks.BUILD / "examples" / "docker_example", f"--data_dir={DATA}", f"--log_dir={tmp_path}/log",
                          "--training_epochs=1"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    line = r"^worker0 .*Step: \d+,  Epoch:  1,  Batch: (\d+) of 550,  Cost: \d+\.\d{4},  AvgTime: \d+\.\d\dms$"
    assert re.findall(line, run.stdout, re.M) == ["100", "200", "300", "400", "500", "550"]
    for words in (r"Test-Accuracy: \d\.\d\d$", r"Total Time: \d+\.\d\ds$", r"Final Cost: \d+\.\d{4}$", r"\| done$"):
        assert len(re.findall(words, run.stdout, re.M)) == 2, words
    assert "(VariableV2): /job:ps/replica:0/task:0/device:CPU:0" in run.stdout
    assert any(f.name.startswith("events.out.tfevents") for f in (tmp_path / "log").iterdir())


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_two_towers_learn_from_records(tmp_path):
    records.write(tmp_path / "output.tfrecords", DATA, 500)
    run = example("towers", f"--data_path={tmp_path}/output.tfrecords", f"--save_path={tmp_path}/log",
                  "--training_steps=101")
    assert run.returncode == 0, run.stderr
    assert re.search(r"^GPU_1/.*: \(MatMul\): /job:localhost/replica:0/task:0/device:", run.stdout, re.M)
    line = r"^[-\d]+ [:\d]+\.\d{6}: step (\d+), loss = ([.\d]+) \([.\d]+ examples/sec; [.\d]+ sec/batch\)$"
    losses = {int(step): float(loss) for step, loss in re.findall(line, run.stdout, re.M)}
    assert list(losses) == list(range(10, 101, 10)) and losses[100] < losses[10] / 2
    names = [f.name for f in (tmp_path / "log").iterdir()]
    assert {"checkpoint", "model.ckpt-0.index", "model.ckpt-100.index"} < set(names)
    assert any(n.startswith("events.out.tfevents") for n in names)


def idx(path, *dims):
    count = 1
    for d in dims:
        count *= d
    path.write_bytes(struct.pack(f">HBB{len(dims)}I", 0, 8, len(dims), *dims) + bytes(i * 7 % 10 for i in range(count)))


def test_towers_make_their_records_from_images(tmp_path):
    for name, n in (("train", 200), ("t10k", 10)):
        idx(tmp_path / f"{name}-images-idx3-ubyte", n, 28, 28)
        idx(tmp_path / f"{name}-labels-idx1-ubyte", n)
    run = example("towers", f"--data_path={tmp_path}/made.tfrecords", f"--data_dir={tmp_path}",
                  f"--save_path={tmp_path}/log", "--training_steps=11")
    assert run.returncode == 0, run.stderr
    assert f"{tmp_path}/made.tfrecords is not there: it is made from the images in {tmp_path}\n" in run.stdout
    assert ": step 10, loss = " in run.stdout
    made = subprocess.run([tasks.WEFT, "inspect", tmp_path / "made.tfrecords"], capture_output=True, text=True, timeout=60)
    assert made.returncode == 0 and "pixels" in made.stdout and "200 TFRecords" in made.stdout, made.stdout


def test_towers_name_the_files_that_are_not_there(tmp_path):
    run = example("towers", f"--data_path={tmp_path}/none.tfrecords", f"--data_dir={tmp_path}/none", f"--save_path={tmp_path}/log")
    assert run.returncode == 1 and "none.tfrecords" in run.stdout and "none/train-images-idx3-ubyte" in run.stderr


RESTORED = re.compile(r"Restoring parameters from \S+-(\d+)")


def saved_step(folder):
    """The step of the last checkpoint, by its state file."""
    state = folder / "checkpoint"
    return int(re.search(r'^model_checkpoint_path: ".*-(\d+)"', state.read_text()).group(1)) if state.exists() else 0


PROGRAMS = {  # what is run, how it names its task, a line of its hundredth step, and of its end
    "distribute_mnist": (["--issync=1", "--train_steps=1000", "--save_model_secs=0.2"], "task_index",
                         "step 100 ", "After 1000 training step(s)"),
    "dist_mnist_async": (["--training_steps=1000", "--learning_rate=0.1", "--save_model_secs=0.2"], "task_id",
                         "After 100 ", "test accuracy"),
}


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
@pytest.mark.parametrize("victim", [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)], ids=["ps", "ps1", "chief", "worker"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_training_goes_on_when_a_task_is_killed_and_started_again(cluster, tmp_path, program, victim):
    options, index, hundredth, end = PROGRAMS[program]
    c = cluster(ps=2, workers=2)

    def start(job, i):
        role = [f.replace("--task_index", f"--{index}") for f in c.flags(job, i)]
        return c.add(f"{job}{i}", tasks.BUILD / "examples" / program, *role, *options, f"--data_dir={DATA}",
                     f"--log_dir={tmp_path}/log")

    running = {role: start(*role) for role in [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]}
    running["worker", 0].until(hundredth, 100)
    saved = saved_step(tmp_path / "log")
    seen = len(running["worker", 0].output) if victim != ("worker", 0) else 0
    running[victim].kill()
    running[victim] = start(*victim)
    for task in running.values():
        assert task.wait(240) == 0, task.output[-2000:]
    assert end in running["worker", 0].output
    restored = [int(step) for step in RESTORED.findall(running["worker", 0].output[seen:])]
    assert min(restored, default=saved) >= saved  # nothing older than the last checkpoint is lost
    assert restored or not saved or victim == ("worker", 1)
