"""Session.partial_run: the parts of one step, run one after the other; a node runs in the first part that needs it.

What earlier parts computed and later ones still need is fetched with each part and fed to the next: between two parts
the values at the border are kept here, and the session runs what lies beyond it.
"""
import itertools

from weft._core.framework import errors
from weft._core.framework.graph import Operation, Tensor

_numbers = itertools.count()


class PartialRun(str):
    """The handle that partial_run_setup gives: a text, as TensorFlow's, that remembers."""

    def __new__(cls, session, fetches, feeds):
        made = super().__new__(cls, "partial_run_%d" % next(_numbers))
        graph = made._graph = session.graph
        made._feeds = {graph.as_graph_element(f, allow_operation=False)._out for f in feeds}
        made._fetches = {_number(graph, f) for f in _flat(fetches)}
        made._values, made._done, made._fetched = {}, set(), set()  # outputs that are known; nodes that ran; what was given
        made._all = made._needed([n for n in made._fetches], set())
        return made

    def _needed(self, wanted, known):
        """Nodes that must run for these outputs and operations, going no further than what is fed or known."""
        c, found, todo = self._graph._c, set(), [n >> 16 for n in wanted if n not in known and n not in self._feeds]
        while todo:
            node = todo.pop()
            if node in found:
                continue
            found.add(node)
            todo += [o >> 16 for o in c.inputs(node) if o not in known and o not in self._feeds]
            todo += [o >> 16 for o in c.controls(node) if o not in known and o not in self._feeds]
        return found

    def _border(self, ran, left):
        """Outputs of nodes that ran which nodes that are left will ask for."""
        c, out = self._graph._c, []
        for node in left:
            for o in list(c.inputs(node)) + list(c.controls(node)):
                has = self._graph._operation(o >> 16).outputs
                if o >> 16 in ran and has and o not in out and not has[min(o & 0xffff, len(has) - 1)].dtype._is_ref_dtype:
                    out.append(o)
        return [o for o in out if o not in self._values]

    def run(self, session, fetches, feed_dict):
        graph = self._graph
        wanted = {_number(graph, f) for f in _flat(fetches)}
        if wanted - self._fetches:
            raise errors.InvalidArgumentError(None, None, "partial_run: %s was not among the fetches of partial_run_setup" % (
                graph._operation(min(wanted - self._fetches) >> 16).name))
        for key, value in (feed_dict or {}).items():
            out = graph.as_graph_element(key, allow_operation=False)._out
            if out not in self._feeds:
                raise errors.InvalidArgumentError(None, None, "The feed %s was not specified in partial_run_setup." % (
                    graph._tensor(out).name))
            if out in self._values:
                raise errors.InvalidArgumentError(None, None, "The feed %s has already been fed." % graph._tensor(out).name)
            self._values[out] = value
        if wanted & self._fetched:
            raise errors.InvalidArgumentError(None, None, "The fetch %s has already been fetched." % (
                graph._operation(min(wanted & self._fetched) >> 16).name))
        ran = self._needed(wanted, set(self._values)) - self._done
        missing = [o for n in ran for o in graph._c.inputs(n) if o in self._feeds and o not in self._values]
        if missing:
            raise errors.InvalidArgumentError(None, None, "Must feed a value for %s before this part is run" % (
                graph._tensor(missing[0]).name))
        self._done |= ran
        border = self._border(ran, self._all - self._done)
        made, kept = session.run([fetches, [graph._tensor(o) for o in border]],
                                 {graph._tensor(o): v for o, v in self._values.items()})
        self._values.update(zip(border, kept))
        self._fetched |= wanted
        return made


def _number(graph, fetch):
    element = graph.as_graph_element(fetch)
    return element._out if isinstance(element, (Tensor, Operation)) else element._as_graph_element()._out


def _flat(fetches):
    if isinstance(fetches, dict):
        return [f for v in fetches.values() for f in _flat(v)]
    return [f for v in fetches for f in _flat(v)] if isinstance(fetches, (list, tuple)) else [fetches]
