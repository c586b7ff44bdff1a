"""public_names.py FILE: writes every public name of tensorflow.compat.v1, one a line, modules included."""
import sys
import types

import tensorflow.compat.v1 as tf

OWN = ("tensorflow", "keras", "tf_keras")


def walk(module, prefix, depth, seen):
    """The public names of a module and of those in it; compat is the same once more."""
    for name in sorted(dir(module)):
        if name.startswith("_") or name in ("compat", "tf_decorator"):
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        full = prefix + name
        if isinstance(value, types.ModuleType):
            if depth < 6 and value.__name__.startswith(OWN):
                seen.append(full)
                walk(value, full + ".", depth + 1, seen)
        else:
            seen.append(full)
    return seen


with open(sys.argv[1], "w") as out:
    out.write("\n".join(walk(tf, "tf.", 0, [])) + "\n")
