"""programs.py [FOLDER] - the documents' programs on a card: the Python ones as they are printed, then those in C.

    WEFT_BUILD=build-gpu python3 tests/gpu/programs.py        on a machine with a card and the documents beside

The card is shown as two where a program wants two GPUs.  Where a program would run for long, its steps are fewer.  FOLDER
may hold example.py and distributed.py, the programs that two of the documents only point at, and lib2to3 if this Python
has none: one of those programs and one of the documents' are Python 2.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", HERE.parent.parent / "build")).resolve()
os.environ["WEFT_PYTHON"] = str(BUILD / "python")
sys.path[:0] = [str(HERE), str(HERE.parent / "python"), str(BUILD / "python")]
import digits  # noqa: E402 - found through sys.path as set above

import scripts  # noqa: E402 - found through sys.path as set above, and reads WEFT_PYTHON when it is imported

GPU = "/job:localhost/replica:0/task:0/device:GPU:%d"
bad = []


def check(name, began, code, text, *wanted):
    """Says how a program did, with the line that it printed for each of the patterns `wanted`, the last of several."""
    found = [[line for line in text.splitlines() if re.search(w, line)] for w in wanted]
    missing = [w for w, lines in zip(wanted, found) if not lines]
    print("%s: %s (%.1fs)" % (name, "as in the document" if code == 0 and not missing else "FAILED", time.time() - began))
    print("".join("    %s\n" % line for line in dict.fromkeys(lines[-1][-150:] for lines in found if lines)), end="")
    if code or missing:
        bad.append(name)
        print("exit code %s, missing %s\n%s" % (code, missing, text[-1500:]))


def alone(folder, name, text, *wanted, gpus=2):
    os.environ["WEFT_VIRTUAL_GPUS"] = str(gpus)
    (folder / name).write_text(text)
    began = time.time()
    code, out, err = scripts.run(folder / name, cwd=folder)
    check(name, began, code, out + err, *wanted)


def together(folder, script, tasks, ends, *wanted):
    """Tasks by their arguments; the first `ends` of them end by themselves, the others are ended then."""
    os.environ.update(WEFT_VIRTUAL_GPUS="1", DATA=str(folder))
    began = time.time()
    running = [scripts.start(script, *args, cwd=folder) for args in tasks]
    said = ["".join(task.communicate(timeout=120)) for task in running[:ends]]
    code = max(task.returncode for task in running[:ends])
    for task in running[ends:]:
        task.terminate()
        said += task.communicate(timeout=30)
    check(script.name, began, code, "\n".join(said), "Creating TensorFlow device", *wanted)


def cluster(folder, script, *args, wanted, index="task_index", ends=2):
    ports = ["localhost:%d" % p for p in scripts.free_ports(3)]
    hosts = ["--worker_hosts=" + ",".join(ports[:2]), "--ps_hosts=" + ports[2]]
    roles = [("worker", 0), ("worker", 1), ("ps", 0)]
    together(folder, script, [["--job_name=" + job, "--%s=%d" % (index, i), *hosts, *args] for job, i in roles], ends, *wanted)


def placement(folder):
    mapping = "^%s -> device: 0, name: .*, pci bus id: .*$"
    alone(folder, "placement.py", scripts.printed_programs(4)[1], r"DMA: 0", r"0:   Y",
          r"Creating TensorFlow device \(/gpu:1\) -> \(device: 0, name: ", "^Device mapping:$",
          mapping % (GPU % 0), mapping % (GPU % 1), r"^add: \(Add\): " + GPU % 0, r"^add_1: \(Add\): " + GPU % 1,
          r"^a: \(Const\): " + GPU % 0, r"^d: \(Const\): .*CPU:0", r"^\[2\. 4\. 6\.\]$")
    alone(folder, "soft.py", "import tensorflow as tf\nwith tf.device('/gpu:0'):\n  s = tf.as_string(tf.constant(7))\n"
          + scripts.printed_programs(4)[2] + "print(sess.run(s))\n", r"\(AsString\): .*CPU:0", "b'7'", gpus=1)


def towers(folder):
    import weft

    def number(v):
        return weft.train.Feature(int64_list=weft.train.Int64List(value=[v]))
    images, labels = digits.make(12000, np.random.RandomState(1))
    with weft.python_io.TFRecordWriter(str(folder / "output.tfrecords")) as writer:
        for image, label in zip(images, labels):
            pixels = weft.train.Feature(bytes_list=weft.train.BytesList(value=[image.tobytes()]))
            writer.write(weft.train.Example(features=weft.train.Features(feature={
                "image_raw": pixels, "pixels": number(784), "label": number(int(label))})).SerializeToString())
    shutil.copy(scripts.PROGRAMS / "mnist_inference.py", folder)
    alone(folder, "towers.py", scripts.printed_programs(4)[3], r"^GPU_1/.*: \(MatMul\): " + GPU % 1,
          r"^GPU_0/.*: \(MatMul\): " + GPU % 0,
          r"step 990, loss = \d+\.\d\d \(\d+\.\d examples/sec; \d\.\d{3} sec/batch\)")


def mnist(folder, more):
    data = folder / "MNIST_data"
    digits.main(data)
    for plain in list(data.iterdir()):
        (data / (plain.name + ".gz")).write_bytes(gzip.compress(plain.read_bytes(), 1))
    shutil.copy(scripts.PROGRAMS / "mnist_inference.py", folder)
    script = folder / "dist_tf_mnist_async.py"
    script.write_text(scripts.printed_programs(4)[8].replace("TRAINING_STEPS = 50000", "TRAINING_STEPS = 2000"))
    cluster(folder, script, index="task_id", wanted=[r"loss on training batch is \d"])
    cluster(folder, scripts.PROGRAMS / "toy.py", wanted=[r"=========> step: 9"])
    if more and (more / "distributed.py").exists():
        # All of its workers compute on worker 0, so that worker 1 is stranded once that one is done.
        cluster(folder, more / "distributed.py", "--data_dir=%s" % data, "--train_steps=1000", "--issync=0", ends=1,
                wanted=[r"Worker 0: traing step \d+ dome \(global step:\d+\)",
                        r"After 1000 training step\(s\), validation cross entropy = -?\d"])
    if more and (more / "example.py").exists():
        walk_through(folder, more / "example.py", data)
    return data


def walk_through(folder, script, data):
    """The Docker walk-through's program has flags of its own."""
    flags = ["--port=%d" % scripts.free_ports(1)[0], "--worker-host", "localhost", "localhost", "--data-path=%s" % data,
             "--logdir=%s" % (folder / "log"), "--training-epochs=3"]
    roles = [("worker", 0), ("worker", 1), ("ps", 0)]
    together(folder, script, [["--job-name=" + job, "--task-index=%d" % i, *flags] for job, i in roles], 2,
             r"Step: \d+,  Epoch:  3,  Batch: +\d+ of +\d+,  Cost: \d+\.\d{4},  AvgTime: ", r"Test-Accuracy: \d\.\d\d",
             r"Total Time: \d+\.\d\ds", r"^done$")


def in_c(folder, data):
    """The same programs in C, as `weft launch` runs them; both workers use the one card."""
    os.environ.update(WEFT_VIRTUAL_GPUS="1", TF_CPP_MIN_LOG_LEVEL="0")
    for name, flags, wanted in (
            ("docker_example", ["--training_epochs=1"],
             [r"\(MatMul\): /job:worker/.*device:GPU:0", r"worker1 .*Test-Accuracy: \d\.\d\d"]),
            ("distribute_mnist", ["--train_steps=1000", "--issync=1"],
             [r"worker1 .*After 1000 training step\(s\), validation cross entropy = -?\d"]),
            ("dist_mnist_async", ["--training_steps=1000"], [r"After \d+ training steps"])):
        began = time.time()
        run = subprocess.run([BUILD / "bin" / "weft", "launch", "--ps", "1", "--workers", "2", "--",
                              BUILD / "examples" / name, "--data_dir=%s" % data, "--log_dir=%s" % (folder / name), *flags],
                             capture_output=True, text=True, timeout=120, cwd=folder)
        check(name + ", in C", began, run.returncode, run.stdout + run.stderr, "worker1 .*Creating TensorFlow device",
              *wanted)


def main():
    if scripts.seeds() is None:
        print("programs: the documents (shared/seeds) are not above this checkout")
        return 1
    more = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    if more:
        scripts.PACKAGE += ":%s" % more
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        placement(folder)
        towers(folder)
        in_c(folder, mnist(folder, more))
    print("programs: %d failed %s" % (len(bad), " ".join(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
