"""Real processes on loopback: tasks that are started, killed and waited for, with what they printed."""
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
from ports import free_ports  # noqa: E402

BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
LINEAR = BUILD / "examples" / "linear"
WEFT = BUILD / "bin" / "weft"


LOUD = {"TF_CPP_MIN_LOG_LEVEL": "0"}  # the lines are waited for; tests with TensorFlow silence it


def eventually(holds, seconds=90):
    """Waits until something is so: on a busy machine only that can be asked, not how soon."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not so within {seconds} s"
        time.sleep(0.01)


class Task:
    """A process whose output goes to a file, so that it never blocks on us."""

    def __init__(self, log, *command, **env):
        self.log = pathlib.Path(log)
        self.began = time.monotonic()
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, env={**os.environ, **LOUD, **env})

    @property
    def output(self):
        return self.log.read_text(errors="replace")

    def wait(self, seconds=90):
        """The exit code; a task that is still there then is killed and fails the test."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.log.name} was still running after {seconds} s:\n{self.output}") from None

    def until(self, text, seconds=90):
        """Waits for a piece of output; says how long the task had run by then."""
        end = time.monotonic() + seconds
        while text not in self.output:
            assert self.process.poll() is None, f"{self.log.name} ended without '{text}':\n{self.output}"
            assert time.monotonic() < end, f"no '{text}' from {self.log.name} within {seconds} s:\n{self.output}"
            time.sleep(0.005)
        return time.monotonic() - self.began

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        if self.process.poll() is None:
            self.send(signal.SIGKILL)
            self.process.wait()

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Cluster:
    """ps and worker tasks on ports of their own; starts examples/linear or `weft serve` as any task."""

    def __init__(self, folder, ps=1, workers=2):
        self.folder, self.tasks = pathlib.Path(folder), []
        ports = [f"localhost:{p}" for p in free_ports(ps + workers)]
        self.hosts = {"ps": ports[:ps], "worker": ports[ps:]}

    def flags(self, job, index):
        return [f"--ps_hosts={','.join(self.hosts['ps'])}", f"--worker_hosts={','.join(self.hosts['worker'])}",
                f"--job_name={job}", f"--task_index={index}"]

    def add(self, name, *command, **env):
        task = Task(self.folder / f"{name}.{len(self.tasks)}.log", *command, **env)
        self.tasks.append(task)
        return task

    def linear(self, job, index, steps=10, **env):
        return self.add(f"{job}{index}", LINEAR, *self.flags(job, index), f"--steps={steps}", **env)

    def serve(self, job, index, *more, **env):
        text = ";".join(f"{j}={','.join(h)}" for j, h in self.hosts.items() if h)
        return self.add(f"{job}{index}", WEFT, "serve", "--cluster", text, "--job", job, "--task", str(index), *more, **env)

    def end(self):
        for task in self.tasks:
            task.kill()
