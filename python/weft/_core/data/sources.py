"""tf.data.experimental: data sets of lists and databases, padded data sets, and copies to devices."""
from weft._core.data import structure
from weft._core.data.components import TensorSpec
from weft._core.data.dataset import Dataset, _named, _strings
from weft._core.data.structure import Structure
from weft._core.framework import dtypes
from weft._core.framework.build import convert_to_tensor, op


def from_list(elements, name=None):
    """Returns a data set with the elements of a list.

    Args:
      elements: a list of tensors, or of nests of tensors that have the same structure.
      name: of the transformation.
    """
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    made = [structure.described(e) for e in elements]
    form = made[0][1]
    for i, (_, other) in enumerate(made):
        structure.check_alike(form.specs, other.specs)
        merged = form.merged(other)
        if merged is None:
            raise TypeError("Invalid `elements`. Element %d is of %s, the ones before it are of %s." % (i, other.specs, form.specs))
        form = merged
    tensors = [t for e in elements for t in structure.tensors(e)[0]]
    return Dataset(op("ListDataset", tensors=tensors, **form.attrs(), **_named(name)), form)


class SqlDataset(Dataset):
    """The rows of the result of a database query, each a tuple with a scalar for every column.

    Args:
      driver_name: the kind of database: "sqlite".
      data_source_name: the path of the database.
      query: a SQL query.
      output_types: a tuple of the types of the columns.
    """

    def __init__(self, driver_name, data_source_name, query, output_types):
        form = Structure(output_types, structure.map_leaves(lambda _: [], output_types))
        super().__init__(op("SqlDataset", driver_name=_strings(driver_name, "driver_name"),
                            data_source_name=_strings(data_source_name, "data_source_name"), query=_strings(query, "query"),
                            **form.attrs()), form)


def pad_to_cardinality(cardinality, mask_key="valid"):
    """Pads a data set of dicts with zero elements, and adds a component that is false in those.

    Args:
      cardinality: the number of elements of the result.
      mask_key: the name of the added component.
    """
    def masked(element, real):
        return {**element, mask_key: convert_to_tensor(real)}

    def apply(dataset):
        specs = dataset.element_spec
        if not isinstance(specs, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        from weft._core.ops.array_ops import zeros

        def zero(spec):
            if not isinstance(spec, TensorSpec) or not spec.shape.is_fully_defined():
                raise ValueError("`pad_to_cardinality` needs components that are tensors of known shapes, not %s." % (spec,))
            return zeros(spec.shape, spec.dtype)
        filler = Dataset.from_tensors(masked(structure.map_leaves(zero, specs), False))
        filler = filler.repeat(convert_to_tensor(cardinality, dtypes.int64) - dataset.cardinality())
        return dataset.map(lambda element: masked(element, True)).concatenate(filler)
    return apply


def copy_to_device(target_device, source_device="/cpu:0"):
    """Returns the same elements; the step that takes an element copies it to the device where it is used.

    Args:
      target_device: the name of a device.
      source_device: the name of the device of the data set.
    """
    from weft._core.framework.device_spec import DeviceSpec
    for device in (target_device, source_device):
        DeviceSpec.from_string(device)  # This raises an error for an invalid device name.
    return lambda dataset: dataset
