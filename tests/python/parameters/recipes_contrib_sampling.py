"""Recipes of tf.contrib's queues of examples, predictors and hooks of estimators."""
RECIPES = """
tf.contrib.training.bucket([N[0]], IDS[0], 2, 2, num_threads=1, shapes=[[4]]) ; capacity=9, bucket_capacities=[5, 6],
    dynamic_pad=True, allow_smaller_final_batch=True, keep_input=X[0, 0] < 1, shared_name='given' ; uses.fed(it, 1)
tf.contrib.training.bucket_by_sequence_length(N[0, 0], [N[0]], 2, [2, 5], num_threads=1, shapes=[[4]]) ; capacity=9,
    bucket_capacities=[5, 6, 7], dynamic_pad=True, allow_smaller_final_batch=True, keep_input=X[0, 0] < 1,
    shared_name='given' ; uses.fed(it, 1)
tf.contrib.training.rejection_sample([X], lambda t: tf.constant(1.0), 2, queue_threads=1, prebatch_capacity=16,
    prebatch_threads=1) ; enqueue_many=True, runtime_checks=True ; uses.fed(it, 1)
tf.contrib.training.resample_at_rate([X], tf.constant([1.0, 2.0, 0.0])) ; back_prop=True
tf.contrib.training.stratified_sample([X], IDS[0], [1.0, 0.0], 2, [0.5, 0.5], threads_per_queue=1, enqueue_many=False) ;
    init_probs=None, queue_capacity=5 ; uses.fed(it, 1)
tf.contrib.training.weighted_resample([X], tf.constant([1.0, 2.0, 0.0]), 1.0, seed=3) ; mean_decay=0.5 ; [t.shape for t
    in it[0]]
tf.contrib.training.FeedingQueueRunner(tf.FIFOQueue(3, tf.int32, name='q'), [tf.no_op()], tf.no_op(), tf.no_op(),
    [None], None) ; ; it.name
tf.contrib.predictor.from_saved_model(uses.exported()[1], None, None, None, None, 'serve', None, None) ; ;
    sorted(it.feed_tensors)
tf.contrib.predictor.from_estimator(uses.exported()[0], uses.serving, None, None, None) ; ; sorted(it.feed_tensors)
tf.contrib.predictor.from_contrib_estimator(uses.exported()[0], uses.serving, output_alternative_key=None, graph=None,
    config=None) ; input_alternative_key='a' ; sorted(it.feed_tensors)
tf.estimator.experimental.InMemoryEvaluatorHook(tf.estimator.Estimator(uses.model, 'm'), uses.same, None, None, None) ;
    every_n_iter=0 ; it is not None
tf.estimator.add_metrics(tf.estimator.Estimator(uses.model, 'm'), lambda labels: {}) ; ; it.model_dir
tf.contrib.estimator.binary_classification_head() ; weight_column='w', thresholds=[0.4], label_vocabulary=['a', 'b'],
    loss_reduction='weighted_sum', loss_fn=uses.absolute_loss, name='h' ;
    [it.name, it.loss_reduction, sorted(it.metrics()), uses.head_loss(it)]
tf.contrib.estimator.multi_class_head(3) ; n_classes=4, weight_column='w', label_vocabulary=['a', 'b', 'c'],
    loss_reduction='weighted_sum', loss_fn=uses.absolute_loss, name='h' ;
    [it.name, it.loss_reduction, it.logits_dimension, uses.head_loss(it)]
tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.1), 0.5) ; ; uses.trained(it)
tf.contrib.estimator.forward_features(tf.estimator.Estimator(uses.model, 'm'), 'a', {'a': 1}) ; ; it.model_dir
tf.contrib.estimator.read_eval_metrics('none')
tf.estimator.experimental.make_early_stopping_hook(tf.estimator.Estimator(uses.model, 'm'), lambda: False) ;
    run_every_secs=None, run_every_steps=3 ; it is not None
tf.estimator.experimental.stop_if_higher_hook(tf.estimator.Estimator(uses.model, 'm'), 'loss', 3.0, None, 0) ;
    run_every_secs=None, run_every_steps=3 ; it is not None
tf.estimator.experimental.stop_if_lower_hook(tf.estimator.Estimator(uses.model, 'm'), 'loss', 3.0, None, 0) ;
    run_every_secs=None, run_every_steps=3 ; it is not None
tf.estimator.experimental.stop_if_no_increase_hook(tf.estimator.Estimator(uses.model, 'm'), 'loss', 3, None, 0) ;
    run_every_secs=None, run_every_steps=3 ; it is not None
tf.estimator.experimental.stop_if_no_decrease_hook(tf.estimator.Estimator(uses.model, 'm'), 'loss', 3, None, 0) ;
    run_every_secs=None, run_every_steps=3 ; it is not None
tf.contrib.eager.defun(uses.halve, autograph=False) ; input_signature=[] ; it(X)
tf.contrib.eager.enable_eager_execution(None, None, None)
tf.contrib.eager.run_test_in_graph_and_eager_modes(uses.halve, None, True, True, False) ; ; it(X)
tf.profiler.ProfileOptionBuilder() ; options={'a': 1} ; sorted(it.build())
tf.profiler.Profiler(op_log=None) ; ; it is not None
tf.profiler.profile(op_log=None) ; run_meta=tf.RunMetadata(), cmd='code', options={'output': 'none'} ; it.name
tf.contrib.tfprof.model_analyzer.print_model_analysis(X.graph, op_log=None, tfprof_cmd='scope',
    tfprof_options=tf.profiler.ProfileOptionBuilder.time_and_memory()) ; run_meta=uses.traced(tf.exp(X)),
    tfprof_cmd='code', tfprof_options={'output': 'none'} ; it.name
tf.profiler.GraphNodeProto(name='a') ; ; it.name
tf.profiler.MultiGraphNodeProto(name='a') ; ; it.name
"""
