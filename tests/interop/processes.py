"""Starting, watching and ending the tasks of a cluster."""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WEFT = os.environ.get("WEFT_BINARY", str(ROOT / "build/bin/weft"))
HERE = pathlib.Path(__file__).resolve().parent


def address():
    """A loopback address whose port was free a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


def cluster_text(cluster):
    return ";".join(f"{job}={','.join(hosts)}" for job, hosts in cluster.items())


class Task:
    """One process, its output in a file."""

    def __init__(self, command, env=None):
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        self.command = command
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                        env={**os.environ, **(env or {})})

    def output(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def wait(self, seconds=60):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{' '.join(self.command)} still runs after {seconds} s; it said:\n{self.output()}")

    def succeed(self, seconds=60):
        code = self.wait(seconds)
        assert code == 0, f"{' '.join(self.command)} ended with {code}; it said:\n{self.output()}"
        return self.output()

    def signal(self, number):
        self.process.send_signal(number)

    def memory(self):
        """Resident bytes."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def says(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.output():
            assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{self.output()}"
            assert time.monotonic() < end, f"no '{text}' after {seconds} s:\n{self.output()}"
            time.sleep(0.02)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(10)
        self.log.close()


class Tasks:
    def __init__(self):
        self.all = []

    def start(self, *command, env=None):
        self.all.append(Task([str(c) for c in command], env))
        return self.all[-1]

    def serve(self, cluster, job, index, *more):
        """A bare Weft task; returns once it listens."""
        t = self.start(WEFT, "serve", "--cluster", cluster_text(cluster), "--job", job, "--task", index, *more)
        t.target = "grpc://" + cluster[job][index]
        t.says("Started server with target")
        return t

    def program(self, name, framework, *arguments):
        """A program of this folder under TensorFlow or under Weft."""
        return self.start(sys.executable, HERE / f"{name}.py", framework, *arguments)

    def end(self):
        for t in self.all:
            t.end()
