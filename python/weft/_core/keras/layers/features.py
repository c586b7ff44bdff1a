"""tf.keras.layers.DenseFeatures: concatenates feature columns, and holds their variables."""
from weft._core.framework import dtypes
from weft._core.framework.dtypes import DType
from weft._core.framework.graph import control_dependencies, name_scope
from weft._core.keras import initializers
from weft._core.keras.base_layer import Layer
from weft._core.keras.serialization import CustomObjectScope
from weft._core.nn import feature_column as columns, sequence_column
from weft._core.ops import array_ops, check_ops
from weft._core.ops.variable_scope import get_variable_scope, variable_scope


def _serialized(value):
    """Returns a column, or a part of one, as a configuration."""
    if isinstance(value, columns._Column):
        return {"class_name": type(value).__name__.lstrip("_"), "config": {k: _serialized(v) for k, v in value._asdict().items()}}
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (list, tuple)):
        return tuple(_serialized(v) for v in value)
    if hasattr(value, "get_config"):
        return initializers.serialize(value)
    return value


def _deserialized(value):
    if isinstance(value, dict) and set(value) == {"class_name", "config"}:
        kind = getattr(columns, "_" + value["class_name"], None) or getattr(sequence_column, "_" + value["class_name"], None)
        if kind is None:
            return initializers.deserialize(value)
        given = {k: _deserialized(v) for k, v in value["config"].items()}
        if "dtype" in given:
            given["dtype"] = dtypes.as_dtype(given["dtype"])
        return kind(**given)
    return tuple(_deserialized(v) for v in value) if isinstance(value, (list, tuple)) else value


class DenseFeatures(Layer):
    """Concatenates the dense columns of a dictionary of features in the order of their names."""

    def __init__(self, feature_columns, trainable=True, name=None, partitioner=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = columns._checked(feature_columns, columns._DenseColumn)
        self._partitioner, self._tables = partitioner, {}

    def build(self, _):
        """Makes the tables of embedding columns, each in a name scope named after its column."""
        if self._partitioner is not None and any(
                isinstance(c, columns.EmbeddingColumn) for c in self._feature_columns):
            raise NotImplementedError("tf.keras.layers.DenseFeatures(partitioner=...) is not in Weft for embedding columns: use "
                                      "tf.feature_column.input_layer inside a tf.variable_scope with a partitioner")
        for column in self._feature_columns:
            if isinstance(column, columns.EmbeddingColumn):
                with name_scope(column.name):
                    self._table(column, "embedding_weights", [column.categorical_column._num_buckets, column.dimension],
                                column.initializer, column.trainable)
        self.built = True

    def _table(self, column, name, shape, initializer, trainable):
        if (column.name, name) not in self._tables:
            self._tables[column.name, name] = self.add_weight(name=name, shape=shape, dtype="float32", initializer=initializer,
                                                              trainable=self.trainable and trainable)
        return self._tables[column.name, name]

    def _own_weights(self, trainable):
        return list(self._trainable_weights if trainable else self._non_trainable_weights)


    def call(self, features, cols_to_output_tensors=None, training=None):
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        parts = []
        for column in self._feature_columns:
            def getter(_, name, shape=None, initializer=None, trainable=True, column=column, **given):
                return self._table(column, name.rpartition("/")[2], shape, initializer, trainable)
            with name_scope(column.name), variable_scope(get_variable_scope(), custom_getter=getter, auxiliary_name_scope=False):
                made = column.dense(features, self.trainable)
                made = array_ops.reshape(made, [array_ops.shape(made)[0], column.width])
            parts.append(made)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = made
        return array_ops.concat(parts, -1)

    def get_config(self):
        return dict(self._configured(()), feature_columns=[_serialized(c) for c in self._feature_columns], partitioner=self._partitioner)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        with CustomObjectScope(custom_objects or {}):
            return cls(feature_columns=[_deserialized(c) for c in config.pop("feature_columns")], **config)


class SequenceFeatures(DenseFeatures):
    """Concatenates columns of sequences in the order of their names, and returns the lengths of the sequences, too."""

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super(DenseFeatures, self).__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = columns._checked(feature_columns, columns._Column)
        self._partitioner, self._tables = None, {}
        for column in self._feature_columns:
            sequence_column.check_sequence(column)

    def call(self, features, training=None):
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)
        parts, found = [], []
        for column in self._feature_columns:
            def getter(_, name, shape=None, initializer=None, trainable=True, column=column, **given):
                return self._table(column, name.rpartition("/")[2], shape, initializer, trainable)
            with name_scope(column.name), variable_scope(get_variable_scope(), custom_getter=getter, auxiliary_name_scope=False):
                part, length = sequence_column.sequence_of(column, features, self.trainable)
            parts.append(part)
            found.append(length)
        with control_dependencies([check_ops.assert_equal(found[0], other) for other in found[1:]]):
            return array_ops.concat(parts, -1), array_ops.identity(found[0])
