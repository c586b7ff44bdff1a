"""TensorFlow's messages that programs use: their names and field numbers. proto.py implements their behavior.

Written once from the descriptors of TensorFlow 2.15; tests/python/test_protos.py compares this file with them.
"""
from weft._core.framework import proto_descriptor
from weft._core.framework.proto import add_field, enumeration, message

ThreadPoolOptionProto = message("ThreadPoolOptionProto", "1 int32 num_threads", "2 string global_name")
GPUOptions_VirtualDevices = message("GPUOptions.Experimental.VirtualDevices", "1 repeated float memory_limit_mb",
    "2 repeated int priority")
GPUOptions_Experimental = message("GPUOptions.Experimental",
    (1, GPUOptions_VirtualDevices, "virtual_devices", "repeated"))
GPUOptions = message("GPUOptions", "1 double per_process_gpu_memory_fraction", "4 bool allow_growth",
    "2 string allocator_type", "3 int deferred_deletion_bytes", "5 string visible_device_list",
    "6 int32 polling_active_delay_usecs", "7 int32 polling_inactive_delay_msecs", "8 bool force_gpu_compatible",
    (9, GPUOptions_Experimental, "experimental"))
GPUOptions.Experimental = GPUOptions_Experimental
GPUOptions_Experimental.VirtualDevices = GPUOptions_VirtualDevices
OptimizerOptions = message("OptimizerOptions", "1 bool do_common_subexpression_elimination",
    "2 bool do_constant_folding", "6 int max_folded_constant_in_bytes", "4 bool do_function_inlining",
    "3 enum opt_level", "5 enum global_jit_level", "7 bool cpu_global_jit", L1=0, L0=-1, DEFAULT=0, OFF=-1, ON_1=1,
    ON_2=2)
AutoParallelOptions = message("AutoParallelOptions", "1 bool enable", "2 int32 num_replicas")
ScopedAllocatorOptions = message("ScopedAllocatorOptions", "1 repeated string enable_op")
SummaryDescription = message("SummaryDescription", "1 string type_hint")
RewriterConfig = message("RewriterConfig", *("%d enum %s" % (n, name) for n, name in (
    (1, "layout_optimizer"), (3, "constant_folding"), (4, "memory_optimization"), (7, "arithmetic_optimization"),
    (8, "dependency_optimization"), (9, "loop_optimization"), (10, "function_optimization"), (11, "debug_stripper"),
    (12, "meta_optimizer_iterations"), (13, "shape_optimization"), (14, "remapping"), (15, "scoped_allocator_optimization"),
    (18, "pin_to_host_optimization"), (22, "implementation_selector"), (23, "auto_mixed_precision"),
    (24, "common_subgraph_elimination"), (25, "auto_mixed_precision_mkl"), (28, "use_plugin_optimizers"),
    (29, "auto_mixed_precision_cpu"), (30, "experimental_conditional_code_motion"),
    (31, "auto_mixed_precision_onednn_bfloat16"), (50, "cpu_layout_conversion"))),
    "2 bool disable_model_pruning", (5, AutoParallelOptions, "auto_parallel"),
    "6 string memory_optimizer_target_node_name_scope", (16, ScopedAllocatorOptions, "scoped_allocator_opts"),
    "17 int32 min_graph_nodes", "19 bool disable_meta_optimizer", "20 int meta_optimizer_timeout_ms",
    "21 bool fail_on_optimizer_errors", "26 bool experimental_disable_compressed_tensor_optimization",
    "27 bool experimental_disable_folding_quantization_emulation", "32 bool disable_tfg_optimizer",
    "100 repeated string optimizers", DEFAULT=0, ON=1, OFF=2, AGGRESSIVE=3, EXPERIMENTAL_MLIR=4, EXPERIMENTAL_BOTH=5,
    NO_CONVERSION_ON_CPU=0, NCHW_TO_NHWC=1, NHWC_TO_NCHW=2, DEFAULT_NUM_ITERS=0, ONE=1, TWO=2, DEFAULT_MEM_OPT=0,
    NO_MEM_OPT=1, MANUAL=2, HEURISTICS=3, SWAPPING_HEURISTICS=4, RECOMPUTATION_HEURISTICS=5, SCHEDULING_HEURISTICS=6)
RewriterConfig.ENUM_NAMES = {
    **{name: ("DEFAULT", "ON", "OFF", "AGGRESSIVE", "EXPERIMENTAL_MLIR", "EXPERIMENTAL_BOTH")
       for name, (_, kind, _) in RewriterConfig.FIELDS.items() if kind == "enum"},
    "meta_optimizer_iterations": ("DEFAULT_NUM_ITERS", "ONE", "TWO"),
    "memory_optimization": ("DEFAULT_MEM_OPT", "NO_MEM_OPT", "MANUAL", "HEURISTICS", "SWAPPING_HEURISTICS",
                            "RECOMPUTATION_HEURISTICS", "SCHEDULING_HEURISTICS"),
    "cpu_layout_conversion": ("NO_CONVERSION_ON_CPU", "NCHW_TO_NHWC", "NHWC_TO_NCHW")}
GraphOptions = message("GraphOptions", (10, RewriterConfig, "rewrite_options"),
    "2 bool enable_recv_scheduling", (3, OptimizerOptions, "optimizer_options"),
    "4 int build_cost_model", "9 int build_cost_model_after", "5 bool infer_shapes", "6 bool place_pruned_graph",
    "7 bool enable_bfloat16_sendrecv", "8 int32 timeline_step")
RPCOptions = message("RPCOptions", "1 bool use_rpc_for_inprocess_master", "2 string compression_algorithm",
    "3 int compression_level", "4 bool cache_rpc_response", "5 bool disable_session_connection_sharing",
    "6 int num_channels_per_target")
JobDef = message("JobDef", "1 string name", "2 imap string tasks")
ClusterDef = message("ClusterDef", (1, JobDef, "job", "repeated"))
ConfigProto_Experimental = message("ConfigProto.Experimental", "1 string collective_group_leader",
    "3 string executor_type", "4 int32 recv_buf_max_chunk", "5 bool use_numa_affinity",
    "6 bool collective_deterministic_sequential_execution", "7 bool collective_nccl",
    "8 bool share_session_state_in_clusterspec_propagation", "9 bool disable_thread_spinning",
    "10 bool share_cluster_devices_in_session", "12 bool optimize_for_static_graph", "13 bool enable_mlir_bridge",
    "14 bool disable_output_partition_graphs", "15 int xla_fusion_autotuner_thresh",
    "16 bool enable_mlir_graph_optimization", "18 bool use_tfrt", "21 bool disable_functional_ops_lowering",
    "22 bool xla_prefer_single_graph_cluster", "24 bool disable_optimize_for_static_graph")
ConfigProto = message("ConfigProto", "1 map int32 device_count", "2 int32 intra_op_parallelism_threads",
    "5 int32 inter_op_parallelism_threads", "9 bool use_per_session_threads",
    (12, ThreadPoolOptionProto, "session_inter_op_thread_pool", "repeated"), "3 int32 placement_period",
    "4 repeated string device_filters", (6, GPUOptions, "gpu_options"), "7 bool allow_soft_placement",
    "8 bool log_device_placement", (10, GraphOptions, "graph_options"), "11 int operation_timeout_in_ms",
    (13, RPCOptions, "rpc_options"), (14, ClusterDef, "cluster_def"), "15 bool isolate_session_state",
    (16, ConfigProto_Experimental, "experimental"), "17 bool share_cluster_devices_in_session",
    Experimental=ConfigProto_Experimental)
DebugTensorWatch = message("DebugTensorWatch", "1 string node_name", "2 int output_slot",
    "3 repeated string debug_ops", "4 repeated string debug_urls", "5 bool tolerate_debug_op_creation_failures")
DebugOptions = message("DebugOptions", (4, DebugTensorWatch, "debug_tensor_watch_opts", "repeated"),
    "10 int global_step", "11 bool reset_disk_byte_usage")
RunOptions_Experimental = message("RunOptions.Experimental", "1 int collective_graph_key", "2 bool use_run_handler_pool")
RunOptions = message("RunOptions", "1 enum trace_level", "2 int timeout_in_ms", "3 int32 inter_op_thread_pool",
    "5 bool output_partition_graphs", (6, DebugOptions, "debug_options"),
    "7 bool report_tensor_allocations_upon_oom", (8, RunOptions_Experimental, "experimental"),
    Experimental=RunOptions_Experimental, NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
AllocationRecord = message("AllocationRecord", "1 int alloc_micros", "2 int alloc_bytes")
AllocatorMemoryUsed = message("AllocatorMemoryUsed", "1 string allocator_name", "2 int total_bytes",
    "3 int peak_bytes", "4 int live_bytes", (6, AllocationRecord, "allocation_records", "repeated"),
    "5 int allocator_bytes_in_use")
TensorShapeProto_Dim = message("Dim", "1 int size", "2 string name")
TensorShapeProto = message("TensorShapeProto", (2, TensorShapeProto_Dim, "dim", "repeated"), "3 bool unknown_rank",
    Dim=TensorShapeProto_Dim)
AllocationDescription = message("AllocationDescription", "1 int requested_bytes", "2 int allocated_bytes",
    "3 string allocator_name", "4 int allocation_id", "5 bool has_single_reference", "6 int ptr")
TensorDescription = message("TensorDescription", "1 enum dtype", (2, TensorShapeProto, "shape"),
    (4, AllocationDescription, "allocation_description"))
NodeOutput = message("NodeOutput", "1 int32 slot", (3, TensorDescription, "tensor_description"))
MemoryStats = message("MemoryStats", "1 int temp_memory_size", "3 int persistent_memory_size",
    "5 repeated int persistent_tensor_alloc_ids", "2 int device_temp_memory_size",
    "4 int device_persistent_memory_size", "6 repeated int device_persistent_tensor_alloc_ids")
NodeExecStats = message("NodeExecStats", "1 string node_name", "2 int all_start_micros", "3 int op_start_rel_micros",
    "4 int op_end_rel_micros", "5 int all_end_rel_micros", (6, AllocatorMemoryUsed, "memory", "repeated"),
    (7, NodeOutput, "output", "repeated"), "8 string timeline_label", "9 int scheduled_micros", "10 int thread_id",
    (11, AllocationDescription, "referenced_tensor", "repeated"), (12, MemoryStats, "memory_stats"),
    "13 int all_start_nanos", "14 int op_start_rel_nanos", "15 int op_end_rel_nanos", "16 int all_end_rel_nanos",
    "17 int scheduled_nanos")
DeviceStepStats = message("DeviceStepStats", "1 string device", (2, NodeExecStats, "node_stats", "repeated"),
    "3 imap string thread_names")
StepStats = message("StepStats", (1, DeviceStepStats, "dev_stats", "repeated"))
ResourceHandleProto_DtypeAndShape = message("DtypeAndShape", "1 enum dtype", (2, TensorShapeProto, "shape"))
ResourceHandleProto = message("ResourceHandleProto", "1 string device", "2 string container", "3 string name",
    "4 int hash_code", "5 string maybe_type_name", (6, ResourceHandleProto_DtypeAndShape, "dtypes_and_shapes", "repeated"),
    DtypeAndShape=ResourceHandleProto_DtypeAndShape)
VariantTensorDataProto = message("VariantTensorDataProto", "1 string type_name", "2 bytes metadata")
TensorProto = message("TensorProto", "1 enum dtype", (2, TensorShapeProto, "tensor_shape"), "3 int32 version_number",
    "4 bytes tensor_content", "13 repeated int32 half_val", "5 repeated float float_val",
    "6 repeated double double_val", "7 repeated int32 int_val", "8 repeated bytes string_val",
    "9 repeated float scomplex_val", "10 repeated int int64_val", "11 repeated bool bool_val",
    "12 repeated double dcomplex_val", (14, ResourceHandleProto, "resource_handle_val", "repeated"),
    (15, VariantTensorDataProto, "variant_val", "repeated"), "16 repeated int uint32_val", "17 repeated int uint64_val",
    "18 bytes float8_val")
add_field(VariantTensorDataProto, "tensors", 3, TensorProto, "repeated")
# The field attr is added below, because AttrValue and NameAttrList refer to each other.
NameAttrList = message("NameAttrList", "1 string name")
AttrValue_ListValue = message("ListValue", "2 repeated bytes s", "3 repeated int i", "4 repeated float f",
    "5 repeated bool b", "6 repeated enum type", (7, TensorShapeProto, "shape", "repeated"),
    (8, TensorProto, "tensor", "repeated"), (9, NameAttrList, "func", "repeated"))
AttrValue = message("AttrValue", "2 bytes s", "3 int i", "4 float f", "5 bool b", "6 enum type",
    (7, TensorShapeProto, "shape"), (8, TensorProto, "tensor"), (1, AttrValue_ListValue, "list"),
    (10, NameAttrList, "func"), "9 string placeholder", ListValue=AttrValue_ListValue)
add_field(NameAttrList, "attr", 2, AttrValue, "map")
NodeDef_ExperimentalDebugInfo = message("ExperimentalDebugInfo", "1 repeated string original_node_names",
    "2 repeated string original_func_names")
NodeDef = message("NodeDef", "1 string name", "2 string op", "3 repeated string input", "4 string device",
    (5, AttrValue, "attr", "map"), (6, NodeDef_ExperimentalDebugInfo, "experimental_debug_info"),
    ExperimentalDebugInfo=NodeDef_ExperimentalDebugInfo)
VersionDef = message("VersionDef", "1 int producer", "2 int min_consumer", "3 repeated int bad_consumers")
OpDef_ArgDef = message("ArgDef", "1 string name", "2 string description", "3 enum type", "4 string type_attr",
    "5 string number_attr", "6 string type_list_attr",
    (7, ResourceHandleProto_DtypeAndShape, "handle_data", "repeated"), "16 bool is_ref")
OpDef_AttrDef = message("AttrDef", "1 string name", "2 string type", (3, AttrValue, "default_value"),
    "4 string description", "5 bool has_minimum", "6 int minimum", (7, AttrValue, "allowed_values"))
OpDeprecation = message("OpDeprecation", "1 int32 version", "2 string explanation")
OpDef = message("OpDef", "1 string name", (2, OpDef_ArgDef, "input_arg", "repeated"),
    (3, OpDef_ArgDef, "output_arg", "repeated"), "20 repeated string control_output",
    (4, OpDef_AttrDef, "attr", "repeated"), (8, OpDeprecation, "deprecation"), "5 string summary",
    "6 string description", "18 bool is_commutative", "16 bool is_aggregate", "17 bool is_stateful",
    "19 bool allows_uninitialized_input", "21 bool is_distributed_communication", ArgDef=OpDef_ArgDef,
    AttrDef=OpDef_AttrDef)
FunctionDef_ArgAttrs = message("ArgAttrs", (1, AttrValue, "attr", "map"))
FunctionDef = message("FunctionDef", (1, OpDef, "signature"), (5, AttrValue, "attr", "map"),
    (7, FunctionDef_ArgAttrs, "arg_attr", "imap"), "8 imap int resource_arg_unique_id",
    (3, NodeDef, "node_def", "repeated"), "4 map string ret", "6 map string control_ret", ArgAttrs=FunctionDef_ArgAttrs)
GradientDef = message("GradientDef", "1 string function_name", "2 string gradient_func")
RegisteredGradient = message("RegisteredGradient", "1 string gradient_func", "2 string registered_op_type")
FunctionDefLibrary = message("FunctionDefLibrary", (1, FunctionDef, "function", "repeated"),
    (2, GradientDef, "gradient", "repeated"), (3, RegisteredGradient, "registered_gradients", "repeated"))
GraphDef = message("GraphDef", (1, NodeDef, "node", "repeated"), (4, VersionDef, "versions"), "3 int32 version",
    (2, FunctionDefLibrary, "library"))
RunMetadata_FunctionGraphs = message("FunctionGraphs", (1, GraphDef, "partition_graphs", "repeated"),
    (2, GraphDef, "pre_optimization_graph"), (3, GraphDef, "post_optimization_graph"))
CostGraphDef_InputInfo = message("CostGraphDef.Node.InputInfo", "1 int32 preceding_node", "2 int32 preceding_port")
CostGraphDef_OutputInfo = message("CostGraphDef.Node.OutputInfo", "1 int size", "2 int alias_input_port",
    (3, TensorShapeProto, "shape"), "4 enum dtype")
CostGraphDef_Node = message("CostGraphDef.Node", "1 string name", "2 string device", "3 int32 id",
    (4, CostGraphDef_InputInfo, "input_info", "repeated"), (5, CostGraphDef_OutputInfo, "output_info", "repeated"),
    "6 int temporary_memory_size", "12 int persistent_memory_size", "10 int host_temp_memory_size",
    "11 int device_temp_memory_size", "16 int device_persistent_memory_size", "9 int compute_cost",
    "14 int compute_time", "15 int memory_time", "7 bool is_final", "8 repeated int32 control_input",
    "17 bool inaccurate", InputInfo=CostGraphDef_InputInfo, OutputInfo=CostGraphDef_OutputInfo)
CostGraphDef_AggregatedCost = message("CostGraphDef.AggregatedCost", "1 float cost", "2 string dimension")
CostGraphDef = message("CostGraphDef", (1, CostGraphDef_Node, "node", "repeated"),
    (2, CostGraphDef_AggregatedCost, "cost", "repeated"), Node=CostGraphDef_Node,
    AggregatedCost=CostGraphDef_AggregatedCost)
RunMetadata = message("RunMetadata", (1, StepStats, "step_stats"), (2, CostGraphDef, "cost_graph"),
    (3, GraphDef, "partition_graphs", "repeated"), (4, RunMetadata_FunctionGraphs, "function_graphs", "repeated"),
    FunctionGraphs=RunMetadata_FunctionGraphs)
OpList = message("OpList", (1, OpDef, "op", "repeated"))
MetaGraphDef_MetaInfoDef = message("MetaInfoDef", "1 string meta_graph_version", (2, OpList, "stripped_op_list"),
    "4 repeated string tags", "5 string tensorflow_version", "6 string tensorflow_git_version",
    "7 bool stripped_default_attrs", "8 map string function_aliases")
SaverDef = message("SaverDef", "1 string filename_tensor_name", "2 string save_tensor_name",
    "3 string restore_op_name", "4 int32 max_to_keep", "5 bool sharded", "6 float keep_checkpoint_every_n_hours",
    "7 enum version", LEGACY=0, V1=1, V2=2)
CollectionDef_NodeList = message("NodeList", "1 repeated string value")
CollectionDef_BytesList = message("BytesList", "1 repeated bytes value")
CollectionDef_Int64List = message("Int64List", "1 repeated int value")
CollectionDef_FloatList = message("FloatList", "1 repeated float value")


def _pack(self, msg, type_url_prefix="type.googleapis.com/", deterministic=None):
    """Packs another message into this one."""
    self.type_url = "%s/%s" % (type_url_prefix.rstrip("/"), msg.DESCRIPTOR.full_name)
    self.value = msg.SerializeToString()


def _unpack(self, msg):
    """Unpacks this into a message; returns False if this holds a message of another class."""
    if not self.Is(msg.DESCRIPTOR):
        return False
    msg.ParseFromString(self.value)
    return True


Any = message("Any", "1 string type_url", "2 bytes value", Pack=_pack, Unpack=_unpack,
    TypeName=lambda self: self.type_url.rpartition("/")[2],
    Is=lambda self, descriptor: "/" in self.type_url and self.TypeName() == descriptor.full_name)
CollectionDef_AnyList = message("AnyList", (1, Any, "value", "repeated"))
CollectionDef = message("CollectionDef", (1, CollectionDef_NodeList, "node_list"),
    (2, CollectionDef_BytesList, "bytes_list"), (3, CollectionDef_Int64List, "int64_list"),
    (4, CollectionDef_FloatList, "float_list"), (5, CollectionDef_AnyList, "any_list"),
    NodeList=CollectionDef_NodeList, BytesList=CollectionDef_BytesList, Int64List=CollectionDef_Int64List,
    FloatList=CollectionDef_FloatList, AnyList=CollectionDef_AnyList)
TensorInfo_CooSparse = message("CooSparse", "1 string values_tensor_name", "2 string indices_tensor_name",
    "3 string dense_shape_tensor_name")
TensorInfo_CompositeTensor = message("CompositeTensor")
TensorInfo = message("TensorInfo", "1 string name", (4, TensorInfo_CooSparse, "coo_sparse"),
    (5, TensorInfo_CompositeTensor, "composite_tensor"), "2 enum dtype", (3, TensorShapeProto, "tensor_shape"),
    CooSparse=TensorInfo_CooSparse, CompositeTensor=TensorInfo_CompositeTensor)
SignatureDef = message("SignatureDef", (1, TensorInfo, "inputs", "map"), (2, TensorInfo, "outputs", "map"),
    "3 string method_name", (4, TensorProto, "defaults", "map"))
AssetFileDef = message("AssetFileDef", (1, TensorInfo, "tensor_info"), "2 string filename")
MetaGraphDef = message("MetaGraphDef", (1, MetaGraphDef_MetaInfoDef, "meta_info_def"), (2, GraphDef, "graph_def"),
    (3, SaverDef, "saver_def"), (4, CollectionDef, "collection_def", "map"),
    (5, SignatureDef, "signature_def", "map"), (6, AssetFileDef, "asset_file_def", "repeated"),
    MetaInfoDef=MetaGraphDef_MetaInfoDef)
QueueRunnerDef = message("QueueRunnerDef", "1 string queue_name", "2 repeated string enqueue_op_name",
    "3 string close_op_name", "4 string cancel_op_name", "5 repeated enum queue_closed_exception_types")
SaveSliceInfoDef = message("SaveSliceInfoDef", "1 string full_name", "2 repeated int full_shape",
    "3 repeated int var_offset", "4 repeated int var_shape")
VariableDef = message("VariableDef", "1 string variable_name", "6 string initial_value_name",
    "2 string initializer_name", "3 string snapshot_name", (4, SaveSliceInfoDef, "save_slice_info_def"),
    "5 bool is_resource", "7 bool trainable", "8 enum synchronization", "9 enum aggregation")
ServerDef = message("ServerDef", (1, ClusterDef, "cluster"), "2 string job_name", "8 int32 replica",
    "3 int32 task_index", (4, ConfigProto, "default_session_config"), "5 string protocol", "6 int32 port")
SummaryMetadata_PluginData = message("PluginData", "1 string plugin_name", "2 bytes content")
SummaryMetadata = message("SummaryMetadata", (1, SummaryMetadata_PluginData, "plugin_data"), "2 string display_name",
    "3 string summary_description", "4 enum data_class", PluginData=SummaryMetadata_PluginData)
Summary_Image = message("Image", "1 int height", "2 int width", "3 int colorspace", "4 bytes encoded_image_string")
HistogramProto = message("HistogramProto", "1 double min", "2 double max", "3 double num", "4 double sum",
    "5 double sum_squares", "6 repeated double bucket_limit", "7 repeated double bucket")
Summary_Audio = message("Audio", "1 float sample_rate", "2 int num_channels", "3 int length_frames",
    "4 bytes encoded_audio_string", "5 string content_type")
Summary_Value = message("Value", "7 string node_name", "1 string tag", (9, SummaryMetadata, "metadata"),
    "2 float simple_value", "3 bytes obsolete_old_style_histogram", (4, Summary_Image, "image"),
    (5, HistogramProto, "histo"), (6, Summary_Audio, "audio"), (8, TensorProto, "tensor"))
Summary = message("Summary", (1, Summary_Value, "value", "repeated"), Image=Summary_Image, Audio=Summary_Audio,
    Value=Summary_Value)
LogMessage = message("LogMessage", "1 enum level", "2 string message", UNKNOWN=0, DEBUGGING=10, INFO=20, WARN=30,
    ERROR=40, FATAL=50)
SessionLog = message("SessionLog", "1 enum status", "2 string checkpoint_path", "3 string msg", STATUS_UNSPECIFIED=0,
    START=1, STOP=2, CHECKPOINT=3)
TaggedRunMetadata = message("TaggedRunMetadata", "1 string tag", "2 bytes run_metadata")
SourceMetadata = message("SourceMetadata", "1 string writer")
Event = message("Event", "1 double wall_time", "2 int step", "3 string file_version", "4 bytes graph_def",
    (5, Summary, "summary"), (6, LogMessage, "log_message"), (7, SessionLog, "session_log"),
    (8, TaggedRunMetadata, "tagged_run_metadata"), "9 bytes meta_graph_def", (10, SourceMetadata, "source_metadata"))
BytesList = message("BytesList", "1 repeated bytes value")
FloatList = message("FloatList", "1 repeated float value")
Int64List = message("Int64List", "1 repeated int value")
Feature = message("Feature", (1, BytesList, "bytes_list"), (2, FloatList, "float_list"), (3, Int64List, "int64_list"))
Features = message("Features", (1, Feature, "feature", "map"))
Example = message("Example", (1, Features, "features"))
FeatureList = message("FeatureList", (1, Feature, "feature", "repeated"))
FeatureLists = message("FeatureLists", (1, FeatureList, "feature_list", "map"))
SequenceExample = message("SequenceExample", (1, Features, "context"), (2, FeatureLists, "feature_lists"))
CheckpointState = message("CheckpointState", "1 string model_checkpoint_path",
    "2 repeated string all_model_checkpoint_paths", "3 repeated double all_model_checkpoint_timestamps",
    "4 double last_preserved_timestamp")
InterconnectLink = message("InterconnectLink", "1 int32 device_id", "2 string type", "3 int32 strength")
LocalLinks = message("LocalLinks", (1, InterconnectLink, "link", "repeated"))
DeviceLocality = message("DeviceLocality", "1 int32 bus_id", "2 int32 numa_node", (3, LocalLinks, "links"))
DeviceAttributes = message("DeviceAttributes", "1 string name", "2 string device_type", "4 int memory_limit",
    (5, DeviceLocality, "locality"), "6 fixed64 incarnation", "7 string physical_device_desc", "8 int xla_global_id")
SavedModel = message("SavedModel", "1 int saved_model_schema_version", (2, MetaGraphDef, "meta_graphs", "repeated"))
BoolValue = message("BoolValue", "1 bool value")
RegisteredSaver = message("RegisteredSaver", "1 string name", "2 string object_name")
TrackableObject_ObjectReference = message("ObjectReference", "1 int32 node_id", "2 string local_name")
TrackableObject_SerializedTensor = message("SerializedTensor", "1 string name", "2 string full_name",
    "3 string checkpoint_key")
TrackableObject_SlotVariableReference = message("SlotVariableReference", "1 int32 original_variable_node_id",
    "2 string slot_name", "3 int32 slot_variable_node_id")
TrackableObjectGraph_TrackableObject = message("TrackableObject",
    (1, TrackableObject_ObjectReference, "children", "repeated"),
    (2, TrackableObject_SerializedTensor, "attributes", "repeated"),
    (3, TrackableObject_SlotVariableReference, "slot_variables", "repeated"), (4, RegisteredSaver, "registered_saver"),
    (5, BoolValue, "has_checkpoint_values"), ObjectReference=TrackableObject_ObjectReference,
    SerializedTensor=TrackableObject_SerializedTensor, SlotVariableReference=TrackableObject_SlotVariableReference)
TrackableObjectGraph = message("TrackableObjectGraph", (1, TrackableObjectGraph_TrackableObject, "nodes", "repeated"),
    TrackableObject=TrackableObjectGraph_TrackableObject)

add_field(TensorInfo_CompositeTensor, "components", 2, TensorInfo, "repeated")

# Enumerations by their names; the constants are the messages'.
enumeration(RunOptions, "TraceLevel", "NO_TRACE", "SOFTWARE_TRACE", "HARDWARE_TRACE", "FULL_TRACE")
enumeration(OptimizerOptions, "Level", "L1", "L0")
enumeration(OptimizerOptions, "GlobalJitLevel", "DEFAULT", "OFF", "ON_1", "ON_2")
enumeration(RewriterConfig, "Toggle", "DEFAULT", "ON", "OFF", "AGGRESSIVE", "EXPERIMENTAL_MLIR", "EXPERIMENTAL_BOTH")
enumeration(RewriterConfig, "NumIterationsType", "DEFAULT_NUM_ITERS", "ONE", "TWO")
enumeration(SaverDef, "CheckpointFormatVersion", "LEGACY", "V1", "V2")
enumeration(SessionLog, "SessionStatus", "STATUS_UNSPECIFIED", "START", "STOP", "CHECKPOINT")
enumeration(LogMessage, "Level", "UNKNOWN", "DEBUGGING", "INFO", "WARN", "ERROR", "FATAL")
proto_descriptor.name_all(dict(globals()), ("Any", "BoolValue"))


def __getattr__(name):
    """Returns a message of protos_rare.py, which is loaded when a program first asks for one."""
    if name.startswith("_"):
        raise AttributeError(name)
    from weft._core.framework import protos_rare
    if name in vars(protos_rare) and hasattr(vars(protos_rare)[name], "FIELDS"):
        return vars(protos_rare)[name]
    raise AttributeError("module %r has no attribute %r" % (__name__, name))
