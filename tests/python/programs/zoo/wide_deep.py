"""Wide & deep on a census-like CSV: Estimator, feature columns, exporters, serving with tf.train.Example."""
from __future__ import absolute_import, division, print_function
import os, shutil, glob
import numpy as np
import tensorflow as tf
tf.logging.set_verbosity(tf.logging.ERROR)

_CSV_COLUMNS = ['age', 'workclass', 'education', 'hours', 'gender', 'income']
_CSV_COLUMN_DEFAULTS = [[0], [''], [''], [0.0], [''], ['']]
MODEL = os.path.abspath('census_model')


def write_csv(name, n, seed):
    r = np.random.RandomState(seed)
    with tf.gfile.Open(name, 'w') as f:
        for _ in range(n):
            age = r.randint(17, 80)
            wc = r.choice(['Private', 'State-gov', 'Self-emp', '?'])
            ed = r.choice(['HS-grad', 'Bachelors', 'Masters'])
            hrs = r.randint(10, 80)
            g = r.choice(['Male', 'Female'])
            y = '>50K' if (ed != 'HS-grad') + (age > 40) + (hrs > 45) >= 2 else '<=50K'
            f.write(','.join([str(age), wc, ed, '%.1f' % hrs, g, y]) + '\n')


def build_model_columns():
    fc = tf.feature_column
    age = fc.numeric_column('age', normalizer_fn=lambda x: (tf.to_float(x) - 40.0) / 20.0)
    hours = fc.numeric_column('hours')
    education = fc.categorical_column_with_vocabulary_list('education', ['HS-grad', 'Bachelors', 'Masters'], num_oov_buckets=1)
    workclass = fc.categorical_column_with_hash_bucket('workclass', hash_bucket_size=20)
    gender = fc.categorical_column_with_vocabulary_list('gender', ['Male', 'Female'])
    buckets = fc.bucketized_column(fc.numeric_column('hours'), boundaries=[20, 30, 40, 50, 60])
    wide = [education, workclass, buckets, fc.crossed_column(['education', 'gender'], hash_bucket_size=100),
            fc.crossed_column([buckets, 'workclass'], hash_bucket_size=100)]
    deep = [age, hours, fc.indicator_column(education), fc.embedding_column(workclass, 4, initializer=tf.constant_initializer(0.1)),
            fc.indicator_column(gender)]
    return wide, deep


def input_fn(data_file, num_epochs, shuffle, batch_size):
    def parse_csv(value):
        columns = tf.decode_csv(value, record_defaults=_CSV_COLUMN_DEFAULTS)
        features = dict(zip(_CSV_COLUMNS, columns))
        labels = features.pop('income')
        return features, tf.equal(labels, '>50K')
    dataset = tf.data.TextLineDataset(data_file)
    if shuffle:
        dataset = dataset.shuffle(500, seed=1)
    dataset = dataset.map(parse_csv, num_parallel_calls=2)
    return dataset.repeat(num_epochs).batch(batch_size)


def extra_metrics(labels, predictions):
    return {'rmse': tf.metrics.root_mean_squared_error(tf.cast(tf.reshape(labels, [-1, 1]), tf.float32), predictions['logistic'])}


def main(_):
    shutil.rmtree(MODEL, ignore_errors=True)
    write_csv('train.csv', 400, 1)
    write_csv('test.csv', 100, 2)
    wide, deep = build_model_columns()
    config = tf.estimator.RunConfig(tf_random_seed=5, save_checkpoints_steps=40, keep_checkpoint_max=2,
                                    session_config=tf.ConfigProto(device_count={'GPU': 0}, intra_op_parallelism_threads=1))
    model = tf.estimator.DNNLinearCombinedClassifier(
        model_dir=MODEL, linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[8, 4],
        linear_optimizer=tf.train.FtrlOptimizer(0.05, l1_regularization_strength=0.01),
        dnn_optimizer=lambda: tf.train.ProximalAdagradOptimizer(tf.train.exponential_decay(0.05, tf.train.get_global_step(), 50, 0.9)),
        batch_norm=False, config=config)
    model = tf.estimator.add_metrics(model, extra_metrics)
    spec = tf.feature_column.make_parse_example_spec(wide + deep)
    print(sorted((k, type(v).__name__, str(v.dtype)) for k, v in spec.items()))
    serving = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    exporters = [tf.estimator.BestExporter('best', serving, compare_fn=lambda best_eval_result, current_eval_result: True, exports_to_keep=1),
                 tf.estimator.FinalExporter('final', serving), tf.estimator.LatestExporter('latest', serving, exports_to_keep=2)]
    train_spec = tf.estimator.TrainSpec(lambda: input_fn('train.csv', 20, True, 40), max_steps=120)
    eval_spec = tf.estimator.EvalSpec(lambda: input_fn('test.csv', 1, False, 50), steps=None, start_delay_secs=0, throttle_secs=0,
                                      exporters=exporters)
    result = tf.estimator.train_and_evaluate(model, train_spec, eval_spec)
    metrics = result[0]
    for k in sorted(metrics):
        print('%s: %.3f' % (k, metrics[k]))
    print(sorted(os.listdir(os.path.join(MODEL, 'export'))))
    export = sorted(glob.glob(os.path.join(MODEL, 'export', 'final', '*')))[-1]
    print(sorted(model.get_variable_names()))
    with tf.Session(graph=tf.Graph()) as sess:
        meta = tf.saved_model.loader.load(sess, [tf.saved_model.tag_constants.SERVING], export)
        for key in sorted(meta.signature_def):
            s = meta.signature_def[key]
            print(key, s.method_name, sorted((k, t.name) for k, t in s.outputs.items()))
        sig = meta.signature_def['predict']
        ex = tf.train.Example(features=tf.train.Features(feature={
            'age': tf.train.Feature(float_list=tf.train.FloatList(value=[50.0])),
            'hours': tf.train.Feature(float_list=tf.train.FloatList(value=[60.0])),
            'education': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'Masters'])),
            'workclass': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'Private'])),
            'gender': tf.train.Feature(bytes_list=tf.train.BytesList(value=[b'Male']))}))
        out = sess.run({k: t.name for k, t in sig.outputs.items()},
                       {list(sig.inputs.values())[0].name: [ex.SerializeToString()]})
        print({k: np.round(v, 3).tolist() if v.dtype != object else v.tolist() for k, v in sorted(out.items())})


if __name__ == '__main__':
    tf.app.run(main=main)
