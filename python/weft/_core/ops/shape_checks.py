"""tf.debugging.assert_shapes: checks the shapes of several tensors against each other."""
from weft._core.framework.build import convert_to_tensor
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.ops import array_ops, math_ops
from weft._core.ops.check_ops import assert_rank, assert_rank_in
from weft._core.ops.control_flow import Assert, cond, group
from weft._core.ops.sparse import SparseTensor

_ANY, _ANY_NUMBER = (None, "."), ("*", Ellipsis)


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks that tensors have shapes with matching sizes: a size is a number, or a text that means the same size
    everywhere.

    Args:
      shapes: a dict or a list of pairs: a tensor, and its shape.  None or '.' stands for any size, and '*' or ... at the beginning
        for any number of dimensions.
      data: tensors that are shown if the check fails.
      summarize: how many numbers of each are shown.
      message: a text for the error.
      name: the name of the scope.

    Returns:
      The operation that checks, in each run, the sizes that are not known when the graph is built.
    """
    pairs = list(shapes.items() if isinstance(shapes, dict) else shapes)
    prefix = "%s.  " % message.rstrip(".") if message else ""
    with name_scope(name, "assert_shapes", [data]):
        rows = [_Row(x, shape, prefix) for x, shape in pairs]
        checks = [c for row in rows for c in row.check_rank(data, summarize, message, name)]
        known = {}  # the text of a size -> the row and index that have it first, and the size
        with control_dependencies(checks):
            for row in rows:
                checks += [c for c in row.check_sizes(known, data, summarize, prefix) if c is not None]
    return group(*checks)


class _Row:
    """A tensor and the shape that it should have."""

    def __init__(self, x, wanted, prefix):
        self.x = x if isinstance(x, SparseTensor) else convert_to_tensor(x)
        self.name = self.x.values.name if isinstance(x, SparseTensor) else self.x.name
        if not hasattr(wanted, "__iter__") and not hasattr(wanted, "__getitem__"):
            raise ValueError("%sTensor %s.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` or "
                             "`__getitem__`.  Received specified shape: %s" % (prefix, self.name, wanted))
        self.wanted = [getattr(size, "value", size) for size in wanted]
        for i, size in enumerate(self.wanted[1:], 1):
            if size in _ANY_NUMBER:
                raise ValueError("%sTensor %s specified shape index %d.  Symbol `...` or `*` for a variable number of unspecified "
                                 "dimensions is only allowed as the first entry" % (prefix, self.name, i))
        self.open = bool(self.wanted) and self.wanted[0] in _ANY_NUMBER
        if self.open:
            del self.wanted[0]

    def check_rank(self, data, summarize, message, name):
        if self.open:
            return []
        rank, dense = len(self.wanted), self.x if not isinstance(self.x, SparseTensor) else self.x.dense_shape
        if isinstance(self.x, SparseTensor):
            return []
        if rank <= 1:  # A scalar can stand for a vector of one number.
            return [assert_rank_in(dense, [0, 1], data, summarize, message, name)]
        return [assert_rank(dense, rank, data, summarize, message, name)]

    def sizes(self):
        """Returns the known sizes from the last to the first, or None if they are unknown."""
        shape = self.x.get_shape()
        if shape.ndims is None:
            return None
        return [1] if shape.ndims == 0 and len(self.wanted) == 1 else shape.as_list()

    def size(self, back):
        """Returns a size as a tensor; `back` counts from the end."""
        sizes = array_ops.shape(self.x) if not isinstance(self.x, SparseTensor) else self.x.dense_shape
        if len(self.wanted) == 1 and self.sizes() is None:
            sizes = cond(math_ops.equal(array_ops.size(sizes), 0), lambda: array_ops.ones([1], sizes.dtype), lambda: sizes)
        return sizes[-back]

    def check_sizes(self, known, data, summarize, prefix):
        static = self.sizes()
        for back in range(len(self.wanted), 0, -1):
            size, at = self.wanted[-back], len(self.wanted) - back
            if size in _ANY:
                continue
            mine = None if static is None or back > len(static) else static[-back]
            if isinstance(size, int):
                yield self._compare(mine, size, back, at, "Specified explicitly", data, summarize, prefix)
            elif size in known:
                other, theirs = known[size]
                yield self._compare(mine, theirs, back, at, other, data, summarize, prefix)
            else:
                said = "Specified by tensor %s dimension %d" % (self.name, at - len(self.wanted) if self.open else at)
                known[size] = said, self.size(back) if mine is None else mine

    def _compare(self, mine, wanted, back, at, why, data, summarize, prefix):
        at = at - len(self.wanted) if self.open else at
        if isinstance(mine, int) and isinstance(wanted, int):
            if mine != wanted:
                raise ValueError("%s%s.  Tensor %s dimension %s must have size %d.  Received size %d, shape %s" % (
                    prefix, why, self.name, at, wanted, mine, self.x.get_shape()))
            return None
        size = self.size(back) if mine is None else mine
        shown = data if data is not None else ["%s%s.  Tensor %s dimension" % (prefix, why, self.name), at, "must have size", wanted,
                                               "Received shape: ", array_ops.shape(self.x)]
        return Assert(math_ops.equal(size, wanted), shown, summarize=summarize)
