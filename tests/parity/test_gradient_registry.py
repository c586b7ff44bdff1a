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


def test_a_missing_gradient_is_missing():
    assert [n for n in LISTED["missing"] if OPS[n]["gradient"] == "yes"] == []


def test_listed_scenarios_exist_and_reasons_are_given():
    assert [f for f in LISTED["scenario"].values() if not (ROOT / f).is_file()] == []
    assert [n for n, reason in LISTED["not compared"].items() if not reason] == []


def test_where_tensorflow_stops_weft_stops():
    """An op that TensorFlow registers as not differentiable ends a gradient without an error."""
    assert [n for n in sorted(gradient_gaps.NOT_DIFFERENTIABLE & set(OPS)) if OPS[n]["gradient"] != "none"] == []
