"""The ops that have a gradient in TensorFlow, and the file that lists those which have none here."""
import pathlib
import re

from tensorflow.python.framework import ops
from tensorflow.python.ops import gradients_impl  # noqa: F401 - importing it fills the registry

FILE = pathlib.Path(__file__).with_name("gradient_gaps.txt")
SECTIONS = ("absent", "missing", "not compared", "scenario")
ALL = set(ops.gradient_registry.list())
REGISTERED = {name for name in ALL if ops.gradient_registry.lookup(name) is not None}
NOT_DIFFERENTIABLE = ALL - REGISTERED


def read():
    """{section: {op: what stands behind its name}}, and {section: the number in its heading}."""
    listed, counts, section = {s: {} for s in SECTIONS}, {}, None
    for line in FILE.read_text().splitlines():
        heading = re.match(r"\[(.*)\] (\d+)$", line)
        if heading:
            section = heading.group(1)
            counts[section] = int(heading.group(2))
        elif line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            listed[section][name] = rest
    return listed, counts


LISTED, COUNTS = read()


def summary():
    here = ", ".join(LISTED["missing"]) or "none"
    return (f"gradients: TensorFlow has one for {len(REGISTERED)} ops; {len(LISTED['absent'])} of these are not ops of Weft, "
            f"{len(LISTED['missing'])} have none here: {here}")
