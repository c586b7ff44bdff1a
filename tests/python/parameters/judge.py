"""Compares what a parameter changed here with what it changed in TensorFlow."""
import re

import compare_calls
from walk import BASE, NAMES

TOLERANCE = 1e-4
NO_EFFECT = "no effect (TensorFlow lacks the function or the parameter)"


def findings(ours, theirs):
    """{parameter: what is wrong} of one recipe; BASE stands for the base call."""
    if isinstance(ours, str):
        return {BASE: "the recipe cannot be run: %s" % ours}
    if absent(ours):
        return {}
    if isinstance(theirs, dict) and broken(theirs[BASE]):
        theirs = None
    if isinstance(theirs, str):
        return {BASE: "the recipe cannot be run in TensorFlow: %s" % theirs}
    found = {}
    wrong = base(ours[BASE], theirs and theirs[BASE])
    if wrong:
        found[BASE] = wrong
    for parameter in ours:
        if parameter in (BASE, "()"):
            continue
        wrong = one(parameter, ours, theirs)
        if wrong:
            found[parameter] = wrong
    return found


def absent(ours):
    """Whether the function is not here, or says that it is not."""
    if ours is None:
        return True
    error = ours[BASE].error
    return error is not None and error[0][0] == "NotImplementedError" and any(
        said in error[1] for said in ("is not in Weft", "Weft has no op"))


def broken(outcome):
    """Whether tf-slim failed because TensorFlow 2.15 has lost what it needs."""
    return outcome.error is not None and (outcome.error[0][0] == "ModuleNotFoundError" or outcome.error[0][0] == "AttributeError"
                                          and "module 'tensorflow." in outcome.error[1])


ONLY_GPU = ("only supports NHWC", "No OpKernel was registered to support Op", "CPU implementations do not yet support",
            "CPU only support")


def only_gpu(outcome):
    """Whether TensorFlow has no kernel for processors; ours may have one."""
    return outcome.error is not None and (outcome.error[0][0] == "UnimplementedError" or any(
        said in outcome.error[1] for said in ONLY_GPU))


def base(mine, other):
    if mine.error is not None and other is not None and other.error is not None and mine.error[0][0] in other.error[0]:
        return None
    if mine.error is not None:
        return "the base call raised %s: %s" % (mine.error[0][0], mine.error[1][:300])
    if other is not None and other.error is not None:
        return "the base call raised in TensorFlow %s: %s" % (other.error[0][0], other.error[1][:300])
    return other and different(mine, other, False)


def named(value, names):
    """A description of a result, without the names of its tensors unless they count."""
    if isinstance(value, tuple) and value and isinstance(value[0], str):
        if names or value[0] not in ("op",) and " " not in value[0]:
            return value
        return value[2:] if value[0] == "op" else (re.sub(r" \S+", "", value[0], count=1),) + value[1:]
    if isinstance(value, (list, tuple)):
        return [named(v, names) for v in value]
    if isinstance(value, dict):
        return {k: named(v, names) for k, v in value.items()}
    return value


def different(mine, other, names):
    """Where two outcomes differ; names: whether the names of tensors count."""
    wrong = compare_calls.within(named(mine.value, names), named(other.value, names), TOLERANCE, "result")
    return wrong and wrong[:400]


def one(parameter, ours, theirs):
    mine, before = ours[parameter], ours[BASE]
    if theirs is None or unknown(theirs[parameter], parameter) or broken(theirs[parameter]) or only_gpu(theirs[parameter]):
        if mine.error is not None:
            return None if parameter in mine.error[1] else "raised without naming it: %s: %s" % (
                mine.error[0][0], mine.error[1][:200])
        return None if mine.digest != before.digest else NO_EFFECT
    other, was = theirs[parameter], theirs[BASE]
    if other.error is not None:
        if mine.error is None:
            return "accepted; TensorFlow raises %s: %s" % (other.error[0][0], other.error[1][:200])
        return None if mine.error[0][0] in other.error[0] else "raises %s: %s; TensorFlow %s: %s" % (
            mine.error[0][0], mine.error[1][:150], other.error[0][0], other.error[1][:150])
    if mine.error is not None:
        return None if parameter in mine.error[1] else "raises %s: %s" % (mine.error[0][0], mine.error[1][:200])
    if was.digest is not None and other.digest != was.digest and mine.digest == before.digest:
        return "no effect; it has one in TensorFlow"
    if base(before, was):
        return None  # told once, for the base call
    return different(mine, other, parameter in NAMES and not different(before, was, True))


def unknown(outcome, parameter):
    """Whether TensorFlow does not know the parameter."""
    return outcome.error is not None and outcome.error[0][0] == "TypeError" and "unexpected keyword" in outcome.error[1] \
        and parameter in outcome.error[1]
