"""tf.distribute.cluster_resolver: finds the tasks of a cluster, and which task this process is."""
import json
import os
import re
import subprocess

from weft._core.framework.absent import Named
from weft._core.train.server import ClusterSpec


def _url(layer, address):
    return "%s://%s" % (layer, address) if layer else address


class ClusterResolver(metaclass=Named):
    """The base of resolvers. Subclasses define cluster_spec() and master()."""

    task_type = task_id = None

    def cluster_spec(self):
        raise NotImplementedError()

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        raise NotImplementedError()

    @property
    def environment(self):
        return ""

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """Returns {kind of device: number} for this machine."""
        from weft._core.session.cluster import list_local_devices
        found = {}
        for d in list_local_devices():
            if d.device_type != "CPU":
                found[d.device_type] = found.get(d.device_type, 0) + 1
        return found

    def _master(self, spec, task_type, task_id, layer):
        if task_type is not None and task_id is not None:
            return _url(layer, spec.task_address(task_type, task_id))
        return ""


class SimpleClusterResolver(ClusterResolver):
    """Resolves to a given cluster."""

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
                 rpc_layer=None):
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._spec, self._given, self._environment, self._accelerators = cluster_spec, master, environment, num_accelerators
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    @property
    def environment(self):
        return self._environment

    def cluster_spec(self):
        return self._spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return self._master(self._spec, task_type, task_id, rpc_layer or self.rpc_layer)
        return _url(rpc_layer or self.rpc_layer, self._given)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._accelerators if self._accelerators is not None else super().num_accelerators(task_type, task_id, config_proto)


class TFConfigClusterResolver(ClusterResolver):
    """Reads the cluster from the environment variable TF_CONFIG."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        self._type, self._id, self._layer, self._environment = task_type, task_id, rpc_layer, environment

    @staticmethod
    def _config():
        return json.loads(os.environ.get("TF_CONFIG", "{}"))

    def _of(self, given, *path):
        found = self._config()
        for key in path:
            found = (found or {}).get(key)
        return found if given is None else given

    @property
    def task_type(self):
        found = self._of(self._type, "task", "type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, value):
        self._type = value

    @property
    def task_id(self):
        found = self._of(self._id, "task", "index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, value):
        self._id = value

    @property
    def environment(self):
        return self._environment

    @property
    def rpc_layer(self):
        return self._of(self._layer, "rpc_layer")

    @rpc_layer.setter
    def rpc_layer(self, value):
        self._layer = value

    def cluster_spec(self):
        return ClusterSpec(self._config().get("cluster") or {})

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        session_master = self._config().get("session_master")
        if session_master is not None:
            return session_master
        spec = self.cluster_spec()
        if not spec.jobs or (len(spec.jobs) == 1 and spec.num_tasks(spec.jobs[0]) == 1):
            return ""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        return self._master(spec, kind, number, rpc_layer or self.rpc_layer)


class UnionResolver(ClusterResolver):
    """Combines the jobs of several resolvers."""

    def __init__(self, *args, **kwargs):
        self._layer = kwargs.pop("rpc_layer", None)
        self._type, self._id = kwargs.pop("task_type", None), kwargs.pop("task_id", None)
        if kwargs:
            raise ValueError("Unexpected kwargs provided %s" % kwargs)
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._resolvers = args

    task_type = property(lambda self: self._type or self._resolvers[0].task_type)
    task_id = property(lambda self: self._resolvers[0].task_id if self._id is None else self._id)
    rpc_layer = property(lambda self: self._layer)
    environment = property(lambda self: self._resolvers[0].environment)

    def cluster_spec(self):
        jobs = {}
        for resolver in self._resolvers:
            spec = resolver.cluster_spec()
            for job in spec.jobs:
                rows = {i: spec.task_address(job, i) for i in spec.task_indices(job)}
                known = jobs.setdefault(job, {})
                for i, address in rows.items():
                    if isinstance(jobs.get(job), dict) and i in known:
                        if all(sorted(r.cluster_spec().task_indices(job)) == list(range(r.cluster_spec().num_tasks(job)))
                               for r in self._resolvers if job in r.cluster_spec().jobs):
                            i = len(known)
                        else:
                            raise KeyError("Duplicate keys detected when merging two ClusterSpecs: %s" % i)
                    known[i] = address
        return ClusterSpec({job: [rows[i] for i in sorted(rows)] if sorted(rows) == list(range(len(rows))) else rows
                            for job, rows in jobs.items()})

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            return self._master(self.cluster_spec(), task_type, task_id, rpc_layer or self.rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


def expand_hostlist(text):
    """Expands Slurm's list of hosts: n[1-3,7],m2 becomes n1 n2 n3 n7 m2."""
    hosts = []
    for name in re.findall(r"[^,\[]+(?:\[[^\]]*\])?[^,\[]*", text):
        found = re.match(r"([^\[]*)\[([^\]]*)\](.*)", name)
        if not found:
            hosts.append(name)
            continue
        before, ranges, after = found.groups()
        for item in ranges.split(","):
            first, _, last = item.partition("-")
            for i in range(int(first), int(last or first) + 1):
                hosts.append("%s%0*d%s" % (before, len(first), i, after))
    return hosts


def expand_tasks_per_node(text):
    """Expands Slurm's counts of tasks: 2(x3),1 becomes 2 2 2 1."""
    counts = []
    for item in text.split(","):
        found = re.match(r"(\d+)(?:\(x(\d+)\))?$", item.strip())
        if not found:
            raise ValueError("SLURM_STEP_TASKS_PER_NODE: %r is not understood" % text)
        counts += [int(found.group(1))] * int(found.group(2) or 1)
    return counts


class _OneTaskResolver(ClusterResolver):
    """The base of resolvers that know which task this process is."""

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        return self._master(self.cluster_spec(), kind, number, rpc_layer or self.rpc_layer)


class SlurmClusterResolver(_OneTaskResolver):
    """Reads the cluster of a Slurm step, whose tasks are assigned to the jobs in the order of their ranks."""

    def __init__(self, jobs=None, port_base=8888, gpus_per_node=None, gpus_per_task=None, tasks_per_node=None, auto_set_gpu=True,
                 rpc_layer="grpc"):
        rank = self._slurm("PROCID")
        total = self._slurm("STEP_NUM_TASKS") or self._slurm("NTASKS")
        if rank is None:
            raise RuntimeError("SlurmClusterResolver: the environment has no SLURM_PROCID; start the program with srun")
        self._rank = int(rank)
        if isinstance(jobs, dict):
            jobs = dict(jobs)
        elif jobs is None:
            jobs = {"worker": int(total)}
        else:
            raise ValueError("SlurmClusterResolver(jobs=%r): it must be a dictionary of jobs and their tasks" % (jobs,))
        self._jobs, self._port, self._per_node = jobs, port_base, tasks_per_node
        self._gpus_per_node, self._gpus_per_task = gpus_per_node, gpus_per_task
        self._auto_set_gpu, self.rpc_layer = auto_set_gpu, rpc_layer
        self.task_type, self.task_id = self._place()[self._rank]
        if total is not None and sum(jobs.values()) != int(total):
            raise RuntimeError("Requested more tasks then assigned: %d of %s" % (sum(jobs.values()), total))

    @staticmethod
    def _slurm(name):
        return os.environ.get("SLURM_" + name)

    def _place(self):
        return [(job, i) for job, count in self._jobs.items() for i in range(count)]

    def _counts(self, hosts):
        if self._per_node is None:
            text = self._slurm("STEP_TASKS_PER_NODE") or self._slurm("TASKS_PER_NODE")
            return expand_tasks_per_node(text) if text else [1] * len(hosts)
        return [self._per_node] * len(hosts) if isinstance(self._per_node, int) else list(self._per_node)

    def _hosts(self):
        text = self._slurm("STEP_NODELIST") or self._slurm("NODELIST") or self._slurm("JOB_NODELIST")
        if text:
            return expand_hostlist(text)
        return subprocess.check_output(["scontrol", "show", "hostnames"]).decode().split()

    def cluster_spec(self):
        hosts = self._hosts()
        rows = [(host, i, count) for host, count in sorted(zip(hosts, self._counts(hosts))) for i in range(count)]
        spec = {}
        for (job, _), (host, i, _) in zip(self._place(), rows):
            spec.setdefault(job, []).append("%s:%d" % (host, self._port + i))
        if self._auto_set_gpu and self._gpus_per_node:
            _, i, count = rows[self._rank]
            per_task = self._gpus_per_task or max(1, self._gpus_per_node // count)
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(str(i * per_task + k) for k in range(per_task))
        return ClusterSpec(spec)

    def get_task_info(self):
        """Returns (job, number) of this task."""
        return self.task_type, self.task_id

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return super().num_accelerators(task_type, task_id, config_proto)


class KubernetesClusterResolver(_OneTaskResolver):
    """Finds the pods of a Kubernetes cluster by a label. It needs the package `kubernetes`, or a compatible client."""

    def __init__(self, job_to_label_mapping=None, tf_server_port=8470, rpc_layer="grpc", override_client=None):
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self.rpc_layer, self._client = tf_server_port, rpc_layer, override_client

    def _pods(self, label):
        if self._client is None:
            try:
                from kubernetes import client, config
            except ImportError:
                raise ImportError("The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver: "
                                  "pip install kubernetes, or give the cluster in TF_CONFIG") from None
            config.load_kube_config()
            self._client = client.CoreV1Api()
        return self._client.list_pod_for_all_namespaces(label_selector=label).items

    def cluster_spec(self):
        spec = {}
        for job, labels in self._labels.items():
            pods = sorted((pod for label in labels for pod in self._pods(label)), key=lambda pod: pod.metadata.name)
            for pod in pods:
                if pod.status.phase != "Running":
                    raise RuntimeError('Pod "%s" is not running; phase: "%s"' % (pod.metadata.name, pod.status.phase))
            spec[job] = ["%s:%s" % (pod.status.host_ip, self._port) for pod in pods]
        return ClusterSpec(spec)


class GCEClusterResolver(_OneTaskResolver):
    """Finds the machines of an instance group of Google's cloud. It needs a client of Google's API, given as `service`.
    """

    def __init__(self, project, zone, instance_group, port, task_type="worker", task_id=0, rpc_layer="grpc",
                 credentials="default", service=None):
        self._project, self._zone, self._group, self._port = project, zone, instance_group, port
        self.task_type, self.task_id, self.rpc_layer, self._service = task_type, task_id, rpc_layer, service
        if service is None:
            raise ImportError("googleapiclient must be installed before using the GCE cluster resolver: "
                              "tf.distribute.cluster_resolver.GCEClusterResolver(service=...) takes a client of it with its own "
                              "credentials (credentials=%r is not used); or give the cluster in TF_CONFIG" % (credentials,))

    def cluster_spec(self):
        found, request = [], dict(project=self._project, zone=self._zone)
        listed = self._service.instanceGroups().listInstances(instanceGroup=self._group, body={"instanceState": "RUNNING"}, **request)
        for row in listed.execute().get("items", ()):
            name = row["instance"].rpartition("/")[2]
            machine = self._service.instances().get(instance=name, **request).execute()
            found.append("%s:%s" % (machine["networkInterfaces"][0]["networkIP"], self._port))
        return ClusterSpec({self.task_type: sorted(found)})


class TPUClusterResolver(ClusterResolver):
    """Raises an error, because Weft does not support TPUs."""

    def __init__(self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None, coordinator_address=None,
                 credentials="default", service=None, discovery_url=None):
        raise ValueError("Please provide a TPU Name to connect to: tf.distribute.cluster_resolver.TPUClusterResolver finds none, since "
                         "Weft has no TPUs; use SimpleClusterResolver or TFConfigClusterResolver for a cluster of other devices")
