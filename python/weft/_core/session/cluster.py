"""Servers of a cluster, and the list of local devices."""
import atexit
import operator
import sys

from weft import _weft
from weft._core.framework import protos
from weft._core.framework.absent import Named
from weft._core.session import client

# A task lives until the program ends, as in TensorFlow, and sends its goodbye after the last session is closed.
_servers = []


def _leave():
    client._close_all()
    for server in _servers:
        if getattr(sys, "last_type", None) is not None:  # An uncaught exception ends the program.
            _weft.server_set_failed(server._made)
        server._made = None
    _servers.clear()


atexit.register(_leave)


def list_local_devices(session_config=None):
    """Returns the devices of this process: tensorflow.python.client.device_lib.list_local_devices."""
    from weft._core.framework.graph import Graph
    with Graph().as_default() as graph, client.Session(graph=graph, config=session_config) as sess:
        return [protos.DeviceAttributes(name=_short(d.name), device_type=d.device_type, memory_limit=d.memory_limit_bytes,
                                        incarnation=d.incarnation % 2**64) for d in sess.list_devices()]


def _short(name):
    return "/device:" + name.partition("/device:")[2]


class Server(metaclass=Named):
    """tf.train.Server: one task of a cluster, in this process."""

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        from weft._core.train.server import ClusterSpec
        given = server_or_cluster_def
        if isinstance(given, protos.ServerDef):
            job_name = given.job_name if job_name is None else job_name
            task_index = given.task_index if task_index is None else task_index
            protocol = protocol or given.protocol or None
            given = given.cluster
        try:
            cluster = ClusterSpec(given)
        except TypeError:
            if isinstance(given, (ClusterSpec, protos.ClusterDef, dict)):
                raise
            raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                            "`tf.train.ClusterSpec`.") from None
        if job_name is None:
            if len(cluster.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = cluster.jobs[0]
        if task_index is None:
            if cluster.num_tasks(job_name) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index, = cluster.task_indices(job_name)
        self._open(cluster.as_cluster_def().SerializeToString(), job_name, operator.index(task_index), protocol, config, start)

    def _open(self, cluster, job, task, protocol, config, start):
        data = b"" if config is None else config.SerializeToString()
        self._made = _weft.server_create(cluster, job, task, protocol, bool(start), data)
        self._protocol = protocol or "grpc"
        _servers.append(self)

    @staticmethod
    def create_local_server(config=None, start=True):
        made = object.__new__(Server)
        made._open(protos.ClusterDef(job=[{"name": "localhost", "tasks": {0: "localhost:0"}}]).SerializeToString(), "localhost", 0, None,
                   config, start)
        return made

    def start(self):
        _weft.server_start(self._made)

    def join(self):
        """Waits until the job is over, then ends the program, because TensorFlow's join never returns."""
        sys.stdout.flush()
        _weft.server_join(self._made)
        sys.exit(0)

    @property
    def target(self):
        return _weft.server_task(self._made)[0]

    @property
    def server_def(self):
        _, job, task, cluster = _weft.server_task(self._made)
        return protos.ServerDef(cluster=protos.ClusterDef.FromString(cluster), job_name=job, task_index=task,
                                protocol=self._protocol)
