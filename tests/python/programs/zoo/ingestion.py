"""tf.data ingestion: TFRecords with sequences, shards, vocabularies, padded batches, feedable iterators, py_func."""
import os

import numpy as np
import tensorflow as tf

WORDS = "the quick brown fox jumps over the lazy dog and runs far away".split()


def feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def write(shards=3, each=7):
    rng = np.random.RandomState(0)
    for s in range(shards):
        with tf.python_io.TFRecordWriter("data-%05d-of-%05d.tfrecord" % (s, shards)) as writer:
            for i in range(each):
                words = [WORDS[j].encode() for j in rng.randint(0, len(WORDS), rng.randint(1, 6))]
                example = tf.train.Example(features=tf.train.Features(feature={
                    "words": feature(words), "label": feature([int(i % 3)]), "weight": feature([float(s) + 0.5])}))
                writer.write(example.SerializeToString())
                if i == 2:
                    sequence = tf.train.SequenceExample(
                        context=tf.train.Features(feature={"length": feature([len(words)])}),
                        feature_lists=tf.train.FeatureLists(feature_list={
                            "steps": tf.train.FeatureList(feature=[feature([k, k * k]) for k in range(len(words))])}))
                    with tf.python_io.TFRecordWriter("sequence-%d.tfrecord" % s) as other:
                        other.write(sequence.SerializeToString())


def parse(record):
    parsed = tf.parse_single_example(record, {
        "words": tf.VarLenFeature(tf.string), "label": tf.FixedLenFeature([], tf.int64),
        "weight": tf.FixedLenFeature([], tf.float32, default_value=1.0),
        "missing": tf.FixedLenFeature([2], tf.int64, default_value=[7, 8])})
    return tf.sparse_tensor_to_dense(parsed["words"], default_value=""), parsed["label"], parsed["weight"], parsed["missing"]


def parse_sequence(record):
    context, lists = tf.parse_single_sequence_example(
        record, context_features={"length": tf.FixedLenFeature([], tf.int64)},
        sequence_features={"steps": tf.FixedLenSequenceFeature([2], tf.int64)})
    return context["length"], lists["steps"]


def input_fn(pattern, table, batch=4, training=True):
    files = tf.data.Dataset.list_files(pattern, shuffle=False)
    dataset = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=2)
    dataset = dataset.map(parse, num_parallel_calls=2)
    dataset = dataset.filter(lambda words, label, weight, missing: tf.not_equal(label, 1))
    dataset = dataset.map(lambda words, label, weight, missing: (
        {"ids": table.lookup(words), "length": tf.size(words), "weight": weight + tf.to_float(missing[0])}, label))
    if training:
        dataset = dataset.apply(tf.data.experimental.shuffle_and_repeat(8, 2, seed=5))
    dataset = dataset.padded_batch(batch, padded_shapes=({"ids": [None], "length": [], "weight": []}, []),
                                   padding_values=({"ids": tf.constant(-1, tf.int64), "length": 0, "weight": 0.0},
                                                   tf.constant(0, tf.int64)))
    return dataset.prefetch(1)


def main(_):
    write()
    with open("vocabulary.txt", "w") as f:
        f.write("\n".join(sorted(set(WORDS))))
    tf.set_random_seed(3)
    table = tf.contrib.lookup.index_table_from_file("vocabulary.txt", num_oov_buckets=1) if hasattr(tf, "contrib") else \
        tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            "vocabulary.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER), 1)
    train, valid = input_fn("data-*.tfrecord", table), input_fn("data-00001*", table, 3, False)
    handle = tf.placeholder(tf.string, shape=[])
    iterator = tf.data.Iterator.from_string_handle(handle, tf.data.get_output_types(train),
                                                   tf.data.get_output_shapes(train))
    features, labels = iterator.get_next()
    train_it = tf.data.make_initializable_iterator(train)
    valid_it = tf.data.make_initializable_iterator(valid)
    embedding = tf.get_variable("embedding", [16, 4], initializer=tf.random_uniform_initializer(-1, 1, seed=1))
    mask = tf.sequence_mask(features["length"], dtype=tf.float32)[:, :, None]
    embedded = tf.nn.embedding_lookup(embedding, tf.maximum(features["ids"], 0)) * mask
    mean = tf.reduce_sum(embedded, 1) / tf.to_float(features["length"])[:, None]
    total = tf.py_func(lambda m, w: np.float32((m.sum(1) * w).sum()), [mean, features["weight"]], tf.float32)
    steps = tf.data.TFRecordDataset(["sequence-%d.tfrecord" % i for i in range(3)]).map(parse_sequence)
    length, sequence = tf.data.make_one_shot_iterator(steps).get_next()
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        train_handle, valid_handle = sess.run([train_it.string_handle(), valid_it.string_handle()])
        sess.run(train_it.initializer)
        for i in range(3):
            ids, y, t = sess.run([features["ids"], labels, total], {handle: train_handle})
            print("train", ids.shape, y.tolist(), "%.4f" % t)
            sess.run(valid_it.initializer)
            seen = 0
            while True:
                try:
                    seen += len(sess.run(labels, {handle: valid_handle}))
                except tf.errors.OutOfRangeError:
                    break
            print("valid examples", seen)
        for i in range(3):
            n, s = sess.run([length, sequence])
            print("sequence", n, s.tolist())
        try:
            sess.run(length)
        except tf.errors.OutOfRangeError:
            print("end of sequences", sorted(f for f in os.listdir(".") if f.startswith("data-")))


if __name__ == "__main__":
    tf.app.run()
