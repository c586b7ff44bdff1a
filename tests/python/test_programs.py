"""Programs as people wrote them between 2016 and 2019, run as they stand."""
import re

import pytest

import scripts


def test_letters_from_letters_in_python_2(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "char_rnn.py", cwd=tmp_path)
    assert code == 0, err
    losses = [float(v) for v in re.findall(r"train_loss = (\S+)", out)]
    assert len(losses) == 6 and losses[-1] < losses[0] / 2, out
    assert re.search(r"^the (cat|dog|mat|log)", out.splitlines()[-1]), out


def test_pictures_by_slim(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "slim_images.py", cwd=tmp_path)
    assert code == 0, err
    assert "7 ends" in out and float(re.search(r"accuracy (\S+)", out).group(1)) >= 0.8, (out, err)
    assert "INFO:tensorflow:global step 40: loss = " in err and "INFO:tensorflow:Stopping Training." in err
    assert (tmp_path / "slim" / "model.ckpt-40.index").exists()


def test_a_convolution_on_a_cluster_in_step(tmp_path):
    found = scripts.cluster(scripts.PROGRAMS / "monitored_cnn.py", 2, 2, "--checkpoint_dir=" + str(tmp_path / "saved"), cwd=tmp_path)
    for role, (code, out, err) in found.items():
        assert code == 0, (role, out, err)
    losses = [float(v) for v in re.findall(r"loss (\S+)", found["worker", 0][1])]
    assert losses[-1] < losses[0] / 2, losses
    last = re.findall(r"INFO:tensorflow:Saving checkpoints for (\d+) into", found["worker", 0][2])[-1]
    assert int(last) >= 40 and (tmp_path / "saved" / ("model.ckpt-%s.index" % last)).exists()


def with_pictures(folder):
    (folder / "MNIST_data").symlink_to(scripts.FASHION)
    return folder


@pytest.mark.parametrize("in_step", [0, 1])
def test_second_documents_workers_print_its_lines(tmp_path, in_step):
    found = scripts.cluster(scripts.PROGRAMS / "distributed.py", 1, 2, "--train_steps=300", "--issync=%d" % in_step,
                            cwd=with_pictures(tmp_path), timeout=240)
    for role, (code, out, err) in found.items():
        assert code == 0 and "is Python 2" in err, (role, out[-2000:], err[-2000:])
        assert "job_name : %s\ntask_index : %d\n" % role in out
    for worker in range(2):
        out = found["worker", worker][1]
        assert "Worker %d: Session initialization complete.\nTraining begins @ " % worker in out
        assert re.search(r"^\d+\.\d{6}: Worker %d: traing step \d+ dome \(global step:\d+\)$" % worker, out, re.M), out[-500:]
        assert re.search(r"^Training ends @ \d+\.\d{6}\nTraining elapsed time:\d+\.\d{6} s$", out, re.M), out[-500:]
        entropy = re.search(r"^After 300 training step\(s\), validation cross entropy = (\S+)$", out, re.M)
        assert float(entropy.group(1)) < 5000 * 1.2, out[-500:]  # 2.3 an image is to know nothing


def start_central(folder, steps):
    """A function that starts a task of the second document's program, all of whose ops are on worker 0."""
    hosts = ["localhost:%d" % p for p in scripts.free_ports(3)]
    flags = ["--ps_hosts=" + hosts[0], "--worker_hosts=" + ",".join(hosts[1:]), "--filters=0"]
    return lambda job, i: scripts.start(scripts.PROGRAMS / "distributed.py", "--job_name=" + job, "--task_index=%d" % i,
                                        "--train_steps=%d" % steps[job, i], *flags, cwd=folder)


OVER = "The job is over: /job:worker/replica:0/task:0, its chief, said goodbye"


@pytest.mark.parametrize("late", [True, False])
def test_a_worker_whose_chief_is_done_ends_with_0(tmp_path, late):
    start = start_central(with_pictures(tmp_path), {("ps", 0): 0, ("worker", 0): 300, ("worker", 1): 10**6})
    tasks = {"ps": start("ps", 0), "chief": start("worker", 0)}
    found = {}
    try:
        if late:
            found["chief"] = tasks["chief"].communicate(timeout=90)
        tasks["worker"] = start("worker", 1)
        for name, task in tasks.items():
            found[name] = found.get(name) or task.communicate(timeout=90)
    finally:
        for task in tasks.values():
            task.kill()
    for name, task in tasks.items():
        assert task.returncode == 0, (name, found[name][0][-500:], found[name][1][-2000:])
    assert OVER in found["worker"][1], found["worker"][1][-2000:]


def test_third_documents_workers_print_its_lines(tmp_path):
    found = scripts.cluster(scripts.PROGRAMS / "docker_example.py", 1, 2, "--epochs=1", cwd=with_pictures(tmp_path),
                            lists=("parameter_servers", "workers"), timeout=240)
    for role, (code, out, err) in found.items():
        assert code == 0 and "is Python 2" in err, (role, out[-2000:], err[-2000:])
    for worker in range(2):
        out, err = found["worker", worker][1:]
        assert "weights/Variable" in out + err and "/job:ps/replica:0/task:0/" in out + err  # device placement
        line = r"Step: \d+,  Epoch:  1,  Batch: 550 of 550,  Cost: \d+\.\d{4},  AvgTime: \d+\.\d\dms\n"
        end = r"Test-Accuracy: 0\.\d\d\nTotal Time: \d+\.\d\ds\nFinal Cost: \d+\.\d{4}\ndone\n$"
        assert re.search(line + end, out), out[-800:]
        costs = [float(v) for v in re.findall(r"Cost: (\d+\.\d{4}),", out)]
        assert len(costs) == 6 and costs[-1] < costs[0], costs
    assert any((tmp_path / "logs").iterdir())


def test_a_tagger_with_a_conditional_random_field(tmp_path):
    code, out, err = scripts.run(scripts.PROGRAMS / "bilstm_crf.py", cwd=tmp_path)
    assert code == 0, err
    assert float(re.search(r"before (\S+)", out).group(1)) < 0.6 and out.count("epoch ") == 12
    assert float(re.findall(r"accuracy: (\S+)", out)[-1]) > 0.95, out


DEEP_IMPORTS = """
from tensorflow.contrib.seq2seq.python.ops import attention_wrapper, basic_decoder, beam_search_decoder, helper
from tensorflow.contrib.seq2seq.python.ops.attention_wrapper import BahdanauAttention, _bahdanau_score
from tensorflow.contrib.seq2seq.python.ops.decoder import _create_zero_outputs, _transpose_batch_time
from tensorflow.contrib.seq2seq.python.ops.helper import _unstack_ta
from tensorflow.python.ops.rnn_cell_impl import _WEIGHTS_VARIABLE_NAME, _zero_state_tensors, assert_like_rnncell
from tensorflow.contrib.rnn.python.ops import rnn_cell
from tensorflow.contrib.rnn.python.ops.core_rnn_cell import _linear, _Linear
from tensorflow.contrib.legacy_seq2seq.python.ops import seq2seq
from tensorflow.contrib.crf.python.ops import crf
from tensorflow.contrib.layers.python.layers import initializers, layers, utils
from tensorflow.contrib.opt.python.training.weight_decay_optimizers import AdamWOptimizer
from tensorflow.python.layers.core import Dense
import tensorflow as tf
x = tf.ones([2, 3])
with tf.variable_scope("a"):
    y = _linear([x, x], 4, True)
with tf.variable_scope("b"):
    line = _Linear(x, 4, False)
    z = line(x) + line(x)
print(y.shape, z.shape, [v.op.name for v in tf.trainable_variables()], AdamWOptimizer(0.1).get_name(), Dense(3).units)
print(seq2seq.model_with_buckets.__name__, crf.crf_decode.__name__, layers.layer_norm.__name__, helper.TrainingHelper.__name__)
"""


def test_modules_of_contrib_are_found_at_their_paths(tmp_path):
    (tmp_path / "deep.py").write_text(DEEP_IMPORTS)
    code, out, err = scripts.run(tmp_path / "deep.py", cwd=tmp_path)
    assert code == 0, err
    assert out == ("(2, 4) (2, 4) ['a/kernel', 'a/bias', 'b/kernel'] AdamW 3\n"
                   "model_with_buckets crf_decode layer_norm TrainingHelper\n"), out


@pytest.mark.parametrize("kind", ["AGN", "Model"])
def test_workers_average_copies_of_a_model(tmp_path, kind):
    found = scripts.cluster(scripts.PROGRAMS / "averaging.py", 1, 2, "--kind=" + kind, cwd=tmp_path)
    for role, (code, out, err) in found.items():
        assert code == 0, (role, out, err)
    for worker in range(2):
        said = re.search(r"worker %d: (\S+) (\S+) (\S+) after (\d+) averages" % worker, found["worker", worker][1])
        assert [abs(float(v) - want) < 0.05 for v, want in zip(said.groups(), (2.0, -1.0, 0.5))] == [True] * 3, said.group()
        assert int(said.group(4)) >= 20
