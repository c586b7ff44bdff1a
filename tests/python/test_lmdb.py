"""LMDBReader and LMDBDataset read files that LMDB 0.9.36 wrote (tests/corpus/io.lmdb).

TensorFlow 2.15.1 has the ops, but has no LMDB any more and answers UNIMPLEMENTED; so the files are the oracle."""
import pathlib
import struct

import pytest

from both import oracle, weft as tf

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "io.lmdb"
TREE = sorted([(b"key %03d" % i, b"value %d " % i * (i % 7)) for i in range(240)] +
              [(b"large", bytes(range(256)) * 20), (b"a", b"")])
SMALL = [(b"one", b"1"), (b"two", b"2" * 3000)]
KINDS = ("LMDBDataset", "ExperimentalLMDBDataset")


def path(name):
    return str(CORPUS / name)


def pairs(files, kind="LMDBDataset", types=(tf.string, tf.string)):
    """The elements of the data set."""
    with tf.Graph().as_default(), tf.Session() as sess:
        shapes = [[]] * len(types)
        made = getattr(tf.raw_ops, kind)(filenames=files, output_types=list(types), output_shapes=shapes)
        data = tf.data.experimental.from_variant(made, tuple(tf.TensorSpec(s, t) for s, t in zip(shapes, types)))
        iterator, found = tf.data.make_initializable_iterator(data), []
        element = iterator.get_next()
        sess.run(iterator.initializer)
        while True:
            try:
                found.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_set_has_all_pairs_in_order(kind):
    assert pairs(path("tree"), kind) == TREE
    assert pairs([path("small"), path("empty"), path("tree")], kind) == SMALL + TREE
    assert pairs(path("empty"), kind) == []


def test_a_folder_stands_for_its_file(tmp_path):
    (tmp_path / "data.mdb").write_bytes((CORPUS / "small").read_bytes())
    assert pairs(str(tmp_path)) == SMALL


@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_has_the_ops_but_not_the_library(kind):
    with oracle.Graph().as_default(), oracle.Session() as sess, pytest.raises(oracle.errors.UnimplementedError):
        sess.run(getattr(oracle.raw_ops, kind)(filenames=path("tree"), output_types=[oracle.string] * 2, output_shapes=[[], []]))


def test_wrong_arguments_are_errors(tmp_path):
    (tmp_path / "text").write_text("this is no database" * 300)
    for files, error in ((str(tmp_path / "none"), tf.errors.NotFoundError), ([[path("tree")]], tf.errors.InvalidArgumentError),
                         (str(tmp_path / "text"), tf.errors.InvalidArgumentError)):
        with pytest.raises(error):
            pairs(files)
    with pytest.raises(tf.errors.InvalidArgumentError, match="two strings"):
        pairs(path("tree"), types=(tf.string,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="two strings"):
        pairs(path("tree"), types=(tf.string, tf.int64))


def test_several_values_for_a_key_are_an_error(tmp_path):
    data = bytearray((CORPUS / "small").read_bytes())
    for page in (0, 4096):
        struct.pack_into("<H", data, page + 92, 4)  # MDB_DUPSORT
    (tmp_path / "several").write_bytes(data)
    with pytest.raises(tf.errors.UnimplementedError, match="MDB_DUPSORT"):
        pairs(str(tmp_path / "several"))


def test_damage_is_an_error_and_ends_the_walk(tmp_path):
    whole = (CORPUS / "tree").read_bytes()
    root = max((struct.unpack_from("<QQ", whole, page + 128)[::-1] + (page,) for page in (0, 4096)), key=lambda m: m[0])[1]
    circle = bytearray(whole)  # every node of the root leads to the root
    count = (struct.unpack_from("<H", whole, root * 4096 + 12)[0] - 16) // 2
    assert count > 1 and whole[root * 4096 + 10] == 1
    for i in range(count):
        at, = struct.unpack_from("<H", whole, root * 4096 + 16 + 2 * i)
        struct.pack_into("<HHH", circle, root * 4096 + at, root, 0, 0)
    outside = bytearray(whole)
    struct.pack_into("<H", outside, root * 4096 + 16, 4095)
    for name, data in (("circle", circle), ("outside", outside), ("short", whole[:3 * 4096])):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(tf.errors.DataLossError, match="damaged LMDB file"):
            pairs(str(tmp_path / name))


def asked(reader, queue):
    key_and_value = reader.read(queue)
    return key_and_value, reader.read_up_to(queue, 300), [reader.num_records_produced(), reader.num_work_units_completed()]


def test_a_reader_has_all_pairs_of_one_file_after_another():
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(9, tf.string)
        reader = tf.LMDBReader(name="r", options=None)
        one, many, counts = asked(reader, queue)
        reset, state = reader.reset(), reader.serialize_state()
        sess.run([queue.enqueue_many([[path("small"), path("tree")]])])
        sess.run(queue.close())
        assert sess.run(one) == SMALL[0]
        assert [v.tolist() for v in sess.run(many)] == [[b"two"], [b"2" * 3000]]
        keys, values = sess.run(many)
        assert list(zip(keys, values)) == TREE
        assert sess.run(counts) == [len(SMALL) + len(TREE), 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(one)
        with pytest.raises(tf.errors.UnimplementedError):
            sess.run(state)
        sess.run(reset)
        assert sess.run(counts) == [0, 0]
        assert not reader.supports_serialize


def test_a_reader_adds_the_nodes_that_tensorflow_adds():
    graphs = []
    for system in (tf, oracle):
        with system.Graph().as_default() as graph:
            reader = system.LMDBReader("r")
            asked(reader, system.FIFOQueue(9, system.string))
            reader.reset(), reader.serialize_state(), reader.restore_state(b"x")
            graphs.append([(n.name, n.op, list(n.input)) for n in graph.as_graph_def().node])
    assert graphs[0] == graphs[1]
