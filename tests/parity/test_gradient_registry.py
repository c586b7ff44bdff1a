"""TensorFlow's registry says which ops have a gradient: each is compared, or listed in gradient_gaps.txt."""
import pathlib

import cases
import gradient_gaps
import weftlib

OPS = {o["name"]: o for o in weftlib.ops()}
COMPARED = {n for n, o in OPS.items() if any(not c["flags"] & cases.NO_PARITY for c in o["cases"])}  # by test_ops.py
LISTED = gradient_gaps.LISTED
ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_an_op_is_listed_once():
    names = [n for section in LISTED.values() for n in section]
    assert sorted(names) == sorted(set(names))
    assert gradient_gaps.COUNTS == {section: len(LISTED[section]) for section in gradient_gaps.SECTIONS}


def test_absent_ops_are_those_that_weft_does_not_have():
    assert sorted(LISTED["absent"]) == sorted(gradient_gaps.REGISTERED - set(OPS))


def test_every_other_op_is_compared_or_listed():
    listed = {n for section in ("missing", "not compared", "scenario") for n in LISTED[section]}
    assert not listed - gradient_gaps.REGISTERED, "TensorFlow has no gradient for these"
    assert sorted((gradient_gaps.REGISTERED & set(OPS)) - COMPARED - listed) == []


def test_listed_scenarios_exist_and_reasons_are_given():
    assert [f for f in LISTED["scenario"].values() if not (ROOT / f).is_file()] == []
    assert [n for n, reason in LISTED["not compared"].items() if not reason] == []


# TensorFlow differentiates the function that such a node calls; its registry does not know them.
CALLS = {"PartitionedCall", "StatefulPartitionedCall"}
# Its gradient is TensorFlow's error for second gradients of loops: there an Identity in its place leads to the loop.
RAISING = {"TensorArrayGradV3"}


def expected(name):
    if name in gradient_gaps.REGISTERED or name in CALLS or name in RAISING:
        return "yes"
    return "none" if name in gradient_gaps.NOT_DIFFERENTIABLE else "missing"


def test_every_row_says_what_tensorflows_registry_says():
    """"none" ends a gradient without an error; "missing" raises one."""
    gaps = LISTED["missing"]
    different = {n: (o["gradient"], expected(n)) for n, o in OPS.items() if n not in gaps and o["gradient"] != expected(n)}
    assert not different


def test_a_gap_raises():
    """A gradient that is not written yet is an error, never a gradient that stops."""
    assert {n: OPS[n]["gradient"] for n in LISTED["missing"]} == {n: "missing" for n in LISTED["missing"]}
