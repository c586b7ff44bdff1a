#!/usr/bin/env python3
"""Runs every command of the README and of docs/, page by page, in a folder that shows the tree but keeps what they write.

A block of ```sh is run by one shell; of ```console, each line after "$ " is run and the lines below it must come out, in
order.  A block that cannot run here says so in its first line, in one of two ways that a reader sees:

    # run by tests/install.sh             another test does; that file must exist
    # not run by the tests: WHY           nothing does, and this is why

A block of ```python begins with its file's name, "# line.py", and is saved under it; a later block of the page must run it.

A command of `weft` within a sentence is not run, but must exist, and so must its options.
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
SECONDS = 300


def python_with_numpy():
    for program in (sys.executable, "/usr/bin/python3", "python3"):
        if subprocess.run([program, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
            return program
    return "python3"


def environment():
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "TF_CONFIG", "SLURM_", "OMPI_", "PMI_"))}
    return {**plain, "WEFT_PYTHON_PROGRAM": python_with_numpy(), "PATH": f"{ROOT}/build/bin:{os.environ['PATH']}"}


def excused(text):
    """None: to be run.  Otherwise what is wrong with the excuse; "" if nothing is."""
    first = text.split("\n", 1)[0]
    other = re.fullmatch(r"# run by (\S+?)(, .*)?", first)
    if other:
        return "" if (ROOT / other.group(1)).exists() else f"there is no {other.group(1)}"
    return "" if re.match(r"# not run by the tests(, .*)?: .", first) else None


def shell(text, folder, env):
    task = subprocess.Popen(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=env, text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return task.communicate(timeout=SECONDS)[0], task.returncode
    except subprocess.TimeoutExpired:
        os.killpg(task.pid, signal.SIGKILL)
        return task.communicate()[0], f"none after {SECONDS} s"


def run_console(text, folder, env):
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
        said, code = shell(command, folder, env)
        lines = iter(said.splitlines())
        missing = [e for e in expected.splitlines() if not any(e == line.rstrip() for line in lines)]
        if code or missing:
            return f"$ {command}: exit code {code}, without {missing}:\n{said}"
    return ""


def run_sh(text, folder, env):
    said, code = shell(text, folder, env)
    return f"exit code {code}:\n{text}{said}" if code else ""


def wrong_words(text, env):
    """Commands of weft in the sentences: `weft launch --ps 1 -- PROGRAM` needs a command launch with an option --ps."""
    known = shell("weft help", ROOT, env)[0]
    for words in re.findall(r"`weft ([a-z][^`]*)`", BLOCK.sub("", text)):
        command, *rest = words.split(" -- ")[0].split()
        if not re.search(rf"^ +{re.escape(command)}\b", known, re.M):
            yield f"there is no `weft {command}`"
        options = [w.split("=")[0] for w in rest if w.startswith("--")]
        described = shell(f"weft {command} --help", ROOT, env)[0] + known if options and command != "run" else None
        yield from (f"`weft {command}` has no {o}" for o in options if described and o not in described)


def save_program(text, later, folder):
    """Saves a Python block for the commands below it; returns what is wrong."""
    name = re.match(r"# (\w+\.py)\n", text)
    if not name:
        return f"a Python block does not begin with its file's name: {text.splitlines()[0]}"
    (pathlib.Path(folder) / name.group(1)).write_text(text)
    runs = any(k in ("sh", "console") and excused(t) is None and name.group(1) in t for k, t in later)
    return "" if runs else f"no block below runs {name.group(1)}"


def run_page(page, folder, env):
    """Yields what is wrong, "" for each block that is fine and None for one that is run elsewhere."""
    yield from wrong_words((ROOT / page).read_text(), env)
    blocks = BLOCK.findall((ROOT / page).read_text())
    for number, (kind, text) in enumerate(blocks):
        if kind == "python":
            yield save_program(text, blocks[number + 1:], folder)
        if kind == "" and re.search(r"^\$ ", text, re.M):
            yield f"commands in a block that does not say so (console): {text.splitlines()[0]}"
        if kind not in ("sh", "console"):
            continue
        excuse = excused(text)
        if excuse is not None:
            yield excuse or None
        else:
            yield (run_sh if kind == "sh" else run_console)(text, folder, env)


def main():
    env, failed, ran, elsewhere = environment(), 0, 0, 0
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            for entry in ROOT.iterdir():
                os.symlink(entry, pathlib.Path(folder) / entry.name)
            began = time.monotonic()
            for what in run_page(page, folder, env):
                ran, elsewhere, failed = ran + (what is not None), elsewhere + (what is None), failed + bool(what)
                if what:
                    print(f"{page}: {what}")
            print(f"{page}: {time.monotonic() - began:.1f} s")
    print(f"docs: {ran} blocks run, {elsewhere} run elsewhere or not at all, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
