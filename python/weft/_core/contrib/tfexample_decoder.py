"""tf.contrib.slim.tfexample_decoder: converts tf.train.Example records to items, with a handler for each item."""
import abc

import weft as tf
from weft._core.contrib.slim_data import DataDecoder
from weft._core.framework.absent import Named


def _dense(tensor, default):
    return tf.sparse_tensor_to_dense(tensor, default_value=default) if isinstance(tensor, tf.SparseTensor) else tensor


class ItemHandler(metaclass=Named):
    """The base of handlers, which make an item from the features with some keys."""

    def __init__(self, keys):
        self._keys = list(keys) if isinstance(keys, (tuple, list)) else [keys]

    keys = property(lambda self: self._keys)

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors):
        """Returns the item for {key: tensor}."""


class ItemHandlerCallback(ItemHandler):
    """Makes an item with a function of {key: tensor}."""

    def __init__(self, keys, func):
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors):
        return self._func(keys_to_tensors)


class BoundingBox(ItemHandler):
    """Makes boxes as rows (ymin, xmin, ymax, xmax)."""

    def __init__(self, keys=None, prefix=""):
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError("BoundingBox expects 4 keys but got %d" % len(keys))
        self._prefix = prefix
        self._full_keys = [prefix + k for k in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors):
        sides = []
        for key in self._full_keys:
            side = keys_to_tensors[key]
            if isinstance(side, tf.SparseTensor):
                side = side.values
            sides.append(tf.expand_dims(side, 0))
        return tf.transpose(tf.concat(sides, 0))


class Tensor(ItemHandler):
    """Makes an item from a feature, unchanged or reshaped to a given shape or one from other features."""

    def __init__(self, tensor_key, shape_keys=None, shape=None, default_value=0):
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        if shape_keys and not isinstance(shape_keys, list):
            shape_keys = [shape_keys]
        self._tensor_key, self._shape_keys, self._shape, self._default_value = tensor_key, shape_keys, shape, default_value
        super().__init__([tensor_key, *(shape_keys or [])])

    def tensors_to_item(self, keys_to_tensors):
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            sizes = []
            for k in self._shape_keys:
                size = keys_to_tensors[k]
                sizes.append(_dense(size, 0))
            shape = tf.reshape(tf.stack(sizes), [-1])
        if isinstance(tensor, tf.SparseTensor):
            if shape is not None:
                tensor = tf.sparse_reshape(tensor, shape)
            return tf.sparse_tensor_to_dense(tensor, self._default_value)
        return tensor if shape is None else tf.reshape(tensor, shape)


class LookupTensor(Tensor):
    """Makes an item from a feature whose values a table maps."""

    def __init__(self, tensor_key, table, shape_keys=None, shape=None, default_value=""):
        self._table = table
        super().__init__(tensor_key, shape_keys, shape, default_value)

    def tensors_to_item(self, keys_to_tensors):
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


class BackupHandler(ItemHandler):
    """Makes the item of one handler, or that of another if the first one is empty."""

    def __init__(self, handler, backup):
        for given, name in ((handler, "Primary"), (backup, "Backup")):
            if not isinstance(given, ItemHandler):
                raise ValueError("%s handler is of type %s instead of ItemHandler" % (name, type(given)))
        self._handler, self._backup = handler, backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors):
        item = self._handler.tensors_to_item(keys_to_tensors)
        return tf.cond(pred=tf.equal(tf.reduce_prod(tf.shape(item)), 0),
                       true_fn=lambda: self._backup.tensors_to_item(keys_to_tensors), false_fn=lambda: item)


class SparseTensor(ItemHandler):
    """Makes a sparse tensor from a feature of indices and one of values."""

    def __init__(self, indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0):
        self._indices_key, self._values_key, self._shape_key = indices_key or "indices", values_key or "values", shape_key
        self._shape, self._densify, self._default_value = shape, densify, default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors):
        indices, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        if self._shape_key:
            shape = keys_to_tensors[self._shape_key]
            shape = shape.values if isinstance(shape, tf.SparseTensor) else shape
        else:
            shape = self._shape if self._shape else indices.dense_shape
        columns = tf.shape(tf.reshape(shape, [-1]))[0] if self._shape_key else len(shape) if self._shape else shape.get_shape()[0].value
        indices = tf.reshape(indices.values if isinstance(indices, tf.SparseTensor) else indices, [-1, columns])
        values = values.values if isinstance(values, tf.SparseTensor) else values
        made = tf.SparseTensor(tf.cast(indices, tf.int64), values, tf.cast(shape, tf.int64))
        return tf.sparse_tensor_to_dense(made, self._default_value) if self._densify else made


class Image(ItemHandler):
    """An image that is encoded as its format feature says: png, jpeg, bmp or gif, or raw bytes."""

    def __init__(self, image_key=None, format_key=None, shape=None, channels=3, dtype=tf.uint8, repeated=False, dct_method=""):
        self._image_key, self._format_key = image_key or "image/encoded", format_key or "image/format"
        super().__init__([self._image_key, self._format_key])
        self._shape, self._channels, self._dtype, self._repeated = shape, channels, dtype, repeated
        self._dct_method = dct_method

    def tensors_to_item(self, keys_to_tensors):
        buffers, image_format = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return tf.map_fn(lambda x: self._decode(x, image_format), buffers, dtype=self._dtype)
        return self._decode(buffers, image_format)

    def _encoded(self, image_buffer):
        """Returns an image of a format that decode_image knows from its first bytes; a jpeg by the method asked for."""
        def jpeg():
            if self._dtype != tf.uint8:
                raise ValueError("jpeg decoder can only be used to decode to tf.uint8 but %s was requested for a jpeg image."
                                 % self._dtype.name)
            return tf.image.decode_jpeg(image_buffer, channels=self._channels, dct_method=self._dct_method)

        def other():
            return tf.cast(tf.image.decode_image(image_buffer, channels=self._channels), self._dtype)  # bytes, whatever the type
        if self._dtype == tf.uint8:
            return tf.cond(tf.equal(tf.substr(image_buffer, 0, 3), b"\xff\xd8\xff"), jpeg, other, name="cond_jpeg")
        return other()

    def _decode(self, image_buffer, image_format):
        def raw():
            return tf.decode_raw(image_buffer, out_type=self._dtype)
        pred_fn_pairs = [(tf.logical_or(tf.equal(image_format, "raw"), tf.equal(image_format, "RAW")), raw)]
        image = tf.case(pred_fn_pairs, default=lambda: self._encoded(image_buffer), exclusive=True)
        image.set_shape([None, None, self._channels])
        return image if self._shape is None else tf.reshape(image, self._shape)


class _Sequence(ItemHandler):
    """Values of several keys in each frame, as a last axis."""

    def __init__(self, keys, prefix, return_dense, default_value):
        self._prefix, self._return_dense, self._default_value = prefix, return_dense, default_value
        self._full_keys = ["%s%s" % (prefix or "", k) for k in keys]
        super().__init__(self._full_keys)

    def tensors_to_item(self, keys_to_tensors):
        parts = []
        for key in self._full_keys:
            value = keys_to_tensors[key]
            parts.append(tf.sparse_reshape(value, tf.concat([value.dense_shape, tf.constant([1], tf.int64)], 0)))
        joined = tf.sparse_concat(2, parts)
        return tf.sparse_tensor_to_dense(joined, default_value=self._default_value) if self._return_dense else joined


class BoundingBoxSequence(_Sequence):
    """The boxes of each frame: [frames, boxes, 4]."""

    def __init__(self, keys=None, prefix=None, return_dense=True, default_value=-1.0):
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError("BoundingBoxSequence expects 4 keys but got %d" % len(keys))
        super().__init__(keys, prefix or "bbox/", return_dense, default_value)


class KeypointsSequence(_Sequence):
    """The points of each frame: [frames, points, 2]."""

    def __init__(self, keys=None, prefix=None, return_dense=True, default_value=-1.0):
        if keys is None:
            keys = ["y", "x"]
        elif len(keys) != 2:
            raise ValueError("KeypointsSequence expects 2 keys but got %d" % len(keys))
        super().__init__(keys, prefix or "keypoint/", return_dense, default_value)


class NumBoxesSequence(ItemHandler):
    """How many boxes each frame has."""

    def __init__(self, keys=None, check_consistency=True):
        self._check_consistency = check_consistency
        if not keys:
            raise ValueError("keys must not be empty.")
        super().__init__(keys)

    def tensors_to_item(self, keys_to_tensors):
        counts = []
        for key in self._keys:
            value = keys_to_tensors[key]
            if not isinstance(value, tf.SparseTensor):
                raise ValueError("tensor must be of type tf.SparseTensor.")
            lasts = tf.unsorted_segment_max(value.indices[:, 1], value.indices[:, 0], value.dense_shape[0])
            counts.append(tf.maximum(lasts, -1) + 1)
        if not self._check_consistency:
            return counts[0]
        with tf.control_dependencies([tf.assert_equal(counts[0], c) for c in counts[1:]]):
            return tf.identity(counts[0])


class TFExampleDecoder(DataDecoder):
    """Decodes tf.train.Example records: parses features, then makes items of them by handlers."""

    def __init__(self, keys_to_features, items_to_handlers):
        self._keys_to_features, self._items_to_handlers = keys_to_features, items_to_handlers

    def list_items(self):
        return list(self._items_to_handlers)

    def decode(self, serialized_example, items=None):
        """Returns the items of one record, in the order asked for, or in that of list_items."""
        example = tf.parse_single_example(serialized_example, self._keys_to_features)
        for k, value in self._keys_to_features.items():
            if isinstance(value, tf.FixedLenFeature) and not isinstance(example[k], tf.SparseTensor):
                example[k] = tf.reshape(example[k], value.shape)
        return _items(self._items_to_handlers, example, items or self._items_to_handlers)


class TFSequenceExampleDecoder(DataDecoder):
    """Decodes tf.train.SequenceExample records."""

    def __init__(self, keys_to_context_features, keys_to_sequence_features, items_to_handlers):
        both = set(keys_to_context_features) & set(keys_to_sequence_features)
        if both:
            raise ValueError("The following keys are both context and sequence features: %s" % sorted(both))
        self._context, self._sequence, self._items_to_handlers = keys_to_context_features, keys_to_sequence_features, items_to_handlers

    def list_items(self):
        return self._items_to_handlers.keys()

    def decode(self, serialized_example, items=None):
        """Returns the items of one record, in the order asked for, or in that of list_items."""
        context, feature_list = tf.parse_single_sequence_example(serialized_example, self._context, self._sequence)
        for k, value in self._context.items():
            if isinstance(value, tf.FixedLenFeature):
                context[k] = tf.reshape(context[k], value.shape)
        return _items(self._items_to_handlers, {**context, **feature_list}, items or self._items_to_handlers)


def _items(handlers, tensors, names):
    found = []
    for item in names:
        handler = handlers[item]
        found.append(handler.tensors_to_item({key: tensors[key] for key in handler.keys}))
    return found
