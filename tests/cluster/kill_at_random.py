"""Kills the two ps, the chief and the other worker of training jobs, in any order and at random moments, and starts each
again: every job must reach its last step, and what the chief restores is never older than the checkpoint there was.

    kill_at_random.py [ROUNDS] [SEED]
"""
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tasks  # noqa: E402
from test_examples import DATA, RESTORED, saved_step  # noqa: E402

ROLES = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)]
PROGRAMS = {"distribute_mnist": ("task_index", ["--issync=1", "--train_steps=3000"]),
            "dist_mnist_async": ("task_id", ["--training_steps=3000", "--learning_rate=0.1"])}


class Job:
    def __init__(self, folder, program):
        self.index, self.options = PROGRAMS[program]
        self.program, self.log = tasks.BUILD / "examples" / program, folder / "log"
        self.cluster, self.seen, self.saved = tasks.Cluster(folder, ps=2), 0, 0
        self.running = {role: self.start(role) for role in ROLES}

    def start(self, role):
        flags = [f.replace("--task_index", f"--{self.index}") for f in self.cluster.flags(*role)]
        if role == ("worker", 0):
            self.seen = 0
        return self.cluster.add("".join(map(str, role)), self.program, *flags, *self.options, f"--data_dir={DATA}",
                                f"--log_dir={self.log}", "--save_model_secs=0.5")

    def over(self):
        return all(task.process.poll() is not None for task in self.running.values())

    def check(self):
        """Nobody died by itself; what was restored since the last look is not older than the checkpoint there was."""
        for role, task in self.running.items():
            assert not task.process.poll(), f"{role} ended with {task.process.poll()}:\n{task.output[-2000:]}"
        saved, text = saved_step(self.log), self.running["worker", 0].output
        cut = text.rfind("\n") + 1  # the last line may not be whole
        restored = [int(step) for step in RESTORED.findall(text[self.seen:cut])]
        assert min(restored, default=self.saved) >= self.saved, f"{min(restored)} was restored, {self.saved} was there"
        self.seen, self.saved = cut, saved

    def kill(self, role):
        self.check()
        self.running[role].kill()
        time.sleep(random.uniform(0, 1.5))
        self.running[role] = self.start(role)

    def end(self, seconds=900):
        limit = time.monotonic() + seconds
        while not self.over():
            assert time.monotonic() < limit, "still running:\n" + "\n".join(
                f"{role}: {task.output[-600:]}" for role, task in self.running.items() if task.process.poll() is None)
            self.check()
            time.sleep(.2)
        self.check()
        assert "test accuracy" in self.running["worker", 0].output


def play(program):
    with tempfile.TemporaryDirectory() as folder:
        job = Job(pathlib.Path(folder), program)
        try:
            job.running["worker", 0].until("Extracting", 60)
            killed = []
            for role in random.sample(ROLES, len(ROLES)):
                time.sleep(random.uniform(.1, 2.5))
                if any(t.process.poll() is not None for t in job.running.values()):
                    break
                job.kill(role)
                killed.append(role)
            job.end()
            return killed
        finally:
            job.cluster.end()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(3), "little")
    if DATA is None:
        sys.exit("neither MNIST nor Fashion-MNIST is here")
    for i in range(rounds):
        random.seed(seed + i)
        for program in PROGRAMS:
            begin = time.monotonic()
            print(f"round {i} (seed {seed + i}) {program}: ", end="", flush=True)
            killed = play(program)
            print(f"{len(killed)} kills ({' '.join(j + str(k) for j, k in killed)}), {time.monotonic() - begin:.0f} s",
                  flush=True)


if __name__ == "__main__":
    main()
