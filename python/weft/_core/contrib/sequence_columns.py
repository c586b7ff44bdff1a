"""tf.contrib.feature_column: the input layer of sequences, with variables of tf.get_variable."""
from weft._core.framework.graph import control_dependencies
from weft._core.nn import feature_column as columns, sequence_column
from weft._core.ops import array_ops, check_ops
from weft._core.ops.variable_scope import variable_scope


def _checked(feature_columns):
    found = columns._checked(feature_columns, columns._Column)
    for column in found:
        sequence_column.check_sequence(column, (sequence_column._SharedEmbeddingColumn,))
    return found


def _same(lengths):
    """Returns the lengths of the rows, which must be the same for all columns."""
    if len(lengths) == 1:
        return lengths[0]
    with control_dependencies([check_ops.assert_equal(lengths[0], other, name="assert_all_equal") for other in lengths[1:]]):
        return array_ops.identity(lengths[0])


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """Returns columns of sequences as one tensor, and the lengths of the sequences.

    Args:
      features: a dictionary of SparseTensors, one row per sequence.
      feature_columns: columns of sequences, in any order; the result has them in the order of their names.
      weight_collections: more collections for the variables.
      trainable: whether the variables are trained.

    Returns:
      A tensor [batch, steps, numbers], and the number of steps of each row, [batch].
    """
    parts, lengths = [], []
    with variable_scope(None, "sequence_input_layer", list(features.values())):
        for column in _checked(feature_columns):
            with variable_scope(None, column._var_scope_name):
                part, length = sequence_column.sequence_of(column, features, trainable, columns._collections(weight_collections))
            parts.append(part)
            lengths.append(length)
        return array_ops.concat(parts, -1), _same(lengths)
