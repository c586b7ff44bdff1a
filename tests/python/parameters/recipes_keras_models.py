"""Recipes of tf.keras's models, callbacks, utilities and preprocessing; the calls files compare what models do."""
RECIPES = """
tf.keras.Sequential() ; layers=[tf.keras.layers.Dense(2, input_shape=(3,))] ; [it.name, len(it.layers), it.get_config()]
tf.keras.Model() ; ; it.name
tf.keras.models.clone_model(uses.keras_model()) ; clone_function=uses.keras_copy, input_tensors=tf.ones([2, 3]) ;
    [it.output_shape, [v.name for v in it.weights], [x.name for x in it.inputs]]
tf.keras.models.model_from_config({'class_name': 'Sequential', 'config': uses.keras_model().get_config()}) ;
    custom_objects={'Dense': tf.keras.layers.Dropout} ; it.get_config()
tf.keras.models.model_from_json(uses.keras_model().to_json()) ; custom_objects={'Other': tf.keras.layers.Dropout} ; it.get_config()
tf.keras.models.model_from_yaml('x') ; custom_objects={'a': 3}
tf.keras.models.save_model(tf.keras.Model(), 'model.h5') ; overwrite=True, save_format='h5', signatures={}, options=3 ; it
tf.keras.models.load_model(uses.keras_saved()) ; compile=False, safe_mode=False, custom_objects={'Other': tf.keras.layers.Dropout} ;
    [it.get_config(), it.optimizer is None]
tf.keras.callbacks.BaseLogger() ; stateful_metrics=['a'] ; sorted(it.stateful_metrics)
tf.keras.callbacks.CSVLogger('log') ; separator=';', append=True ; [it.sep, it.filename, it.append]
tf.keras.callbacks.CallbackList([]) ; add_history=True, callbacks=[tf.keras.callbacks.History()], model=uses.keras_model(),
    add_progbar=True ; [type(c).__name__ for c in it.callbacks]
tf.keras.callbacks.EarlyStopping() ; mode='max', restore_best_weights=True, baseline=0.5, monitor='acc' ;
    [it.monitor, float(it.min_delta), it.patience, it.verbose, it.baseline, it.restore_best_weights, it.start_from_epoch]
tf.keras.callbacks.LambdaCallback() ; on_epoch_begin=uses.halve, on_epoch_end=uses.halve, on_batch_begin=uses.halve,
    on_batch_end=uses.halve, on_train_begin=uses.halve, on_train_end=uses.halve ; sorted(k for k in vars(it) if k[:2] == 'on')
tf.keras.callbacks.LearningRateScheduler(uses.halve) ; ; it.verbose
tf.keras.callbacks.ModelCheckpoint('path') ; mode='max', save_freq=3, initial_value_threshold=0.5, monitor='acc', options=3 ;
    [it.monitor, it.verbose, it.save_best_only, it.save_weights_only, it.best, it.save_freq, it.monitor_op.__name__, it.filepath]
tf.keras.callbacks.ProgbarLogger() ; count_mode='steps', stateful_metrics=['a'] ; [it.use_steps, sorted(it.stateful_metrics or [])]
tf.keras.callbacks.ReduceLROnPlateau() ; mode='max', monitor='acc' ; [it.monitor, it.factor, it.patience, it.verbose, it.mode,
    it.min_delta, it.cooldown, it.min_lr, it.best]
tf.keras.callbacks.RemoteMonitor() ; root='a', path='b', field='c', headers={'a': 'b'}, send_as_json=True ;
    [it.root, it.path, it.field, it.headers, it.send_as_json]
tf.keras.callbacks.TensorBoard() ; log_dir='other', histogram_freq=1, batch_size=3, write_graph=False, write_grads=True,
    write_images=True, update_freq='batch', profile_batch=0, embeddings_layer_names=['a'], embeddings_metadata='a',
    embeddings_data=[1.0], embeddings_freq=0 ;
    [it.log_dir, it.histogram_freq, it.batch_size, it.write_graph, it.write_grads, it.write_images, it.update_freq]
tf.keras.utils.CustomObjectScope({'given': 3}) ; ; uses.entered(it, lambda: 'given')
tf.keras.utils.DeterministicRandomTestTool() ; seed=3, mode='num_random_ops' ; [it.operation_seed, uses.keras_seeds(it), it.operation_seed]
tf.keras.utils.Progbar(10) ; target=5, width=10, verbose=2, interval=0.0, stateful_metrics=['a'], unit_name='x' ;
    [it.target, it.width, it.verbose, it.interval, sorted(it.stateful_metrics), it.unit_name]
tf.keras.utils.GeneratorEnqueuer(iter([1])) ; random_seed=3 ; it.use_multiprocessing
tf.keras.utils.OrderedEnqueuer([1, 2]) ; ; [it.use_multiprocessing, it.shuffle]
tf.keras.utils.SequenceEnqueuer([1, 2]) ; ; 'abstract'
tf.keras.utils.get_registered_name(uses.keras_model) ; obj=tf.keras.layers.Dense
tf.keras.utils.get_registered_object('a') ; custom_objects={'a': 3}, module_objects={'a': 4}
tf.keras.utils.register_keras_serializable('mine') ; package='other', name='given' ; callable(it)
tf.keras.utils.serialize_keras_object(None)
tf.keras.utils.legacy.deserialize_keras_object('a', {'a': 'x', 'b': 'y'}) ; identifier='b',
    module_objects={'a': 'z'}, custom_objects={'a': 'w'}
tf.keras.utils.legacy.deserialize_keras_object('c', {'a': 'x'}) ; printable_module_name='thing'
tf.keras.utils.get_file('name', 'file:///none/there', cache_dir='cache')
tf.keras.utils.get_file('name', 'file://' + uses.here(uses.written('given')), cache_dir='cache') ; cache_dir='other',
    cache_subdir='sub', extract=True,
    file_hash='0', md5_hash='0', hash_algorithm='md5', archive_format='zip', untar=False ; uses.base(it)
tf.keras.utils.get_source_inputs(uses.keras_model().output) ; node_index=0, layer=tf.keras.layers.Dense(2) ; len(it)
tf.keras.utils.plot_model(uses.keras_model()) ; to_file='b.png', show_shapes=True, show_dtype=True, show_layer_names=False,
    rankdir='LR', expand_nested=True, dpi=50, layer_range=['a', 'b'], show_layer_activations=True, show_trainable=True
tf.keras.utils.model_to_dot(uses.keras_model()) ; show_shapes=True, show_dtype=True, show_layer_names=False, rankdir='LR',
    expand_nested=True, dpi=50, layer_range=['a', 'b'], show_layer_activations=True, show_trainable=True, subgraph=True
tf.keras.utils.normalize(arrays.X) ; axis=0, order=1
tf.keras.utils.to_categorical([1, 0, 3]) ; num_classes=5, dtype='int32'
tf.keras.utils.to_ordinal([1, 0, 3]) ; num_classes=5, dtype='int32'
tf.keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4], []]) ; maxlen=2, dtype='float32', padding='post',
    truncating='post', value=7.0
tf.keras.preprocessing.sequence.pad_sequences([[1, 2, 3], [4], []], 2) ; dtype='float32', padding='post', truncating='post'
tf.keras.preprocessing.sequence.make_sampling_table(5) ; sampling_factor=0.1
tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 5, negative_samples=0.0, shuffle=False) ; window_size=1, categorical=True
tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 5, negative_samples=0.0) ; seed=3, shuffle=False,
    sampling_table=[0.0, 0.0, 2.0, 2.0], negative_samples=0.0 ; len(it[0])
tf.keras.preprocessing.sequence.TimeseriesGenerator(np.arange(20), np.arange(20), 4, batch_size=3) ; sampling_rate=2, stride=2,
    start_index=3, end_index=15, reverse=True, batch_size=2, length=3, shuffle=False ; [len(it), it[0], it.get_config()]
tf.keras.preprocessing.sequence.TimeseriesGenerator(np.arange(20), np.arange(20), 4) ; shuffle=True ; it.get_config()
tf.keras.preprocessing.text.text_to_word_sequence('One two, Three') ; filters='t', lower=False, split=','
tf.keras.preprocessing.text.one_hot('One two', 9) ; filters='', lower=False, split=',', analyzer=list ; len(it)
tf.keras.preprocessing.text.hashing_trick('One two', 9, 'md5') ; filters='t', lower=False, split=',', analyzer=list
tf.keras.preprocessing.text.hashing_trick('One two', 9, 'md5') ; hash_function=len
tf.keras.preprocessing.text.tokenizer_from_json(uses.keras_tokenizer(tf.keras.preprocessing.text.Tokenizer()).to_json()) ; ; it.word_index
tf.keras.preprocessing.text.Tokenizer() ; num_words=3, filters='t', lower=False, split='o', char_level=True, oov_token='none',
    analyzer=list ; uses.keras_tokens(it)
tf.keras.datasets.cifar100.load_data('other')
tf.keras.datasets.imdb.load_data(foo=3) ; path='a', num_words=3, maxlen=3
tf.keras.datasets.reuters.load_data(foo=3) ; path='a', num_words=3, maxlen=3
"""
