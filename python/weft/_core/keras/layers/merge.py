"""Layers of several inputs, such as Add, Multiply, Concatenate and Dot, and the functions of these names."""
from weft._core.framework.tensor_shape import TensorShape
from weft._core.keras.base_layer import Layer, output_shape
from weft._core.nn import nn
from weft._core.ops import array_ops, math_ops


def _tuples(shapes):
    return [tuple(TensorShape(s).as_list()) for s in shapes]


def _broadcast(a, b):
    """Returns the broadcast shape of two shapes without the batch, or None if one is unknown."""
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    if not b:
        return a
    made = list(a[:-len(b)])
    for i, j in zip(a[-len(b):], b):
        if i is None or j is None:
            made.append(None)
        elif i == 1 or j == 1:
            made.append(max(i, j) if i == 1 else i)
        elif i != j:
            raise ValueError("Inputs have incompatible shapes. Received shapes %s and %s" % (a, b))
        else:
            made.append(i)
    return tuple(made)


def _batch(shapes):
    """Returns the set of the known batch sizes."""
    return {s[0] for s in shapes if s} - {None}


class _Merge(Layer):
    """The base of elementwise operations on a list of inputs, which broadcast against each other."""

    _CONFIG = ()
    _count = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs):
        raise NotImplementedError("%s has no _merge_function()" % type(self).__name__)

    def build(self, input_shape):
        if not isinstance(input_shape, (list, tuple)) or isinstance(input_shape, TensorShape) or not isinstance(
                input_shape[0], (TensorShape, tuple, list)):
            raise ValueError("A merge layer should be called on a list of inputs. Received: input_shape=%s (not a list of shapes)" % (
                tuple(TensorShape(input_shape).as_list()),))
        shapes = _tuples(input_shape)
        if not shapes:
            raise ValueError("A merge layer should be called on a list of at least 1 input. Received %d inputs. Full input_shape "
                             "received: %s" % (len(shapes), shapes))
        if len(_batch(shapes)) > 1:
            raise ValueError("Cannot merge tensors with different batch sizes. Received tensors with shapes %s" % shapes)
        self._check(shapes)
        made = shapes[0][1:]
        for s in shapes[1:]:
            made = _broadcast(made, s[1:])
        self._reshape_required = len({len(s) for s in shapes}) > 1
        self.built = True

    def _check(self, shapes):
        pass

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("A merge layer should be called on a list of inputs. Received: inputs=%s (not a list of tensors)" % inputs)
        if not self._reshape_required:
            return self._merge_function(inputs)
        rank, made = max(x.shape.ndims for x in inputs), []
        for x in inputs:
            for _ in range(rank - x.shape.ndims):
                x = array_ops.expand_dims(x, axis=1)
            made.append(x)
        return self._merge_function(made)

    @output_shape
    def compute_output_shape(self, input_shape):
        made = input_shape[0][1:]
        for s in input_shape[1:]:
            made = _broadcast(made, s[1:])
        batches = _batch(input_shape)
        return ((batches.pop() if len(batches) == 1 else None),) + tuple(made)

    def compute_mask(self, inputs, mask=None):
        if mask is None:
            return None
        if not isinstance(mask, (tuple, list)):
            raise ValueError("`mask` should be a list. Received: mask=%s" % (mask,))
        if not isinstance(inputs, (tuple, list)):
            raise ValueError("`inputs` should be a list. Received: inputs=%s" % (inputs,))
        if len(mask) != len(inputs):
            raise ValueError("The lists `inputs` and `mask` should have the same length. Received: inputs=%s of length %d, and mask=%s "
                             "of length %d" % (inputs, len(inputs), mask, len(mask)))
        if all(m is None for m in mask):
            return None
        masks = [array_ops.expand_dims(m, axis=0) for m in mask if m is not None]
        return math_ops.reduce_all(array_ops.concat(masks, axis=0), axis=0)


class Add(_Merge):
    """The sum of the inputs."""

    def _merge_function(self, inputs):
        made = inputs[0]
        for x in inputs[1:]:
            made = made + x
        return made


class Subtract(_Merge):
    """The first input minus the second."""

    def _check(self, shapes):
        if len(shapes) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs. Received: input_shape=%s" % shapes)

    def _merge_function(self, inputs):
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs. Received: inputs=%s" % inputs)
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of the inputs, element by element."""

    def _merge_function(self, inputs):
        made = inputs[0]
        for x in inputs[1:]:
            made = made * x
        return made


class Average(_Merge):
    """The mean of the inputs."""

    def _merge_function(self, inputs):
        made = inputs[0]
        for x in inputs[1:]:
            made = made + x
        return made / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs, element by element."""

    def _merge_function(self, inputs):
        made = inputs[0]
        for x in inputs[1:]:
            made = math_ops.maximum(made, x)
        return made


class Minimum(_Merge):
    """The smallest of the inputs, element by element."""

    def _merge_function(self, inputs):
        made = inputs[0]
        for x in inputs[1:]:
            made = math_ops.minimum(made, x)
        return made


class Concatenate(_Merge):
    """Concatenates the inputs along an axis."""

    _CONFIG = ("axis",)

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis, self._reshape_required = axis, False

    def build(self, input_shape):
        if isinstance(input_shape, TensorShape) or not isinstance(input_shape[0], (TensorShape, tuple, list)) or len(input_shape) < 1:
            raise ValueError("A `Concatenate` layer should be called on a list of at least 1 input. Received: input_shape=%s" % (
                tuple(TensorShape(input_shape).as_list()),))
        self.built = True
        if all(TensorShape(s).ndims is None for s in input_shape):
            return
        shapes = _tuples(input_shape)
        for s in shapes:
            if not -len(s) <= self.axis < len(s):
                raise IndexError("axis %s of a `Concatenate` layer is out of range for the input shape %s" % (self.axis, s))
        rest = [s[:self.axis % len(s)] + s[self.axis % len(s) + 1:] for s in shapes]
        if len({len(s) for s in shapes}) > 1:
            raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. Received: "
                             "input_shape=%s" % shapes)
        for sizes in zip(*rest):
            if len(set(sizes) - {None}) > 1:
                raise ValueError("A `Concatenate` layer requires inputs with matching shapes except for the concatenation axis. "
                                 "Received: input_shape=%s" % shapes)

    def _merge_function(self, inputs):
        rank = inputs[0].shape.ndims
        axis = self.axis % rank if self.axis < 0 and rank else self.axis
        return array_ops.concat(list(inputs), axis)

    @output_shape
    def compute_output_shape(self, input_shape):
        made = list(input_shape[0])
        for s in input_shape[1:]:
            if made[self.axis] is None or s[self.axis] is None:
                made[self.axis] = None
                break
            made[self.axis] += s[self.axis]
        return tuple(made)

    def compute_mask(self, inputs, mask=None):
        if mask is None or all(m is None for m in mask):
            return None
        masks = []
        for x, m in zip(inputs, mask):
            if m is None:
                masks.append(array_ops.ones_like(x, dtype="bool"))
            elif m.shape.ndims < x.shape.ndims:
                masks.append(array_ops.expand_dims(m, axis=-1))
            else:
                masks.append(m)
        return math_ops.reduce_all(array_ops.concat(masks, axis=self.axis), axis=-1, keepdims=False)


class Dot(_Merge):
    """Multiplies two inputs and sums over axes, for each example."""

    _CONFIG = ("axes", "normalize")

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError("Invalid type for argument `axes`: it should be a list or an int. Received: axes=%s" % (axes,))
            if len(axes) != 2:
                raise ValueError("Invalid format for argument `axes`: it should contain two elements. Received: axes=%s" % (axes,))
            if not all(isinstance(a, int) for a in axes):
                raise ValueError("Invalid format for argument `axes`: list elements should be integers. Received: axes=%s" % (axes,))
        self.axes, self.normalize, self._reshape_required = axes, normalize, False

    def _axes_of(self, ranks):
        if isinstance(self.axes, int):
            return [self.axes % r for r in ranks] if self.axes < 0 else [self.axes] * 2
        return [a % r for a, r in zip(self.axes, ranks)]

    def build(self, input_shape):
        if isinstance(input_shape, TensorShape) or not isinstance(input_shape[0], (TensorShape, tuple, list)) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs. Received: input_shape=%s" % (input_shape,))
        self.built = True
        if any(TensorShape(s).ndims is None for s in input_shape):
            return
        shapes = _tuples(input_shape)
        a, b = self._axes_of([len(s) for s in shapes])
        if shapes[0][a] != shapes[1][b]:
            raise ValueError("Incompatible input shapes: axis values %s (at axis %s) != %s (at axis %s). Full input shapes: %s, %s" % (
                shapes[0][a], a, shapes[1][b], b, *shapes))

    def _merge_function(self, inputs):
        if len(inputs) != 2:
            raise ValueError("A `Dot` layer should be called on exactly 2 inputs. Received: inputs=%s" % (inputs,))
        axes = self._axes_of([x.shape.ndims for x in inputs])
        if self.normalize:
            inputs = [nn.l2_normalize(x, axis=a) for x, a in zip(inputs, axes)]
        return batch_dot(inputs[0], inputs[1], axes)

    @output_shape
    def compute_output_shape(self, input_shape):
        first, second = list(input_shape[0]), list(input_shape[1])
        a, b = self._axes_of([len(first), len(second)])
        first.pop(a)
        second.pop(b)
        made = first + second[1:]
        return tuple(made if len(made) > 1 else made + [1])

    def compute_mask(self, inputs, mask=None):
        return None


def batch_dot(x, y, axes=None):
    """Returns for each example the sums of products of x and y along one axis of each. At least two axes remain."""
    ranks = x.shape.ndims, y.shape.ndims
    if isinstance(axes, int):
        axes = [axes, axes]
    if axes is None:
        axes = [ranks[0] - 1, 1 if ranks[1] == 2 else ranks[1] - 2]
    a, b = (i % r for i, r in zip(axes, ranks))
    x_rank, y_rank = ranks
    if x_rank == 2:
        x, a, x_rank = array_ops.expand_dims(x, 1), a + 1, 3
    if y_rank == 2:
        y, y_rank = array_ops.expand_dims(y, 2), 3
    x, x_dims = _last(x, a, x_rank)
    y, y_dims = _second(y, b, y_rank)
    made = math_ops.matmul(x, y)
    shape = array_ops.shape(made)
    if x_dims is not None:
        made = array_ops.reshape(made, array_ops.concat([x_dims, shape[-1:]], 0))
        shape = array_ops.shape(made)
    if y_dims is not None:
        made = array_ops.reshape(made, array_ops.concat([shape[:-1], y_dims], 0))
    if ranks[0] == 2:
        return array_ops.squeeze(made, 1)
    return array_ops.squeeze(made, -1) if ranks[1] == 2 else made


def _last(x, axis, rank):
    """Returns x as batches of rows along the axis, and the sizes of the axes before it if there are several."""
    if axis != rank - 1:
        x = array_ops.transpose(x, [i for i in range(rank) if i != axis] + [axis])
    if rank == 3:
        return x, None
    shape = array_ops.shape(x)
    return array_ops.reshape(x, array_ops.stack([shape[0], -1, shape[rank - 1]])), shape[:rank - 1]


def _second(y, axis, rank):
    """Returns y as batches of columns along the axis, and the sizes of the axes after it if there are several."""
    if axis != 1:
        y = array_ops.transpose(y, [0, axis] + [i for i in range(1, rank) if i != axis])
    if rank == 3:
        return y, None
    shape = array_ops.shape(y)
    return array_ops.reshape(y, array_ops.stack([shape[0], shape[1], -1])), shape[2:]


def add(inputs, **kwargs):
    """Returns the sum of the inputs."""
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """Returns the first input minus the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """Returns the product of the inputs, element by element."""
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """Returns the mean of the inputs."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """Returns the largest of the inputs, element by element."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """Returns the smallest of the inputs, element by element."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """Returns the inputs concatenated along an axis."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes, normalize=False, **kwargs):
    """Returns the products of two inputs, summed along axes, for each example."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
