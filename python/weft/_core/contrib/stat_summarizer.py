"""tf.contrib.stat_summarizer: summarizes over runs where the steps of a graph spend their time."""
import collections

from weft._core.framework import protos
from weft._core.framework.absent import Named

_ROWS = 10  # the number of rows in the lists by time and by memory


class _Node:
    """The statistics of a node over several runs."""

    def __init__(self, order, kind):
        self.order, self.kind, self.first = order, kind, None
        self.start = self.total = self.bytes = self.calls = 0


def _kind(node):
    """Returns the op of a node; its label begins "NAME = OP("."""
    label = node.timeline_label
    return label.partition("=")[2].partition("(")[0].strip() if "=" in label else "<>"


class _Numbers:
    """Statistics of a number over runs."""

    def __init__(self):
        self.seen = []

    def __str__(self):
        if not self.seen:
            return "count=0"
        n, mean = len(self.seen), sum(self.seen) / len(self.seen)
        spread = (sum((x - mean) ** 2 for x in self.seen) / n) ** 0.5
        if min(self.seen) == max(self.seen):
            return "count=%d curr=%d" % (n, self.seen[-1]) + ("" if n < 2 else "(all same)")
        return "count=%d first=%d curr=%d min=%d max=%d avg=%g std=%d" % (
            n, self.seen[0], self.seen[-1], min(self.seen), max(self.seen), mean, spread)


class StatSummarizer(metaclass=Named):
    """Collects the StepStats of runs, and prints tables of their nodes."""

    def __init__(self, graph_def=None):
        """Takes a serialized GraphDef, which early versions of TensorFlow needed. The StepStats have all the data."""
        if isinstance(graph_def, bytes):
            try:
                protos.GraphDef.FromString(graph_def)
            except ValueError as e:
                raise ValueError("graph_def is not a serialized GraphDef: %s" % e) from None
        self._nodes, self._times, self._memory = {}, _Numbers(), _Numbers()

    def ProcessStepStats(self, step_stats):
        """Adds the StepStats of one run, from tf.RunMetadata."""
        time = memory = 0
        for device in step_stats.dev_stats:
            for n in device.node_stats:
                node = self._nodes.setdefault(n.node_name, _Node(len(self._nodes), _kind(n)))
                spent = n.all_end_rel_micros
                held = sum(m.total_bytes for m in n.memory)
                node.first = spent if node.first is None else node.first
                node.start += n.all_start_micros - self._begin(step_stats)
                node.total, node.bytes = node.total + spent, max(node.bytes, held)
                node.calls += 1
                time, memory = time + spent, memory + held
        self._times.seen.append(time)
        self._memory.seen.append(memory)

    def ProcessStepStatsStr(self, step_stats_str):
        """Adds a serialized StepStats."""
        self.ProcessStepStats(protos.StepStats.FromString(step_stats_str))

    def PrintStepStats(self):
        """Prints the tables."""
        print(self.GetOutputString(), flush=True)

    def GetOutputString(self):
        """Returns the tables: the nodes in the order of their first runs, those that take most time and memory, and the
        ops.
        """
        by_order = sorted(self._nodes.items(), key=lambda item: item[1].order)
        by_time = sorted(by_order, key=lambda item: -item[1].total)[:_ROWS]
        by_memory = sorted(by_order, key=lambda item: -item[1].bytes)[:_ROWS]
        parts = [self._table("Run Order", by_order), self._table("Top by Computation Time", by_time),
                 self._table("Top by Memory Use", by_memory), self._kinds(), self._summary()]
        return "\n".join(parts)

    @staticmethod
    def _begin(step_stats):
        return min(n.all_start_micros for d in step_stats.dev_stats for n in d.node_stats)

    @staticmethod
    def _head(title):
        return "%s %s %s" % ("=" * 30, title, "=" * 30)

    def _table(self, title, rows):
        runs, total = max(len(self._times.seen), 1), sum(n.total for n in self._nodes.values())
        lines = [self._head(title), "\t".join(("%24s" % "[node type]", "[start]", "[first]", "[avg ms]", "[%]", "[cdf%]", "[mem KB]",
                                               "[times called]", "[Name]"))]
        so_far = 0
        for name, node in rows:
            so_far += node.total
            lines.append("\t".join(("%24s" % node.kind, "%9.3f" % (node.start / node.calls / 1e3), "%9.3f" % (node.first / 1e3),
                                    "%9.3f" % (node.total / runs / 1e3), "%7.3f%%" % (100 * node.total / max(total, 1)),
                                    "%7.3f%%" % (100 * so_far / max(total, 1)), "%9.3f" % (node.bytes / 1e3),
                                    "%9d" % round(node.calls / runs), name)))
        return "\n".join(lines) + "\n"

    def _kinds(self):
        runs, kinds = max(len(self._times.seen), 1), collections.defaultdict(lambda: [0, 0, 0, 0])
        for node in self._nodes.values():
            row = kinds[node.kind]
            for i, more in enumerate((1, node.total, node.bytes, node.calls)):
                row[i] += more
        total, so_far = sum(row[1] for row in kinds.values()), 0
        lines = [self._head("Summary by node type"), "\t".join((
            "%24s" % "[Node type]", "[count]", "[avg ms]", "[avg %]", "[cdf %]", "[mem KB]", "[times called]"))]
        for kind, (count, time, held, calls) in sorted(kinds.items(), key=lambda item: -item[1][1]):
            so_far += time
            lines.append("\t".join(("%24s" % kind, "%9d" % count, "%10.3f" % (time / runs / 1e3), "%7.3f%%" % (100 * time / max(total, 1)),
                                    "%7.3f%%" % (100 * so_far / max(total, 1)), "%9.3f" % (held / 1e3), "%9d" % round(calls / runs))))
        return "\n".join(lines) + "\n"

    def _summary(self):
        return "Timings (microseconds): %s\nMemory (bytes): %s\n%d nodes observed\n" % (self._times, self._memory, len(self._nodes))


def NewStatSummarizer(graph_def=None):
    """Returns a StatSummarizer, as older programs make one."""
    return StatSummarizer(graph_def)


def DeleteStatSummarizer(stat_summarizer):
    """Deletes what a StatSummarizer has collected."""
    stat_summarizer.__init__()
