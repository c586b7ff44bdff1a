"""ChooseFastestBranchDataset: Weft and TensorFlow run the same GraphDef, which TensorFlow made."""
import numpy as np
import pytest
from tensorflow.python.framework import function

from both import oracle, weft as ours

RAW = oracle.raw_ops
NUMBER = {"output_types": [oracle.int64], "output_shapes": [[]]}


def long(n):
    return np.int64(n)


def taken(n):
    return lambda x: RAW.TakeDataset(input_dataset=x, count=long(n), **NUMBER)


def skipped(n):
    return lambda x: RAW.SkipDataset(input_dataset=x, count=long(n), **NUMBER)


def repeated(n):
    return lambda x: RAW.RepeatDataset(input_dataset=x, count=long(n), **NUMBER)


def batched(x):
    return sized(x, long(2))


def sized(x, size):
    return RAW.BatchDatasetV2(input_dataset=x, batch_size=size, drop_remainder=False, output_types=[oracle.int64],
                              output_shapes=[[None]])


def plain(branch):
    def body(x):
        return branch(x)
    return body


def graph_def(branches, *, elements=10, ratio=(1, 1), per_branch=2, types=NUMBER, others=(), lengths=None):
    """A graph with the data set "made"."""
    with oracle.Graph().as_default() as graph:
        functions = []
        for i, branch in enumerate(branches):
            several = [oracle.variant, oracle.int64] if branch is sized else [oracle.variant]
            functions.append(function.Defun(*several, func_name="branch%d" % i)(branch if branch is sized else plain(branch)))
            functions[-1].add_to_graph(graph)
        lengths = [1 if b is sized else 0 for b in branches] if lengths is None else lengths
        RAW.ChooseFastestBranchDataset(
            input_dataset=oracle.data.Dataset.range(elements)._variant_tensor, ratio_numerator=long(ratio[0]),
            ratio_denominator=long(ratio[1]), other_arguments=[long(n) for n in others], num_elements_per_branch=per_branch,
            branches=functions, other_arguments_lengths=lengths, name="made", **types)
        return graph.as_graph_def().SerializeToString()


def run(tf, serialized, shape=()):
    """The elements and the cardinality, or the class of the error after the elements before it, and its text."""
    seen = []
    with tf.Graph().as_default(), tf.Session() as sess:
        graph = tf.GraphDef.FromString(serialized)
        made, = tf.import_graph_def(graph, return_elements=["made:0"], name="")
        data = tf.data.experimental.from_variant(made, tf.TensorSpec(shape, tf.int64))
        iterator = tf.data.make_initializable_iterator(data)
        element, count = iterator.get_next(), tf.data.experimental.cardinality(data)
        try:
            sess.run(iterator.initializer)
            while True:
                seen.append(sess.run(element).tolist())
        except tf.errors.OutOfRangeError:
            return [seen, int(sess.run(count))]
        except tf.errors.InvalidArgumentError as e:
            return [seen, str(e)]


BATCHES = {"output_types": [oracle.int64], "output_shapes": [[None]]}
CASES = {
    "same": ({"branches": [taken(-1)] * 2}, list(range(10))),
    "one": ({"branches": [taken(-1)]}, list(range(10))),
    "long turns": ({"branches": [taken(-1)] * 3, "per_branch": 20}, list(range(10))),
    "empty": ({"branches": [taken(-1)] * 2, "elements": 0}, []),
    "batches": ({"branches": [batched] * 2, "ratio": (2, 1), "elements": 9, "types": BATCHES}, [[0, 1], [2, 3], [4, 5], [6, 7], [8]]),
    "ratio of 3 to 2": ({"branches": [taken(-1)] * 2, "ratio": (3, 2)}, list(range(10))),
    "larger ratio than needed": ({"branches": [taken(-1)] * 2, "ratio": (2, 1)}, list(range(10))),
    "too small a ratio": ({"branches": [batched] * 2, "types": BATCHES}, [[0, 1]]),
    "ends in a turn": ({"branches": [taken(1)] * 2}, [0]),
    "ends after the turns": ({"branches": [taken(3)] * 2}, [0, 1, 2, 3, 4, 5, 6]),
    "ends after one turn": ({"branches": [taken(3)]}, [0, 1, 2, 3, 4]),
    "skips": ({"branches": [skipped(1)] * 2, "per_branch": 3}, [1, 2]),
    "the second skips": ({"branches": [taken(-1), skipped(1)], "per_branch": 5, "elements": 30}, [0, 1, 2, 3, 4, 6, 7, 8, 9]),
    "further arguments": ({"branches": [sized, batched, sized], "ratio": (2, 1), "others": (2, 2), "types": BATCHES},
                          [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]),
}


@pytest.mark.parametrize("name", CASES)
def test_elements_are_those_of_tensorflow(name):
    given, elements = CASES[name]
    made = graph_def(**given)
    shape = given.get("types", NUMBER)["output_shapes"][0]
    mine, theirs = (run(tf, made, shape) for tf in (ours, oracle))
    assert mine == theirs
    assert mine[0] == elements


@pytest.mark.parametrize("given, text", [
    ({"ratio": (0, 1)}, "`ratio_numerator` must be greater than zero."),
    ({"ratio": (1, -1)}, "`ratio_denominator` must be greater than zero."),
    ({"branches": [repeated(2)] * 2}, "Cannot create more than one WrapperIterator per WrapperDataset."),
    ({"types": {"output_types": [oracle.int32], "output_shapes": [[]]}}, "int64"),
], ids=["numerator", "denominator", "repeat", "type"])
def test_errors_are_those_of_tensorflow(given, text):
    made = graph_def(**{"branches": [taken(-1)] * 2, **given})
    mine, theirs = (run(tf, made) for tf in (ours, oracle))
    assert mine[0] == theirs[0] and text in mine[1] and text in theirs[1]


@pytest.mark.parametrize("lengths", [[1, 0], [-1, 1], [0, 0], [2, -1], [1], [1, 1, 0]])
def test_wrong_lengths_are_errors(lengths):
    """TensorFlow's process ends for some of them."""
    made = graph_def([taken(-1)] * 2, others=() if lengths == [1, 0] else (2,), lengths=lengths)
    assert "other_arguments_lengths" in run(ours, made)[1]


def test_the_fastest_makes_the_rest():
    def slow(x):
        return RAW.SleepDataset(input_dataset=x, sleep_microseconds=long(20000), **NUMBER)

    def negative(x):
        zero = RAW.TakeDataset(input_dataset=x, count=long(-1), **NUMBER)
        return RAW.ShardDataset(input_dataset=zero, num_shards=long(2), index=long(1), **NUMBER)

    made = graph_def([slow, negative], elements=12, ratio=(2, 1))
    for tf in (ours, oracle):
        assert run(tf, made)[0] == [0, 1, 3, 5, 7, 9, 11]
    made = graph_def([negative, slow], elements=12, ratio=(2, 1))
    for tf in (ours, oracle):
        assert run(tf, made)[0] == [1, 3, 4, 5, 7, 9, 11]
