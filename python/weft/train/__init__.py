"""tf.train: optimizers, savers, the global step, clusters, supervision."""
from ..protos import (BytesList, CheckpointState, ClusterDef, Example, Feature, FeatureList, FeatureLists, Features,  # noqa: F401
                      FloatList, Int64List, JobDef, QueueRunnerDef, SaverDef, SequenceExample, ServerDef)
from ..graph import GraphKeys as _GraphKeys  # noqa: F401
from ..summary import FileWriter as SummaryWriter  # noqa: F401
from .device_setter import replica_device_setter  # noqa: F401
from .optimizer import (AdadeltaOptimizer, AdagradDAOptimizer, AdagradOptimizer, AdamOptimizer,  # noqa: F401
                        ExponentialMovingAverage, FtrlOptimizer, GradientDescentOptimizer, MomentumOptimizer, Optimizer,
                        ProximalAdagradOptimizer, ProximalGradientDescentOptimizer, RMSPropOptimizer, cosine_decay, cosine_decay_restarts,
                        exponential_decay, inverse_time_decay, linear_cosine_decay, natural_exp_decay,
                        noisy_linear_cosine_decay, piecewise_constant,
                        piecewise_constant_decay, polynomial_decay)
from .saver import (NewCheckpointReader, Saver, checkpoint_exists, export_meta_graph, get_checkpoint_mtimes,  # noqa: F401
                    get_checkpoint_state, import_meta_graph, latest_checkpoint, list_variables, load_checkpoint,
                    load_variable, remove_checkpoint, update_checkpoint_state)
from .server import ClusterSpec  # noqa: F401
from ..cluster import Server  # noqa: F401
from ..python_io import tf_record_iterator as _records
from .coordinator import Coordinator, LooperThread, QueueRunner, add_queue_runner, start_queue_runners  # noqa: F401
from .input import (batch, batch_join, input_producer, limit_epochs, match_filenames_once, range_input_producer,  # noqa: F401
                    shuffle_batch, shuffle_batch_join, slice_input_producer, string_input_producer)
from .hooks import (CheckpointSaverHook, CheckpointSaverListener, FeedFnHook, FinalOpsHook, GlobalStepWaiterHook,  # noqa: F401
                    LoggingTensorHook, NanLossDuringTrainingError, NanTensorHook, ProfilerHook, SecondOrStepTimer,
                    SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues, StepCounterHook, StopAtStepHook,
                    SummarySaverHook)
from .monitored import (ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession, Scaffold, SessionCreator,  # noqa: F401
                        SingularMonitoredSession, WorkerSessionCreator)
from .supervisor import SessionManager, Supervisor  # noqa: F401
from .sync import SyncReplicasOptimizer, SyncReplicasOptimizerV2  # noqa: F401
from .training_util import (assert_global_step, create_global_step, get_global_step, get_or_create_global_step,  # noqa: F401
                            global_step)


def summary_iterator(path):
    """The events of an event file."""
    from ..protos import Event
    return (Event.FromString(record) for record in _records(path))


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    import os
    from ..graph import Graph
    made = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    with open(path, "w" if as_text else "wb") as f:
        f.write(str(made) if as_text else made.SerializeToString())
    return path
