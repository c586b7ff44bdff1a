"""The processes of a round: started on their hosts, started again when they end, sampled, and their logs."""
import os
import pathlib
import resource
import signal
import subprocess
import time

from plan import TASKS

ROOT = pathlib.Path(__file__).resolve().parents[2]
STARTS = 6  # train.c


class Process:
    def __init__(self, log, command, env):
        self.log, self.began, self.samples = log, time.monotonic(), []
        with open(log, "wb") as out:
            self.popen = subprocess.Popen([str(c) for c in command], stdout=out, stderr=subprocess.STDOUT,
                                          stdin=subprocess.DEVNULL, env=env)
        self.pid, self.ended, self.killed, self.limited = self.popen.pid, None, False, False

    @property
    def output(self):
        return self.log.read_text(errors="replace")

    def poll(self):
        code = self.popen.poll()
        if code is not None and self.ended is None:
            self.ended = time.monotonic()
        return code

    def sample(self):
        """(seconds since the start, MiB, descriptors)"""
        try:
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            fds = len(os.listdir(f"/proc/{self.pid}/fd"))
            self.samples.append((time.monotonic() - self.began, int(status.split("VmRSS:")[1].split()[0]) / 1024, fds))
        except (OSError, IndexError):
            pass  # it has just ended

    def limit(self, kind, room):
        """Lets it have little more than it has now."""
        if kind == resource.RLIMIT_NOFILE:
            now = max(map(int, os.listdir(f"/proc/{self.pid}/fd"))) + 1
        else:
            status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
            now = int(status.split("VmSize:")[1].split()[0]) * 1024
            self.limited = True
        before = resource.prlimit(self.pid, kind)
        resource.prlimit(self.pid, kind, (now + room, before[1]))
        return before


class Tasks:
    """All processes that were ever started, by task; the last of each is the one that runs."""

    def __init__(self, folder, network, build, python, plan):
        self.folder, self.network, self.build, self.python, self.plan = folder, network, build, python, plan
        self.all = [[] for _ in TASKS]
        self.due = {}  # task: when it is to be started again
        self.slow = folder / "slow_disk"
        self.paused = set()

    def command(self, task):
        job, index = TASKS[task]
        hosts = self.network.addresses
        program = [self.build / "chaos" / "train"]
        if task == self.plan.tensorflow:
            program = [self.python, ROOT / "tests/chaos/train.py", "tensorflow"]
        elif self.plan.language == "python":
            program = [self.python, ROOT / "tests/chaos/train.py", "weft"]
        return [*self.network.enter(task), *program, f"--ps_hosts={','.join(hosts[:2])}",
                f"--worker_hosts={','.join(hosts[2:])}", f"--job_name={job}", f"--task_index={index}",
                f"--mode={self.plan.mode}", f"--dir={self.folder}", f"--start={len(self.all[task])}"]

    def environment(self, task):
        preload = [str(self.build / "chaos" / "slow_disk.so")]
        env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0", "OPENBLAS_NUM_THREADS": "1",
               "WEFT_JOIN_TIMEOUT": "8" if self.plan.tensorflow else "30",  # TensorFlow's tasks say no goodbye
               "PYTHONPATH": str(self.build / "python"), "CHAOS_SLOW_DISK": str(self.slow), "CUDA_VISIBLE_DEVICES": ""}
        if task in self.plan.clocks():  # the wall clock only: time since the boot does not jump
            clock = self.folder / f"clock{task}"
            if not clock.exists():
                clock.write_text("+0\n")
            preload.append(faketime())
            env.update(FAKETIME_TIMESTAMP_FILE=str(clock), FAKETIME_CACHE_DURATION="1", DONT_FAKE_MONOTONIC="1",
                       FAKETIME_DONT_FAKE_MONOTONIC="1", FAKETIME_DONT_RESET="1")
        return {**env, "LD_PRELOAD": ":".join(preload)}

    def start(self, task):
        self.due.pop(task, None)
        name = "".join(map(str, TASKS[task]))
        process = Process(self.folder / f"{name}.{len(self.all[task])}.log", self.command(task), self.environment(task))
        self.all[task].append(process)

    def now(self, task):
        return self.all[task][-1] if self.all[task] else None

    def kill(self, task, away):
        process = self.now(task)
        if process and process.poll() is None:
            process.killed = True
            process.popen.send_signal(signal.SIGKILL)
            process.popen.wait()
            process.poll()
        self.due[task] = time.monotonic() + away

    def send(self, task, number):
        process = self.now(task)
        if process and process.poll() is None:
            process.popen.send_signal(number)

    def restart_due(self):
        for task, at in list(self.due.items()):
            if time.monotonic() >= at:
                self.start(task)

    def end(self):
        for processes in self.all:
            for p in processes:
                if p.poll() is None:
                    p.popen.kill()
                    p.popen.wait()


def faketime():
    found = sorted(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        raise SystemExit("chaos: libfaketime is not installed (scripts/setup --campaigns installs the package faketime)")
    return str(found[0])
