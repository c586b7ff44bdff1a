"""Text in an input_fn: lookup tables, string ops, ragged and sparse tensors, custom head by hand, predictor, warm start."""
import os, shutil
import numpy as np
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.ERROR)
DIR = os.path.abspath('lookup_model')
shutil.rmtree(DIR, ignore_errors=True)
os.makedirs(DIR)
VOCAB = os.path.join(DIR, 'vocab.txt')
with open(VOCAB, 'w') as f:
    f.write('\n'.join(['good', 'bad', 'movie', 'fine', 'awful', 'plot']) + '\n')
TEXTS = ['good movie', 'bad  movie', 'fine plot good', 'awful plot', 'movie unknownword', 'good fine', 'bad awful bad', 'fine movie plot']
LABELS = ['pos', 'neg', 'pos', 'neg', 'neg', 'pos', 'neg', 'pos']


def input_fn(repeat=1, with_labels=True):
    table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
        VOCAB, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2)
    classes = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['neg', 'pos'], tf.constant([0, 1], tf.int64)), -1)

    def parse(text, label):
        words = tf.string_split([text], ' ', skip_empty=True).values
        words = tf.regex_replace(tf.strings.lower(words), r'[^a-z]', '')
        ids = table.lookup(words)
        return {'ids': ids, 'n': tf.size(ids), 'chars': tf.strings.length(text), 'hash': tf.string_to_hash_bucket_fast(text, 100)}, classes.lookup(label)
    ds = tf.data.Dataset.from_tensor_slices((TEXTS, LABELS)).map(parse).repeat(repeat)
    ds = ds.padded_batch(4, ({'ids': [None], 'n': [], 'chars': [], 'hash': []}, []), ({'ids': np.int64(-1), 'n': 0, 'chars': 0, 'hash': np.int64(0)}, np.int64(0)))
    it = ds.make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, it.initializer)
    return it.get_next()


def model_fn(features, labels, mode, params, config):
    ids = features['ids']
    with tf.variable_scope('bow', reuse=tf.AUTO_REUSE):
        table = tf.get_variable('table', [8, params['dim']], initializer=tf.uniform_unit_scaling_initializer(seed=4) if not params.get('plain') else None)
    idx = tf.where(tf.greater_equal(ids, 0))
    sp = tf.SparseTensor(idx, tf.gather_nd(ids, idx), tf.shape(ids, out_type=tf.int64))
    emb = tf.nn.embedding_lookup_sparse(table, sp, None, combiner='sqrtn')
    ragged = tf.RaggedTensor.from_tensor(ids, padding=-1)
    lengths = tf.cast(ragged.row_lengths(), tf.float32)
    net = tf.concat([emb, tf.expand_dims(lengths, 1)], 1)
    logits = tf.layers.dense(net, 2, kernel_initializer=tf.zeros_initializer(), name='logits')
    pred = {'class_ids': tf.argmax(logits, 1), 'probabilities': tf.nn.softmax(logits), 'hash': features['hash']}
    if mode == tf.estimator.ModeKeys.PREDICT:
        rev = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), ['neg', 'pos']), 'UNK')
        pred['classes'] = rev.lookup(pred['class_ids'])
        return tf.estimator.EstimatorSpec(mode, predictions=pred, export_outputs={
            'serving_default': tf.estimator.export.PredictOutput(pred),
            'classify': tf.estimator.export.ClassificationOutput(scores=pred['probabilities'], classes=None)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    tf.summary.scalar('xent', loss)
    ops = {'acc': tf.metrics.accuracy(labels, pred['class_ids']), 'auc': tf.metrics.auc(labels, pred['probabilities'][:, 1]),
           'pc': tf.metrics.mean_per_class_accuracy(labels, pred['class_ids'], 2)}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=ops)
    opt = tf.train.AdagradOptimizer(0.3)
    update = opt.minimize(loss, tf.train.get_global_step(), aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N)
    hooks = [tf.train.StepCounterHook(every_n_steps=1000), tf.train.CheckpointSaverHook(config.model_dir, save_steps=100)]
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=update, training_hooks=hooks,
                                      scaffold=tf.train.Scaffold(init_fn=lambda scaffold, sess: None))


est = tf.estimator.Estimator(model_fn, os.path.join(DIR, 'a'), tf.estimator.RunConfig(tf_random_seed=2), params={'dim': 3})
est.train(lambda: input_fn(10), steps=20)
r = est.evaluate(lambda: input_fn(), name='dev')
print({k: round(float(v), 4) for k, v in sorted(r.items())})
for p in est.predict(lambda: input_fn()[0], yield_single_examples=True):
    print(p['class_ids'], p['classes'], np.round(p['probabilities'], 3).tolist(), p['hash'])
ws = tf.estimator.WarmStartSettings(os.path.join(DIR, 'a'), vars_to_warm_start='.*table.*|logits/.*')
warm = tf.estimator.Estimator(model_fn, os.path.join(DIR, 'b'), params={'dim': 3, 'plain': True}, warm_start_from=ws)
warm.train(lambda: input_fn(1), max_steps=1)
print(np.round(warm.get_variable_value('logits/bias'), 3).tolist(), sorted(warm.get_variable_names()))


def serving():
    ids = tf.placeholder(tf.int64, [None, None], 'ids')
    return tf.estimator.export.ServingInputReceiver({'ids': ids, 'hash': tf.zeros([tf.shape(ids)[0]], tf.int64)}, {'ids': ids})


out = est.export_saved_model(os.path.join(DIR, 'export'), serving, assets_extra={'vocab.txt': VOCAB}, as_text=True)
print(sorted(os.listdir(os.path.join(out.decode(), 'assets.extra'))), sorted(os.listdir(out.decode())))
with tf.Session(graph=tf.Graph()) as sess:
    m = tf.saved_model.load(sess, ['serve'], out.decode())
    sig = m.signature_def['serving_default']
    print(sess.run(sig.outputs['classes'].name, {sig.inputs['ids'].name: [[0, 2, -1], [1, 4, 1]]}))
    print(tf.saved_model.signature_def_utils.is_valid_signature(sig), sorted(m.signature_def), m.meta_info_def.tags)
rt = tf.ragged.constant([['a', 'bb'], [], ['ccc']])
with tf.Session() as sess:
    print(sess.run(tf.strings.length(rt)))
    print(sess.run([tf.reduce_sum(tf.strings.length(rt), axis=1), rt.to_tensor('x'), tf.concat([rt, rt], 1).row_lengths(), rt.to_sparse().values]))
    t = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    sess.run(t.insert(['a', 'b'], [1, 2]))
    print(sess.run([t.size(), t.lookup(tf.constant(['b', 'z']))]), sorted(sess.run(t.export())[0].tolist()))
