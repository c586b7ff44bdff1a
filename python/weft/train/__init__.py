"""tf.train: optimizers, savers, the global step, clusters, supervision."""
from ..protos import (BytesList, CheckpointState, ClusterDef, Example, Feature, FeatureList, FeatureLists, Features,  # noqa: F401
                      FloatList, Int64List, JobDef, QueueRunnerDef, SaverDef, SequenceExample, ServerDef)
from ..graph import GraphKeys as _GraphKeys  # noqa: F401
from ..summary import FileWriter as SummaryWriter  # noqa: F401
from .device_setter import replica_device_setter  # noqa: F401
from .optimizer import (AdadeltaOptimizer, AdagradDAOptimizer, AdagradOptimizer, AdamOptimizer,  # noqa: F401
                        ExponentialMovingAverage, FtrlOptimizer, GradientDescentOptimizer, MomentumOptimizer, Optimizer,
                        ProximalAdagradOptimizer, ProximalGradientDescentOptimizer, RMSPropOptimizer, cosine_decay,
                        exponential_decay, inverse_time_decay, natural_exp_decay, piecewise_constant,
                        piecewise_constant_decay, polynomial_decay)
from .saver import (Saver, checkpoint_exists, export_meta_graph, get_checkpoint_mtimes, get_checkpoint_state,  # noqa: F401
                    import_meta_graph, latest_checkpoint, remove_checkpoint, update_checkpoint_state)
from .server import ClusterSpec  # noqa: F401
from .training_util import (assert_global_step, create_global_step, get_global_step, get_or_create_global_step,  # noqa: F401
                            global_step)
