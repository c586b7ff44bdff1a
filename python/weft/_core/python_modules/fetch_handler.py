"""tensorflow.python.client.session._FetchHandler: what a fetch needs, and how its values are packed."""
from weft._core.session.client import _Fetch


class _FetchHandler:
    """The tensors and operations that a nest of fetches needs."""

    def __init__(self, graph, fetches, feeds, feed_handles=None):
        self._graph, self._feeds = graph, {graph.as_graph_element(k)._out: v for k, v in (feeds or {}).items()}
        self._made = _Fetch(graph, fetches)
        self._asked = [out for out in self._made.outs if out not in self._feeds]

    def fetches(self):
        """Returns the tensors that must be computed, each once, without those that are fed."""
        return [self._graph._tensor(out) for out in self._asked]

    def targets(self):
        """Returns the operations that must run and have no value."""
        return [self._graph._operation(out >> 16) for out in self._made.targets]

    def build_results(self, session, tensor_values):
        """Returns the values of fetches() in the nest's form."""
        known = {**self._feeds, **dict(zip(self._asked, tensor_values))}
        return self._made.rebuild([known[out] for out in self._made.outs])
