"""What happens in a round, drawn from a seed before it begins: the same seed draws the same faults at the same moments."""
import random

PS, WORKERS = 2, 3
TASKS = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("worker", 2)]
SECONDS = 10  # in which the faults begin
RESTARTS = 2  # of a worker; what ends by itself is started again too (train.c: STARTS)

# (language, mode) of the rounds, in turn; every tenth has a task of TensorFlow
JOBS = [("c", "async"), ("python", "sync"), ("c", "sync"), ("python", "async"), ("c", "hooks"), ("python", "hooks")]
# What TensorFlow's tasks can take part in: its calls have no keepalive, so that silence hangs them for minutes.
WITH_TENSORFLOW = ["delay", "jitter", "spread", "rate", "stop", "kill", "disk_slow"]


def any_task(draw):
    return draw.choice(range(len(TASKS)))


def pair(draw):
    return draw.sample(range(len(TASKS)), 2)


def side(draw):
    """A directed pair, or all links from or to one host, or all."""
    a, b = pair(draw)
    return draw.choice([(a, b), (a, "*"), ("*", a), ("*", "*")])


# Each draws the values of a fault; the third of a plan's faults is what these return.
KINDS = {
    "kill": lambda d: {"task": any_task(d), "away": d.uniform(0, 3)},
    "term": lambda d: {"task": d.choice([2, 3, 4]), "away": d.uniform(0, 2)},
    "stop": lambda d: {"task": any_task(d), "hold": d.choice([0.2, 1, d.uniform(1, 5)])},
    "cut": lambda d: {"hosts": d.choice([pair(d), (any_task(d), "*")]), "hold": d.uniform(0.3, 6)},
    "cut_one_way": lambda d: {"link": d.choice([tuple(pair(d)), (any_task(d), "*"), ("*", any_task(d))]),
                              "hold": d.uniform(0.3, 6)},
    "delay": lambda d: {"link": side(d), "value": d.choice([2000, 20000, 100000]), "hold": d.uniform(2, 6)},
    "jitter": lambda d: {"link": side(d), "value": d.choice([1000, 10000, 50000]), "hold": d.uniform(2, 6)},
    "spread": lambda d: {"link": side(d), "value": d.choice([20000, 100000, 300000]), "hold": d.uniform(2, 6)},
    "loss": lambda d: {"link": side(d), "value": d.choice([5000, 30000, 150000]), "hold": d.uniform(2, 6)},
    "rate": lambda d: {"link": side(d), "value": d.choice([20000, 100000, 1000000]), "hold": d.uniform(2, 6)},
    "stall": lambda d: {"link": side(d), "value": d.choice([300000, 600000]), "hold": d.uniform(1, 6)},
    "reset": lambda d: {"link": side(d), "value": d.choice([300000, 1000000]), "hold": d.uniform(0.1, 1)},
    "clock": lambda d: {"task": any_task(d), "value": d.choice([-864000, -3600, -2, 2, 3600, 864000])},
    "disk_full": lambda d: {"hold": d.uniform(0.5, 4)},
    "disk_slow": lambda d: {"value": d.choice([50, 200, 500]), "hold": d.uniform(2, 5)},
    "fds": lambda d: {"task": any_task(d), "value": d.choice([0, 1, 4]), "hold": d.uniform(0.5, 4)},
    "memory": lambda d: {"task": any_task(d), "value": d.choice([0, 1, 8]) << 20, "hold": d.uniform(0.5, 4)},
}

OFTEN = {"kill": 3, "stop": 2, "cut": 2, "cut_one_way": 2}  # the others once


class Plan:
    def __init__(self, seed, number, kinds=None, jobs=None):
        draw = random.Random(f"{seed}/{number}")
        tensorflow = number % 10 == 9 and not jobs
        self.number = number
        self.language, self.mode = (jobs or JOBS)[number % len(jobs or JOBS)]
        self.tensorflow = None
        if tensorflow:
            self.language, self.mode = draw.choice([("c", "hooks"), ("python", "hooks"), ("python", "async")])
            self.tensorflow = draw.choice([1, 4])  # a ps, or a worker that is not the chief
        names = [k for k in KINDS if (not kinds or k in kinds) and (not tensorflow or k in WITH_TENSORFLOW)]
        order = draw.sample(range(len(TASKS)), len(TASKS))
        self.starts = [(task, draw.choice([0, 0, draw.uniform(0, 2)])) for task in order]  # pause before each
        self.faults = []
        for _ in range(draw.choice([2, 3, 3, 4])):
            self.add(draw, draw.choices(names, [OFTEN.get(k, 1) for k in names])[0])
        self.faults.sort(key=lambda f: f[0])

    def add(self, draw, kind):
        at, values = draw.uniform(0, SECONDS), KINDS[kind](draw)
        task = values.get("task")
        if self.tensorflow == 1 and kind in ("kill", "stop") and task in (1, 2):
            values["task"] = 3  # a ps of TensorFlow's is not missed in time, nor is the chief by it
        restarts = [f for f in self.faults if f[1] in ("kill", "term") and f[2]["task"] == values.get("task")]
        if len(restarts) < RESTARTS:
            self.faults.append((at, kind, values))

    def clocks(self):
        """The tasks whose clock jumps."""
        return {f[2]["task"] for f in self.faults if f[1] == "clock"}

    def __str__(self):
        def name(v):
            return {k: "".join(map(str, TASKS[x])) if k == "task" else round(x, 2) if isinstance(x, float) else x
                    for k, x in v.items()}

        who = f", {''.join(map(str, TASKS[self.tensorflow]))} is TensorFlow" if self.tensorflow else ""
        faults = "; ".join(f"{at:.1f} s {kind} {' '.join(f'{k}={x}' for k, x in name(v).items())}"
                           for at, kind, v in self.faults)
        return f"{self.language} {self.mode}{who}: {faults}"
