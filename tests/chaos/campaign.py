"""campaign.py [--rounds N] [--seed S] [--first I] [--kinds a,b] [--jobs c:async,python:sync] [--keep]

Each round starts 2 ps and 3 workers in any order, does the faults of its plan (plan.py) to them, undoes them, lets the job
go on, ends it, and checks (checker.py) that nothing was lost, done twice or mixed up, that every task ended or said why,
and that a ps neither grew nor collected descriptors.  `--seed S --first I --rounds 1` is round I once more.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from archive import Archive  # noqa: E402
from checker import Checker  # noqa: E402
from faults import Faults  # noqa: E402
from network import Network  # noqa: E402
from plan import TASKS, Plan  # noqa: E402
from tasks import ROOT, STARTS, Tasks  # noqa: E402

BUILD = pathlib.Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
DISK_BYTES = 192 << 20
# Generous, since the machine may be busy: a job that is late is slow, one that never comes is stuck.
READY_SECONDS, PROGRESS_SECONDS, END_SECONDS, JOIN_SECONDS = 120, 90, 90, 90
MORE_MEMORY, MORE_FDS = 64, 40  # MiB and descriptors by which a ps may grow in a round
DAMAGE = re.compile(r"AddressSanitizer|ThreadSanitizer|runtime error:|double free|corrupted|assertion .* failed", re.I)
SIGNALS = {-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL, -signal.SIGFPE}


class Stuck(Exception):
    pass


class Round:
    def __init__(self, plan, folder):
        self.plan, self.folder = plan, folder
        self.failures, self.notes, self.next_sample = [], [], 0
        self.chief_left, self.followers = False, []  # who ended with 0 in the middle of a synchronous job
        self.disk = folder / "log"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "chaos", str(self.disk)], check=True)
        self.network = Network(BUILD / "chaos" / "relay", len(TASKS), folder / "relay.log")
        self.tasks = Tasks(folder, self.network, BUILD, sys.executable, plan)
        self.faults = Faults(self.tasks, self.network, self.disk)
        self.archive = Archive(self.disk, self.disk / "archive")

    # ---- watching ----

    def ended(self, task, process, code, restart):
        """A process ended: as it was told to, or by itself; then it must say why."""
        name = "".join(map(str, TASKS[task]))
        process.seen = True
        last = [line for line in process.output.strip().splitlines() if line][-1:]
        if process.killed:
            return
        self.chief_left |= task == 2
        told = hasattr(process, "termed")
        if DAMAGE.search(process.output) or (code in SIGNALS and not process.limited):
            self.failures.append(f"{name} ended with {code}: {last}")
        elif told and code in (0, -signal.SIGTERM):  # Python's programs end at once, as TensorFlow's do
            self.notes.append(f"{self.plan.language} ended with {code} by SIGTERM")
        elif code != 0 and not last:
            self.failures.append(f"{name} ended with {code} and said nothing")
        elif code != 0:
            self.notes.append(f"{name} ended with {code}: {reason(process.output)}")
        elif restart and self.plan.mode == "sync":  # a chief that leaves closes the queue of tokens
            self.followers.append(name)
        elif restart:
            self.failures.append(f"{name} ended with 0 in the middle of the job: {last}")
        if restart:
            if len(self.tasks.all[task]) >= STARTS:
                raise Stuck(f"{name} was started {STARTS} times and ended each time: {last}")
            # Twice as long each time, as supervisors of processes do: a full disk may outlast five quick starts.
            pause = 0.25 * 2 ** len(self.tasks.all[task])
            self.tasks.due.setdefault(task, time.monotonic() + getattr(process, "termed", pause))

    def watch(self, restart=True):
        for task in (2, 3, 4, 0, 1):  # who leaves because of others comes after them
            process = self.tasks.now(task)
            code = process.poll() if process else None
            if code is not None and not hasattr(process, "seen"):
                self.ended(task, process, code, restart)
        self.tasks.restart_due()
        self.archive.collect()
        if time.monotonic() >= self.next_sample:
            self.next_sample = time.monotonic() + 0.5
            for task in (0, 1):
                if self.tasks.now(task) and task not in self.tasks.paused:
                    self.tasks.now(task).sample()

    def until(self, holds, seconds, what, restart=True):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise Stuck(f"{what} within {seconds} s")
            self.faults.heal_due()
            self.watch(restart)
            time.sleep(0.05)

    def acks(self, task):
        return sum(p.output.count(" ack ") for p in self.tasks.all[task])

    # ---- the course of a round ----

    def start(self):
        for task, pause in self.plan.starts:
            time.sleep(pause)
            self.tasks.start(task)
        self.until(lambda: all(self.acks(t) >= 3 for t in (2, 3, 4)) and self.archive.kept, READY_SECONDS,
                   "not all workers made 3 steps, or no checkpoint was written,")

    def harm(self):
        began = time.monotonic()
        for at, kind, values in self.plan.faults:
            self.until(lambda at=at: time.monotonic() >= began + at, 60, "unreachable")
            self.faults.inject(kind, values)
        self.until(lambda: not self.faults.undo, 60, "unreachable")
        self.faults.heal_all()

    def go_on(self):
        self.until(lambda: not self.tasks.due and all(self.tasks.now(t).poll() is None for t in range(len(TASKS))), 60,
                   "not all tasks could be started again")
        before = {t: self.acks(t) for t in (2, 3, 4)}
        self.until(lambda: all(self.acks(t) >= before[t] + 5 for t in before), PROGRESS_SECONDS,
                   "all faults are undone, but not every worker made 5 more steps")

    def finish(self):
        step = max(int(line.split()[4]) for t in (2, 3, 4) for line in self.tasks.now(t).output.splitlines()
                   if re.match(r"\d+\.\d+ ack ", line))
        (self.folder / "stop.new").write_text(str(step + 20))
        (self.folder / "stop.new").rename(self.folder / "stop")
        gone = lambda *tasks: lambda: all(self.tasks.now(t).poll() is not None for t in tasks)  # noqa: E731
        if self.plan.mode != "sync":
            self.until(gone(3, 4), END_SECONDS, "workers 1 and 2 did not both end", False)
        (self.folder / "last").touch()
        self.until(gone(2, 3, 4), END_SECONDS, "the workers did not all end", False)
        if self.plan.tensorflow in (0, 1):  # TensorFlow's servers never leave by themselves
            self.tasks.kill(self.plan.tensorflow, 1e9)
        self.until(gone(0, 1), JOIN_SECONDS, "the ps did not both end", False)
        self.watch(False)
        for task in range(len(TASKS)):
            process = self.tasks.now(task)
            if self.plan.tensorflow == 1 and task == 0 and "join waited" in process.output:
                continue  # it said whom it missed: a ps of TensorFlow's does not say goodbye
            if process.poll() != 0 and not process.killed:
                self.failures.append(f"{''.join(map(str, TASKS[task]))} ended with {process.poll()} at the end of the job: "
                                     f"{reason(process.output)}")

    def check(self, report):
        import weft as tf
        checkpoints, broken = self.archive.read(tf.train.NewCheckpointReader)
        self.failures += broken
        for path in self.archive.listed():
            shown = subprocess.run([BUILD / "bin" / "weft", "inspect", path], capture_output=True, text=True, check=False)
            if shown.returncode:
                self.failures.append(f"readable: weft inspect {path}: {shown.stderr.strip()}")
        checker = Checker(self.tasks, checkpoints, self.plan.mode).run()
        self.failures += checker.failures[:6]
        self.check_growth(report)
        report["checkpoints read"] += len(checkpoints)
        report["checkpoints judged"] += checker.judged
        report["restores"] += len(checker.restores)
        report["steps acknowledged"] += len(checker.acks)
        report["steps attempted"] += sum(len(log.attempts) for logs in checker.logs.values() for log in logs)
        report["retries reported"] += sum(log.retries for logs in checker.logs.values() for log in logs)
        report["steps in the last checkpoints"] += checker.applied

    def check_growth(self, report):
        for task in (0, 1):
            for process in self.tasks.all[task]:
                warm = [s for s in process.samples if s[0] > 4][:3]
                if len(process.samples) < 12 or process.killed:
                    continue
                end = process.samples[-3:]
                more = [sorted(s[i] for s in end)[1] - sorted(s[i] for s in warm)[1] for i in (1, 2)]
                report.most("a ps grew by at most MiB", round(more[0], 1))
                report.most("a ps gained at most descriptors", more[1])
                if more[0] > MORE_MEMORY or more[1] > MORE_FDS:
                    self.failures.append(f"ps{task} grew by {more[0]:.1f} MiB and {more[1]} descriptors in "
                                         f"{process.samples[-1][0]:.0f} s")

    def run(self, report):
        try:
            self.start()
            self.harm()
            self.go_on()
            self.finish()
        except Stuck as e:
            self.failures.append(f"stuck: {e}")
            self.stacks()
        finally:
            self.faults.heal_all()
            self.archive.collect()
            self.tasks.end()
        for name in self.followers:
            if self.chief_left:
                self.notes.append(f"{name} ended with 0 when the chief of a synchronous job left")
            else:
                self.failures.append(f"{name} ended with 0 in the middle of the job, and the chief had not left")
        try:
            self.check(report)
        except Exception:  # a checker that fails is a finding too
            self.failures.append("the checker failed: " + traceback.format_exc())

    def stacks(self):
        """What the tasks of a job that is stuck say of themselves, and where their threads are, if gdb is here."""
        hosts = self.network.addresses
        with open(self.folder / "check", "wb") as out:
            subprocess.run([*self.network.enter(0), BUILD / "bin" / "weft", "check", "--cluster",
                            f"ps={','.join(hosts[:2])};worker={','.join(hosts[2:])}"], stdout=out,
                           stderr=subprocess.STDOUT, check=False, timeout=60)
        if not shutil.which("gdb"):
            return
        for task in range(len(TASKS)):
            process = self.tasks.now(task)
            if process and process.poll() is None:
                with open(self.folder / f"{''.join(map(str, TASKS[task]))}.stacks", "wb") as out:
                    subprocess.run(["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all bt 12"], stdout=out,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False, timeout=60)

    def end(self):
        self.tasks.end()
        self.network.end()
        if self.failures:  # the checkpoints go with the mount
            shutil.copytree(self.disk, self.folder / "kept", ignore=shutil.ignore_patterns("ballast"))
        subprocess.run(["umount", "-l", str(self.disk)], check=False)


def reason(output):
    """The line of a log that says why a process ended."""
    lines = [line for line in output.strip().splitlines() if line and not re.match(r"\d+\.\d+ ", line)]
    said = [line for line in lines if re.search(r"^train: |^[A-Z_]{6,}: |Error: |terminate|what\(\)", line)]
    return (said or lines or ["nothing"])[-1][:300]


class Report(collections.Counter):
    def most(self, key, value):
        self[key] = max(self[key], value)

    def print(self, rounds, faults, notes, failed, seed, seconds):
        print(f"\n{rounds} rounds, {seconds:.0f} s, seed {seed}")
        print("faults: " + ", ".join(f"{k} {n}" for k, n in sorted(faults.items())))
        for key, value in self.items():
            print(f"{key}: {value}")
        for note, n in notes.most_common():
            print(f"ended and said why, {n} times: {note}")
        for number, failures in failed:
            for failure in failures:
                print(f"FAILED round {number} (--seed {seed} --first {number} --rounds 1): {failure}")
        print(f"{len(failed)} of {rounds} rounds failed")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0, help="begin no round after so many seconds")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "little"))
    parser.add_argument("--first", type=int, default=0, help="the number of the first round")
    parser.add_argument("--kinds", help="only these faults: " + "kill,cut,...")
    parser.add_argument("--jobs", help="only these: c:async,python:sync,...")
    parser.add_argument("--keep", help="a folder for what failed rounds left", default=None)
    return parser.parse_args()


def play(plan, report, faults, notes, keep):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"chaos-{plan.number}-", dir=keep))
    r = Round(plan, folder)
    try:
        r.run(report)
    finally:
        r.end()
    faults.update(r.faults.done)
    notes.update(re.sub(r"/\S*/chaos-[^/ ]*", "FOLDER", re.sub(r"\d{4,}|(?<=ckpt-)\d+|(?<=worker)\d|(?<=ps)\d", "N", n))
                 for n in r.notes)
    if r.failures:
        print(f"  left in {folder}", flush=True)
    else:
        shutil.rmtree(folder)
    return r.failures


def main():
    o = options()
    if os.geteuid() != 0 or not shutil.which("ip") or not os.path.exists("/dev/net/tun"):
        sys.exit("chaos: needs root, ip (iproute2) and /dev/net/tun for hosts of its own")
    sys.path.insert(0, str(BUILD / "python"))
    kinds = o.kinds and o.kinds.split(",")
    jobs = o.jobs and [tuple(j.split(":")) for j in o.jobs.split(",")]
    report, faults, notes, failed, begin = Report(), collections.Counter(), collections.Counter(), [], time.monotonic()
    rounds = 0
    try:
        for number in range(o.first, o.first + o.rounds):
            if o.seconds and time.monotonic() - begin > o.seconds:
                break
            plan, at = Plan(o.seed, number, kinds, jobs), time.monotonic()
            print(f"round {number} (seed {o.seed}) {plan}", flush=True)
            failures = play(plan, report, faults, notes, o.keep)
            rounds += 1
            print(f"  {'FAILED: ' + '; '.join(failures) if failures else 'passed'}, {time.monotonic() - at:.0f} s", flush=True)
            if failures:
                failed.append((number, failures))
    except KeyboardInterrupt:
        print("interrupted")
    report.print(rounds, faults, notes, failed, o.seed, time.monotonic() - begin)
    sys.exit(1 if failed or rounds == 0 else 0)


if __name__ == "__main__":
    main()
