"""TensorFlow's messages that few programs use. protos.py loads this module on first use.

Written once from the descriptors of TensorFlow 2.15; tests/python/test_protos.py compares this file with them.
"""
from weft._core.framework import proto_descriptor, protos
from weft._core.framework.proto import ONEOF, add_field, enumeration, message

VarLenFeatureProto = message("VarLenFeatureProto", "1 enum dtype", "2 string values_output_tensor_name",
    "3 string indices_output_tensor_name", "4 string shapes_output_tensor_name")
FixedLenFeatureProto = message("FixedLenFeatureProto", "1 enum dtype", (2, protos.TensorShapeProto, "shape"),
    (3, protos.TensorProto, "default_value"), "4 string values_output_tensor_name")
FeatureConfiguration = message("FeatureConfiguration", (1, FixedLenFeatureProto, "fixed_len_feature"),
    (2, VarLenFeatureProto, "var_len_feature"))
ExampleParserConfiguration = message("ExampleParserConfiguration", (1, FeatureConfiguration, "feature_map", "map"))
KernelDef_AttrConstraint = message("KernelDef.AttrConstraint", "1 string name", (2, protos.AttrValue, "allowed_values"))
KernelDef = message("KernelDef", "1 string op", "2 string device_type", (3, KernelDef_AttrConstraint, "constraint", "repeated"),
    "4 repeated string host_memory_arg", "5 string label", "6 int32 priority", AttrConstraint=KernelDef_AttrConstraint)
KernelList = message("KernelList", (1, KernelDef, "kernel", "repeated"))
ReaderBaseState = message("ReaderBaseState", "1 int work_started", "2 int work_finished", "3 int num_records_produced",
    "4 bytes current_work")
TensorSliceProto_Extent = message("TensorSliceProto.Extent", "1 int start", "2 int length")
TensorSliceProto = message("TensorSliceProto", (1, TensorSliceProto_Extent, "extent", "repeated"),
    Extent=TensorSliceProto_Extent)
ApiDef_Endpoint = message("ApiDef.Endpoint", "1 string name", "3 bool deprecated", "4 int32 deprecation_version")
ApiDef_Arg = message("ApiDef.Arg", "1 string name", "2 string rename_to", "3 string description")
ApiDef_Attr = message("ApiDef.Attr", "1 string name", "2 string rename_to", (3, protos.AttrValue, "default_value"),
    "4 string description")
ApiDef = message("ApiDef", "1 string graph_op_name", "12 string deprecation_message", "13 int32 deprecation_version",
    "2 enum visibility", (3, ApiDef_Endpoint, "endpoint", "repeated"), (4, ApiDef_Arg, "in_arg", "repeated"),
    (5, ApiDef_Arg, "out_arg", "repeated"), "11 repeated string arg_order", (6, ApiDef_Attr, "attr", "repeated"),
    "7 string summary", "8 string description", "9 string description_prefix", "10 string description_suffix",
    Endpoint=ApiDef_Endpoint, Arg=ApiDef_Arg, Attr=ApiDef_Attr, DEFAULT_VISIBILITY=0, VISIBLE=1, SKIP=2, HIDDEN=3)
ApiDefs = message("ApiDefs", (1, ApiDef, "op", "repeated"))
MemoryLogStep = message("MemoryLogStep", "1 int step_id", "2 string handle")
MemoryLogTensorAllocation = message("MemoryLogTensorAllocation", "1 int step_id", "2 string kernel_name",
    (3, protos.TensorDescription, "tensor"))
MemoryLogTensorDeallocation = message("MemoryLogTensorDeallocation", "1 int allocation_id", "2 string allocator_name")
MemoryLogTensorOutput = message("MemoryLogTensorOutput", "1 int step_id", "2 string kernel_name", "3 int32 index",
    (4, protos.TensorDescription, "tensor"))
MemoryLogRawAllocation = message("MemoryLogRawAllocation", "1 int step_id", "2 string operation", "3 int num_bytes",
    "4 int ptr", "5 int allocation_id", "6 string allocator_name")
MemoryLogRawDeallocation = message("MemoryLogRawDeallocation", "1 int step_id", "2 string operation", "3 int allocation_id",
    "4 string allocator_name", "5 bool deferred")
ValuesDef = message("ValuesDef", "1 repeated string values", "2 map string external_values")
CondContextDef = message("CondContextDef", "1 string context_name", "2 string pred_name", "3 string pivot_name",
    "4 int32 branch", (5, ValuesDef, "values_def"))
WhileContextDef = message("WhileContextDef", "1 string context_name", "2 int32 parallel_iterations", "3 bool back_prop",
    "4 bool swap_memory", "5 string pivot_name", "6 string pivot_for_pred_name", "7 string pivot_for_body_name",
    "8 repeated string loop_exit_names", "10 repeated string loop_enter_names", (9, ValuesDef, "values_def"),
    "11 string maximum_iterations_name")
ControlFlowContextDef = message("ControlFlowContextDef", (1, CondContextDef, "cond_ctxt"), (2, WhileContextDef, "while_ctxt"))
DeviceProperties = message("DeviceProperties", "1 string type", "2 string vendor", "3 string model", "4 int frequency",
    "5 int num_cores", "6 map string environment", "7 int num_registers", "8 int l1_cache_size", "9 int l2_cache_size",
    "10 int l3_cache_size", "11 int shared_memory_size_per_multiprocessor", "12 int memory_size", "13 int bandwidth")
NamedDevice = message("NamedDevice", "1 string name", (2, DeviceProperties, "properties"))
NamedTensorProto = message("NamedTensorProto", "1 string name", (2, protos.TensorProto, "tensor"))
VerifierConfig = message("VerifierConfig", "1 int verification_timeout_in_ms", "2 enum structure_verifier", DEFAULT=0, ON=1,
    OFF=2)
MemmappedFileSystemDirectoryElement = message("MemmappedFileSystemDirectoryElement", "1 int offset", "2 string name",
    "3 int length")
MemmappedFileSystemDirectory = message("MemmappedFileSystemDirectory",
    (1, MemmappedFileSystemDirectoryElement, "element", "repeated"))
SavedSliceMeta = message("SavedSliceMeta", "1 string name", (2, protos.TensorShapeProto, "shape"), "3 enum type",
    (4, TensorSliceProto, "slice", "repeated"))
SavedTensorSliceMeta = message("SavedTensorSliceMeta", (1, SavedSliceMeta, "tensor", "repeated"),
    (2, protos.VersionDef, "versions"))
SavedSlice = message("SavedSlice", "1 string name", (2, TensorSliceProto, "slice"), (3, protos.TensorProto, "data"))
SavedTensorSlices = message("SavedTensorSlices", (1, SavedTensorSliceMeta, "meta"), (2, SavedSlice, "data"))
SessionMetadata = message("SessionMetadata", "1 string name", "2 int version")
TensorConnection = message("TensorConnection", "1 string from_tensor", "2 string to_tensor")
CallableOptions = message("CallableOptions", "1 repeated string feed", "2 repeated string fetch", "3 repeated string target",
    (4, protos.RunOptions, "run_options"), (5, TensorConnection, "tensor_connection", "repeated"), "6 map string feed_devices",
    "7 map string fetch_devices", "8 bool fetch_skip_sync")
SessionInfo = message("SessionInfo", "1 int intra_op_parallelism")
OpInfo_TensorProperties = message("OpInfo.TensorProperties", "1 enum dtype", (2, protos.TensorShapeProto, "shape"),
    (3, protos.TensorProto, "value"))
OpInfo = message("OpInfo", "1 string op", (2, protos.AttrValue, "attr", "map"),
    (3, OpInfo_TensorProperties, "inputs", "repeated"), (5, OpInfo_TensorProperties, "outputs", "repeated"),
    (4, DeviceProperties, "device"), (6, SessionInfo, "session_info"), TensorProperties=OpInfo_TensorProperties)
NormalDistribution = message("NormalDistribution", "1 double mu", "2 double sigma")
LogNormalDistribution = message("LogNormalDistribution", "1 double mu", "2 double sigma")
OpPerformance_OpMemory = message("OpPerformance.OpMemory", "1 repeated int output_memory", "2 int temp_memory",
    "4 int persistent_memory", "3 int device_temp_memory", "5 int device_persistent_memory")
OpPerformance = message("OpPerformance", (1, OpInfo, "op"), (12, SessionInfo, "session_info"), "5 string node",
    "2 int temporary_memory_size", "3 int compute_cost", "6 int compute_time", "7 int memory_time",
    "4 double compute_efficiency", "8 double memory_efficiency", (10, NormalDistribution, "execution_time_normal"),
    (11, LogNormalDistribution, "execution_time_log_normal"), (9, OpPerformance_OpMemory, "op_memory"),
    OpMemory=OpPerformance_OpMemory)
OpPerformanceList = message("OpPerformanceList", (1, OpPerformance, "op_performance", "repeated"))
OptionsProto = message("OptionsProto", "1 int max_depth", "2 int min_bytes", "19 int min_peak_bytes",
    "20 int min_residual_bytes", "21 int min_output_bytes", "3 int min_micros", "22 int min_accelerator_micros",
    "23 int min_cpu_micros", "4 int min_params", "5 int min_float_ops", "17 int min_occurrence", "18 int step",
    "7 string order_by", "8 repeated string account_type_regexes", "9 repeated string start_name_regexes",
    "10 repeated string trim_name_regexes", "11 repeated string show_name_regexes", "12 repeated string hide_name_regexes",
    "13 bool account_displayed_op_only", "14 repeated string select", "15 string output", "16 string dump_to_file")
AdvisorOptionsProto_CheckerOption = message("AdvisorOptionsProto.CheckerOption", "1 map string options")
AdvisorOptionsProto = message("AdvisorOptionsProto", (1, AdvisorOptionsProto_CheckerOption, "checkers", "map"),
    CheckerOption=AdvisorOptionsProto_CheckerOption)
RecvBufRespExtra = message("RecvBufRespExtra", "1 repeated bytes tensor_content")

add_field(CondContextDef, "nested_contexts", 6, ControlFlowContextDef, "repeated")
add_field(WhileContextDef, "nested_contexts", 12, ControlFlowContextDef, "repeated")

enumeration(ApiDef, "Visibility", "DEFAULT_VISIBILITY", "VISIBLE", "SKIP", "HIDDEN")
enumeration(VerifierConfig, "Toggle", "DEFAULT", "ON", "OFF")
ONEOF.update({
    ("FeatureConfiguration", "config"): ("fixed_len_feature", "var_len_feature"),
    ("TensorSliceProto.Extent", "has_length"): ("length",),
    ("ControlFlowContextDef", "ctxt"): ("cond_ctxt", "while_ctxt"),
    ("OpPerformance", "execution_time"): ("execution_time_normal", "execution_time_log_normal")})
proto_descriptor.name_all(dict(globals()), ())
