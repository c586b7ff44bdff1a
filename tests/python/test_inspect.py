"""`weft inspect` on files that TensorFlow wrote."""
import json
import pathlib
import subprocess

import scripts
from both import oracle

PROGRAM = str(pathlib.Path(scripts.PACKAGE).parent / "bin" / "weft")
feature, feature_list = oracle.train.Feature, oracle.train.FeatureList


def ints(*values):
    return feature(int64_list=oracle.train.Int64List(value=values))


def words(*values):
    return feature(bytes_list=oracle.train.BytesList(value=values))


def floats(*values):
    return feature(float_list=oracle.train.FloatList(value=values))


def test_inspect_says_which_records_are_examples_and_sequence_examples(tmp_path):
    context = oracle.train.Features(feature={"length": ints(3)})
    lists = {"tokens": feature_list(feature=[ints(1), ints(2, 3), ints(), ints(4)]), "words": feature_list(feature=[words(b"a", b"b")]),
             "frames": feature_list(feature=[floats(.5), floats(.25, 2)]), "none": feature_list()}
    records = [oracle.train.SequenceExample(context=context, feature_lists=oracle.train.FeatureLists(feature_list=lists)),
               oracle.train.Example(features=context), oracle.ConfigProto(allow_soft_placement=True)]
    path = str(tmp_path / "three.tfrecords")
    with oracle.io.TFRecordWriter(path) as file:
        for r in records:
            file.write(r.SerializeToString())
    told = subprocess.run([PROGRAM, "inspect", "--json", path], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told
    found, = json.loads(told.stdout)["files"]
    assert [(r["bytes"], r["example"], r["sequence_example"]) for r in found["first"]] == [
        (len(r.SerializeToString()), type(r).__name__ == "Example", type(r).__name__ == "SequenceExample") for r in records]
    length = [{"name": "length", "type": "int64", "count": 1, "text": "[3]"}]
    assert [r["features"] for r in found["first"]] == [length, length, []]
    assert [r["lists"] for r in found["first"][1:]] == [[], []]
    assert {r["name"]: (r["type"], r["steps"], r["count"]) for r in found["first"][0]["lists"]} == {
        "tokens": ("int64", 4, 4), "words": ("string", 1, 2), "frames": ("float32", 2, 3), "none": (None, 0, 0)}
    text = subprocess.run([PROGRAM, "inspect", path], capture_output=True, text=True, timeout=60).stdout
    assert "tokens               4 steps, int64[4]  [1]  [2 3]  []  ..." in text and "    no Example\n" in text, text
