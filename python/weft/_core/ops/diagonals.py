"""tf.matrix_diag, tf.matrix_diag_part and tf.matrix_set_diag, for one diagonal of matrices or a band of them."""
from weft._core.framework.build import convert_to_tensor, op
from weft._core.framework.dtypes import bool as bool_


def _padding(value, of):
    """Returns the padding value as the type of the matrix; for a boolean matrix 0 is False."""
    return bool(value) if of.dtype.base_dtype == bool_ and not hasattr(value, "dtype") else value


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Returns matrices with the given diagonals.

    Args:
      diagonal: a tensor whose last dimension is a diagonal, or whose last two are a band of diagonals.
      name: a name for the operation.
      k: which diagonal, or the lowest and the highest of a band; 0 is the main one, positive numbers lie above it.
      num_rows: the rows of a matrix; -1 takes as many as needed.
      num_cols: its columns, likewise.
      padding_value: the value outside of the diagonals.
      align: at which end shorter diagonals of a band are padded, above and below the main one.
    """
    diagonal = convert_to_tensor(diagonal, name="diagonal")
    return op("MatrixDiagV3", name, diagonal=diagonal, k=k, num_rows=num_rows, num_cols=num_cols,
              padding_value=_padding(padding_value, diagonal), align=align)


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """Returns a diagonal of matrices, or a band of them.

    Args:
      input: a tensor whose last two dimensions are matrices.
      name: a name for the operation.
      k: which diagonal, or the lowest and the highest of a band.
      padding_value: what fills up the shorter diagonals of a band.
      align: at which end it does so, above and below the main diagonal.
    """
    input = convert_to_tensor(input, name="input")
    return op("MatrixDiagPartV3", name, input=input, k=k, padding_value=_padding(padding_value, input), align=align)


def matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """Returns matrices in which a diagonal, or a band of diagonals, is replaced.

    Args:
      input: a tensor whose last two dimensions are matrices.
      diagonal: the new diagonals.
      name: a name for the operation.
      k: which diagonal, or the lowest and the highest of a band.
      align: at which end the shorter diagonals of a band are padded, above and below the main one.
    """
    return op("MatrixSetDiagV3", name, input=input, diagonal=diagonal, k=k, align=align)
