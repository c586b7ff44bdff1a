"""Input of 2016: queues, readers, joins, bucketed padding, and a Coordinator."""
import os
import threading
import numpy as np
import tensorflow as tf

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_string('data_dir', 'queue_data', 'where')
tf.app.flags.DEFINE_integer('batch_size', 4, 'size')
tf.app.flags.DEFINE_boolean('verbose', True, 'print')
tf.app.flags.DEFINE_list('names', 'a,b', 'list')
tf.app.flags.DEFINE_enum('mode', 'train', ['train', 'test'], 'mode')


def make_files():
    if not tf.gfile.IsDirectory(FLAGS.data_dir):
        tf.gfile.MakeDirs(FLAGS.data_dir)
    for shard in range(3):
        options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
        with tf.python_io.TFRecordWriter(os.path.join(FLAGS.data_dir, 'part-%d.gz' % shard), options) as w:
            for i in range(4):
                seq = tf.train.SequenceExample()
                seq.context.feature['id'].int64_list.value.append(shard * 10 + i)
                fl = seq.feature_lists.feature_list['tokens']
                for t in range(i + 1):
                    fl.feature.add().int64_list.value.append(t + shard)
                w.write(seq.SerializeToString())
    with open(os.path.join(FLAGS.data_dir, 'fixed.bin'), 'wb') as f:
        f.write(b'HEAD' + bytes(bytearray(range(30))))
    with open(os.path.join(FLAGS.data_dir, 'lines.csv'), 'w') as f:
        f.write('h1,h2\n' + ''.join('%d,%s\n' % (i, 'xyz'[i % 3]) for i in range(6)))


def sequences():
    files = tf.train.match_filenames_once(os.path.join(FLAGS.data_dir, 'part-*.gz'))
    queue = tf.train.string_input_producer(files, shuffle=False, num_epochs=1)
    reader = tf.TFRecordReader(options=tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP))
    _, record = reader.read(queue)
    context, seq = tf.parse_single_sequence_example(record, {'id': tf.FixedLenFeature([], tf.int64)},
                                                    {'tokens': tf.FixedLenSequenceFeature([], tf.int64)})
    return tf.train.batch([context['id'], seq['tokens'], tf.shape(seq['tokens'])[0]], FLAGS.batch_size, num_threads=1,
                          dynamic_pad=True, allow_smaller_final_batch=True)


def main(argv):
    make_files()
    ids, tokens, lengths = sequences()
    queue = tf.train.string_input_producer([os.path.join(FLAGS.data_dir, 'fixed.bin')], num_epochs=1, name='bin')
    key, value = tf.FixedLengthRecordReader(record_bytes=10, header_bytes=4).read(queue)
    raw = tf.reshape(tf.decode_raw(value, tf.uint8), [2, 5])
    lines = tf.train.string_input_producer([os.path.join(FLAGS.data_dir, 'lines.csv')], num_epochs=1)
    lkey, text = tf.TextLineReader(skip_header_lines=1).read(lines)
    number, letter = tf.decode_csv(text, [[0], ['']])
    rows = tf.train.slice_input_producer([np.arange(12).reshape(6, 2), tf.constant(list('abcdef'))], num_epochs=1, shuffle=False)
    pairs = tf.train.batch_join([rows, rows], 3, allow_smaller_final_batch=True)
    counts = tf.train.range_input_producer(5, shuffle=False, num_epochs=1).dequeue()
    limited = tf.train.limit_epochs(tf.constant('tick'), num_epochs=2)
    kept = tf.train.maybe_batch([counts], tf.less(counts, 3), 2, allow_smaller_final_batch=True)
    pq = tf.PriorityQueue(10, [tf.string], [[]])
    padded = tf.PaddingFIFOQueue(10, [tf.int32], [[None]])
    put = [padded.enqueue([[1, 2, 3]]), padded.enqueue([[4]]), pq.enqueue_many([tf.constant([5, 1, 3], tf.int64), ['five', 'one', 'three']])]
    shuffled = tf.RandomShuffleQueue(20, 0, [tf.int32], [[]], seed=3)
    fill = shuffled.enqueue_many([tf.range(8)])
    whole_q = tf.train.string_input_producer([os.path.join(FLAGS.data_dir, 'lines.csv')], num_epochs=1)
    wkey, whole = tf.WholeFileReader().read(whole_q)
    runners = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    print('runners', len(runners), sorted(r.name for r in runners)[:3])
    with tf.Session() as sess:
        sess.run(tf.group(tf.global_variables_initializer(), tf.local_variables_initializer()))
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        try:
            while not coord.should_stop():
                i, t, l = sess.run([ids, tokens, lengths])
                print('batch', i.tolist(), t.tolist(), l.tolist())
        except tf.errors.OutOfRangeError:
            print('epoch done')
        try:
            while True:
                k, r = sess.run([key, raw])
                print('record', os.path.basename(k.decode()), r.tolist())
        except tf.errors.OutOfRangeError as e:
            print('binary done', type(e).__name__, e.error_code == tf.errors.OUT_OF_RANGE)
        got = []
        try:
            while True:
                n, c, k = sess.run([number, letter, lkey])
                got.append((int(n), c.decode(), os.path.basename(k.decode())))
        except tf.errors.OutOfRangeError:
            print(got)
        seen = []
        try:
            while True:
                a, b = sess.run(pairs)
                seen += [(x.tolist(), y.decode()) for x, y in zip(a, b)]
        except tf.errors.OutOfRangeError:
            print(sorted(seen))
        print([sess.run(limited) for _ in range(2)])
        print(sess.run(kept).tolist() if not isinstance(kept, list) else [k.tolist() for k in sess.run(kept)])
        sess.run(put)
        print(sorted(sess.run(padded.dequeue_many(2)).tolist()), [sess.run(pq.dequeue()) for _ in range(3)])
        sess.run(fill)
        print(sess.run(shuffled.size()), sorted(sess.run(shuffled.dequeue_up_to(8)).tolist()))
        k, w = sess.run([wkey, whole])
        print(os.path.basename(k.decode()), len(w))
        sess.run(padded.close(cancel_pending_enqueues=True))
        try:
            sess.run(padded.dequeue())
        except tf.errors.OutOfRangeError as e:
            print('closed', 'is closed and has insufficient elements' in e.message)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
        print('joined', coord.joined, FLAGS.names, FLAGS.mode)


if __name__ == '__main__':
    tf.app.run()
