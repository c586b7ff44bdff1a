"""Keeps every checkpoint of a job: links to its files, made as they appear, since a saver deletes old ones."""
import os
import pathlib
import re
import time

NAMES = ["global_step", *(f"{n}_{p}{s}" for p in (0, 1) for n, s in (("applied", ""), ("weight", ""), ("weight", "/Momentum")))]


class Archive:
    def __init__(self, logdir, folder):
        self.logdir, self.folder, self.kept = pathlib.Path(logdir), pathlib.Path(folder), {}
        self.folder.mkdir()
        self.offset = time.time() - time.monotonic()  # the kernel stamps files by the wall clock

    def collect(self):
        for index in self.logdir.glob("model.ckpt-*.index"):
            try:
                seen = index.stat()
                key = (index.name, seen.st_ino, seen.st_mtime_ns)
                if key not in self.kept:
                    self.keep(index, key, seen.st_mtime - self.offset)
            except FileNotFoundError:
                pass  # deleted meanwhile, as too old

    def keep(self, index, key, at):
        prefix = self.folder / f"{len(self.kept)}" / index.stem
        prefix.parent.mkdir(exist_ok=True)
        for part in [*self.logdir.glob(index.stem + ".data-*"), index]:
            target = prefix.parent / part.name
            if target.exists():
                target.unlink()
            os.link(part, target)
        if index.stat().st_ino == key[1]:  # else it was replaced while we linked
            self.kept[key] = (str(self.logdir / index.stem), at, prefix)

    def read(self, reader):
        """[(path, when, values)] in the order of time, and what could not be read."""
        found, broken = [], []
        for path, at, prefix in sorted(self.kept.values(), key=lambda k: k[1]):
            try:
                r = reader(str(prefix))
                found.append((path, at, {n: r.get_tensor(n) for n in NAMES}))
            except Exception as e:  # whatever is wrong with it is the finding
                broken.append(f"readable: {path}: {type(e).__name__}: {e}")
        return found, broken

    def listed(self):
        state = self.logdir / "checkpoint"
        text = state.read_text() if state.exists() else ""
        return [str(self.logdir / pathlib.Path(p).name) for p in re.findall(r'all_model_checkpoint_paths: "(.*)"', text)]
