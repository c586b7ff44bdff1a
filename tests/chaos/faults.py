"""The faults of a plan, as they are done to the processes, links and disk of a round, and undone."""
import os
import resource
import signal
import time

from plan import TASKS

LINK_KEYS = ["delay", "jitter", "spread", "loss", "rate", "stall", "reset"]


class Faults:
    def __init__(self, tasks, network, disk):
        self.tasks, self.network, self.disk = tasks, network, disk
        self.undo = []  # (when, function)
        self.done = {}  # kind: how often

    def inject(self, kind, values):
        getattr(self, kind if kind not in LINK_KEYS else "link")(kind, values)
        self.done[kind] = self.done.get(kind, 0) + 1

    def later(self, values, function):
        self.undo.append((time.monotonic() + values["hold"], function))

    def heal_due(self):
        for entry in [e for e in self.undo if time.monotonic() >= e[0]]:
            self.undo.remove(entry)
            entry[1]()

    def heal_all(self):
        for _, function in self.undo:
            function()
        self.undo.clear()
        self.network.heal()
        for task in range(len(TASKS)):
            self.tasks.send(task, signal.SIGCONT)

    # ---- processes ----

    def kill(self, _, v):
        self.tasks.kill(v["task"], v["away"])

    def term(self, _, v):
        """The first SIGTERM: the step ends, the chief saves, the process leaves; it is started again."""
        self.tasks.send(v["task"], signal.SIGTERM)
        process = self.tasks.now(v["task"])
        if process:
            process.termed = v["away"]

    def stop(self, _, v):
        process = self.tasks.now(v["task"])
        self.tasks.send(v["task"], signal.SIGSTOP)
        self.tasks.paused.add(v["task"])

        def go_on():
            self.tasks.paused.discard(v["task"])
            if process and process.poll() is None:
                process.popen.send_signal(signal.SIGCONT)

        self.later(v, go_on)

    def clock(self, _, v):
        (self.tasks.folder / f"clock{v['task']}").write_text(f"{v['value']:+d}\n")

    def limit(self, which, v):
        process = self.tasks.now(v["task"])
        if not process or process.poll() is not None:
            return
        before = process.limit(which, v["value"])

        def lift():
            if process.poll() is None:
                resource.prlimit(process.pid, which, before)

        self.later(v, lift)

    def fds(self, _, v):
        self.limit(resource.RLIMIT_NOFILE, v)

    def memory(self, _, v):
        self.limit(resource.RLIMIT_AS, v)

    # ---- links ----

    def link(self, key, v):
        self.network.set(*v["link"], key, v["value"])
        self.later(v, lambda: self.network.set(*v["link"], key, 0))

    def cut(self, _, v):
        a, b = v["hosts"]
        for link in [(a, b), (b, a)]:
            self.network.set(*link, "cut", 1)
            self.later(v, lambda link=link: self.network.set(*link, "cut", 0))

    def cut_one_way(self, _, v):
        self.network.set(*v["link"], "cut", 1)
        self.later(v, lambda: self.network.set(*v["link"], "cut", 0))

    # ---- disk ----

    def disk_full(self, _, v):
        ballast = self.disk / "ballast"
        room = os.statvfs(self.disk)
        try:
            with open(ballast, "ab") as f:
                os.posix_fallocate(f.fileno(), 0, max(room.f_bavail * room.f_bsize - 8192, 4096))
        except OSError:
            pass  # full is what it was to be

        def empty():
            if ballast.exists():
                ballast.unlink()

        self.later(v, empty)

    def disk_slow(self, _, v):
        self.tasks.slow.write_text(str(v["value"]))

        def fast():
            if self.tasks.slow.exists():
                self.tasks.slow.unlink()

        self.later(v, fast)
