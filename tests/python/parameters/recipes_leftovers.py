"""Recipes of names of tf.debugging, tf.config, tf.estimator and tf.nn that no other file has."""
RECIPES = """
tf.debugging.assert_shapes([(tf.placeholder_with_default(X, None), ('N', 'M'))]) ; data=['d'], summarize=1, message='given'
tf.batch_scatter_update(uses.variable(), [[0], [1]], [[5.0], [6.0]]) ; use_locking=False
tf.estimator.export.EvalOutput(X) ; loss={'a': X}, predictions=Y, metrics={'m': (X, Y)} ;
    sorted(it.as_signature_def({'x': X}).outputs)
tf.estimator.experimental.build_raw_supervised_input_receiver_fn({'x': X}, Y) ; default_batch_size=2 ; uses.received(it)
tf.estimator.experimental.make_stop_at_checkpoint_step_hook(tf.estimator.Estimator(uses.main, 'm'), 5) ;
    wait_after_file_check_secs=1 ; type(it).__name__
tf.nn.static_state_saving_rnn(tf.nn.rnn_cell.BasicRNNCell(3, name='c'), [X, X], uses.kept(), 'h') ; sequence_length=[1, 2, 0],
    scope='given'
tf.config.optimizer.set_experimental_options({'constant_folding': True}) ; options={} ;
    tf.config.optimizer.get_experimental_options()['constant_folding']
tf.config.experimental.enable_tensor_float_32_execution(False) ; enabled=True ;
    tf.config.experimental.tensor_float_32_execution_enabled()
tf.config.experimental.get_memory_info('CPU:0') ; device='CPU:5'
tf.config.experimental.get_memory_usage('CPU:0') ; device='CPU:5'
tf.config.experimental.reset_memory_stats('CPU:0') ; device='CPU:5'
tf.config.experimental.get_device_details(tf.config.experimental.list_physical_devices('CPU')[0])
tf.summary.SummaryDescription() ; type_hint='a' ; it.SerializeToString()
tf.profiler.OpLogProto() ; id_to_string={3: 'a'} ; it.SerializeToString()
"""
