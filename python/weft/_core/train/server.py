"""tf.train.ClusterSpec: jobs and the addresses of their tasks."""
from weft._core.framework import protos
from weft._core.framework.absent import Named


class ClusterSpec(metaclass=Named):
    """The jobs of a cluster and the addresses of their tasks.

    The argument is a dict of lists or of {task: address}, a ClusterDef or another ClusterSpec.
    """

    def __init__(self, cluster):
        if isinstance(cluster, ClusterSpec):
            cluster = {job: dict(tasks) for job, tasks in sorted(cluster._spec.items())}
        elif isinstance(cluster, protos.ServerDef):
            cluster = {j.name: dict(j.tasks) for j in cluster.cluster.job}
        elif isinstance(cluster, protos.ClusterDef):
            cluster = {j.name: dict(j.tasks) for j in cluster.job}
        elif not isinstance(cluster, dict):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network addresses, "
                            "or a `ClusterDef` protocol buffer")
        self._spec = {}
        for job, tasks in cluster.items():
            if not isinstance(job, (str, bytes)):
                raise TypeError("Job name %r must be bytes or unicode" % (job,))
            if not isinstance(tasks, (list, tuple, dict)):
                raise TypeError("The tasks for job %r must be a list or a dictionary from integers to strings." % job)
            pairs = tasks.items() if isinstance(tasks, dict) else enumerate(tasks)
            self._spec[job] = {}
            for i, address in pairs:
                if not isinstance(address, (str, bytes)):
                    raise TypeError("Task address %r must be bytes or unicode" % (address,))
                self._spec[job][int(i)] = address

    def __bool__(self):
        return bool(self._spec)

    def __eq__(self, other):
        return isinstance(other, ClusterSpec) and self._spec == other._spec

    __hash__ = None

    @property
    def jobs(self):
        return list(self._spec)

    def num_tasks(self, job_name):
        return len(self._job(job_name))

    def task_indices(self, job_name):
        return sorted(self._job(job_name))

    def task_address(self, job_name, task_index):
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError("No task with index %r in job %r" % (task_index, job_name)) from None

    def job_tasks(self, job_name):
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks) + 1)]

    def _job(self, name):
        try:
            return self._spec[name]
        except KeyError:
            raise ValueError("No such job in cluster: %r" % name) from None

    def as_dict(self):
        return {job: [tasks[i] for i in range(len(tasks))] if tasks and sorted(tasks) == list(range(len(tasks))) else dict(tasks)
                for job, tasks in self._spec.items()}

    def as_cluster_def(self):
        """Returns the ClusterDef; spaces around addresses, such as in "a:1, b:1", are removed."""
        made = protos.ClusterDef()
        for job in sorted(self._spec):
            texts = {i: a.decode() if isinstance(a, bytes) else a for i, a in self._spec[job].items()}
            made.job.add(name=job, tasks={i: text.strip() for i, text in texts.items()})
        return made

    def __str__(self):
        return "ClusterSpec(%s)" % dict(sorted(self.as_dict().items()))

    __repr__ = __str__
