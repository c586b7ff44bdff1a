"""tf.train: optimizers, savers, the global step, clusters, supervision."""
from weft._core.files.graph_io import write_graph
from weft._core.files.summary import SummaryWriter, summary_iterator
from weft._core.framework.protos import (
    BytesList,
    ClusterDef,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    JobDef,
    SaverDef,
    SequenceExample,
    ServerDef,
)
from weft._core.ops.rare_ops import sdca_fprint, sdca_optimizer, sdca_shrink_l1
from weft._core.platform.libraries import do_quantize_training_on_graphdef
from weft._core.public import publish as _publish
from weft._core.session.cluster import Server
from weft._core.train.batching import (
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from weft._core.train.checkpoint import Checkpoint, CheckpointOptions
from weft._core.train.checkpoint_manager import CheckpointManager
from weft._core.train.checkpoints import checkpoints_iterator
from weft._core.train.coordinator import Coordinator, LooperThread, QueueRunner, add_queue_runner, start_queue_runners
from weft._core.train.device_setter import replica_device_setter
from weft._core.train.hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    ProfilerHook,
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StepCounterHook,
    StopAtStepHook,
    SummarySaverHook,
)
from weft._core.train.input import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from weft._core.train.meta_graph import export_meta_graph, import_meta_graph
from weft._core.train.monitored import (
    ChiefSessionCreator,
    MonitoredSession,
    MonitoredTrainingSession,
    Scaffold,
    SessionCreator,
    SingularMonitoredSession,
    WorkerSessionCreator,
)
from weft._core.train.optimizer import (
    AdadeltaOptimizer,
    AdagradDAOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    ExponentialMovingAverage,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    Optimizer,
    ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer,
    RMSPropOptimizer,
)
from weft._core.train.saver import (
    NewCheckpointReader,
    Saver,
    checkpoint_exists,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
    remove_checkpoint,
    update_checkpoint_state,
)
from weft._core.train.schedules import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from weft._core.train.server import ClusterSpec
from weft._core.train.supervisor import SessionManager, Supervisor, basic_train_loop
from weft._core.train.sync import SyncReplicasOptimizer, SyncReplicasOptimizerV2
from weft._core.train.training_util import assert_global_step, create_global_step, get_global_step, get_or_create_global_step, global_step
from weft._core.train.warm_start import VocabInfo, init_from_checkpoint, warm_start
from weft.train import experimental

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "BytesList", "Checkpoint",
    "CheckpointManager", "CheckpointOptions", "CheckpointSaverHook", "CheckpointSaverListener", "ChiefSessionCreator",
    "ClusterDef", "ClusterSpec", "Coordinator", "Example", "ExponentialMovingAverage", "Feature", "FeatureList",
    "FeatureLists", "Features", "FeedFnHook", "FinalOpsHook", "FloatList", "FtrlOptimizer", "GlobalStepWaiterHook",
    "GradientDescentOptimizer", "Int64List", "JobDef", "LoggingTensorHook", "LooperThread", "MomentumOptimizer",
    "MonitoredSession", "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook",
    "NewCheckpointReader", "Optimizer", "ProfilerHook", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "QueueRunner", "RMSPropOptimizer", "Saver", "SaverDef", "Scaffold",
    "SecondOrStepTimer", "SequenceExample", "Server", "ServerDef", "SessionCreator", "SessionManager",
    "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues", "SingularMonitoredSession",
    "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "SummaryWriter", "Supervisor", "SyncReplicasOptimizer",
    "SyncReplicasOptimizerV2", "VocabInfo", "WorkerSessionCreator", "add_queue_runner", "assert_global_step",
    "basic_train_loop", "batch", "batch_join", "checkpoint_exists", "checkpoints_iterator", "cosine_decay",
    "cosine_decay_restarts", "create_global_step", "do_quantize_training_on_graphdef", "experimental",
    "exponential_decay", "export_meta_graph", "generate_checkpoint_state_proto", "get_checkpoint_mtimes",
    "get_checkpoint_state", "get_global_step", "get_or_create_global_step", "global_step", "import_meta_graph",
    "init_from_checkpoint", "input_producer", "inverse_time_decay", "latest_checkpoint", "limit_epochs",
    "linear_cosine_decay", "list_variables", "load_checkpoint", "load_variable", "match_filenames_once",
    "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch", "maybe_shuffle_batch_join", "natural_exp_decay",
    "noisy_linear_cosine_decay", "piecewise_constant", "piecewise_constant_decay", "polynomial_decay", "queue_runner",
    "range_input_producer", "remove_checkpoint", "replica_device_setter", "sdca_fprint", "sdca_optimizer", "sdca_shrink_l1",
    "shuffle_batch", "shuffle_batch_join", "slice_input_producer", "start_queue_runners", "string_input_producer", "summary_iterator",
    "update_checkpoint_state", "warm_start", "write_graph",
]
__getattr__ = _publish(__name__, ("queue_runner",))


def __dir__():
    return [*__all__, "__file__", "__path__"]
