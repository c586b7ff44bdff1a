"""Maps the modules of tensorflow.python to public names of this package.

An entry has the module, without "tensorflow.python.", and its names. PATH is a public name whose last part is the name
in the module; NAME=PATH gives another name in the module. modules.py adds the modules that exist only here.

An entry has the module, without "tensorflow.python.", and its names: PATH is a public name whose last part is the
module's name for it, and NAME=PATH one that the module calls otherwise.  modules.py adds the modules that are only
here.
"""
import pkgutil

PREFIX = "tensorflow.python."
ALIASES = {
    "autograph": "autograph.experimental.do_not_convert",
    "autograph.impl.api": "autograph.experimental.do_not_convert",
    "autograph.utils.ag_logging": "autograph.set_verbosity autograph.trace",
    "checkpoint.checkpoint": "train.Checkpoint CheckpointV1=train.Checkpoint",
    "checkpoint.checkpoint_management": (
        "train.CheckpointManager train.checkpoint_exists train.generate_checkpoint_state_proto "
        "train.get_checkpoint_mtimes train.get_checkpoint_state train.latest_checkpoint train.remove_checkpoint "
        "train.update_checkpoint_state"),
    "checkpoint.checkpoint_options": "train.CheckpointOptions",
    "client.client_lib": "InteractiveSession OpError=errors.OpError Session",
    "compat.v2_compat": "disable_v2_behavior enable_v2_behavior",
    "data.experimental.ops.counter": "data.experimental.Counter CounterV1=data.experimental.Counter",
    "data.experimental.ops.distribute_options": (
        "data.experimental.AutoShardPolicy data.experimental.DistributeOptions"),
    "data.experimental.ops.from_list": "data.experimental.from_list",
    "data.experimental.ops.interleave_ops": (
        "choose_from_datasets_v1=data.experimental.choose_from_datasets "
        "sample_from_datasets_v1=data.experimental.sample_from_datasets"),
    "data.experimental.ops.lookup_ops": (
        "data.experimental.DatasetInitializer data.experimental.index_table_from_dataset "
        "data.experimental.table_from_dataset"),
    "data.experimental.ops.optimization_options": "data.experimental.OptimizationOptions",
    "data.experimental.ops.pad_to_cardinality": "data.experimental.pad_to_cardinality",
    "data.experimental.ops.parsing_ops": "data.experimental.parse_example_dataset",
    "data.experimental.ops.random_ops": "RandomDatasetV1=data.experimental.RandomDataset",
    "data.experimental.ops.readers": (
        "CsvDatasetV1=data.experimental.CsvDataset SqlDatasetV1=data.experimental.SqlDataset "
        "make_batched_features_dataset_v1=data.experimental.make_batched_features_dataset "
        "make_csv_dataset_v1=data.experimental.make_csv_dataset"),
    "data.experimental.ops.threading_options": "data.experimental.ThreadingOptions",
    "data.ops.dataset_ops": (
        "DatasetV1=data.Dataset DatasetV1Adapter=data.Dataset DatasetV2=data.Dataset data.experimental.from_variant "
        "get_legacy_output_classes=data.get_output_classes get_legacy_output_shapes=data.get_output_shapes "
        "get_legacy_output_types=data.get_output_types data.experimental.get_structure data.experimental.to_variant"),
    "data.ops.iterator_ops": "data.experimental.get_next_as_optional",
    "data.ops.optional_ops": "data.experimental.Optional OptionalSpec",
    "data.ops.options": (
        "data.experimental.AutoShardPolicy data.experimental.AutotuneAlgorithm data.experimental.AutotuneOptions "
        "data.experimental.DistributeOptions data.experimental.ExternalStatePolicy data.experimental.OptimizationOptions "
        "data.Options data.ThreadingOptions"),
    "data.ops.readers": (
        "FixedLengthRecordDatasetV1=data.FixedLengthRecordDataset TFRecordDatasetV1=data.TFRecordDataset "
        "TFRecordDatasetV2=data.TFRecordDataset TextLineDatasetV1=data.TextLineDataset "
        "TextLineDatasetV2=data.TextLineDataset"),
    "data.util.random_seed": "get_seed=_core.ops.random_ops.get_seed",
    "data.util.structure": (
        "_RaggedTensorStructure=data.experimental.RaggedTensorStructure "
        "_SparseTensorStructure=data.experimental.SparseTensorStructure "
        "_TensorArrayStructure=data.experimental.TensorArrayStructure _TensorStructure=data.experimental.TensorStructure"),
    "distribute.central_storage_strategy": (
        "distribute.experimental.CentralStorageStrategy "
        "CentralStorageStrategyV1=distribute.experimental.CentralStorageStrategy"),
    "distribute.cluster_resolver.cluster_resolver": (
        "distribute.cluster_resolver.ClusterResolver distribute.cluster_resolver.SimpleClusterResolver "
        "UnionClusterResolver=distribute.cluster_resolver.UnionResolver"),
    "distribute.cluster_resolver.gce_cluster_resolver": "distribute.cluster_resolver.GCEClusterResolver",
    "distribute.cluster_resolver.kubernetes_cluster_resolver": (
        "distribute.cluster_resolver.KubernetesClusterResolver"),
    "distribute.cluster_resolver.slurm_cluster_resolver": "distribute.cluster_resolver.SlurmClusterResolver",
    "distribute.cluster_resolver.tfconfig_cluster_resolver": "distribute.cluster_resolver.TFConfigClusterResolver",
    "distribute.collective_all_reduce_strategy": (
        "CollectiveAllReduceStrategy=distribute.experimental.MultiWorkerMirroredStrategy "
        "CollectiveAllReduceStrategyV1=distribute.experimental.MultiWorkerMirroredStrategy"),
    "distribute.collective_util": (
        "distribute.experimental.CollectiveCommunication distribute.experimental.CommunicationImplementation "
        "Hints=distribute.experimental.CollectiveHints _OptionsExported=distribute.experimental.CommunicationOptions"),
    "distribute.distribute_lib": (
        "ReplicaContextV1=distribute.ReplicaContext StrategyExtendedV1=distribute.StrategyExtended "
        "get_distribution_strategy=distribute.get_strategy has_distribution_strategy=distribute.has_strategy"),
    "distribute.distribute_utils": "distribute.get_loss_reduction",
    "distribute.mirrored_strategy": "MirroredStrategyV1=distribute.MirroredStrategy",
    "distribute.one_device_strategy": "OneDeviceStrategyV1=distribute.OneDeviceStrategy",
    "distribute.parameter_server_strategy": (
        "distribute.experimental.ParameterServerStrategy "
        "ParameterServerStrategyV1=distribute.experimental.ParameterServerStrategy"),
    "estimator.canned.dnn": "estimator.experimental.dnn_logit_fn_builder",
    "estimator.canned.kmeans": "KMeansClustering=estimator.experimental.KMeans",
    "estimator.canned.linear": "estimator.experimental.linear_logit_fn_builder",
    "estimator.canned.optimizers": "get_optimizer_instance=_core.estimator.canned._optimizer",
    "estimator.canned.parsing_utils": (
        "estimator.classifier_parse_example_spec estimator.regressor_parse_example_spec"),
    "estimator.early_stopping": (
        "estimator.experimental.make_early_stopping_hook estimator.experimental.stop_if_higher_hook "
        "estimator.experimental.stop_if_lower_hook estimator.experimental.stop_if_no_decrease_hook "
        "estimator.experimental.stop_if_no_increase_hook"),
    "estimator.estimator": "VocabInfo=train.VocabInfo estimator.WarmStartSettings",
    "estimator.export.export": "estimator.experimental.build_raw_supervised_input_receiver_fn",
    "estimator.extenders": "estimator.add_metrics",
    "estimator.head.base_head": "estimator.Head",
    "estimator.head.binary_class_head": "estimator.BinaryClassHead",
    "estimator.head.multi_class_head": "estimator.MultiClassHead",
    "estimator.head.multi_head": "estimator.MultiHead",
    "estimator.head.multi_label_head": "estimator.MultiLabelHead",
    "estimator.head.regression_head": (
        "estimator.LogisticRegressionHead estimator.PoissonRegressionHead estimator.RegressionHead"),
    "estimator.hooks": "estimator.experimental.InMemoryEvaluatorHook",
    "estimator.hooks.basic_session_run_hooks": (
        "train.CheckpointSaverHook train.FeedFnHook train.FinalOpsHook train.GlobalStepWaiterHook train.LoggingTensorHook "
        "train.NanTensorHook train.ProfilerHook train.StepCounterHook train.StopAtStepHook train.SummarySaverHook"),
    "estimator.hooks.hooks": (
        "estimator.experimental.InMemoryEvaluatorHook estimator.experimental.make_stop_at_checkpoint_step_hook"),
    "estimator.hooks.session_run_hook": (
        "train.SessionRunArgs train.SessionRunContext train.SessionRunHook train.SessionRunValues"),
    "estimator.keras": "keras.estimator.model_to_estimator",
    "estimator.model_fn": "estimator.experimental.call_logit_fn",
    "feature_column.feature_column": "_EmbeddingColumn=_core.nn.feature_column.EmbeddingColumn",
    "feature_column.feature_column_v2": "EmbeddingColumn=_core.nn.feature_column.EmbeddingColumn",
    "framework.config": (
        "config.experimental.enable_tensor_float_32_execution config.experimental.get_device_details "
        "config.threading.get_inter_op_parallelism_threads config.threading.get_intra_op_parallelism_threads "
        "config.get_logical_device_configuration config.experimental.get_memory_growth "
        "get_optimizer_experimental_options=config.optimizer.get_experimental_options "
        "get_optimizer_jit=config.optimizer.get_jit config.get_soft_device_placement "
        "config.experimental.get_visible_devices config.experimental.list_logical_devices "
        "config.experimental.list_physical_devices config.threading.set_inter_op_parallelism_threads "
        "config.threading.set_intra_op_parallelism_threads config.set_logical_device_configuration "
        "config.experimental.set_memory_growth "
        "set_optimizer_experimental_options=config.optimizer.set_experimental_options "
        "set_optimizer_jit=config.optimizer.set_jit config.set_soft_device_placement "
        "config.experimental.set_visible_devices config.experimental.tensor_float_32_execution_enabled"),
    "framework.constant_op": "constant_v1=constant",
    "framework.convert_to_constants": "graph_util.convert_variables_to_constants",
    "framework.device_spec": "DeviceSpec DeviceSpecV1=DeviceSpec",
    "framework.graph_util_impl": (
        "convert_variables_to_constants=graph_util.convert_variables_to_constants graph_util.extract_sub_graph "
        "graph_util.must_run_on_cpu graph_util.remove_training_nodes graph_util.tensor_shape_from_node_def_name"),
    "framework.meta_graph": (
        "export_scoped_meta_graph=train.export_meta_graph import_scoped_meta_graph=train.import_meta_graph"),
    "framework.ops": (
        "_colocate_with=colocate_with disable_eager_execution enable_eager_execution executing_eagerly_outside_functions "
        "is_symbolic_tensor name_scope_v1=keras.backend.name_scope no_gradient op_scope"),
    "framework.stack": "get_default_session",
    "framework.tensor": "Tensor TensorSpec disable_tensor_equality enable_tensor_equality",
    "framework.tensor_conversion": "convert_to_tensor_v1_with_dispatch=convert_to_tensor",
    "framework.tensor_conversion_registry": "register_tensor_conversion_function",
    "framework.tensor_shape": (
        "TensorShapeV1=TensorShape as_dimension=Dimension dimension_at_index dimension_value disable_v2_tensorshape "
        "enable_v2_tensorshape"),
    "framework.tensor_util": "MakeNdarray=make_ndarray is_tf_type=is_tensor",
    "framework.test_util": "assert_equal_graph_def_v1=test.assert_equal_graph_def test.create_local_cluster",
    "framework.versions": (
        "COMPILER_VERSION=version.COMPILER_VERSION GIT_VERSION=version.GIT_VERSION "
        "GRAPH_DEF_VERSION=version.GRAPH_DEF_VERSION "
        "GRAPH_DEF_VERSION_MIN_CONSUMER=version.GRAPH_DEF_VERSION_MIN_CONSUMER "
        "GRAPH_DEF_VERSION_MIN_PRODUCER=version.GRAPH_DEF_VERSION_MIN_PRODUCER VERSION=version.VERSION "
        "__version__=version.VERSION"),
    "keras.backend": "get_graph=get_default_graph",
    "keras.backend_config": (
        "keras.backend.epsilon keras.backend.floatx keras.backend.image_data_format keras.backend.set_epsilon "
        "keras.backend.set_floatx keras.backend.set_image_data_format"),
    "keras.callbacks_v1": "keras.callbacks.TensorBoard",
    "keras.engine": "Network=keras.Model",
    "keras.engine.functional": "Functional=keras.Model",
    "keras.engine.network": "Network=keras.Model",
    "keras.engine.topology": "keras.layers.Input keras.layers.InputLayer keras.layers.InputSpec keras.layers.Layer",
    "keras.layers.convolutional_recurrent": "keras.layers.ConvLSTM2D",
    "keras.layers.dense_attention": "keras.layers.AdditiveAttention keras.layers.Attention",
    "keras.layers.normalization_v2": "keras.layers.BatchNormalization",
    "keras.layers.recurrent_v2": "keras.layers.GRU keras.layers.GRUCell keras.layers.LSTM keras.layers.LSTMCell",
    "keras.layers.serialization": "keras.layers.deserialize keras.layers.serialize",
    "keras.legacy_tf_layers.base": "layers.Layer",
    "keras.optimizer_v2.adadelta": "keras.optimizers.Adadelta",
    "keras.optimizer_v2.adagrad": "keras.optimizers.Adagrad",
    "keras.optimizer_v2.adam": "keras.optimizers.Adam",
    "keras.optimizer_v2.adamax": "keras.optimizers.Adamax",
    "keras.optimizer_v2.ftrl": "keras.optimizers.Ftrl",
    "keras.optimizer_v2.gradient_descent": "keras.optimizers.SGD",
    "keras.optimizer_v2.learning_rate_schedule": (
        "keras.optimizers.schedules.ExponentialDecay keras.optimizers.schedules.InverseTimeDecay "
        "keras.optimizers.schedules.LearningRateSchedule keras.optimizers.schedules.PiecewiseConstantDecay "
        "keras.optimizers.schedules.PolynomialDecay keras.optimizers.schedules.deserialize "
        "keras.optimizers.schedules.serialize"),
    "keras.optimizer_v2.legacy_learning_rate_decay": (
        "train.cosine_decay train.cosine_decay_restarts train.exponential_decay train.inverse_time_decay "
        "train.linear_cosine_decay train.natural_exp_decay train.noisy_linear_cosine_decay train.piecewise_constant "
        "train.polynomial_decay"),
    "keras.optimizer_v2.nadam": "keras.optimizers.Nadam",
    "keras.optimizer_v2.optimizer_v2": "OptimizerV2=keras.optimizers.Optimizer",
    "keras.optimizer_v2.rmsprop": "keras.optimizers.RMSprop",
    "keras.saving": "keras.models.load_model keras.models.save_model",
    "layers.convolutional": (
        "Convolution1D=layers.Conv1D Convolution2D=layers.Conv2D Convolution3D=layers.Conv3D "
        "Deconv2D=layers.Conv2DTranspose Deconvolution2D=layers.Conv2DTranspose "
        "SeparableConvolution2D=layers.SeparableConv2D convolution1d=layers.conv1d convolution2d=layers.conv2d "
        "convolution3d=layers.conv3d deconv2d=layers.conv2d_transpose deconvolution2d=layers.conv2d_transpose "
        "separable_convolution2d=layers.separable_conv2d"),
    "layers.core": "FullyConnected=layers.Dense fully_connected=layers.dense",
    "layers.normalization": "BatchNorm=layers.BatchNormalization batch_norm=layers.batch_normalization",
    "lib.io.file_io": (
        "copy_v2=io.gfile.copy create_dir_v2=io.gfile.mkdir delete_file_v2=io.gfile.remove "
        "delete_recursively_v2=io.gfile.rmtree file_exists_v2=io.gfile.exists get_matching_files_v2=io.gfile.glob "
        "io.gfile.get_registered_schemes is_directory_v2=io.gfile.isdir io.gfile.join list_directory_v2=io.gfile.listdir "
        "recursive_create_dir_v2=io.gfile.makedirs rename_v2=io.gfile.rename stat_v2=io.gfile.stat walk_v2=io.gfile.walk"),
    "lib.io.python_io": (
        "TFRecordOptions=python_io.TFRecordOptions TFRecordWriter=python_io.TFRecordWriter "
        "tf_record_iterator=python_io.tf_record_iterator"),
    "ops.array_ops": (
        "quantization.quantize_and_dequantize quantization.quantize_and_dequantize_v2 tensor_diag_part=diag_part"),
    "ops.array_ops_stack": "stack unstack",
    "ops.audio_ops": "audio.decode_wav audio.encode_wav",
    "ops.bincount_ops": "bincount bincount_v1=bincount",
    "ops.check_ops": "ensure_shape",
    "ops.cond": "cond",
    "ops.confusion_matrix": "confusion_matrix_v1=confusion_matrix",
    "ops.control_flow_assert": "Assert",
    "ops.control_flow_case": "case",
    "ops.control_flow_switch_case": "switch_case",
    "ops.control_flow_v2_toggles": "control_flow_v2_enabled disable_control_flow_v2 enable_control_flow_v2",
    "ops.critical_section_ops": "CriticalSection",
    "ops.data_flow_ops": "contrib.staging.MapStagingArea contrib.staging.StagingArea",
    "ops.distributions.bijector": "contrib.distributions.bijectors.Bijector",
    "ops.distributions.bijector_impl": "contrib.distributions.bijectors.Bijector",
    "ops.distributions.identity_bijector": "contrib.distributions.bijectors.Identity",
    "ops.distributions.transformed_distribution": "contrib.distributions.TransformedDistribution",
    "ops.distributions.util": "contrib.distributions.fill_triangular contrib.distributions.softplus_inverse",
    "ops.gradients_util": "AggregationMethod",
    "ops.image_ops_impl": (
        "ResizeMethodV1=image.ResizeMethod crop_and_resize_v1=image.crop_and_resize "
        "non_max_suppression_with_overlaps=image.non_max_suppression_overlaps "
        "resize_image_with_pad_v1=image.resize_image_with_pad"),
    "ops.init_ops_v2": (
        "Constant=compat.v2.initializers.Constant Ones=compat.v2.initializers.Ones Zeros=compat.v2.initializers.Zeros "
        "GlorotNormal=compat.v2.initializers.GlorotNormal GlorotUniform=compat.v2.initializers.GlorotUniform "
        "Identity=compat.v2.initializers.Identity Orthogonal=compat.v2.initializers.Orthogonal "
        "RandomNormal=compat.v2.initializers.RandomNormal RandomUniform=compat.v2.initializers.RandomUniform "
        "TruncatedNormal=compat.v2.initializers.TruncatedNormal VarianceScaling=compat.v2.initializers.VarianceScaling"),
    "ops.linalg.linalg_impl": (
        "linalg.adjoint linalg.cholesky linalg.det linalg.diag linalg.diag_part linalg.eigh_tridiagonal linalg.eye "
        "linalg.inv linalg.logdet linalg.lu_matrix_inverse linalg.lu_reconstruct linalg.lu_solve linalg.matmul "
        "matrix_exponential=linalg.expm linalg.matrix_rank linalg.norm linalg.pinv linalg.qr linalg.solve linalg.svd "
        "linalg.trace linalg.transpose linalg.triangular_solve linalg.tridiagonal_matmul linalg.tridiagonal_solve"),
    "ops.linalg.linear_operator": "linalg.LinearOperator",
    "ops.linalg.linear_operator_adjoint": "linalg.LinearOperatorAdjoint",
    "ops.linalg.linear_operator_block_diag": "linalg.LinearOperatorBlockDiag",
    "ops.linalg.linear_operator_block_lower_triangular": "linalg.LinearOperatorBlockLowerTriangular",
    "ops.linalg.linear_operator_circulant": (
        "linalg.LinearOperatorCirculant linalg.LinearOperatorCirculant2D linalg.LinearOperatorCirculant3D"),
    "ops.linalg.linear_operator_composition": "linalg.LinearOperatorComposition",
    "ops.linalg.linear_operator_diag": "linalg.LinearOperatorDiag",
    "ops.linalg.linear_operator_full_matrix": "linalg.LinearOperatorFullMatrix",
    "ops.linalg.linear_operator_householder": "linalg.LinearOperatorHouseholder",
    "ops.linalg.linear_operator_identity": "linalg.LinearOperatorIdentity linalg.LinearOperatorScaledIdentity",
    "ops.linalg.linear_operator_inversion": "linalg.LinearOperatorInversion",
    "ops.linalg.linear_operator_kronecker": "linalg.LinearOperatorKronecker",
    "ops.linalg.linear_operator_low_rank_update": "linalg.LinearOperatorLowRankUpdate",
    "ops.linalg.linear_operator_lower_triangular": "linalg.LinearOperatorLowerTriangular",
    "ops.linalg.linear_operator_permutation": "linalg.LinearOperatorPermutation",
    "ops.linalg.linear_operator_toeplitz": "linalg.LinearOperatorToeplitz",
    "ops.linalg.linear_operator_tridiag": "linalg.LinearOperatorTridiag",
    "ops.linalg.linear_operator_zeros": "linalg.LinearOperatorZeros",
    "ops.linalg.sparse.conjugate_gradient": "linalg.experimental.conjugate_gradient",
    "ops.linalg_ops": "batch_cholesky=linalg.cholesky batch_self_adjoint_eig=self_adjoint_eig",
    "ops.logging_ops": "print_v2=print",
    "ops.lookup_ops": "StaticHashTableV1=lookup.StaticHashTable StaticVocabularyTableV1=lookup.StaticVocabularyTable",
    "ops.math_ops": (
        "linspace_nd=lin_space linalg.matvec reduce_all_v1=math.reduce_all reduce_any_v1=math.reduce_any "
        "reduce_logsumexp_v1=math.reduce_logsumexp reduce_max_v1=reduce_max reduce_mean_v1=reduce_mean "
        "reduce_min_v1=reduce_min reduce_prod_v1=reduce_prod reduce_sum_v1=reduce_sum"),
    "ops.nccl_ops": (
        "contrib.nccl.all_max contrib.nccl.all_min contrib.nccl.all_prod contrib.nccl.all_sum contrib.nccl.broadcast "
        "contrib.nccl.reduce_sum"),
    "ops.nn_impl": "linalg.normalize",
    "ops.nn_impl_distribute": "nn.compute_average_loss nn.scale_regularization_loss",
    "ops.nn_ops": (
        "conv3d_v1=nn.conv3d dilation2d_v1=nn.dilation2d nn.experimental.general_dropout "
        "max_pool_with_argmax_v1=nn.max_pool_with_argmax "
        "softmax_cross_entropy_with_logits_v2_helper=nn.softmax_cross_entropy_with_logits_v2 "
        "nn.experimental.stateless_dropout"),
    "ops.parallel_for.control_flow_ops": "vectorized_map",
    "ops.parsing_config": "FixedLenFeature FixedLenSequenceFeature io.RaggedFeature SparseFeature VarLenFeature",
    "ops.parsing_ops": "decode_raw_v1=decode_raw",
    "ops.partitioned_variables": "create_partitioned_variables",
    "ops.ragged.ragged_concat_ops": "ragged.stack",
    "ops.ragged.ragged_functional_ops": "ragged.map_flat_values",
    "ops.ragged.ragged_string_ops": (
        "strings.ngrams string_bytes_split=strings.bytes_split string_split strings_split_v1=strings.split "
        "strings.unicode_decode strings.unicode_decode_with_offsets strings.unicode_encode strings.unicode_split "
        "strings.unicode_split_with_offsets"),
    "ops.ragged.ragged_tensor_value": "ragged.RaggedTensorValue",
    "ops.ragged.segment_id_ops": "ragged.row_splits_to_segment_ids ragged.segment_ids_to_row_splits",
    "ops.random_crop_ops": "image.random_crop",
    "ops.random_ops_util": "random.Algorithm",
    "ops.ref_variable": "RefVariable=Variable",
    "ops.script_ops": "eager_py_func=py_function",
    "ops.sparse_ops": (
        "_sparse_cross=sparse.cross _sparse_cross_hashed=sparse.cross_hashed sparse_bincount=sparse.bincount "
        "sparse_cross=sparse.cross sparse_cross_hashed=sparse.cross_hashed sparse_expand_dims=sparse.expand_dims "
        "sparse_eye=sparse.eye"),
    "ops.stateful_random_ops": (
        "random.Generator random.create_rng_state random.experimental.get_global_generator "
        "random.experimental.set_global_generator"),
    "ops.stateless_random_ops": (
        "stateless_random_binomial=random.stateless_binomial stateless_random_gamma=random.stateless_gamma "
        "stateless_random_normal=random.stateless_normal stateless_random_poisson=random.stateless_poisson "
        "stateless_random_uniform=random.stateless_uniform random.experimental.stateless_shuffle"),
    "ops.string_ops": (
        "string_format=strings.format string_length=strings.length string_to_hash_bucket_v1=string_to_hash_bucket "
        "string_to_number_v1=string_to_number substr_deprecated=substr"),
    "ops.unconnected_gradients": "UnconnectedGradients",
    "ops.variable_scope": "VariableV1=Variable variable=Variable variable_creator_scope_v1=variable_creator_scope",
    "ops.variable_v1": "VariableV1=Variable is_variable_initialized",
    "ops.variables": "VariableV1=Variable",
    "ops.while_loop": "while_loop",
    "platform.benchmark": "test.Benchmark TensorFlowBenchmark=test.Benchmark test.benchmark_config",
    "platform.googletest": "GetTempDir=test.get_temp_dir",
    "profiler.tfprof_logger": "profiler.write_op_log",
    "pywrap_tensorflow": (
        "CheckpointReader=_core.train.saver.CheckpointReader EventsWriter=_core.python_modules.events_writer.EventsWriter "
        "NewCheckpointReader=train.NewCheckpointReader"),
    "pywrap_tensorflow_internal": (
        "CheckpointReader=_core.train.saver.CheckpointReader EventsWriter=_core.python_modules.events_writer.EventsWriter "
        "NewCheckpointReader=train.NewCheckpointReader"),
    "saved_model.builder_impl": "_SavedModelBuilder=saved_model.Builder",
    "saved_model.load": "load=saved_model.load_v2",
    "saved_model.method_name_updater": "saved_model.signature_def_utils.MethodNameUpdater",
    "saved_model.model_utils": "ModeKeys=estimator.ModeKeys",
    "saved_model.model_utils.export_output": (
        "estimator.export.ClassificationOutput estimator.export.EvalOutput estimator.export.ExportOutput "
        "estimator.export.PredictOutput estimator.export.RegressionOutput"),
    "saved_model.model_utils.mode_keys": "EstimatorModeKeys=estimator.ModeKeys",
    "saved_model.save": "saved_model.experimental.save",
    "saved_model.save_options": "saved_model.SaveOptions saved_model.experimental.VariablePolicy",
    "saved_model.saved_model": (
        "saved_model.Builder SavedModelBuilder=saved_model.builder.SavedModelBuilder saved_model.loader "
        "saved_model.signature_constants saved_model.signature_def_utils saved_model.tag_constants"),
    "summary.writer.event_file_writer": "EventFileWriter=_core.python_modules.events_writer.EventFileWriter",
    "trackable.asset": "saved_model.Asset",
    "trackable.autotrackable": "AutoTrackable=_core.framework.trackable.AutoTrackable",
    "trackable.base": "Trackable=_core.framework.trackable.Trackable",
    "trackable.python_state": "train.experimental.PythonState",
    "training.basic_loops": "train.basic_train_loop",
    "training.checkpoint_utils": "contrib.training.wait_for_new_checkpoint train.checkpoints_iterator",
    "training.evaluation": (
        "_StopAfterNEvalsHook=contrib.training.StopAfterNEvalsHook _evaluate_once=contrib.training.evaluate_once "
        "_get_or_create_eval_step=contrib.training.get_or_create_eval_step"),
    "training.experimental.loss_scale": (
        "mixed_precision.DynamicLossScale mixed_precision.FixedLossScale mixed_precision.LossScale"),
    "training.experimental.loss_scale_optimizer": "mixed_precision.MixedPrecisionLossScaleOptimizer",
    "training.experimental.mixed_precision": (
        "disable_mixed_precision_graph_rewrite_v1=mixed_precision.disable_mixed_precision_graph_rewrite "
        "train.experimental.enable_mixed_precision_graph_rewrite "
        "enable_mixed_precision_graph_rewrite_v1=mixed_precision.enable_mixed_precision_graph_rewrite"),
    "training.py_checkpoint_reader": "CheckpointReader=_core.train.saver.CheckpointReader train.NewCheckpointReader",
    "training.server_lib": "config.experimental.ClusterDeviceFilters",
    "training.summary_io": "SummaryWriterCache=summary.FileWriterCache",
    "training.training_util": "train.write_graph",
    "user_ops.user_ops": "user_ops.my_fact",
    "util.traceback_utils": (
        "debugging.disable_traceback_filtering debugging.enable_traceback_filtering "
        "debugging.is_traceback_filtering_enabled"),
}


def _named(word):
    """Returns (name, path) for a word of the table."""
    name, _, path = word.partition("=")
    return (name, path) if path else (name.rpartition(".")[2], name)


def find(module, name):
    """Returns the object that a module provides under a name; raises AttributeError if the table has no such entry."""
    words = ALIASES.get(module.removeprefix(PREFIX), "") if module.startswith(PREFIX) else ""
    for word in words.split():
        known, path = _named(word)
        if known == name:
            return pkgutil.resolve_name("weft." + path)
    raise AttributeError(name)
