"""GPUs that are shared, and GPUs in trouble: simulated ones everywhere, the real one where there is one."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import tasks

PLUGIN = tasks.BUILD.resolve() / "lib" / "libweft_cuda.so"
HAS_CARD = bool(shutil.which("nvidia-smi")) and subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0
on_a_card = pytest.mark.skipif(not HAS_CARD, reason="this machine has no NVIDIA card")
CARDS = ["simulated"] + ([str(PLUGIN)] if HAS_CARD else [])


def environment(**more):
    return {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", "PYTHONPATH": str(tasks.BUILD / "python"), **more}


def python(folder, text, **env):
    (folder / "program.py").write_text(text)
    run = subprocess.run([sys.executable, "-m", "weft", folder / "program.py"], capture_output=True, text=True, timeout=100,
                         cwd=folder, env=environment(**env))
    return run.returncode, run.stdout + run.stderr


def two_workers(folder, **env):
    """The linear example; the ps has no GPU, as in the documents."""
    script = folder / "task.sh"
    script.write_text('#!/bin/sh\ncase "$*" in *job_name=ps*) export WEFT_CUDA_PLUGIN=none;; esac\n'
                      'exec "%s" "$@"\n' % tasks.LINEAR.resolve())
    script.chmod(0o755)
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "1", "--workers", "2", "--", script], capture_output=True, text=True,
                         timeout=150, cwd=folder, env=environment(**env))
    return run.returncode, run.stdout + run.stderr


def learned(text, worker):
    """The last slope and offset that a worker printed."""
    numbers = re.findall(r"^worker%d +\| (-?[\d.]+)$" % worker, text, re.M)
    return abs(float(numbers[-2]) - 2) < 0.2 and abs(float(numbers[-1]) - 10) < 0.2


SMALL = """
import tensorflow as tf
with tf.Session() as sess:
    print(sess.run(tf.constant([1., 2., 3.]) * 2))
"""


@pytest.mark.parametrize("card", CARDS)
def test_two_workers_share_one_card(card, tmp_path):
    code, text = two_workers(tmp_path, WEFT_CUDA_PLUGIN=card)
    assert code == 0, text
    assert learned(text, 0) and learned(text, 1), text


LONG = """
import os
import tensorflow as tf
print("careful:", os.environ.get("WEFT_GPU_CAREFUL", "no"))
step = tf.train.get_or_create_global_step()
w = tf.get_variable("w", [4], initializer=tf.zeros_initializer())
loss = tf.reduce_sum(tf.square(w - 1.), name="distance")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
with tf.train.MonitoredTrainingSession(checkpoint_dir="model", save_checkpoint_steps=5,
                                       hooks=[tf.train.StopAtStepHook(60)]) as sess:
    print("begins at step", sess.run(step))
    while not sess.should_stop():
        at, _, left = sess.run([step, train, loss])
print("ends near 1:", left < 1e-3)
"""


def lose_and_recover(folder, times=1, **env):
    """A training that loses its card is started again, goes on from its checkpoint and ends."""
    (folder / "long.py").write_text(LONG)
    run = subprocess.run([tasks.WEFT, "launch", "--ps", "0", "--restart", str(times), "--", sys.executable, "-m", "weft",
                          folder / "long.py"], capture_output=True, text=True, timeout=150, cwd=folder,
                         env=environment(**env))
    text = run.stdout + run.stderr
    assert run.returncode == 0 and "ends near 1: True" in text, text
    return text, [int(step) for step in re.findall("begins at step (\\d+)", text)]


def test_a_training_that_loses_its_card_goes_on_in_a_new_process(tmp_path):
    text, began = lose_and_recover(tmp_path, WEFT_CUDA_PLUGIN="simulated",
                                   WEFT_SIMULATED_TROUBLE="lost:150:%s" % (tmp_path / "lost"))
    assert "the GPU is lost to this process" in text and began[0] == 0 and began[1] > 0, text
    assert text.count("careful: no") == 1 and text.count("careful: 200") == 1, text


SPLIT = """
import sys
import numpy as np
import tensorflow as tf
hosts, job = sys.argv[1].split(","), sys.argv[2]
cluster = tf.train.ClusterSpec({"ps": hosts[:1], "worker": hosts[1:]})
server = tf.train.Server(cluster, job_name=job, task_index=0)
if job == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:0/gpu:0",
                                              ps_device="/job:ps/cpu:0")):
    x = tf.placeholder(tf.float32, [None, 512])
    w = tf.Variable(tf.ones([512, 300]), name="w")
    train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.matmul(x, w, name="product")))
with tf.Session(server.target, config=tf.ConfigProto(log_device_placement=True, allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(20):
        sess.run(train, {x: np.ones([1, 512])})
    print("all at", np.unique(sess.run(w)))
"""


@pytest.mark.parametrize("card", CARDS)
def test_variables_go_up_to_a_workers_gpu_and_gradients_come_down(card, tmp_path):
    (tmp_path / "split.py").write_text(SPLIT)
    hosts = ",".join("localhost:%d" % p for p in tasks.free_ports(2))
    command = [sys.executable, "-m", "weft", tmp_path / "split.py", hosts]
    python_path = {"PYTHONPATH": str(tasks.BUILD / "python")}
    ps = tasks.Task(tmp_path / "ps.log", *command, "ps", WEFT_CUDA_PLUGIN="none", **python_path)
    worker = tasks.Task(tmp_path / "worker.log", *command, "worker", WEFT_CUDA_PLUGIN=card, **python_path)
    try:
        assert worker.wait() == 0, worker.output + ps.output
    finally:
        ps.kill()
    assert "product: (MatMul): /job:worker/replica:0/task:0/device:GPU:0" in worker.output
    assert "w: (VariableV2): /job:ps/replica:0/task:0/device:CPU:0" in worker.output
    assert "all at [-9.]" in worker.output, worker.output


@pytest.mark.skipif(not PLUGIN.exists(), reason="built without CUDA")
def test_a_driver_that_is_too_old_is_named_and_the_cpu_serves(tmp_path):
    source = tmp_path / "driver.c"
    source.write_text("int cuInit(unsigned f) { return (int)f * 0; }\n"
                      "int cuDriverGetVersion(int *v) { *v = 9000; return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    path = "%s:%s" % (tmp_path, os.environ.get("LD_LIBRARY_PATH", ""))
    code, text = python(tmp_path, SMALL, LD_LIBRARY_PATH=path, WEFT_CUDA_PLUGIN=str(PLUGIN))
    assert code == 0 and "[2. 4. 6.]" in text, text
    assert "No GPU is used: the NVIDIA driver is too old" in text, text


def build(folder, *arguments):
    """A plug-in of the test's own."""
    root = pathlib.Path(__file__).resolve().parents[2]
    out = folder / "plugin.so"
    subprocess.run(["nvcc", "-shared", "-std=c++17", "-Xcompiler=-fPIC,-fvisibility=hidden", "-I%s" % root,
                    "-I%s" % (root / "include"), "-o", out, *arguments], check=True, cwd=root)
    return str(out)


@on_a_card
def test_a_card_for_which_there_is_no_code_is_named_and_the_cpu_serves(tmp_path):
    plugin = build(tmp_path, "-gencode=arch=compute_80,code=sm_80", "device/cuda.cu", "device/nvidia_library.cu", "device/nccl.cu")
    code, text = python(tmp_path, SMALL, WEFT_CUDA_PLUGIN=plugin)
    assert code == 0 and "[2. 4. 6.]" in text, text
    assert re.search(r"GPU 0 \(.*\) is not used: this build has no machine code for the card's architecture", text), text


FULL = """
import tensorflow as tf
options = tf.GPUOptions(experimental=tf.GPUOptions.Experimental(
    virtual_devices=[tf.GPUOptions.Experimental.VirtualDevices(memory_limit_mb=[10000000])]))
with tf.device("/gpu:0"):
    big = tf.reduce_sum(tf.fill([1 << 19, 1 << 17], 1.))  # 256 GiB
    small = tf.constant([1., 2., 3.]) * 2
with tf.Session(config=tf.ConfigProto(gpu_options=options)) as sess:
    try:
        sess.run(big)
    except tf.errors.ResourceExhaustedError as e:
        print("refused:", e.message)
    print(sess.run(small))
"""


@on_a_card
def test_a_card_without_memory_left_refuses_and_goes_on(tmp_path):
    code, text = python(tmp_path, FULL)
    assert code == 0 and "[2. 4. 6.]" in text, text
    assert re.search(r"refused: .*OOM when allocating tensor .*device:GPU:0 by allocator GPU_0_bfc", text), text


WILD = """
import tensorflow as tf
x = tf.placeholder(tf.float32, [3])
y = tf.reduce_sum(x, name="astray") + 1
with tf.Session() as sess:
    for _ in range(2):
        try:
            print(sess.run(y, {x: [1, 2, 3]}))
        except tf.errors.InternalError as e:
            print("failed:", e.message)
"""


@on_a_card
def test_an_illegal_address_has_its_nodes_name_and_a_new_process_recovers(tmp_path):
    env = {"WEFT_CUDA_PLUGIN": build(tmp_path, "-arch=native", "tests/gpu/wild.cu"), "WEFT_REAL_PLUGIN": str(PLUGIN)}
    code, text = python(tmp_path, WILD, WEFT_WILD=str(tmp_path / "first"), **env)
    assert code == 0 and text.count("failed: ") == 2 and "the GPU is lost to this process" in text, text
    assert "{{node astray}}" in text and "an illegal memory access" in text, text
    # A later one, in a step that is recorded, is told by name where it comes again after the restart.
    text, _ = lose_and_recover(tmp_path, times=2, WEFT_WILD=str(tmp_path / "second"), WEFT_WILD_FILES="2",
                               WEFT_WILD_AT="20", **env)
    first, second = text.split("starting it again")[:2]
    assert re.search(r"{{node \S+}} to {{node \S+}}.*an illegal memory access", first), text
    assert re.search(r"Sum {{node \S+}}: running on the GPU: an illegal memory access", second), text


@pytest.mark.parametrize("card", CARDS)
def test_loops_whose_rounds_are_known_are_unrolled_and_compute_the_same(card):
    run = subprocess.run([sys.executable, "-m", "weft", pathlib.Path(__file__).parents[1] / "gpu" / "loops.py"],
                         capture_output=True, text=True, timeout=100,
                         env=environment(WEFT_CUDA_PLUGIN=card))
    assert run.returncode == 0, run.stderr
    lines = [line.split(" ", 2) for line in run.stdout.splitlines()]
    assert {name: how for name, how, _ in lines} == {
        "lstm": "unrolled", "gru": "unrolled", "nested": "unrolled", "trains_inside": "unrolled",
        "reads_one_row_often": "unrolled", "zero_rounds": "unrolled", "until_small": "loops", "unknown_length": "unrolled",
        "lengths_are_fed": "unrolled", "a_branch_is_fed": "unrolled", "a_loop_drops_out": "unrolled",
        "a_batch_is_unknown": "unrolled"}
    # One product in place of a sum of products over the words adds in another order, and so does a fused sum.
    near = ("lstm", "gru", "lengths_are_fed", "a_loop_drops_out", "a_batch_is_unknown")
    assert all(equal == "same" or (equal == "near" and (card != "simulated" or name in near))
               for name, _, equal in lines), run.stdout
    said = re.findall("cannot be unrolled: (.*)", run.stderr)
    assert said == ["the condition 'while/LoopCond' depends on data"], run.stderr


@pytest.mark.parametrize("card", CARDS)
def test_a_capture_loses_no_variable_that_others_read_or_reshape(card):
    run = subprocess.run([sys.executable, "-m", "weft", pathlib.Path(__file__).parents[1] / "gpu" / "captured_variables.py"],
                         capture_output=True, text=True, timeout=100, env=environment(WEFT_CUDA_PLUGIN=card))
    assert run.returncode == 0 and run.stdout.count(": right") == 4, run.stdout + run.stderr


@pytest.mark.parametrize("card", CARDS)
def test_bundles_of_kernels_compute_the_same(card):
    run = subprocess.run([sys.executable, "-m", "weft", pathlib.Path(__file__).parents[1] / "gpu" / "fused_groups.py"],
                         capture_output=True, text=True, timeout=280, env=environment(WEFT_CUDA_PLUGIN=card))
    assert run.returncode == 0, run.stderr
    lines = [line.split(" ", 3) for line in run.stdout.splitlines()]
    assert len(lines) == 33 and all(single == "0" for _, _, single, _ in lines), run.stdout
    near = ("half", "norm", "attention")
    assert all(equal == "same" or (equal == "near" and any(word in name for word in near)) for name, _, _, equal in lines), run.stdout
    assert all(int(n) > 0 for name, n, _, _ in lines if card != "simulated" or "half" not in name), run.stdout


@on_a_card
def test_products_of_matrices_with_few_rows_are_right():
    run = subprocess.run([sys.executable, "-m", "weft", pathlib.Path(__file__).parents[1] / "gpu" / "products.py"],
                         capture_output=True, text=True, timeout=100, env=environment())
    assert run.returncode == 0 and run.stdout.count(" right") == 72, run.stdout + run.stderr


@on_a_card
def test_products_of_rounded_matrices_and_long_means_are_right():
    run = subprocess.run([sys.executable, "-m", "weft", pathlib.Path(__file__).parents[1] / "gpu" / "rounded.py"],
                         capture_output=True, text=True, timeout=100, env=environment(WEFT_BF16="1"))
    assert run.returncode == 0 and run.stdout.count(" right") == 42, run.stdout + run.stderr
