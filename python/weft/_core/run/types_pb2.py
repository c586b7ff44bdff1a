"""tensorflow.core.framework.types_pb2: the numbers of types, such as DT_FLOAT."""
from weft._core.framework import dtypes

globals().update({dtypes.datatype_name(n + more): n + more for n in range(len(dtypes._NAMES)) for more in (0, 100) if n or not more})


class DataType:
    """The enum of types: numbers and names."""

    @staticmethod
    def Name(number):
        return dtypes.datatype_name(number)

    @staticmethod
    def Value(name):
        found = dtypes.datatype_number(name)
        if found is None:
            raise ValueError("Enum DataType has no value defined for name '%s'" % name)
        return found
