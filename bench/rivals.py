"""The programs that are measured, as processes: what is started for a job, and how each is asked.

A rival is one system with one face (a column) on one job. On a job in turns it is one process, or a cluster of them, that
steps when told to; on the others it is started and watched.
"""
import importlib.util
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from library import BUILD

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests" / "cluster"))
from tasks import free_ports  # noqa: E402

# column -> system, face
COLUMNS = {"weft": ("weft", "c"), "weft py": ("weft", "python"), "tf": ("tf", "python"), "torch": ("torch", "python"),
           "torch compiled": ("torch", "python"), "socket": ("socket", "c")}
SOCKET_JOBS = ("null", "recv4", "recv64")  # what plain TCP sockets reach there: socket_jobs.c
CLUSTER_JOBS_IN_C = ("null", "linear", "recv4", "recv64", "late-worker", "small")
JOBS_IN_C = ("empty", "add", "softmax", "mlp", "cnn")
# The jobs that PyTorch has, and those that torch.compile compiles in reasonable time.
TORCH_COMPILES = ("softmax", "mlp", "cnn", "resnet", "attention", "bn-cnn")
TORCH_JOBS = (*TORCH_COMPILES, "lstm", "static-lstm", "word2vec", "many-vars", "while", "checkpoint", "dlrm", "deepfm",
              "wide-deep")
TORCH_PROCESSES = {"null": (0, 2), "mlp-sync-2w": (0, 2), "mlp-ring-2w": (0, 2), "mlp-async-2w": (1, 2)}  # processes that serve, that step
PACING = 20  # steps taken to see how many make up a turn, where all do the same number


def python(program, *arguments):
    return [sys.executable, str(HERE / program), *map(str, arguments)]


def is_installed(system):
    module = {"tf": "tensorflow", "torch": "torch"}.get(system)
    return module is None or importlib.util.find_spec(module) is not None


# ---- what is started: (commands of servers, commands of those that step); None where a column has no part in a job ----

def alone(column, job, arguments):
    system, face = COLUMNS[column]
    if system == "socket":
        return [], None
    if system == "torch":
        known = TORCH_COMPILES if "compiled" in column else TORCH_JOBS
        return [], [python("torch_jobs.py", job, *arguments, *column.split()[1:])] if job in known else None
    if face == "c":
        return [], [[str(BUILD / "bench" / "jobs"), job]] if job in JOBS_IN_C else None
    return [], [python("tf_jobs.py", system, job, *arguments)]


def task(column, job, hosts, role, index, arguments=()):
    """The command of one task of a cluster."""
    system, face = COLUMNS[column]
    flags = [f"--ps_hosts={','.join(hosts['ps'])}", f"--worker_hosts={','.join(hosts['worker'])}",
             f"--job_name={role}", f"--task_index={index}", *arguments]
    if face == "c":
        return [str(BUILD / "bench" / "cluster_jobs"), job, *flags]
    return python("cluster_task.py", system, job, *flags)


def make_hosts(ps, workers):
    names = [f"localhost:{port}" for port in free_ports(ps + workers)]
    return {"ps": names[:ps], "worker": names[ps:]}


def on_network(network, commands):
    """The commands of a cluster's tasks, each on a host of its own: first those of the servers."""
    count = len(commands[0])
    return [[network.enter(first + n) + command for n, command in enumerate(part)]
            for first, part in ((0, commands[0]), (count, commands[1]))]


def torch_cluster(job, network):
    servers, steppers = TORCH_PROCESSES[job]
    port, = free_ports(1)
    host = network.address(0).split(":")[0] if network else "localhost"
    ranks = [python("torch_cluster.py", job, rank, servers + steppers, host, port) for rank in range(servers + steppers)]
    return [ranks[:servers], ranks[servers:]]


def socket_cluster(job, network):
    host, port = network.address(0).split(":") if network else ("127.0.0.1", free_ports(1)[0])
    program = [str(BUILD / "bench" / "socket_jobs"), job]
    return [[[*program, "serve", str(port)]], [[*program, host, str(port)]]]


def cluster(column, job, ps, workers, arguments=(), network=None):
    if column == "socket":
        if job not in SOCKET_JOBS:
            return [], None
        commands = socket_cluster(job, network)
    elif column == "torch" and job in TORCH_PROCESSES:
        commands = torch_cluster(job, network)
    elif COLUMNS[column][0] == "torch" or (column == "weft" and job not in CLUSTER_JOBS_IN_C):
        return [], None
    else:
        hosts = make_hosts(ps, workers)
        if network:
            names = [network.address(i) for i in range(ps + workers)]
            hosts = {"ps": names[:ps], "worker": names[ps:]}
        commands = [[task(column, job, hosts, role, i, arguments) for i in range(len(hosts[role]))]
                    for role in ("ps", "worker")]
    return on_network(network, commands) if network else commands


# ---- processes ----

class Process:
    """A program that talks as jobs.py says, or one that only serves."""

    def __init__(self, command):
        self.command, self.errors, self.check = command, tempfile.TemporaryFile(), []
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True)

    def expect(self, what=None):
        """The next line, or the first that is `what`; a line "check" on the way to it is kept."""
        line = self.process.stdout.readline()
        while line and what and line.strip() != what:
            if line.startswith("check "):
                self.check = [float(word) for word in line.split()[1:]]
            line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            raise RuntimeError(f"{' '.join(self.command)} ended: {self.errors.read()[-2000:].decode(errors='replace')}")
        return line

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def memory_mb(self, field):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        return 0

    def processor_seconds(self):
        """What its threads have used, in user and kernel mode."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()  # from the third field on: the name may contain spaces
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def leave(self, seconds=10):
        """Its input ends; one that does not leave by itself is ended."""
        self.process.stdin.close()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Rival:
    """The processes of one column on a job in turns: those that step, and those that serve them."""

    def __init__(self, column, commands, together, network=None):
        self.column, self.together, self.network, self.rates = column, together, network, []
        self.steps_done, self.processor_used = 0, 0.0  # in all turns
        self.servers, self.steppers = ([Process(command) for command in part] for part in commands)

    def get_ready(self):
        for process in self.steppers:
            process.expect("ready")
        self.check = self.steppers[0].check
        self.stop()
        self.pace = self.step(f"{PACING} steps") if self.together else None
        self.steps_done = 0

    def step(self, request):
        """Steps per second. Those that step together take one step together; the others' add up."""
        for process in self.steppers:
            process.ask(request)
        answers = [process.expect().split() for process in self.steppers]
        self.stop()
        self.steps_done += int(answers[0][0]) if self.together else sum(int(steps) for steps, _ in answers)
        rates = [int(steps) / float(elapsed) for steps, elapsed in answers]
        return min(rates) if self.together else sum(rates)

    def stop(self):
        """All are done: nobody needs the steps of another any more."""
        for process in self.steppers if self.together else []:
            process.ask("stop")

    def processor_seconds(self):
        return sum(process.processor_seconds() for process in self.steppers + self.servers)

    def turn(self, seconds):
        before = self.processor_seconds()
        self.rates.append(self.step(f"{max(PACING, int(seconds * self.pace))} steps" if self.together else str(seconds)))
        self.processor_used += self.processor_seconds() - before

    def rate(self):
        return statistics.median(self.rates)

    def peak_mb(self):
        """The most memory that each of them ever held, summed up; asked before they leave."""
        return sum(process.memory_mb("VmHWM") for process in self.steppers + self.servers)

    def leave(self):
        for process in self.steppers:
            process.process.stdin.close()
        for process in self.steppers:
            process.leave()
        for process in self.servers:
            process.leave(0)
        if self.network:
            self.network.end()


# ---- what is started and watched ----

def wait_for_port(address, seconds=60):
    host, port = address.rsplit(":", 1)
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, int(port)), 1).close()
        except OSError:
            if time.monotonic() > end:
                raise RuntimeError(f"nobody listens on {address} after {seconds} s") from None
            time.sleep(0.02)


def hello_seconds(column):
    """From the start of the process to its exit."""
    system, face = COLUMNS[column]
    command = [str(BUILD / "bench" / "cluster_jobs"), "hello"] if face == "c" else python("hello.py", system)
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    elapsed = time.perf_counter() - start
    if done.returncode or "Hello" not in done.stdout:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return elapsed


def idle_ps_mb(column):
    """What a ps holds that has done nothing yet."""
    hosts = make_hosts(1, 1)
    text = ";".join(f"{role}={','.join(names)}" for role, names in hosts.items())
    serve = [str(BUILD / "bin" / "weft"), "serve", "--cluster", text, "--job", "ps", "--task", "0"]
    ps = Process(serve if COLUMNS[column][1] == "c" else task(column, "null", hosts, "ps", 0))
    try:
        wait_for_port(hosts["ps"][0])
        time.sleep(1)
        return ps.memory_mb("VmRSS")
    finally:
        ps.leave(0)


def late_worker_seconds(column):
    """A worker comes a second after the chief: from its start to its 20th step."""
    hosts = make_hosts(1, 2)
    running = [Process(task(column, "late-worker", hosts, *role)) for role in (("ps", 0), ("worker", 0))]
    try:
        for address in (hosts["ps"][0], hosts["worker"][0]):
            wait_for_port(address)
        time.sleep(1)
        start = time.perf_counter()
        running.append(Process(task(column, "late-worker", hosts, "worker", 1)))
        running[-1].expect("ready")
        return time.perf_counter() - start
    finally:
        for process in running:
            process.leave(0)
