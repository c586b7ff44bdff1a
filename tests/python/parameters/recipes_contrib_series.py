"""Recipes of tf.contrib.timeseries, which TensorFlow 2.15 lacks: each parameter has an effect here."""
RECIPES = """
tf.contrib.timeseries.NumpyReader({'times': [1, 2], 'values': [3.0, 4.0]}) ; data={'times': [5], 'values': [[1.0, 2.0]]},
    read_num_records_hint=7 ; it.read_full()
tf.contrib.timeseries.CSVReader(uses.written('f', '1,2,3\\n4,5,6\\n'), ('times', 'values', 'k')) ;
    filenames=[uses.written('g', '7,8,9\\n')], column_names=('times', 'values', 'values'),
    column_dtypes=(tf.int64, tf.float64, tf.float32), skip_header_lines=1, read_num_records_hint=7 ; it.read_full()
tf.contrib.timeseries.WholeDatasetInputFn(uses.series()) ; time_series_reader=uses.series(3) ; it()[0]
tf.contrib.timeseries.RandomWindowInputFn(uses.series(), 4, 2, shuffle_seed=3) ; time_series_reader=uses.series(30), window_size=3,
    batch_size=3, queue_capacity_multiplier=1, shuffle_min_after_dequeue_multiplier=5, discard_out_of_order=False,
    discard_consecutive_batches_limit=50, jitter=False, num_threads=3, shuffle_seed=5 ; it()[0]
tf.contrib.timeseries.predict_continuation_input_fn(uses.evaluated(), steps=3) ; evaluation=uses.evaluated(7), steps=2,
    times=[5, 6], exogenous_features={'e': [[1.0]]} ; tf.data.make_one_shot_iterator(it()).get_next()
tf.contrib.timeseries.ARModel([5, 3], 3, 2, 1) ; periodicities=7, input_window_size=2, output_window_size=1, num_features=2,
    num_time_buckets=4, loss='squared_loss', hidden_layer_sizes=[3] ; uses.window(it)
tf.contrib.timeseries.ARRegressor(5, 3, 2, 1, model_dir='m') ; periodicities=7, input_window_size=2, output_window_size=1,
    num_features=2, exogenous_feature_columns=[tf.feature_column.numeric_column('x')], num_time_buckets=4, loss='squared_loss',
    hidden_layer_sizes=[3], anomaly_prior_probability=0.1, anomaly_distribution='other', optimizer=tf.train.AdamOptimizer(0.1),
    model_dir='o', config=tf.estimator.RunConfig(tf_random_seed=3) ; uses.series_trained(it)
tf.contrib.timeseries.TimeSeriesRegressor(tf.contrib.timeseries.ARModel(5, 3, 2, 1), model_dir='m') ;
    model=tf.contrib.timeseries.ARModel(5, 2, 2, 1), optimizer=tf.train.AdamOptimizer(0.1), model_dir='o',
    config=tf.estimator.RunConfig(tf_random_seed=3) ; uses.series_trained(it)
tf.contrib.timeseries.saved_model_utils.predict_continuation(uses.evaluated(), uses.continued(), uses.session(), 3) ;
    continue_from=uses.evaluated(7), signatures=uses.continued(3), steps=2, times=[5, 6], exogenous_features={'e': [1.0]}
"""
