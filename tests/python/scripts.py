"""Scripts run by `python -m weft`: alone, or as the tasks of a cluster on loopback."""
import os
import pathlib
import re
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
from ports import free_ports  # noqa: E402

PROGRAMS = HERE / "programs"
PACKAGE = os.environ.get("WEFT_PYTHON", str(HERE.parent.parent / "build" / "python"))
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist")


def seeds():
    """The folder of documents, found above the checkout; None if it is not there."""
    for parent in HERE.parents:
        if (parent / "shared" / "seeds").is_dir():
            return parent / "shared" / "seeds"
    return None


def printed_programs(document):
    """The Python blocks of a document of the seeds, whose file name begins with its number."""
    path, = seeds().glob("%03d_*.txt" % document)
    return re.findall(r"``` ?python\n(.*?)```", path.read_text(), re.S)


def heed_interrupts():
    """A shell that runs the tests in the background has them ignore Ctrl-C, and Python would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def start(script, *args, cwd):
    env = dict(os.environ, PYTHONPATH=PACKAGE, PYTHONUNBUFFERED="1", TF_CPP_MIN_LOG_LEVEL="0", WEFT_JOIN_TIMEOUT="60")
    return subprocess.Popen([sys.executable, "-m", "weft", str(script), *args], cwd=cwd, env=env, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_interrupts)


def run(script, *args, cwd, timeout=120):
    """(exit code, stdout, stderr) of a script on its own."""
    task = start(script, *args, cwd=cwd)
    try:
        out, err = task.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        task.kill()
        out, err = task.communicate()
        raise AssertionError("did not end:\n%s\n%s" % (out, err)) from None
    return task.returncode, out, err


def cluster(script, ps, workers, *args, cwd, index="task_index", lists=("ps_hosts", "worker_hosts"), timeout=150):
    """Runs all tasks to their end; {(job, index): (exit code, stdout, stderr)}."""
    ports = free_ports(ps + workers)
    hosts = ["localhost:%d" % p for p in ports]
    flags = ["--%s=%s" % (name, ",".join(some)) for name, some in zip(lists, (hosts[:ps], hosts[ps:]))]
    roles = [("ps", i) for i in range(ps)] + [("worker", i) for i in range(workers)]
    tasks = {role: start(script, "--job_name=" + role[0], "--%s=%d" % (index, role[1]), *flags, *args, cwd=cwd)
             for role in roles}
    found = {}
    try:
        for role, task in tasks.items():
            out, err = task.communicate(timeout=timeout)
            found[role] = task.returncode, out, err
    except subprocess.TimeoutExpired:
        for task in tasks.values():
            task.kill()
        said = {role: task.communicate() for role, task in tasks.items() if role not in found}
        raise AssertionError("tasks did not end: %s\nended: %s" % (said, found)) from None
    return found
