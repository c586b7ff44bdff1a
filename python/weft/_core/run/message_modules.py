"""The modules of TensorFlow that protoc generates. Here all messages are in one module, so each of them stands for it."""

_FOLDERS = {
    "core.debug": "debug_service debugger_event_metadata",
    "core.example": "example example_parser_configuration feature",
    "core.framework": "allocation_description api_def attr_value cost_graph cpp_shape_inference dataset dataset_metadata "
                      "dataset_options device_attributes full_type function graph graph_debug_info graph_transfer_info iterator "
                      "kernel_def log_memory model node_def op_def reader_base remote_fused_graph_execute_info resource_handle "
                      "step_stats summary tensor tensor_description tensor_shape tensor_slice types variable versions",
    "core.kernels.boosted_trees": "boosted_trees",
    "core.lib.core": "error_codes",
    "core.profiler": "profile profiler_options tfprof_log tfprof_options tfprof_output",
    "core.profiler.protobuf": "xplane",
    "core.protobuf": "autotuning bfc_memory_map cluster composite_tensor_variant config control_flow conv_autotuning "
                     "critical_section data_service debug debug_event device_filters device_properties eager_service error_codes "
                     "fingerprint graph_debug_info master master_service meta_graph named_tensor queue_runner "
                     "remote_tensor_handle replay_log rewriter_config rpc_options saved_model saved_object_graph saver "
                     "service_config snapshot status struct tensor_bundle tensorflow_server trackable_object_graph "
                     "transport_options verifier_config worker worker_service",
    "core.util": "event memmapped_file_system saved_tensor_slice test_log",
    "python.framework": "cpp_shape_inference",
    "python.keras.protobuf": "projector_config saved_metadata versions",
    "python.training": "checkpoint_state",
}
MESSAGE_MODULES = frozenset("tensorflow.%s.%s_pb2" % (folder, name) for folder, names in _FOLDERS.items() for name in names.split())
