"""Recipes of checkpoints of objects and of tf.distribute; values.py has the names in them."""
RECIPES = """
# ---- checkpoints of objects ----
tf.train.Checkpoint(v=uses.variable()) ; ; [k for k in tf.train.list_variables(it.save('ckpt', session=uses.session()))]
tf.train.Checkpoint(v=uses.variable()).save('ckpt', session=uses.session()) ; options=tf.train.CheckpointOptions()
tf.train.Checkpoint(v=uses.variable()).write('ckpt', session=uses.session()) ; options=tf.train.CheckpointOptions()
tf.train.CheckpointOptions() ; experimental_io_device='/device:CPU:0', experimental_enable_async_checkpoint=False,
    experimental_write_callbacks=[uses.halve], enable_async=False ; [it.experimental_io_device, it.enable_async]
tf.train.CheckpointManager(tf.train.Checkpoint(v=uses.variable()), 'folder', 2) ; keep_checkpoint_every_n_hours=1,
    checkpoint_name='other', step_counter=3, checkpoint_interval=None, init_fn=str ; [it.directory, it.checkpoints,
    it.checkpoint_interval, uses.managed(it)]
tf.train.CheckpointManager(tf.train.Checkpoint(v=uses.variable()), 'folder', 2, step_counter=3) ;
    checkpoint_interval=2 ; it.checkpoint_interval
tf.contrib.checkpoint.CheckpointableObjectGraph() ; nodes=[tf.contrib.checkpoint.CheckpointableObjectGraph.TrackableObject()] ; str(it)
tf.contrib.checkpoint.List(uses.variable()) ; ; len(it)
tf.contrib.checkpoint.Mapping(a=uses.variable()) ; ; sorted(it)
tf.contrib.checkpoint.NoDependency(uses.variable()) ; value=3 ; str(it.value)
tf.contrib.checkpoint.PythonStateWrapper(str, len) ; save_callback=list, restore_callback=sorted ; [it.serialize(),
    it.deserialize('ba')]
tf.contrib.checkpoint.capture_dependencies(uses.captured()) ; template=tf.Module() ; [uses.entered(it, lambda:
    tf.get_variable('v', [2])), len(uses.captured()._trackable_children())]
tf.contrib.checkpoint.dot_graph_from_checkpoint(tf.train.Checkpoint(v=uses.variable()).save('ckpt',
    session=uses.session()))
tf.contrib.checkpoint.object_metadata(tf.train.Checkpoint(v=uses.variable()).save('ckpt', session=uses.session())) ; ;
    str(it)
tf.contrib.checkpoint.list_objects(tf.train.Checkpoint(v=uses.variable())) ; root=tf.train.Checkpoint() ; len(it)
tf.Module() ; name='given' ; it.name
# ---- tf.distribute ----
tf.variable_creator_scope(uses.creator) ; variable_creator=uses.other_creator ; uses.entered(it, lambda:
    tf.get_variable('v', [2]))
tf.distribute.RunOptions() ; experimental_enable_dynamic_batch_size=False, experimental_bucketizing_dynamic_shape=True,
    experimental_xla_options=3 ; str(it[:2])
tf.distribute.InputContext() ; num_input_pipelines=3, input_pipeline_id=1, num_replicas_in_sync=2 ; [str(it),
    it.num_replicas_in_sync]
tf.distribute.MirroredStrategy(['/cpu:0']) ; devices=['/cpu:0', '/cpu:1'],
    cross_device_ops=tf.distribute.HierarchicalCopyAllReduce() ; it.extended.worker_devices
tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']) ; cross_device_ops=tf.distribute.ReductionToOneDevice('/cpu:1') ;
    uses.summed(it)
tf.distribute.OneDeviceStrategy('/cpu:0') ; device='/cpu:1' ; it.extended.worker_devices
tf.distribute.Strategy(tf.distribute.OneDeviceStrategy('/cpu:0').extended) ;
    extended=tf.distribute.MirroredStrategy(['/cpu:1']).extended ; it.extended.worker_devices
tf.distribute.StrategyExtended(tf.distribute.OneDeviceStrategy('/cpu:0')) ; ; ''
tf.distribute.ReplicaContext(tf.distribute.OneDeviceStrategy('/cpu:0'), 0) ;
    strategy=tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']), replica_id_in_sync_group=0 ; it.num_replicas_in_sync
tf.distribute.ReductionToOneDevice() ; reduce_to_device='/cpu:1', accumulation_fn=None ;
    uses.summed(tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'], it))
tf.distribute.ReductionToOneDevice() ; accumulation_fn=lambda values: values[0] * 2.0 ;
    uses.summed(tf.distribute.MirroredStrategy(['/cpu:0', '/cpu:1'], it))
tf.distribute.HierarchicalCopyAllReduce() ; num_packs=-1 ; ''
tf.distribute.NcclAllReduce() ; num_packs=-1 ; ''
tf.distribute.experimental_set_strategy(None) ; strategy=None ; str(tf.distribute.has_strategy())
tf.distribute.experimental.CommunicationOptions() ; bytes_per_pack=-1, timeout_seconds=3.0,
    implementation=tf.distribute.experimental.CommunicationImplementation.RING ; [it.bytes_per_pack, it.timeout_seconds,
    str(it.implementation)]
tf.distribute.experimental.CollectiveHints() ; bytes_per_pack=5, timeout_seconds=3.0 ; [it.bytes_per_pack,
    it.timeout_seconds]
tf.distribute.experimental.CentralStorageStrategy(['/cpu:0']) ; compute_devices=['/cpu:0', '/cpu:1'],
    parameter_device='/cpu:1' ; [it.extended.worker_devices, it.extended.parameter_devices]
tf.distribute.experimental.ParameterServerStrategy(uses.resolver()) ; cluster_resolver=uses.resolver(1) ;
    uses.entered(it.scope(), lambda: tf.get_variable('v', [2]).device)
tf.distribute.experimental.MultiWorkerMirroredStrategy() ;
    communication=tf.distribute.experimental.CollectiveCommunication.RING, cluster_resolver=uses.resolver(1) ;
    it.num_replicas_in_sync
tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({'worker': ['a:1', 'b:1']})) ; master='m:1',
    task_type='worker', task_id=1, environment='e', num_accelerators={'GPU': 2}, rpc_layer='grpc' ; [it.master(),
    it.master('worker', 0), it.task_type, it.task_id, it.environment, str(it.num_accelerators())]
tf.distribute.cluster_resolver.TFConfigClusterResolver() ; task_type='worker', task_id=1, rpc_layer='grpc',
    environment='e' ; [it.task_type, it.task_id, it.rpc_layer, it.environment, it.master()]
tf.distribute.cluster_resolver.UnionResolver(uses.resolver()) ; ; it.cluster_spec().as_dict()
tf.distribute.cluster_resolver.KubernetesClusterResolver(override_client=uses.Pods()) ;
    job_to_label_mapping={'ps': ['a']}, tf_server_port=7, rpc_layer='other' ; [it.cluster_spec().as_dict(),
    it.master(sorted(it.cluster_spec().jobs)[0], 0)]
tf.contrib.distribute.MirroredStrategy(['/cpu:0']) ; devices=['/cpu:0', '/cpu:1'] ; it.extended.worker_devices
tf.contrib.distribute.MirroredStrategy(['/cpu:0']) ; num_gpus=2, num_gpus_per_worker=2, auto_shard_dataset=True ; ''
tf.contrib.distribute.MirroredStrategy(['/cpu:0', '/cpu:1']) ;
    cross_device_ops=tf.distribute.ReductionToOneDevice('/cpu:1') ; uses.summed(it)[0]
tf.contrib.distribute.ParameterServerStrategy() ; num_gpus_per_worker=99 ; it.extended.worker_devices
tf.contrib.distribute.CollectiveAllReduceStrategy() ; num_gpus_per_worker=99,
    communication=tf.distribute.experimental.CollectiveCommunication.RING ; [it.extended.worker_devices,
    str(it._communication)]
tf.distribute.cluster_resolver.SlurmClusterResolver(uses.slurm(), 8888, 2, 1, 1, False) ; port_base=9000, rpc_layer='other',
    jobs={'ps': 1, 'worker': 1} ; [it.cluster_spec().as_dict(), list(it.get_task_info()), it.master()]
tf.distribute.cluster_resolver.GCEClusterResolver('p', 'z', 'g', 1, credentials=None, service=1) ; project='q', zone='y',
    instance_group='h', port=2, task_type='ps', task_id=1, rpc_layer='other', service=None ; [it.task_type, it.task_id,
    it.rpc_layer]
tf.contrib.distribute.DistributeConfig() ; train_distribute=1, eval_distribute=2, remote_cluster=3 ; list(it)
tf.contrib.distribute.CentralStorageStrategy(compute_devices=['/cpu:0']) ; compute_devices=['/cpu:0', '/cpu:1'],
    parameter_device='/cpu:1' ; [it.extended.worker_devices, it.extended.parameter_devices]
# ---- loss scales, models of objects ----
tf.train.experimental.FixedLossScale(8.0) ; loss_scale_value=4.0 ; it.get_config()
tf.train.experimental.DynamicLossScale() ; initial_loss_scale=4.0, increment_period=3, multiplier=3.0 ; it.get_config()
tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), 4.0) ;
    opt=tf.train.AdamOptimizer(0.1), loss_scale='dynamic' ; uses.trained(it)
tf.train.experimental.enable_mixed_precision_graph_rewrite(tf.train.GradientDescentOptimizer(0.1)) ;
    opt=tf.train.AdamOptimizer(0.1), loss_scale=2.0 ; uses.trained(it)
tf.saved_model.SaveOptions() ; namespace_whitelist=['a'], save_debug_info=True, function_aliases={'a': 1},
    experimental_io_device='/cpu:0', experimental_variable_policy='save_variable_devices',
    experimental_custom_gradients=False, experimental_image_format=True, experimental_skip_saver=True ; [str(v) for v in
    [it.namespace_whitelist, it.save_debug_info, it.function_aliases, it.experimental_io_device,
    it.experimental_variable_policy, it.experimental_custom_gradients, it.experimental_image_format,
    it.experimental_skip_saver]]
tf.saved_model.Asset('given') ; path='other' ; [it.asset_path.name, uses.session().run(it.asset_path)[-5:]]
tf.saved_model.signature_def_utils.MethodNameUpdater(uses.saved_folder()) ; export_dir='absent' ; ''
tf.saved_model.contains_saved_model(uses.saved_folder()) ; export_dir='absent'
tf.saved_model.predict_signature_def({'x': X}, {'y': Y}) ; inputs={'z': Y},
    outputs={'z': Y} ; it.SerializeToString()
tf.saved_model.regression_signature_def(tf.constant(['a']), Y) ; examples=tf.constant(['b', 'c']),
    predictions=X[0] ; it.SerializeToString()
tf.saved_model.classification_signature_def(tf.constant(['a']), tf.constant(['a']), Y) ;
    examples=tf.constant(['b', 'c']), classes=tf.constant(['b', 'c']), scores=X[0] ; [[k, it.outputs[k].SerializeToString()]
    for k in sorted(it.outputs)] + [it.inputs['inputs'].SerializeToString()]
tf.saved_model.is_valid_signature(tf.saved_model.predict_signature_def({'x': X}, {'y': Y})) ;
    signature_def=tf.saved_model.build_signature_def()
tf.saved_model.get_tensor_from_tensor_info(tf.saved_model.build_tensor_info(X)) ;
    tensor_info=tf.saved_model.build_tensor_info(Y), graph=tf.Graph(), import_scope='absent'
"""
