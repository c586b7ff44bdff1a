"""The programs of the seed documents run as they are printed: as the documents' clusters of real processes."""
import re
import shutil

import numpy as np
import pytest

import scripts

pytestmark = pytest.mark.skipif(scripts.seeds() is None, reason="the seed documents are not above this checkout")


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def ended_well(found):
    for role, (code, out, err) in found.items():
        assert code == 0, (role, out, err)


def test_first_document_fits_a_line_over_two_tasks(tmp_path):
    found = scripts.cluster(scripts.PROGRAMS / "toy.py", 1, 1, cwd=tmp_path)
    ended_well(found)
    _, out, err = found["worker", 0]
    assert "Started server with target: grpc://localhost:" in err and "is Python 2" in err
    lines = out.split("\n")
    assert lines[0] == "=========> step: 0" and lines[27] == "=========> step: 9"
    w, b = float(lines[28]), float(lines[29])
    assert abs(w - 2) < 0.15 and abs(b - 10) < 0.15


def test_fourth_documents_frame_completed(tmp_path):
    """The skeleton with its slip mended, a model put in, and fewer steps."""
    frame = next(p for p in scripts.printed_programs(3) if "loss = ..." in p)
    changes = {"FLAGS.worker_hosts(\",\")": "FLAGS.worker_hosts.split(\",\")", "1000000": "60",
               "/tmp/train_logs": str(tmp_path / "logs"),
               "loss = ...": "w = tf.Variable([0., 0.])\n      loss = tf.reduce_sum(tf.square(w - [1., 2.]))\n"
                             "      tf.scalar_summary('loss', loss)"}
    for old, new in changes.items():
        assert old in frame
        frame = frame.replace(old, new)
    found = scripts.cluster(write(tmp_path, "frame.py", frame), 2, 2, cwd=tmp_path)
    ended_well(found)
    assert list((tmp_path / "logs").glob("events.out.tfevents.*"))


def test_placement_is_shown(tmp_path):
    for i, wanted in ((0, ["[2. 4. 6.]"]), (1, None)):
        script = write(tmp_path, "devices%d.py" % i, scripts.printed_programs(4)[i])
        code, out, err = scripts.run(script, cwd=tmp_path)
        if wanted is None:  # names a GPU, and this machine may have none: TensorFlow refuses it too
            assert code == 0 or "InvalidArgumentError" in err, (out, err)
            continue
        assert code == 0, err
        assert re.search(r"^add: \(Add\): /job:localhost/replica:0/task:0/device:CPU:0$", out, re.M), out
        assert out.strip().split("\n")[-1] == wanted[0]


def test_hello_from_a_cluster_of_one(tmp_path):
    script = write(tmp_path, "hello.py", scripts.printed_programs(4)[4])
    code, out, err = scripts.run(script, cwd=tmp_path)
    assert (code, out) == (0, "b'Hello, distributed TensorFlow!'\n"), err
    assert "Start master session" in err


def test_hello_from_two_servers_that_end(tmp_path):
    first, second = scripts.free_ports(2)
    tasks = []
    for i in (5, 6):
        text = scripts.printed_programs(4)[i].replace(":2222", ":%d" % first).replace(":2223", ":%d" % second)
        tasks.append(scripts.start(write(tmp_path, "server%d.py" % i, text), cwd=tmp_path))
    said = [task.communicate(timeout=90) + (task.returncode,) for task in tasks]
    assert [code for _, _, code in said] == [0, 0], said
    assert "b'Hello from server1!'" in said[0][0] and "b'Hello from server2!'" in said[1][0]


@pytest.mark.skipif(not scripts.FASHION.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")
def test_fifth_document_trains_asynchronously(tmp_path):
    program = scripts.printed_programs(4)[8]
    assert "TRAINING_STEPS = 50000" in program
    write(tmp_path, "dist_tf_mnist_async.py", program.replace("TRAINING_STEPS = 50000", "TRAINING_STEPS = 600"))
    shutil.copy(scripts.PROGRAMS / "mnist_inference.py", tmp_path)
    (tmp_path / "MNIST_data").symlink_to(scripts.FASHION)
    found = scripts.cluster(tmp_path / "dist_tf_mnist_async.py", 1, 2, cwd=tmp_path, index="task_id", timeout=240)
    ended_well(found)
    losses = [float(x) for x in re.findall(r"loss on training batch is (\d+(?:\.\d+)?)", found["worker", 0][1])]
    assert losses and min(losses) < 1.6
    assert "Extracting MNIST_data/train-images-idx3-ubyte.gz" in found["worker", 0][1]
    assert (tmp_path / "log_async" / "checkpoint").exists()


def test_towers_train_from_records(tmp_path):
    import weft
    program = scripts.printed_programs(4)[3]
    assert "TRAINING_STEPS = 1000" in program
    write(tmp_path, "towers.py", program.replace("TRAINING_STEPS = 1000", "TRAINING_STEPS = 21").replace(
        "min_after_dequeue = 10000", "min_after_dequeue = 200"))
    shutil.copy(scripts.PROGRAMS / "mnist_inference.py", tmp_path)
    random = np.random.RandomState(0)

    def number(v):
        return weft.train.Feature(int64_list=weft.train.Int64List(value=[v]))
    with weft.python_io.TFRecordWriter(str(tmp_path / "output.tfrecords")) as writer:
        for i in range(600):
            image = weft.train.Feature(bytes_list=weft.train.BytesList(value=[random.bytes(784)]))
            example = weft.train.Example(features=weft.train.Features(feature={
                "image_raw": image, "pixels": number(784), "label": number(i % 10)}))
            writer.write(example.SerializeToString())
    code, out, err = scripts.run(tmp_path / "towers.py", cwd=tmp_path)
    assert code == 0, (out[-2000:], err[-2000:])
    assert re.search(r"step 20, loss = \d+\.\d\d \(\d+\.\d examples/sec; \d\.\d{3} sec/batch\)", out), out[-500:]
    assert (tmp_path / "logs_and_models" / "model.ckpt-20.index").exists()
