"""DeterministicRandomTestTool: the seeds that random ops get from it are TensorFlow's."""
import pytest

from both import oracle, weft as ours


def seeds(graph):
    return [(n.op, n.attr["seed"].i, n.attr["seed2"].i) for n in graph.as_graph_def().node if "seed" in n.attr]


def many_ops(tf):
    tf.random_uniform([2])
    tf.random_normal([2], seed=5)
    tf.nn.dropout(tf.ones([3]), 0.5)
    tf.get_variable("v", [3])
    tf.layers.dense(tf.ones([1, 2]), 3)
    tf.keras.layers.Dense(2)(tf.ones([1, 2]))
    tf.random_shuffle([1, 2])
    tf.multinomial([[1.0, 2]], 3)
    tf.random_gamma([2], 1.0)
    tf.image.random_flip_left_right(tf.ones([2, 2, 3]))
    tf.image.random_brightness(tf.ones([2, 2, 3]), 0.2)
    tf.random_crop(tf.ones([4, 4, 3]), [2, 2, 3])
    tf.initializers.orthogonal()((2, 2))
    tf.RandomShuffleQueue(3, 1, tf.float32, shared_name="q")
    tf.RandomShuffleQueue(3, 1, tf.float32, shared_name="q", seed=4)
    tf.nn.dropout(tf.ones([3]), rate=0)
    tf.random_uniform([2])


def used_twice(tf, tool, told):
    for _ in range(2):
        with tool.scope():
            told.append(tf.get_default_graph().seed)
            with tf.variable_scope(None, "a"):
                many_ops(tf)
            told.append((tf.get_default_graph().seed, tool.operation_seed))
        tf.random_uniform([2])
        tf.image.random_flip_left_right(tf.ones([2, 2, 3]))
        tf.image.random_flip_left_right(tf.ones([2, 2, 3]), seed=3)


def chosen(tf, tool, told):
    with tool.scope():
        tf.random_uniform([2])
        tool.operation_seed = 7
        tf.random_uniform([2])
        told.append(tool.operation_seed)
        tf.image.random_flip_left_right(tf.ones([2, 2, 3]), seed=3)


def nested(tf, tool, told):
    with tool.scope():
        with tool.scope():
            tf.random_uniform([2])
        tf.random_uniform([2])
        with tf.keras.utils.DeterministicRandomTestTool(mode="num_random_ops").scope():
            tf.random_uniform([2])
        with tf.Graph().as_default() as other:
            tf.random_uniform([2])
        told += [seeds(other), other.seed]
        tf.set_random_seed(99)
        tf.random_uniform([2])
        told.append(tf.get_default_graph().seed)
    tool.scope()
    told.append(tf.get_default_graph().seed)


def failed(tf, tool, told):
    with pytest.raises(KeyError), tool.scope():
        tf.random_uniform([2])
        raise KeyError
    tf.random_uniform([2])


def refused(tf, tool, told):
    with tool.scope():
        tf.random_uniform([2])
        tool.operation_seed = 0
        try:
            tf.random_uniform([2])
        except ValueError as e:
            told.append(str(e))
    told.append(tool.operation_seed)


@pytest.mark.parametrize("mode", ["constant", "num_random_ops"])
@pytest.mark.parametrize("program", [used_twice, chosen, nested, failed, refused])
def test_random_ops_get_the_seeds_that_they_get_in_tensorflow(program, mode):
    found = []
    for tf in (ours, oracle):
        told = []
        with tf.Graph().as_default() as graph:
            program(tf, tf.keras.utils.DeterministicRandomTestTool(seed=21, mode=mode), told)
        found.append((seeds(graph), told))
    assert found[0] == found[1]
    assert found[0][0]


def test_defaults_and_modes_are_tensorflows():
    for tf in (ours, oracle):
        with tf.Graph().as_default(), tf.Session() as sess:
            with tf.keras.utils.DeterministicRandomTestTool().scope():
                assert sess.run(tf.random_uniform([2])).tolist() == pytest.approx([0.8354591, 0.9162973])
        with pytest.raises(ValueError, match="Mode arg must be 'constant' or 'num_random_ops'. Got: other"):
            tf.keras.utils.DeterministicRandomTestTool(mode="other")
