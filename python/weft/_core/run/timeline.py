"""tensorflow.python.client.timeline: step stats as the JSON of Chrome's trace viewer, made by the library."""
from weft import _weft
from weft._core.framework import protos


class Timeline:
    def __init__(self, step_stats, graph=None):
        self._step_stats = step_stats

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False, op_time="schedule"):
        return _weft.trace_json(protos.RunMetadata(step_stats=self._step_stats).SerializeToString())
