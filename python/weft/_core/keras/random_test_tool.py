"""tf.keras.utils.DeterministicRandomTestTool: the same seeds in two programs whose random ops are to agree."""
import contextlib

from weft._core.framework.graph import get_default_graph, set_random_seed
from weft._core.ops import random_ops


class DeterministicRandomTestTool:
    """Gives random ops seeds that depend on the tool alone, to compare a program's numbers with another's.

    Each random op that is made while `scope()` is open gets the seeds (seed, operation_seed), whatever seed it is given and
    whatever graph it is in.

    Args:
      seed: the first of the two seeds.
      mode: 'constant' leaves operation_seed as it is; 'num_random_ops' adds one for each random op, and refuses a number that
        an op has already got.
    """

    def __init__(self, seed=42, mode="constant"):
        if mode not in ("constant", "num_random_ops"):
            raise ValueError("Mode arg must be 'constant' or 'num_random_ops'. Got: %s" % mode)
        self._seed, self._mode = seed, mode
        self._operation_seed, self._observed_seeds = 0, set()

    @property
    def operation_seed(self):
        """The second seed of the next random op."""
        return self._operation_seed

    @operation_seed.setter
    def operation_seed(self, value):
        self._operation_seed = value

    def scope(self):
        """Returns the context in which random ops get the tool's seeds.  The default graph's seed becomes the tool's at once."""
        set_random_seed(self._seed)
        return self._entered()

    @contextlib.contextmanager
    def _entered(self):
        graphs = []  # those whose seed in the library was replaced
        with random_ops.seed_source(lambda helper: self._draw(graphs if helper else None)):
            try:
                yield self
            finally:
                for graph in graphs:
                    if graph.seed is not None:
                        graph._c.set_seed(int(graph.seed))

    def _draw(self, graphs):
        """Returns the seeds of the next op.  For a helper of the library its graph there gets the first one, and is noted."""
        given = self._operation_seed
        if self._mode == "constant":
            set_random_seed(given)  # as in TensorFlow
        elif given in self._observed_seeds:
            raise ValueError(
                "This `DeterministicRandomTestTool` object is trying to re-use the already-used operation seed %s. It cannot "
                "guarantee random numbers will match between eager and sessions when an operation seed is reused. You most "
                "likely set `operation_seed` explicitly but used a value that caused the naturally-incrementing operation seed "
                "sequences to overlap with an already-used seed." % given)
        else:
            self._observed_seeds.add(given)
            self._operation_seed += 1
        if graphs is not None:
            graphs.append(get_default_graph())
            graphs[-1]._c.set_seed(int(self._seed))
        return self._seed, given
