"""Flags that programs define under names that clusters use, too: the program's meaning counts."""
import json

import pytest

import scripts

DEFINED = """
import tensorflow as tf
flags = tf.app.flags
flags.DEFINE_integer("workers", 1, "how many input threads")
flags.DEFINE_integer("ps", 0, "how many ps")
flags.DEFINE_integer("parameter_servers", 0, "how many")
flags.DEFINE_string("log_dir", "logs", "where")
flags.DEFINE_string("task_id", "mnist", "which data set")
flags.DEFINE_string("allowed_hosts", "", "a filter")
flags.DEFINE_string("ps_hosts", "", "")
flags.DEFINE_string("worker_hosts", "", "")
flags.DEFINE_string("job_name", "worker", "")
flags.DEFINE_integer("task_index", 0, "")
FLAGS = flags.FLAGS


def main(_):
    print(FLAGS.workers, FLAGS.ps, FLAGS.parameter_servers, FLAGS.log_dir, FLAGS.task_id, FLAGS.allowed_hosts, FLAGS.job_name,
          FLAGS.task_index, len(FLAGS.worker_hosts.split(",")))


if __name__ == "__main__":
    tf.app.run()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(DEFINED)
    return path


@pytest.mark.parametrize("words, printed", [
    (["--workers=4", "--log_dir=/tmp/x", "--ps", "2", "--parameter_servers=3"], "4 2 3 /tmp/x mnist  worker 0 1"),
    (["--workers=4", "--worker_hosts=a:1,b:1", "--ps_hosts=c:1", "--job_name=ps", "--task_index=1"], "4 0 0 logs mnist  ps 1 2"),
    (["--worker_hosts=a:1,b:1", "--ps_hosts=c:1"], "1 0 0 logs mnist  worker 0 2"),
    (["--allowed_hosts=x.org", "--task_id=cifar", "--job_name=trial7"], "1 0 0 logs cifar x.org trial7 0 1"),
])
def test_a_flag_means_what_the_script_means(script, words, printed):
    code, out, err = scripts.run(script, *words, cwd=script.parent)
    assert (code, out) == (0, printed + "\n"), err


def test_flags_that_share_the_meaning_are_filled(script, monkeypatch):
    task = {"cluster": {"ps": ["c:1"], "worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(task))
    code, out, err = scripts.run(script, "--workers=4", cwd=script.parent)
    assert (code, out) == (0, "4 0 0 logs mnist  worker 1 2\n"), err


def test_hosts_in_another_spelling_are_filled(tmp_path):
    path = tmp_path / "old.py"
    path.write_text("import tensorflow as tf\nf = tf.app.flags\nf.DEFINE_string('workers', '', '')\n"
                    "f.DEFINE_string('parameter_servers', '', '')\nf.DEFINE_string('job_name', '', '')\n"
                    "f.DEFINE_integer('task_id', 0, '')\n"
                    "print(f.FLAGS.workers, f.FLAGS.parameter_servers, f.FLAGS.job_name, f.FLAGS.task_id)\n")
    code, out, err = scripts.run(path, "--ps_hosts=c:1", "--worker_hosts=a:1,b:1", "--job_name=worker", "--task_index=1", cwd=tmp_path)
    assert (code, out) == (0, "a:1,b:1 c:1 worker 1\n"), err
