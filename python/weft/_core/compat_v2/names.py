"""The names of tf.compat.v2 that are the same objects as in tf.compat.v1, for each module.

NAME stands for the object of the same path in tf; NAME=PATH for one that has another path there.
"""

SAME = {
    "": (
        "AggregationMethod Assert CriticalSection DType GradientTape Graph IndexedSlices IndexedSlicesSpec Module Operation "
        "OptionalSpec RaggedTensor RaggedTensorSpec RegisterGradient SparseTensor SparseTensorSpec Tensor TensorArray "
        "TensorArraySpec TensorShape TensorSpec TypeSpec UnconnectedGradients VariableSynchronization abs acos acosh add "
        "add_n approx_top_k argsort as_dtype as_string asin asinh atan atan2 atanh bfloat16 bitcast bool "
        "broadcast_dynamic_shape broadcast_static_shape broadcast_to cast clip_by_global_norm clip_by_norm clip_by_value "
        "complex complex128 complex64 concat control_dependencies conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2 "
        "cos cosh cumsum custom_gradient divide double dynamic_partition dynamic_stitch edit_distance einsum "
        "enable_v2_behavior ensure_shape equal exp extract_volume_patches eye fftnd fill fingerprint float16 float32 "
        "float64 floor function get_logger get_static_value grad_pass_through greater greater_equal group guarantee_const half "
        "histogram_fixed_width histogram_fixed_width_bins identity identity_n ifftnd import_graph_def init_scope int16 "
        "int32 int64 int8 irfftnd is_symbolic_tensor is_tensor less less_equal linspace load_library load_op_library "
        "logical_and logical_not logical_or make_ndarray make_tensor_proto matmul matrix_square_root maximum meshgrid "
        "minimum multiply negative newaxis no_gradient no_op nondifferentiable_batch_function not_equal numpy_function "
        "one_hot ones parallel_stack pow print py_function qint16 qint32 qint8 quint16 quint8 ragged_fill_empty_rows "
        "ragged_fill_empty_rows_grad random_index_shuffle range rank realdiv recompute_grad "
        "register_tensor_conversion_function repeat required_space_to_batch_paddings reshape resource reverse rfftnd roll "
        "round saturate_cast scatter_nd searchsorted sequence_mask shape_n sigmoid sign sin sinh slice sort "
        "space_to_batch_nd split sqrt square stack stop_gradient strided_slice string subtract switch_case tan tanh "
        "tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update "
        "tensordot tile timestamp truediv truncatediv truncatemod type_spec_from_value uint16 uint32 uint64 uint8 unique "
        "unique_with_counts unravel_index unstack variant vectorized_map where=where_v2 zeros"
    ),
    "audio": "decode_wav encode_wav",
    "autograph": "set_verbosity trace",
    "autograph.experimental": "Feature do_not_convert set_loop_options",
    "autodiff": "GradientTape=GradientTape",
    "bitwise": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "config": (
        "LogicalDevice LogicalDeviceConfiguration PhysicalDevice experimental_functions_run_eagerly "
        "experimental_run_functions_eagerly functions_run_eagerly get_logical_device_configuration "
        "get_soft_device_placement get_visible_devices list_logical_devices list_physical_devices "
        "run_functions_eagerly set_logical_device_configuration set_soft_device_placement set_visible_devices"
    ),
    "config.experimental": (
        "ClusterDeviceFilters VirtualDeviceConfiguration enable_tensor_float_32_execution get_device_details "
        "get_memory_growth get_memory_info get_memory_usage get_virtual_device_configuration get_visible_devices "
        "list_logical_devices list_physical_devices reset_memory_stats set_memory_growth set_virtual_device_configuration "
        "set_visible_devices tensor_float_32_execution_enabled"
    ),
    "config.optimizer": "get_experimental_options get_jit set_experimental_options set_jit",
    "config.threading": (
        "get_inter_op_parallelism_threads get_intra_op_parallelism_threads set_inter_op_parallelism_threads "
        "set_intra_op_parallelism_threads"
    ),
    "data": "AUTOTUNE DatasetSpec INFINITE_CARDINALITY Options ThreadingOptions UNKNOWN_CARDINALITY",
    "data.experimental": (
        "AUTOTUNE AutoShardPolicy AutotuneAlgorithm AutotuneOptions CheckpointInputPipelineHook DatasetInitializer "
        "DistributeOptions ExternalStatePolicy INFINITE_CARDINALITY OptimizationOptions Optional Reducer SHARD_HINT "
        "TFRecordWriter ThreadingOptions UNKNOWN_CARDINALITY assert_cardinality bucket_by_sequence_length cardinality "
        "copy_to_device dense_to_ragged_batch dense_to_sparse_batch enumerate_dataset from_list from_variant "
        "get_next_as_optional get_single_element get_structure group_by_reducer group_by_window ignore_errors "
        "index_table_from_dataset make_saveable_from_iterator map_and_batch pad_to_cardinality parallel_interleave "
        "parse_example_dataset prefetch_to_device rejection_resample scan shuffle_and_repeat snapshot table_from_dataset "
        "take_while to_variant unbatch unique"
    ),
    "debugging": (
        "Assert assert_proper_iterable assert_same_float_dtype check_numerics disable_check_numerics "
        "disable_traceback_filtering enable_check_numerics enable_traceback_filtering get_log_device_placement "
        "is_numeric_tensor is_traceback_filtering_enabled set_log_device_placement"
    ),
    "distribute": (
        "CrossDeviceOps HierarchicalCopyAllReduce InputContext InputReplicationMode NcclAllReduce ReduceOp "
        "ReductionToOneDevice RunOptions Server experimental_set_strategy get_replica_context get_strategy has_strategy "
        "in_cross_replica_context"
    ),
    "distribute.cluster_resolver": (
        "ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver SlurmClusterResolver "
        "TFConfigClusterResolver TPUClusterResolver UnionResolver"
    ),
    "distribute.experimental": (
        "CollectiveCommunication CollectiveHints CommunicationImplementation CommunicationOptions"
    ),
    "dtypes": (
        "DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double float16 float32 float64 "
        "half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8 resource saturate_cast string uint16 uint32 "
        "uint64 uint8 variant"
    ),
    "dtypes.experimental": "float8_e4m3fn float8_e5m2 int4 uint4",
    "errors": (
        "ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS DEADLINE_EXCEEDED "
        "DataLossError DeadlineExceededError FAILED_PRECONDITION FailedPreconditionError INTERNAL INVALID_ARGUMENT "
        "InternalError InvalidArgumentError NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError "
        "PERMISSION_DENIED PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED UNAVAILABLE "
        "UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError UnknownError"
    ),
    "estimator": (
        "BestExporter BinaryClassHead CheckpointSaverHook CheckpointSaverListener EstimatorSpec EvalSpec Exporter "
        "FeedFnHook FinalExporter FinalOpsHook GlobalStepWaiterHook Head LatestExporter LoggingTensorHook "
        "LogisticRegressionHead ModeKeys MultiClassHead MultiHead MultiLabelHead NanLossDuringTrainingError NanTensorHook "
        "PoissonRegressionHead ProfilerHook RegressionHead RunConfig SecondOrStepTimer SessionRunArgs SessionRunContext "
        "SessionRunHook SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook TrainSpec VocabInfo "
        "WarmStartSettings add_metrics train_and_evaluate"
    ),
    "estimator.experimental": (
        "InMemoryEvaluatorHook LinearSDCA build_raw_supervised_input_receiver_fn call_logit_fn make_early_stopping_hook "
        "make_stop_at_checkpoint_step_hook stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook "
        "stop_if_no_increase_hook"
    ),
    "estimator.export": (
        "ClassificationOutput EvalOutput ExportOutput PredictOutput RegressionOutput ServingInputReceiver "
        "TensorServingInputReceiver build_parsing_serving_input_receiver_fn build_raw_serving_input_receiver_fn"
    ),
    "experimental": (
        "Optional=data.experimental.Optional float8_e4m3fn float8_e5m2 int4 register_filesystem_plugin uint4"
    ),
    "feature_column": (
        "bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity "
        "categorical_column_with_vocabulary_list crossed_column embedding_column indicator_column numeric_column "
        "sequence_categorical_column_with_hash_bucket sequence_categorical_column_with_identity "
        "sequence_categorical_column_with_vocabulary_file sequence_categorical_column_with_vocabulary_list "
        "sequence_numeric_column weighted_categorical_column"
    ),
    "graph_util": "import_graph_def",
    "image": (
        "adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality adjust_saturation central_crop "
        "combined_non_max_suppression convert_image_dtype crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif "
        "decode_image decode_jpeg decode_png encode_jpeg encode_png extract_jpeg_shape flip_left_right flip_up_down "
        "generate_bounding_box_proposals grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression "
        "non_max_suppression_overlaps non_max_suppression_padded non_max_suppression_with_scores pad_to_bounding_box "
        "per_image_standardization psnr random_brightness random_contrast random_crop random_flip_left_right "
        "random_flip_up_down random_hue random_jpeg_quality random_saturation resize_with_crop_or_pad rgb_to_grayscale "
        "rgb_to_hsv rgb_to_yiq rgb_to_yuv rot90 sobel_edges ssim ssim_multiscale total_variation transpose yiq_to_rgb "
        "yuv_to_rgb"
    ),
    "initializers": (
        "Initializer=keras.initializers.Initializer deserialize=keras.initializers.deserialize get=keras.initializers.get "
        "serialize=keras.initializers.serialize"
    ),
    "io": (
        "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature TFRecordOptions TFRecordWriter VarLenFeature "
        "decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif decode_image decode_jpeg "
        "decode_json_example decode_png decode_proto deserialize_many_sparse encode_base64 encode_jpeg encode_png "
        "encode_proto extract_jpeg_shape is_jpeg match_filenames_once matching_files parse_sequence_example "
        "parse_single_sequence_example parse_tensor read_file serialize_tensor write_file write_graph"
    ),
    "io.gfile": (
        "GFile copy exists get_registered_schemes glob isdir join listdir makedirs mkdir remove rename rmtree stat walk"
    ),
    "keras": "Input Model Sequential",
    "keras.activations": (
        "deserialize elu exponential get hard_sigmoid linear mish relu selu serialize sigmoid softmax softplus softsign "
        "swish tanh"
    ),
    "keras.applications": (
        "ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge DenseNet121 DenseNet169 DenseNet201 "
        "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 "
        "EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L "
        "EfficientNetV2M EfficientNetV2S InceptionResNetV2 InceptionV3 MobileNet MobileNetV2 MobileNetV3Large "
        "MobileNetV3Small NASNetLarge NASNetMobile RegNetX002 RegNetX004 RegNetX006 RegNetX008 RegNetX016 RegNetX032 "
        "RegNetX040 RegNetX064 RegNetX080 RegNetX120 RegNetX160 RegNetX320 RegNetY002 RegNetY004 RegNetY006 RegNetY008 "
        "RegNetY016 RegNetY032 RegNetY040 RegNetY064 RegNetY080 RegNetY120 RegNetY160 RegNetY320 ResNet101 ResNet101V2 "
        "ResNet152 ResNet152V2 ResNet50 ResNet50V2 ResNetRS101 ResNetRS152 ResNetRS200 ResNetRS270 ResNetRS350 "
        "ResNetRS420 ResNetRS50 VGG16 VGG19 Xception"
    ),
    "keras.applications.convnext": (
        "ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge decode_predictions preprocess_input"
    ),
    "keras.applications.densenet": "DenseNet121 DenseNet169 DenseNet201 decode_predictions preprocess_input",
    "keras.applications.efficientnet": (
        "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6 "
        "EfficientNetB7 decode_predictions preprocess_input"
    ),
    "keras.applications.efficientnet_v2": (
        "EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L EfficientNetV2M "
        "EfficientNetV2S decode_predictions preprocess_input"
    ),
    "keras.applications.imagenet_utils": "decode_predictions preprocess_input",
    "keras.applications.inception_resnet_v2": "InceptionResNetV2 decode_predictions preprocess_input",
    "keras.applications.inception_v3": "InceptionV3 decode_predictions preprocess_input",
    "keras.applications.mobilenet": "MobileNet decode_predictions preprocess_input",
    "keras.applications.mobilenet_v2": "MobileNetV2 decode_predictions preprocess_input",
    "keras.applications.mobilenet_v3": "decode_predictions preprocess_input",
    "keras.applications.nasnet": "NASNetLarge NASNetMobile decode_predictions preprocess_input",
    "keras.applications.regnet": (
        "RegNetX002 RegNetX004 RegNetX006 RegNetX008 RegNetX016 RegNetX032 RegNetX040 RegNetX064 RegNetX080 RegNetX120 "
        "RegNetX160 RegNetX320 RegNetY002 RegNetY004 RegNetY006 RegNetY008 RegNetY016 RegNetY032 RegNetY040 RegNetY064 "
        "RegNetY080 RegNetY120 RegNetY160 RegNetY320 decode_predictions preprocess_input"
    ),
    "keras.applications.resnet": "ResNet101 ResNet152 ResNet50 decode_predictions preprocess_input",
    "keras.applications.resnet50": "ResNet50 decode_predictions preprocess_input",
    "keras.applications.resnet_rs": (
        "ResNetRS101 ResNetRS152 ResNetRS200 ResNetRS270 ResNetRS350 ResNetRS420 ResNetRS50 decode_predictions "
        "preprocess_input"
    ),
    "keras.applications.resnet_v2": "ResNet101V2 ResNet152V2 ResNet50V2 decode_predictions preprocess_input",
    "keras.applications.vgg16": "VGG16 decode_predictions preprocess_input",
    "keras.applications.vgg19": "VGG19 decode_predictions preprocess_input",
    "keras.applications.xception": "Xception decode_predictions preprocess_input",
    "keras.backend": (
        "abs all any arange argmax argmin backend batch_dot batch_flatten batch_get_value batch_normalization "
        "batch_set_value bias_add binary_crossentropy binary_focal_crossentropy cast cast_to_floatx "
        "categorical_crossentropy categorical_focal_crossentropy clear_session clip concatenate constant conv1d conv2d "
        "conv2d_transpose conv3d cos count_params ctc_batch_cost ctc_decode ctc_label_dense_to_sparse cumprod cumsum "
        "depthwise_conv2d dot dropout dtype elu epsilon equal eval exp expand_dims eye flatten floatx foldl foldr "
        "function gather get_uid get_value gradients greater greater_equal hard_sigmoid image_data_format in_test_phase "
        "in_top_k in_train_phase int_shape is_keras_tensor is_sparse l2_normalize learning_phase learning_phase_scope "
        "less less_equal local_conv1d local_conv2d log manual_variable_initialization map_fn max maximum mean min minimum "
        "moving_average_update ndim normalize_batch_in_training not_equal one_hot ones ones_like permute_dimensions "
        "placeholder pool2d pool3d pow print_tensor prod random_bernoulli random_binomial random_normal "
        "random_normal_variable random_uniform random_uniform_variable relu repeat repeat_elements reset_uids reshape "
        "resize_images resize_volumes reverse rnn round separable_conv2d set_epsilon set_floatx set_image_data_format "
        "set_learning_phase set_value shape sigmoid sign sin softmax softplus softsign sparse_categorical_crossentropy "
        "spatial_2d_padding spatial_3d_padding sqrt square squeeze stack std stop_gradient sum switch tanh "
        "temporal_padding tile to_dense transpose truncated_normal update update_add update_sub var variable zeros "
        "zeros_like"
    ),
    "keras.callbacks": (
        "BaseLogger CSVLogger Callback CallbackList EarlyStopping History LambdaCallback LearningRateScheduler "
        "ModelCheckpoint ProgbarLogger ReduceLROnPlateau RemoteMonitor TerminateOnNaN"
    ),
    "keras.constraints": (
        "Constraint MaxNorm MinMaxNorm NonNeg RadialConstraint UnitNorm deserialize get max_norm min_max_norm non_neg "
        "radial_constraint serialize unit_norm"
    ),
    "keras.datasets.boston_housing": "load_data",
    "keras.datasets.cifar10": "load_data",
    "keras.datasets.cifar100": "load_data",
    "keras.datasets.fashion_mnist": "load_data",
    "keras.datasets.imdb": "get_word_index load_data",
    "keras.datasets.mnist": "load_data",
    "keras.datasets.reuters": "get_label_names get_word_index load_data",
    "keras.experimental": "CosineDecay CosineDecayRestarts LinearModel SequenceFeatures WideDeepModel",
    "keras.initializers": "Initializer deserialize get serialize",
    "keras.layers": (
        "AbstractRNNCell Activation ActivityRegularization Add AdditiveAttention AlphaDropout Attention Average "
        "AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D Bidirectional CategoryEncoding "
        "CenterCrop Concatenate Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose ConvLSTM1D "
        "ConvLSTM2D ConvLSTM3D Convolution1D Convolution1DTranspose Convolution2D Convolution2DTranspose Convolution3D "
        "Convolution3DTranspose Cropping1D Cropping2D Cropping3D Dense DepthwiseConv1D DepthwiseConv2D Discretization Dot "
        "Dropout ELU EinsumDense Embedding Flatten GaussianDropout GaussianNoise GlobalAveragePooling1D "
        "GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D "
        "GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D Hashing Identity Input "
        "InputLayer InputSpec Lambda Layer LayerNormalization LeakyReLU LocallyConnected1D LocallyConnected2D Masking "
        "MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D Maximum Minimum MultiHeadAttention Multiply "
        "Normalization PReLU Permute RNN ReLU RepeatVector Rescaling Reshape Resizing SeparableConv1D SeparableConv2D "
        "SeparableConvolution1D SeparableConvolution2D SimpleRNN SimpleRNNCell Softmax SpatialDropout1D SpatialDropout2D "
        "SpatialDropout3D StackedRNNCells Subtract ThresholdedReLU TimeDistributed UpSampling1D UpSampling2D UpSampling3D "
        "Wrapper ZeroPadding1D ZeroPadding2D ZeroPadding3D add average concatenate deserialize dot maximum minimum "
        "multiply serialize subtract"
    ),
    "keras.layers.experimental": "EinsumDense RandomFourierFeatures",
    "keras.layers.experimental.preprocessing": (
        "CategoryEncoding CenterCrop Discretization Hashing Normalization PreprocessingLayer Rescaling Resizing"
    ),
    "keras.losses": (
        "BinaryCrossentropy BinaryFocalCrossentropy CategoricalCrossentropy CategoricalFocalCrossentropy CategoricalHinge "
        "CosineSimilarity Hinge Huber KLD KLDivergence LogCosh Loss MAE MAPE MSE MSLE MeanAbsoluteError "
        "MeanAbsolutePercentageError MeanSquaredError MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy "
        "SquaredHinge binary_crossentropy binary_focal_crossentropy categorical_crossentropy "
        "categorical_focal_crossentropy categorical_hinge cosine_similarity deserialize get hinge kl_divergence kld "
        "kullback_leibler_divergence log_cosh logcosh mae mape mean_absolute_error mean_absolute_percentage_error "
        "mean_squared_error mean_squared_logarithmic_error mse msle poisson serialize sparse_categorical_crossentropy "
        "squared_hinge"
    ),
    "keras.metrics": (
        "AUC Accuracy BinaryAccuracy BinaryCrossentropy BinaryIoU CategoricalAccuracy CategoricalCrossentropy "
        "CategoricalHinge CosineSimilarity F1Score FBetaScore FalseNegatives FalsePositives Hinge IoU KLD KLDivergence "
        "LogCoshError MAE MAPE MSE MSLE Mean MeanAbsoluteError MeanAbsolutePercentageError MeanIoU MeanMetricWrapper "
        "MeanRelativeError MeanSquaredError MeanSquaredLogarithmicError MeanTensor Metric OneHotIoU OneHotMeanIoU Poisson "
        "Precision PrecisionAtRecall R2Score Recall RecallAtPrecision RootMeanSquaredError SensitivityAtSpecificity "
        "SparseCategoricalAccuracy SparseCategoricalCrossentropy SparseTopKCategoricalAccuracy SpecificityAtSensitivity "
        "SquaredHinge Sum TopKCategoricalAccuracy TrueNegatives TruePositives binary_accuracy binary_crossentropy "
        "binary_focal_crossentropy categorical_accuracy categorical_crossentropy categorical_focal_crossentropy "
        "deserialize get hinge kl_divergence kld kullback_leibler_divergence log_cosh logcosh mae mape "
        "mean_absolute_error mean_absolute_percentage_error mean_squared_error mean_squared_logarithmic_error mse msle "
        "poisson serialize sparse_categorical_accuracy sparse_categorical_crossentropy sparse_top_k_categorical_accuracy "
        "squared_hinge top_k_categorical_accuracy"
    ),
    "keras.mixed_precision": "LossScaleOptimizer",
    "keras.models": (
        "Model Sequential clone_model load_model model_from_config model_from_json model_from_yaml save_model"
    ),
    "keras.optimizers": "deserialize get serialize",
    "keras.optimizers.legacy": "Adadelta Adagrad Adam Adamax Ftrl Nadam Optimizer RMSprop SGD",
    "keras.optimizers.schedules": (
        "CosineDecay CosineDecayRestarts ExponentialDecay InverseTimeDecay LearningRateSchedule PiecewiseConstantDecay "
        "PolynomialDecay deserialize serialize"
    ),
    "keras.preprocessing.image": (
        "DirectoryIterator ImageDataGenerator Iterator NumpyArrayIterator apply_affine_transform apply_brightness_shift "
        "apply_channel_shift array_to_img img_to_array load_img random_brightness random_channel_shift random_rotation "
        "random_shear random_shift random_zoom save_img"
    ),
    "keras.preprocessing.sequence": "TimeseriesGenerator make_sampling_table pad_sequences skipgrams",
    "keras.preprocessing.text": "Tokenizer hashing_trick one_hot text_to_word_sequence tokenizer_from_json",
    "keras.regularizers": "L1 L1L2 L2 Regularizer deserialize get l1 l1_l2 l2 serialize",
    "keras.saving": (
        "custom_object_scope deserialize_keras_object get_custom_objects get_registered_name get_registered_object "
        "load_model register_keras_serializable save_model serialize_keras_object"
    ),
    "keras.utils": (
        "CustomObjectScope GeneratorEnqueuer OrderedEnqueuer Progbar Sequence SequenceEnqueuer array_to_img "
        "custom_object_scope deserialize_keras_object disable_interactive_logging enable_interactive_logging "
        "get_custom_objects get_file get_registered_name get_registered_object get_source_inputs img_to_array "
        "is_interactive_logging_enabled load_img model_to_dot normalize pad_sequences plot_model "
        "register_keras_serializable save_img serialize_keras_object to_categorical to_ordinal warmstart_embedding_matrix"
    ),
    "keras.utils.legacy": "deserialize_keras_object serialize_keras_object",
    "linalg": (
        "LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorBlockLowerTriangular "
        "LinearOperatorCirculant LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition "
        "LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder LinearOperatorIdentity "
        "LinearOperatorInversion LinearOperatorKronecker LinearOperatorLowRankUpdate LinearOperatorLowerTriangular "
        "LinearOperatorPermutation LinearOperatorScaledIdentity LinearOperatorToeplitz LinearOperatorTridiag "
        "LinearOperatorZeros adjoint band_part cholesky cholesky_solve cross det diag=matrix_diag "
        "diag_part=matrix_diag_part eigh eigh_tridiagonal eigvalsh einsum expm eye global_norm inv l2_normalize logdet "
        "logm lstsq lu lu_matrix_inverse lu_reconstruct lu_solve matmul=matmul matrix_rank "
        "matrix_transpose=matrix_transpose matvec normalize pinv qr set_diag slogdet solve sqrtm svd tensor_diag "
        "tensor_diag_part=diag_part tensordot trace=trace triangular_solve tridiagonal_matmul tridiagonal_solve"
    ),
    "linalg.experimental": "conjugate_gradient",
    "lookup": "KeyValueTensorInitializer TextFileIndex TextFileInitializer",
    "lookup.experimental": "DenseHashTable MutableHashTable",
    "losses": (
        "BinaryCrossentropy=keras.losses.BinaryCrossentropy BinaryFocalCrossentropy=keras.losses.BinaryFocalCrossentropy "
        "CategoricalCrossentropy=keras.losses.CategoricalCrossentropy "
        "CategoricalFocalCrossentropy=keras.losses.CategoricalFocalCrossentropy "
        "CategoricalHinge=keras.losses.CategoricalHinge CosineSimilarity=keras.losses.CosineSimilarity "
        "Hinge=keras.losses.Hinge Huber=keras.losses.Huber KLD=keras.losses.KLD KLDivergence=keras.losses.KLDivergence "
        "LogCosh=keras.losses.LogCosh Loss=keras.losses.Loss MAE=keras.losses.MAE MAPE=keras.losses.MAPE "
        "MSE=keras.losses.MSE MSLE=keras.losses.MSLE MeanAbsoluteError=keras.losses.MeanAbsoluteError "
        "MeanAbsolutePercentageError=keras.losses.MeanAbsolutePercentageError "
        "MeanSquaredError=keras.losses.MeanSquaredError "
        "MeanSquaredLogarithmicError=keras.losses.MeanSquaredLogarithmicError Poisson=keras.losses.Poisson "
        "SparseCategoricalCrossentropy=keras.losses.SparseCategoricalCrossentropy SquaredHinge=keras.losses.SquaredHinge "
        "binary_crossentropy=keras.losses.binary_crossentropy "
        "binary_focal_crossentropy=keras.losses.binary_focal_crossentropy "
        "categorical_crossentropy=keras.losses.categorical_crossentropy "
        "categorical_focal_crossentropy=keras.losses.categorical_focal_crossentropy "
        "categorical_hinge=keras.losses.categorical_hinge cosine_similarity=keras.losses.cosine_similarity "
        "deserialize=keras.losses.deserialize get=keras.losses.get hinge=keras.losses.hinge "
        "kl_divergence=keras.losses.kl_divergence kld=keras.losses.kld "
        "kullback_leibler_divergence=keras.losses.kullback_leibler_divergence log_cosh=keras.losses.log_cosh "
        "logcosh=keras.losses.logcosh mae=keras.losses.mae mape=keras.losses.mape "
        "mean_absolute_error=keras.losses.mean_absolute_error "
        "mean_absolute_percentage_error=keras.losses.mean_absolute_percentage_error "
        "mean_squared_error=keras.losses.mean_squared_error "
        "mean_squared_logarithmic_error=keras.losses.mean_squared_logarithmic_error mse=keras.losses.mse "
        "msle=keras.losses.msle poisson=keras.losses.poisson serialize=keras.losses.serialize "
        "sparse_categorical_crossentropy=keras.losses.sparse_categorical_crossentropy "
        "squared_hinge=keras.losses.squared_hinge"
    ),
    "math": (
        "abs=abs accumulate_n acos=acos acosh=acosh add=add add_n angle=angle approx_max_k approx_min_k asin=asin "
        "asinh=asinh atan2 atan=atan atanh=atanh betainc ceil=ceil conj=conj cos=cos cosh=cosh cumprod cumsum "
        "cumulative_logsumexp digamma=digamma divide=divide divide_no_nan=div_no_nan equal erf=erf erfc=erfc exp=exp "
        "expm1=expm1 floor=floor floordiv floormod=floormod greater greater_equal igamma igammac imag=imag "
        "invert_permutation is_finite is_inf is_nan is_non_decreasing is_strictly_increasing l2_normalize lbeta less "
        "less_equal lgamma=lgamma log1p=log1p log=log log_sigmoid=log_sigmoid logical_and logical_not logical_or "
        "logical_xor maximum=maximum minimum=minimum mod=mod multiply=multiply negative=negative nextafter not_equal "
        "polygamma polyval pow real=real reciprocal=reciprocal rint=rint round=round rsqrt=rsqrt segment_max segment_mean "
        "segment_min segment_prod segment_sum sigmoid=sigmoid sign=sign sin=sin sinh=sinh sobol_sample softsign sqrt=sqrt "
        "square=square squared_difference subtract tan=tan tanh=tanh top_k truediv unsorted_segment_max "
        "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum "
        "xdivy xlog1py xlogy zero_fraction zeta"
    ),
    "metrics": (
        "AUC=keras.metrics.AUC Accuracy=keras.metrics.Accuracy BinaryAccuracy=keras.metrics.BinaryAccuracy "
        "BinaryCrossentropy=keras.metrics.BinaryCrossentropy BinaryIoU=keras.metrics.BinaryIoU "
        "CategoricalAccuracy=keras.metrics.CategoricalAccuracy "
        "CategoricalCrossentropy=keras.metrics.CategoricalCrossentropy CategoricalHinge=keras.metrics.CategoricalHinge "
        "CosineSimilarity=keras.metrics.CosineSimilarity F1Score=keras.metrics.F1Score "
        "FBetaScore=keras.metrics.FBetaScore FalseNegatives=keras.metrics.FalseNegatives "
        "FalsePositives=keras.metrics.FalsePositives Hinge=keras.metrics.Hinge IoU=keras.metrics.IoU KLD=keras.losses.KLD "
        "KLDivergence=keras.metrics.KLDivergence LogCoshError=keras.metrics.LogCoshError MAE=keras.losses.MAE "
        "MAPE=keras.losses.MAPE MSE=keras.losses.MSE MSLE=keras.losses.MSLE Mean=keras.metrics.Mean "
        "MeanAbsoluteError=keras.metrics.MeanAbsoluteError "
        "MeanAbsolutePercentageError=keras.metrics.MeanAbsolutePercentageError MeanIoU=keras.metrics.MeanIoU "
        "MeanMetricWrapper=keras.metrics.MeanMetricWrapper MeanRelativeError=keras.metrics.MeanRelativeError "
        "MeanSquaredError=keras.metrics.MeanSquaredError "
        "MeanSquaredLogarithmicError=keras.metrics.MeanSquaredLogarithmicError MeanTensor=keras.metrics.MeanTensor "
        "Metric=keras.metrics.Metric OneHotIoU=keras.metrics.OneHotIoU OneHotMeanIoU=keras.metrics.OneHotMeanIoU "
        "Poisson=keras.metrics.Poisson Precision=keras.metrics.Precision "
        "PrecisionAtRecall=keras.metrics.PrecisionAtRecall R2Score=keras.metrics.R2Score Recall=keras.metrics.Recall "
        "RecallAtPrecision=keras.metrics.RecallAtPrecision RootMeanSquaredError=keras.metrics.RootMeanSquaredError "
        "SensitivityAtSpecificity=keras.metrics.SensitivityAtSpecificity "
        "SparseCategoricalAccuracy=keras.metrics.SparseCategoricalAccuracy "
        "SparseCategoricalCrossentropy=keras.metrics.SparseCategoricalCrossentropy "
        "SparseTopKCategoricalAccuracy=keras.metrics.SparseTopKCategoricalAccuracy "
        "SpecificityAtSensitivity=keras.metrics.SpecificityAtSensitivity SquaredHinge=keras.metrics.SquaredHinge "
        "Sum=keras.metrics.Sum TopKCategoricalAccuracy=keras.metrics.TopKCategoricalAccuracy "
        "TrueNegatives=keras.metrics.TrueNegatives TruePositives=keras.metrics.TruePositives "
        "binary_accuracy=keras.metrics.binary_accuracy binary_crossentropy=keras.losses.binary_crossentropy "
        "binary_focal_crossentropy=keras.losses.binary_focal_crossentropy "
        "categorical_accuracy=keras.metrics.categorical_accuracy "
        "categorical_crossentropy=keras.losses.categorical_crossentropy "
        "categorical_focal_crossentropy=keras.losses.categorical_focal_crossentropy deserialize=keras.metrics.deserialize "
        "get=keras.metrics.get hinge=keras.losses.hinge kl_divergence=keras.losses.kl_divergence kld=keras.losses.kld "
        "kullback_leibler_divergence=keras.losses.kullback_leibler_divergence log_cosh=keras.losses.log_cosh "
        "logcosh=keras.losses.logcosh mae=keras.losses.mae mape=keras.losses.mape "
        "mean_absolute_error=keras.losses.mean_absolute_error "
        "mean_absolute_percentage_error=keras.losses.mean_absolute_percentage_error "
        "mean_squared_error=keras.losses.mean_squared_error "
        "mean_squared_logarithmic_error=keras.losses.mean_squared_logarithmic_error mse=keras.losses.mse "
        "msle=keras.losses.msle poisson=keras.losses.poisson serialize=keras.metrics.serialize "
        "sparse_categorical_accuracy=keras.metrics.sparse_categorical_accuracy "
        "sparse_categorical_crossentropy=keras.losses.sparse_categorical_crossentropy "
        "sparse_top_k_categorical_accuracy=keras.metrics.sparse_top_k_categorical_accuracy "
        "squared_hinge=keras.losses.squared_hinge top_k_categorical_accuracy=keras.metrics.top_k_categorical_accuracy"
    ),
    "nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "nn": (
        "all_candidate_sampler approx_max_k approx_min_k atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool3d "
        "avg_pool=nn.avg_pool_v2 batch_normalization bias_add collapse_repeated compute_accidental_hits "
        "compute_average_loss conv1d_transpose conv_transpose ctc_beam_search_decoder=nn.ctc_beam_search_decoder_v2 "
        "ctc_greedy_decoder ctc_unique_labels depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input elu "
        "fixed_unigram_candidate_sampler l2_loss l2_normalize learned_unigram_candidate_sampler "
        "local_response_normalization log_poisson_loss lrn max_pool1d max_pool2d max_pool3d max_pool=nn.max_pool_v2 "
        "normalize_moments relu scale_regularization_loss selu sigmoid=sigmoid softsign tanh=tanh top_k "
        "with_space_to_batch zero_fraction"
    ),
    "nn.experimental": "general_dropout stateless_dropout",
    "optimizers": (
        "deserialize=keras.optimizers.deserialize get=keras.optimizers.get serialize=keras.optimizers.serialize"
    ),
    "optimizers.legacy": (
        "Adadelta=keras.optimizers.Adadelta Adagrad=keras.optimizers.Adagrad Adam=keras.optimizers.Adam "
        "Adamax=keras.optimizers.Adamax Ftrl=keras.optimizers.Ftrl Nadam=keras.optimizers.Nadam "
        "Optimizer=keras.optimizers.Optimizer RMSprop=keras.optimizers.RMSprop SGD=keras.optimizers.SGD"
    ),
    "optimizers.schedules": (
        "CosineDecay=keras.experimental.CosineDecay CosineDecayRestarts=keras.experimental.CosineDecayRestarts "
        "ExponentialDecay=keras.optimizers.schedules.ExponentialDecay "
        "InverseTimeDecay=keras.optimizers.schedules.InverseTimeDecay "
        "LearningRateSchedule=keras.optimizers.schedules.LearningRateSchedule "
        "PiecewiseConstantDecay=keras.optimizers.schedules.PiecewiseConstantDecay "
        "PolynomialDecay=keras.optimizers.schedules.PolynomialDecay deserialize=keras.optimizers.schedules.deserialize "
        "serialize=keras.optimizers.schedules.serialize"
    ),
    "quantization": (
        "dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars "
        "fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel "
        "fake_quant_with_min_max_vars_per_channel_gradient quantize quantize_and_dequantize quantize_and_dequantize_v2 "
        "quantized_concat"
    ),
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ragged": (
        "boolean_mask constant cross cross_hashed map_flat_values range row_splits_to_segment_ids "
        "segment_ids_to_row_splits stack stack_dynamic_partitions"
    ),
    "random": (
        "Algorithm Generator all_candidate_sampler categorical create_rng_state fixed_unigram_candidate_sampler fold_in "
        "gamma get_global_generator learned_unigram_candidate_sampler log_uniform_candidate_sampler normal "
        "set_global_generator shuffle split stateless_binomial stateless_categorical stateless_gamma stateless_normal "
        "stateless_parameterized_truncated_normal stateless_poisson stateless_truncated_normal stateless_uniform "
        "truncated_normal uniform uniform_candidate_sampler"
    ),
    "random.experimental": (
        "Algorithm Generator create_rng_state get_global_generator index_shuffle set_global_generator stateless_fold_in "
        "stateless_shuffle stateless_split"
    ),
    "saved_model": (
        "ASSETS_DIRECTORY ASSETS_KEY Asset CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES "
        "CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU "
        "PREDICT_INPUTS PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS "
        "SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING SaveOptions TPU TRAINING "
        "VARIABLES_DIRECTORY VARIABLES_FILENAME load=saved_model.load_v2 save"
    ),
    "saved_model.experimental": "VariablePolicy",
    "sets": "difference intersection size union",
    "signal": (
        "dct fft fft2d fft3d fftnd fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d ifftnd ifftshift "
        "inverse_mdct inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d irfftnd kaiser_bessel_derived_window "
        "kaiser_window linear_to_mel_weight_matrix mdct mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d "
        "rfft3d rfftnd stft vorbis_window"
    ),
    "sparse": (
        "SparseTensor bincount cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum minimum reorder "
        "reset_shape reshape retain slice softmax sparse_dense_matmul to_dense to_indicator transpose"
    ),
    "strings": (
        "as_string bytes_split format join lower ngrams regex_full_match regex_replace strip to_hash_bucket_fast "
        "to_hash_bucket_strong unicode_decode unicode_decode_with_offsets unicode_encode unicode_script unicode_split "
        "unicode_split_with_offsets unicode_transcode unsorted_segment_join upper"
    ),
    "sysconfig": (
        "CXX11_ABI_FLAG CXX_VERSION MONOLITHIC_BUILD get_build_info get_compile_flags get_include get_lib get_link_flags"
    ),
    "test": (
        "Benchmark TestCase benchmark_config create_local_cluster disable_with_predicate gpu_device_name "
        "is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_built_with_xla is_gpu_available main"
    ),
    "train": (
        "BytesList CheckpointManager CheckpointOptions ClusterDef ClusterSpec Coordinator Example "
        "ExponentialMovingAverage Feature FeatureList FeatureLists Features FloatList Int64List JobDef SequenceExample "
        "ServerDef checkpoints_iterator get_checkpoint_state latest_checkpoint list_variables load_checkpoint "
        "load_variable"
    ),
    "train.experimental": "PythonState",
    "version": (
        "COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER GRAPH_DEF_VERSION_MIN_PRODUCER "
        "VERSION"
    ),
}
