"""The distributed examples, whole: a launched cluster that learns."""
import os
import pathlib
import re
import subprocess

import pytest
import tasks

FOLDERS = [os.environ.get("WEFT_MNIST"), "../shared/data/mnist", "/usr/share/datasets/fashion-mnist"]
DATA = next((f for f in FOLDERS if f and pathlib.Path(f).exists()), None)


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_three_workers_learn_digits_asynchronously(tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "3", "--style", "task_id", "--",
                          tasks.BUILD / "examples" / "dist_mnist_async", f"--data={DATA}", f"--log_dir={tmp_path}/log",
                          "--training_steps=400", "--learning_rate=0.2"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    assert float(re.search(r"test accuracy ([0-9.]+)", run.stdout).group(1)) > 0.7
    assert len(set(re.findall(r"^(worker\d) .* After 100 training steps", run.stdout, re.M))) >= 1
    assert (tmp_path / "log" / "checkpoint").exists()


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
@pytest.mark.parametrize("in_step", [0, 1])
def test_two_workers_learn_digits_with_adam(in_step):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "2", "--",
                          tasks.BUILD / "examples" / "distribute_mnist", f"--data_dir={DATA}", "--train_steps=200",
                          f"--issync={in_step}"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    done = re.findall(r"Worker (\d): traing step (\d+) dome \(global step:(\d+)\)", run.stdout)
    assert {int(worker) for worker, _, _ in done} == {0, 1} and max(int(step) for _, _, step in done) >= 200
    assert len(re.findall(r"Training elapsed time:[0-9.]+ s", run.stdout)) == 2
    found = re.findall(r"After 200 training step\(s\), validation cross entropy = ([0-9.]+)", run.stdout)
    assert len(found) == 2 and all(float(f) < 8000 for f in found)  # 11513 for 5000 guesses in ten


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_parameters_on_two_ps_are_saved_and_summarised(tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "2", "--workers", "2", "--",
                          tasks.BUILD / "examples" / "mnist_dist", f"--data_dir={DATA}", f"--log_dir={tmp_path}/log",
                          "--train_steps=500", "--learning_rate=0.1"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    assert float(re.search(r"test accuracy ([0-9.]+)", run.stdout).group(1)) > 0.7
    names = [f.name for f in (tmp_path / "log").iterdir()]
    assert "checkpoint" in names and any(n.startswith("events.out.tfevents") for n in names)


@pytest.mark.skipif(DATA is None, reason="neither MNIST nor Fashion-MNIST is here")
def test_the_docker_example_prints_what_its_page_shows(tmp_path):
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "2", "--",
                          tasks.BUILD / "examples" / "docker_example", f"--data_dir={DATA}", f"--log_dir={tmp_path}/log",
                          "--training_epochs=1"], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr
    line = r"^worker0 .*Step: \d+,  Epoch:  1,  Batch: (\d+) of 550,  Cost: \d+\.\d{4},  AvgTime: \d+\.\d\dms$"
    assert re.findall(line, run.stdout, re.M) == ["100", "200", "300", "400", "500", "550"]
    for words in (r"Test-Accuracy: \d\.\d\d$", r"Total Time: \d+\.\d\ds$", r"Final Cost: \d+\.\d{4}$", r"\| done$"):
        assert len(re.findall(words, run.stdout, re.M)) == 2, words
    assert "(VariableV2): /job:ps/replica:0/task:0/device:CPU:0" in run.stdout
    assert any(f.name.startswith("events.out.tfevents") for f in (tmp_path / "log").iterdir())
