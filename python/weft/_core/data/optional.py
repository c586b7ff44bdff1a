"""tf.data.experimental.Optional: a value that may be absent, such as the next element of a data set."""
import abc

from weft._core.data import structure
from weft._core.data.structure import Structure
from weft._core.framework.absent import Named
from weft._core.framework.build import op
from weft._core.framework.type_spec import OptionalSpec


class Optional(metaclass=Named):
    """A value that may be absent: a tensor, or a nest of tensors."""

    @abc.abstractmethod
    def has_value(self, name=None):
        """Returns a bool tensor that says whether there is a value."""

    @abc.abstractmethod
    def get_value(self, name=None):
        """Returns the value. Running it raises InvalidArgumentError if there is none."""

    @property
    @abc.abstractmethod
    def element_spec(self):
        """The spec of the value, or the nest of specs."""

    @staticmethod
    def empty(element_spec):
        """Returns an optional without a value.

        Args:
          element_spec: the spec, or a nest of specs, of the value that is absent.
        """
        return _OptionalValue(op("OptionalNone"), element_spec)

    @staticmethod
    def from_value(value):
        """Returns an optional with a value.

        Args:
          value: a tensor, a SparseTensor, a RaggedTensor, or a nest of them.
        """
        tensors, form = structure.tensors(value, "value_%d")
        return _OptionalValue(op("OptionalFromValue", components=tensors), form.specs)


class _OptionalValue(Optional):
    """An optional that a variant tensor holds."""

    def __init__(self, variant, element_spec):
        self._variant_tensor, self._element_spec = variant, element_spec
        self._spec = OptionalSpec(element_spec)

    def has_value(self, name=None):
        return op("OptionalHasValue", name, optional=self._variant_tensor)

    def get_value(self, name=None):
        form = Structure.of(self._element_spec)
        return form.pack(op("OptionalGetValue", name, optional=self._variant_tensor, **form.attrs()))

    @property
    def element_spec(self):
        return self._element_spec


def get_next_as_optional(iterator):
    """Returns the next element of an iterator as an Optional, which has no value at the end."""
    return iterator.get_next_as_optional()
